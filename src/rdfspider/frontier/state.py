"""What a frontier stores outside its tables: counts, epoch, whether it was closed cleanly, and values of its callers."""

import secrets

from msgspec import Struct
from msgspec.msgpack import Decoder, Encoder

from rdfspider.errors import UsageError
from rdfspider.frontier.clock import Calendar, Clock
from rdfspider.frontier.entries import NOTHING_HEARD, Counts, LastHeard, StaleLifeError
from rdfspider.frontier.keys import pack_meta
from rdfspider.frontier.store import Store, TableRows

_VERSION = b"1"
# What a lost state may have given out after it was last heard, and how many segments each lost life may have begun.
_UNHEARD_HOSTS, _UNHEARD_URLS = 1 << 14, 1 << 16
# The same for a start after a crash, which may be of a copy that is a moment older than what was lost. It is little, as there
# may be thousands of crashes; peers know what it must be (`leave_out`), and until they are met few numbers are given out.
_MOMENT_HOSTS, _MOMENT_URLS = 1 << 10, 1 << 9
_SEGMENTS_A_LIFE = 1000
# Sequences have 25 bits at least, and hosts need most of them: rather name a wrong parent than lose links.
_MOST_SKIPPED_URLS = 1 << 23
# Numbers of hosts have 27 bits at least.
_MOST_SKIPPED_HOSTS = 1 << 26


class FrontierState(Struct):
    """The values that every commit stores."""

    salt: int
    counts: Counts
    commits: int = 0
    next_place: int = 0
    outbox_bytes: int = 0
    limits: tuple[int, int] = (0, 0)
    """The page limits per host and per domain at the time when hosts were found to be over budget."""
    lookup: bytes = b""
    """A digest of the DNS settings; `lookup_epoch` is the first epoch with them."""
    lookup_epoch: int = 0
    queued: list[int] = []
    """Scheduled URLs by priority; empty if the state is older than this field."""
    skipped_hosts: int = 0
    """Host numbers, sequences of URLs and numbers of segments that are left out, because a lost state of this frontier, of which
    this is an older copy, may have given them out."""
    skipped_urls: int = 0
    skipped_segments: int = 0
    found: tuple[int, int] = (0, 0)
    """What was given out when this life began, and how many hosts and sequences it has left out since."""
    left_out: tuple[int, int] = (0, 0)
    was_empty: bool = False
    """Whether nothing was stored when this life began."""
    passed_urls: int = 0
    """Sequences that need not be left out although a lost state has given them out, because that was for other host numbers."""

    @property
    def numbered(self) -> tuple[int, int]:
        """The highest host number, and a bound of the sequences of URLs, that were given out."""
        return self.counts.hosts + self.skipped_hosts, self.counts.known + self.skipped_urls + self.passed_urls

    def leave_out(self, hosts: int, urls: int) -> bool:
        """Give out no numbers that a lost state has given out, which had given out these; returns whether more are left out than
        before."""
        left_hosts, left_urls = self.left_out
        more_hosts = max(hosts - self.found[0] - left_hosts, 0)
        more_hosts = max(min(more_hosts, _MOST_SKIPPED_HOSTS - self.skipped_hosts), 0)
        more_urls = max(urls - self.found[1] - left_urls, 0)
        self.skipped_hosts += more_hosts
        # In a frontier that was empty, all host numbers are new ones.
        skipped = 0 if self.was_empty else min(more_urls, _MOST_SKIPPED_URLS - self.skipped_urls)
        self.skipped_urls += skipped
        self.passed_urls += more_urls - skipped
        self.left_out = left_hosts + more_hosts, left_urls + more_urls
        return bool(more_hosts or more_urls)


class Meta:
    """Named values of the callers, committed in the same batch as the changes they belong to."""

    def __init__(self, store: Store) -> None:
        self._rows = store.overlay("meta")

    def put(self, key: str, value: bytes) -> None:
        """Stage a value; durable with the next commit."""
        self._rows.put(pack_meta(key), value)

    def get(self, key: str) -> bytes | None:
        """A value, staged or committed; None if there is none."""
        return self._rows.get(pack_meta(key))


_encode_state = Encoder().encode
_decode_state = Decoder(FrontierState).decode


def open_state(
    store: Store, clock: Clock, epoch: int = 0, heard: LastHeard = NOTHING_HEARD
) -> tuple[FrontierState, Calendar]:
    """Read the stored state and begin an epoch, by default the next one, durably, before anything is leased. If more was heard of
    the frontier, this is an older copy of it: it gives out no numbers that the lost state may have given out."""
    meta = store.tables["meta"]
    _check_version(meta)
    openings = meta.get(b"openings")
    last_epoch = Calendar.read(openings, clock).epoch if openings else 0
    if epoch and epoch <= last_epoch:
        raise StaleLifeError(f"it has had epoch {last_epoch}, and was to begin {epoch}")
    stored = meta.get(b"state")
    state = _decode_state(stored) if stored else FrontierState(secrets.randbits(64), Counts())
    is_put_back = (last_epoch, state.commits) < heard.generation
    # If there was a life in between, hosts may have been asked a moment ago.
    has_gap = bool(epoch and openings) and epoch != last_epoch + 1
    # The wall clocks of two machines may differ by any time.
    is_moved = bool(openings) and (meta.get(b"machine") or b"").decode() not in ("", clock.machine_id)
    is_clean = not (is_put_back or has_gap or is_moved) and (not openings or meta.get(b"clean") is not None)
    calendar = Calendar.open(openings, is_clean, clock, epoch)
    hosts, urls = state.found = state.numbered
    state.left_out, state.was_empty = (0, 0), not openings
    if is_put_back:
        state.leave_out(max(heard.hosts, hosts) + _UNHEARD_HOSTS, max(heard.urls, urls) + _UNHEARD_URLS)
        # No two lives begin at the same number, also if they begin from the same copy.
        state.skipped_segments = max(state.skipped_segments, heard.lives * _SEGMENTS_A_LIFE) + _SEGMENTS_A_LIFE
    elif not is_clean:
        # Without news of a later state, it may still be a copy that is a second older.
        state.leave_out(hosts + _MOMENT_HOSTS, urls + _MOMENT_URLS)
        state.skipped_segments += 1
    state.counts.in_flight = state.counts.active_hosts = 0
    meta.put(b"version", _VERSION)
    meta.put(b"openings", calendar.to_bytes())
    meta.put(b"machine", clock.machine_id.encode())
    stage_state(store, state)
    meta.delete(b"clean")
    store.write()
    store.sync()
    return state, calendar


def read_state(meta: TableRows, clock: Clock) -> tuple[FrontierState, Calendar] | None:
    """Read the stored state without changing it; None if nothing was stored yet."""
    _check_version(meta)
    stored = meta.get(b"state")
    return (_decode_state(stored), Calendar.read(meta.get(b"openings"), clock)) if stored else None


def stage_state(store: Store, state: FrontierState) -> None:
    """Stage the state for the next write."""
    store.tables["meta"].put(b"state", _encode_state(state))


def mark_clean(store: Store) -> None:
    """Record a clean end, durably."""
    store.tables["meta"].put(b"clean", b"1")
    store.write()
    store.sync()


def _check_version(meta: TableRows) -> None:
    version = meta.get(b"version")
    if version not in (None, _VERSION):
        raise UsageError(f"was made by another version of rdfspider (format {version.decode()})")
