"""Transforms, the user's own code for any content: the bytes of a page enter, the RDF that the code makes of them
leaves.

A transform is chosen by media type. A function is called as `function(body: bytes, url: str, media_type: str)` and
returns RDF as text or bytes; a command gets the bytes on its input, the rest as RDFSPIDER_URL and RDFSPIDER_MEDIA_TYPE
in its environment, and writes RDF to its output. Both run in other processes, within limits of time and memory.
"""

import shutil
import tomllib
from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rdfspider.config import ExtractConfig, Transform
from rdfspider.errors import UsageError
from rdfspider.extract.installed_transforms import FUNCTION, MEDIA_TYPE
from rdfspider.extract.statements import Statements
from rdfspider.extract.untrusted import (
    RESULT_TYPES,
    Output,
    UntrustedLimits,
    UntrustedRefusal,
    run_command,
    run_function,
    take_answer,
)
from rdfspider.records import Content, Page

_KEYS = frozenset({"media_type", "command", "function", "result_type"})


def load_transforms(path: Path) -> tuple[Transform, ...]:
    """The transforms of a TOML file, one table each, in the order of the file; UsageError where one cannot be used."""
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path} is not TOML: {error}") from error
    transforms = []
    for name, table in tables.items():
        try:
            transforms.append(_read_table(name, table, path.parent.resolve()))
        except ValueError as error:
            raise UsageError(f"{path}, [{name}]: {error}") from error
    return tuple(transforms)


def find_transform(media_type: str, transforms: Iterable[Transform]) -> Transform | None:
    """The first transform for this media type."""
    return next((found for found in transforms if fnmatchcase(media_type.lower(), found.media_type)), None)


def extract_by_transform(page: Page, content: Content, out: Statements) -> None:
    """Run the user's transform for the page's media type, if there is one."""
    transform = find_transform(content.media_type, out.config.transforms)
    if transform is None:
        return
    given = (page.body[: out.config.max_body_bytes], page.url, content.media_type, UntrustedLimits.of(out.config))
    answer = (
        run_command(transform.command, transform.folder, *given)
        if transform.command
        else run_function(transform.function, transform.folder, *given)
    )
    if isinstance(answer, Output):
        answer = replace(answer, media_type=transform.result_type)
    take_answer(answer, transform.name, out)


def _read_table(name: str, table: Any, folder: Path) -> Transform:
    """One transform as the file describes it; ValueError says what is wrong."""
    if not isinstance(table, dict):
        raise ValueError("a transform is a table: [name], then media_type = … and command = … or function = …")
    if unknown := sorted(table.keys() - _KEYS):
        raise ValueError(f"{unknown[0]} is not known here; known are {', '.join(sorted(_KEYS))}")
    media_type, result_type = table.get("media_type"), table.get("result_type", "text/turtle")
    if not isinstance(media_type, str) or not MEDIA_TYPE.fullmatch(media_type):
        raise ValueError('media_type must be like "text/csv" or "image/*"')
    if result_type not in RESULT_TYPES:
        raise ValueError(f"result_type must be one of {', '.join(sorted(RESULT_TYPES))}")
    if ("command" in table) == ("function" in table):
        raise ValueError("give either a command or a function")
    command = _read_command(table["command"], folder) if "command" in table else ()
    function = _read_function(table["function"], folder) if "function" in table else ""
    return Transform(name, media_type.lower(), command, function, result_type, str(folder))


def _read_command(command: Any, folder: Path) -> tuple[str, ...]:
    if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
        raise ValueError('command must be a list of words, like ["exiftool", "-"]')
    program = command[0]
    if shutil.which(str(folder / program) if "/" in program else program) is None:
        raise ValueError(f"there is no program {program!r}")
    return tuple(command)


def _read_function(function: Any, folder: Path) -> str:
    if not isinstance(function, str) or not FUNCTION.fullmatch(function):
        raise ValueError('function must be like "package.module:function"')
    answer = run_function(function, str(folder), None, "", "", UntrustedLimits.of(ExtractConfig()))
    if isinstance(answer, UntrustedRefusal):
        raise ValueError(f"function {function} cannot be used: {answer.message}")
    return function
