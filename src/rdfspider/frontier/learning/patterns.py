"""What the URLs of each pattern have yielded: judgements of pages enter; counts, and whether a pattern still gives anything new,
leave.

Rare patterns of a host are merged into wider ones, so that their number is limited.
"""

from collections.abc import Callable
from dataclasses import dataclass

from msgspec import Struct, field
from msgspec.msgpack import Decoder, Encoder

from rdfspider.codes import DuplicateKind
from rdfspider.frontier.hosts.hosts import Host
from rdfspider.frontier.keys import pack_host
from rdfspider.frontier.learning.url_patterns import REST, widen_path, widen_query
from rdfspider.frontier.store import Store, TableRows
from rdfspider.records import Judgement

MAX_PATTERNS = 200
"""The maximum of separate patterns per host."""
RULE = "pattern"
"""The first word of the reason why URLs of a pattern are refused."""
TRIALS = 3
"""The number of URLs of an unknown pattern that are tried soon."""

# Patterns in memory over all hosts, a kilobyte each, with one total per host; more are allowed between two commits.
_MAX_LOADED = 10_000
# Pages in a row that may give nothing new; fewer if the URLs have numbers or parameters and no page ever had new data.
_BUDGET, _NUMBERED_BUDGET = 30, 15
# Separate sets of two or more parameters per path. Three parameters have four such sets; those of filters have hundreds, as they
# multiply, and all show the same.
_PARAMETER_SETS = 6
# The first probe is the tenth refused URL. The gaps grow faster than any page can bring links, so every trap ends.
_FIRST_PROBE, _STEEP_UNTIL = 10, 1000
# The number of last pages that the means follow.
_MEMORY_PAGES = 16
# A page with very much data says little about its neighbours.
_MAX_PAGE_QUADS = 500
# Two bitmaps of this size remember what was seen. When more than a fifth of the newer one's bits are set, it becomes the older
# one. Merged parameter sets have larger maps, as they show the same content again after a long time.
_MAP_BYTES, _LARGE_MAP_BYTES = 256, 4096
_MARKS_A_BYTE = 8 / 5
_MIXER = 0x9E3779B1

# Duplicates by similar text or by the page's own declaration, which may still have new data.
_UNSURE = frozenset({DuplicateKind.NEAR, DuplicateKind.CANONICAL, DuplicateKind.SOFT_404})


class Pattern(Struct, array_like=True, gc=False):
    """What the URLs of one pattern have yielded."""

    visits: int = 0
    """Fetched pages and 4xx answers."""
    structured: int = 0
    """Visits with structured data."""
    quads: int = 0
    mean: float = 0.0
    """Quads per visit, with more weight on the last ones."""
    promise: float = 0.0
    """The mean of the best patterns that its pages link to."""
    news: int = 0
    """Pages with anything new."""
    data_news: int = 0
    """Pages with new data."""
    stale: int = 0
    """Pages in a row with nothing new in themselves."""
    idle: int = 0
    """Pages in a row with nothing new in themselves that also led to nothing new."""
    refused: int = 0
    """URLs that were refused since the budget was used up."""
    next_probe: int = _FIRST_PROBE
    """The number of the refused URL that is fetched as a probe."""
    marks: int = 0
    """Set bits in the newer map."""
    newer: bytearray = field(default_factory=bytearray)
    older: bytearray = field(default_factory=bytearray)
    is_combined: bool = False
    """Whether it merges parameter sets, which show the same content in other words, so that only data counts as new."""

    def count(self, quads: int) -> None:
        """Add a visit to the counts and the mean."""
        self.visits += 1
        self.structured += quads > 0
        self.quads += quads
        share = 1 / min(self.visits, _MEMORY_PAGES)
        self.mean += (min(quads, _MAX_PAGE_QUADS) - self.mean) * share

    def count_lead(self, mean: float) -> None:
        """Add the mean of the best pattern that the last page links to."""
        self.promise += (mean - self.promise) / min(max(self.visits, 1), _MEMORY_PAGES)

    def meet(self, judgement: Judgement, repeats_itself: bool = False) -> bool:
        """Whether a page has anything new for this pattern; from now on its content is known. A page with the bytes of another
        page of its site never has; otherwise new data counts, whatever kind of duplicate the page is."""
        has_data = self._mark(judgement.data)
        has_words = not self.is_combined and self._mark(judgement.words)
        if repeats_itself:
            has_data = has_words = False
        is_new = has_data or (has_words and judgement.duplicate not in _UNSURE)
        self.news += is_new
        self.data_news += has_data
        self.stale = 0 if is_new else self.stale + 1
        self.idle = 0 if is_new else self.idle + 1
        return is_new

    def budget(self, key: str) -> int:
        """The number of pages in a row that may give nothing new; `key` is the pattern's text."""
        is_numbered = not self.data_news and ("/0" in key or "?" in key)
        return _NUMBERED_BUDGET if is_numbered else _BUDGET

    def is_spent(self, key: str) -> bool:
        """Whether the budget is used up."""
        return self.idle >= _NUMBERED_BUDGET and self.idle >= self.budget(key)

    def is_stale(self, key: str) -> bool:
        """Whether its pages no longer have anything new in themselves."""
        return self.stale >= _NUMBERED_BUDGET and self.stale >= self.budget(key)

    def take_probe(self) -> bool:
        """Count a refused URL; returns whether it is fetched as a probe instead."""
        self.refused += 1
        if self.refused < self.next_probe:
            return False
        self.next_probe += max(min(9 * self.next_probe, _STEEP_UNTIL), self.next_probe)
        return True

    def restore(self) -> bool:
        """Restore the budget; returns whether URLs were refused meanwhile."""
        was_used_up = self.refused > 0
        self.idle = self.refused = 0
        self.next_probe = _FIRST_PROBE
        return was_used_up

    def absorb(self, other: "Pattern") -> None:
        """Merge the counts of another pattern into this one."""
        visits = max(self.visits + other.visits, 1)
        self.mean = (self.mean * self.visits + other.mean * other.visits) / visits
        self.promise = (self.promise * self.visits + other.promise * other.visits) / visits
        self.visits += other.visits
        self.structured += other.structured
        self.quads += other.quads
        self.news += other.news
        self.data_news += other.data_news
        self.stale = min(self.stale, other.stale) if self.news else other.stale
        self.idle = min(self.idle, other.idle)
        if other.newer and self.is_combined == other.is_combined:
            mine = self.newer or bytes(len(other.newer))
            self.newer = bytearray(ours | theirs for ours, theirs in zip(mine, other.newer, strict=True))
            self.marks = sum(map(int.bit_count, self.newer))

    def _mark(self, sample: tuple[int, ...]) -> bool:
        """Mark these values as seen; returns whether any was not seen lately."""
        if not self.newer or self.marks > _MARKS_A_BYTE * len(self.newer):
            self.older, self.marks = self.newer, 0
            self.newer = bytearray(_LARGE_MAP_BYTES if self.is_combined else _MAP_BYTES)
        newer, older, is_new = self.newer, self.older, False
        for value in sample:
            # Checksums of similar texts share some of their bits.
            number = value * _MIXER >> 16
            place, bit = (number >> 3) % len(newer), 1 << (number & 7)
            if not newer[place] & bit:
                is_new = is_new or not (older and older[place] & bit)
                newer[place] |= bit
                self.marks += 1
        return is_new


_encode = Encoder().encode
_decode = Decoder(Pattern).decode


class HostPatterns:
    """The patterns of one host in memory."""

    __slots__ = ("_is_folded", "by_key", "changed", "counted", "passed", "total", "trials")

    def __init__(self, by_key: dict[str, Pattern]) -> None:
        self.total = by_key.pop("", Pattern())
        """The counts of all patterns together."""
        self.by_key = by_key
        self.trials: dict[str, int] = {}
        """The number of URLs per unknown pattern."""
        self.passed = 0
        """URLs that were demoted in a row; reset by one that is not demoted, and by new links."""
        self.changed: dict[str, Pattern | None] = {}
        """What the next commit stores; None deletes a merged pattern."""
        self.counted = 0
        """This host's share of the patterns that count as loaded."""
        self._is_folded = any(key.endswith(REST) for key in by_key)

    def find(self, key: str) -> Pattern | None:
        """The entry of a pattern, or of the wider one that it is merged into; None if there is none."""
        found = self.by_key.get(key)
        return found or (self.by_key.get(self.name(key)) if self._is_folded else None)

    def name(self, key: str) -> str:
        """The pattern itself, or the wider one that it is merged into."""
        if self._is_folded and key not in self.by_key:
            for wider in (widen_query(key), widen_path(key), REST):
                if wider in self.by_key:
                    return wider
        return key

    def explain_refusal(self, key: str) -> str:
        """Explain why URLs of a pattern are refused; empty if they are not."""
        pattern = self.find(key)
        if pattern is None or not pattern.is_spent(key):
            return ""
        return f"{RULE} {self.name(key)} gave nothing new in {pattern.idle:,} pages"

    def obtain(self, key: str) -> Pattern:
        """Like `find`, but creates a missing entry, and has the next commit store it."""
        if self.find(key) is None:
            if "&" in key:
                self._fold_parameters(key)
            if len(self.by_key) >= MAX_PATTERNS:
                self._fold()
        key = self.name(key)
        pattern = self.by_key.get(key)
        if pattern is None:
            pattern = self.by_key[key] = Pattern()
            self.trials.pop(key, None)
        self.changed[key] = pattern
        return pattern

    def try_out(self, key: str) -> bool:
        """Whether one more URL of an unknown pattern should be tried soon."""
        if len(self.trials) > 2 * MAX_PATTERNS:
            self.trials.clear()
        tried = self.trials[key] = self.trials.get(key, 0) + 1
        return tried <= TRIALS

    def _fold_parameters(self, key: str) -> None:
        """Merge the parameter sets of a path if there are many, except those with enough visits to be judged alone."""
        program = key.partition("?")[0] + "?"
        rare = [
            other
            for other, pattern in self.by_key.items()
            if "&" in other and other.startswith(program) and pattern.visits < _BUDGET
        ]
        if len(rare) >= _PARAMETER_SETS:
            self._is_folded = True
            self.by_key[widen_query(key)] = Pattern(is_combined=True)
            self._merge(rare, widen_query)

    def _fold(self) -> None:
        """Merge the least visited patterns by the first segment, and if too many remain, the least visited into one."""
        self._is_folded = True
        self._merge([key for key in self.by_key if not key.endswith(REST)], widen_path)
        if len(self.by_key) > 3 * MAX_PATTERNS // 4:
            self._merge([key for key in self.by_key if key != REST], lambda key: REST)

    def _merge(self, keys: list[str], find_wider: Callable[[str], str]) -> None:
        keys.sort(key=lambda key: self.by_key[key].visits)
        for key in keys[: MAX_PATTERNS // 2]:
            self.changed[key] = None
            wider = self.by_key.setdefault(find_wider(key), Pattern())
            wider.absorb(self.by_key.pop(key))
            self.changed[find_wider(key)] = wider


@dataclass(slots=True)
class PageLeads:
    """Where the links of the last recorded page lead; they are added after it."""

    url_id: int
    host: Host
    pattern: Pattern
    leads: bool = False
    """Whether a new URL among them is worth a page: it has another pattern that gives new data, or one to be tried. New words are
    not enough, as the months and days of a calendar would lead to each other for ever."""
    promise: float = 0.0
    """Quads per page of the best of these patterns."""

    def lead_to(self, met: dict[str, Pattern | None]) -> None:
        """Take account of new links to URLs of these patterns of one host; unknown ones are None."""
        for key, pattern in met.items():
            if pattern is not None and pattern is not self.pattern and pattern.data_news and not pattern.is_stale(key):
                self.leads = True
                self.promise = max(self.promise, pattern.mean)


class Patterns:
    """The patterns of all hosts."""

    def __init__(self, store: Store) -> None:
        self._table = store.tables["patterns"]
        self._hosts: dict[int, HostPatterns] = {}
        """Hosts by number, the most recently changed last."""
        self._loaded = 0
        """The number of their patterns at the last commit, or when they were read."""
        self._changed: dict[int, HostPatterns] = {}
        self.page: PageLeads | None = None
        """The last recorded page, until the next one is recorded."""

    def of(self, host: Host) -> HostPatterns | None:
        """The patterns of a host; None before its first page."""
        known = self._hosts.get(host.number)
        return known or (self._load(host) if host.record.pages else None)

    def obtain(self, host: Host) -> HostPatterns:
        """Like `of`, for a host that has a page now; the next commit stores them."""
        known = self._hosts.pop(host.number, None) or self._load(host)
        self._hosts[host.number] = self._changed[host.number] = known
        return known

    def stage(self) -> None:
        """Stage all changed patterns."""
        for number, known in self._changed.items():
            prefix = pack_host(number)
            self._table.put(prefix, _encode(known.total))
            for key, pattern in known.changed.items():
                if pattern is None:
                    self._table.delete(prefix + key.encode())
                else:
                    self._table.put(prefix + key.encode(), _encode(pattern))

    def settle(self) -> None:
        """After a commit, forget the changes, and drop the least recent hosts from memory."""
        for known in self._changed.values():
            known.changed.clear()
            self._count(known)
        self._changed.clear()
        while self._loaded > _MAX_LOADED and len(self._hosts) > 1:
            self._loaded -= self._hosts.pop(next(iter(self._hosts))).counted

    def _load(self, host: Host) -> HostPatterns:
        known = self._hosts[host.number] = (
            read_patterns(self._table, host.number) if host.record.pages else HostPatterns({})
        )
        self._count(known)
        return known

    def _count(self, known: HostPatterns) -> None:
        # A host without patterns takes memory too.
        count = len(known.by_key) + 1
        self._loaded += count - known.counted
        known.counted = count


def read_patterns(table: TableRows, number: int) -> HostPatterns:
    """Read the stored patterns of a host."""
    prefix = pack_host(number)
    rows = table.scan(prefix, pack_host(number + 1))
    return HostPatterns({key[len(prefix) :].decode(): _decode(value) for key, value in rows})
