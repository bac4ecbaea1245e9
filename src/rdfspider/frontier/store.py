"""RocksDB tables of bytes, without knowledge of URLs or hosts, and one batch of everything that is staged.

Puts and deletes are invisible until `write`, except through an `Overlay`. A write is atomic over all tables, whenever the process
dies. Another process can read the tables meanwhile (`StoreReader`). This is the only module that imports rocksdict.
"""

import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from rocksdict import (
    AccessType,
    BlockBasedOptions,
    Cache,
    Checkpoint,
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

from rdfspider.disk import is_locked
from rdfspider.errors import InUseError, UnreadableError
from rdfspider.frontier.checkpoints import link_tables

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
"""The names of the tables on disk, some of which are older than the terms of the code: `likenesses` has simhashes, `places` the
front queues, `ledger` the rows of URLs."""

# Memory for blocks of table files.
_BLOCK_CACHE_BYTES = 64 * 1024 * 1024
# Memory for rows that are not in a file yet, over all tables; more means fewer, larger files and a longer start after a kill.
_WRITE_BUFFER_BYTES = 48 * 1024 * 1024
_TABLE_BUFFER_BYTES = 24 * 1024 * 1024
# A table with few writes keeps old logs alive; beyond this size it is flushed.
_MAX_WAL_BYTES = 80 * 1024 * 1024
_FILE_BYTES = 32 * 1024 * 1024
# Small blocks are faster to read one row from, large ones compress better: tables that grow with the URLs have larger ones.
# A zstd dictionary would make small blocks as dense as large ones, but its tables are rebuilt for every read.
_BLOCK_BYTES = {"urls": 8 * 1024, "ledger": 5 * 1024}
_OTHER_BLOCK_BYTES = 4 * 1024
# Keys between two that are stored whole; each whole one takes four bytes that do not compress.
_RESTART_INTERVAL = 32
_FILTER_BITS = 9
# The zstd level of the last level, where nearly all rows end up; 3 is its default, more than 6 costs much for little gain.
_LAST_LEVEL_EFFORT = 6
# The size of unmerged files, in percent of the merged rest of a table, that starts a full merge.
_UNMERGED_PERCENT = 60
# A file is rewritten when this many rows in a window are deletions: reads at the head of a queue have to pass them all.
_DELETION_WINDOW, _DELETION_TRIGGER = 128, 64

# Files may be merged into others and deleted while a view is opened; the next try finds the merged ones.
_VIEW_TRIES = 20
_VIEW_WAIT_S = 0.1

# Sorts after every key.
_PAST_ALL = b"\xff" * 1024
# The files that say which others belong to the tables.
_DESCRIPTIONS = ("CURRENT", "MANIFEST")

_UNCACHED = ReadOptions()
# How often a copy is tried anew that a merge of files has disturbed.
_LINKING_TRIES = 5
_UNCACHED.fill_cache(False)  # type: ignore[call-arg]  # the stub forgets the argument


class TableRows:
    """A readable table; keys are ordered as bytes."""

    __slots__ = ("_family", "get", "get_many")

    def __init__(self, family: Rdict) -> None:
        self._family = family
        self.get: Any = family.get
        """The value of a key; None if there is none."""
        self.get_many: Any = family.get
        """The values of a list of keys, in their order."""

    def get_once(self, key: bytes) -> bytes | None:
        """The value of a key that will hardly be read again, so its block is not cached."""
        value: bytes | None = self._family.get(key, None, _UNCACHED)
        return value

    def scan(self, lower: bytes, upper: bytes, limit: int | None = None) -> list[tuple[bytes, bytes]]:
        """Rows from `lower` on, before `upper`; both bounds keep a scan from passing over deleted rows."""
        return list(islice(self.iterate(lower, upper), limit))

    def iterate(self, lower: bytes, upper: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Like `scan`, row by row, as the table was at the first row."""
        # RocksDB uses these options while it reads, so this generator keeps them alive.
        options = ReadOptions()
        options.set_iterate_upper_bound(upper)
        rows: Any = self._family.items(from_key=lower, read_opt=options)
        last = lower
        for row in rows:
            yield row
            last = row[0]
        # At damage, too, the rows simply end; only another iterator tells, at the same place.
        rest = self._family.iter(options)
        rest.seek(last)
        if rest.valid():
            rest.next()
        rest.status()
        del options

    def size_bytes(self) -> int:
        """The size of the table's files on disk."""
        return self._family.property_int_value("rocksdb.live-sst-files-size") or 0

    def close(self) -> None:
        """Release the column family; RocksDB cannot close while one is held."""
        self._family.close()
        del self.get, self.get_many, self._family


class _ReaderRows(TableRows):
    """A table of a reader: an error of RocksDB, such as a wrong checksum, is an UnreadableError."""

    __slots__ = ("_folder",)

    def __init__(self, family: Rdict, folder: Path) -> None:
        super().__init__(family)
        self._folder = folder
        self.get = self.get_many = self._get

    def iterate(self, lower: bytes, upper: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Like `TableRows.iterate`."""
        try:
            yield from super().iterate(lower, upper)
        except Exception as error:  # rocksdict raises no narrower one
            raise _tell_damage(self._folder, error) from error

    def _get(self, key: Any) -> Any:
        try:
            return self._family.get(key)
        except Exception as error:  # rocksdict raises no narrower one
            raise _tell_damage(self._folder, error) from error


class Table(TableRows):
    """A table that can also be written to."""

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

    def flush(self) -> None:
        """Write the table's rows to a file."""
        self._family.flush()

    def close(self) -> None:
        """Release the column family and its handle."""
        super().close()
        del self._handle


class Overlay:
    """A table in which staged values and deletions can be read, until they are written or discarded."""

    __slots__ = ("_table", "staged")

    def __init__(self, table: Table) -> None:
        self._table = table
        self.staged: dict[bytes, bytes | None] = {}
        """The staged values by key; None if the row is deleted."""

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, staged or written; None if there is none."""
        value: bytes | None = self.staged[key] if key in self.staged else self._table.get(key)
        return value

    def get_many(self, keys: list[bytes]) -> list[bytes | None]:
        """The values of keys, in their order."""
        return [self.staged.get(key, row) for key, row in zip(keys, self._table.get_many(keys), strict=True)]

    def scan(self, lower: bytes, upper: bytes, limit: int) -> list[tuple[bytes, bytes]]:
        """The first written rows from one key to before another, at most `limit`."""
        return self._table.scan(lower, upper, limit)

    def put(self, key: bytes, value: bytes) -> None:
        """Stage a value."""
        self.staged[key] = value
        self._table.put(key, value)

    def delete(self, key: bytes) -> None:
        """Stage a deletion."""
        self.staged[key] = None
        self._table.delete(key)


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
        self._overlays: list[Overlay] = []

    @property
    def is_open(self) -> bool:
        """Whether `close` was not called yet."""
        return bool(self.tables)

    @property
    def has_staged(self) -> bool:
        """Whether anything waits for `write`."""
        return not self.batch.is_empty()

    def overlay(self, name: str) -> Overlay:
        """A table that is read with what is staged through this overlay."""
        overlay = Overlay(self.tables[name])
        self._overlays.append(overlay)
        return overlay

    def write(self) -> None:
        """Write everything that is staged in one batch, which survives a killed process but maybe not a loss of power."""
        self._db.write(self.batch)
        self.discard()

    def discard(self) -> None:
        """Discard what is staged."""
        self.batch = WriteBatch(raw_mode=True)
        for overlay in self._overlays:
            overlay.staged.clear()

    def sync(self) -> None:
        """Make everything that was written survive a loss of power; may run in its own thread."""
        self._db.flush_wal(True)

    def flush(self) -> None:
        """Write all rows to files, for a checkpoint; may run in its own thread."""
        for table in list(self.tables.values()):
            table.flush()

    def create_checkpoint(self, folder: Path) -> None:
        """Flush the tables, and make a copy of them, by links to their files, in a folder that is replaced, on the same disk. May
        run in its own thread, but nothing must be written meanwhile."""
        for _ in range(_LINKING_TRIES):
            shutil.rmtree(folder, ignore_errors=True)
            written = self._db.latest_sequence_number()
            self.flush()
            if link_tables(Path(self._db.path()), folder) and self._db.latest_sequence_number() == written:
                return
        # Files are merged all the time. This holds up the interpreter while the disk syncs.
        shutil.rmtree(folder, ignore_errors=True)
        Checkpoint(self._db).create_checkpoint(str(folder))

    def table_bytes(self) -> dict[str, int]:
        """The size on disk of each table and of the log."""
        sizes = {name: table.size_bytes() for name, table in self.tables.items()}
        sizes["log"] = sum(path.stat().st_size for path in Path(self._db.path()).glob("*.log"))
        return sizes

    def close(self) -> None:
        """Close the tables, and discard what is staged."""
        del self.batch
        for table in self.tables.values():
            table.close()
        self.tables.clear()
        self._db.close()


class StoreReader:
    """A read-only snapshot of a frontier's tables, whether another process uses them or not."""

    def __init__(self, folder: Path, notes: Path, tables: Sequence[str], *, is_used: bool = True) -> None:
        """Open a snapshot; `notes` is an empty folder elsewhere, for files that RocksDB and its bindings write. Unless another
        process may use the tables, a file that is missing or too short is an UnreadableError; else the snapshot may be older."""
        self._db = _open_view(folder, notes, tables, is_used)
        self.tables = {name: _ReaderRows(self._db.get_column_family(name), folder) for name in tables}

    def close(self) -> None:
        """Close the files."""
        for table in self.tables.values():
            table.close()
        self.tables.clear()
        self._db.close()


def read_database(folder: Path) -> None:
    """Read every row of any RocksDB database that no process uses, which verifies all checksums; UnreadableError at damage."""
    with tempfile.TemporaryDirectory(prefix="rdfspider-view-") as notes:
        try:
            tables = Rdict.list_cf(str(folder), Options(raw_mode=True))
        except Exception as error:  # rocksdict raises no narrower one
            raise _tell_damage(folder, error) from error
        reader = StoreReader(folder, Path(notes), tables, is_used=False)
        try:
            for table in reader.tables.values():
                for _ in table.iterate(b"", _PAST_ALL):
                    pass
        finally:
            reader.close()


def is_made(folder: Path) -> bool:
    """Whether a folder has all tables, or damaged ones; False if their making was ended, and the next process makes the rest."""
    if not (folder / "CURRENT").exists():
        return any(file.suffix == ".sst" for file in _list_files(folder))
    try:
        return set(TABLES) <= set(Rdict.list_cf(str(folder), Options(raw_mode=True)))
    except Exception:  # rocksdict raises no narrower one
        return True


def is_damage(error: BaseException, folder: Path) -> bool:
    """Whether an error says that the store in a folder is damaged, or lacks some of its files, unlike one on a missing disk."""
    text = str(error)
    return text.startswith("Corruption:") or (
        text.startswith("IO error: No such file or directory") and has_store(folder)
    )


def is_disk_error(error: BaseException) -> bool:
    """Whether an error, of a database or of other files, says that the disk has failed or is full, or that another process holds
    the files. RocksDB has no exception classes."""
    return isinstance(error, OSError) or str(error).startswith("IO error:")


def has_store(folder: Path) -> bool:
    """Whether a folder contains tables, or what is left of them."""
    return any(file.suffix == ".sst" or file.name.startswith(_DESCRIPTIONS) for file in _list_files(folder))


def check_at_rest(folder: Path) -> None:
    """Raise InUseError if another process has the tables open to write. Not for a process that has them open itself, as it would
    lose its lock."""
    if is_locked(folder / "LOCK"):
        raise InUseError(f"{folder} is in use by another process")


def _open_view(folder: Path, notes: Path, tables: Sequence[str], is_used: bool) -> Rdict:
    """Open the tables through links to their files, as rocksdict writes a file to the folder that it opens even to read."""
    options = Options(raw_mode=True)
    # All files are opened at once, so that later merges and deletions do not matter.
    options.set_max_open_files(-1)
    families = {name: Options(raw_mode=True) for name in tables}
    failure = "its files change too often"
    for number in range(_VIEW_TRIES):
        links = notes / str(number)
        _link_files(folder, links)
        try:
            # Beside another process, a table whose file is gone is shown as it was before, so that the view can always be opened.
            access = AccessType.secondary(str(notes / "log")) if is_used else AccessType.read_only()
            db = Rdict(str(links), options, families, access_type=access)
        except Exception as error:  # rocksdict raises no narrower one
            failure = str(error).replace(str(links), str(folder))
            if not is_used:
                break
            time.sleep(_VIEW_WAIT_S)
            continue
        # RocksDB skips a file that was deleted before it was opened, and shows an older version of its table.
        if all(link.exists() for link in links.iterdir()):
            return db
        db.close()
    raise _tell_damage(folder, failure)


def _link_files(folder: Path, links: Path) -> None:
    links.mkdir()
    for file in _list_files(folder.absolute()):
        if file.suffix in (".sst", ".log") or file.name.startswith(_DESCRIPTIONS):
            (links / file.name).symlink_to(file)


def _list_files(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except FileNotFoundError:
        return []


def _tell_damage(folder: Path, error: object) -> UnreadableError:
    return UnreadableError(f"{folder} cannot be read ({' '.join(str(error).split())[:200]})")


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
        # Filters and indexes are in memory outside the cache, at 1.5 bytes per URL. Inside it blocks would evict them, and
        # then a link costs ten times as much.
        blocks.set_bloom_filter(_FILTER_BITS, False)
    options = Options(raw_mode=True)
    options.set_block_based_table_factory(blocks)
    # Rows of URLs are only read if they exist, so the last level needs no filter.
    options.set_optimize_filters_for_hits(name == "ledger")
    if name in ("urls", "ledger"):
        # Most lookups are for keys that are not in the memtable; a filter of 15 bits per row says so.
        options.set_memtable_whole_key_filtering(True)
        options.set_memtable_prefix_bloom_ratio(0.04)
    options.set_write_buffer_size(_TABLE_BUFFER_BYTES)
    options.set_max_write_buffer_number(2)
    options.set_target_file_size_base(_FILE_BYTES)
    options.set_max_bytes_for_level_base(4 * _FILE_BYTES)
    options.set_level_compaction_dynamic_level_bytes(True)
    # Tables that grow with the URLs get zstd below; the others are small, and faster to read with lz4.
    options.set_compression_type(DBCompressionType.lz4())
    if name in ("urls", "ledger"):
        # Rare merges save most of the work, and waste little space, as few of these rows are written twice.
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
