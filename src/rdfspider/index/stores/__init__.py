"""Outside SPARQL servers as views of the log: one graph a page, the same triples as in the embedded store."""
