"""RDF documents: Turtle, TriG, N-Triples, N-Quads, RDF/XML or N3 enters as text, statements leave.

A document is first read strictly. If that fails, it is read again without checks of IRIs and language tags, which
`Statements` repairs or drops; the result is all before the first syntax error, with a Problem. In N-Triples and N-Quads
only the bad lines are left out. RDF/XML goes through lxml first, which is strict, limits the depth of elements, and
joins text around comments and CDATA sections; XML literals become canonical. Documents that would overflow a native
parser, or take it quadratic time, are refused before it sees them.
"""

import re
from collections.abc import Iterator

import pyoxigraph
from lxml import etree
from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, RdfFormat

from rdfspider.extract.dom import canonical_content, encode_text, expand_entities, parse_lxml, skip_declaration
from rdfspider.extract.statements import MAX_STATEMENT_CHARS, Statements
from rdfspider.records import Content
from rdfspider.urls import valid_iri
from rdfspider.vocabulary.prefixes import RDF

FORMATS = {
    "text/turtle": RdfFormat.TURTLE,
    "application/trig": RdfFormat.TRIG,
    "application/n-triples": RdfFormat.N_TRIPLES,
    "application/n-quads": RdfFormat.N_QUADS,
    "application/rdf+xml": RdfFormat.RDF_XML,
    "text/n3": RdfFormat.N3,
}
"""The syntaxes by registered media type; `detect` maps other names to these."""

_LINES_A_BLOCK = 1000
_MAX_BAD_LINES = 10_000
_MAX_LOCAL_ERRORS = 100
_MAX_TERM_NESTING = 50
_MAX_NESTING = 50_000
_MAX_FORMULAS = 100_000
_MAX_BASE_WORK = 1_000_000_000

# Errors after which the parser goes on with the next statement.
_LOCAL_ERRORS = ("has not been declared",)

_LINE = re.compile(r"[^\r\n]*+[\r\n]++|[^\r\n]++")
# The native parser recurses for each triple term (RDF 1.2), and needs some hundred bytes for any other bracket.
_TRIPLE_TERM = re.compile(r"(<<\()|\)>>")
_BRACKET = re.compile(r"([\[({]|<<)|[\])}]|>>")
_DIRECTIVE = re.compile(r"(?:prefix|base)[^<]*+(?:<[^>]*+)?+", re.IGNORECASE)
_BASE = re.compile("base", re.IGNORECASE)

_MARK = "urn:x-rdfspider-n3:"
# Strings, comments and IRIs are matched to be skipped; an unfinished string extends to the end, so the scan is linear.
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:""")?|' + r"'''(?:[^'\\]|\\.|'(?!''))*+(?:''')?|"
    r'"(?:[^"\\\n]|\\.)*+"?|' + r"'(?:[^'\\\n]|\\.)*+'?|"
    r"#[^\n]*+|<[^<>\s\"{}]*+>|\?(?P<variable>[A-Za-z_]\w*+)|(?P<formula>\{)|(?P<implied><=(?=[\s{?:<\[(]))",
    re.DOTALL,
)
_MAX_ATTRIBUTES = 1000
_MAX_NAMESPACES = 300
_MAX_DEPTH = 256
_MAX_BROKEN_TAG_CHARS = 16_384
_XML_BASE = re.compile(r"""\bbase\s*+=\s*+(?:"[^"]*+|'[^']*+)""")
_LONG_TAG = re.compile(rf"<[^<>]{{{_MAX_BROKEN_TAG_CHARS}}}")
_PARSE_TYPE = f"{{{RDF}}}parseType"
_ID = f"{{{RDF}}}ID"
_XML = "{http://www.w3.org/XML/1998/namespace}"

Read = tuple[list[Quad], str | None]
"""The quads of a document, and the error that ended it; None when it was read to its end."""


def extract_rdf_document(content: Content, out: Statements) -> None:
    """Read an RDF document whose syntax its media type names."""
    syntax = FORMATS.get(content.media_type)
    if syntax is None:
        out.problem("unknown-syntax", f"no RDF syntax is known as {content.media_type[:100]}")
        return
    text = content.text.removeprefix("\ufeff")
    if syntax in (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS):
        _add_lines(text, syntax, out)
        return
    quads, error = read_rdf_xml(text, out) if syntax == RdfFormat.RDF_XML else _read_turtle(text, syntax, out)
    if error is not None:
        out.problem("syntax-error", error)
    out.add_parsed(quads)


def read_rdf_xml(text: str, out: Statements) -> Read:
    """The quads of RDF/XML; entities, comments and XML literals are resolved before the native parser sees them."""
    text, refused = expand_entities(text)
    if refused is not None:
        out.problem(refused.code, refused.message)
        if refused.code == "entity-bomb":
            return [], refused.message
    text, error = _normalise_rdf_xml(text)
    if error is None:
        return _read_twice(text, RdfFormat.RDF_XML, out)
    quads, _ = _read(text, RdfFormat.RDF_XML, out, lenient=True)
    return quads, error


def _read_turtle(text: str, syntax: RdfFormat, out: Statements) -> Read:
    """The quads of Turtle, TriG or N3; a document that would exhaust the native parser is refused."""
    if _base_work(text, out.base) > _MAX_BASE_WORK:
        return [], "refused: the prefixes and bases would take too long to resolve"
    if _is_too_deep(text, _TRIPLE_TERM, _MAX_TERM_NESTING) or _is_too_deep(text, _BRACKET, _MAX_NESTING):
        return [], "refused: brackets are nested too deeply"
    if syntax != RdfFormat.N3:
        return _read_twice(text, syntax, out)
    if text.count("{") > _MAX_FORMULAS:
        return [], f"refused: more than {_MAX_FORMULAS} formulas"
    quads, error = _read_twice(_mark_logic(text), syntax, out)
    return _drop_logic(quads, out), error


def _add_lines(text: str, syntax: RdfFormat, out: Statements) -> None:
    """Read N-Triples or N-Quads by blocks of lines, and line by line where a block has an error."""
    if _is_too_deep(text, _TRIPLE_TERM, _MAX_TERM_NESTING):
        out.problem("syntax-error", "refused: triple terms are nested too deeply")
        return
    left = _MAX_BAD_LINES
    for block in _blocks(text):
        quads, error = _read(block, syntax, out, lenient=False)
        if error is not None:
            quads, bad = _read_lines(block, syntax, out, left)
            left -= bad
        out.add_parsed(quads)
        if out.full:
            return
        if not left:
            out.problem("too-many-errors", f"reading stopped after {_MAX_BAD_LINES} bad lines")
            return


def _read_lines(block: str, syntax: RdfFormat, out: Statements, limit: int) -> tuple[list[Quad], int]:
    """The quads of a block with errors, read line by line and leniently, and how many lines are bad: at most `limit`."""
    quads: list[Quad] = []
    bad = 0
    for line in _LINE.findall(block):
        found, error = _read(line, syntax, out, lenient=False)
        if error is not None:
            out.problem("syntax-error", f"{error}: {line[:100]!r}")
            found, _ = _read(line, syntax, out, lenient=True)
            bad += 1
        quads += found
        if bad == limit:
            break
    return quads, bad


def _blocks(text: str) -> Iterator[str]:
    """The text in blocks of about a thousand whole lines."""
    start = 0
    for number, line in enumerate(_LINE.finditer(text), 1):
        if number % _LINES_A_BLOCK == 0:
            yield text[start : line.end()]
            start = line.end()
    yield text[start:]


def _read_twice(text: str, syntax: RdfFormat, out: Statements) -> Read:
    """Read strictly and, where that fails, again without checks of terms."""
    quads, error = _read(text, syntax, out, lenient=False)
    if error is None:
        return quads, None
    quads, fatal = _read(text, syntax, out, lenient=True)
    if fatal is None:
        out.problem("invalid-terms", f"read to its end in spite of: {error}")
    return quads, fatal


def _read(text: str, syntax: RdfFormat, out: Statements, *, lenient: bool) -> Read:
    """The quads up to the first error or to the limit of characters: a document can repeat one long prefix a million times."""
    room = MAX_STATEMENT_CHARS
    left = _MAX_LOCAL_ERRORS if lenient else 0
    quads: list[Quad] = []
    error = None
    base = valid_iri(out.base)
    parser = pyoxigraph.parse(encode_text(text), syntax, base_iri=base.value if base else None, lenient=lenient)
    while room > 0:
        try:
            quad = next(parser)
        except StopIteration:
            return quads, error
        except SyntaxError as found:
            error = error or found.msg
            if not left or not any(sign in found.msg for sign in _LOCAL_ERRORS):
                return quads, error
            left -= 1
            continue
        room -= len(str(quad))
        quads.append(quad)
    return quads, f"the document makes more than {MAX_STATEMENT_CHARS} characters of statements"


def _is_too_deep(text: str, brackets: re.Pattern[str], limit: int) -> bool:
    """Whether brackets nest deeper than the limit; brackets in strings are counted too, which rarely matters."""
    depth = 0
    for bracket in brackets.finditer(text):
        depth = depth + 1 if bracket[1] else max(0, depth - 1)
        if depth > limit:
            return True
    return False


def _base_work(text: str, base: str) -> int:
    """An upper bound of the characters that resolving the directives copies: each relative base can lengthen the next."""
    directives = grown = 0
    for directive in _DIRECTIVE.finditer(text):
        directives += 1
        if _BASE.search(directive[0]):
            grown += len(directive[0])
    return directives * (len(base) + grown)


def _mark_logic(text: str) -> str:
    """N3 with its variables and formulas marked by IRIs, so that a parser of RDF can read it."""
    return _TOKEN.sub(_mark, text) if "?" in text or "{" in text or "<=" in text else text


def _drop_logic(quads: list[Quad], out: Statements) -> list[Quad]:
    """The quads of marked text that are RDF; the others are dropped with a Problem."""
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


def _normalise_rdf_xml(text: str) -> tuple[str, str | None]:
    """The document for the native parser, with comments, CDATA sections and XML literals resolved, or its part before the first
    error; empty when refused. Also what is wrong with the original."""
    text = skip_declaration(text)
    if _xml_base_work(text) > _MAX_BASE_WORK:
        return "", "the document's bases would take too long to resolve"
    try:
        root = parse_lxml(text)
    except etree.XMLSyntaxError as error:
        return _cut(text, error)
    if root.xpath(f"boolean(//*[count(@*) > {_MAX_ATTRIBUTES}])") or _too_many_namespaces(root, text):
        return "", "an element has too many attributes or namespaces"
    for element in [e for e in root.iter() if e.get(_PARSE_TYPE) is not None] if "parseType" in text else ():
        if _is_literal(element):
            _canonicalise(element)
    etree.strip_tags(root, etree.Comment, etree.ProcessingInstruction)
    return etree.tostring(root, encoding="unicode"), None


def _is_literal(element: etree._Element) -> bool:
    """RDF/XML, productions 7.2.17 and 7.2.20: any other parse type means Literal; only an ID is allowed beside it."""
    if element.get(_PARSE_TYPE) in ("Resource", "Collection"):
        return False
    return all(name in (_PARSE_TYPE, _ID) or str(name).startswith(_XML) for name in element.attrib)


def _canonicalise(element: etree._Element) -> None:
    """Replace an XML literal by its canonical form, as text with a datatype."""
    text = canonical_content(element)
    if text is None:
        return
    del element.attrib[_PARSE_TYPE]
    del element[:]
    element.set(f"{{{RDF}}}datatype", f"{RDF}XMLLiteral")
    element.text = text


def _cut(text: str, error: etree.XMLSyntaxError) -> tuple[str, str]:
    """The text before the error; nothing where it might exhaust the native parser, since there is no tree to check."""
    line, column = error.position
    message = str(error.msg)
    if text.count("xmlns") > _MAX_NAMESPACES or _LONG_TAG.search(text):
        return "", message
    lines = text.split("\n")
    return "\n".join([*lines[: line - 1], "".join(lines[line - 1 : line])[: max(column - 1, 0)]]), message


def _too_many_namespaces(root: etree._Element, text: str) -> bool:
    """Whether more namespaces are in scope at one element than the native parser can search for every name."""
    if text.count("xmlns") <= _MAX_NAMESPACES:
        return False
    declared = 0
    for event, _ in etree.iterwalk(root, events=("start-ns", "end-ns")):
        declared += 1 if event == "start-ns" else -1
        if declared > _MAX_NAMESPACES:
            return True
    return False


def _xml_base_work(text: str) -> int:
    """An upper bound of the characters that resolving `xml:base` copies: a base counts for all elements in it."""
    lengths = [len(base) for base in _XML_BASE.findall(text)] if "base" in text else []
    return len(lengths) * min(sum(lengths), _MAX_DEPTH * max(lengths)) if lengths else 0
