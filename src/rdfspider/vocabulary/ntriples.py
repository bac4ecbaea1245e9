"""Text, URLs and syntaxes in, terms as N-Triples writes them out; and the names of RDF and XML Schema that every stage uses."""

import re
from functools import lru_cache
from hashlib import blake2b

from pyoxigraph import Literal

from rdfspider.urls import valid_iri
from rdfspider.vocabulary.prefixes import RDF

RDF_TYPE = f"<{RDF}type>"
RDF_FIRST = f"<{RDF}first>"
RDF_REST = f"<{RDF}rest>"
RDF_NIL = f"<{RDF}nil>"
_UNSAFE = re.compile('["\\\\\x00-\x1f\x7f\ud800-\udfff]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


@lru_cache(maxsize=4096)
def is_language(tag: str) -> bool:
    """Whether the text is a language tag (BCP 47) that RDF stores take."""
    try:
        Literal("", language=tag)
    except (ValueError, UnicodeError):
        return False
    return True


def quoted(text: str) -> str:
    """The text as N-Quads quotes it; lone surrogates, which no encoding can carry, become U+FFFD."""
    if _UNSAFE.search(text):
        text = _UNSAFE.sub(_escape, text)
    return f'"{text}"'


@lru_cache(maxsize=64)
def graph_term(url: str) -> str:
    """The page's URL as a graph name, escaped to a valid IRI."""
    found = valid_iri(url)
    return (
        f"<{found.value}>"
        if found
        else f"<urn:rdfspider:page:{blake2b(url.encode('utf-8', 'replace'), digest_size=16).hexdigest()}>"
    )


def blank_prefix(url: str, syntax: str) -> str:
    """What the blank nodes of one syntax on one page have in common, and no others."""
    digest = blake2b(f"{syntax} {url}".encode("utf-8", "surrogatepass"), digest_size=8)
    return f"_:p{digest.hexdigest()}n"


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if "\ud800" <= character <= "\udfff":
        return "\ufffd"
    return _ESCAPES.get(character) or f"\\u{ord(character):04X}"
