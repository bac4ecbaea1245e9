"""What the link graph says of pages, for search results: URLs enter, their ranks leave; words enter, the pages that other sites
call so leave.

A search goes on without it while there is none, or its file is damaged.
"""

from collections.abc import Sequence

from rdfspider.errors import UnreadableError
from rdfspider.index.graph.anchor_terms import AskedWord, CalledPage
from rdfspider.index.graph.fame import FameReader
from rdfspider.index.layout import IndexPaths


class LinkSignals:
    """The newest ranks and names of pages; for any number of threads."""

    def __init__(self, paths: IndexPaths) -> None:
        self._reader = FameReader(paths.graph)

    def find_rank(self, url: str) -> float:
        """The rank of a page as a multiple of the mean; 0 if it is not known."""
        try:
            rank = self._reader.read_rank(url)
        except (OSError, UnreadableError):
            return 0.0
        return rank.value if rank else 0.0

    def find_called(self, words: Sequence[AskedWord], limit: int, form_share: float) -> Sequence[CalledPage]:
        """The pages that other sites call by words, the best first."""
        try:
            return self._reader.find_called(words, limit, form_share)
        except (OSError, UnreadableError):
            return ()
