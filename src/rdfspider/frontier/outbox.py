"""Links to and from other shards: an outbox that keeps what others have not received, cursors of what came from each.

Everything is staged with the page that it follows from. Entries of one destination are numbered from 1 in each epoch; the
receiver's cursor moves in the same commit as the links that came, so that nothing is lost and nothing is taken twice.
"""

from msgspec.msgpack import Decoder, Encoder

from rdfspider.frontier.entries import GapError
from rdfspider.frontier.keys import pack_outbox, unpack_outbox
from rdfspider.frontier.store import Store

_INBOX = b"inbox/"
_encode_cursor = Encoder().encode
_decode_cursor = Decoder(tuple[int, int]).decode


class Outbox:
    """What other shards have not acknowledged."""

    def __init__(self, store: Store, epoch: int, stored_bytes: int) -> None:
        self._entries = store.tables["outbox"]
        self._epoch = epoch
        self.stored_bytes = stored_bytes
        """Payloads that are in it, staged ones included."""
        self._sequences: dict[int, int] = {}
        self._cleared: dict[int, tuple[int, int]] = {}
        """Up to where the entries of a destination are gone: reads start there, not among deleted rows."""

    def put(self, destination: int, payload: bytes) -> None:
        """Stage an entry."""
        sequence = self._sequences[destination] = self._sequences.get(destination, 0) + 1
        self._entries.put(pack_outbox(destination, self._epoch, sequence), payload)
        self.stored_bytes += len(payload)

    def read(self, destination: int, after: tuple[int, int], limit_bytes: int) -> list[tuple[int, int, bytes]]:
        """Committed entries after a cursor, in order, until they have so many bytes; at least one where there is one."""
        after = max(after, self._cleared.get(destination, (0, 0)))
        entries: list[tuple[int, int, bytes]] = []
        size = 0
        for key, payload in self._entries.iterate(_after(destination, after), pack_outbox(destination + 1, 0, 0)):
            size += len(payload)
            if entries and size > limit_bytes:
                break
            _, epoch, sequence = unpack_outbox(key)
            entries.append((epoch, sequence, payload))
        return entries

    def clear(self, destination: int, upto: tuple[int, int]) -> None:
        """Stage that entries up to a cursor are gone."""
        cleared = self._cleared.get(destination, (0, 0))
        if upto <= cleared:
            return
        for key, payload in self._entries.iterate(_after(destination, cleared), _after(destination, upto)):
            self._entries.delete(key)
            self.stored_bytes -= len(payload)
        self._cleared[destination] = upto


class Inbox:
    """How far what other shards sent was taken."""

    def __init__(self, store: Store) -> None:
        self._meta = store.tables["meta"]
        self._committed: dict[int, tuple[int, int]] = {}
        self._staged: dict[int, tuple[int, int]] = {}

    def cursor(self, source: int) -> tuple[int, int]:
        """The last entry of a shard that was committed: epoch and sequence."""
        cursor = self._committed.get(source)
        if cursor is None:
            value = self._meta.get(_INBOX + b"%d" % source)
            cursor = self._committed[source] = _decode_cursor(value) if value else (0, 0)
        return cursor

    def accept(self, source: int, epoch: int, sequence: int) -> bool:
        """Stage that an entry of a shard is taken now: what is in it must be staged before the next commit. False when it was
        taken before, and must not be again. Where an entry before it is missing, this raises a GapError."""
        cursor = self._staged.get(source) or self.cursor(source)
        if (epoch, sequence) <= cursor:
            return False
        expected = cursor[1] + 1 if epoch == cursor[0] else 1
        if sequence != expected:
            raise GapError(f"shard {source} sent {epoch}/{sequence} after {cursor[0]}/{cursor[1]}")
        self._staged[source] = (epoch, sequence)
        self._meta.put(_INBOX + b"%d" % source, _encode_cursor((epoch, sequence)))
        return True

    def settle(self) -> None:
        """After a commit: what was staged is committed."""
        self._committed.update(self._staged)
        self._staged.clear()


def _after(destination: int, cursor: tuple[int, int]) -> bytes:
    return pack_outbox(destination, cursor[0], cursor[1] + 1)
