"""RocksDB, and nothing of URLs or hosts: tables of bytes, and one batch for all that is staged until the next commit.

What enters are puts and deletes, which nobody sees before `write`; what leaves is what was written. A batch is whole or not
there at all, over all tables, whenever the process dies. Another process can look at the tables meanwhile (`StoreView`). This
is the only module that imports rocksdict.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from rocksdict import (
    AccessType,
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

from rdfspider.errors import InUseError, RdfspiderError

TABLES = (
    "urls",
    "ledger",
    "queue",
    "names",
    "hosts",
    "places",
    "visits",
    "robots",
    "domains",
    "digests",
    "likenesses",
    "outbox",
    "patterns",
    "meta",
)

# Memory for blocks of the tables that are on disk.
_BLOCK_CACHE_BYTES = 64 * 1024 * 1024
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

# Files that are merged into others while a view is opened are gone; the next try finds the others.
_VIEW_TRIES = 20
_VIEW_WAIT_S = 0.1

_UNCACHED = ReadOptions()
_UNCACHED.fill_cache(False)  # type: ignore[call-arg]  # the stub forgets the argument


class Rows:
    """What can be read of one table; keys are ordered as bytes."""

    __slots__ = ("_family", "get", "get_many")

    def __init__(self, family: Rdict) -> None:
        self._family = family
        self.get: Any = family.get
        """The value of a key, None where there is none."""
        self.get_many: Any = family.get
        """The values of a list of keys, in their order."""

    def get_once(self, key: bytes) -> bytes | None:
        """The value of a key that will hardly be asked for again: its block does not drive others out of the cache."""
        value: bytes | None = self._family.get(key, None, _UNCACHED)
        return value

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
        del self.get, self.get_many, self._family


class Table(Rows):
    """One table that can be written to."""

    __slots__ = ("_handle", "_store")

    def __init__(self, store: "Store", family: Rdict, handle: ColumnFamily) -> None:
        super().__init__(family)
        self._store = store
        self._handle = handle

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

    def close(self) -> None:
        """Likewise."""
        super().close()
        del self._handle


class Store:
    """All tables of one frontier."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        cache = Cache(_BLOCK_CACHE_BYTES)
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


class StoreView:
    """Tables of a frontier as they were at one moment, whether another process uses it or not. Nothing is written to it."""

    def __init__(self, folder: Path, notes: Path, tables: Sequence[str]) -> None:
        """`notes` is an empty folder elsewhere, for what RocksDB and its bindings write down."""
        self._db = _open_view(folder, notes, tables)
        self.tables = {name: Rows(self._db.get_column_family(name)) for name in tables}

    def close(self) -> None:
        """Let go of the files."""
        for table in self.tables.values():
            table.close()
        self.tables.clear()
        self._db.close()


def has_store(folder: Path) -> bool:
    """Whether there are tables in a folder."""
    return (folder / "CURRENT").is_file()


def _open_view(folder: Path, notes: Path, tables: Sequence[str]) -> Rdict:
    """The tables by links to their files: rocksdict writes a file of its own to the folder that it opens, also to look only."""
    options = Options(raw_mode=True)
    # All files are opened at once, so that nothing is missed that is merged and deleted later.
    options.set_max_open_files(-1)
    families = {name: Options(raw_mode=True) for name in tables}
    failure = "its files change too often"
    for number in range(_VIEW_TRIES):
        links = notes / str(number)
        _link_files(folder, links)
        try:
            db = Rdict(str(links), options, families, access_type=AccessType.secondary(str(notes / "log")))
        except Exception as error:  # rocksdict raises no narrower one
            failure = str(error)
            time.sleep(_VIEW_WAIT_S)
            continue
        # A file that was deleted before it was opened is passed over, and an older version of its table is shown instead.
        if all(link.exists() for link in links.iterdir()):
            return db
        db.close()
    raise RdfspiderError(f"{folder} cannot be read: {failure}")


def _link_files(folder: Path, links: Path) -> None:
    links.mkdir()
    for file in folder.absolute().iterdir():
        if file.suffix in (".sst", ".log") or file.name.startswith(("CURRENT", "MANIFEST")):
            (links / file.name).symlink_to(file)


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
    if name in ("urls", "ledger", "names", "hosts", "digests", "likenesses"):
        # Filters and indexes are in memory outside the cache: a byte and a half a URL. Within it blocks would drive them out,
        # and then a link costs ten times as much.
        blocks.set_bloom_filter(_FILTER_BITS, False)
    options = Options(raw_mode=True)
    options.set_block_based_table_factory(blocks)
    # Rows of URLs are only read where they exist, so that the last level needs no filter.
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
