"""Results in, a site for the browser out: search, things, pages, vocabularies, SPARQL, and the crawl while it runs."""
