"""Pages that say when they are to be removed (`unavailable_after`): outcomes enter, and when their time has come, rows of
pages that are gone leave.

Each is a fact of its own: from that time on, what the outcome had found, and all that is older, counts no more. So it does not
matter whether the page's row was replaced since.
"""

import logging
import math
from collections.abc import Callable, Iterable

import msgspec

from rdfspider.archive.outcomes import Effect, Outcome
from rdfspider.index.graph.page_links import PageLinks, Stamp, make_compact
from rdfspider.urls import MAX_URL_CHARS
from rdfspider.vocabulary.terms import replace_surrogates

_log = logging.getLogger(__name__)

_MAX_DUES = 100_000
"""So many are remembered: few pages have one."""
_MAX_TIE = (1 << 64) - 1


class Due(msgspec.Struct, frozen=True, array_like=True):
    """When a page is to be removed, and the stamp of the outcome that said so."""

    url: str
    due: float
    time_us: int
    tie: int


class Dues:
    """What is to be removed; for one thread."""

    def __init__(self, dues: Iterable[Due]) -> None:
        self._dues = {(due.url, due.due): due for due in dues}
        self._next = min((due.due for due in self._dues.values()), default=math.inf)

    def list_all(self) -> list[Due]:
        """All, for the manifest."""
        return list(self._dues.values())

    def add(self, outcome: Outcome) -> None:
        """Note when a page is to be removed, if its outcome says so."""
        if not outcome.due or outcome.effect == Effect.REMOVE or len(outcome.url) > MAX_URL_CHARS:
            return
        stamp = make_compact(outcome)
        url = replace_surrogates(outcome.url)
        known = self._dues.get((url, outcome.due))
        if known is not None and (known.time_us, known.tie) >= stamp:
            return
        if known is None and len(self._dues) >= _MAX_DUES:
            _log.warning("%s stays in the graph after its time: too many pages have one", url)
            return
        self._dues[url, outcome.due] = Due(url, outcome.due, *stamp)
        self._next = min(self._next, outcome.due)

    def is_due(self, now: float) -> bool:
        """Whether the time of any page has come."""
        return self._next <= now

    def take(self, now: float) -> list[PageLinks]:
        """The rows of the pages whose time has come."""
        taken = [due for due in self._dues.values() if due.due <= now]
        for due in taken:
            del self._dues[due.url, due.due]
        self._next = min((due.due for due in self._dues.values()), default=math.inf)
        # Just newer than the outcome itself.
        stamps = [Stamp(due.time_us, min(due.tie + 1, _MAX_TIE)) for due in taken]
        return [PageLinks(due.url, stamp, True, {}, {}, {}, False) for due, stamp in zip(taken, stamps, strict=True)]

    def forget(self, is_forgotten: Callable[[str], bool]) -> None:
        """Drop those of forgotten pages."""
        self._dues = {key: due for key, due in self._dues.items() if not is_forgotten(due.url)}
