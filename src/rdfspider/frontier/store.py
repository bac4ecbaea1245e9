"""RocksDB, and nothing of URLs or hosts: tables of bytes, and one batch for all that is staged until the next commit.

What enters are puts and deletes, which nobody sees before `write`; what leaves is what was written. A batch is whole or not
there at all, over all tables, whenever the process dies. This is the only module that imports rocksdict.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from rocksdict import (
    BlockBasedIndexType,
    BlockBasedOptions,
    Cache,
    ColumnFamily,
    DBCompressionType,
    Options,
    Rdict,
    ReadOptions,
    WriteBatch,
    WriteBufferManager,
)

from rdfspider.errors import UsageError

TABLES = ("urls", "ledger", "queue", "names", "hosts", "places", "visits", "robots", "domains", "outbox", "meta")

# Memory for what is not yet in a file, over all tables; more makes fewer and larger files, and a longer start after a kill.
_WRITE_BUFFER_BYTES = 32 * 1024 * 1024
_TABLE_BUFFER_BYTES = 12 * 1024 * 1024
# A table with few writes keeps old logs alive; beyond this it is written out.
_MAX_WAL_BYTES = 48 * 1024 * 1024
_FILE_BYTES = 32 * 1024 * 1024
# Smaller blocks are quicker to read one row from, larger ones compress better: what is read in runs has the larger ones.
_BLOCK_BYTES = 4 * 1024
_LEDGER_BLOCK_BYTES = 16 * 1024
_FILTER_BITS = 10
# A file is rewritten when this many of so many rows in a row are deletions: queues are read at their head, past all of those.
_DELETION_WINDOW, _DELETION_TRIGGER = 128, 64


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

    def put(self, key: bytes, value: bytes) -> None:
        """Stage a value."""
        self._store.batch.put(key, value, self._handle)

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
            if "lock" in str(error).lower():
                raise UsageError(f"{folder} is in use by another process") from None
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
    blocks.set_block_size(_LEDGER_BLOCK_BYTES if name == "ledger" else _BLOCK_BYTES)
    blocks.set_format_version(5)
    if name in ("urls", "ledger", "names", "hosts"):
        blocks.set_bloom_filter(_FILTER_BITS, False)
    if name == "urls":
        # Its index and its filter grow with the crawl: in parts, which the cache holds as it holds blocks.
        blocks.set_index_type(BlockBasedIndexType.two_level_index_search())
        blocks.set_partition_filters(True)
        blocks.set_metadata_block_size(4096)
        blocks.set_cache_index_and_filter_blocks(True)
        blocks.set_pin_top_level_index_and_filter(True)
        blocks.set_pin_l0_filter_and_index_blocks_in_cache(True)
    options = Options(raw_mode=True)
    options.set_block_based_table_factory(blocks)
    # Rows of the ledger are only read where they exist, so that the last level needs no filter.
    options.set_optimize_filters_for_hits(name == "ledger")
    options.set_write_buffer_size(_TABLE_BUFFER_BYTES)
    options.set_max_write_buffer_number(2)
    options.set_target_file_size_base(_FILE_BYTES)
    options.set_max_bytes_for_level_base(4 * _FILE_BYTES)
    options.set_level_compaction_dynamic_level_bytes(True)
    # Nearly all rows are in the last level; what is above is written more often than read.
    options.set_compression_type(DBCompressionType.zstd() if name in ("urls", "ledger") else DBCompressionType.lz4())
    options.set_bottommost_compression_type(DBCompressionType.zstd())
    if name in ("queue", "places", "visits", "outbox"):
        options.add_compact_on_deletion_collector_factory(_DELETION_WINDOW, _DELETION_TRIGGER, 0.0)
    return options
