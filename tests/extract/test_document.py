from rdfspider.config import ExtractConfig
from rdfspider.extract.document import describe_page, read_metadata
from rdfspider.extract.dom import parse_html
from rdfspider.extract.statements import Problems, Statements
from rdfspider.records import Extraction, Link, Robots

PAGE = "http://example.org/page"


def test_the_facts_of_the_head() -> None:
    facts = read_metadata(
        parse_html(
            '<html lang="en-GB"><title> A\n title </title><link rel="Canonical" href="/c#x">'
            '<meta name="Robots" content="NOINDEX, noarchive"><body><svg><title>no</title></svg>'
        ),
        PAGE,
    )
    assert facts.title == "A title"
    assert facts.language == "en-GB"
    assert facts.canonical == "http://example.org/c"
    assert facts.robots == Robots(noindex=True, nofollow=False, noarchive=True)


def test_a_picture_has_no_title_for_the_page() -> None:
    assert read_metadata(parse_html("<body><svg><title>icon</title></svg>"), PAGE).title is None


def test_a_canonical_address_that_is_too_long_is_none() -> None:
    for size, is_one in ((1000, True), (10_000, False)):
        link = f"<link rel=canonical href=/{'x' * size}>"
        assert bool(read_metadata(parse_html(link), PAGE).canonical) == is_one


def test_none_means_both() -> None:
    assert read_metadata(parse_html('<meta name=robots content="none">'), PAGE).robots == Robots(True, True, False)


def test_a_silent_page() -> None:
    assert read_metadata(parse_html("<p>x"), PAGE) == (None, None, None, Robots())


def test_a_page_describes_itself() -> None:
    html = (
        '<meta name=description content="All about tea"><img src=t.png alt="A cup">'
        '<a href="mailto:tea@example.org?subject=x">mail</a>'
    )
    found = Extraction(
        PAGE, "text/html", title="Tea", language="en", text="or eva@example.org", links=(Link(PAGE + "2", "", "next"),)
    )
    out = Statements(PAGE, PAGE, "page", ExtractConfig(), Problems())
    describe_page(parse_html(html), found, out)
    lines = {line.removesuffix(f" <{PAGE}> .") for line in out.lines}
    dc, foaf, label = (
        "http://purl.org/dc/terms/",
        "http://xmlns.com/foaf/0.1/",
        "http://www.w3.org/2000/01/rdf-schema#label",
    )
    assert lines == {
        f"<{PAGE}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{foaf}Document>",
        f'<{PAGE}> <{dc}title> "Tea"@en',
        f'<{PAGE}> <{dc}language> "en"',
        f'<{PAGE}> <{dc}description> "All about tea"@en',
        f"<{PAGE}> <{foaf}mbox> <mailto:tea@example.org>",
        f"<{PAGE}> <{foaf}mbox> <mailto:eva@example.org>",
        f"<{PAGE}> <{foaf}depiction> <http://example.org/t.png>",
        f'<http://example.org/t.png> <{label}> "A cup"',
        f"<{PAGE}> <{dc}references> <{PAGE}2>",
        f'<{PAGE}2> <{label}> "next"',
    }
