from rdfspider.config import ExtractConfig
from rdfspider.extract.document import describe_page, read_links, read_metadata, read_text
from rdfspider.extract.dom import parse_html
from rdfspider.extract.statements import Problems, Statements
from rdfspider.records import Extraction, Link, Robots

PAGE = "http://example.org/page"


def test_the_metadata_of_the_head() -> None:
    metadata = read_metadata(
        parse_html(
            '<html lang="en-GB"><title> A\n title </title><link rel="Canonical" href="/c#x">'
            '<meta name="Robots" content="NOINDEX, noarchive"><body><svg><title>no</title></svg>'
        ),
        PAGE,
    )
    assert metadata.title == "A title"
    assert metadata.language == "en-GB"
    assert metadata.canonical == "http://example.org/c"
    assert metadata.robots == Robots(noindex=True, nofollow=False, noarchive=True)


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


def read_page_links(html: str, max_links: int = 100) -> tuple[Link, ...]:
    return read_links(parse_html(html), "http://example.org/dir/page", max_links, Problems())


def test_a_link_has_target_relation_text_and_nofollow() -> None:
    assert read_page_links('<a href="a" rel="nofollow me">\n A  <b>link</b></a>') == (
        Link("http://example.org/dir/a", "nofollow me", "A link", True),
    )


def test_targets_are_normal_and_without_fragment() -> None:
    assert [link.target for link in read_page_links('<a href="/x/../y#z">1</a><a href="HTTP://Other.org">2</a>')] == [
        "http://example.org/y",
        "http://other.org/",
    ]


def test_what_cannot_be_fetched_is_no_link() -> None:
    assert (
        read_page_links('<a href="mailto:a@b.org">1</a><a href="javascript:x()">2</a><a href="#top">3</a><a>4</a>')
        == ()
    )


def test_images_speak_through_their_alternative_text() -> None:
    assert read_page_links('<a href="/"><img alt="Home page"></a>')[0].text == "Home page"


def test_an_image_without_words_leaves_those_of_the_link() -> None:
    assert read_page_links('<a href="/" aria-label="Home"><img alt=""></a>')[0].text == "Home"
    assert read_page_links('<map><area href="/" alt="North"></map>')[0].text == "North"


def test_nofollow_is_a_word() -> None:
    assert not read_page_links('<a href="/" rel="xnofollowx">x</a>')[0].nofollow


def test_heads_and_frames_have_links_too() -> None:
    links = read_page_links(
        "<link rel=alternate type=text/turtle href=data.ttl><link rel=preconnect href=//cdn.org><iframe src=/f>"
    )
    assert [(link.target, link.relation) for link in links] == [
        ("http://example.org/dir/data.ttl", "alternate"),
        ("http://example.org/f", "iframe"),
    ]


def test_what_a_link_element_says_of_its_target() -> None:
    (link,) = read_page_links('<link rel="alternate" type="Application/RDF+XML; charset=x" href="/data" title="Data">')
    assert link == Link("http://example.org/data", "alternate", "Data", media_type="application/rdf+xml", is_title=True)


def test_links_to_what_has_no_data_are_left_out() -> None:
    relations = [
        "stylesheet",
        "Alternate Stylesheet",
        "shortcut icon",
        "apple-touch-icon",
        "profile",
        "preload",
        "manifest",
        "EditURI",
    ]
    html = "".join(f"<link rel='{relation}' href=/{number}>" for number, relation in enumerate(relations))
    html += "<link rel=alternate type=application/json+oembed href=/embed>"
    assert read_page_links(html) == ()
    # A person can click on these.
    assert len(read_page_links("<a rel=search href=/search>search</a>")) == 1


def test_links_beyond_the_limit_are_dropped_with_a_problem() -> None:
    problems = Problems()
    tree = parse_html("".join(f"<a href={number}>x</a>" for number in range(30)))
    assert len(read_links(tree, "http://example.org/", 10, problems)) == 10
    assert [problem.code for problem in problems.listed()] == ["too-many-links"]


PROSE = "Loose-leaf tea steeps best just off the boil, which is why a kettle with a dial is worth its price. " * 4
NAVIGATION = "<nav><ul>" + "<li><a href=/x>Somewhere else</a></li>" * 20 + "</ul></nav>"


def test_a_single_article_is_the_main_text() -> None:
    text = read_text(parse_html(f"{NAVIGATION}<article><h1>Tea</h1><p>{PROSE}</p></article><footer>Imprint</footer>"))
    assert text.startswith("Tea")
    assert PROSE.strip() in text
    assert "Somewhere else" not in text
    assert "Imprint" not in text


def test_main_text_is_found_without_one() -> None:
    text = read_text(parse_html(f"{NAVIGATION}<div><h1>Tea</h1><p>{PROSE}</p><p>{PROSE}</p></div>"))
    assert PROSE.strip() in text
    assert "Somewhere else" not in text


def test_a_page_without_main_text_gives_all_its_words() -> None:
    assert "Somewhere else" in read_text(parse_html(NAVIGATION))
    assert read_text(parse_html("<p>Short</p><script>var x = 1</script><style>p{}</style>")) == "Short"
