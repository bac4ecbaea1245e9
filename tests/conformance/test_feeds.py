"""The feedparser project's test files: every feed gives its channel and items, and nearly all values that they name.

Each file opens with a comment whose `Expect:` is an expression on feedparser's result; the texts that it compares are looked
for among the literals, IRIs and language tags of ours. What cannot be there is in `EXCUSED`, with the reason.
"""

import ast
import re
from functools import cache
from pathlib import Path

from lxml import etree
from pyoxigraph import Literal, NamedNode, Quad

from rdfspider.config import ExtractConfig
from rdfspider.detect.content import detect_content
from rdfspider.extract.datatypes import to_xsd_date
from rdfspider.extract.feeds import extract_feed
from rdfspider.extract.statements import Problems, Statements
from rdfspider.formats import to_quads
from rdfspider.records import Page, Problem

RSS = "http://purl.org/rss/1.0/"
BASE = "http://127.0.0.1:8097/"
TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")


@cache
def read_feed(path: Path) -> tuple[list[Quad], tuple[Problem, ...]]:
    """The quads and problems of a file, served as its `Header:` says."""
    body = path.read_bytes()
    header = re.search(rb"Header:\s*Content-type:\s*([^\r\n]+)", body, re.IGNORECASE)
    page = Page(BASE + path.name, body, header[1].decode() if header else "application/xml")
    location = re.search(rb"Header:\s*Content-Location:\s*(\S+)", body, re.IGNORECASE)
    problems = Problems()
    base = location[1].decode() if location else page.url
    out = Statements(page.url, base, "feed", ExtractConfig(), problems)
    extract_feed(detect_content(page), out)
    return to_quads(out.to_nquads()), problems.listed()


def count_of(quads: list[Quad], name: str) -> int:
    return len({quad.subject for quad in quads if quad.predicate == TYPE and quad.object == NamedNode(RSS + name)})


def test_every_wellformed_feed_gives_its_channel_and_items(suites: Path) -> None:
    paths = sorted((suites / "feeds" / "wellformed").rglob("*.xml"))
    wrong = []
    for path in paths:
        quads, _ = read_feed(path)
        root = etree.fromstring(path.read_bytes(), etree.XMLParser(resolve_entities=False))
        items = [
            element for element in root.iter("{*}*") if etree.QName(element).localname.lower() in ("item", "entry")
        ]
        if count_of(quads, "channel") != 1 or count_of(quads, "item") != len(items):
            wrong.append(path.name)
    assert wrong == []
    assert len(paths) == 841


def test_illformed_and_oddly_encoded_feeds_are_read_too(suites: Path) -> None:
    paths = sorted(path for name in ("illformed", "encoding") for path in (suites / "feeds" / name).rglob("*.xml"))
    silent = {path.name for path in paths if not any(read_feed(path))}
    assert silent == set()
    assert len(paths) == 101


def test_values_that_the_files_name_are_in_the_graph(suites: Path) -> None:
    found, missed = 0, dict.fromkeys(KINDS_OF_MISSES, 0)
    unexplained = set()
    for path in sorted((suites / "feeds").rglob("*.xml")):
        expected = expected_texts(path)
        missing = [pair for pair in expected if not is_stated(pair[1], read_feed(path)[0])]
        if expected and not missing:
            found += 1
        elif missing:
            kind = next((kind for kind, matches in KINDS_OF_MISSES.items() if all(map(matches, missing))), None)
            if kind is None:
                unexplained.add(path.name)
            else:
                missed[kind] += 1
    assert unexplained == MISSED
    assert missed == {"type": 49, "base": 42, "markup": 78, "author": 6}
    assert found == 583


# Each takes what the file compares and the text that it expects.
KINDS_OF_MISSES = {
    # Whether a text is plain or HTML, and the class of a shape, are feedparser's words, not the feed's.
    "type": lambda pair: pair[0].endswith("['type']"),
    # Addresses are resolved against xml:base, which is itself not stated.
    "base": lambda pair: pair[0].endswith("['base']"),
    # feedparser cleans markup and makes its addresses absolute; ours stays as the feed has it.
    "markup": lambda pair: "<" in pair[1] or "&" in pair[1],
    # feedparser joins name and mail address; ours are apart.
    "author": lambda pair: pair[0].endswith("['author']") and pair[1].endswith("(me@example.com)"),
}

MISSED = {
    # Characters that XML does not have, or that mean others in Windows' encoding, are not guessed.
    "demoronize-1.xml",
    "demoronize-2.xml",
    "bozo_linenoise.xml",
    # The language of the HTTP header is not the feed's to state.
    "http_content_language.xml",
    "http_content_language_entry_title_inherit.xml",
    "http_content_language_entry_title_inherit_2.xml",
    # A period stays one text: start=…; end=….
    "channel_dcterms_validity.xml",
    "channel_dcterms_validity_end.xml",
    "channel_dcterms_validity_start.xml",
    # Defaults and lists of feedparser's own.
    "item_media_category_scheme1.xml",
    "media_group.xml",
    "item_madeup_tags_element.xml",
}


def expected_texts(path: Path) -> list[tuple[str, str]]:
    """What `Expect:` says of feed and entries: the expression on the left, and a text that it must equal."""
    line = re.search(r"Expect:\s*(.*)", path.read_bytes().decode("utf-8", "replace"))
    try:
        expression = ast.parse(line[1].strip() if line else "1", mode="eval")
    except SyntaxError:
        return []
    found = []
    for compare in ast.walk(expression):
        if isinstance(compare, ast.Compare) and _subject(compare.left) in ("feed", "entries"):
            for right in compare.comparators:
                values = right.values if isinstance(right, ast.Dict) else [right]
                values = right.elts if isinstance(right, ast.List) else values
                found += [
                    (ast.unparse(compare.left), value.value)
                    for value in values
                    if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value
                ]
    return found


def is_stated(text: str, quads: list[Quad]) -> bool:
    """Whether a text is an IRI, a literal, a language or a link's relation; dates count in their normal form."""
    date = to_xsd_date(text)
    wanted = {text, text.lower(), date[0] if date else text}
    return any(not wanted.isdisjoint(_texts(quad)) for quad in quads)


def _texts(quad: Quad) -> set[str]:
    found = {quad.predicate.value.removeprefix("http://www.iana.org/assignments/relation/")}
    if quad.predicate.value == RSS + "link":
        found.add("alternate")
    elif quad.predicate.value.endswith("enc#enclosure"):
        found.add("enclosure")
    for term in (quad.subject, quad.object):
        if isinstance(term, NamedNode):
            found |= {term.value, term.value.removeprefix("mailto:")}
        elif isinstance(term, Literal):
            found |= {term.value, (term.language or "").lower()}
    return found


def _subject(node: ast.expr) -> str | None:
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None
