"""A crawl as a thing on disk: its folder, settings, seeds, status and reports."""
