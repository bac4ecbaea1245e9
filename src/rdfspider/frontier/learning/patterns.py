"""The shape of a URL: a URL enters, its pattern leaves, without numbers, dates and names; and wider patterns, for those that are
counted together. Text in, text out."""

import re
from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct, field
from msgspec.msgpack import Decoder, Encoder

from rdfspider.frontier.hosts.hosts import Host
from rdfspider.frontier.keys import pack_host
from rdfspider.frontier.store import Rows, Store
from rdfspider.records import DuplicateKind, Judgement

REST = "…"
"""How a pattern ends that others are counted as."""

_SEGMENTS = 4
_NAMED_SEGMENTS = 2
_PARAMETERS = 6
_MAX_WORD = 24
_WORD = re.compile(r"[A-Za-z]+(?:[-_][A-Za-z]+)?(?:\.[A-Za-z]{1,5})?")
_NUMBER = re.compile(r"[0-9][0-9.:_T+-]*")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")
_VALUES = re.compile(r"=[^&]*")
_DEEPER = "**"


def find_pattern(url: str) -> str:
    """The pattern of a normal URL: `/calendar/0/0`, `/products/*.html`, `/search?page&q`.

    Numbers and dates become `0`, the last segment and whatever is no plain word `*`, parameters lose their values. The name of
    what is asked with parameters is kept, as it is that of a program.
    """
    path, _, query = url[url.find("/", 8) :].partition("?")
    parts = path.split("/", _SEGMENTS + 1)
    last = len(parts) - (1 if parts[-1] else 2)
    for place in range(1, last):
        parts[place] = _name_segment(parts[place]) if place <= _NAMED_SEGMENTS else _name_late_segment(parts[place])
    if last > _SEGMENTS:
        parts[last:] = [_DEEPER]
    elif last > 0:
        parts[last] = _name_segment(parts[last]) if query else _name_leaf(parts[last])
    pattern = "/".join(parts)
    return f"{pattern}?{_name_parameters(_VALUES.sub('', query))}" if query else pattern


def drop_parameters(key: str) -> str:
    """The pattern of all that ask the same path with several parameters."""
    path, mark, names = key.partition("?")
    return f"{path}{mark}{REST}" if "&" in names else key


def widen(key: str) -> str:
    """The pattern of all that have the same first segment."""
    first, slash, _ = key[1:].partition("/")
    return f"/{first}/{REST}" if slash else REST


@lru_cache(maxsize=4096)
def _name_segment(part: str) -> str:
    """A plain word, with its extension, stays what it is."""
    if len(part) <= _MAX_WORD and _WORD.fullmatch(part):
        return part
    return _name_leaf(part)


@lru_cache(maxsize=1024)
def _name_parameters(names: str) -> str:
    found = {_name_segment(name) for name in names.split("&", 2 * _PARAMETERS)[: 2 * _PARAMETERS]}
    return "&".join(sorted(found)[:_PARAMETERS])


def _name_late_segment(part: str) -> str:
    return "0" if part.isdigit() or _NUMBER.fullmatch(part) else "*"


def _name_leaf(part: str) -> str:
    if part.isdigit():
        return "0"
    found = _EXTENSION.search(part) if "." in part else None
    extension = found[0].lower() if found else ""
    is_number = "0" <= part[:1] <= "9" and _NUMBER.fullmatch(part.removesuffix(found[0]) if found else part)
    return ("0" if is_number else "*") + extension


MAX_PATTERNS = 200
"""Patterns of one host that are told apart."""
RULE = "pattern"
"""What the reason begins with why URLs of one are not asked for."""
TRIALS = 3
"""How many URLs of a pattern that nothing is known of are tried soon."""

# Patterns of all hosts in memory, a kilobyte each, with that of all together; more are allowed between two commits.
_MAX_LOADED = 10_000
# Pages in a row that may give nothing new; fewer where URLs are counted up and no page ever had data of its own.
_BUDGET, _NUMBERED_BUDGET = 30, 15
# Sets of two and more parameters of one path that are told apart. Three parameters have four such sets; those of filters, which
# multiply, have hundreds, and all show the same.
_PARAMETER_SETS = 6
# The first probe is the tenth URL that is refused. Gaps grow, faster than any page can bring links, so that every trap ends.
_FIRST_PROBE, _STEEP_UNTIL = 10, 1000
# Means follow the last pages: so many of them decide.
_MEMORY_PAGES = 16
# One page with a great deal of data says little of its neighbours.
_MAX_PAGE_QUADS = 500
# What was met is remembered in two maps of so many bytes. When more than a fifth of the bits of the newer one are set, it becomes
# the older one. Where sets of parameters are counted together more is remembered, as they show the same again after a long while.
_MAP_BYTES, _LARGE_MAP_BYTES = 256, 4096
_MARKS_A_BYTE = 8 / 5
_MIXER = 0x9E3779B1

# Ways to repeat a page by its own word or by its words: such a page may still have data of its own.
_UNSURE = frozenset({DuplicateKind.NEAR, DuplicateKind.CANONICAL, DuplicateKind.SOFT_404})


class Pattern(Struct, array_like=True, gc=False):
    """What the URLs of one pattern have given."""

    visits: int = 0
    """Pages that came, and answers of 4xx."""
    structured: int = 0
    """Of these, those with structured data."""
    quads: int = 0
    mean: float = 0.0
    """Quads a visit, the last ones more than the first."""
    promise: float = 0.0
    """The same of the best that its pages lead to."""
    news: int = 0
    """Pages that had something new."""
    data_news: int = 0
    """Of these, those that had new data."""
    stale: int = 0
    """Pages in a row that had nothing new themselves."""
    idle: int = 0
    """Of these, in a row, those that also led to nothing new elsewhere."""
    refused: int = 0
    """URLs that were not asked for since the budget was used up."""
    next_probe: int = _FIRST_PROBE
    """Which of these is asked for all the same."""
    marks: int = 0
    """Bits that are set in the newer map."""
    newer: bytearray = field(default_factory=bytearray)
    older: bytearray = field(default_factory=bytearray)
    is_combined: bool = False
    """Whether sets of parameters are counted together. Each shows the same in other words, so that data alone counts as new."""

    def count(self, quads: int) -> None:
        """Take a visit into the means."""
        self.visits += 1
        self.structured += quads > 0
        self.quads += quads
        share = 1 / min(self.visits, _MEMORY_PAGES)
        self.mean += (min(quads, _MAX_PAGE_QUADS) - self.mean) * share

    def count_lead(self, mean: float) -> None:
        """Take what the last page leads to into the promise."""
        self.promise += (mean - self.promise) / min(max(self.visits, 1), _MEMORY_PAGES)

    def meet(self, judgement: Judgement, repeats_itself: bool = False) -> bool:
        """Whether a page has something new, as far as this pattern goes; it is known from now on. A site that repeats itself,
        byte by byte, has nothing new, however long ago it was; else data count, whatever the page is taken for."""
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
        """How many pages in a row may give nothing new; the key is the pattern itself."""
        is_numbered = not self.data_news and ("/0" in key or "?" in key)
        return _NUMBERED_BUDGET if is_numbered else _BUDGET

    def is_spent(self, key: str) -> bool:
        """Whether the budget is used up."""
        return self.idle >= _NUMBERED_BUDGET and self.idle >= self.budget(key)

    def is_stale(self, key: str) -> bool:
        """Whether its pages have stopped to have anything new themselves."""
        return self.stale >= _NUMBERED_BUDGET and self.stale >= self.budget(key)

    def take_probe(self) -> bool:
        """Count a URL that is not asked for; whether this one is, to see whether something has changed."""
        self.refused += 1
        if self.refused < self.next_probe:
            return False
        self.next_probe += max(min(9 * self.next_probe, _STEEP_UNTIL), self.next_probe)
        return True

    def restore(self) -> bool:
        """Give the budget back; whether URLs were refused meanwhile."""
        was_used_up = self.refused > 0
        self.idle = self.refused = 0
        self.next_probe = _FIRST_PROBE
        return was_used_up

    def absorb(self, other: "Pattern") -> None:
        """Take over what another one was found to give."""
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
        """Whether some of these were not met lately; from now on they were."""
        if not self.newer or self.marks > _MARKS_A_BYTE * len(self.newer):
            self.older, self.marks = self.newer, 0
            self.newer = bytearray(_LARGE_MAP_BYTES if self.is_combined else _MAP_BYTES)
        newer, older, is_new = self.newer, self.older, False
        for value in sample:
            # Checksums of texts that are alike are alike in some of their bits.
            number = value * _MIXER >> 16
            place, bit = (number >> 3) % len(newer), 1 << (number & 7)
            if not newer[place] & bit:
                is_new = is_new or not (older and older[place] & bit)
                newer[place] |= bit
                self.marks += 1
        return is_new


class HostPatterns:
    """The patterns of one host in memory."""

    __slots__ = ("_is_folded", "by_key", "changed", "counted", "passed", "total", "trials")

    def __init__(self, by_key: dict[str, Pattern]) -> None:
        self.total = by_key.pop("", Pattern())
        """Of all patterns together."""
        self.by_key = by_key
        self.trials: dict[str, int] = {}
        """How often patterns were met that nothing is known of."""
        self.passed = 0
        """URLs in a row that were put behind others since one was found that was not, or since new ones came."""
        self.changed: dict[str, Pattern | None] = {}
        """What the next commit stores; None is no longer told apart."""
        self.counted = 0
        """The share of this host in what is counted as loaded."""
        self._is_folded = any(key.endswith(REST) for key in by_key)

    def find(self, key: str) -> Pattern | None:
        """What is known of a pattern, or of all that it is counted with; None where nothing is."""
        found = self.by_key.get(key)
        return found or (self.by_key.get(self.name(key)) if self._is_folded else None)

    def name(self, key: str) -> str:
        """The pattern that a pattern is counted as."""
        if self._is_folded and key not in self.by_key:
            for wider in (drop_parameters(key), widen(key), REST):
                if wider in self.by_key:
                    return wider
        return key

    def explain_refusal(self, key: str) -> str:
        """Why URLs of a pattern are not asked for any more, in words; empty where they are."""
        pattern = self.find(key)
        if pattern is None or not pattern.is_spent(key):
            return ""
        return f"{RULE} {self.name(key)} gave nothing new in {pattern.idle:,} pages"

    def obtain(self, key: str) -> Pattern:
        """The same as `find`, and a new one where there is none; it is stored with the next commit."""
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
        """Count the sets of parameters of a path together, where they are many; but for those that were met often, which have
        shown what they are."""
        program = key.partition("?")[0] + "?"
        rare = [
            other
            for other, pattern in self.by_key.items()
            if "&" in other and other.startswith(program) and pattern.visits < _BUDGET
        ]
        if len(rare) >= _PARAMETER_SETS:
            self._is_folded = True
            self.by_key[drop_parameters(key)] = Pattern(is_combined=True)
            self._merge(rare, drop_parameters)

    def _fold(self) -> None:
        """Count the half that was met least together, by the first segment; and if those are too many, all as one."""
        self._is_folded = True
        self._merge([key for key in self.by_key if not key.endswith(REST)], widen)
        if len(self.by_key) > 3 * MAX_PATTERNS // 4:
            self._merge([key for key in self.by_key if key != REST], lambda key: REST)

    def _merge(self, keys: list[str], find_wider: Callable[[str], str]) -> None:
        keys.sort(key=lambda key: self.by_key[key].visits)
        for key in keys[: MAX_PATTERNS // 2]:
            self.changed[key] = None
            wider = self.by_key.setdefault(find_wider(key), Pattern())
            wider.absorb(self.by_key.pop(key))
            self.changed[find_wider(key)] = wider


class PageLeads:
    """Where the page leads that was recorded last; its links follow it."""

    __slots__ = ("host", "leads", "pattern", "promise", "url_id")

    def __init__(self, url_id: int, host: Host, pattern: Pattern) -> None:
        self.url_id = url_id
        self.host = host
        self.pattern = pattern
        self.leads = False
        """Whether to a URL that was never seen and is worth a page: of another pattern that gives new data, or of one to be
        tried. New words are not enough: the months and the days of a calendar would lead to each other for ever."""
        self.promise = 0.0
        """Quads a page of the best of these patterns."""

    def lead_to(self, met: dict[str, Pattern | None]) -> None:
        """It has new links to URLs of these patterns of a host that are known."""
        for key, pattern in met.items():
            if pattern is not None and pattern is not self.pattern and pattern.data_news and not pattern.is_stale(key):
                self.leads = True
                self.promise = max(self.promise, pattern.mean)


class Patterns:
    """The patterns of all hosts."""

    def __init__(self, store: Store) -> None:
        self._table = store.tables["patterns"]
        self._hosts: dict[int, HostPatterns] = {}
        """Those that were met last are at the end."""
        self._loaded = 0
        """How many patterns these had at the last commit, or when they were read."""
        self._changed: dict[int, HostPatterns] = {}
        self.page: PageLeads | None = None
        """Until the next page is recorded."""

    def of(self, host: Host) -> HostPatterns | None:
        """What is known of the patterns of a host; None before its first page."""
        known = self._hosts.get(host.number)
        return known or (self._load(host) if host.record.pages else None)

    def obtain(self, host: Host) -> HostPatterns:
        """The same, for a host that has a page now; it is stored with the next commit."""
        known = self._hosts.pop(host.number, None) or self._load(host)
        self._hosts[host.number] = self._changed[host.number] = known
        return known

    def stage(self) -> None:
        """Put all that changed into the batch."""
        for number, known in self._changed.items():
            prefix = pack_host(number)
            self._table.put(prefix, _encode(known.total))
            for key, pattern in known.changed.items():
                if pattern is None:
                    self._table.delete(prefix + key.encode())
                else:
                    self._table.put(prefix + key.encode(), _encode(pattern))

    def settle(self) -> None:
        """After a commit: nothing is changed any more, and hosts that were not met for long leave memory."""
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
        # A host of which nothing is known takes room, too.
        count = len(known.by_key) + 1
        self._loaded += count - known.counted
        known.counted = count


def read_patterns(table: Rows, number: int) -> HostPatterns:
    """What is stored of the patterns of a host."""
    prefix = pack_host(number)
    rows = table.scan(prefix, pack_host(number + 1))
    return HostPatterns({key[len(prefix) :].decode(): _decode(value) for key, value in rows})


_encode = Encoder().encode
_decode = Decoder(Pattern).decode
