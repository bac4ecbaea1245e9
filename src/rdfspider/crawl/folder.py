"""A crawl's folder: what is where in it, whether it is one, who uses it, and what of it can be changed at any time.

crawl.toml      what was asked, and what is fixed
suffixes.dat    the public-suffix list that decides which hosts belong together
seeds.txt       a URL a line; new ones are added at the end
status.json     the state of the crawl, a second old at most while it runs
history.json    how it has gone, over all runs, for charts
lock            held by the process that runs the crawl, or imports into it
documents/      JSON-LD contexts that were fetched, under the digests of their URLs
shards/007/     what one shard has: its frontier and its WARC files
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from rdfspider.config import Config, CrawlConfig
from rdfspider.crawl.bounds import Plain
from rdfspider.crawl.messages import Command, CommandName
from rdfspider.crawl.seeds import collect_seeds
from rdfspider.crawl.settings import FILE, FIXED, Asked, ask_flags, read_file, write_settings
from rdfspider.disk import NEW, HeldError, find_holder, hold_lock, write_atomically
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.errors import InUseError, UsageError

CONTROL = "control"
"""The file that names where a running crawl listens."""
IMPORT = "import"
"""What holds the lock during an import; else it is a crawl."""
DOCUMENTS = "documents"
"""The folder of the contexts that were fetched."""
VERSION = 1
"""Of the folder's layout; a crawl of another one is refused."""
_HASH = "xxh3"
_SUFFIXES, _SEEDS, _SHARDS, _LOCK = "suffixes.dat", "seeds.txt", "shards", "lock"
# What a folder may hold whose making was interrupted, or for which crawl.toml was written by hand.
_MADE_FIRST = frozenset({FILE, FILE + NEW, _SUFFIXES, _SUFFIXES + NEW, _SEEDS, _SHARDS, _LOCK})
# What every URL in normal form is; people add lines to files that are not meant for it.
_SEED = re.compile(r"https?://(?:[^/?#\s]*@)?[^/?#\sA-Z]+/[!-~]*")


def check_folder(folder: Path) -> bool:
    """Whether a crawl is there already; UsageError where none is and none can be made."""
    try:
        str(folder).encode()
        if not folder.exists():
            return False
    except UnicodeEncodeError as error:
        raise UsageError(f"{folder}: not allowed; the path may be any UTF-8") from error
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}") from error
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    fixed = read_file(folder).get(FIXED)
    if fixed is None:
        if others := {path.name for path in folder.iterdir()} - _MADE_FIRST:
            raise UsageError(
                f"{folder} is not a crawl: it has {min(others)} but no {FILE} of ours; name another folder"
            )
        return False
    _check_fixed(folder, fixed)
    return True


def make_folder(folder: Path, shards: int, software: str, asked: Mapping[str, Asked]) -> None:
    """Make a crawl of the folder; crawl.toml comes last, so that there is a whole crawl or none."""
    text = _read_text(folder / FILE)
    suffixes = bundled_suffix_list()
    fixed: dict[str, Plain] = {
        "version": VERSION,
        "shards": shards,
        "hash": _HASH,
        "suffixes": hashlib.sha256(suffixes).hexdigest(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "software": software,
    }
    for number in range(shards):
        shard_folder(folder, number).mkdir(parents=True, exist_ok=True)
    write_atomically(folder / _SUFFIXES, suffixes)
    write_atomically(folder / FILE, write_settings(text, fixed, asked).encode())


def change_settings(folder: Path, asked: Mapping[str, Asked]) -> None:
    """Put what was asked into an existing crawl's file."""
    before = _read_text(folder / FILE)
    after = write_settings(before, None, asked)
    if after != before:
        write_atomically(folder / FILE, after.encode())


def shard_folder(folder: Path, shard: int) -> Path:
    """Where a shard keeps what is its own."""
    return folder / _SHARDS / f"{shard:03}"


def load_domains(folder: Path, shards: int) -> Domains:
    """The map from hosts to shards, by the suffix list that the crawl was given."""
    return _make_domains((folder / _SUFFIXES).read_bytes(), shards)


@lru_cache(maxsize=2)
def _make_domains(suffix_list: bytes, shards: int) -> Domains:
    """To read such a list takes a tenth of a second, and whoever explains URLs needs it for each."""
    return Domains(suffix_list, shards)


def read_seeds(folder: Path) -> list[str]:
    """The seeds of the crawl, in the order in which they were given."""
    path = folder / _SEEDS
    try:
        seeds = list(dict.fromkeys(_read_text(path).split()))
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 at byte {error.start}") from error
    if wrong := next((seed for seed in seeds if not _SEED.fullmatch(seed)), None):
        raise UsageError(f"{path}: {wrong} is not a URL in normal form; give new seeds to `rdfspider crawl`")
    return seeds


def read_first_seed(folder: Path) -> str:
    """The seed that was given first; empty where there is none. There may be millions more, which are not read."""
    try:
        with (folder / _SEEDS).open(encoding="utf-8", errors="replace") as lines:
            return next(iter(lines.readline().split()), "")
    except OSError:
        return ""


def add_seeds(folder: Path, seeds: Iterable[str]) -> int:
    """Add seeds that are not there yet; returns how many were new."""
    known = dict.fromkeys(read_seeds(folder))
    new = [seed for seed in dict.fromkeys(seeds) if seed not in known]
    if new:
        write_atomically(folder / _SEEDS, "".join(f"{seed}\n" for seed in (*known, *new)).encode())
    return len(new)


@contextmanager
def hold_folder(folder: Path, user: str = "crawl") -> Iterator[None]:
    """Use the folder alone, for a crawl or an import; InUseError where another process does."""
    try:
        with hold_lock(folder / _LOCK, user):
            yield
    except HeldError as error:
        raise InUseError(f"{folder} is in use: {_describe_holder(str(error))}") from None


def is_in_use(folder: Path) -> bool:
    """Whether a crawl runs in the folder."""
    return find_holder(folder / _LOCK) is not None


def check_import(folder: Path) -> None:
    """InUseError where an import runs in the folder: it takes no commands."""
    holder = find_holder(folder / _LOCK)
    if holder is not None and holder.startswith(IMPORT):
        raise InUseError(f"{folder} is in use: {_describe_holder(holder)}")


def _describe_holder(holder: str) -> str:
    user, _, pid = holder.partition(" ")
    if user == IMPORT:
        return f"an import runs there (process {pid}); wait for it, or end it with Ctrl-C"
    return f"a crawl runs there (process {pid or 'unknown'})"


def _check_fixed(folder: Path, fixed: Any) -> None:
    version = fixed.get("version") if isinstance(fixed, dict) else None
    if version != VERSION:
        raise UsageError(
            f"{folder} was made by another version of rdfspider: its layout is {version!r}, this one reads {VERSION}"
        )
    shards = fixed.get("shards")
    made = sum(1 for path in (folder / _SHARDS).glob("[0-9]*") if path.is_dir())
    if shards != made or isinstance(shards, bool):
        raise UsageError(f"{folder / FILE}: fixed.shards {shards}: not allowed; the crawl was created with {made}")
    if fixed.get("hash") != _HASH:
        raise UsageError(f"{folder / FILE}: fixed.hash {fixed.get('hash')}: not allowed; it may be {_HASH}")
    suffixes = folder / _SUFFIXES
    if not suffixes.is_file() or hashlib.sha256(suffixes.read_bytes()).hexdigest() != fixed.get("suffixes"):
        raise UsageError(f"{suffixes} is not the list that the crawl was created with; hosts would change their shard")


def _read_text(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""


_KINDS = ("include", "exclude")


def make_change(folder: Path, config: Config, command: Command) -> tuple[int, Config]:
    """Do what was asked, and return how much of it was new, and the settings that hold from now on."""
    if command.command == CommandName.ADD_SEEDS:
        return add_seeds(folder, collect_seeds(command.seeds, None, config.fetch)), config
    change = _add_filters if command.command == CommandName.ADD_FILTERS else _remove_filters
    filters = {kind: change(config.crawl, kind, getattr(command, kind)) for kind in _KINDS}
    before = sum(len(getattr(config.crawl, kind)) for kind in _KINDS)
    asked = {f"crawl.{kind}": Asked(list(patterns), f"--{kind}") for kind, patterns in filters.items()}
    change_settings(folder, asked)
    count = abs(sum(map(len, filters.values())) - before)
    crawl = replace(config.crawl, include=filters["include"], exclude=filters["exclude"])
    return count, replace(config, crawl=crawl)


def check_patterns(kind: str, patterns: Iterable[str]) -> tuple[str, ...]:
    """Patterns of filters as they are kept; a UsageError says what is wrong with one."""
    checked = ask_flags({f"crawl.{kind}": Asked(list(patterns), f"--{kind}")})[f"crawl.{kind}"].value
    return tuple(checked) if isinstance(checked, list) else ()


def _add_filters(config: CrawlConfig, kind: str, patterns: Iterable[str]) -> tuple[str, ...]:
    # Each may be fine, and all of them together too many or too slow.
    return check_patterns(kind, dict.fromkeys((*getattr(config, kind), *patterns)))


def _remove_filters(config: CrawlConfig, kind: str, patterns: Iterable[str]) -> tuple[str, ...]:
    known: tuple[str, ...] = getattr(config, kind)
    removed = set(patterns)
    if unknown := [pattern for pattern in patterns if pattern not in known]:
        raise UsageError(f"--{kind} {unknown[0]}: there is no such filter; `rdfspider filter list` shows all")
    return tuple(pattern for pattern in known if pattern not in removed)
