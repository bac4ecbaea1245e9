"""Outcomes of a crawl of real pages in, as many more as are asked for out: copies of the same web, each on hosts of its own.

A copy says the same words of other things: in every IRI that is not of a vocabulary the host is another, and so is every blank
node. So a store that grows by copies has ever more subjects, pages and sites, but no more properties and classes, as the web.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rdfspider.index.outcomes import Outcome

VOCABULARIES = (
    "schema.org|www.schema.org|www.w3.org|ogp.me|opengraphprotocol.org|purl.org|xmlns.com|microformats.org|rdfs.org|"
    "data-vocabulary.org|www.data-vocabulary.org|rdf.data-vocabulary.org|dev.twitter.com|web.resource.org|creativecommons.org|"
    "www.productontology.org|www.facebook.com|api.whatwg.org"
)
_IRI = re.compile(rf"<(https?://)(?!(?:{VOCABULARIES})[/>#:])")
_NODE = re.compile(r"(^| )_:p[0-9a-f]{4}(?=[0-9a-f]{12})", re.MULTILINE)
_DAY_S = 86_400.0


def copy_outcomes(outcomes: Sequence[Outcome], number: int) -> Iterator[Outcome]:
    """The same web once more; the first copy has number 1."""
    for outcome in outcomes:
        scheme, _, rest = outcome.url.partition("://")
        statements = {
            syntax: _NODE.sub(rf"\1_:p{number:04x}", _IRI.sub(rf"<\1w{number}.", nquads))
            for syntax, nquads in outcome.statements.items()
        }
        yield replace(outcome, url=f"{scheme}://w{number}.{rest}", statements=statements)


def change_outcomes(outcomes: Sequence[Outcome], every: int, turn: int) -> Iterator[Outcome]:
    """The same pages at a later visit, when every n-th of their statements has another value."""
    for outcome in outcomes:
        statements = {syntax: _change_lines(nquads, every, turn) for syntax, nquads in outcome.statements.items()}
        time = outcome.time + turn * _DAY_S
        yield replace(outcome, time=time, digest=f"{outcome.digest}-{turn}", statements=statements)


def _change_lines(nquads: str, every: int, turn: int) -> str:
    lines = nquads.split("\n")
    for number in range(0, len(lines) - 1, every):
        # A literal is longer by the turn, an IRI by a fragment; types stay, for classes do not come and go.
        lines[number] = _OBJECT.sub(rf"\g<0>{turn}", lines[number], count=1)
    return "\n".join(lines)


_OBJECT = re.compile(r'^\S+ <(?!http://www\.w3\.org/1999/02/22-rdf-syntax-ns#type>)[^>]*> (?:"(?:[^"\\]|\\.)*|<[^>]*)')
