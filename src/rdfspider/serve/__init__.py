"""The web site of a crawl: the folder of a crawl enters, HTML, JSON, CSV, RDF and SPARQL results leave over HTTP.

- `server` runs the site, in this process or in one beside a crawl; `app` maps paths to pages, and `guard` and
  `connections` refuse what comes too fast, is too long, or has the wrong Host.
- A page (`pages/`) is a function from a `PageRequest` to a `PageReply` (`replies`). `negotiation` turns the reply into the
  format that was asked for; `rendering` holds the templates. A new page is one module in `pages/` and one line in
  `app.PAGES`.
- `endpoint` answers the SPARQL 1.1 Protocol; `monitor/` shows the crawl while it runs, from the samples of `sampler`.
- `site` is what all pages share: the crawl, its indexes, and who may do what (`access`).

Invariants: text of the web is always escaped; nothing is loaded from other servers; every page works without
JavaScript; what changes the crawl, or has this machine fetch something, takes the token; no page holds up the others.
"""
