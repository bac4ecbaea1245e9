"""What the link graph knows of pages, for the ranking of search results: a URL enters, a Fame leaves.

It only breaks ties, so a search goes on without it while there are no ranks, or their file is damaged.
"""

from rdfspider.errors import UnreadableError
from rdfspider.index.graph.fame import FameReader
from rdfspider.index.layout import IndexPaths
from rdfspider.index.text.ranking import Fame, FindFame


def make_fame_finder(paths: IndexPaths) -> FindFame:
    """Return a function that tells the fame of pages by the newest ranks; for any number of threads."""
    reader = FameReader(paths.graph)

    def find_fame(url: str) -> Fame:
        try:
            rank = reader.read_rank(url)
        except (OSError, UnreadableError):
            return Fame()
        return Fame(rank.value) if rank else Fame()

    return find_fame
