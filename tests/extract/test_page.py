import pytest

import rdfspider
from rdfspider import ExtractConfig
from rdfspider.extract import page

URL = "http://example.org/dir/page"


def codes(found: rdfspider.Extraction) -> list[str]:
    return [problem.code for problem in found.problems]


def test_links_and_data_share_the_base() -> None:
    found = rdfspider.extract("<base href=/other/><a rel=license href=x>x</a>", URL)
    assert found.links[0].target == "http://example.org/other/x"
    assert "<http://example.org/other/x>" in found.to_nquads()


@pytest.mark.parametrize("href", ["http://[bad", "javascript:1", "data:text/html,x", "/" + "x" * 20_000])
def test_a_base_that_is_none_is_ignored_with_a_problem(href: str) -> None:
    found = rdfspider.extract(f'<base href="{href}"><a href=x>x</a>', URL)
    assert found.links[0].target == "http://example.org/dir/x"
    assert codes(found) == ["base-ignored"]


def test_a_syntax_that_fails_costs_its_own_statements_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise MemoryError("no more")

    html = '<meta property="og:title" content="x"><script type=application/ld+json>{"@context":"http://schema.org","name":"x"}'
    monkeypatch.setitem(page.HTML_SYNTAXES, "jsonld", fail)
    found = rdfspider.extract(html, URL)
    assert list(found.statements) == ["rdfa", "meta"]
    assert [(problem.code, problem.syntax) for problem in found.problems] == [("internal-error", "jsonld")]
    monkeypatch.setattr(page, "read_links", fail)
    assert codes(rdfspider.extract(html, URL)) == ["internal-error"] * 2


def test_xhtml_that_is_no_xml_is_read_as_html() -> None:
    found = rdfspider.extract("<html><p property='http://p.example/'>x", URL, "application/xhtml+xml")
    assert len(found.quads) == 1
    assert codes(found) == ["not-well-formed"]


def test_xhtml_gives_all_that_html_does() -> None:
    xhtml = (
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en"><head><title>Caf&eacute;</title>'
        '<script type="application/ld+json"><![CDATA[{"@context":"https://schema.org","name":"Eva"}]]></script></head>'
        '<body><p itemscope="" itemtype="http://schema.org/Thing"><b itemprop="name">Tea</b></p><p>Last <a href="x">link</a></p>'
        "</body></html>"
    )
    found = rdfspider.extract(xhtml, URL, "application/xhtml+xml")
    assert (found.title, found.language, found.text) == ("Café", "en", "Tea\n\nLast link")
    assert [link.target for link in found.links] == ["http://example.org/dir/x"]
    assert list(found.statements) == ["jsonld", "microdata"]
    assert '"Tea"@en' in found.to_nquads()
    assert codes(found) == []


def test_the_processor_graph_tells_of_xml_that_is_none() -> None:
    found = rdfspider.extract("<a><b></a>", URL, "application/xml", config=ExtractConfig(processor_graph=True))
    assert "http://www.w3.org/ns/rdfa#DocumentError" in found.to_nquads()
    assert "rdfa" not in rdfspider.extract("<a><b></a>", URL, "application/xml").statements


def test_keywords_override_the_config() -> None:
    nquads = "<a:s> <a:p> <a:o> <a:g> ."
    config = ExtractConfig(keep_graphs=True)
    assert "<a:g>" in rdfspider.extract(nquads, URL, "application/n-quads", config=config).to_nquads()
    found = rdfspider.extract(nquads, URL, "application/n-quads", config=config, keep_graphs=False)
    assert "<a:g>" not in found.to_nquads()


def test_only_the_syntaxes_that_are_asked_for() -> None:
    html = '<title>T</title><meta property="og:title" content="x">'
    assert list(rdfspider.extract(html, URL, syntaxes="meta").statements) == ["meta"]
    assert list(rdfspider.extract(html, URL, syntaxes=["page"]).statements) == ["page"]
    with pytest.raises(rdfspider.UsageError, match="unknown syntax"):
        rdfspider.extract(html, URL, syntaxes=["nonsense"])
    with pytest.raises(rdfspider.UsageError, match="no syntax"):
        rdfspider.extract(html, URL, syntaxes=[])


def test_any_bytes_will_do() -> None:
    html = b"<title>T</title>"
    assert {
        rdfspider.extract(body, URL).title for body in (html, bytearray(html), memoryview(html), html.decode())
    } == {"T"}


def test_text_needs_no_charset() -> None:
    found = rdfspider.extract('<meta charset="koi8-r"><title>\u00e9</title>', URL, "text/html; charset=iso-8859-1")
    assert found.title == "\u00e9"


XHTML = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title></head><body>{}</body></html>'


def test_a_page_with_more_tags_than_memory_allows_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "_MAX_TAGS", 6)
    whole = rdfspider.extract("<title>T</title><p>a</p><p>b</p>", URL)
    cut = rdfspider.extract("<title>T</title><p>a</p><p>b</p><p>c</p>", URL)
    assert (codes(whole), whole.text.split()) == ([], ["a", "b"])
    assert (codes(cut), cut.text.split()) == (["too-many-tags"], ["a", "b"])
    long = rdfspider.extract(XHTML.format("<p>a</p><p>b</p>"), URL, "application/xhtml+xml")
    assert (codes(long), long.title, long.text) == (["not-well-formed", "too-many-tags"], "T", ""), "as HTML, and cut"


def test_what_is_not_nested_is_not_deep() -> None:
    for flat in ("<br/>", '<a href="x" />', "<!-- no tag -->", "<b></b>"):
        found = rdfspider.extract(XHTML.format(flat * 600), URL, "application/xhtml+xml")
        assert codes(found) == [], flat
    deep = rdfspider.extract(XHTML.format("<b>" * 600 + "</b>" * 600), URL, "application/xhtml+xml")
    assert codes(deep) == ["not-well-formed"]
