"""URL → Page: names, robots.txt, HTTP."""
