"""`crawl.toml` ⇄ Config, with the precedence defaults < crawl.toml < environment < flags.

Settings enter as users wrote them, each with its name for error messages; a Config that was checked as a whole leaves. The file
contains only the settings that were given, so that new defaults apply to old crawls.
"""

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeGuard

from rdfspider.config import Config
from rdfspider.crawl.bounds import EntryError, Plain, Setting, SettingKind, list_settings, read_value
from rdfspider.errors import UsageError
from rdfspider.extract.installed_transforms import installed_transforms
from rdfspider.linked_documents import FolderDocuments

SETTINGS = list_settings()
"""All settings by name, `section.field`."""
FILE = "crawl.toml"
FIXED = "fixed"
"""The table of values that never change; `crawl/folder.py` reads it."""
_PREFIX = "RDFSPIDER_"
_SECTIONS = tuple(field.name for field in fields(Config))
_HEADING = """\
# What this crawl was asked to do. Flags of the command line are added here; what is not here has its default.
# Change it while the crawl does not run, except what is fixed: it decides which shard a host belongs to.

"""


@dataclass(frozen=True, slots=True)
class Asked:
    """A setting as a user wrote it."""

    value: object
    where: str
    """Its name in error messages: --scope, RDFSPIDER_CRAWL_SCOPE, mycrawl/crawl.toml: crawl.scope."""


def load_config(
    folder: Path, flags: Mapping[str, object] | None = None, environ: Mapping[str, str] = os.environ
) -> Config:
    """Load all settings of the crawl in a folder, which may be new; `flags` are by setting, with values plain or Asked."""
    file = read_file(folder)
    asked = _ask_file(folder, file) | _ask_environment(environ) | ask_flags(flags or {})
    config = _build_config(asked, folder)
    return replace(config, crawl=replace(config.crawl, shards=_decide_shards(asked, file.get(FIXED), config)))


def load_flags(flags: Mapping[str, object], environ: Mapping[str, str] = os.environ) -> Config:
    """Load the settings for work outside of any crawl: those of the environment, and flags."""
    return _build_config(_ask_environment(environ) | ask_flags(flags), Path())


def ask_flags(flags: Mapping[str, object]) -> dict[str, Asked]:
    """Check flags, and return them by the full names of their settings; paths become absolute, because they are stored."""
    found = {}
    for name, value in flags.items():
        asked = value if isinstance(value, Asked) else Asked(value, name)
        setting = SETTINGS[find_name(name)]
        plain = _check(setting, asked)
        is_path = setting.kind in (SettingKind.FOLDER, SettingKind.FILE)
        if plain and (is_path or (setting.name == "backup.url" and "://" not in str(plain))):
            plain = str(Path(str(plain)).absolute())
        elif setting.kind == SettingKind.FOLDERS and isinstance(plain, list):
            plain = [str(Path(entry).absolute()) for entry in plain]
        found[setting.name] = Asked(plain, asked.where)
    return found


def ask_config(config: Config) -> dict[str, Asked]:
    """Return the settings of a Config from the Python API that differ from the defaults, in a form that can be stored."""
    found = {}
    for setting in SETTINGS.values():
        section, _, field = setting.name.partition(".")
        value = getattr(getattr(config, section), field)
        if value == setting.default:
            continue
        if isinstance(value, FolderDocuments):
            value = str(value.folder.absolute())
        elif setting.kind == SettingKind.FOLDERS:
            value = [str(Path(entry).absolute()) for entry in value]
        elif setting.kind in (SettingKind.FOLDER, SettingKind.FILE):
            raise UsageError(
                f"{setting.name}: a crawl must find it again, so give the path of its {setting.kind}: "
                f"Crawl.create(…, {field}=PATH)"
            )
        found[setting.name] = Asked(value, setting.name)
    return found


def find_name(name: str) -> str:
    """Find the full name of a setting, from `crawl.pages`, `crawl_pages` or, if only one section has it, `pages`."""
    matching = [
        full for full in SETTINGS if name in (full, full.replace(".", "_", 1)) or name == full.partition(".")[2]
    ]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise UsageError(f"{name}: two settings have that name: {' and '.join(matching)}")
    known = (*SETTINGS, *(full.partition(".")[2] for full in SETTINGS))
    raise UsageError(f"{name}: there is no such setting{_suggest(name, known)}")


def read_file(folder: Path) -> dict[str, Any]:
    """Read the tables of the folder's crawl.toml; none if there is no such file."""
    path = folder / FILE
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(
            f"{path} is not TOML: {error}; correct it, or let `rdfspider doctor --dir {folder}` make it again from what is left"
        ) from error


def write_settings(text: str, fixed: Mapping[str, Plain] | None, asked: Mapping[str, Asked]) -> str:
    """Return the text of a crawl.toml with new settings, and the rest as the user wrote it; `fixed` is for a new crawl."""
    # Imported here, because few commands change a setting.
    import tomlkit

    document = tomlkit.parse(text if text.strip() else _HEADING)
    if fixed:
        document[FIXED] = dict(fixed)
    for name, one in asked.items():
        section, _, field = name.partition(".")
        value = _check(SETTINGS[name], one)
        if name != "crawl.shards" and document.get(section, {}).get(field, _default(name)) != value:
            document.setdefault(section, tomlkit.table())[field] = value
    return tomlkit.dumps(document)


def count_cores() -> int:
    """Count the cores that this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _ask_file(folder: Path, tables: Mapping[str, Any]) -> dict[str, Asked]:
    path = folder / FILE
    found = {}
    for section, table in tables.items():
        if section == FIXED:
            continue
        if section not in _SECTIONS:
            raise UsageError(f"{path}: there is no section [{section}]; there are {', '.join(_SECTIONS)}")
        if not isinstance(table, dict):
            raise UsageError(f"{path}: [{section}] is a section and must hold settings, not a value of its own")
        for field, value in table.items():
            name = f"{section}.{field}"
            if name not in SETTINGS:
                raise UsageError(f"{path}: there is no setting {name}{_suggest(name, SETTINGS)}")
            found[name] = Asked(value, f"{path}: {name}")
    return found


def _ask_environment(environ: Mapping[str, str]) -> dict[str, Asked]:
    """Read settings from the environment; an unknown name with our prefix is refused, since a typing error would go unnoticed."""
    names = {_PREFIX + name.replace(".", "_", 1).upper(): name for name in SETTINGS}
    found = {}
    for variable, value in environ.items():
        if variable in names:
            found[names[variable]] = Asked(value, variable)
        elif variable.startswith(tuple(f"{_PREFIX}{section.upper()}_" for section in _SECTIONS)):
            raise UsageError(f"{variable}: there is no such setting{_suggest(variable, names)}")
    return found


def _check(setting: Setting, asked: Asked) -> Plain:
    try:
        return read_value(setting, asked.value)
    except ValueError as error:
        value = error.entry if isinstance(error, EntryError) else asked.value
        raise UsageError(f"{asked.where} {_show_value(value)}: not allowed; it may be {error}") from error


def _show_value(value: object) -> str:
    """Show a value as written, or as a Python literal if it is blank or not printable."""
    shown = " ".join(value) if _is_texts(value) else str(value)
    return shown if shown.strip() and shown.isprintable() else repr(shown)


def _is_texts(value: object) -> TypeGuard[list[str] | tuple[str, ...]]:
    return isinstance(value, list | tuple) and all(isinstance(entry, str) for entry in value)


def _build_config(asked: Mapping[str, Asked], folder: Path) -> Config:
    sections: dict[str, dict[str, object]] = {section: {} for section in _SECTIONS}
    sections["extract"]["transforms"] = installed_transforms()
    for name, one in asked.items():
        section, _, field = name.partition(".")
        sections[section][field] = _convert(SETTINGS[name], _check(SETTINGS[name], one), one.where, folder)
    defaults = Config()
    config = replace(
        defaults, **{section: replace(getattr(defaults, section), **values) for section, values in sections.items()}
    )
    _check_pair(asked, config, "frontier.backoff_s", "frontier.max_backoff_s")
    _check_pair(asked, config, "fetch.max_body_bytes", "fetch.max_flight_bytes")
    return config


def _convert(setting: Setting, value: Plain, where: str, folder: Path) -> object:
    """Convert a value for Config: lists to tuples, paths to the content that they name."""
    if setting.kind == SettingKind.LIST:
        return tuple(value) if isinstance(value, list) else ()
    if setting.kind == SettingKind.FOLDERS:
        return tuple(str(folder.absolute() / entry) for entry in value) if isinstance(value, list) else ()
    if setting.kind == SettingKind.SYNTAXES:
        return frozenset(value) if isinstance(value, list) and value else None
    if setting.kind not in (SettingKind.FOLDER, SettingKind.FILE):
        return value
    # A path in crawl.toml is relative to the crawl's folder; those of flags are already absolute.
    path = folder.absolute() / str(value)
    if value and not (path.is_dir() if setting.kind == SettingKind.FOLDER else path.is_file()):
        raise UsageError(f"{where} {value}: there is no such {setting.kind}")
    if setting.name == "extract.documents":
        return FolderDocuments(path) if value else None
    # Imported here, because they import much of extraction.
    if setting.name == "extract.stylesheets":
        from rdfspider.extract.xslt import load_stylesheets

        return load_stylesheets(path) if value else ()
    from rdfspider.extract.transforms import load_transforms

    return (load_transforms(path) if value else ()) + installed_transforms()


def _check_pair(asked: Mapping[str, Asked], config: Config, low: str, high: str) -> None:
    """Check two settings of which one is the upper bound of the other."""
    least, most = (getattr(getattr(config, name.partition(".")[0]), name.partition(".")[2]) for name in (low, high))
    if least > most:
        one, other = (low, high) if low in asked else (high, low)
        shown = least if one == low else most
        raise UsageError(
            f"{asked[one].where} {shown:.15g}: not allowed; {low} may be at most {high}, and {other} is "
            f"{most if one == low else least:.15g}"
        )


def _decide_shards(asked: Mapping[str, Asked], fixed: Mapping[str, Any] | None, config: Config) -> int:
    wanted = config.crawl.shards
    if fixed is None:
        return wanted or count_cores()
    shards = int(fixed["shards"])
    if wanted not in (0, shards):
        raise UsageError(
            f"{asked['crawl.shards'].where} {wanted}: not allowed; the crawl was created with {shards}, "
            "and a host must keep its shard"
        )
    return shards


def _default(name: str) -> object:
    """Return a setting's default as in a file."""
    default = SETTINGS[name].default
    return list(default) if isinstance(default, tuple) else default


def _suggest(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""
