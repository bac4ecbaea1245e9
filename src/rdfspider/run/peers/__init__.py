"""What shards, their coordinator and people say to each other: links, addresses, permits, the end."""
