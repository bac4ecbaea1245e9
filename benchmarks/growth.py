"""Outcomes of a crawl of real pages in, as many more as are asked for out: copies of the same web, each on hosts of its own.

A copy says the same words of other things: in every IRI that is not of a vocabulary the host is another, and so is every blank
node. So a store that grows by copies has ever more subjects, pages and sites, but no more properties and classes, as the web.
Real pages make many statements about few things; lists of shops, which have many things, are made up of their words.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from rdfspider.archive.outcomes import Outcome

VOCABULARIES = (
    "schema.org|www.schema.org|www.w3.org|ogp.me|opengraphprotocol.org|purl.org|xmlns.com|microformats.org|rdfs.org|"
    "data-vocabulary.org|www.data-vocabulary.org|rdf.data-vocabulary.org|dev.twitter.com|web.resource.org|creativecommons.org|"
    "www.productontology.org|www.facebook.com|api.whatwg.org"
)
_IRI = re.compile(rf"<(https?://)(?!(?:{VOCABULARIES})[/>#:])")
_NODE = re.compile(r"(^| )_:p[0-9a-f]{4}(?=[0-9a-f]{12})", re.MULTILINE)
_DAY_S = 86_400.0
_ITEMS = 100


def copy_outcomes(outcomes: Sequence[Outcome], number: int) -> Iterator[Outcome]:
    """The same web once more; the first copy has number 1."""
    for outcome in outcomes:
        scheme, _, rest = outcome.url.partition("://")
        statements = {
            syntax: _NODE.sub(rf"\1_:p{number:04x}", _IRI.sub(rf"<\1w{number}.", nquads))
            for syntax, nquads in outcome.statements.items()
        }
        # A copy of a duplicate would be covered by a page of another copy.
        url = f"{scheme}://w{number}.{rest}"
        yield replace(outcome, url=url, statements=statements, duplicate="", duplicate_of="")


def make_lists(outcomes: Sequence[Outcome], number: int, pages: int) -> Iterator[Outcome]:
    """So many pages of a new shop, each a list of a hundred products with names and descriptions of words from the others."""
    chance = random.Random(number)
    words = sorted({word for outcome in outcomes for word in outcome.text.split() if word.isalpha()})
    host = f"https://shop{number}.example"
    for page in range(pages):
        url = f"{host}/list/{page}"
        lines = []
        for item in range(_ITEMS):
            about = f"<{host}/product/{page * _ITEMS + item}>"
            name, description = (" ".join(chance.choices(words, k=count)) for count in (3, 8))
            for predicate, value in (
                ("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "<http://schema.org/Product>"),
                ("http://schema.org/name", f'"{name}"'),
                ("http://schema.org/description", f'"{description}"'),
                ("http://schema.org/sku", f'"{chance.randrange(10**9)}"'),
                ("http://schema.org/category", f'"{words[chance.randrange(50)]}"'),
            ):
                lines.append(f"{about} <{predicate}> {value} <{url}> .\n")
        first = outcomes[0]
        yield replace(first, url=url, title=f"Products, page {page}", statements={"jsonld": "".join(lines)}, text="")


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
