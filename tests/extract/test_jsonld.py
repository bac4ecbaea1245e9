import json
import subprocess
import sys
import time
from typing import Any

import pytest

import rdfspider
from rdfspider.config import ExtractConfig
from rdfspider.extract.dom import parse_html, parse_xml_text
from rdfspider.extract.jsonld import extract_document, extract_scripts
from rdfspider.extract.statements import Problems, Statements
from rdfspider.records import Content, ContentKind

URL = "http://example.org/dir/page"
SCHEMA = "http://schema.org/"
A_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


class Found:
    """What a text says: lines without their graph, blank nodes called by their order, and problems."""

    def __init__(self, text: str, *, page: bool = False, **config: Any) -> None:
        problems = Problems()
        out = Statements(URL, URL, "jsonld", ExtractConfig(**config), problems)
        if page:
            extract_scripts(parse_html(text), Content("text/html", ContentKind.HTML, "utf-8", text), out)
        else:
            extract_document(text, out)
        prefix = out.blank().rstrip("0123456789")
        self.nquads = out.to_nquads()
        self.lines = [
            line.removesuffix(f" <{URL}> .").replace(prefix, "_:") for line in self.nquads.splitlines() if line
        ]
        self.problems = {problem.code: problem.message for problem in problems.listed()}


def plain(**entries: Any) -> str:
    return json.dumps({"@context": "https://schema.org", **entries})


@pytest.mark.parametrize(
    "context",
    [
        "http://schema.org",
        "https://schema.org",
        "http://schema.org/",
        "https://schema.org/",
        "https://www.schema.org",
        "http://schema.org/docs/jsonldcontext.json",
        "https://schema.org/docs/jsonldcontext.jsonld",
        ["https://schema.org"],
        ["https://schema.org", {"mine": "http://mine.example/"}],
        {"@vocab": "http://schema.org/"},
    ],
)
def test_schemaorg_context_is_known_in_all_its_spellings(context: Any) -> None:
    found = Found(json.dumps({"@context": context, "@type": "Person", "name": "Ada"}))
    assert found.lines == [f"_:1 {A_TYPE} <{SCHEMA}Person>", f'_:1 <{SCHEMA}name> "Ada"']
    assert found.problems == {}


@pytest.mark.parametrize(
    "document",
    [
        {"@context": "schema.org", "name": "Ada"},
        {"@context": "https://schema.org/Person", "name": "Ada"},
        {"@context": " http://schema.org", "name": "Ada"},
        {"@context": {"@vocab": "http://schema.org"}, "name": "Ada"},
        {"@Context": "https://schema.org", "name": "Ada"},
        {"@context": "http://schema.googleapis.com", "name": "Ada"},
        {"@context": "https://web.archive.org/web/20200102030405/http://schema.org/", "name": "Ada"},
        {"@context": "/web/20200102030405js_/https://schema.org", "name": "Ada"},
        {"@type": "Person", "name": "Ada"},
        {"@type": ["https://schema.org/Person"], "name": "Ada"},
        {"@graph": [{"@type": "Person", "name": "Ada"}]},
    ],
)
def test_misspelt_contexts_are_read_with_a_problem(document: Any) -> None:
    found = Found(json.dumps(document))
    assert f'_:1 <{SCHEMA}name> "Ada"' in found.lines
    assert "context-repaired" in found.problems


@pytest.mark.parametrize("through_general_parser", [False, True])
def test_values_are_coerced_as_schemaorg_says(through_general_parser: bool) -> None:
    context: Any = ["https://schema.org", {"mine": "http://mine.example/"}]
    document = {
        "@context": context if through_general_parser else "https://schema.org",
        "@id": "#it",
        "url": ["a b", "/root", "dc:title", "http://x.example/ü"],
        "datePublished": "2020-01-02",
        "price": [1, 1.0, 2.5, 1e-7],
        "isAccessibleForFree": True,
        "name": [["deep", ["deeper"]], None],
        "dc:title": "prefixed",
        "time": "a prefix",
    }
    found = Found(json.dumps(document))
    xsd = "http://www.w3.org/2001/XMLSchema#"
    assert sorted(found.lines) == sorted(
        f"<{URL}#it> {rest}"
        for rest in (
            f"<{SCHEMA}url> <http://example.org/dir/a%20b>",
            f"<{SCHEMA}url> <http://example.org/root>",
            f"<{SCHEMA}url> <http://purl.org/dc/elements/1.1/title>",
            f"<{SCHEMA}url> <http://x.example/ü>",
            f'<{SCHEMA}datePublished> "2020-01-02"^^<{SCHEMA}Date>',
            f'<{SCHEMA}price> "1"^^<{xsd}integer>',
            f'<{SCHEMA}price> "2.5E0"^^<{xsd}double>',
            f'<{SCHEMA}price> "1.0E-7"^^<{xsd}double>',
            f'<{SCHEMA}isAccessibleForFree> "true"^^<{xsd}boolean>',
            f'<{SCHEMA}name> "deep"',
            f'<{SCHEMA}name> "deeper"',
            '<http://purl.org/dc/elements/1.1/title> "prefixed"',
            '<http://www.w3.org/2006/time#> "a prefix"',
        )
    )


def test_own_vocabulary_takes_only_terms_that_schemaorg_lacks() -> None:
    context = ["https://schema.org", {"@vocab": "http://mine.example/"}]
    found = Found(json.dumps({"@context": context, "name": "Ada", "nickel": "Ni"}))
    assert found.lines == [f'_:1 <{SCHEMA}name> "Ada"', '_:1 <http://mine.example/nickel> "Ni"']


def test_nested_objects_and_graphs_become_nodes() -> None:
    found = Found(plain(**{"@graph": [{"@id": "_:x", "knows": {"@type": "Person"}}, {"knows": {"@id": "_:x"}}]}))
    assert found.lines == [
        f"_:1 <{SCHEMA}knows> _:3",
        f"_:2 <{SCHEMA}knows> _:1",
        f"_:3 {A_TYPE} <{SCHEMA}Person>",
    ]


def test_graph_names_are_kept_on_request_only() -> None:
    document = json.dumps({"@context": {"@vocab": "http://v/"}, "@id": "http://g/", "@graph": [{"p": "x"}]})
    assert Found(document).lines == ['_:1 <http://v/p> "x"']
    assert Found(document, keep_graphs=True).lines == ['_:1 <http://v/p> "x" <http://g/> .']


def test_scripts_are_taken_by_type_and_fail_alone() -> None:
    page = f"""<script type="application/ld+json">{plain(name="one")}</script>
        <script type=" Application/LD+JSON ; charset=utf-8">{plain(name="two")}</script>
        <script type="application/json">{plain(name="three")}</script><script>{plain(name="four")}</script>
        <script type="application/ld+json">no JSON</script><script type="application/ld+json"></script>
        <script type="application/ld+json">{{"@context": "http://unknown.example/", "name": "five"}}</script>
        <script type="application/ld+json">{plain(name="six")},</script>"""
    found = Found(page, page=True)
    assert [line.split()[-1] for line in found.lines] == ['"one"', '"two"', '"six"']
    assert found.problems.keys() == {"json-invalid", "json-empty", "context-unknown", "json-repaired"}


def test_scripts_of_xhtml_may_be_in_cdata_sections() -> None:
    text = f"<html><script type='application/ld+json'><![CDATA[{plain(name='a & b')}]]></script></html>"
    tree = parse_xml_text(text)
    assert not isinstance(tree, str)
    out = Statements(URL, URL, "jsonld", ExtractConfig(), Problems())
    extract_scripts(tree, Content("application/xhtml+xml", ContentKind.XML, "utf-8", text), out)
    assert '"a & b"' in out.to_nquads()


def test_blank_labels_are_shared_by_the_scripts_of_a_page() -> None:
    script = '<script type="application/ld+json">%s</script>'
    page = script % plain(**{"@id": "_:x", "name": "one"}) + script % plain(knows={"@id": "_:x"})
    assert Found(page, page=True).lines == [f'_:1 <{SCHEMA}name> "one"', f"_:2 <{SCHEMA}knows> _:1"]


def test_contexts_come_from_the_documents_of_the_settings() -> None:
    asked: list[str] = []

    def documents(url: str) -> bytes | None:
        asked.append(url)
        return b'{"@context": {"label": "http://v/label"}}' if url == "http://example.org/dir/ctx" else None

    document = json.dumps([{"@context": "ctx", "label": "x"}, {"@context": "ctx", "label": "y"}])
    found = Found(document, documents=documents)
    assert found.lines == ['_:1 <http://v/label> "x"', '_:2 <http://v/label> "y"']
    assert asked == ["http://example.org/dir/ctx"]


def test_unknown_context_costs_its_own_object_only() -> None:
    found = Found(json.dumps([{"@context": "http://unknown.example/", "name": "x"}, json.loads(plain(name="y"))]))
    assert [line.split()[-1] for line in found.lines] == ['"y"']
    assert "http://unknown.example/" in found.problems["context-unknown"]


def test_contexts_that_are_not_at_hand_are_named() -> None:
    names = ["ctx", "http://other.example/", "ctx", *(f"http://{number}.example/" for number in range(20))]
    document = json.dumps([{"@context": name, "label": "x"} for name in names])
    found = rdfspider.extract(document, "http://example.org/dir/page", "application/ld+json")
    assert found.missing_documents[:3] == ("http://example.org/dir/ctx", "http://other.example/", "http://0.example/")
    assert len(found.missing_documents) == 8
    assert rdfspider.extract(plain(name="y"), "http://example.org/", "application/ld+json").missing_documents == ()
    # All of one list are told of at once, also behind one that is at hand and refers to another.
    documents = {"http://known.example/": b'{"@context": "http://inner.example/"}'}
    names = ["http://1.example/", "http://known.example/", {"p": "http://v/p"}, ["http://2.example/"]]
    found = rdfspider.extract(
        json.dumps({"@context": names, "p": "x"}), URL, "application/ld+json", documents=documents.get
    )
    assert found.missing_documents == ("http://1.example/", "http://inner.example/", "http://2.example/")
    assert [problem.code for problem in found.problems] == ["context-unknown"]


def test_terms_without_a_context_mean_nothing() -> None:
    assert "context-missing" in Found('{"@type": "Gadget", "name": "Ada"}').problems
    assert Found('{"http://v/p": "x"}').lines == ['_:1 <http://v/p> "x"']


def test_what_hangs_on_an_undefined_term_is_dropped() -> None:
    found = Found('{"@context": {"p": "http://v/p"}, "p": "x", "q": {"p": "y"}}')
    assert found.lines == ['_:1 <http://v/p> "x"']


def test_wrong_values_of_keywords_cost_themselves_only() -> None:
    for context in ("https://schema.org", ["https://schema.org"]):
        found = Found(json.dumps({"@context": context, "@id": 5, "@type": ["A", None], "name": "x"}))
        assert found.lines == [f"_:1 {A_TYPE} <{SCHEMA}A>", f'_:1 <{SCHEMA}name> "x"']
        assert "jsonld-error" in found.problems


def test_directions_are_left_out_as_rdf_has_none() -> None:
    found = Found('{"@context": {"@vocab": "http://v/", "@direction": "rtl", "@language": "ar"}, "p": "x"}')
    assert found.lines == ['_:1 <http://v/p> "x"@ar']


def test_plain_documents_need_no_pyld() -> None:
    code = (
        "import sys; from rdfspider.config import ExtractConfig; from rdfspider.extract import jsonld, statements as s;"
        "out = s.Statements('x:y', 'x:y', 'jsonld', ExtractConfig(), s.Problems());"
        f"jsonld.extract_document({plain(name='x')!r}, out); assert out.lines; assert 'pyld' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[" * 100_000, "json-too-deep"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "json-too-deep"),
        (plain(a=[]).replace("[]", "[" * 600 + "]" * 600), "json-too-deep"),
        ('{"@context": {"p": "http://v/"}, "p": %s}' % ('{"p":' * 600 + "1" + "}" * 600), "json-too-deep"),
        ('{"@context": %s, "name": "x"}' % ("[" * 800 + "]" * 800), "json-too-deep"),
        ("{," + "[" * 100_000, "json-invalid"),
        (json.dumps({"@context": {f"t{i}": f"t{i + 1}:x" for i in range(40_000)}, "t0": "x"}), "context-invalid"),
        (json.dumps({"@context": {f"t{i}": "http://v/" for i in range(60_000)}, "t0": "x"}), "context-too-large"),
        (
            json.dumps({"@context": {"@vocab": "x:", "@direction": "rtl"}, "p": [{"q": "r"}] * 20_000}),
            "jsonld-too-large",
        ),
    ],
)
def test_hostile_documents_are_refused_fast(text: str, code: str) -> None:
    start = time.process_time()
    found = Found(text)
    assert code in found.problems
    assert found.lines == []
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "value",
    ['"\\ud800"', '"\\u0000"', '"\x00"', "1e999", "-1e400", "NaN", "9" * 400, "9" * 5000, "1e20", '{"@value": 1e300}'],
)
@pytest.mark.parametrize("context", ['"http://schema.org"', '{"@vocab": "http://v/"}'])
def test_odd_values_never_fail(value: str, context: str) -> None:
    found = Found(f'{{"@context": {context}, "name": {value}, "name2": "x"}}')
    assert found.lines or found.problems


def test_numbers_beyond_integers_are_doubles() -> None:
    for context in ("http://schema.org", {"@vocab": SCHEMA}):
        found = Found(json.dumps({"@context": context, "p": [10**20, 10**21, 1.5e300]}))
        assert [line.split()[-1].partition("^")[0] for line in found.lines] == [f'"{10**20}"', '"1.0E21"', '"1.5E300"']


def test_same_text_gives_same_statements() -> None:
    text = json.dumps({"@context": {"@vocab": "http://v/"}, "a": [{"b": {"c": "d"}}, {"e": {"@list": [1, 2]}}]})
    assert Found(text).nquads == Found(text).nquads
