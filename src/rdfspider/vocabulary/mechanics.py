"""Page mechanics: the N-Quads of a page enter, those that say something about the world leave.

ARIA roles, link types such as `stylesheet`, and the note that a vocabulary is used are conformant RDFa, so extraction gives them
and the archive keeps them. They describe how a page is built, not what it is about; nearly every page has some, and on real
pages they are half of all RDFa. Everything that counts or indexes data asks here. Only RDFa is searched, because it makes
such statements of attributes that were never meant as data; who writes them in another syntax means them.
"""

import re
from collections.abc import Mapping

from rdfspider.vocabulary.prefixes import RDFA, XHV

_SYNTAX = "rdfa"
_DATA_TERMS = ("license", "cite", "copyright")
"""The terms of XHTML's vocabulary that state a fact: under which terms a work may be used, and what it quotes."""
_LINK_TYPES = ("https://api.w.org/", "https://github.com/WP-API/WP-API")
"""IRIs that software uses as types of links to its own interfaces."""
_PREDICATES = "|".join(
    (
        rf"{re.escape(XHV)}(?!(?:{'|'.join(_DATA_TERMS)})>)[^>]*+",
        f"{re.escape(RDFA)}usesVocabulary",
        *map(re.escape, _LINK_TYPES),
    )
)
_match_mechanics = re.compile(rf"[^ ]*+ <(?:{_PREDICATES})> ").match


def drop_mechanics(statements: Mapping[str, str]) -> Mapping[str, str]:
    """Return a page's N-Quads by syntax without page mechanics; RDFa is left out if it has nothing else."""
    nquads = statements.get(_SYNTAX)
    if nquads is None:
        return statements
    lines = nquads.split("\n")
    kept = [line for line in lines if not _match_mechanics(line)]
    if len(kept) == len(lines) and nquads:
        return statements
    rest = {syntax: nquads for syntax, nquads in statements.items() if syntax != _SYNTAX}
    return rest | {_SYNTAX: nquads} if (nquads := "\n".join(kept)) else rest


def has_data(statements: Mapping[str, str]) -> bool:
    """Return whether a page states anything besides page mechanics."""
    return any(drop_mechanics(statements).values())


def count_data(statements: Mapping[str, str]) -> int:
    """Count a page's statements in all syntaxes, without page mechanics."""
    return sum(nquads.count("\n") for nquads in drop_mechanics(statements).values())
