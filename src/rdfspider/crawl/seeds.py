"""Seeds as users write them: addresses and files of addresses enter; URLs in normal form, or a one-line UsageError, leave."""

import re
import sys
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from ipaddress import ip_address
from pathlib import Path

from rdfspider.config import FetchConfig
from rdfspider.errors import UsageError
from rdfspider.fetch.targets import is_refused
from rdfspider.urls import MAX_HOST_CHARS, MAX_URL_CHARS, host_of, normalise_url

# An error message must fit into a line.
_MAX_SHOWN_CHARS = 100
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(?!\d)")
# A host of a private network may be called so, but a person who types it without a scheme usually means something else.
_WORD = re.compile(r"(?!localhost$)[A-Za-z_-]+", re.IGNORECASE)
_COMMENT = re.compile(r"(?:^|\s)#.*")


def collect_seeds(arguments: Iterable[str], file: Path | None, config: FetchConfig) -> list[str]:
    """Return the URLs of the arguments and of a file (`-` is stdin), each once, in order."""
    found: dict[str, None] = {}
    for text, where in (*_read_arguments(arguments), *(_read_lines(file) if file else ())):
        url = normalise_seed(text)
        if url is None:
            hint = "; to read seeds from it, write --seeds" if _is_file(text) else ""
            raise UsageError(f"{where if text else 'a seed is empty: '}not an http or https URL{hint}")
        if _WORD.fullmatch(text.strip()):
            raise UsageError(f"{where}a word, not a URL; if a host is called so, write https://{text.strip()}/")
        if len(url) > MAX_URL_CHARS:
            raise UsageError(f"{where}the seed has {len(url)} characters; it may have {MAX_URL_CHARS} at most")
        if len(host_of(url)) > MAX_HOST_CHARS:
            raise UsageError(
                f"{where}the host has {len(host_of(url))} characters; it may have {MAX_HOST_CHARS} at most"
            )
        if not config.allow_private and _is_private(url, config.resolve):
            raise UsageError(f"{where}the seed is on a private network; to crawl there, add --allow-private")
        found[url] = None
    return list(found)


def has_scheme(text: str) -> bool:
    """Whether an address as users write it has a scheme, such as http or https."""
    return bool(_SCHEME.match(text.strip()))


def normalise_seed(text: str) -> str | None:
    """Return a seed in normal form, with https if it has no scheme; None if it is no web address."""
    text = text.strip()
    if text.startswith("//"):
        text = f"https:{text}"
    elif not has_scheme(text):
        # An existing file was probably meant for --seeds; a folder may be named like a host.
        text = "" if _is_file(text) else f"https://{text}"
    return normalise_url(text)


def _read_arguments(arguments: object) -> Iterator[tuple[str, str]]:
    """Yield the seeds of a list, each with its prefix for error messages; the Python API may pass any object."""
    if not isinstance(arguments, Iterable) or isinstance(arguments, bytes):
        raise UsageError(f"seeds {_shorten(repr(arguments))}: not allowed; they may be a list of URLs")
    for argument in arguments:
        if not isinstance(argument, str):
            raise UsageError(f"the seed {_shorten(repr(argument))}: not allowed; it may be the text of a URL")
        yield argument, f"{_shorten(argument)}: "


def _read_lines(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the non-empty lines of a file without comments, each with its prefix for error messages."""
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
            yield text, f"{name}, line {number}: {_shorten(text)}: "


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}…"


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:
        # The text is too long for a file name.
        return False


def _is_private(url: str, resolve: tuple[str, ...]) -> bool:
    """Whether the URL has a private address or is localhost; other names are checked when they are looked up."""
    host = host_of(url).strip("[]")
    # Addresses in `fetch.resolve` are allowed.
    if any(fnmatchcase(host, entry.partition("=")[0].strip().strip("[]").rstrip(".").lower()) for entry in resolve):
        return False
    try:
        ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return is_refused(host)
