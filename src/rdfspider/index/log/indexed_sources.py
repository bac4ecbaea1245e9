"""Everything that is indexed, minus what is forgotten: a position in a file of the log enters, outcomes leave.

The sources are the segments of a crawl's shards, which grow, and WARC files from elsewhere, which do not. `forgotten.txt` has
the rules of what is kept out: a URL means that page alone, a site means that host or domain and all hosts below it. A rule
that was undone stays there as a comment, so that every view knows that it has to read the log again.
"""

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from hashlib import blake2b

from rdfspider.archive.log import Segment, list_segments, read_outcomes
from rdfspider.archive.outcomes import Outcome
from rdfspider.archive.warc_file import Damage
from rdfspider.config import ExtractConfig
from rdfspider.disk import add_lines, read_lines, replace_line
from rdfspider.errors import UsageError
from rdfspider.index.layout import IndexPaths
from rdfspider.index.log.foreign import list_sources, read_foreign
from rdfspider.index.view import Cursors
from rdfspider.urls import host_of, normalise_url

_log = logging.getLogger(__name__)

FORGOTTEN = "forgotten.txt"
"""The key of `index.view.Cursors` for what was forgotten."""
UNDONE = "forgotten.txt, undone"
"""The key of `index.view.Cursors` for the number of rules that were undone."""

_UNDONE = "# undone:"
# Bytes of a mark: it must fit wherever a cursor does, even where numbers are floats.
_MARK_BYTES = 6
# A site has no path, query, port or user; an IPv6 address, in brackets, has colons.
_SITE = re.compile(r"[^/\\?#@%*:\[\]\s]+|\[[0-9a-fA-F:.]+\]")
# The files are not checked again within this time.
_FRESH_S = 0.2
# How much damage is remembered, so that not every view reports it again.
_DAMAGES = 10_000


class Forgotten:
    """The rules as of one reading of the file."""

    def __init__(self, rules: list[str], undone: int = 0) -> None:
        """Raise UsageError if a rule is neither a URL nor a site."""
        self.undone = undone
        """How many rules were undone so far."""
        self._urls: set[str] = set()
        self._sites: set[str] = set()
        for rule in rules:
            normal = _normalise_rule(rule)
            (self._urls if "://" in normal else self._sites).add(normal)
        told = "\n".join(sorted(self._urls | self._sites))
        self.mark = int.from_bytes(blake2b(told.encode(), digest_size=_MARK_BYTES).digest()) if told else 0
        """Identifies this set of rules, for the cursor; 0 if there are none. People may delete rules as well as add them."""

    @classmethod
    def load(cls, paths: IndexPaths) -> "Forgotten":
        """The rules of a crawl. Raise UsageError if a line is no rule, because what it means would not be forgotten."""
        try:
            return cls(read_lines(paths.forgotten), _count_undone(paths))
        except UsageError as error:
            where = "" if str(paths.forgotten) in str(error) else f"{paths.forgotten}: "
            raise UsageError(f"{where}{error}") from error

    def has_rule(self, text: str) -> bool:
        """Whether a page or a site is forgotten by a rule of its own, or by that of a site above it."""
        rule = _normalise_rule(text)
        return self.matches(rule if "://" in rule else f"http://{rule}/")

    def matches(self, url: str) -> bool:
        """Whether the page of a normalised URL is forgotten."""
        if url in self._urls:
            return True
        if not self._sites:
            return False
        host = host_of(url).rstrip(".")
        while host:
            if host in self._sites:
                return True
            host = host.partition(".")[2]
        return False


def add_rule(paths: IndexPaths, text: str) -> str:
    """Add a rule, a URL or a site, and return its meaning in words. Adding it again changes nothing."""
    rule = _normalise_rule(text)
    add_lines(paths.forgotten, [rule])
    return _tell_rule(rule)


def undo_rule(paths: IndexPaths, text: str) -> str:
    """Undo a rule, and return its meaning in words; raise UsageError if there is none."""
    rule = _normalise_rule(text)
    known = read_lines(paths.forgotten)
    written = next((line for line in known if _normalise_rule(line) == rule), "")
    if not written or not replace_line(paths.forgotten, written, f"{_UNDONE} {written}"):
        near = get_close_matches(rule, known, n=3, cutoff=0.4)
        hint = f"; forgotten are {', '.join(near)}" if near else f"; {paths.forgotten} lists what is"
        raise UsageError(f"{rule} was not forgotten{hint}")
    return _tell_rule(rule)


def _count_undone(paths: IndexPaths) -> int:
    try:
        return sum(line.startswith(_UNDONE) for line in paths.forgotten.read_text("utf-8").split("\n"))
    except FileNotFoundError:
        return 0


def _tell_rule(rule: str) -> str:
    return f"the page {rule}" if "://" in rule else f"all pages of {rule} and of all hosts below it"


def _normalise_rule(text: str) -> str:
    """The rule in the form that is compared: a URL or a host, normalised as in the crawl."""
    text = text.strip()
    if "://" in text:
        url = normalise_url(text)
        if url is None:
            raise UsageError(f"{text[:200]!r} is no http or https address")
        return url
    name = text.removesuffix("/").strip(".")
    address = normalise_url(f"http://{name}/") if _SITE.fullmatch(name) else None
    if address is None:
        raise UsageError(
            f"{text[:200]!r} is neither a page nor a site: write a page with https:// or http:// before it, "
            "and a site as its host or domain alone, such as example.org"
        )
    return host_of(address)


class LogState(Mapping[str, Segment]):
    """What there is to index at one moment, by source."""

    __slots__ = ("_segments", "foreign", "forgotten", "taken")

    def __init__(
        self, log: Mapping[str, Segment], foreign: Mapping[str, Segment], forgotten: Forgotten, taken: float
    ) -> None:
        self._segments = {**log, **foreign}
        self.foreign = foreign
        self.forgotten = forgotten
        self.taken = taken
        """When it was taken, by the monotonic clock."""

    def __getitem__(self, source: str) -> Segment:
        return self._segments[source]

    def __iter__(self) -> Iterator[str]:
        return iter(self._segments)

    def __len__(self) -> int:
        return len(self._segments)

    def list_log(self) -> dict[str, int]:
        """The lengths of the shards' segments, the only sources for which lag is measured."""
        return {source: segment.length for source, segment in self._segments.items() if source not in self.foreign}

    def measure_rest(self, cursors: Cursors) -> int:
        """Bytes that the cursors have not passed."""
        return sum(max(0, segment.length - cursors.get(source, 0)) for source, segment in self._segments.items())


class Sources:
    """The sources of one crawl's indexes."""

    def __init__(self, paths: IndexPaths, config: ExtractConfig) -> None:
        self._paths = paths
        self._config = config
        self._lock = threading.Lock()
        self._look: LogState | None = None
        self._missing: tuple[str, ...] = ()
        self._spoilt: dict[str, str] = {}
        """By the name of a list: why it cannot be read; its previous content still holds."""
        self._foreign: dict[str, Segment] = {}
        self._stamps: dict[str, tuple[int, int] | None] = {}
        self._forgotten = Forgotten([])
        self._damages: set[tuple[str, int]] = set()
        self._unreadable = set(read_lines(paths.unreadable))

    @property
    def problems(self) -> tuple[str, ...]:
        """Why files from elsewhere, lists or records of the archive cannot be read."""
        lost = (_tell_unreadable(self._paths, self.unreadable),) if self._unreadable else ()
        return (*self._missing, *self._spoilt.values(), *lost)

    @property
    def unreadable(self) -> int:
        """The number of records of the crawl's own archive that could not be read, also by earlier processes."""
        return len(self._unreadable)

    def look(self, since: float = 0.0) -> LogState:
        """The current sources, a moment old at most and not older than `since`. Raise UsageError if a list is invalid at the
        first look; later its previous content holds, because somebody may still be editing it."""
        with self._lock:
            now = time.monotonic()
            if self._look is None or now - self._look.taken > _FRESH_S or self._look.taken < since:
                self._read_list("forgotten", self._load_forgotten)
                self._read_list("sources", self._list_foreign, is_due=bool(self._missing))
                self._look = LogState(list_segments(self._paths.folder), self._foreign, self._forgotten, now)
            return self._look

    def read(self, source: str, look: LogState, start: int) -> Iterator[Outcome | Damage]:
        """The outcomes of a source from an offset on."""
        path, stop = look[source]
        if source in look.foreign:
            return read_foreign(path, start, self._config, stop)
        return read_outcomes(path, source, start, stop)

    def tell(self, source: str, damage: Damage) -> None:
        """Log damage once, even if several views find it. That of our own archive is remembered: no cursor comes back to it."""
        with self._lock:
            is_new = (damage.path, damage.offset) not in self._damages
            if len(self._damages) >= _DAMAGES:
                self._damages.clear()
            self._damages.add((damage.path, damage.offset))
            is_own = self._look is None or source not in self._look.foreign
            if is_own and is_new and len(self._unreadable) < _DAMAGES:
                line = f"{source} {damage.offset}"
                self._unreadable.add(line)
                # On a full disk only this process remembers it.
                with suppress(UsageError):
                    add_lines(self._paths.unreadable, [line])
        if is_new:
            _log.warning("%s at %d: %s", damage.path, damage.offset, damage.reason)

    def _read_list(self, name: str, read: Callable[[], None], *, is_due: bool = False) -> None:
        """Read a list if its file has changed; lists are always replaced as a whole."""
        stamp = self._find_stamp(name)
        if stamp == self._stamps.get(name) and not is_due:
            return
        try:
            read()
        except UsageError as error:
            if self._look is None:
                raise
            if self._spoilt.get(name) != str(error):
                _log.warning("%s; what it said before still holds", error)
            self._spoilt[name] = str(error)
        else:
            self._stamps[name] = stamp
            self._spoilt.pop(name, None)

    def _load_forgotten(self) -> None:
        self._forgotten = Forgotten.load(self._paths)

    def _list_foreign(self) -> None:
        self._foreign, missing = list_sources(self._paths)
        told = tuple(f"{damage.path}: {damage.reason}" for damage in missing)
        for line in set(told) - set(self._missing):
            _log.warning("%s; it is indexed when it is back", line)
        self._missing = told

    def _find_stamp(self, name: str) -> tuple[int, int] | None:
        try:
            found = getattr(self._paths, name).stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns


def _tell_unreadable(paths: IndexPaths, count: int) -> str:
    return (
        f"{count:,} record{'s' * (count != 1)} of the archive cannot be read, and what they say is missing: "
        f"`rdfspider doctor --dir {paths.folder}` lets their pages be fetched again"
    )
