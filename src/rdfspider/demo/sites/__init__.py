"""The sites of the demo, a module each: `make_site` takes the addresses of all of them, and gives the site."""
