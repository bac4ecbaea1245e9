"""What links a page has: which targets, of which kinds, with which words."""

import pytest
from msgspec.structs import replace
from tests.index.graph.pages import make_page, remove_page

from rdfspider.archive.outcomes import Effect, make_stamp
from rdfspider.index.graph.kinds import LinkKind
from rdfspider.index.graph.page_links import MAX_DATA_LINKS, MAX_LINKS, PageLinks, make_compact, read_page_links
from rdfspider.vocabulary.terms import FoldedStatements

URL = "http://a.test/"
LINK, NOFOLLOW, DATA = LinkKind.LINK, LinkKind.NOFOLLOW, LinkKind.DATA


def read(links: list[str] = [], **fields: object) -> PageLinks:  # noqa: B006
    found = read_page_links(make_page(URL, 1.0, links, **fields))
    assert found is not None
    return found


def test_links_say_what_they_are() -> None:
    targets = [f"http://b.test/{number}" for number in range(6)]
    relations = {
        targets[1]: "NoFollow noopener",
        targets[2]: "ugc nofollow",
        targets[3]: "sponsored",
        targets[4]: "next",
        targets[5]: "iframe",
    }
    found = read(targets, relations=relations, canonical="http://a.test/canonical")
    assert found.kinds == {
        "http://a.test/canonical": LinkKind.CANONICAL,
        targets[0]: LINK,
        targets[1]: LINK | NOFOLLOW,
        targets[2]: LINK | NOFOLLOW | LinkKind.UGC,
        targets[3]: LINK | LinkKind.SPONSORED,
        targets[4]: LINK,
        targets[5]: LinkKind.FRAME,
    }


@pytest.mark.parametrize("directives", ["nofollow (meta robots)", "noarchive (X-Robots-Tag), nofollow (X-Robots-Tag)"])
def test_a_page_may_say_nofollow_for_all_its_links(directives: str) -> None:
    assert read(["http://b.test/"], directives=directives).kinds == {"http://b.test/": LINK | NOFOLLOW}


def test_a_target_that_is_followed_once_is_followed() -> None:
    links = ["http://b.test/#one", "http://b.test/"]
    assert read(links, relations={links[0]: "nofollow"}).kinds == {"http://b.test/": LINK}
    assert read(links, relations=dict.fromkeys(links, "nofollow")).kinds == {"http://b.test/": LINK | NOFOLLOW}


def test_fragments_self_links_and_other_schemes_are_none() -> None:
    links = [
        "http://b.test/#x",
        URL,
        f"{URL}#top",
        "mailto:me@b.test",
        "ftp://b.test/",
        "",
        "http://b.test/" + "x" * 9000,
    ]
    assert read(links, canonical=URL).kinds == {"http://b.test/": LINK}


@pytest.mark.parametrize("is_folded", [True, False])
def test_statements_link_to_the_things_of_others(is_folded: bool) -> None:
    lines = [
        f"<{URL}#it> <http://schema.org/author> <https://b.test/about#me> <{URL}> .",
        f"<{URL}#it> <http://schema.org/creator> <https://b.test/about#me> <{URL}> .",
        f"<{URL}#it> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://c.test/Class> <{URL}> .",
        f"<{URL}#it> <http://schema.org/availability> <https://schema.org/InStock> <{URL}> .",
        f"<{URL}#it> <http://schema.org/sameAs> <http://www.wikidata.org/entity/Q42> <{URL}> .",
        f"<{URL}#it> <http://schema.org/email> <mailto:me@b.test> <{URL}> .",
        f"<{URL}#it> <http://schema.org/mainEntityOfPage> <{URL}> <{URL}> .",
        f'<{URL}#it> <http://schema.org/name> "http://d.test/" <{URL}> .',
        f"<{URL}#it> <http://schema.org/url> _:b1 <{URL}> .",
    ]
    statements = {"jsonld": "\n".join(lines) + "\n"}
    found = read(["https://b.test/about"], statements=FoldedStatements(statements, URL) if is_folded else statements)
    assert found.kinds == {"https://b.test/about": LINK | DATA, "http://www.wikidata.org/entity/Q42": DATA}
    assert found.predicates == {
        "https://b.test/about": "http://schema.org/author",
        "http://www.wikidata.org/entity/Q42": "http://schema.org/sameAs",
    }


def test_a_page_of_very_many_links_is_cut() -> None:
    found = read([f"http://b.test/{number}" for number in range(MAX_LINKS + 1)])
    assert (len(found.kinds), found.is_cut) == (MAX_LINKS, True)
    lines = "".join(f"<{URL}> <http://schema.org/a> <http://b.test/{number}> <{URL}> .\n" for number in range(500))
    found = read([], statements={"rdfa": lines})
    assert (len(found.kinds), found.is_cut) == (MAX_DATA_LINKS, True)
    assert not read([f"http://b.test/{number}" for number in range(MAX_LINKS)]).is_cut


def test_anchors_are_short_and_in_one_line() -> None:
    anchors = {
        "http://b.test/": " two\n lines\0 ",
        "http://c.test/": "x" * 500,
        "http://d.test/": " ",
        "http://e.test/": "none",
    }
    found = read(["http://b.test/", "http://c.test/", "http://d.test/"], anchors=anchors)
    assert found.anchors == {"http://b.test/": "two lines", "http://c.test/": "x" * 80}


def test_pages_that_moved_or_vanished() -> None:
    moved = read_page_links(remove_page(URL, 1.0, "http://b.test/#x"))
    assert moved is not None
    assert (moved.kinds, moved.is_removed) == ({"http://b.test/": LinkKind.REDIRECT}, False)
    gone = read_page_links(remove_page(URL, 1.0))
    assert gone is not None
    assert (gone.kinds, gone.is_removed) == ({}, True)
    odd = read_page_links(remove_page(URL, 1.0, "about:blank"))
    assert odd is not None
    assert odd.is_removed
    assert read_page_links(make_page(URL, 1.0, effect=Effect.TOUCH)) is None


def test_nothing_that_a_page_has_raises() -> None:
    odd = "http://b.test/\ud800\0"
    found = read_page_links(
        make_page(odd, float("nan"), [odd + "x"], canonical="\0", anchors={odd + "x": "\ud800"}, digest="\ud800")
    )
    assert found is not None
    assert list(found.kinds) == ["http://b.test/?\0x"]


def test_of_two_redirects_at_a_time_the_same_counts_in_any_order() -> None:
    one, other = (make_compact(remove_page(URL, 5.0, target)) for target in ("http://b.test/", "http://c.test/"))
    assert one != other
    assert max(one, other) > make_compact(remove_page(URL, 5.0))
    assert make_compact(make_page(URL, 5.0)) > max(one, other), "a page that is there counts before one that has moved"


def test_compact_stamps_are_in_the_order_of_stamps() -> None:
    page = make_page(URL, 5.0)
    moved = [remove_page(URL, 5.0, f"http://b.test/{number}") for number in range(3)]
    outcomes = moved + [
        replace(page, time=time, digest=digest, effect=effect, title=title)
        for time in (5.0, 5.000001)
        for digest in ("", "sha1:2AAAA", "sha1:AAAAA", "sha1:ZZZZZ")
        for effect in (Effect.REMOVE, Effect.REPLACE)
        for title in ("one", "two", "three")
    ]
    by_stamp = sorted(outcomes, key=make_stamp)
    assert [make_compact(each) for each in by_stamp] == sorted(map(make_compact, outcomes))
