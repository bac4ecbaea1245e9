"""Which pages of a domain have nearly the same text: simhashes of 64 bits enter, pages whose simhash differs in few bits leave.

A simhash is cut into four blocks. Two that differ in three bits at most have one block in common, so each page is in four
rows, found by its domain, the number of a block and its bits. A row has the newest pages only, so that none grows for ever.
"""

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from xxhash import xxh3_64_digest

from rdfspider.frontier.store import Store

# The bits in which the simhashes of two pages may differ; one less than there are blocks.
_MAX_DISTANCE = 3
_BLOCKS, _BLOCK_BITS = 4, 16
_ROW_PAGES = 16

_PAGE = Struct(">QQQ?")
_KEY = Struct(">8sBH")


class SimhashEntry(NamedTuple):
    """A page whose text is known."""

    simhash: int
    facts: int
    """A digest of what it states."""
    url_id: int
    is_absence: bool
    """Whether it says that there is no such page."""


class Simhashes:
    """The simhashes of pages, those that are recorded and those that are about to be."""

    def __init__(self, store: Store) -> None:
        self._table = store.tables["likenesses"]
        self._staged: dict[bytes, bytes] = {}
        """Rows that changed since the last commit; an empty one is deleted."""
        self._met: dict[str, dict[int, SimhashEntry]] = {}
        """Pages that are not recorded yet, by domain and id: those that come meanwhile are compared with them too."""

    def meet(self, domain: str, page: SimhashEntry) -> list[SimhashEntry]:
        """Pages of the domain that are like this one, the newest first; it is itself known from now on, for as long as the
        process lives, and longer if it is recorded."""
        met = self._met.setdefault(domain, {})
        found = {known.url_id: known for known in reversed(met.values())}
        for row in self._read(_make_keys(domain, page.simhash)).values():
            for known in _unpack(row):
                found.setdefault(known.url_id, known)
        found.pop(page.url_id, None)
        met[page.url_id] = page
        return [known for known in found.values() if (known.simhash ^ page.simhash).bit_count() <= _MAX_DISTANCE]

    def record(self, domain: str, url_id: int, old_simhash: int, is_kept: bool) -> None:
        """Stage that a page has its old simhash no more, and that it has the one that it was met with, if that is kept."""
        met = self._met.get(domain)
        page = met.pop(url_id, None) if met else None
        if met is not None and not met:
            del self._met[domain]
        if old_simhash:
            for key, row in self._read(_make_keys(domain, old_simhash)).items():
                rest = _leave_out(row, url_id)
                if rest != row:
                    self._put(key, rest)
        if page is not None and is_kept:
            packed = _PAGE.pack(*page)
            for key, row in self._read(_make_keys(domain, page.simhash)).items():
                self._put(key, (packed + _leave_out(row, url_id))[: _ROW_PAGES * _PAGE.size])

    def settle(self) -> None:
        """After a commit: the table knows all rows."""
        self._staged.clear()

    def _read(self, keys: list[bytes]) -> dict[bytes, bytes]:
        """Rows as they will be; those that there are not are empty."""
        rows = dict(zip(keys, self._table.get_many(keys), strict=True))
        return {key: self._staged.get(key, row or b"") for key, row in rows.items()}

    def _put(self, key: bytes, row: bytes) -> None:
        self._staged[key] = row
        if row:
            self._table.put(key, row)
        else:
            self._table.delete(key)


def _make_keys(domain: str, simhash: int) -> list[bytes]:
    place = xxh3_64_digest(domain.encode())
    return [
        _KEY.pack(place, block, simhash >> (block * _BLOCK_BITS) & ((1 << _BLOCK_BITS) - 1)) for block in range(_BLOCKS)
    ]


def _unpack(row: bytes) -> Iterator[SimhashEntry]:
    return (SimhashEntry(*fields) for fields in _PAGE.iter_unpack(row))


def _leave_out(row: bytes, url_id: int) -> bytes:
    return b"".join(_PAGE.pack(*known) for known in _unpack(row) if known.url_id != url_id)
