"""A crawl on disk: its settings, its seeds, who uses it and how it goes."""
