"""A crawl's folder: its layout, its validity, which process uses it, and the changes that are possible at any time.

crawl.toml      the settings that were given, and those that are fixed
suffixes.dat    the public-suffix list that decides which hosts belong together
seeds.txt       one URL per line; new ones are added at the end
status.json     the state of the crawl, at most a second old while it runs
history.json    the progress over all runs, for charts
restoring       where it is restored from, until that is complete
lock            held by the process that runs the crawl, or imports into it
lives/007.json  the epoch that one shard had last, and what was heard of it (`crawl/lives.py`)
lives/head.json the same of the coordinator
documents/      JSON-LD contexts that were fetched, under the digests of their URLs
shards/007/     the frontier and the WARC files of one shard
"""

import hashlib
import re
import secrets
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from rdfspider import __version__
from rdfspider.config import Config, CrawlConfig
from rdfspider.crawl.bounds import Plain
from rdfspider.crawl.messages import Command, CommandName
from rdfspider.crawl.seeds import collect_seeds
from rdfspider.crawl.settings import FILE, FIXED, SETTINGS, Asked, ask_flags, read_file, write_settings
from rdfspider.disk import NEW, HeldError, find_holder, hold_lock, write_atomically
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.errors import InUseError, UsageError
from rdfspider.urls import FETCHED_SCHEMES

CONTROL = "control"
"""The file with the address on which a running crawl listens."""
IMPORT = "import"
"""The lock's holder during an import; else it is a crawl."""
DOCUMENTS = "documents"
"""The folder of fetched contexts."""
RESTORING = "restoring"
"""The file with the URL of the backup that a folder is restored from, until that is complete."""
RESTORED = "restored"
"""The file that marks a shard's folder as restored until its next life has begun."""
VERSION = 1
"""The version of the folder's layout; crawls with another one are refused."""
_HASH = "xxh3"
SUFFIXES, SEEDS = "suffixes.dat", "seeds.txt"
_SHARDS, _LOCK = "shards", "lock"
_IDENTITY = re.compile("[0-9a-f]{16}")
# Files of a folder whose creation was interrupted, or for which a user wrote crawl.toml.
_MADE_FIRST = frozenset({FILE, FILE + NEW, SUFFIXES, SUFFIXES + NEW, SEEDS, _SHARDS, _LOCK})
_FILTERS = ("include", "exclude")
# Matches every URL in normal form: users may have edited the file.
_SEED = re.compile(rf"(?:{'|'.join(FETCHED_SCHEMES)})://(?:[^/?#\s]*@)?[^/?#\sA-Z]+/[!-~]*")


def check_folder(folder: Path) -> bool:
    """Whether the folder already has a crawl; UsageError if it has none and none can be created."""
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
    if (folder / RESTORING).exists():
        raise UsageError(f"{folder} is not restored to its end: run `rdfspider restore` again")
    fixed = read_file(folder).get(FIXED)
    if fixed is None:
        if others := {path.name for path in folder.iterdir()} - _MADE_FIRST:
            if list_shards(folder):
                lost = "has lost what is fixed" if (folder / FILE).exists() else "is missing"
                raise UsageError(f"{folder / FILE} {lost}, but there are shards of a crawl; {advise_doctor(folder)}")
            raise UsageError(
                f"{folder} is not a crawl: it has {min(others)} but no {FILE} of ours; name another folder"
            )
        return False
    check_fixed(folder, fixed)
    return True


def identify_crawl(folder: Path) -> str:
    """Return the identity of a crawl, which stays when its folder is moved or copied."""
    return identify_fixed(read_file(folder).get(FIXED, {}))


def identify_fixed(fixed: Mapping[str, Any]) -> str:
    """Return the identity of a crawl by what is fixed in its settings."""
    if isinstance(identity := fixed.get("id"), str) and is_identity(identity):
        return identity
    # Earlier crawls have none.
    parts = (str(fixed.get(name, "")) for name in ("created", "shards", "suffixes"))
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


def is_identity(text: str) -> bool:
    """Whether a text may be the identity of a crawl."""
    return _IDENTITY.fullmatch(text) is not None


def is_half_made(folder: Path) -> bool:
    """Whether the making of a crawl was ended, as by a full disk, before there was one."""
    return not (folder / FILE).exists() and {path.name for path in folder.iterdir()} <= _MADE_FIRST


def make_folder(folder: Path, shards: int, asked: Mapping[str, Asked]) -> None:
    """Create a crawl in the folder; crawl.toml comes last, so that there is a complete crawl or none."""
    text = _read_text(folder / FILE)
    suffixes = bundled_suffix_list()
    fixed: dict[str, Plain] = {
        "version": VERSION,
        "shards": shards,
        "hash": _HASH,
        "suffixes": hashlib.sha256(suffixes).hexdigest(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "id": _make_identity(),
        "software": f"rdfspider {__version__}",
    }
    for number in range(shards):
        shard_folder(folder, number).mkdir(parents=True, exist_ok=True)
    write_atomically(folder / SUFFIXES, suffixes)
    write_atomically(folder / FILE, write_settings(text, fixed, asked).encode())


def restore_settings(
    folder: Path, lines: Sequence[str], shards: int, suffixes: str, created: datetime, identity: str = ""
) -> int:
    """Make crawl.toml again from the lines that are left of it; return how many settings they have. `identity` is that of the
    crawl as other files tell it, if they do, in case the lines do not."""
    import tomlkit

    kept: dict[str, dict[str, Any]] = {}
    section, identity = "", identity if _IDENTITY.fullmatch(identity) else _make_identity()
    for line in lines:
        for name, value in tomllib.loads(line).items():
            if isinstance(value, dict):
                section = name
            elif (section, name) == (FIXED, "id") and is_identity(str(value)):
                identity = str(value)
            elif f"{section}.{name}" in SETTINGS:
                kept.setdefault(section, {})[name] = value
    fixed: dict[str, Plain] = {
        "version": VERSION,
        "shards": shards,
        "hash": _HASH,
        "suffixes": suffixes,
        "created": created.isoformat(timespec="seconds"),
        "id": identity,
        "software": f"rdfspider {__version__}",
    }
    document = tomlkit.parse(write_settings("", fixed, {}))
    for section, values in kept.items():
        document[section] = values
    write_atomically(folder / FILE, tomlkit.dumps(document).encode())
    return sum(map(len, kept.values()))


def is_seed(url: str) -> bool:
    """Whether a URL is in the form that seeds.txt has."""
    return _SEED.fullmatch(url) is not None


def change_settings(folder: Path, asked: Mapping[str, Asked]) -> None:
    """Write settings to the crawl.toml of an existing crawl."""
    before = _read_text(folder / FILE)
    after = write_settings(before, None, asked)
    if after != before:
        write_atomically(folder / FILE, after.encode())


def advise_doctor(folder: Path) -> str:
    """The end of messages about damage that a person cannot mend with another command."""
    return f"`rdfspider doctor --dir {folder}` mends what can be mended"


def shard_folder(folder: Path, shard: int) -> Path:
    """Return the folder of a shard."""
    return folder / _SHARDS / f"{shard:03}"


def frontier_folder(folder: Path, shard: int) -> Path:
    """Return the folder of a shard's frontier."""
    return shard_folder(folder, shard) / "frontier"


def list_shards(folder: Path) -> list[int]:
    """Return the numbers of the shards that have a folder, in order."""
    return sorted(int(path.name) for path in (folder / _SHARDS).glob("*") if path.name.isdecimal() and path.is_dir())


def load_domains(folder: Path, shards: int) -> Domains:
    """Load the map from hosts to shards, with the crawl's own suffix list."""
    return _make_domains((folder / SUFFIXES).read_bytes(), shards)


@lru_cache(maxsize=2)
def _make_domains(suffix_list: bytes, shards: int) -> Domains:
    """Cache the map: reading a list takes a tenth of a second, and every explanation of a URL needs it."""
    return Domains(suffix_list, shards)


def read_seeds(folder: Path) -> list[str]:
    """Return the seeds of the crawl, in the order in which they were added."""
    path = folder / SEEDS
    try:
        seeds = list(dict.fromkeys(_read_text(path).split()))
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 at byte {error.start}; {advise_doctor(folder)}") from error
    if wrong := next((seed for seed in seeds if not is_seed(seed)), None):
        raise UsageError(
            f"{path}: {wrong} is not a URL in normal form; give new seeds to `rdfspider crawl`, or remove this one, "
            f"as `rdfspider doctor --dir {folder}` does"
        )
    return seeds


def read_first_seed(folder: Path) -> str:
    """Return the first seed, without reading the others, which may be millions; empty if there is none."""
    try:
        with (folder / SEEDS).open(encoding="utf-8", errors="replace") as lines:
            first = next(iter(lines.readline().split()), "")
            return first if is_seed(first) else ""
    except OSError:
        return ""


def add_seeds(folder: Path, seeds: Iterable[str]) -> int:
    """Add seeds that are new; return how many were."""
    known = dict.fromkeys(read_seeds(folder))
    new = [seed for seed in dict.fromkeys(seeds) if seed not in known]
    if new:
        write_atomically(folder / SEEDS, "".join(f"{seed}\n" for seed in (*known, *new)).encode())
    return len(new)


@contextmanager
def hold_folder(folder: Path, user: str = "crawl") -> Iterator[None]:
    """Hold the folder's lock, for a crawl or an import; InUseError if another process holds it."""
    lock = ExitStack()
    try:
        lock.enter_context(hold_lock(folder / _LOCK, user))
    except HeldError as error:
        raise InUseError(f"{folder} is in use: {_describe_holder(str(error))}") from None
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written to ({error.strerror}): make it writable, or work on a copy of it"
        ) from error
    with lock:
        yield


def is_in_use(folder: Path) -> bool:
    """Whether a process holds the folder's lock."""
    return find_holder(folder / _LOCK) is not None


def check_import(folder: Path) -> None:
    """Raise InUseError if an import runs in the folder: it takes no commands."""
    holder = find_holder(folder / _LOCK)
    if holder is not None and holder.startswith(IMPORT):
        raise InUseError(f"{folder} is in use: {_describe_holder(holder)}")


def _describe_holder(holder: str) -> str:
    user, _, pid = holder.partition(" ")
    if user == "doctor":
        return f"it is being mended (process {pid}); wait for that"
    if user in ("backup", "restore"):
        return f"a {user} runs there (process {pid}); wait for it"
    if user == IMPORT:
        return f"an import runs there (process {pid}); wait for it, or end it with Ctrl-C"
    return f"a crawl runs there (process {pid or 'unknown'})"


def check_fixed(folder: Path, fixed: Any) -> None:
    """Raise UsageError if what is fixed in crawl.toml is not so."""
    version = fixed.get("version") if isinstance(fixed, dict) else None
    if version != VERSION:
        raise UsageError(
            f"{folder} was made by another version of rdfspider: its layout is {version!r}, this one reads {VERSION}"
        )
    shards = fixed.get("shards")
    made = len(list_shards(folder))
    if shards != made or isinstance(shards, bool):
        raise UsageError(f"{folder / FILE}: fixed.shards {shards}: not allowed; the crawl was created with {made}")
    if fixed.get("hash") != _HASH:
        raise UsageError(f"{folder / FILE}: fixed.hash {fixed.get('hash')}: not allowed; it may be {_HASH}")
    suffixes = folder / SUFFIXES
    if not suffixes.is_file() or hashlib.sha256(suffixes.read_bytes()).hexdigest() != fixed.get("suffixes"):
        raise UsageError(
            f"{suffixes} is not the list that the crawl was created with; hosts would change their shard; {advise_doctor(folder)}"
        )


def _make_identity() -> str:
    return secrets.token_hex(8)


def _read_text(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""


def make_change(folder: Path, config: Config, command: Command) -> tuple[int, Config]:
    """Make a change to the folder; return how many seeds or filters changed, and the new settings."""
    if command.command == CommandName.ADD_SEEDS:
        return add_seeds(folder, collect_seeds(command.seeds, None, config.fetch)), config
    change = _add_filters if command.command == CommandName.ADD_FILTERS else _remove_filters
    filters = {kind: change(config.crawl, kind, getattr(command, kind)) for kind in _FILTERS}
    before = sum(len(getattr(config.crawl, kind)) for kind in _FILTERS)
    asked = {f"crawl.{kind}": Asked(list(patterns), f"--{kind}") for kind, patterns in filters.items()}
    change_settings(folder, asked)
    count = abs(sum(map(len, filters.values())) - before)
    crawl = replace(config.crawl, include=filters["include"], exclude=filters["exclude"])
    return count, replace(config, crawl=crawl)


def check_patterns(kind: str, patterns: Iterable[str]) -> tuple[str, ...]:
    """Return the patterns of filters in their stored form; a UsageError says what is wrong with one."""
    checked = ask_flags({f"crawl.{kind}": Asked(list(patterns), f"--{kind}")})[f"crawl.{kind}"].value
    return tuple(checked) if isinstance(checked, list) else ()


def _add_filters(config: CrawlConfig, kind: str, patterns: Iterable[str]) -> tuple[str, ...]:
    # Each may be valid, but all of them together too many or too slow.
    return check_patterns(kind, dict.fromkeys((*getattr(config, kind), *patterns)))


def _remove_filters(config: CrawlConfig, kind: str, patterns: Iterable[str]) -> tuple[str, ...]:
    known: tuple[str, ...] = getattr(config, kind)
    removed = set(patterns)
    if unknown := [pattern for pattern in patterns if pattern not in known]:
        raise UsageError(f"--{kind} {unknown[0]}: there is no such filter; `rdfspider filter list` shows all")
    return tuple(pattern for pattern in known if pattern not in removed)
