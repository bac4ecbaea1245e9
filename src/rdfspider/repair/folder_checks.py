"""Checks of what is in a crawl's folder beside shards and indexes: settings, suffix list, seeds, status and history."""

import hashlib
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rdfspider.config import Config
from rdfspider.crawl import history
from rdfspider.crawl.folder import SEEDS, SUFFIXES, check_fixed, list_shards, read_seeds, shard_folder
from rdfspider.crawl.messages import RunState
from rdfspider.crawl.settings import FILE, FIXED, load_config, read_file
from rdfspider.crawl.status import FILE as STATUS
from rdfspider.crawl.status import read_status
from rdfspider.domains import bundled_suffix_list
from rdfspider.errors import UsageError
from rdfspider.repair.findings import Finding


def load_settings(folder: Path) -> Config:
    """Load the settings of a crawl; the defaults if they cannot be read."""
    try:
        return load_config(folder)
    except (UsageError, LookupError, ValueError, TypeError):
        defaults = Config()
        return replace(defaults, crawl=replace(defaults.crawl, shards=len(list_shards(folder))))


def check_settings(folder: Path) -> Iterator[Finding]:
    """Check crawl.toml, and the list that decides which shard a host belongs to."""
    try:
        fixed = read_file(folder).get(FIXED)
        if not isinstance(fixed, dict):
            raise UsageError(f"{folder / FILE} does not say what is fixed")
        if fixed.get("suffixes") == hash_suffixes(folder):
            check_fixed(folder, fixed)
        load_config(folder)
    except (UsageError, LookupError, ValueError, TypeError) as error:
        yield Finding("settings", FILE, str(error))
    expected = read_suffix_hash(folder)
    if expected != hash_suffixes(folder):
        is_ours = expected in ("", hashlib.sha256(bundled_suffix_list()).hexdigest())
        message = "it is not the list that the crawl was created with"
        if not is_ours:
            message += "; put back a copy of it, or install the version of rdfspider that made the crawl"
        yield Finding("suffixes" if is_ours else "other-suffixes", SUFFIXES, message)


def check_seeds(folder: Path, has_seeds: bool) -> Iterator[Finding]:
    """Check the seeds; `has_seeds` tells whether the frontiers have any."""
    try:
        if not read_seeds(folder) and has_seeds:
            yield Finding("seeds", SEEDS, "it has none, but the frontier has")
    except (UsageError, OSError) as error:
        yield Finding("seeds", SEEDS, str(error))


def check_status(folder: Path) -> Iterator[Finding]:
    """Check whether status and history can be read."""
    status = read_status(folder)
    # If nothing was archived yet, a disk may have been full when it should have been written first.
    has_archive = any(any((shard_folder(folder, shard) / "warc").glob("*.warc.gz")) for shard in list_shards(folder))
    if status.state == RunState.UNKNOWN and (has_archive or (folder / STATUS).exists()):
        yield Finding("status", STATUS, status.reason)
    path = folder / history.FILE
    if path.exists() and not history.is_readable(folder):
        yield Finding("history", history.FILE, "it is not a history of ours")


def hash_suffixes(folder: Path) -> str:
    """Return the digest of the suffix list; empty if it cannot be read."""
    try:
        return hashlib.sha256((folder / SUFFIXES).read_bytes()).hexdigest()
    except OSError:
        return ""


def read_suffix_hash(folder: Path) -> str:
    """Return the digest that the suffix list should have, also from damaged settings; empty if they do not say."""
    for line in read_lines_left(folder / FILE):
        if line.startswith("suffixes"):
            return str(tomllib.loads(line).get("suffixes", ""))
    return ""


def read_lines_left(path: Path) -> list[str]:
    """Return the lines of a TOML file that can be read by themselves: section heads, comments and single settings."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return []
    found = []
    for line in lines:
        try:
            text = line.decode()
            tomllib.loads(text)
        except ValueError:
            # It may have been the head of a section, and then what follows belongs to none that is known.
            if b"=" not in line or line.lstrip().startswith(b"["):
                found.append("[lost]")
            continue
        found.append(text)
    return found
