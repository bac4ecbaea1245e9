"""Page → Extraction: quads, links, title, text and problems. Pure: no I/O of its own, and it never raises for a page."""
