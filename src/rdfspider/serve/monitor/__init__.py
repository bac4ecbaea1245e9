"""The crawl while it runs: looks at it enter, charts, HTML, events and metrics leave."""
