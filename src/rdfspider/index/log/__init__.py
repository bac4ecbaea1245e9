"""What every view follows: the log of the shards and WARC files from elsewhere, less what is forgotten."""
