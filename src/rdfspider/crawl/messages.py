"""What a running crawl tells people, and what people tell it: beats of its shards, commands and their answers.

Shards send beats to the coordinator as MessagePack; the command line and the site ask in JSON, so that any tool can.
"""

from enum import StrEnum

from msgspec import Struct

from rdfspider.frontier.entries import HostEntry


class RunState(StrEnum):
    """What a crawl or one of its shards is doing. A shard of a crawl that is over has the crawl's state."""

    NEW = "new"
    """The crawl has never run."""
    RUNNING = "running"
    SLOWED = "slowed"
    """The shard begins nothing new: others cannot follow."""
    PAUSING = "pausing"
    """It finishes what is under way."""
    PAUSED = "paused"
    SUSPENDED = "suspended"
    """The shard cannot go on before its disk has room, or another shard is back."""
    STOPPING = "stopping"
    """It finishes what is under way."""
    ENDED = "ended"
    """The crawl is over by itself."""
    STOPPED = "stopped"
    """The crawl was ended by a person or an error."""
    DIED = "died"
    """The crawl's process is gone, and did not say why."""

    # For those who look at a status in a notebook, it is the text that status.json has.
    __repr__ = str.__repr__


class EndReason(StrEnum):
    """Why the shards of a crawl are told to stop."""

    DONE = "done"
    """Nothing is left to fetch."""
    PAGES = "pages"
    BYTES = "bytes"
    TIME = "time"
    """A budget is used up."""
    STOPPED = "stopped"
    """By a person or an error: what is under way is finished."""
    HALTED = "halted"
    """By a person, at once."""

    __repr__ = str.__repr__


class Find(Struct, frozen=True):
    """A page with structured data that was found a moment ago, for people."""

    time: float
    """Seconds since 1970."""
    url: str
    title: str = ""
    """As the page has it, cut short."""
    types: tuple[str, ...] = ()
    """The first of its types, as IRIs."""
    quads: int = 0


class Fetching(Struct, frozen=True):
    """A page or a robots.txt that a server was asked for and has not sent yet."""

    shard: int
    since: float
    """Seconds since 1970."""
    url: str


class Beat(Struct, frozen=True, tag=2):
    """What a shard tells of itself every second: of the whole crawl, and, from `wire_bytes` on, of the time since it was started.
    The coordinator adds what the shard had counted in this run before it died."""

    shard: int
    epoch: int
    time: float
    """Seconds since 1970."""
    pid: int
    generation: tuple[int, int]
    is_idle: bool
    state: RunState = RunState.RUNNING
    reason: str = ""
    """Why it is in that state, for people."""
    memory_used_bytes: int = 0
    memory_free_bytes: int = 0
    memory_total_bytes: int = 0
    cpu_percent: float = 0.0
    connections: int = 0
    pages: int = 0
    """Committed answers of 2xx."""
    body_bytes: int = 0
    disk_free_bytes: int = 0
    counts: dict[str, int] = {}
    """The frontier's counts, by name."""
    queued: dict[str, int] = {}
    """URLs to be fetched, by priority from 0, which is first, to 7; those without any are left out."""
    visits: dict[str, int] = {}
    """Leases that are under way, by their kind: name, robots or page; also those that wait for an address."""
    fetching: tuple[Fetching, ...] = ()
    """Some of the requests under way, those that began first."""
    waiting_hosts: tuple[HostEntry, ...] = ()
    """Of the hosts in memory, those that wait longest before they may be asked again, and why."""
    archive_bytes: int = 0
    """The length of its WARC files."""
    quads: dict[str, int] = {}
    """Statements, by syntax."""
    problems: dict[str, int] = {}
    """What was repaired, dropped or cut short on pages, by code."""
    types: dict[str, int] = {}
    """The most frequent types of what pages state, as IRIs; `run/heartbeat.py` tells how far to trust them."""
    properties: dict[str, int] = {}
    """Its most frequent properties, likewise."""
    wire_bytes: int = 0
    statuses: dict[str, int] = {}
    """Outcomes, by HTTP status or error."""
    errands: dict[str, int] = {}
    """Answers that served the crawl itself alone, by `records.PREREQUISITE_REASONS`; they are not among the statuses."""
    failures: dict[str, int] = {}
    """URLs that failed for good, by the reason."""
    robots: dict[str, int] = {}
    """What robots.txt files have decided: of URLs, how many were allowed and disallowed; of the files that were asked for, how
    many had rules, were not there (absent), and could not be had (unreachable)."""
    turned_away: dict[str, int] = {}
    """Links that were not followed, by the rule."""
    cpu_s: dict[str, float] = {}
    """Processor time by stage; `all` is that of the process."""
    slowest_hosts: dict[str, float] = {}
    """Of the hosts asked last, those that take longest, with the seconds they took on average."""
    finds: tuple[Find, ...] = ()
    """The latest pages with structured data, the newest last."""

    @property
    def fetched_pages(self) -> int:
        """Pages that count where a crawl is limited: all but the imported ones."""
        return self.pages - self.counts.get("imported_pages", 0)

    @property
    def fetched_bytes(self) -> int:
        """Bytes of bodies that count likewise."""
        return self.body_bytes - self.counts.get("imported_bytes", 0)


class CommandName(StrEnum):
    """What a person may ask of a running crawl."""

    STATUS = "status"
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    """Finish what is under way, and end."""
    HALT = "halt"
    """End at once."""
    ADD_SEEDS = "add-seeds"
    ADD_FILTERS = "add-filters"
    REMOVE_FILTERS = "remove-filters"


CHANGES = frozenset({CommandName.ADD_SEEDS, CommandName.ADD_FILTERS, CommandName.REMOVE_FILTERS})
"""Commands that are kept in the crawl's folder."""


class Command(Struct, frozen=True):
    """What the command line asks of the coordinator, as JSON."""

    command: str
    """A CommandName, if it is one."""
    seeds: tuple[str, ...] = ()
    """URLs to add."""
    include: tuple[str, ...] = ()
    """Filters to add or remove."""
    exclude: tuple[str, ...] = ()


class Answer(Struct, frozen=True):
    """What it answers, as JSON."""

    is_done: bool
    message: str = ""
    """Why it was not done, in one line."""
    state: str = ""
    """To status, a RunState: running, pausing, paused or stopping."""
    count: int = 0
    """To a change: how many seeds or filters were added or removed."""
    beats: tuple[Beat, ...] = ()
    """To status: the last beat of each shard."""
