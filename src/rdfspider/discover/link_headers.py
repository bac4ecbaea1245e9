"""`Link` headers (RFC 8288): the headers of an answer enter, links leave, like `link` elements that may be followed."""

import re
from collections.abc import Iterable

from rdfspider.records import Link
from rdfspider.urls import resolve_links

# What is read of all `Link` headers of an answer, and how many links they may hold.
_MAX_CHARS = 65_536
_MAX_LINKS = 1_000
_UNFOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})
# Most `Link` headers name style sheets, scripts and fonts; these relations lead to pages and data.
_FOLLOWED = frozenset(
    "alternate describedby describes meta canonical next prev previous next-archive prev-archive first last item collection "
    "about related up".split()
)

_QUOTED = r'"((?:[^"\\]|\\.)*+)"?+'
# RFC 8288, appendix B.2: the address, then parameters. What stands between links is passed over.
_ADDRESS = re.compile(r"[^<]*+<([^<>]*+)>")
_PARAMETER = re.compile(rf"\s*+;\s*+([^\s=;,<>\"]*+)\s*+(?:=\s*+(?:{_QUOTED}|([^\s;,\"]*+)))?+")
_ESCAPE = re.compile(r"\\(.)")


def read_link_headers(headers: Iterable[tuple[str, str]], base: str) -> list[Link]:
    """The links in the headers of an answer, in their order; links whose context is another document are left out."""
    text = ", ".join(value for name, value in headers if len(name) == 4 and name.lower() == "link")[:_MAX_CHARS]
    if not text:
        return []
    found: list[tuple[str, dict[str, str]]] = []
    position = 0
    while len(found) < _MAX_LINKS and (address := _ADDRESS.match(text, position)):
        parameters, position = _read_parameters(text, address.end())
        # Section 3.2: a link that says so is from somewhere else.
        if "anchor" not in parameters:
            found.append((address[1].strip(), parameters))
    targets = resolve_links(base, {address for address, _ in found})
    return [
        Link(target, parameters["rel"], parameters.get("title", ""), media_type=_read_type(parameters))
        for address, parameters in found
        if (target := targets[address]) and _is_followed(parameters)
    ]


def _read_parameters(text: str, position: int) -> tuple[dict[str, str], int]:
    """The parameters from there on, and where they end; of those with the same name the first one counts (3.3)."""
    parameters: dict[str, str] = {}
    while parameter := _PARAMETER.match(text, position):
        position = parameter.end()
        name, quoted, token = parameter.groups()
        value = _ESCAPE.sub(r"\1", quoted) if quoted is not None else token or ""
        parameters.setdefault(name.lower(), value)
    return parameters, position


def _is_followed(parameters: dict[str, str]) -> bool:
    relations = parameters.get("rel", "").lower().split()
    is_embedding = parameters.get("type", "").lower().endswith("+oembed")
    return not _FOLLOWED.isdisjoint(relations) and _UNFOLLOWED.isdisjoint(relations) and not is_embedding


def _read_type(parameters: dict[str, str]) -> str:
    return parameters.get("type", "").partition(";")[0].strip().lower()
