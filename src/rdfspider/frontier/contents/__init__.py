"""The contents that were seen: exact digests over the whole crawl, simhashes within a domain."""
