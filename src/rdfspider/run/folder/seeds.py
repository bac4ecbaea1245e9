"""Seeds as people write them: addresses and files of them enter, normal URLs leave, or one line that says what is wrong."""

import re
import sys
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from ipaddress import ip_address
from pathlib import Path

from rdfspider.config import FetchConfig
from rdfspider.errors import UsageError
from rdfspider.fetch.addresses import is_refused
from rdfspider.urls import host_of, normalise_url

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(?!\d)")
_COMMENT = re.compile(r"(?:^|\s)#.*")


def read_seeds(arguments: Iterable[str], file: Path | None, config: FetchConfig) -> list[str]:
    """The URLs that were named one by one and those of a file (`-` is stdin), each once, in order."""
    named = ((argument, f"{argument}: ") for argument in arguments)
    found: dict[str, None] = {}
    for text, where in (*named, *(_read_lines(file) if file else ())):
        url = normalise_seed(text)
        if url is None:
            hint = "; to read seeds from it, write --seeds" if _is_file(text) else ""
            raise UsageError(f"{where if text else 'a seed is empty: '}not an http or https URL{hint}")
        if not config.allow_private and _is_private(url, config.resolve):
            raise UsageError(f"{where}the seed is on a private network; to crawl there, add --allow-private")
        found[url] = None
    return list(found)


def normalise_seed(text: str) -> str | None:
    """The normal URL of a seed; without a scheme it is https. None where it is no address of the web."""
    text = text.strip()
    if text.startswith("//"):
        text = f"https:{text}"
    elif not _SCHEME.match(text):
        # A file that was meant as --seeds is not a host; a folder may well be named like one.
        text = "" if _is_file(text) else f"https://{text}"
    return normalise_url(text)


def _read_lines(file: Path) -> Iterator[tuple[str, str]]:
    """The lines of a file that say something, each with the place to complain about."""
    if str(file) == "-":
        name, body = "stdin", sys.stdin.buffer.read() if sys.stdin else b""
    else:
        try:
            name, body = str(file), file.read_bytes()
        except OSError as error:
            raise UsageError(f"--seeds {file}: cannot be read: {error.strerror}") from error
    try:
        lines = body.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise UsageError(f"--seeds {file}: not UTF-8 at byte {error.start}") from error
    for number, line in enumerate(lines, 1):
        if text := _COMMENT.sub("", line).strip():
            yield text, f"{name}, line {number}: {text}: "


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:
        # No file has a name as long as that.
        return False


def _is_private(url: str, resolve: tuple[str, ...]) -> bool:
    """Whether the address itself says so; names are judged when they are looked up."""
    host = host_of(url).strip("[]")
    # Addresses that were given by hand are meant.
    if any(fnmatchcase(host, entry.partition("=")[0].strip().strip("[]").rstrip(".").lower()) for entry in resolve):
        return False
    try:
        ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return is_refused(host)
