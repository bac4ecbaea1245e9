"""The allowed values of each setting: a value as a user wrote it enters, one that can be used and stored leaves.

Users write text (flags, the environment) or TOML's types (`crawl.toml`); both may use `10m` for seconds and `16MB` for bytes.
An invalid value raises a ValueError that says what is allowed; `crawl/settings.py` adds where the value came from.
"""

import ipaddress
import math
import re
from collections.abc import Iterable
from dataclasses import fields
from enum import StrEnum
from typing import NamedTuple, get_type_hints

from rdfspider.config import OPTIONAL_WAYS, Config
from rdfspider.errors import UsageError

Plain = bool | int | float | str | list[str]
"""The type of a setting in a file: TOML's simple types, and lists of text."""


class SettingKind(StrEnum):
    """The kinds of settings, which decide how a value is read."""

    SWITCH = "switch"
    COUNT = "count"
    SIZE = "size"
    """In bytes."""
    DURATION = "duration"
    """In seconds."""
    NUMBER = "number"
    TEXT = "text"
    LIST = "list"
    SYNTAXES = "syntaxes"
    FOLDER = "folder"
    FOLDERS = "folders"
    FILE = "file"


class Setting(NamedTuple):
    """One field of a section of Config."""

    name: str
    """`section.field`"""
    kind: SettingKind
    default: object


class EntryError(ValueError):
    """One entry of a list is invalid; the message says what is allowed."""

    def __init__(self, entry: str, allowed: str) -> None:
        super().__init__(allowed)
        self.entry = entry


CHOICES = {
    "crawl.scope": ("host", "domain", "prefix", "any"),
    "archive.keep": ("structured", "all", "none"),
}
"""Settings with a fixed set of values."""

BACKUP_PLACES = (
    "the path of a folder, or a URL such as s3://bucket/path, gs://bucket/path or az://container/path, without credentials, "
    "which come from the environment"
)
"""What a place for backups may be."""

_PATHS = {
    "extract.documents": SettingKind.FOLDER,
    "extract.stylesheets": SettingKind.FOLDER,
    "extract.transforms": SettingKind.FILE,
    "archive.volumes": SettingKind.FOLDERS,
}
BOUNDS: dict[str, tuple[float, float]] = {
    "crawl.shards": (0, 4096),
    "frontier.give_up_errors": (1, 1_000),
    "frontier.attempts": (1, 1_000),
    "fetch.connections": (1, 10_000),
    "fetch.connect_timeout_s": (0.001, 3_600),
    "fetch.first_byte_timeout_s": (0.001, 3_600),
    "fetch.timeout_s": (0.001, 86_400),
    "fetch.max_body_bytes": (1, 2_000_000_000),
    "fetch.max_flight_bytes": (1, 1_000_000_000_000),
    "fetch.robots_ttl_s": (1, 86_400),
    "archive.segment_bytes": (1_000, 1_000_000_000_000),
    "index.max_lag_s": (1, 86_400),
    "backup.every_s": (0.1, 86_400),
    "backup.cpu_share": (0, 64),
    "run.group_pages": (1, 32),
    "run.extract_timeout_s": (0.1, 3_600),
    "run.lease_s": (3, 3_600),
    "extract.max_body_bytes": (1, 2_000_000_000),
    "extract.max_depth": (1, 1_000),
    "extract.transform_seconds": (0.1, 3_600),
}
"""Bounds other than "0 or more". The upper ones prevent a typing error from using up all memory, processes or sockets."""

# 31 years in seconds, and a petabyte: more must be a mistake.
_MOST = {SettingKind.DURATION: 1e9, SettingKind.NUMBER: 1e6, SettingKind.COUNT: 1e15, SettingKind.SIZE: 1e15}
_KINDS: dict[object, SettingKind] = {
    bool: SettingKind.SWITCH,
    int: SettingKind.COUNT,
    float: SettingKind.NUMBER,
    str: SettingKind.TEXT,
}
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhdw]?)")
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(?:([kmgt])(i?))?b?", re.IGNORECASE)
_CONTACT = re.compile(r"https?://[^\s()<>]+|(?:mailto:)?[^\s()<>@]+@[^\s()<>@]+")
# Of a network interface; what has other letters is an address.
_INTERFACE = re.compile(r"[A-Za-z][0-9A-Za-z.-]*")
_BACKUP_URL = re.compile(r"(?:s3|gs|az)://[^/@?#\s]+(?:/[^?#]*)?")
_SWITCH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def list_settings() -> dict[str, Setting]:
    """List every setting by its name, in the order of Config."""
    found = {}
    for section, section_type in get_type_hints(Config).items():
        defaults = section_type()
        hints = get_type_hints(section_type)
        for field in fields(section_type):
            name = f"{section}.{field.name}"
            found[name] = Setting(name, _find_kind(name, hints[field.name]), getattr(defaults, field.name))
    return found


def read_value(setting: Setting, value: object) -> Plain:
    """Convert a value to the form that is used and stored; a ValueError says what is allowed."""
    if setting.kind in _MOST:
        return _read_number(setting, value)
    if setting.kind == SettingKind.SWITCH:
        chosen = _SWITCH.get(value.lower()) if isinstance(value, str) else value
        if not isinstance(chosen, bool):
            raise ValueError("true or false")
        return chosen
    if setting.kind in (SettingKind.LIST, SettingKind.SYNTAXES, SettingKind.FOLDERS):
        return _read_list(setting, value)
    return _read_text(setting, value)


def describe_allowed(setting: Setting) -> str:
    """Describe the allowed values of a setting in a few words."""
    if setting.name == "fetch.contact":
        return "a URL or an e-mail address, such as https://example.org/bot or you@example.org"
    if setting.name == "backup.url":
        return BACKUP_PLACES
    if setting.name == "run.address":
        return "one address of this machine, such as 127.0.0.1 or ::1"
    if setting.name in CHOICES:
        return f"one of {', '.join(CHOICES[setting.name])}"
    if setting.kind not in _MOST:
        return {
            SettingKind.SWITCH: "true or false",
            SettingKind.FOLDER: "the path of a folder",
            SettingKind.FOLDERS: "a list of folders, each of them once",
            SettingKind.FILE: "the path of a file",
            SettingKind.TEXT: "text",
        }.get(setting.kind, "a list of text")
    low, high = _find_bounds(setting)
    bounds = f"from {low:,.15g} to {high:,.15g}" if setting.name in BOUNDS else f"of {low:g} or more"
    what, example = {
        SettingKind.COUNT: ("a whole number", ""),
        SettingKind.SIZE: ("a number of bytes", ", such as 500000 or 16MB"),
        SettingKind.DURATION: ("a number of seconds", ", such as 90, 10m or 2h"),
        SettingKind.NUMBER: ("a number", ""),
    }[setting.kind]
    return f"{what} {bounds}{example}"


def _find_kind(name: str, hint: object) -> SettingKind:
    field = name.partition(".")[2]
    if name in _PATHS:
        return _PATHS[name]
    if name == "extract.syntaxes":
        return SettingKind.SYNTAXES
    if field.endswith(("_s", "_seconds")) and hint is float:
        return SettingKind.DURATION
    if field.endswith(("bytes", "bytes_s")):
        return SettingKind.SIZE
    return _KINDS.get(hint, SettingKind.LIST)


def _find_bounds(setting: Setting) -> tuple[float, float]:
    return BOUNDS.get(setting.name, (0, _MOST[setting.kind]))


def _read_number(setting: Setting, value: object) -> int | float:
    allowed = describe_allowed(setting)
    number = _read_units(setting.kind, value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise ValueError(allowed)
    low, high = _find_bounds(setting)
    if not low <= number <= high:
        raise ValueError(allowed)
    if setting.kind in (SettingKind.COUNT, SettingKind.SIZE):
        if number != int(number):
            raise ValueError(allowed)
        return int(number)
    return float(number)


def _read_units(kind: SettingKind, text: str) -> float | None:
    """Read a number with units; None if the text is no number."""
    text = text.strip()
    if kind == SettingKind.DURATION and _DURATION.match(text):
        parts = _DURATION.findall(text)
        is_whole = "".join(number + unit for number, unit in parts) == text
        # Without its unit, the 30 of 1h30 could be minutes or seconds.
        if is_whole and (len(parts) == 1 or all(unit for _, unit in parts)):
            return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if kind == SettingKind.SIZE and (size := _SIZE.fullmatch(text)):
        power = " kmgt".index((size[2] or " ").lower())
        return float(size[1]) * float((1024 if size[3] else 1000) ** power)
    try:
        return int(text) if kind == SettingKind.COUNT else float(text)
    except ValueError:
        return None


def _read_text(setting: Setting, value: object) -> str:
    allowed = describe_allowed(setting)
    if not isinstance(value, str) or not _is_storable(value):
        raise ValueError(allowed)
    if setting.name in CHOICES and value not in CHOICES[setting.name]:
        raise ValueError(allowed)
    if setting.name == "backup.url" and "://" in value and not _BACKUP_URL.fullmatch(value):
        raise ValueError(allowed)
    if setting.name == "fetch.contact" and value and not _CONTACT.fullmatch(value):
        raise ValueError(allowed)
    if setting.name == "run.address" and not _is_address(value):
        raise ValueError(allowed)
    return value


def _read_list(setting: Setting, value: object) -> list[str]:
    if setting.name == "crawl.data_links":
        value = _read_query(value)
    if isinstance(value, str):
        value = value.replace(",", " ").split() if setting.kind == SettingKind.SYNTAXES else value.split()
    if not isinstance(value, Iterable):
        raise ValueError(describe_allowed(setting))
    found = list(value)
    if not all(isinstance(entry, str) and _is_storable(entry) for entry in found):
        raise ValueError(describe_allowed(setting))
    # Empty entries are dropped, so that a flag with an empty value can clear a list in crawl.toml.
    entries = [entry for entry in found if entry]
    if setting.kind == SettingKind.SYNTAXES and entries:
        # Imported here, because it imports all of extraction.
        from rdfspider.pipeline import check_syntaxes

        try:
            check_syntaxes(entries)
        except UsageError as error:
            raise ValueError(str(error).partition("; ")[2].replace("known are", "some of")) from error
        return sorted(set(entries))
    if setting.name in ("crawl.include", "crawl.exclude"):
        _check_patterns(entries)
    if setting.name == "crawl.ways" and (unknown := [entry for entry in entries if entry not in OPTIONAL_WAYS]):
        raise EntryError(unknown[0], f"some of {', '.join(OPTIONAL_WAYS)}")
    if setting.name == "crawl.data_links":
        _check_data_links(entries)
    if setting.name == "fetch.resolve":
        _check_addresses(entries)
    if setting.name == "run.places":
        _check_places(entries)
    if setting.kind == SettingKind.FOLDERS and (twice := [entry for entry in entries if entries.count(entry) > 1]):
        raise EntryError(twice[0], describe_allowed(setting))
    return entries


def _check_patterns(patterns: list[str]) -> None:
    # Imported here, because its library is only needed for filters.
    from rdfspider.discover.filters import find_fault

    if fault := find_fault(patterns):
        pattern, complaint = fault
        raise EntryError(
            pattern,
            "a regular expression of RE2, which has no lookaround and no backreferences; what is wrong with this one: "
            f"{complaint}",
        )


def _read_query(value: object) -> object:
    """If data links are a query, return a list with it, on one line; else the value unchanged."""
    from rdfspider.discover.data_links import find_query, flatten_query

    texts = [value] if isinstance(value, str) else value
    is_query = isinstance(texts, list | tuple) and all(isinstance(text, str) for text in texts) and find_query(texts)
    return [flatten_query(is_query)] if is_query else value


def _check_data_links(entries: list[str]) -> None:
    # Imported here, because their libraries are only needed for crawling.
    from rdfspider.discover.data_links import check_query, find_query
    from rdfspider.urls import is_valid_iri

    if query := find_query(entries):
        try:
            check_query(query)
        except ValueError as error:
            raise EntryError(query, f"one SPARQL query, a SELECT; what is wrong with this one: {error}") from error
        return
    for entry in entries:
        if not is_valid_iri(entry):
            raise EntryError(entry, "IRIs of predicates, such as http://schema.org/url, or one SPARQL query (SELECT)")


def _check_addresses(entries: list[str]) -> None:
    # Imported here, because the resolver's library is only needed for crawling.
    from rdfspider.fetch.dns import read_static_entry

    for entry in entries:
        try:
            read_static_entry(entry)
        except UsageError as error:
            raise EntryError(entry, "PATTERN=ADDRESS[:PORT], such as *.test=127.0.0.1:8085") from error


def _check_places(entries: list[str]) -> None:
    for entry in entries:
        address, _, folder = entry.partition("=")
        if not folder.startswith("/") or not _is_address(address):
            raise EntryError(entry, "ADDRESS=FOLDER with a whole path, such as 127.0.0.2=/disk1/crawl")


def _is_address(text: str) -> bool:
    """Whether others can be told this address as where to connect to: one that stands for all of a machine would be their own."""
    try:
        return not ipaddress.ip_address(re.sub(r"^\[(.*:.*)\]$", r"\1", text)).is_unspecified
    except ValueError:
        return _INTERFACE.fullmatch(text) is not None


def _is_storable(text: str) -> bool:
    """Whether the text is one line of Unicode; invalid bytes of the command line arrive as lone surrogates."""
    return text.isprintable() or (not any(ord(character) < 32 for character in text) and _is_unicode(text))


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
