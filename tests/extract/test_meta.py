from rdfspider.config import ExtractConfig
from rdfspider.extract.dom import parse_html
from rdfspider.extract.meta import extract_meta
from rdfspider.extract.statements import Problems, Statements
from rdfspider.records import Content, ContentKind

PAGE = "http://example.org/page"


def read(html: str) -> list[str]:
    out = Statements(PAGE, PAGE, "meta", ExtractConfig(), Problems())
    extract_meta(parse_html(html), Content("text/html", ContentKind.HTML, "utf-8", html), out)
    return [line.removeprefix(f"<{PAGE}> ").removesuffix(f" <{PAGE}> .") for line in out.lines]


def test_open_graph_needs_no_declared_prefix() -> None:
    assert read('<meta property="og:title" content="Tea">') == ['<http://ogp.me/ns#title> "Tea"']
    assert read('<meta name="og:image:width" content="5">') == ['<http://ogp.me/ns#image:width> "5"']
    assert read('<meta property="article:author" content="Eva">') == ['<http://ogp.me/ns/article#author> "Eva"']


def test_twitter_cards() -> None:
    assert read('<meta name="twitter:card" content="summary">') == ['<https://dev.twitter.com/cards#card> "summary"']


def test_values_have_the_language_of_the_page() -> None:
    assert read('<html lang=de><meta property="og:title" content="Tee">') == ['<http://ogp.me/ns#title> "Tee"@de']


def test_dublin_core_by_element_and_by_refinement() -> None:
    assert read('<meta name="DC.Title" content="Tea">') == ['<http://purl.org/dc/elements/1.1/title> "Tea"']
    assert read('<meta name="DC.date.created" content="2024">') == ['<http://purl.org/dc/terms/created> "2024"']
    assert read('<meta name="dcterms.isPartOf" content="x">') == ['<http://purl.org/dc/terms/isPartOf> "x"']
    assert read('<link rel="DC.relation" href="other">') == [
        "<http://purl.org/dc/elements/1.1/relation> <http://example.org/other>"
    ]


def test_other_names_say_nothing() -> None:
    assert read('<meta name=viewport content=x><meta name="a:b" content=x><meta name="DC.nonsense" content=x>') == []
    assert read('<meta property="og:title"><meta property="og:title" content="">') == []
