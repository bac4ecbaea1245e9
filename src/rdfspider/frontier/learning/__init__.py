"""What the crawl learns: which URLs look alike, what they yielded, and how soon the next one is fetched."""
