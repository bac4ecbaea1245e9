"""The robots.txt of each origin, on disk and for recent ones in memory, and whether an origin is a mirror.

Two sites with the same pages are usually fetched side by side. A host's record counts which pages of its origins another origin
has at the same path, and an origin that repeats another one often enough is a mirror.
"""

from msgspec import Struct
from msgspec.msgpack import Decoder, Encoder
from msgspec.structs import replace

from rdfspider.codes import DuplicateKind, RobotsRule
from rdfspider.frontier.keys import origin_of, pack_host
from rdfspider.frontier.store import Store
from rdfspider.records import Judgement, RobotsState
from rdfspider.urls import host_of

# A robots.txt may have 500 KB; nearly all have less than 4 KB.
_MEMORY_BYTES = 16 * 1024 * 1024
_ENTRY_BYTES = 512

_encode = Encoder().encode
decode_robots = Decoder(RobotsState).decode
_WINDOW_PAGES = 20
# The origins of one host whose pages are compared; a host usually has two.
_MAX_ORIGINS = 8
# The minimum of pages of a mirror, the share of pages that makes it one, and the share below which it no longer is one.
_MIN_PAGES = 10
_MIRROR_PERCENT, _REST_PERCENT = 80, 50
# The kinds of duplicates that show that another site has the page too.
_REPETITIONS = frozenset({DuplicateKind.EXACT, DuplicateKind.NEAR, DuplicateKind.CANONICAL})


class Origins:
    """The robots.txt of all origins."""

    def __init__(self, store: Store) -> None:
        self._committed = store.tables["robots"]
        self._robots = store.overlay("robots")
        self._memory: dict[bytes, RobotsState | None] = {}
        self._memory_bytes = 0

    def get(self, number: int, origin: str) -> RobotsState | None:
        """The state of an origin's robots.txt; None before the first answer."""
        key = pack_host(number) + origin.encode()
        if key in self._memory:
            return self._memory[key]
        value = self._robots.get(key)
        state = decode_robots(value) if value else None
        self._remember(key, state)
        return state

    def put(self, number: int, origin: str, state: RobotsState) -> None:
        """Stage a new state, which applies at once."""
        key = pack_host(number) + origin.encode()
        self._robots.put(key, _encode(state))
        self._forget(key)
        self._remember(key, state)

    def expire_silent(self, number: int, now: float) -> None:
        """Expire every robots.txt of a host whose last request got no answer, so that it is requested again."""
        for key, value in self._committed.scan(pack_host(number), pack_host(number + 1)):
            state = decode_robots(value)
            if is_silent(state) and state.expires > now:
                self.put(number, key[len(pack_host(number)) :].decode(), replace(state, expires=now))

    def _remember(self, key: bytes, state: RobotsState | None) -> None:
        self._memory[key] = state
        self._memory_bytes += _size(state)
        while self._memory_bytes > _MEMORY_BYTES:
            self._forget(next(iter(self._memory)))

    def _forget(self, key: bytes) -> None:
        if key in self._memory:
            self._memory_bytes -= _size(self._memory.pop(key))


def is_silent(state: RobotsState) -> bool:
    """Whether the request for a robots.txt got no answer; a refusal or a server error is an answer."""
    return state.rule == RobotsRule.UNREACHABLE and not state.reason.startswith("status-")


class Repeats(Struct, array_like=True):
    """Which of an origin's last pages another origin has at the same path: one bit per page, the lowest for the newest."""

    other: str
    """The origin that has the pages too."""
    count: int = 0
    """The number of pages in the window."""
    later: int = 0
    """Pages that the other one had first."""
    first: int = 0
    """Pages that this one had first."""
    is_mirror: bool = False

    @property
    def percent(self) -> int:
        """The percentage of pages that both have."""
        return 100 * (self.later | self.first).bit_count() // max(self.count, 1)

    def add(self, is_later: bool, is_first: bool = False) -> None:
        """Add a page to the window, and drop the oldest."""
        mask = (1 << _WINDOW_PAGES) - 1
        self.count = min(self.count + 1, _WINDOW_PAGES)
        self.later = (self.later << 1 | is_later) & mask
        self.first = (self.first << 1 | is_first) & mask

    def judge(self, origin: str) -> None:
        """Decide whether the origin is a mirror of the other; if each was first equally often, their names decide."""
        least = _REST_PERCENT if self.is_mirror else _MIRROR_PERCENT
        is_less = (self.later.bit_count(), origin) > (self.first.bit_count(), self.other)
        self.is_mirror = is_less and self.count >= _MIN_PAGES and self.percent >= least


def find_shared(url: str, original: str) -> tuple[str, str] | None:
    """The origins of two URLs that differ only in their origins; None for other URLs."""
    origin, other = origin_of(url), origin_of(original)
    is_same_place = url[len(origin) :] == original[len(other) :]
    return (origin, other) if is_same_place and origin != other else None


def note_page(repeats: dict[str, Repeats], url: str, judgement: Judgement) -> bool:
    """Add a page to the `repeats` of its host, by origin; returns whether they changed."""
    shared = find_shared(url, judgement.original) if judgement.duplicate in _REPETITIONS else None
    origin, other = shared or (origin_of(url), "")
    known = _find_known(repeats, origin, other)
    if known is None:
        return False
    known.add(is_later=known.other == other)
    known.judge(origin)
    if not known.percent:
        del repeats[origin]
    return True


def note_repeated(repeats: dict[str, Repeats], origin: str, other: str) -> bool:
    """Record that another origin repeats a page of this one; returns whether anything changed."""
    known = _find_known(repeats, origin, other)
    if known is None or known.other != other:
        return False
    # It does not matter which page it was: mark one that is not shared so far.
    unshared = ~(known.later | known.first) & ((1 << known.count) - 1)
    if unshared:
        known.first |= unshared & -unshared
    elif known.count < _WINDOW_PAGES:
        # The page came before the window began.
        known.add(is_later=False, is_first=True)
    known.judge(origin)
    return True


def describe_mirror(name: str, repeats: dict[str, Repeats]) -> str:
    """The host that a host mirrors, or the origin if it mirrors itself with another scheme or port; empty for none."""
    for known in repeats.values():
        if known.is_mirror:
            host = host_of(known.other)
            return known.other if host == name else host
    return ""


def is_mirrored(repeats: dict[str, Repeats], url: str) -> bool:
    """Whether a URL is on an origin that mirrors another."""
    known = repeats.get(origin_of(url))
    return known is not None and known.is_mirror


def _size(state: RobotsState | None) -> int:
    return _ENTRY_BYTES + (len(state.body) if state else 0)


def _find_known(repeats: dict[str, Repeats], origin: str, other: str) -> Repeats | None:
    """The repeats of an origin; they restart with `other` if there are none, or if few pages repeat the current one."""
    known = repeats.get(origin)
    if known is None and len(repeats) >= _MAX_ORIGINS:
        return None
    if other and (known is None or (known.other != other and known.percent < _REST_PERCENT)):
        known = repeats[origin] = Repeats(other)
    return known
