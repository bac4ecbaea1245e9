"""Who starts the shards of a crawl, and where: on this machine for now."""
