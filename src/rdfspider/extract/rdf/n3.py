"""What Notation3 has beyond RDF: formulas, rules and variables are found and left out, with Problems.

The native parser turns a formula into a blank node and a variable into an error. So before it, every variable becomes an
IRI of ours and every formula gets a statement of ours; after it, all that hangs on them is dropped.
"""

import re

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad

from rdfspider.extract.statements import Statements

_MARK = "urn:x-rdfspider-n3:"

# Strings, comments and IRIs are matched to be passed over; unfinished strings reach to the end, so the scan is linear.
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:""")?|' + r"'''(?:[^'\\]|\\.|'(?!''))*+(?:''')?|"
    r'"(?:[^"\\\n]|\\.)*+"?|' + r"'(?:[^'\\\n]|\\.)*+'?|"
    r"#[^\n]*+|<[^<>\s\"{}]*+>|\?(?P<variable>[A-Za-z_]\w*+)|(?P<formula>\{)|(?P<implied><=(?=[\s{?:<\[(]))",
    re.DOTALL,
)


def mark_logic(text: str) -> str:
    """The text with its variables and formulas marked."""
    return _TOKEN.sub(_mark, text) if "?" in text or "{" in text or "<=" in text else text


def drop_logic(quads: list[Quad], out: Statements) -> list[Quad]:
    """The quads of marked text that are RDF; for the others a Problem."""
    formulas = {quad.graph_name for quad in quads if not isinstance(quad.graph_name, DefaultGraph)}
    kept: list[Quad] = []
    for quad in quads:
        if not isinstance(quad.graph_name, DefaultGraph):
            continue
        terms = (quad.subject, quad.predicate, quad.object)
        if any(isinstance(term, BlankNode) and term in formulas for term in terms):
            out.problem("n3-formula", "a statement about a formula is not RDF and was dropped")
        elif any(isinstance(term, NamedNode) and term.value.startswith(_MARK) for term in terms):
            out.problem("n3-variable", "a statement with a variable is not RDF and was dropped")
        else:
            kept.append(quad)
    return kept


def _mark(match: re.Match[str]) -> str:
    if match["implied"]:
        # Read without checks, `<=` would begin an IRI.
        return " is <http://www.w3.org/2000/10/swap/log#implies> of "
    if match["formula"]:
        return f"{{ <{_MARK}> <{_MARK}> <{_MARK}> . "
    return f"<{_MARK}{match['variable']}>" if match["variable"] else match[0]
