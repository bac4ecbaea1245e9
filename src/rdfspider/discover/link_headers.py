"""`Link` headers (RFC 8288): the headers of a response enter, links to follow leave, like those of `link` elements."""

import re
from collections.abc import Iterable

from rdfspider.records import Link
from rdfspider.urls import resolve_links
from rdfspider.ways import is_unfollowed

# How many characters and links are read from all `Link` headers of a response.
_MAX_CHARS = 65_536
_MAX_LINKS = 1_000
# Most `Link` headers name style sheets, scripts and fonts; these relations lead to pages and data.
_FOLLOWED = frozenset(
    "alternate describedby describes meta canonical next prev previous next-archive prev-archive first last item collection "
    "about related up".split()
)

_QUOTED = r'"((?:[^"\\]|\\.)*+)"?+'
# RFC 8288, appendix B.2: the address, then parameters. Anything between links is skipped.
_ADDRESS = re.compile(r"[^<]*+<([^<>]*+)>")
_PARAMETER = re.compile(rf"\s*+;\s*+([^\s=;,<>\"]*+)\s*+(?:=\s*+(?:{_QUOTED}|([^\s;,\"]*+)))?+")
_ESCAPE = re.compile(r"\\(.)")


def read_link_headers(headers: Iterable[tuple[str, str]], base: str) -> list[Link]:
    """Return the links in the headers of a response, in order, without links whose context is another document."""
    text = ", ".join(value for name, value in headers if len(name) == 4 and name.lower() == "link")[:_MAX_CHARS]
    if not text:
        return []
    found: list[tuple[str, dict[str, str]]] = []
    position = 0
    while len(found) < _MAX_LINKS and (address := _ADDRESS.match(text, position)):
        parameters, position = _read_parameters(text, address.end())
        # Section 3.2: `anchor` means that the link's context is another resource.
        if "anchor" not in parameters:
            found.append((address[1].strip(), parameters))
    targets = resolve_links(base, {address for address, _ in found})
    return [
        Link(target, parameters["rel"], parameters.get("title", ""), media_type=_read_type(parameters))
        for address, parameters in found
        if (target := targets[address]) and _is_followed(parameters)
    ]


def _read_parameters(text: str, position: int) -> tuple[dict[str, str], int]:
    """Return the parameters from `position` on, and where they end; the first of each name counts (3.3)."""
    parameters: dict[str, str] = {}
    while parameter := _PARAMETER.match(text, position):
        position = parameter.end()
        name, quoted, token = parameter.groups()
        value = _ESCAPE.sub(r"\1", quoted) if quoted is not None else token or ""
        parameters.setdefault(name.lower(), value)
    return parameters, position


def _is_followed(parameters: dict[str, str]) -> bool:
    relation = parameters.get("rel", "")
    is_embedding = parameters.get("type", "").lower().endswith("+oembed")
    return not _FOLLOWED.isdisjoint(relation.lower().split()) and not is_unfollowed(relation) and not is_embedding


def _read_type(parameters: dict[str, str]) -> str:
    return parameters.get("type", "").partition(";")[0].strip().lower()
