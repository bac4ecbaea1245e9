"""The sort keys of URLs: a URL enters, bytes leave, and back, exactly. In the order of keys the pages of a host, and the hosts
of a domain, are neighbours.

`https://www.example.org:8443/a?b` becomes `org,example,www)s:8443/a?b`: the labels of the host in reverse (an address is kept
as it is), `)`, `s` for https, the port, `@` and the user, and all that follows. A URL of any other form is kept behind `!`. No
key contains NUL, so that keys can be joined by it.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from rdfspider.urls import host_of

_HTTP = re.compile(
    r"http(s?)://(?:([^/?#@\0-\x1f]*)@)?([a-z0-9._\-]+|\[[0-9a-fA-F:.]+\])(:[0-9]+)?(/[^\0\x01]*)", re.ASCII | re.DOTALL
)
# Nearly all URLs: a host of names, and no port.
_USUAL = re.compile(r"http(s?)://([a-z0-9.\-]*[a-z])", re.ASCII)
_AUTHORITY = len("https://")
_NUMBERS = re.compile(r"(?:[^.]*\.)*[0-9]+")
_ODD = b"!"
_SLASH = ord("/")
END = b")"
"""What ends the host in a key."""


def make_key(url: str) -> bytes:
    """Return the sort key of a URL."""
    slash = url.find("/", _AUTHORITY)
    if slash > 0 and (start := _make_start(url[:slash])) and "\0" not in url and "\x01" not in url:
        return start + url[slash:].encode("utf-8", "surrogatepass")
    found = _HTTP.fullmatch(url)
    if found is None:
        odd = url.replace("\x01", "\x01\x02").replace("\0", "\x01\x01")
        return _ODD + odd.encode("utf-8", "surrogatepass")
    secure, user, host, port, rest = found.groups()
    if host[0] != "[" and not _NUMBERS.fullmatch(host):
        host = ",".join(reversed(host.split(".")))
    user = "" if user is None else f"@{user}"
    return f"{host}){secure}{port or ''}{user}{rest}".encode("utf-8", "surrogatepass")


def read_key(key: bytes) -> str:
    """Return the URL of a sort key."""
    end = key.find(END) + 1
    start = _read_start(key[: end + 1])
    if start and (key[end] == _SLASH or key[end + 1 : end + 2] == b"/"):
        return start + key[end + (key[end] != _SLASH) :].decode("utf-8", "surrogatepass")
    return _read_odd_key(key)


def read_keys(keys: Sequence[bytes]) -> list[str]:
    """Return the URLs of sort keys; those of one host after each other are read fastest."""
    urls: list[str] = []
    beginning, size, start = b"\0", 0, ""
    for key in keys:
        if not key.startswith(beginning):
            end = key.find(END) + 1
            found = _read_start(key[: end + 1])
            if not found or (key[end] != _SLASH and key[end + 1 : end + 2] != b"/"):
                urls.append(_read_odd_key(key))
                continue
            start = found
            size = end + (key[end] != _SLASH)
            beginning = key[: size + 1]
        urls.append(start + key[size:].decode("utf-8", "surrogatepass"))
    return urls


def find_host(key: bytes) -> bytes:
    """Return what the keys of one host have in common: the beginning of the key, or the host itself if the key is of an odd
    URL."""
    if key[:1] == _ODD:
        return _ODD + host_of(read_key(key)).encode("utf-8", "surrogatepass")
    return key[: key.find(END) + 1]


def read_host(beginning: bytes) -> str:
    """Return the host that `find_host` found."""
    text = beginning.decode("utf-8", "surrogatepass")
    return text[1:] if text[:1] == "!" else ".".join(reversed(text[:-1].split(",")))


@lru_cache(maxsize=65_536)
def _make_start(origin: str) -> bytes:
    """The beginning of the keys of URLs that begin so, before a slash; empty if that is not usual. A page's links have few."""
    if not (usual := _USUAL.fullmatch(origin)):
        return b""
    secure, host = usual.groups()
    return f"{','.join(reversed(host.split('.')))}){secure}".encode()


@lru_cache(maxsize=65_536)
def _read_start(start: bytes) -> str:
    """The scheme and the host of keys that begin so, with `/` or `s` at the end; empty if there may be more than
    these. The keys of a page's links have few of these beginnings."""
    secure = start[-1:]
    if start[:1] == _ODD or start[-2:-1] != END or secure not in (b"/", b"s"):
        return ""
    host = start[:-2].decode()
    return f"http{'s' if secure == b's' else ''}://{'.'.join(reversed(host.split(',')))}"


def _read_odd_key(key: bytes) -> str:
    text = key.decode("utf-8", "surrogatepass")
    if text[:1] == "!":
        return text[1:].replace("\x01\x01", "\0").replace("\x01\x02", "\x01")
    host, _, rest = text.partition(")")
    if "," in host:
        labels = host.split(",")
        labels.reverse()
        host = ".".join(labels)
    if rest[:1] == "/":
        return f"http://{host}{rest}"
    if rest[:2] == "s/":
        return f"https://{host}{rest[1:]}"
    authority, slash, path = rest.partition("/")
    scheme = "https" if authority[:1] == "s" else "http"
    port, at, user = authority.removeprefix("s").partition("@")
    return f"{scheme}://{user}{at}{host}{port}{slash}{path}"
