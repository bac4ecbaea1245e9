"""The sites of the demo, one module each: `make_site` takes the addresses of all sites and returns the site."""
