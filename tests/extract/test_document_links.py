from rdfspider.extract.document import read_links
from rdfspider.extract.dom import parse_html
from rdfspider.extract.statements import Problems
from rdfspider.records import Link


def read(html: str, max_links: int = 100) -> tuple[Link, ...]:
    return read_links(parse_html(html), "http://example.org/dir/page", max_links, Problems())


def test_a_link_has_target_relation_text_and_nofollow() -> None:
    assert read('<a href="a" rel="nofollow me">\n A  <b>link</b></a>') == (
        Link("http://example.org/dir/a", "nofollow me", "A link", True),
    )


def test_targets_are_normal_and_without_fragment() -> None:
    assert [link.target for link in read('<a href="/x/../y#z">1</a><a href="HTTP://Other.org">2</a>')] == [
        "http://example.org/y",
        "http://other.org/",
    ]


def test_what_cannot_be_fetched_is_no_link() -> None:
    assert read('<a href="mailto:a@b.org">1</a><a href="javascript:x()">2</a><a href="#top">3</a><a>4</a>') == ()


def test_images_speak_through_their_alternative_text() -> None:
    assert read('<a href="/"><img alt="Home page"></a>')[0].text == "Home page"


def test_an_image_without_words_leaves_those_of_the_link() -> None:
    assert read('<a href="/" aria-label="Home"><img alt=""></a>')[0].text == "Home"
    assert read('<map><area href="/" alt="North"></map>')[0].text == "North"


def test_nofollow_is_a_word() -> None:
    assert not read('<a href="/" rel="xnofollowx">x</a>')[0].nofollow


def test_heads_and_frames_have_links_too() -> None:
    links = read(
        "<link rel=alternate type=text/turtle href=data.ttl><link rel=preconnect href=//cdn.org><iframe src=/f>"
    )
    assert [(link.target, link.relation) for link in links] == [
        ("http://example.org/dir/data.ttl", "alternate"),
        ("http://example.org/f", "iframe"),
    ]


def test_what_a_link_element_says_of_its_target() -> None:
    (link,) = read('<link rel="alternate" type="Application/RDF+XML; charset=x" href="/data" title="Data">')
    assert link == Link("http://example.org/data", "alternate", "Data", media_type="application/rdf+xml")


def test_links_to_what_has_no_data_are_left_out() -> None:
    relations = [
        "stylesheet",
        "Alternate Stylesheet",
        "shortcut icon",
        "apple-touch-icon",
        "preload",
        "manifest",
        "EditURI",
    ]
    html = "".join(f"<link rel='{relation}' href=/{number}>" for number, relation in enumerate(relations))
    html += "<link rel=alternate type=application/json+oembed href=/embed>"
    assert read(html) == ()
    # A person can click on these.
    assert len(read("<a rel=search href=/search>search</a>")) == 1


def test_links_beyond_the_limit_are_dropped_with_a_problem() -> None:
    problems = Problems()
    tree = parse_html("".join(f"<a href={number}>x</a>" for number in range(30)))
    assert len(read_links(tree, "http://example.org/", 10, problems)) == 10
    assert [problem.code for problem in problems.listed()] == ["too-many-links"]
