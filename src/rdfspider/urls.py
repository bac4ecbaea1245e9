"""URLs and IRIs: text enters, text leaves; no I/O.

*Links* are for fetching: they are resolved and normalised as in browsers (WHATWG), and percent escapes are normalised
(RFC 3986, 6.2.2), so that one page has one address. *IRIs* are names in RDF: they are resolved by RFC 3986 and not
normalised, because `http://example.org` and `http://example.org/` are two names; an IRI that is invalid by RFC 3987 is
repaired or refused.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import ada_url
from pyoxigraph import NamedNode

MAX_URL_CHARS = 8192
"""Longer URLs are not followed: common servers refuse request lines of more than 8 KB, and real links are shorter."""

FETCHED_SCHEMES = ("http", "https")
"""What a URL that can be fetched begins with; `fetch/fetcher.py` says how. The patterns below that name them are shortcuts."""

MAX_HOST_CHARS = 253
"""The longest name in DNS."""

# Characters beyond ASCII that an IRI may have (ucschar in RFC 3987), without those for private use, which are valid in
# queries only.
_UCS = "\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef\U00010000-\U0001fffd\U00020000-\U0002fffd\U00030000-\U0003fffd"

# An http(s) IRI in ASCII that needs no repair: plain characters, valid percent escapes, at most one fragment. Others are checked
# one by one; with all characters that an IRI may have, this would take longer to compile than all else here.
_PART = r"[A-Za-z0-9\-._~!$&'()*+,;=:@/]*+(?:%[0-9A-Fa-f]{2}[A-Za-z0-9\-._~!$&'()*+,;=:@/]*+)*+"
_LATER_PART = _PART.replace("@/", "@/?")
_PLAIN_IRI = re.compile(
    rf"https?://[A-Za-z0-9.\-_~]+(?::[0-9]+)?(?:/{_PART})?+(?:\?{_LATER_PART})?+(?:#{_LATER_PART})?+"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_PARTS = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.\-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_NOT_IN_PART = re.compile(rf"[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%{_UCS}]|%(?![0-9A-Fa-f]{{2}})")

# Links that are certainly normal by WHATWG: a lower-case host whose last label is a name, or an IPv4 address; a port that is not
# the scheme's own; plain characters in path and query, without dot segments. Punycode is checked separately.
_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_HOST = rf"(?:[a-z0-9.\-]+\.[a-z]+|(?:{_OCTET}\.){{3}}{_OCTET})"
_PORT = r"(?::(?!(?:80|443)/)(?:[1-5][0-9]{4}|[1-9][0-9]{0,3}))?+"
_PLAIN_PATH = r"(?:/(?!\.|%2)[A-Za-z0-9\-_~!$&()*+,;=:@%.]*+)++(?:\?[A-Za-z0-9\-._~!$&()*+,;=:@/?%\[\]|{}]*+)?+"
_NORMAL_LINKS = re.compile(rf"^(?:(https?://{_HOST}{_PORT}{_PLAIN_PATH})$|.*$)", re.MULTILINE)
# Escapes with lower-case letters, and escapes of characters that need none; not directly after a broken escape, with
# which the result could form a new one. What is before the percent sign is checked after it, since that is rare and can be
# searched for quickly.
_ODD_ESCAPE = re.compile(
    r"%(?<!%%)(?<!%[0-9A-Fa-f]%)(?:[a-f][0-9A-Fa-f]|[0-9A-F][a-f]|2[DE]|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])",
    re.ASCII,
)
_BARE_HOST = re.compile(r"https?://[a-z0-9.\-]+\.[a-z]+")
_FETCHED = tuple(f"{scheme}:" for scheme in FETCHED_SCHEMES)
_NO_LINK = re.compile(r"(?:javascript|mailto|tel|data|about|sms|whatsapp):", re.IGNORECASE)


class Iri(NamedTuple):
    """An absolute, valid IRI, and whether it had to be repaired to become one."""

    value: str
    repaired: bool


def valid_iri(text: str) -> Iri | None:
    """The IRI of an absolute reference, repaired where that is obvious; None where it is invalid."""
    return _find_iri(text) if len(text) < 256 else _find_iri.__wrapped__(text)


def resolve_iri(base: str, reference: str) -> str:
    """RFC 3986, 5.2.2: the reference resolved against the base, neither checked nor normalised."""
    if _SCHEME.match(reference):
        return _resolve_absolute(reference) if "/." in reference else reference
    if not reference:
        return base.partition("#")[0]
    if reference[0] == "#":
        return base.partition("#")[0] + reference
    return _resolve_parts(base, reference)


def normalise_url(url: str) -> str | None:
    """The normal form of a URL: as browsers write it (WHATWG), with normalised escapes, without a fragment; None for a URL
    that cannot be fetched."""
    return _find_normal([url])[0] or _normalised(url, None)


def normalise_urls(urls: Iterable[str]) -> list[str | None]:
    """The normal form of each URL, as `normalise_url` gives it; some microseconds less each."""
    given = list(urls)
    if not given:
        return []
    return [normal or _normalised(url, None) for url, normal in zip(given, _find_normal(given), strict=True)]


def host_of(url: str) -> str:
    """The host of a normalised URL, without port and user information; an IPv6 address keeps its brackets."""
    return host_of_authority(url.partition("://")[2].partition("/")[0])


def host_of_authority(authority: str) -> str:
    """The host of the authority of a normalised URL: what is between `//` and the path."""
    if ":" not in authority and "@" not in authority:
        return authority
    host = authority.rpartition("@")[2]
    end = host.find("]") + 1 or host.find(":")
    return host[:end] if end > 0 else host


def resolve_links(base: str, links: Iterable[str]) -> dict[str, str | None]:
    """The normalised URL of each link of a page; None where it is no http(s) URL or too long.

    A page has hundreds of links, so one regular expression over all of them finds those that are normal already.
    """
    start = (normalise_url(base) if base else "") or ""
    scheme = start.partition("//")[0]
    origin = "/".join(start.split("/", 3)[:3])
    folder = start.partition("?")[0].rpartition("/")[0] + "/"
    links = list(links)
    if not links:
        return {}
    addresses: list[str] = []
    for link in links:
        address = link.partition("#")[0] if "#" in link else link
        if start and address:
            if address[0] == "/":
                address = scheme + address if address[1:2] == "/" else origin + address
            elif address[:4] != "http" and address[0].isalnum() and ":" not in address:
                address = folder + address
        addresses.append(address)
    targets = {
        link: normal or _resolve_other(link, address, base)
        for link, address, normal in zip(links, addresses, _find_normal(addresses), strict=True)
    }
    is_long = sum(map(len, addresses)) > MAX_URL_CHARS and any(len(address) > MAX_URL_CHARS for address in addresses)
    return {link: _refuse_long(target) for link, target in targets.items()} if is_long else targets


def is_valid_iri(text: str) -> bool:
    """Whether an RDF parser accepts the text as an absolute IRI."""
    try:
        NamedNode(text)
    except (ValueError, UnicodeError):
        return False
    return True


def _refuse_long(url: str | None) -> str | None:
    return url if url and len(url) <= MAX_URL_CHARS else None


def _resolve_other(link: str, address: str, base: str) -> str | None:
    if _NO_LINK.match(link):
        return None
    if _BARE_HOST.fullmatch(address) and "xn--" not in address:
        return _refuse_long(address + "/")
    return _refuse_long(_normalised(link, base))


def _find_normal(urls: list[str]) -> list[str]:
    """For each URL itself, if it is certainly normal already, or else an empty text."""
    lines = "\n".join(urls)
    if lines.count("\n") >= len(urls):
        urls = ["" if "\n" in url else url for url in urls]
        lines = "\n".join(urls)
    normal: list[str] = _NORMAL_LINKS.findall(lines)
    if "xn--" in lines:
        normal = ["" if "xn--" in url else url for url in normal]
    if "%" in lines and _ODD_ESCAPE.search(lines):
        normal = ["" if "%" in url and _ODD_ESCAPE.search(url) else url for url in normal]
    return normal


def _normalised(url: str, base: str | None) -> str | None:
    try:
        href: str = ada_url.join_url(base, url) if base else ada_url.normalize_url(url)
    except (ValueError, UnicodeError):
        return None
    if not href.startswith(_FETCHED):
        return None
    return _ODD_ESCAPE.sub(_unify_escape, href.partition("#")[0])


def _unify_escape(escape: re.Match[str]) -> str:
    upper = escape[0].upper()
    return chr(int(upper[1:], 16)) if _ODD_ESCAPE.fullmatch(upper) else upper


def _resolve_parts(base: str, reference: str) -> str:
    base_parts, parts = _PARTS.fullmatch(base), _PARTS.fullmatch(reference)
    if base_parts is None or parts is None:
        return reference
    scheme, authority, base_path, base_query, _ = base_parts.groups()
    _, ref_authority, path, query, fragment = parts.groups()
    if ref_authority is not None:
        authority, path = ref_authority, _remove_dot_segments(path)
    elif path == "":
        path = base_path
        query = base_query if query is None else query
    elif path.startswith("/"):
        path = _remove_dot_segments(path)
    elif authority is not None and not base_path:
        path = _remove_dot_segments("/" + path)
    else:
        path = _remove_dot_segments(base_path[: base_path.rfind("/") + 1] + path)
    start = f"{scheme}:" if scheme else ""
    start += f"//{authority}" if authority is not None else ""
    return f"{start}{path}{'' if query is None else '?' + query}{'' if fragment is None else '#' + fragment}"


def _resolve_absolute(reference: str) -> str:
    parts = _PARTS.fullmatch(reference)
    if parts is None or parts[2] is None:
        return reference
    path = _remove_dot_segments(parts[3])
    return reference[: parts.start(3)] + path + reference[parts.end(3) :]


def _remove_dot_segments(path: str) -> str:
    """RFC 3986, 5.2.4."""
    if "/." not in path and not path.startswith("."):
        return path
    output: list[str] = []
    segments = path.split("/")
    for number, segment in enumerate(segments):
        last = number == len(segments) - 1
        if segment == ".":
            if last:
                output.append("")
        elif segment == "..":
            if len(output) > 1 or (output and output[0] != ""):
                output.pop()
            if last:
                output.append("")
        else:
            output.append(segment)
    return "/".join(output)


@lru_cache(maxsize=16384)
def _find_iri(text: str) -> Iri | None:
    return Iri(text, False) if _PLAIN_IRI.fullmatch(text) else _repair_iri(text)


def _repair_iri(text: str) -> Iri | None:
    value = text.strip(" \t\n\r\f\0")
    if not _SCHEME.match(value):
        return None
    if is_valid_iri(value):
        return Iri(value, value != text)
    value = value.replace("\n", "").replace("\r", "").replace("\t", "")
    parts = _PARTS.fullmatch(value)
    if parts is None:
        return None
    scheme, authority, path, query, fragment = parts.groups()
    if scheme.lower() in ("http", "https"):
        path = path.replace("\\", "/")
    repaired = f"{scheme}:"
    if authority is not None:
        repaired += f"//{_repair_authority(authority)}"
    repaired += _escape(path)
    repaired += "" if query is None else "?" + _escape(query)
    repaired += "" if fragment is None else "#" + _escape(fragment)
    return Iri(repaired, True) if is_valid_iri(repaired) else None


def _repair_authority(authority: str) -> str:
    """Escape user information only; a host with invalid characters is left as it is, and the IRI is refused."""
    user, at, host = authority.rpartition("@")
    return _escape(user) + at + host


def _escape(part: str) -> str:
    return _NOT_IN_PART.sub(lambda m: _percent(m[0]), part)


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "replace"))
