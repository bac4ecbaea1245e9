"""The web site of a crawl: the folder of a crawl enters, HTML, JSON, CSV, RDF and SPARQL results leave over HTTP.

- `server` runs the site, in this process or in one beside a crawl, and limits its connections; `app` maps paths to pages;
  `guard` refuses requests that are too fast, too long, or have the wrong Host.
- A page (`pages/`) is a function from a `PageRequest` to a `PageReply` (`replies`). `negotiation` writes the reply in the
  requested format; `rendering` holds the templates. A new page is one module in `pages/` and one line in `app.PAGES`.
- `endpoint` implements the SPARQL 1.1 Protocol; `monitor/` shows the running crawl, from the samples of `sampler`.
- `site` is what all pages share: the crawl, its indexes, and the access rules (`access`).

Invariants: text from the web is always escaped; nothing is loaded from other servers; every page works without JavaScript;
changing the crawl, or making this machine fetch something, requires the token; no page blocks the others.
"""
