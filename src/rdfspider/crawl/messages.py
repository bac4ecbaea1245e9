"""Messages of a running crawl: the beats of its shards, and the commands that it takes, with their answers.

Shards send beats to the coordinator as MessagePack; the command line and the site send commands as JSON, as any tool can.
"""

from enum import StrEnum

from msgspec import Struct

from rdfspider.frontier.entries import HostEntry


class RunState(StrEnum):
    """The state of a crawl or one of its shards. A shard of a crawl that is over has the crawl's state."""

    NEW = "new"
    """The crawl has never run."""
    UNKNOWN = "unknown"
    """The crawl has run, but its status is lost; no file says so."""
    RUNNING = "running"
    SLOWED = "slowed"
    """The shard starts no new requests, because the index lags behind."""
    PAUSING = "pausing"
    """It finishes the requests in flight."""
    PAUSED = "paused"
    SUSPENDED = "suspended"
    """The shard waits for free disk space, or for another shard to come back."""
    STOPPING = "stopping"
    """It finishes the requests in flight."""
    ENDED = "ended"
    """The crawl ended by itself."""
    STOPPED = "stopped"
    """A user or an error stopped the crawl."""
    DIED = "died"
    """The crawl's process is gone without a final status."""

    # In a notebook, a state is shown as in status.json.
    __repr__ = str.__repr__


class Find(Struct, frozen=True):
    """A page with structured data that was found recently, for display."""

    time: float
    """Seconds since 1970."""
    url: str
    title: str = ""
    """The page's title, shortened."""
    types: tuple[str, ...] = ()
    """Its first types, as IRIs."""
    quads: int = 0


class Fetching(Struct, frozen=True):
    """A request in flight, for a page or a robots.txt."""

    shard: int
    since: float
    """Seconds since 1970."""
    url: str


class LinksTo(Struct, frozen=True):
    """The links of one shard for another, in this life of the first."""

    shard: int
    """The shard that they are for."""
    sent: int = 0
    received: int = 0
    """Those that it has committed."""
    durable: int = 0
    """Those that it cannot lose with its disk."""
    oldest_s: float = 0.0
    """How long the oldest has waited to be received; 0 if none waits."""


DISPLAYED = ("types", "properties", "finds", "slowest_hosts", "fetching", "waiting_hosts")
"""The fields of a Beat that are for display only, and make most of its size. In a crawl of many shards they come less often."""
RUN_COUNTS = ("statuses", "prerequisites", "failures", "robots", "turned_away", "cpu_s")
"""The fields of a Beat that count by name what has happened since the shard started."""


class BackupState(Struct, frozen=True):
    """How the backup of a shard stands."""

    taken: float = 0.0
    """When the newest state that is safe in the store was taken, in seconds since 1970; 0 if none is from this life."""
    problem: str = ""
    """Why nothing can be sent at the moment; empty if it can."""
    sent_bytes: int = 0
    """In this life."""
    pause_s: float = 0.0
    """The longest time for which commits have waited for a checkpoint in this life; fetching goes on meanwhile."""


class CopyState(Struct, frozen=True):
    """How the copy of one member stands that a user has asked for at once."""

    ticket: str
    """Which copy it is."""
    is_done: bool = False
    problem: str = ""
    """Why there will be none; empty if there is nothing against it."""
    bytes: int = 0
    """All bytes of the state."""
    sent_bytes: int = 0
    """Those that the store did not have yet."""


class Beat(Struct, frozen=True, tag=2):
    """The report that a shard sends every second: counts of the whole crawl, and from `wire_bytes` on, since the shard started.
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
    """Why it is in that state, for display."""
    memory_used_bytes: int = 0
    memory_free_bytes: int = 0
    memory_total_bytes: int = 0
    cpu_percent: float = 0.0
    connections: int = 0
    """Requests in flight."""
    pages: int = 0
    """Committed responses with a 2xx status."""
    body_bytes: int = 0
    disk_free_bytes: int = 0
    disk_total_bytes: int = 0
    place: str = ""
    """Where it runs, ADDRESS=FOLDER; empty for the crawl's folder."""
    place_cpu_percent: float = 0.0
    """How busy the machine of its place is, in percent of all its cores."""
    place_cores: int = 0
    counts: dict[str, int] = {}
    """The frontier's counts, by name."""
    is_brief: bool = False
    """Whether the fields in DISPLAYED are left out; then those of the last beat that has them hold."""
    links: tuple[LinksTo, ...] = ()
    """The links for other shards: those of a few pairs, the ones that wait longest first."""
    numbered: tuple[int, int] = (0, 0)
    """The highest host number that was given out, and a bound of the sequences of URLs."""
    queued: dict[str, int] = {}
    """URLs to be fetched, by priority from 0 (first) to 7; priorities without URLs are left out."""
    visits: dict[str, int] = {}
    """Open leases by kind: name, robots or page; including those that wait for an address."""
    fetching: tuple[Fetching, ...] = ()
    """Some of the requests in flight, the oldest."""
    waiting_hosts: tuple[HostEntry, ...] = ()
    """The hosts in memory with the longest wait until their next request, and why; hosts on disk may wait longer."""
    archive_bytes: int = 0
    """The length of its WARC files."""
    quads: dict[str, int] = {}
    """Statements, by syntax."""
    problems: dict[str, int] = {}
    """Problems of pages, by code."""
    types: dict[str, int] = {}
    """The most frequent types in statements, as IRIs; `run/heartbeat.py` explains how accurate they are."""
    properties: dict[str, int] = {}
    """The most frequent properties, with the same accuracy."""
    wire_bytes: int = 0
    statuses: dict[str, int] = {}
    """Outcomes, by HTTP status or error."""
    prerequisites: dict[str, int] = {}
    """Responses to requests for prerequisites: sitemap, context, or without success no-sitemap, no-context; they are not among
    the statuses."""
    failures: dict[str, int] = {}
    """URLs that failed for good, by reason."""
    robots: dict[str, int] = {}
    """URLs that robots.txt files allowed and disallowed; and how many requested files had rules, did not exist (absent), or were
    unreachable."""
    turned_away: dict[str, int] = {}
    """Links that were not followed, by rule."""
    cpu_s: dict[str, float] = {}
    """Processor time by stage; `all` is that of the process."""
    slowest_hosts: dict[str, float] = {}
    """The slowest of the recently contacted hosts, with their mean seconds per request."""
    finds: tuple[Find, ...] = ()
    """The latest pages with structured data, newest last."""
    backup: BackupState | None = None
    """Of a shard that has one."""
    copy: CopyState | None = None
    """The last copy that a user has asked for in this life."""

    @property
    def fetched_pages(self) -> int:
        """Pages that count towards the budgets: all but imported ones."""
        return self.pages - self.counts.get("imported_pages", 0)

    @property
    def fetched_bytes(self) -> int:
        """Bytes of the bodies of these pages."""
        return self.body_bytes - self.counts.get("imported_bytes", 0)


class CommandName(StrEnum):
    """The commands to a running crawl."""

    STATUS = "status"
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    """Finish the requests in flight, and end."""
    HALT = "halt"
    """End at once."""
    ADD_SEEDS = "add-seeds"
    ADD_FILTERS = "add-filters"
    REMOVE_FILTERS = "remove-filters"
    BACKUP = "backup"
    """Send a copy to a store at once; asked again with the same ticket, tell how it goes."""


CHANGES = frozenset({CommandName.ADD_SEEDS, CommandName.ADD_FILTERS, CommandName.REMOVE_FILTERS})
"""Commands that change files in the crawl's folder."""


class Command(Struct, frozen=True):
    """A command to the coordinator, as JSON."""

    command: str
    """A CommandName, if valid."""
    seeds: tuple[str, ...] = ()
    """URLs to add."""
    include: tuple[str, ...] = ()
    """Filters to add or remove."""
    exclude: tuple[str, ...] = ()
    to: str = ""
    """For `backup`: where the copy goes."""
    ticket: str = ""
    """For `backup`: any text that no other copy has."""


class CommandAnswer(Struct, frozen=True):
    """The coordinator's answer, as JSON."""

    is_done: bool
    message: str = ""
    """Why the command failed, in one line."""
    state: str = ""
    """To `status`: a RunState, which is running, pausing, paused or stopping."""
    count: int = 0
    """To a change: how many seeds or filters were added or removed."""
    beats: tuple[Beat, ...] = ()
    """To `status`: the last beat of each shard."""
    waiting: tuple[str, ...] = ()
    """To `backup`: what is still being sent, by name; if nothing is, the copy is complete."""
    bytes: int = 0
    """To `backup`: the size of the copy."""
    sent_bytes: int = 0
    """To `backup`: what the store did not have yet of it."""
