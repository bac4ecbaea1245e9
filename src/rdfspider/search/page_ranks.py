"""The ranks of pages in the link graph, for the order of search results: a URL enters, its rank leaves.

It only breaks ties, so a search goes on without it while there are no ranks, or their file is damaged.
"""

from rdfspider.errors import UnreadableError
from rdfspider.index.graph.fame import FameReader
from rdfspider.index.layout import IndexPaths
from rdfspider.index.text.ranking import FindRank


def make_rank_finder(paths: IndexPaths) -> FindRank:
    """Return a function that tells the newest ranks of pages; for any number of threads."""
    reader = FameReader(paths.graph)

    def find_rank(url: str) -> float:
        try:
            rank = reader.read_rank(url)
        except (OSError, UnreadableError):
            return 0.0
        return rank.value if rank else 0.0

    return find_rank
