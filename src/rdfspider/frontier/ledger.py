"""What is known of each URL: one row, found by host number and sequence, from the moment that the URL is seen.

The row of a URL that was never asked for is the short one, five fields; all others have what the last visit told, too. It
holds the whole URL, so that getting one back by its id is a single read; neighbours in a host compress it away.
"""

from msgspec import Struct
from msgspec.msgpack import Decoder, Encoder

from rdfspider.frontier.facts import LedgerEntry

SCHEDULED, DONE, FAILED, DISALLOWED = range(4)
_STATES = ("scheduled", "done", "failed", "disallowed")


class FreshRow(Struct, frozen=True, gc=False, array_like=True):
    """The row of a URL that was never asked for."""

    url: str
    via: int
    depth: int
    found_as: str
    chain: tuple[str, ...]


class Row(Struct, gc=False, array_like=True):
    """The row of any URL; its first fields are those of a fresh one."""

    url: str
    via: int
    depth: int
    found_as: str
    chain: tuple[str, ...]
    state: int = SCHEDULED
    turn: int = 0
    """How often it was put into a queue again; an entry of a queue that has another turn is no longer true."""
    attempts: int = 0
    """How often it was tried in vain."""
    turned_away: int = 0
    """How often the host had no time for it (429, 503), or we had no room."""
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


encode_row = Encoder().encode
decode_row = Decoder(Row).decode


def to_entry(row: Row, url_id: int) -> LedgerEntry:
    """A row, for people."""
    return LedgerEntry(
        url=row.url,
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
        etag=row.etag,
        last_modified=row.last_modified,
        digest=row.digest,
        captured=row.captured,
        quads=row.quads,
        position=(row.segment, row.offset) if row.segment else None,
    )
