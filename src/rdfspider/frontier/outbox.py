"""Messages between shards: an outbox of unacknowledged entries, and an inbox cursor for each sender.

Entries are staged with the page that they follow from, and numbered from 1 per destination and epoch. The receiver's cursor
moves in the same commit as the received links, so nothing is lost and nothing is accepted twice.
"""

from msgspec.msgpack import Decoder, Encoder

from rdfspider.frontier.entries import GapError
from rdfspider.frontier.keys import pack_outbox, unpack_outbox
from rdfspider.frontier.store import Store

_INBOX = b"inbox/"
_encode_cursor = Encoder().encode
_decode_cursor = Decoder(tuple[int, int]).decode


class Outbox:
    """The entries that other shards have not acknowledged."""

    def __init__(self, store: Store, epoch: int, stored_bytes: int) -> None:
        self._entries = store.tables["outbox"]
        self._epoch = epoch
        self.stored_bytes = stored_bytes
        """The total size of the payloads, staged ones included."""
        self._sequences: dict[int, int] = {}
        self._cleared: dict[int, tuple[int, int]] = {}
        """The cursor up to which the entries of a destination are deleted; reads start there to skip deleted rows."""

    def put(self, destination: int, payload: bytes) -> None:
        """Stage an entry."""
        sequence = self._sequences[destination] = self._sequences.get(destination, 0) + 1
        self._entries.put(pack_outbox(destination, self._epoch, sequence), payload)
        self.stored_bytes += len(payload)

    def read(self, destination: int, after: tuple[int, int], limit_bytes: int) -> list[tuple[int, int, bytes]]:
        """Committed entries after a cursor, in order, up to `limit_bytes`, but at least one if there is any."""
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
        """Stage the deletion of entries up to a cursor."""
        cleared = self._cleared.get(destination, (0, 0))
        if upto <= cleared:
            return
        for key, payload in self._entries.iterate(_after(destination, cleared), _after(destination, upto)):
            self._entries.delete(key)
            self.stored_bytes -= len(payload)
        self._cleared[destination] = upto


class Inbox:
    """The cursors of what other shards sent."""

    def __init__(self, store: Store) -> None:
        self._meta = store.tables["meta"]
        self._committed: dict[int, tuple[int, int]] = {}
        self._staged: dict[int, tuple[int, int]] = {}

    def cursor(self, source: int) -> tuple[int, int]:
        """Epoch and sequence of the last committed entry from a shard."""
        cursor = self._committed.get(source)
        if cursor is None:
            value = self._meta.get(_INBOX + b"%d" % source)
            cursor = self._committed[source] = _decode_cursor(value) if value else (0, 0)
        return cursor

    def accept(self, source: int, epoch: int, sequence: int) -> bool:
        """Stage the cursor of an entry from a shard; the entry's content must be staged before the next commit. Returns False
        if it was accepted before, and raises GapError if an entry before it is missing."""
        cursor = self._staged.get(source) or self.cursor(source)
        if (epoch, sequence) <= cursor:
            return False
        expected = cursor[1] + 1 if epoch == cursor[0] else 1
        if sequence != expected:
            raise GapError(f"shard {source} sent {epoch}/{sequence} after {cursor[0]}/{cursor[1]}")
        self._staged[source] = (epoch, sequence)
        self._meta.put(_INBOX + b"%d" % source, _encode_cursor((epoch, sequence)))
        return True

    def resume(self, source: int, cursor: tuple[int, int]) -> None:
        """Stage where to go on, if the cursor of this shard was lost."""
        self._staged[source] = cursor
        self._meta.put(_INBOX + b"%d" % source, _encode_cursor(cursor))

    def settle(self) -> None:
        """Take over the staged cursors after a commit."""
        self._committed.update(self._staged)
        self._staged.clear()


def _after(destination: int, cursor: tuple[int, int]) -> bytes:
    return pack_outbox(destination, cursor[0], cursor[1] + 1)
