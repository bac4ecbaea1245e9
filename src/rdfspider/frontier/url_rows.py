"""The row of each URL that was ever seen, found by host number and sequence.

A row is the length of its facts, the facts, and the whole URL. This order helps compression: new links of one page are equal up
to the path, so two thirds of a row take almost no space on disk. Reading a URL by its id takes one read.
"""

from msgspec import Struct
from msgspec.msgpack import Decoder, Encoder

from rdfspider.codes import DuplicateKind, Reason
from rdfspider.frontier.entries import UrlEntry, UrlState
from rdfspider.frontier.keys import UrlIds, pack_row
from rdfspider.frontier.store import Store
from rdfspider.records import Discovered
from rdfspider.ways import Way

SCHEDULED, DONE, FAILED, DISALLOWED = range(4)
# In the order of the numbers that are stored.
_STATES = tuple(UrlState)
_LENGTH_BYTES = 3
# URLs that were looked up by their ids and are kept in memory.
_RECENT_URLS = 4096
# The first byte of facts with two fields: a msgpack array of two.
_UNTOUCHED = 0x92


class UrlRow(Struct, gc=False, array_like=True):
    """The facts of a URL; before its first request only the first two or four are stored."""

    via: int
    depth: int
    found_as: Way = Way.LINK
    chain: tuple[str, ...] = ()
    state: int = SCHEDULED
    turn: int = 0
    """How often it was queued again; a queue entry with another turn is stale."""
    attempts: int = 0
    """The number of failed attempts."""
    turned_away: int = 0
    """How often the host was busy (429, 503), or there was no memory for its page."""
    reason: str = ""
    status: int = 0
    error: str = ""
    decided: float = 0.0
    next_visit: float = 0.0
    etag: str = ""
    last_modified: str = ""
    digest: str = ""
    captured: float = 0.0
    quads: int = 0
    segment: str = ""
    offset: int = 0
    rule: str = ""
    """What decided, in words for people."""
    simhash: int = 0
    """The simhash of the last capture's text; 0 if it has none."""
    duplicate: DuplicateKind = DuplicateKind.NONE
    """How it repeats another page, if it does."""
    original: str = ""
    """The URL of the page that it repeats."""
    heavy: int = 0
    """How often too many pages waited to be extracted."""

    @property
    def is_imported(self) -> bool:
        """Whether the recorded page came from another archive; an imported page with noindex has `noindex` as its reason."""
        return self.reason == Reason.IMPORTED or (self.reason == Reason.NOINDEX and self.found_as == Way.IMPORT)


_encode = Encoder().encode
_decode = Decoder(UrlRow).decode


class UrlRows:
    """The table of all URLs of a shard, and the rows that changed since the last commit."""

    def __init__(self, store: Store, shard: int, ids: UrlIds) -> None:
        self.table = store.tables["ledger"]
        """The committed rows."""
        self.ids = ids
        self._shard = shard
        self._changed: dict[bytes, UrlRow] = {}
        self._recent_urls: dict[int, str] = {}
        """URLs by id; all links of one page look up the same one."""

    def id_of(self, number: int, sequence: int) -> int:
        """The id of a URL of this shard, from its host number and sequence."""
        return self.ids.pack(self._shard, number, sequence)

    def url_of(self, url_id: int) -> str | None:
        """The URL of an id; None if it belongs to another shard or is unknown."""
        url = self._recent_urls.get(url_id)
        if url is None:
            shard, number, sequence = self.ids.unpack(url_id)
            value = self.table.get_once(pack_row(number, sequence)) if shard == self._shard else None
            if value is None:
                return None
            if len(self._recent_urls) >= _RECENT_URLS:
                self._recent_urls.clear()
            url = self._recent_urls[url_id] = decode_url(value)
        return url

    def put(self, key: bytes, row: UrlRow, url: str) -> None:
        """Stage a changed row."""
        self.table.put(key, encode_row(row, url))
        self._changed[key] = row

    def read(self, key: bytes) -> tuple[UrlRow, str]:
        """A row with its staged changes, and its URL."""
        value = self.table.get(key)
        return self._changed.get(key) or decode_row(value), decode_url(value)

    def find_changed(self, key: bytes) -> UrlRow | None:
        """The staged row; None if it has not changed since the last commit."""
        return self._changed.get(key)

    def settle(self) -> None:
        """Forget the changed rows after a commit, as the table has them."""
        self._changed.clear()


def encode_row(row: UrlRow, url: str) -> bytes:
    """The stored form of a row."""
    facts = _encode(row)
    return len(facts).to_bytes(_LENGTH_BYTES, "big") + facts + url.encode()


def encode_fresh(link: Discovered) -> bytes:
    """The part before the URL in the row of a new link; it is the same for all plain links of a page."""
    is_plain = link.found_as == Way.LINK and not link.chain
    facts = _encode((link.via, link.depth) if is_plain else (link.via, link.depth, link.found_as, link.chain))
    return len(facts).to_bytes(_LENGTH_BYTES, "big") + facts


def is_untouched(value: bytes) -> bool:
    """Whether a stored row is that of a plain link that was never requested, and that no redirect led to."""
    return value[_LENGTH_BYTES] == _UNTOUCHED


def decode_row(value: bytes) -> UrlRow:
    """The facts of a stored row."""
    return _decode(memoryview(value)[_LENGTH_BYTES : _LENGTH_BYTES + int.from_bytes(value[:_LENGTH_BYTES], "big")])


def decode_url(value: bytes) -> str:
    """The URL of a stored row, without decoding the rest."""
    return value[_LENGTH_BYTES + int.from_bytes(value[:_LENGTH_BYTES], "big") :].decode()


def to_entry(row: UrlRow, url: str, url_id: int) -> UrlEntry:
    """Convert a row to the entry that callers see."""
    return UrlEntry(
        url=url,
        url_id=url_id,
        state=_STATES[row.state],
        depth=row.depth,
        found_as=row.found_as,
        via=row.via,
        chain=row.chain,
        reason=row.reason,
        status=row.status,
        error=row.error,
        attempts=row.attempts,
        decided=row.decided,
        next_visit=row.next_visit,
        digest=row.digest,
        captured=row.captured,
        quads=row.quads,
        position=(row.segment, row.offset) if row.segment else None,
        rule=row.rule,
        duplicate=row.duplicate,
        original=row.original,
    )
