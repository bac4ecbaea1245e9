"""RocksDB, and nothing of URLs or hosts: tables of bytes, and one batch for all that is staged until the next commit.

What enters are puts and deletes, which nobody sees before `write`; what leaves is what was written. A batch is whole or not
there at all, over all tables, whenever the process dies. This is the only module that imports rocksdict.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from rocksdict import (
    BlockBasedOptions,
    Cache,
    ColumnFamily,
    DBCompactionStyle,
    DBCompressionType,
    Options,
    Rdict,
    ReadOptions,
    UniversalCompactOptions,
    WriteBatch,
    WriteBufferManager,
)

from rdfspider.errors import InUseError

TABLES = ("urls", "ledger", "queue", "names", "hosts", "places", "visits", "robots", "domains", "outbox", "meta")

# Memory for what is not yet in a file, over all tables; more makes fewer and larger files, and a longer start after a kill.
_WRITE_BUFFER_BYTES = 48 * 1024 * 1024
_TABLE_BUFFER_BYTES = 24 * 1024 * 1024
# A table with few writes keeps old logs alive; beyond this it is written out.
_MAX_WAL_BYTES = 80 * 1024 * 1024
_FILE_BYTES = 32 * 1024 * 1024
# Smaller blocks are quicker to read one row from, larger ones compress better: what grows with the URLs has larger ones.
# A dictionary for zstd would make small blocks as dense as large ones, but its tables are built again for every read.
_BLOCK_BYTES = {"urls": 8 * 1024, "ledger": 5 * 1024}
_OTHER_BLOCK_BYTES = 4 * 1024
# Keys between two that are stored whole; each of those takes four bytes that do not compress.
_RESTART_INTERVAL = 32
_FILTER_BITS = 9
# How hard zstd tries where nearly all rows end up; 3 is its usual, more than 6 costs much for little.
_LAST_LEVEL_EFFORT = 6
# How much of a table, in hundredths, may be in files that were not merged with the rest yet.
_UNMERGED_PERCENT = 60
# A file is rewritten when this many of so many rows in a row are deletions: queues are read at their head, past all of those.
_DELETION_WINDOW, _DELETION_TRIGGER = 128, 64

_UNCACHED = ReadOptions()
_UNCACHED.fill_cache(False)  # type: ignore[call-arg]  # the stub forgets the argument


class Table:
    """One table; keys are ordered as bytes."""

    __slots__ = ("_family", "_handle", "_store", "get", "get_many")

    def __init__(self, store: "Store", family: Rdict, handle: ColumnFamily) -> None:
        self._store = store
        self._family = family
        self._handle = handle
        self.get: Any = family.get
        """The value of a key, None where there is none."""
        self.get_many: Any = family.get
        """The values of a list of keys, in their order."""

    def get_once(self, key: bytes) -> bytes | None:
        """The value of a key that will hardly be asked for again: its block does not drive others out of the cache."""
        value: bytes | None = self._family.get(key, None, _UNCACHED)
        return value

    def put(self, key: bytes, value: bytes) -> None:
        """Stage a value."""
        self._store.batch.put(key, value, self._handle)

    def put_many(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Stage many values."""
        put, handle = self._store.batch.put, self._handle
        for key, value in rows:
            put(key, value, handle)

    def delete(self, key: bytes) -> None:
        """Stage a deletion."""
        self._store.batch.delete(key, self._handle)

    def scan(self, lower: bytes, upper: bytes, limit: int | None = None) -> list[tuple[bytes, bytes]]:
        """Rows from `lower` on, before `upper`. Both bounds are needed: a scan must not wade through deleted rows."""
        return list(islice(self.iterate(lower, upper), limit))

    def iterate(self, lower: bytes, upper: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The same, row by row, as the table was at the first row."""
        # RocksDB looks into these options while it reads: they must live as long, so this is a generator.
        options = ReadOptions()
        options.set_iterate_upper_bound(upper)
        rows: Any = self._family.items(from_key=lower, read_opt=options)
        yield from rows
        del options

    def size_bytes(self) -> int:
        """What the table takes on disk, as far as it is in files."""
        return self._family.property_int_value("rocksdb.live-sst-files-size") or 0

    def close(self) -> None:
        """Let go of the family; RocksDB cannot close while one is held."""
        self._family.close()
        del self.get, self.get_many, self._family, self._handle


class Store:
    """All tables of one frontier."""

    def __init__(self, folder: Path, block_cache_bytes: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        cache = Cache(block_cache_bytes)
        buffers = WriteBufferManager(_WRITE_BUFFER_BYTES, False)
        options = {name: _table_options(cache, name) for name in TABLES}
        try:
            self._db = Rdict(str(folder), _database_options(cache, buffers), options)
        except Exception as error:  # rocksdict raises no narrower one
            if "lock file" in str(error) or "lock hold by" in str(error):
                raise InUseError(f"{folder} is in use by another process") from None
            raise
        self.batch = WriteBatch(raw_mode=True)
        self.tables = {
            name: Table(self, self._db.get_column_family(name), self._db.get_column_family_handle(name))
            for name in TABLES
        }

    @property
    def is_open(self) -> bool:
        """Whether `close` was not called yet."""
        return bool(self.tables)

    @property
    def has_staged(self) -> bool:
        """Whether something waits for `write`."""
        return not self.batch.is_empty()

    def write(self) -> None:
        """Everything that was staged, in one batch; a killed process does not lose it, a machine that loses power may."""
        self._db.write(self.batch)
        self.batch = WriteBatch(raw_mode=True)

    def discard(self) -> None:
        """Forget what was staged."""
        self.batch = WriteBatch(raw_mode=True)

    def sync(self) -> None:
        """Make all that was written safe from a loss of power; may run in a thread of its own."""
        self._db.flush_wal(True)

    def table_bytes(self) -> dict[str, int]:
        """What each table takes on disk, and the log."""
        sizes = {name: table.size_bytes() for name, table in self.tables.items()}
        sizes["log"] = sum(path.stat().st_size for path in Path(self._db.path()).glob("*.log"))
        return sizes

    def close(self) -> None:
        """What was staged and not written is forgotten."""
        del self.batch
        for table in self.tables.values():
            table.close()
        self.tables.clear()
        self._db.close()


def _database_options(cache: Cache, buffers: WriteBufferManager) -> Options:
    options = _table_options(cache, "default")
    options.create_if_missing(True)
    options.create_missing_column_families(True)
    options.set_write_buffer_manager(buffers)
    options.set_max_total_wal_size(_MAX_WAL_BYTES)
    options.set_max_background_jobs(2)
    options.set_bytes_per_sync(1024 * 1024)
    options.set_keep_log_file_num(2)
    options.set_max_log_file_size(1024 * 1024)
    options.set_max_open_files(512)
    return options


def _table_options(cache: Cache, name: str) -> Options:
    blocks = BlockBasedOptions()
    blocks.set_block_cache(cache)
    blocks.set_block_size(_BLOCK_BYTES.get(name, _OTHER_BLOCK_BYTES))
    blocks.set_format_version(5)
    blocks.set_block_restart_interval(_RESTART_INTERVAL)
    if name in ("urls", "ledger", "names", "hosts"):
        # Filters and indexes are in memory outside the cache: a byte and a half a URL. Within it blocks would drive them out,
        # and then a link costs ten times as much.
        blocks.set_bloom_filter(_FILTER_BITS, False)
    options = Options(raw_mode=True)
    options.set_block_based_table_factory(blocks)
    # Rows of the ledger are only read where they exist, so that the last level needs no filter.
    options.set_optimize_filters_for_hits(name == "ledger")
    if name in ("urls", "ledger"):
        # Most of what is asked for is not among what is not yet in a file: fifteen bits a row tell so.
        options.set_memtable_whole_key_filtering(True)
        options.set_memtable_prefix_bloom_ratio(0.04)
    options.set_write_buffer_size(_TABLE_BUFFER_BYTES)
    options.set_max_write_buffer_number(2)
    options.set_target_file_size_base(_FILE_BYTES)
    options.set_max_bytes_for_level_base(4 * _FILE_BYTES)
    options.set_level_compaction_dynamic_level_bytes(True)
    # What grows with the URLs is made small; the rest is small, and quicker to read so.
    options.set_compression_type(DBCompressionType.lz4())
    if name in ("urls", "ledger"):
        # Merging seldom saves most of the work; and as few of their rows are ever written twice, it wastes little room.
        universal = UniversalCompactOptions()
        universal.max_size_amplification_percent = _UNMERGED_PERCENT
        options.set_compaction_style(DBCompactionStyle.universal())
        options.set_universal_compaction_options(universal)
        options.set_compression_type(DBCompressionType.zstd())
        options.set_bottommost_compression_type(DBCompressionType.zstd())
        options.set_bottommost_compression_options(-14, _LAST_LEVEL_EFFORT, 0, 0, True)
    if name in ("queue", "places", "visits", "outbox"):
        options.add_compact_on_deletion_collector_factory(_DELETION_WINDOW, _DELETION_TRIGGER, 0.0)
    return options
