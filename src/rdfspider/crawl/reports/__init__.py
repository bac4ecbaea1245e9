"""Reports from a crawl's files, whether it runs or not: why a URL was fetched or not, and the state of its hosts.

`why.py` collects what is known about a URL, `explanations.py` describes it in words, `frontiers.py` reads the frontiers of all
shards. `live.py` gives the same answers from another process, for frequent requests.
"""
