"""What can be asked of a crawl at any time, from its files alone: why a URL was fetched or not, and how its hosts are."""
