"""Messages between shards: an outbox of entries that others may still need, and an inbox cursor for each sender.

Entries are staged with the page that they follow from, and numbered from 1 per destination and epoch. The receiver's cursor moves
in the same commit as the received links. How far entries were freed is stored, too: a receiver whose cursor is behind that has
lost what it had received, as its folder was put back to an older copy. Then the sender has to tell it again what the freed
entries said; until it has, the receiver's inbox lacks something, durably.
"""

from msgspec.msgpack import Decoder, Encoder

from rdfspider.frontier.keys import pack_outbox, unpack_outbox
from rdfspider.frontier.store import Store, Table, TableRows

Cursor = tuple[int, int]
"""A position in an outbox: (the sender's epoch, the sequence number within it). (0, 0) is before all entries."""
START: Cursor = (0, 0)

_INBOX, _FREED, _LACKING, _NUMBERED = b"inbox/", b"freed/", b"lacking/", b"numbered/"
_LACKING_END = b"lacking0"
# A backup may free what has gathered while its store was away, and all else waits meanwhile.
_FREED_AT_ONCE_BYTES = 4 * 1024 * 1024
_encode_cursor = Encoder().encode
_decode_cursor = Decoder(tuple[int, int]).decode


class Outbox:
    """The entries that other shards have not made durable."""

    def __init__(self, store: Store, epoch: int, stored_bytes: int) -> None:
        self._entries = store.tables["outbox"]
        self._epoch = epoch
        self.stored_bytes = stored_bytes
        """The total size of the payloads, staged ones included."""
        self._sequences: dict[int, int] = {}
        self._freed = _Cursors(store.tables["meta"], _FREED)
        self._staged: set[int] = set()
        self._fresh: set[int] = set()

    def put(self, destination: int, payload: bytes) -> Cursor:
        """Stage an entry, and return its cursor."""
        sequence = self._sequences[destination] = self._sequences.get(destination, 0) + 1
        self._entries.put(pack_outbox(destination, self._epoch, sequence), payload)
        self.stored_bytes += len(payload)
        self._staged.add(destination)
        return self._epoch, sequence

    def read(self, destination: int, after: Cursor, limit_bytes: int) -> list[tuple[Cursor, bytes]]:
        """Committed entries after a cursor, in order, up to `limit_bytes`, but at least one if there is any."""
        # What is freed is passed over, as its deleted rows would slow a scan.
        after = max(after, self.freed(destination))
        entries: list[tuple[Cursor, bytes]] = []
        size = 0
        for key, payload in self._entries.iterate(_after(destination, after), pack_outbox(destination + 1, 0, 0)):
            size += len(payload)
            if entries and size > limit_bytes:
                break
            _, epoch, sequence = unpack_outbox(key)
            entries.append(((epoch, sequence), payload))
        return entries

    def free(self, destination: int, upto: Cursor) -> None:
        """Stage the deletion of entries up to a cursor, and that they are gone; of very many, only of the first ones."""
        freed = self.freed(destination)
        if upto <= freed:
            return
        size = 0
        for key, payload in self._entries.iterate(_after(destination, freed), _after(destination, upto)):
            self._entries.delete(key)
            self.stored_bytes -= len(payload)
            size += len(payload)
            if size > _FREED_AT_ONCE_BYTES:
                _, *cursor = unpack_outbox(key)
                upto = (cursor[0], cursor[1])
                break
        self._freed.put(destination, upto)

    def freed(self, destination: int) -> Cursor:
        """The cursor up to which the entries for a destination are gone."""
        return self._freed.get(destination)

    def last(self, destination: int) -> Cursor:
        """The cursor of the last entry for a destination that was put in this epoch, staged or committed."""
        return self._epoch, self._sequences.get(destination, 0)

    @property
    def has_fresh(self) -> bool:
        """Whether `take_fresh` would give any destination."""
        return bool(self._fresh)

    def take_fresh(self) -> set[int]:
        """The destinations for which entries were committed since the last call."""
        fresh, self._fresh = self._fresh, set()
        return fresh

    def settle(self) -> None:
        """After a commit, the staged entries can be read."""
        self._fresh |= self._staged
        self._staged.clear()


class Inbox:
    """The cursors of what other shards sent."""

    def __init__(self, store: Store) -> None:
        self._meta = store.tables["meta"]
        self._cursors = _Cursors(self._meta, _INBOX)
        self._numbered = _Cursors(self._meta, _NUMBERED)
        self._committed: dict[int, Cursor] = {}
        rows = self._meta.iterate(_LACKING, _LACKING_END)
        self.lacking = {int(key.removeprefix(_LACKING)) for key, _ in rows}
        """The shards that have to tell again what this one has lost, staged changes included."""

    def cursor(self, source: int) -> Cursor:
        """The cursor of the last committed entry from a shard."""
        cursor = self._committed.get(source)
        return self._cursors.get(source) if cursor is None else cursor

    def cursors(self) -> dict[int, tuple[int, int]]:
        """The last committed entry of each shard that has sent anything."""
        return read_cursors(self._meta)

    def numbered(self, source: int) -> tuple[int, int]:
        """How many numbers of hosts and URLs a shard has given out, as its entries say; a copy that knows less was put back."""
        return self._numbered.get(source)

    def accept(self, source: int, cursor: Cursor, previous: Cursor, numbered: tuple[int, int] = (0, 0)) -> bool:
        """Stage the cursor of an entry from a shard; the entry's content must be staged before the next commit. Returns False if
        it was accepted before. If its `previous` one never came, the shard has to tell it again."""
        last = self._cursors.get(source)
        if cursor <= last:
            return False
        if previous > last:
            self.lacking.add(source)
            self._meta.put(_LACKING + b"%d" % source, b"")
        hosts, urls = self._numbered.get(source)
        if numbered[0] > hosts or numbered[1] > urls:
            self._numbered.put(source, (max(numbered[0], hosts), max(numbered[1], urls)))
        self.resume(source, cursor)
        return True

    def has_staged(self, source: int) -> bool:
        """Whether entries of a shard were accepted since the last commit."""
        return source in self._committed

    def complete(self, source: int) -> None:
        """Stage that a shard has told everything again."""
        self.lacking.discard(source)
        self._meta.delete(_LACKING + b"%d" % source)

    def resume(self, source: int, cursor: Cursor) -> None:
        """Stage where to go on, if the cursor of this shard was lost."""
        self._committed.setdefault(source, self._cursors.get(source))
        self._cursors.put(source, cursor)

    def settle(self) -> None:
        """Take over the staged cursors after a commit."""
        self._committed.clear()


def read_cursors(meta: TableRows) -> dict[int, tuple[int, int]]:
    """Return the committed cursor of each shard that has sent anything."""
    rows = meta.iterate(_INBOX, _INBOX[:-1] + bytes((_INBOX[-1] + 1,)))
    return {int(key.removeprefix(_INBOX)): _decode_cursor(value) for key, value in rows}


class _Cursors:
    """A cursor, or another pair of numbers, for each shard, in a table."""

    def __init__(self, meta: Table, prefix: bytes) -> None:
        self._meta = meta
        self._prefix = prefix
        self._known: dict[int, Cursor] = {}

    def get(self, shard: int) -> Cursor:
        """The cursor, staged or stored."""
        cursor = self._known.get(shard)
        if cursor is None:
            value = self._meta.get(self._prefix + b"%d" % shard)
            cursor = self._known[shard] = _decode_cursor(value) if value else START
        return cursor

    def put(self, shard: int, cursor: Cursor) -> None:
        """Stage a cursor."""
        self._known[shard] = cursor
        self._meta.put(self._prefix + b"%d" % shard, _encode_cursor(cursor))


def read_freed(value: bytes | None) -> Cursor:
    """Decode a stored cursor; the start if there is none."""
    return _decode_cursor(value) if value else START


def freed_key(destination: int) -> bytes:
    """The key in the table `meta` of how far the entries for a destination are gone."""
    return _FREED + b"%d" % destination


def _after(destination: int, cursor: Cursor) -> bytes:
    return pack_outbox(destination, cursor[0], cursor[1] + 1)
