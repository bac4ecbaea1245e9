"""How far a view is behind the log, in seconds: lengths of the log's files enter as they are seen, and cursors as they are
committed; the age of the oldest that is not found yet leaves."""

from collections.abc import Mapping

from rdfspider.index.views import Cursors

# What grows within so short a time is remembered as one step, so that a view that is hours behind costs little memory.
_STEP_S = 1.0
# A page that is older has come from elsewhere, or has waited for so long that it matters no more for how long.
_OLD_S = 86_400.0


class Lag:
    """When each part of the log was first seen to be safe, as far as it is not found yet."""

    def __init__(self) -> None:
        self._steps: dict[str, list[tuple[float, int]]] = {}
        """By source: when it was first seen that it had this length, the oldest first."""
        self._old: dict[str, tuple[float, int]] = {}
        """By source: the step that was there at the first look, since when nobody knows."""
        self._is_begun = False

    def see(self, lengths: Mapping[str, int], now: float) -> None:
        """Take how long the log's files are now."""
        for source, length in lengths.items():
            steps = self._steps.setdefault(source, [])
            if not self._is_begun:
                self._old[source] = (now, length)
            if steps and length <= steps[-1][1]:
                continue
            if len(steps) > 1 and now - steps[-1][0] < _STEP_S:
                steps[-1] = (steps[-1][0], length)
            else:
                steps.append((now, length))
        self._is_begun = True

    def date(self, source: str, fetched: float) -> None:
        """What is to be found next was fetched at this time: that is all that tells how old the first part of the log is. Of
        what is very old counts for how long it was seen to wait."""
        steps = self._steps.get(source)
        if steps and fetched and (old := self._old.get(source)):
            seen, length = old
            steps[0] = (min(fetched, seen) if seen - fetched < _OLD_S else seen, length)

    def measure(self, cursors: Cursors, now: float) -> float:
        """The age of the oldest that these cursors have not passed; 0 where they have passed all."""
        oldest = now
        for source, steps in self._steps.items():
            cursor = cursors.get(source, 0)
            while steps and steps[0][1] <= cursor:
                del steps[0]
                self._old.pop(source, None)
            if steps:
                oldest = min(oldest, steps[0][0])
        return now - oldest
