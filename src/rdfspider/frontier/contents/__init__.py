"""Which contents were seen: exact digests over the whole crawl, simhashes within a domain."""
