"""Settings as TOML text: tables of simple values enter, text leaves; a value can be changed without losing a comment."""

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from rdfspider.run.folder.bounds import Plain


def write_tables(tables: Mapping[str, Mapping[str, Plain]]) -> str:
    """One table a section, empty ones left out."""
    return "\n".join(
        f"[{section}]\n" + "".join(f"{_write_pair(field, value)}\n" for field, value in table.items())
        for section, table in tables.items()
        if table
    )


def change_value(text: str, section: str, field: str, value: Plain) -> str:
    """The text with one value set; all else stays as a person wrote it, wherever the file is laid out as usual."""
    wanted: dict[str, Any] = tomllib.loads(text)
    wanted.setdefault(section, {})[field] = value
    changed = _change_line(text.splitlines(), section, field, _write_pair(field, value))
    try:
        if tomllib.loads(changed) == wanted:
            return changed
    except tomllib.TOMLDecodeError:
        pass
    # Dotted names and inline tables are rare; such a file is written anew.
    return write_tables(wanted)


def _change_line(lines: list[str], section: str, field: str, pair: str) -> str:
    headers = [number for number, line in enumerate(lines) if line.lstrip().startswith("[")]
    start = next((number for number in headers if lines[number].split("#")[0].strip() == f"[{section}]"), None)
    if start is None:
        return "\n".join([*lines, "", f"[{section}]", pair, ""])
    end = next((number for number in headers if number > start), len(lines))
    for number in range(start + 1, end):
        if lines[number].partition("=")[0].strip() == field:
            return "\n".join([*lines[:number], pair, *lines[_find_end(lines, number) :], ""])
    last = max(number for number in range(start, end) if lines[number].strip())
    return "\n".join([*lines[: last + 1], pair, *lines[last + 1 :], ""])


def _find_end(lines: list[str], start: int) -> int:
    """The line after a value, which may be a list over several lines."""
    for end in range(start + 1, len(lines) + 1):
        try:
            tomllib.loads("\n".join(lines[start:end]))
        except tomllib.TOMLDecodeError:
            continue
        return end
    return start + 1


def _write_pair(field: str, value: Plain) -> str:
    return f"{field} = {_write_value(value)}"


def _write_value(value: Plain) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_write_value(entry) for entry in value)}]"
    if isinstance(value, str):
        # JSON's escapes are TOML's too; of the control characters JSON leaves DEL alone.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
