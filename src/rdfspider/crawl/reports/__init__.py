"""What can be asked of a crawl at any time, from its files alone: why a URL was fetched or not, and how its hosts are.

`why.py` collects what is known of a URL, `explanations.py` puts it into words, `frontiers.py` reads the frontiers of all shards.
`live.py` answers the same in another process, for those who ask often.
"""
