"""RDF documents: each syntax at its smallest, what is repaired, what is refused."""

import subprocess
import sys

import pytest

from rdfspider.config import ExtractConfig
from rdfspider.extract import rdf
from rdfspider.extract.rdf import FORMATS, extract_rdf_document
from rdfspider.extract.statements import Problems, Statements
from rdfspider.formats import to_quads
from rdfspider.records import Content, ContentKind

URL = "http://example.org/doc"
START = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'


def extract(text: str, media_type: str, **settings: object) -> tuple[list[str], list[str]]:
    """The statements without their graph, and the codes of the problems."""
    problems = Problems()
    out = Statements(URL, URL, "rdf", ExtractConfig(**settings), problems)  # type: ignore[arg-type]
    extract_rdf_document(Content(media_type, ContentKind.RDF, "utf-8", text), out)
    assert len(to_quads(out.to_nquads())) == len(set(out.lines))
    return [line.removesuffix(f" <{URL}> .") for line in out.lines], [problem.code for problem in problems.listed()]


@pytest.mark.parametrize(
    ("media_type", "text"),
    [
        ("text/turtle", "@prefix e: <http://e/> . e:s e:p e:o ."),
        ("application/trig", "<http://g> { <http://e/s> <http://e/p> <http://e/o> }"),
        ("application/n-triples", "<http://e/s> <http://e/p> <http://e/o> ."),
        ("application/n-quads", "<http://e/s> <http://e/p> <http://e/o> <http://g> ."),
        ("text/n3", "@prefix e: <http://e/> . e:o is e:p of e:s ."),
        (
            "application/rdf+xml",
            f'<?xml version="1.0" encoding="utf-16"?>\n{START}'
            '<rdf:Description rdf:about="http://e/s"><e:p rdf:resource="http://e/o"/></rdf:Description></rdf:RDF>',
        ),
    ],
)
def test_each_syntax(media_type: str, text: str) -> None:
    assert extract("\ufeff" + text, media_type) == (["<http://e/s> <http://e/p> <http://e/o>"], [])


def test_relative_references_are_resolved_against_the_base() -> None:
    assert extract("<#s> <p> <> .", "text/turtle")[0] == [f"<{URL}#s> <http://example.org/p> <{URL}>"]


def test_graphs_are_kept_on_request() -> None:
    lines, _ = extract("<http://g> { <s> <p> <o> }", "application/trig", keep_graphs=True)
    assert lines == ["<http://example.org/s> <http://example.org/p> <http://example.org/o> <http://g> ."]


def test_bad_iris_are_repaired_and_bad_languages_dropped() -> None:
    lines, codes = extract('<http://e/a b> <http://e/p> "x"@toolonglanguage, "y" .', "text/turtle")
    assert lines == ['<http://e/a%20b> <http://e/p> "x"', '<http://e/a%20b> <http://e/p> "y"']
    assert codes == ["invalid-terms", "iri-repaired", "language-dropped"]


def test_turtle_gives_what_stands_before_its_first_error() -> None:
    lines, codes = extract(
        "<http://e/a> <http://e/p> 1 . <http://e/a> <http://e/p> . <http://e/a> <http://e/p> 2 .", "text/turtle"
    )
    assert lines == ['<http://e/a> <http://e/p> "1"^^<http://www.w3.org/2001/XMLSchema#integer>']
    assert codes == ["syntax-error"]


def test_an_undeclared_prefix_costs_its_own_statement() -> None:
    lines, codes = extract('x:y <http://e/p> 1 . <http://e/a> <http://e/p> "2" .', "text/turtle")
    assert (lines, codes) == (['<http://e/a> <http://e/p> "2"'], ["syntax-error"])


def test_bad_lines_of_ntriples_are_left_out() -> None:
    text = '<http://e/a> <http://e/p> "1" .\nnonsense\r\n<http://e/a> <http://e/p> "2\u2028" .\n<a> <http://e/p> "3" .'
    lines, codes = extract(text, "application/n-triples")
    assert lines == ['<http://e/a> <http://e/p> "1"', '<http://e/a> <http://e/p> "2\u2028"']
    assert codes == ["syntax-error", "iri-dropped"]


def test_blank_nodes_stay_the_same_over_blocks_of_lines() -> None:
    text = "".join(f'_:a <http://e/p> "{n}" .\n' for n in range(2500)) + "bad\n"
    lines, codes = extract(text, "application/n-triples")
    assert len(lines) == 2500
    assert len({line.split(" ")[0] for line in lines}) == 1
    assert codes == ["syntax-error"]


def test_formulas_and_variables_of_n3_are_dropped() -> None:
    text = '@prefix : <http://e/> . {:a :b ?x} => {?x :c {}} . :a :says {} . ?y :b :c . :s :p "?x {not}" . :t <= {} .'
    lines, codes = extract(text, "text/n3")
    assert lines == ['<http://e/s> <http://e/p> "?x {not}"']
    assert codes == ["n3-formula", "n3-variable"]


def test_triple_terms_are_dropped() -> None:
    lines, codes = extract("<http://e/s> <http://e/p> <<( <a> <b> <c> )>>, 'x' .", "text/turtle")
    assert (lines, codes) == (['<http://e/s> <http://e/p> "x"'], ["not-rdf-1.1"])


def test_rdf_xml_joins_text_around_comments_and_cdata() -> None:
    lines, codes = extract(f"{START}<e:T><e:p>a<!-- b -->c<![CDATA[<&]]>d</e:p></e:T></rdf:RDF>", "application/rdf+xml")
    assert lines[1].endswith('<http://e/p> "ac<&d"')
    assert codes == []


def test_xml_literals_are_canonical() -> None:
    text = f'{START}<e:T xmlns="http://d/"><e:p rdf:parseType="Literal"><b e:y="2" a="1"/><!--c-->&gt;</e:p></e:T></rdf:RDF>'
    lines, _ = extract(text, "application/rdf+xml")
    assert '"<b xmlns=\\"http://d/\\" xmlns:e=\\"http://e/\\" a=\\"1\\" e:y=\\"2\\"></b><!--c-->&gt;"^^' in lines[1]


def test_entities_of_rdf_xml_are_replaced() -> None:
    text = f'<!DOCTYPE rdf:RDF [<!ENTITY x "http://x/#">]>{START}<e:T rdf:about="&x;a"/></rdf:RDF>'
    assert extract(text, "application/rdf+xml")[0][0].startswith("<http://x/#a> ")


def test_entity_bombs_are_refused() -> None:
    text = f'<!DOCTYPE r [<!ENTITY a "&b;&b;"><!ENTITY b "&a;">]>{START}<e:T e:p="&a;"/></rdf:RDF>'
    assert extract(text, "application/rdf+xml") == ([], ["entity-bomb", "syntax-error"])


def test_ill_formed_rdf_xml_gives_what_stands_before_the_error() -> None:
    lines, codes = extract(f'{START}<e:T rdf:about="http://a/"/>\n<e:U></e:V></rdf:RDF>', "application/rdf+xml")
    assert lines[0].startswith("<http://a/> ")
    assert codes == ["syntax-error"]


def test_long_prefixes_do_not_multiply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdf, "MAX_STATEMENT_CHARS", 10_000_000)
    text = f"@prefix a: <http://a/{'x' * 100_000}> .\n" + "a:a a:b a:c .\n" * 10_000
    lines, codes = extract(text, "text/turtle")
    assert sum(map(len, lines)) <= 10_000_000
    assert codes[0] == "syntax-error"


def test_growing_bases_are_refused() -> None:
    assert extract("@base <a/> .\n" * 50_000, "text/turtle") == ([], ["syntax-error"])


def test_an_unknown_media_type_is_a_problem() -> None:
    assert extract("", "text/html") == ([], ["unknown-syntax"])


HOSTILE = {
    "triple terms": ("text/turtle", "'<a> <b> ' + '<<( <a> <b> ' * 100_000"),
    "triple terms in lines": (
        "application/n-triples",
        "'<http://a> <http://b> ' + '<<( <http://a> <http://b> ' * 100_000",
    ),
    "brackets": ("text/turtle", "'<a> <b> ' + '[ <p> ' * 100_000 + ']' * 100_000"),
    "lists": ("application/trig", "'<a> <b> ' + '(' * 100_000"),
    "angles": ("text/turtle", "'<' * 3_000_000"),
    "formulas": ("text/n3", "'{' * 1_000_000"),
    "elements": ("application/rdf+xml", f"'{START}' + '<e:a><e:b>' * 100_000"),
    "attributes": (
        "application/rdf+xml",
        f"'{START}<e:a ' + ' '.join(f'e:a{{n}}=\"\"' for n in range(200_000)) + '/></rdf:RDF>'",
    ),
    "namespaces": (
        "application/rdf+xml",
        f"'{START[:-1]} ' + ' '.join(f'xmlns:a{{n}}=\"u:\"' for n in range(50_000)) + '>' + '<e:x/>' * 100_000 + '</rdf:RDF>'",
    ),
    "NULs": ("text/turtle", "chr(0) * 1_000_000"),
    "NULs in lines": ("application/n-quads", "chr(0) * 1_000_000"),
    "dots": ("text/turtle", "'@prefix a: <http://a/> . a:' + '.' * 1_000_000"),
    "bad lines": ("application/n-triples", "'x\\n' * 1_000_000"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_end_soon(name: str) -> None:
    # In a process of its own, as what is tested is that the parser does not take this one with it.
    media_type, expression = HOSTILE[name]
    code = (
        "from rdfspider.extract.rdf import *; from rdfspider.extract.statements import *\n"
        "from rdfspider.config import *; from rdfspider.records import ContentKind\n"
        f"problems = Problems(); out = Statements('{URL}', '{URL}', 'rdf', ExtractConfig(), problems)\n"
        f"extract_rdf_document(Content('{media_type}', ContentKind.RDF, 'utf-8', {expression}), out)\n"
        "print(problems.listed()[0].code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "syntax-error"), done.stderr


def test_every_media_type_is_in_lower_case() -> None:
    assert all(media_type == media_type.lower() for media_type in FORMATS)
