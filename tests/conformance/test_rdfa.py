"""The RDFa test suite: every folder of it, its ASK queries, and, more strictly, its sample graphs."""

from pathlib import Path

import pyoxigraph
import pytest
from pyoxigraph import CanonicalizationAlgorithm, Dataset, NamedNode, Quad, RdfFormat, Store

from rdfspider.config import ExtractConfig
from rdfspider.extract.dom import parse_html, parse_xml_text
from rdfspider.extract.rdfa import extract_processor_graph, extract_rdfa
from rdfspider.extract.statements import Problems, Statements
from rdfspider.records import Content, ContentKind

MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
RDFATEST = "http://rdfa.info/vocabs/rdfa-test#"
USES_VOCABULARY = NamedNode("http://www.w3.org/ns/rdfa#usesVocabulary")
MEDIA_TYPES = {
    ".html": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".xml": "application/xml",
    ".svg": "image/svg+xml",
}


# Tests per folder.
COUNTS = {
    "rdfa1.0": {"html4": 104, "svg": 7, "xhtml1": 117, "xml": 95},
    "rdfa1.1": {
        "html4": 169,
        "html5": 170,
        "html5-invalid": 28,
        "svg": 31,
        "xhtml1": 181,
        "xhtml5": 177,
        "xhtml5-invalid": 23,
        "xml": 126,
    },
    "rdfa1.1-lite": {"html4": 34, "html5": 54, "html5-invalid": 2, "svg": 12, "xhtml1": 37, "xhtml5": 56, "xml": 30},
    "rdfa1.1-proc": {
        "html4": 4,
        "html5": 4,
        "html5-invalid": 1,
        "svg": 5,
        "xhtml1": 5,
        "xhtml5": 4,
        "xhtml5-invalid": 1,
        "xml": 5,
    },
    "rdfa1.1-role": {"html5": 3, "html5-invalid": 4, "xhtml1": 7, "xhtml5": 3, "xhtml5-invalid": 4, "xml": 6},
    "rdfa1.1-vocab": {"html4": 6, "html5": 6, "svg": 6, "xhtml1": 6, "xhtml5": 6, "xml": 6},
}
FOLDERS = [f"{version}/{host}" for version, hosts in COUNTS.items() for host in hosts]

# Tests whose query we do not answer as the suite wants.
# 0198 wants the prefixes of @prefix repeated as namespaces inside an XML literal, after the attributes.
# 0210 and 0212 of RDFa 1.0 in XML take `base` and the namespace of XHTML for granted in a document that has neither.
FAILING = {"rdfa1.0/xml": {"0210", "0212"}, "rdfa1.1/xhtml1": {"0198"}, "rdfa1.1/xhtml5": {"0198"}}

# Tests whose sample graph differs from ours. Samples are informative: they are what another processor gave.
# 0180, 0209, 0211, 0258, 0294, 0311 and 0042 are negative tests, and their samples have what must not be there.
# 0295, all tests in one, has its XML literal, dates in SVG and XML, and @xml:base by other rules. In 0280 the subject is a
# blank node, in 0304 there is RDF/XML too, in 0212 the datatype is xsd:XMLLiteral. 0198 and 0210 are named above.
# Of RDFa Lite, 0235, 0238, 0239 and 0313 have the processor graph of a run, 0281 and 0282 are no Turtle.
DIFFERING = {
    "rdfa1.0/html4": {"0042", "0209", "0211", "0212", "0258"},
    "rdfa1.0/svg": {"0294", "0304", "0311"},
    "rdfa1.0/xhtml1": {"0211", "0258"},
    "rdfa1.0/xml": {"0042", "0209", "0210", "0211", "0212", "0258"},
    "rdfa1.1/html4": {"0180", "0295"},
    "rdfa1.1/html5-invalid": {"0180", "0280", "0295"},
    "rdfa1.1/svg": {"0295"},
    "rdfa1.1/xhtml1": {"0180", "0198", "0295"},
    "rdfa1.1/xhtml5": {"0198"},
    "rdfa1.1/xhtml5-invalid": {"0180", "0280", "0295"},
    "rdfa1.1/xml": {"0180", "0295"},
    "rdfa1.1-lite/html4": {"0235", "0238", "0239"},
    "rdfa1.1-lite/html5": {"0235", "0238", "0239", "0281", "0282", "0313"},
    "rdfa1.1-lite/svg": {"0235", "0238", "0239"},
    "rdfa1.1-lite/xhtml1": {"0235", "0238", "0239"},
    "rdfa1.1-lite/xhtml5": {"0235", "0238", "0239", "0281", "0282", "0313"},
    "rdfa1.1-lite/xml": {"0235", "0238", "0239"},
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_rdfa_suite(suites: Path, folder: str) -> None:
    tests, answered, equal = passing(suites / "rdfa" / "test-cases" / folder)
    version, host = folder.split("/")
    assert len(tests) == COUNTS[version][host]
    assert tests - answered == FAILING.get(folder, set())
    # The samples of the processor graph are logs of a run.
    if version != "rdfa1.1-proc":
        assert tests - equal == DIFFERING.get(folder, set())


def test_every_folder_of_the_suite_is_run(suites: Path) -> None:
    found = {
        f"{file.parent.parent.name}/{file.parent.name}" for file in suites.glob("rdfa/test-cases/*/*/manifest.ttl")
    }
    assert found == set(FOLDERS)


def passing(folder: Path) -> tuple[set[str], set[str], set[str]]:
    """The tests of a folder: all, those whose query is answered as it should be, those that equal their samples."""
    all_tests, asked, equal = set(), set(), set()
    for name, action, positive, parameter in manifest(folder):
        all_tests.add(name)
        found = extracted(folder / action.rpartition("/")[2], action, parameter)
        store = Store()
        store.extend(found)
        if bool(store.query((folder / f"{name}.sparql").read_text())) is positive:
            asked.add(name)
        if canonical(found) == canonical(sample(folder / f"{name}.ttl", action)):
            equal.add(name)
    return all_tests, asked, equal


def manifest(folder: Path) -> list[tuple[str, str, bool, str]]:
    store = Store()
    store.load(path=str(folder / "manifest.ttl"), format=RdfFormat.TURTLE)
    tests = []
    for quad in store.quads_for_pattern(None, NamedNode(MF + "action"), None):
        kind = NamedNode(RDFATEST + "PositiveEvaluationTest")
        positive = any(store.quads_for_pattern(quad.subject, None, kind))
        parameters = list(store.quads_for_pattern(quad.subject, NamedNode(RDFATEST + "queryParam"), None))
        action = quad.object.value
        name = Path(action).stem
        tests.append((name, action, positive, parameters[0].object.value if parameters else ""))
    return sorted(tests)


def extracted(file: Path, url: str, parameter: str) -> list[Quad]:
    text = file.read_text(encoding="utf-8")
    media_type = MEDIA_TYPES[file.suffix]
    kind = ContentKind.HTML if media_type in ("text/html", "application/xhtml+xml") else ContentKind.XML
    content = Content(media_type, kind, "utf-8", text)
    vocabulary = file.parents[3] / "vocabs" / "rdfa-test.html"
    config = ExtractConfig(
        vocabulary_expansion=parameter == "vocab_expansion=true",
        documents=lambda url: vocabulary.read_bytes() if url == RDFATEST else None,
    )
    out = Statements(url, url, "rdfa", config, Problems())
    tree = parse_html(text) if media_type == "text/html" else parse_xml_text(text)
    if parameter == "rdfagraph=processor":
        extract_processor_graph(tree, content, out)
    elif not isinstance(tree, str):
        extract_rdfa(tree, content, out, version="1.0" if "rdfa1.0" in url else None)
    return [Quad(q.subject, q.predicate, q.object) for q in pyoxigraph.parse(out.to_nquads(), RdfFormat.N_QUADS)]


def sample(file: Path, url: str) -> list[Quad]:
    try:
        return list(pyoxigraph.parse(file.read_text(encoding="utf-8"), RdfFormat.TURTLE, base_iri=url))
    except SyntaxError:
        return []


def canonical(quads: list[Quad]) -> set[str]:
    dataset = Dataset(quad for quad in quads if quad.predicate != USES_VOCABULARY)
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return {str(quad) for quad in dataset}
