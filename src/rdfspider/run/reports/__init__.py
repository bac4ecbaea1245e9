"""What a crawl can be asked at any time, from its files alone."""
