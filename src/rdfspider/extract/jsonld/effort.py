"""What reading the JSON-LD of one page may cost: work that grows faster than the page, in nanoseconds, told beforehand.

All scripts of a page spend from one budget, which `Statements.effort` adds up. Usual pages spend a thousandth of it.
"""

from typing import Any

from rdfspider.extract.jsonld.contexts import ContextError, check_chains
from rdfspider.extract.jsonld.survey import ContextSurvey, Survey
from rdfspider.extract.statements import Statements

_MAX_EFFORT_NS = 2_000_000_000
# What PyLD takes grows with the square of the values.
_PYLD_SQUARE_NS = 450
PYLD_TERM_NS = 10_000
PYLD_CHAR_NS = 100
# To define a term takes pyoxigraph so long, and to copy one to an inner context.
_TERM_NS = 1_400
_COPY_NS = 200
# To look up a context that is named, and for each of those that it lists.
_NAMED_NS = 3_000
_LISTED_NS = 200
# A character of a base that a reference is resolved against, where the base is of unusual length.
BASE_CHAR_NS = 80
# A character beyond the usual length of an IRI, each time that it is written out: it takes memory more than time, and this
# allows some 30 MB.
LONG_CHAR_NS = 60
USUAL_CHARS = 500
"""Hardly an IRI is longer."""

# The largest contexts in use have about three thousand.
_MAX_TERMS = 50_000
# What pyoxigraph keeps of the contexts that are open at once; a term takes some 500 bytes besides its IRI.
_MAX_CONTEXT_BYTES = 100_000_000
_TERM_BYTES = 500
# Terms that are defined by each other take its stack; so few cannot exhaust it.
_UNCHECKED_TERMS = 200


def spend(out: Statements, effort_ns: int) -> bool:
    """Whether that much is still within the page's budget; what is not costs nothing, since it is not done."""
    if out.effort + effort_ns > _MAX_EFFORT_NS:
        return False
    out.effort += effort_ns
    return True


def estimate_loading(context: Any) -> int:
    """The nanoseconds that it takes to look up a context by its name."""
    return _NAMED_NS + (len(context) if isinstance(context, list) else 1) * _LISTED_NS


def count_steps(survey: Survey, used: ContextSurvey, longest: int) -> int:
    """How many terms are to be defined; contexts beyond all proportion in memory or stack are refused."""
    scoped = "@context" in used.keys
    levels = survey.depth if scoped else min(survey.depth, len(survey.holders))
    if used.terms > _MAX_TERMS or used.terms * levels * (_TERM_BYTES + longest) > _MAX_CONTEXT_BYTES:
        raise ContextError("context-too-large", f"{used.terms} terms in {len(survey.holders)} contexts are too many")
    for definitions in used.definitions:
        if len(definitions) > _UNCHECKED_TERMS:
            check_chains(definitions)
    return used.processed + (survey.values * used.terms if scoped else 0)


def estimate_effort(survey: Survey, used: ContextSurvey, steps: int, longest: int, base: str, by_pyld: bool) -> int:
    """The nanoseconds that terms and IRIs will take; what is of usual length and number takes next to nothing."""
    chars = (survey.values + steps) * (max(0, longest - USUAL_CHARS) + max(0, len(base) - USUAL_CHARS))
    if by_pyld:
        return survey.values**2 * _PYLD_SQUARE_NS + steps * PYLD_TERM_NS + chars * PYLD_CHAR_NS
    return steps * _TERM_NS + used.terms * len(survey.holders) * _COPY_NS + chars * LONG_CHAR_NS
