"""The user's stylesheets: which one is chosen, what it gives, and what it cannot do to us."""

import pickle
from pathlib import Path

import pytest

from rdfspider.config import ExtractConfig, Stylesheet
from rdfspider.errors import UsageError
from rdfspider.extract.statements import Problems, Statements
from rdfspider.extract.xslt import extract_by_stylesheet, find_stylesheet, load_stylesheets
from rdfspider.records import Content, ContentKind

URL = "http://example.org/catalog.xml"
HEAD = '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"'
TITLES = (
    HEAD
    + """ xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="http://purl.org/dc/terms/">
  <xsl:template match="/catalog">
    <rdf:RDF><xsl:for-each select="book">
      <rdf:Description rdf:about="{@id}"><dc:title><xsl:value-of select="."/></dc:title></rdf:Description>
    </xsl:for-each></rdf:RDF>
  </xsl:template>
</xsl:stylesheet>"""
)
TURTLE = (
    HEAD
    + """><xsl:output method="text"/><xsl:param name="url"/>
  <xsl:template match="/">&lt;<xsl:value-of select="$url"/>&gt; &lt;http://example.org/count&gt; <xsl:value-of
    select="count(//*)"/> .</xsl:template></xsl:stylesheet>"""
)
CATALOG = '<catalog><book id="#1">Ésope</book><book id="#2">A &amp; B</book></catalog>'


def read(text: str, *stylesheets: Stylesheet, root: str = "catalog", **settings: object) -> tuple[list[str], list[str]]:
    """The statements, without their graph, and the codes of the problems."""
    problems = Problems()
    config = ExtractConfig(stylesheets=stylesheets, **settings)  # type: ignore[arg-type]
    out = Statements(URL, URL, "xslt", config, problems)
    extract_by_stylesheet(Content("application/xml", ContentKind.XML, "utf-8", text, root), out)
    return [line.removesuffix(f" <{URL}> .") for line in out.lines], [problem.code for problem in problems.listed()]


def sheet(body: str, root: str = "catalog", namespace: str | None = None) -> Stylesheet:
    return Stylesheet(f"{root}.xsl", body.encode(), root, namespace)


def test_rdf_xml_is_what_a_stylesheet_gives() -> None:
    lines, problems = read(CATALOG, sheet(TITLES))
    assert lines == [
        f'<{URL}#1> <http://purl.org/dc/terms/title> "Ésope"',
        f'<{URL}#2> <http://purl.org/dc/terms/title> "A & B"',
    ]
    assert problems == []


def test_text_is_turtle_and_the_url_is_a_parameter() -> None:
    lines, problems = read(CATALOG, sheet(TURTLE))
    assert lines == [f'<{URL}> <http://example.org/count> "3"^^<http://www.w3.org/2001/XMLSchema#integer>']
    assert problems == []


@pytest.mark.parametrize(
    ("media_type", "rdf"),
    [
        ("application/n-triples", "<http://a/s> <http://a/p> 'x' ."),
        ("application/ld+json; charset=utf-8", '{"@id": "http://a/s", "http://a/p": "x"}'),
        ("text/plain", "<http://a/s> <http://a/p> 'x' ."),
    ],
)
def test_the_output_element_says_which_rdf_it_is(media_type: str, rdf: str) -> None:
    rdf = rdf.replace("'", '"') if "n-triples" in media_type else rdf
    body = f'{HEAD}><xsl:output method="text" media-type="{media_type}"/><xsl:template match="/"><![CDATA[{rdf}]]>'
    assert read(CATALOG, sheet(f"{body}</xsl:template></xsl:stylesheet>")) == (['<http://a/s> <http://a/p> "x"'], [])


def test_entities_of_the_document_are_replaced() -> None:
    text = (
        '<?xml version="1.0"?><!DOCTYPE catalog [<!ENTITY who "Ésope">]><catalog><book id="#1">&who;</book></catalog>'
    )
    assert read(text, sheet(TITLES))[0] == [f'<{URL}#1> <http://purl.org/dc/terms/title> "Ésope"']


def test_a_declared_encoding_is_over_once_the_text_is_decoded() -> None:
    text = '<?xml version="1.0" encoding="iso-8859-1"?><catalog><book id="#1">Ésope</book></catalog>'
    assert read(text, sheet(TITLES))[0] == [f'<{URL}#1> <http://purl.org/dc/terms/title> "Ésope"']


def test_other_documents_are_left_alone() -> None:
    assert read("<other/>", sheet(TITLES), root="other") == ([], [])
    assert read(CATALOG) == ([], [])


def test_the_same_document_gives_the_same_lines() -> None:
    body = (
        HEAD
        + """ xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://example.org/">
      <xsl:template match="/"><rdf:RDF><xsl:for-each select="//book"><e:Book rdf:nodeID="{generate-id()}"
      e:is="{.}"/></xsl:for-each></rdf:RDF></xsl:template></xsl:stylesheet>"""
    )
    first = read(CATALOG, sheet(body))
    assert len(first[0]) == 4
    assert [read(CATALOG, sheet(body)) for _ in range(3)] == [first] * 3


@pytest.mark.parametrize(
    ("root", "namespace", "chosen"),
    [
        ("feed", "urn:a", "exact"),
        ("feed", "urn:b", "any-namespace"),
        ("feed", None, "no-namespace"),
        ("entry", "urn:a", "any-root"),
        ("entry", None, None),
    ],
)
def test_the_stylesheet_that_fits_best_is_chosen(root: str, namespace: str | None, chosen: str | None) -> None:
    stylesheets = (
        Stylesheet("any-root", b"", "*", "urn:a"),
        Stylesheet("any-namespace", b"", "feed", None),
        Stylesheet("no-namespace", b"", "feed", ""),
        Stylesheet("exact", b"", "feed", "urn:a"),
    )
    found = find_stylesheet(Content("text/xml", ContentKind.XML, "utf-8", "", root, namespace), stylesheets)
    assert (found.name if found else None) == chosen


def test_a_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "catalog.xsl").write_text(TITLES)
    own = f'{HEAD} xmlns:spider="urn:rdfspider:xslt" spider:root="feed" spider:namespace="urn:a"/>'
    (tmp_path / "b.xslt").write_text(own, encoding="utf-16")
    (tmp_path / "README.txt").write_text("not a stylesheet")
    stylesheets = load_stylesheets(tmp_path)
    assert [(s.name, s.root, s.namespace) for s in stylesheets] == [
        ("b.xslt", "feed", "urn:a"),
        ("catalog.xsl", "catalog", None),
    ]
    config = pickle.loads(pickle.dumps(ExtractConfig(stylesheets=stylesheets)))
    assert len(read(CATALOG, *config.stylesheets)[0]) == 2


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "holds no stylesheet"),
        ({"a.xsl": "<a"}, "a.xsl is not a usable stylesheet: XMLSyntaxError"),
        ({"a.xsl": "<a/>"}, "a.xsl is not a usable stylesheet: XSLTParseError"),
        ({"a.xsl": f'{HEAD}><xsl:include href="b.xsl"/></xsl:stylesheet>'}, "may not load another document"),
        ({"a.xsl": TITLES, "a.xslt": TITLES}, "a.xslt and a.xsl are for the same documents"),
    ],
)
def test_a_wrong_folder_is_told_in_one_line(tmp_path: Path, files: dict[str, str], message: str) -> None:
    for name, body in files.items():
        (tmp_path / name).write_text(body)
    with pytest.raises(UsageError) as caught:
        load_stylesheets(tmp_path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a folder"):
        load_stylesheets(tmp_path / "missing")


def test_a_looping_stylesheet_costs_its_time_and_no_more() -> None:
    call = '<xsl:call-template name="a"><xsl:with-param name="n" select="$n - 1"/></xsl:call-template>'
    body = (
        f'{HEAD}><xsl:template match="/" name="a"><xsl:param name="n" select="60"/><xsl:if test="$n &gt; 0">{call}{call}'
        "</xsl:if></xsl:template></xsl:stylesheet>"
    )
    assert read(CATALOG, sheet(body), transform_seconds=0.5) == ([], ["transform-timeout"])
    assert len(read(CATALOG, sheet(TITLES))[0]) == 2


def test_too_much_output_is_a_problem() -> None:
    assert read(CATALOG, sheet(TITLES), max_body_bytes=100) == ([], ["transform-output-too-long"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<catalog>",
        "<catalog>\0</catalog>",
        "<catalog>" * 100_000,
        "<catalog a='1' a='2'/>",
        "<catalog>&nothing;</catalog",
    ],
)
def test_a_broken_document_is_a_problem(text: str) -> None:
    assert read(text, sheet(TITLES)) == ([], ["transform-failed"])


def test_an_entity_bomb_is_refused() -> None:
    entities = '<!ENTITY e0 "aaaaaaaaaa">' + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    text = f"<!DOCTYPE catalog [{entities}]><catalog><book id='#1'>&e11;</book></catalog>"
    assert read(text, sheet(TITLES)) == ([], ["entity-bomb"])


def test_an_external_entity_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret of the file")
    text = f'<!DOCTYPE catalog [<!ENTITY e SYSTEM "{secret.as_uri()}">]><catalog><book id="#1">x&e;</book></catalog>'
    lines, problems = read(text, sheet(TITLES))
    assert lines == [f'<{URL}#1> <http://purl.org/dc/terms/title> "x"']
    assert problems == ["external-entity"]


def test_what_is_not_rdf_is_a_problem() -> None:
    body = f'{HEAD}><xsl:output method="text"/><xsl:template match="/">This is prose.</xsl:template></xsl:stylesheet>'
    lines, problems = read(CATALOG, sheet(body))
    assert (lines, problems) == ([], ["syntax-error"])
