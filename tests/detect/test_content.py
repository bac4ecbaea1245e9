import pytest

from rdfspider.detect.content import detect_content
from rdfspider.records import Page

XHTML = '<html xmlns="http://www.w3.org/1999/xhtml"><head/></html>'
RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>'


@pytest.mark.parametrize(
    ("header", "name", "body", "media_type", "kind"),
    [
        # The header alone, where it is specific and the content does not contradict it.
        ("text/html; charset=utf-8", "", "hello", "text/html", "html"),
        ("application/ld+json", "", "{}", "application/ld+json", "json"),
        ("application/vnd.api+json", "", "{}", "application/vnd.api+json", "json"),
        ("text/turtle", "", "<a> <b> <c> .", "text/turtle", "rdf"),
        ("application/x-turtle", "", "", "text/turtle", "rdf"),
        ("text/csv", "", "a,b", "text/csv", "text"),
        # The file name, where the header is missing or vague.
        (None, "x.ttl", "# empty", "text/turtle", "rdf"),
        ("application/octet-stream", "x.nt", "", "application/n-triples", "rdf"),
        ("text/plain", "x.jsonld", "{}", "application/ld+json", "json"),
        # The content.
        (None, "", "<!DOCTYPE html><p>", "text/html", "html"),
        (None, "", "  <!-- c --> <div>", "text/html", "html"),
        (None, "", XHTML, "text/html", "html"),
        (None, "", f'<?xml version="1.0"?>{XHTML}', "application/xhtml+xml", "html"),
        ("application/xml", "", XHTML, "application/xhtml+xml", "html"),
        ("text/html", "", XHTML, "text/html", "html"),
        ("text/xml", "", "<a:b xmlns:a='urn:x'/>", "application/xml", "xml"),
        ("text/xml", "", "<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml", "xml"),
        ("text/html", "", '<?xml version="1.0"?><rss version="2.0">', "application/rss+xml", "feed"),
        ("text/xml", "", "<feed xmlns='http://www.w3.org/2005/Atom'>", "application/atom+xml", "feed"),
        ("text/plain", "", RDF, "application/rdf+xml", "rdf"),
        (
            "application/rdf+xml",
            "",
            RDF.replace("/>", ' xmlns="http://purl.org/rss/1.0/"/>'),
            "application/rss+xml",
            "feed",
        ),
        ("application/rdf+xml", "", "<!DOCTYPE html><html>", "text/html", "html"),
        (
            "application/xml",
            "",
            "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>",
            "application/xml",
            "sitemap",
        ),
        (None, "", "@prefix a: <b> .", "text/turtle", "rdf"),
        (None, "", '<a:b> <a:c> "x" .\n', "application/n-triples", "rdf"),
        (None, "", '<a:b> <a:c> "x" <a:g> .\n', "application/n-quads", "rdf"),
        (None, "", '{"@context": "http://schema.org"}', "application/ld+json", "json"),
        (None, "", "[1]", "application/json", "json"),
        (None, "", "just words", "text/plain", "text"),
        # Headers that say nothing.
        ("html", "", "<!DOCTYPE html><p>", "text/html", "html"),
        ("content/unknown", "", "<!DOCTYPE html><p>", "text/html", "html"),
        ("application/x-httpd-php", "", "<!DOCTYPE html><p>", "text/html", "html"),
        ("application/x-sh", "", "echo", "application/x-sh", "binary"),
        ("text/xml", "", "<html><p>x</html>", "application/xhtml+xml", "html"),
        # A doctype with an internal subset before the root.
        ("text/xml", "", f'<!DOCTYPE r [<!ENTITY a "b>c">]>{RDF}', "application/rdf+xml", "rdf"),
    ],
)
def test_what_a_text_is(header: str | None, name: str, body: str, media_type: str, kind: str) -> None:
    content = detect_content(Page(f"http://example.org/{name}", body.encode(), header))
    assert (content.media_type, content.kind) == (media_type, kind)


@pytest.mark.parametrize(
    ("header", "body", "media_type"),
    [
        ("image/png", b"\x89PNG\r\n\x1a\n....", "image/png"),
        (None, b"\x89PNG\r\n\x1a\n....", "image/png"),
        ("text/html", b"%PDF-1.7", "application/pdf"),
        ("video/mp4", b"\0\0\0\x18ftypmp42", "video/mp4"),
        ("application/zip", b"PK\x03\x04", "application/zip"),
        (None, b"\0\1\2\3", "application/octet-stream"),
    ],
)
def test_what_is_binary(header: str | None, body: bytes, media_type: str) -> None:
    content = detect_content(Page("http://example.org/", body, header))
    assert (content.media_type, content.kind, content.text) == (media_type, "binary", "")


def test_the_unknown_is_said_to_be_unknown() -> None:
    content = detect_content(Page("http://example.org/", b"\0\1\2\3"))
    assert [problem.code for problem in content.problems] == ["unknown-type"]


def test_the_root_is_known_by_name_and_namespace() -> None:
    content = detect_content(Page("http://example.org/", b"<x:a xmlns='urn:1' xmlns:x='urn:2'/>", "text/xml"))
    assert (content.root, content.namespace) == ("a", "urn:2")


def test_a_long_body_is_cut_with_a_problem() -> None:
    content = detect_content(Page("http://example.org/", b"<p>" + b"x" * 100, "text/html"), 50)
    assert len(content.text) == 50
    assert [problem.code for problem in content.problems] == ["body-cut"]
