"""Feeds: RSS and Atom become the same channel and items."""

import re

import pytest

from rdfspider.config import ExtractConfig
from rdfspider.extract.datatypes import to_xsd_date
from rdfspider.extract.feeds import extract_feed
from rdfspider.extract.statements import Problems, Statements
from rdfspider.formats import to_quads
from rdfspider.records import Content, ContentKind

URL = "http://example.org/feed"
ATOM = 'xmlns="http://www.w3.org/2005/Atom"'
PREFIXES = {
    "http://purl.org/rss/1.0/modules/content/": "content:",
    "http://purl.org/rss/1.0/": "rss:",
    "http://purl.org/dc/elements/1.1/": "dc:",
    "http://purl.org/dc/terms/": "dcterms:",
    "http://xmlns.com/foaf/0.1/": "foaf:",
    "http://purl.oclc.org/net/rss_2.0/enc#": "enc:",
    "http://www.iana.org/assignments/relation/": "iana:",
    "http://www.w3.org/2004/02/skos/core#": "skos:",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf:",
    "http://www.w3.org/2001/XMLSchema#": "xsd:",
    "http://search.yahoo.com/mrss/": "media:",
    "http://www.w3.org/2003/01/geo/wgs84_pos#": "geo:",
    "http://www.georss.org/georss/": "georss:",
}


def extract(text: str) -> tuple[list[str], list[str]]:
    """The statements with short names, and the codes of the problems."""
    problems = Problems()
    out = Statements(URL, URL, "feed", ExtractConfig(), problems)
    extract_feed(Content("application/rss+xml", ContentKind.FEED, "utf-8", text), out)
    assert len(to_quads(out.to_nquads())) == len(set(out.lines))
    blank = out.blank().rpartition("n")[0]
    lines = [line.removesuffix(f" <{URL}> .").replace(f"<{URL}>", "FEED").replace(blank, "_:") for line in out.lines]
    for namespace, prefix in PREFIXES.items():
        lines = [_shorten(line, namespace, prefix) for line in lines]
    return lines, [problem.code for problem in problems.listed()]


def _shorten(line: str, namespace: str, prefix: str) -> str:
    return re.sub(rf"<{re.escape(namespace)}([\w-]+)>", rf"{prefix}\1", line)


def item(content: str, attributes: str = "") -> list[str]:
    """What one RSS item says, beyond its type."""
    lines, _ = extract(f"<rss {attributes}><channel><item>{content}</item></channel></rss>")
    return [line for line in lines[4:] if " rdf:_1 " not in line]


RSS_FEED = """<rss version="2.0"><channel><title>T</title><link>http://e/</link>
<item><title>A</title><link>http://e/a</link><pubDate>Thu, 01 Jan 2004 19:48:21 GMT</pubDate></item></channel></rss>"""
ATOM_FEED = f"""<feed {ATOM}><title>T</title><link href="http://e/"/>
<entry><title>A</title><link href="http://e/a"/><published>2004-01-01T19:48:21Z</published></entry></feed>"""


@pytest.mark.parametrize("feed", [RSS_FEED, ATOM_FEED])
def test_rss_and_atom_give_the_same(feed: str) -> None:
    assert extract(feed) == (
        [
            "FEED rdf:type rss:channel",
            'FEED rss:title "T"',
            'FEED rss:link "http://e/"',
            "FEED iana:alternate <http://e/>",
            "FEED rss:items _:n1",
            "_:n1 rdf:type rdf:Seq",
            "<http://e/a> rdf:type rss:item",
            '<http://e/a> rss:title "A"',
            '<http://e/a> rss:link "http://e/a"',
            '<http://e/a> dcterms:issued "2004-01-01T19:48:21Z"^^xsd:dateTime',
            '<http://e/a> dc:date "2004-01-01T19:48:21Z"^^xsd:dateTime',
            "_:n1 rdf:_1 <http://e/a>",
        ],
        [],
    )


RDF_FEED = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel rdf:about="http://e/"><title>T{}</title></channel><item rdf:about="http://e/a"><title>A</title></item></rdf:RDF>"""


def test_rss_1_is_read_as_rdf() -> None:
    lines, codes = extract(RDF_FEED.format(""))
    assert '<http://e/> rss:title "T"' in lines
    assert "<http://e/a> rdf:type rss:item" in lines
    assert codes == []


def test_rss_1_that_is_not_rdf_is_read_as_a_feed() -> None:
    lines, codes = extract(RDF_FEED.format("<b>!</b>"))
    assert 'FEED rss:title "T<b>!</b>"' in lines
    assert "<http://e/a> rdf:type rss:item" in lines
    assert codes == ["invalid-rdf"]


def test_items_with_the_same_link_stay_two() -> None:
    entry = '<entry><link href="http://e/a"/><id>{}</id></entry>'
    lines, _ = extract(f"<feed {ATOM}>{entry.format('tag:1')}{entry.format('tag:2')}{entry.format('x')}</feed>")
    subjects = [line.split(" ")[0] for line in lines if line.endswith(" rdf:type rss:item")]
    assert subjects[:2] == ["<http://e/a>", "<tag:2>"]
    assert subjects[2].startswith("_:")


def test_a_permanent_link_is_the_link() -> None:
    assert item("<guid>http://e/a</guid>") == [
        '<http://e/a> dcterms:identifier "http://e/a"',
        '<http://e/a> rss:link "http://e/a"',
    ]
    assert item('<guid isPermaLink="false">http://e/a</guid>') == ['_:n2 dcterms:identifier "http://e/a"']


def test_people() -> None:
    expected = [
        '_:n2 dc:creator "Ann"',
        "_:n2 dcterms:creator _:n3",
        "_:n3 rdf:type foaf:Agent",
        '_:n3 foaf:name "Ann"',
        "_:n3 foaf:mbox <mailto:a@e.org>",
    ]
    assert item("<author>a@e.org (Ann)</author>") == expected
    assert item("<author><name>Ann</name><email>a@e.org</email></author>") == expected
    assert item("<author>Ann</author>") == expected[:1]


def test_categories() -> None:
    assert item('<category domain="http://s/">c</category>') == [
        '_:n2 dc:subject "c"',
        "_:n2 dcterms:subject _:n3",
        "_:n3 rdf:type skos:Concept",
        '_:n3 skos:notation "c"',
        "_:n3 skos:inScheme <http://s/>",
    ]
    assert item("<category>c</category>") == ['_:n2 dc:subject "c"']


def test_enclosures() -> None:
    expected = [
        "_:n2 enc:enclosure _:n3",
        "_:n3 rdf:type enc:Enclosure",
        "_:n3 enc:url <http://e/a.mp3>",
        '_:n3 enc:type "audio/mpeg"',
        '_:n3 enc:length "9"',
    ]
    assert item('<enclosure url="http://e/a.mp3" type="audio/mpeg" length="9"/>') == expected
    assert item('<link rel="enclosure" href="http://e/a.mp3" type="audio/mpeg" length="9"/>') == expected


def test_language_and_base() -> None:
    lines, _ = extract(
        f'<feed {ATOM} xml:lang="de" xml:base="http://b/c/"><title>T</title><link rel="next" xml:base="d/" href="e"/>'
        '<subtitle xml:lang="">S</subtitle></feed>'
    )
    assert lines[1:] == [
        'FEED dc:language "de"',
        'FEED rss:title "T"@de',
        "FEED iana:next <http://b/c/d/e>",
        'FEED rss:description "S"',
    ]


def test_markup() -> None:
    xhtml = '<div xmlns="http://www.w3.org/1999/xhtml">a <b>c</b><br/>&amp;</div>'
    lines, _ = extract(f'<feed {ATOM}><title type="xhtml">{xhtml}</title></feed>')
    assert 'FEED rss:title "a <b>c</b><br />&amp;"' in lines
    assert item("<description><![CDATA[<p>x</p>]]> y</description>") == ['_:n2 rss:description "<p>x</p> y"']


def test_extensions_become_properties_of_their_namespace() -> None:
    attributes = 'xmlns:x="http://x/y" xmlns:media="http://search.yahoo.com/mrss"'
    assert item("<x:a>1</x:a>", attributes) == ['_:n2 <http://x/y#a> "1"']
    assert item('<x:a href="z"/>', attributes) == ["_:n2 <http://x/y#a> <http://example.org/z>"]
    assert item('<media:group><media:thumbnail url="http://e/t" width="7"/></media:group>', attributes) == [
        "_:n2 media:thumbnail _:n3",
        "_:n3 media:url <http://e/t>",
        '_:n3 media:width "7"',
    ]


def test_places() -> None:
    expected = ['_:n2 georss:point "45.2 -71.9"', '_:n2 geo:lat "45.2"', '_:n2 geo:long "-71.9"']
    georss = 'xmlns:georss="http://www.georss.org/georss" xmlns:gml="http://www.opengis.net/gml"'
    assert item("<georss:point> 45.2 -71.9 </georss:point>", georss) == expected
    assert item("<georss:where><gml:Point><gml:pos>45.2 -71.9</gml:pos></gml:Point></georss:where>", georss) == expected


def test_ill_formed_feeds_are_repaired() -> None:
    lines, codes = extract("<rss><channel><item><link>http://e/?a=1&b=2</link><dc:creator>Ann</dc:creator><p></item>")
    assert '<http://e/?a=1&b=2> dc:creator "Ann"' in lines
    assert codes == ["not-well-formed"]


@pytest.mark.parametrize("reference", ["&#xD800;", "&#57343;"])
def test_references_to_surrogates_are_repaired(reference: str) -> None:
    lines, codes = extract(
        f"<rss><channel><item><link>http://e/</link><dc:creator>A{reference}n</dc:creator></item></channel></rss>"
    )
    assert '<http://e/> dc:creator "A\ufffdn"' in lines
    assert codes == ["not-well-formed"]


def test_what_is_no_feed_is_a_problem() -> None:
    assert extract("<html/>") == ([], ["no-feed"])
    assert extract("") == ([], ["not-well-formed", "no-feed"])


def test_external_entities_are_not_read() -> None:
    lines, codes = extract(
        '<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel><title>a&x;</title></channel></rss>'
    )
    assert lines[1:] == ['FEED rss:title "a"']
    assert codes == ["external-entity"]


@pytest.mark.parametrize(
    ("element", "code"),
    [
        ("<media:group>" * 200 + "</media:group>" * 200, "too-deep"),
        ("<source>" * 200 + "</source>" * 200, "too-deep"),
        ("<x:a " + " ".join(f'a{n}=""' for n in range(200_000)) + "/>", "too-many-attributes"),
        ("<a>" * 100_000, "not-well-formed"),
    ],
    ids=["groups", "sources", "attributes", "elements"],
)
def test_hostile_feeds_end_soon(element: str, code: str) -> None:
    attributes = 'xmlns:media="http://search.yahoo.com/mrss/" xmlns:x="http://x/"'
    lines, codes = extract(f"<rss {attributes}><channel><item>{element}</item></channel></rss>")
    assert any(line.endswith(" rdf:type rss:item") for line in lines)
    assert codes == [code]


@pytest.mark.parametrize(
    ("text", "value", "datatype"),
    [
        ("Thu, 01 Jan 2004 19:48:21 GMT", "2004-01-01T19:48:21Z", "dateTime"),
        ("01 Jan 04 9:48 EST", "2004-01-01T09:48:00-05:00", "dateTime"),
        ("1 January 2004 19:48:21 +0130", "2004-01-01T19:48:21+01:30", "dateTime"),
        ("2004-01-01T19:48+01:00", "2004-01-01T19:48:00+01:00", "dateTime"),
        ("2004-01-01 19:48:21.5Z", "2004-01-01T19:48:21.5Z", "dateTime"),
        ("2004-01-01", "2004-01-01", "date"),
        ("2004-01", "2004-01", "gYearMonth"),
        ("2004", "2004", "gYear"),
    ],
)
def test_dates(text: str, value: str, datatype: str) -> None:
    assert to_xsd_date(text) == (value, f"<http://www.w3.org/2001/XMLSchema#{datatype}>")


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2004-13-01", "31 Feb 2004 10:00 GMT", "01 Jan 2004 10:00 XYZ", "0000"]
)
def test_what_is_no_date(text: str) -> None:
    assert to_xsd_date(text) is None
