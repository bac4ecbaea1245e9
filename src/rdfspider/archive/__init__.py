"""Pages ⇄ WARC and other files."""
