"""The sites of the demo, in modules by kind: each `make_…` takes the addresses of all sites and returns one site. What belongs
to a site stands below its function, its constants at the top."""
