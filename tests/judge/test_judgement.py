"""Robots directives and duplicates: judgements of single pages, and one crawl of a site that uses every directive."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from rdfspider.codes import DuplicateKind, LeaseKind
from rdfspider.domains import Domains
from rdfspider.judge.judgement import PageJudge, apply_judgement, judge_alone, judge_directives, judge_similar
from rdfspider.records import Capture, Extraction, Fingerprint, Judgement, Lease, Link, Page, Robots, Verdict
from web import Answer, Outcome, Site, Web, crawl, make_page, pages_of, read_outcomes, read_responses

HOME = "http://a.test/"
PAST, FUTURE = "25 Jun 2010 15:00:00 PST", "Monday, 25-Jun-49 15:00:00 EST"

DIRECTIVES = {
    # path: (in the head, in the header)
    "/meta-noindex": ('<meta name="robots" content="noindex">', ""),
    "/header-noindex": ("", "noindex"),
    "/named-noindex": ('<meta name="RDFspider" content="noindex">', ""),
    "/header-named": ("", "otherbot: none, rdfspider: noindex"),
    "/header-of-others": ("", "otherbot: noindex, nofollow"),
    "/expired": (f'<meta name="robots" content="unavailable_after: {PAST}">', ""),
    "/header-expired": ("", f"unavailable_after: {PAST}"),
    "/not-yet": ("", f"unavailable_after: {FUTURE}"),
    "/noarchive": ('<meta name="robots" content="noarchive">', ""),
    "/header-noarchive": ("", "noarchive"),
    "/nofollow": ('<meta name="robots" content="nofollow">', ""),
    "/header-nofollow": ("", "nofollow"),
    "/none": ('<meta name="robots" content="none">', ""),
}
FORGOTTEN = {"meta-noindex", "header-noindex", "named-noindex", "header-named", "expired", "header-expired", "none"}
FORGOTTEN |= {"turtle"}
UNFOLLOWED = {"nofollow", "header-nofollow", "none"}


def make_site() -> Site:
    site = Site()
    for path, (head, header) in DIRECTIVES.items():
        page = make_page(f"http://a.test{path}", [f"{path}/next"], head=head)
        site.add(f"http://a.test{path}", Answer(body=page.body, headers={"X-Robots-Tag": header} if header else {}))
        site.add(f"http://a.test{path}/next", make_page(f"http://a.test{path}/next"))
    turtle = b"<http://a.test/turtle#it> a <http://schema.org/Thing> ."
    site.add("http://a.test/turtle", Answer(200, turtle, "text/turtle", {"X-Robots-Tag": "noindex"}))
    canonical = {
        "/copy?sort=1": '<link rel="canonical" href="/original">',
        "/stranger": '<link rel="canonical" href="http://b.test/elsewhere">',
        "/self": '<link rel="canonical" href="/self">',
        "/session?b=1": '<link rel="canonical" href="/session?PHPSESSID=7&amp;b=1">',
        "/copy?sort=2": '<link rel="canonical" href="/original?utm_source=x">',
    }
    for path, head in canonical.items():
        site.add(f"http://a.test{path}", make_page(f"http://a.test{path}", head=head))
    header = {"Link": '</original>; rel="canonical"'}
    site.add("http://a.test/data", Answer(200, turtle, "text/turtle", header))
    site.add("http://a.test/original", make_page("http://a.test/original"))
    site.add("http://a.test/moved", Answer(302, headers={"Location": "/moved-here", "X-Robots-Tag": "nofollow"}))
    site.add("http://a.test/moved-here", make_page("http://a.test/moved-here"))
    site.add("http://a.test/gone", Answer(404, b"<p>gone", headers={"X-Robots-Tag": "noarchive"}))
    rels = "".join(
        f'<a href="/{rel}" rel="noopener {rel.upper()}">x</a>' for rel in ("nofollow-link", "ugc", "sponsored")
    )
    rels = rels.replace("NOFOLLOW-LINK", "nofollow")
    for rel in ("nofollow-link", "ugc", "sponsored"):
        site.add(f"http://a.test/{rel}", make_page(f"http://a.test/{rel}"))
    links = [
        *DIRECTIVES,
        *canonical,
        "/turtle",
        "/data",
        "/moved",
        "/gone",
        "/utm?b=2&utm_source=x&a=1",
        "/s;jsessionid=0A?Sid=1",
    ]
    site.add("http://a.test/utm?b=2&a=1", make_page("http://a.test/utm?b=2&a=1"))
    site.add("http://a.test/s", make_page("http://a.test/s"))
    site.add(HOME, make_page(HOME, links, head=rels))
    return site


@dataclass(frozen=True, slots=True)
class Result:
    asked: set[str]
    outcomes: dict[str, Outcome]
    bodies: set[str]
    facts: dict[str, list[bytes]]
    """Statements and texts, by URL."""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    folder = tmp_path_factory.mktemp("directives") / "crawl"
    with Web(make_site()) as web:
        flags = ["--delay", 0, "--shards", 1, "--archive", "all", *web.resolve({"*.test": "127.0.0.1"})]
        crawl(folder, HOME, *flags)
    return Result(
        {exchange.path for exchange in pages_of(web.log)},
        {outcome.url.removeprefix("http://a.test/"): outcome for outcome in read_outcomes(folder)},
        {url.removeprefix("http://a.test/") for url in read_responses(folder)},
        dict(read_facts(folder)),
    )


def read_facts(folder: Path) -> Iterator[tuple[str, list[bytes]]]:
    found: dict[str, list[bytes]] = {}
    for path in folder.glob("shards/*/warc/*-facts-*.warc.gz"):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.conversion, parse_http=False):
                url = record.headers["WARC-Target-URI"].removeprefix("http://a.test/")
                found.setdefault(url, []).append(record.reader.read())
    yield from found.items()


def test_of_a_page_that_says_noindex_nothing_is_kept(result: Result) -> None:
    pages = {path.strip("/") for path in DIRECTIVES} | {"turtle"}
    assert pages - set(result.facts) == FORGOTTEN
    assert not result.bodies & FORGOTTEN
    for page in FORGOTTEN:
        outcome = result.outcomes[page]
        assert (outcome.get("verdict"), outcome.get("reason"), outcome.get("title")) == ("done", "noindex", "")
    assert result.outcomes["meta-noindex"].get("rule") == "noindex (meta robots)"
    assert result.outcomes["header-named"].get("rule") == "noindex (X-Robots-Tag)"
    assert result.outcomes["expired"].get("rule") == "unavailable_after 2010-06-25T23:00:00Z (meta robots)"


def test_what_others_are_told_and_what_is_not_due_is_on_record_alone(result: Result) -> None:
    assert result.outcomes["header-of-others"].get("reason") == "fetched"
    assert result.outcomes["header-of-others"].get("robots") == ""
    assert result.outcomes["header-of-others"].get("x-robots-tag") == "otherbot: noindex, nofollow"
    assert result.outcomes["not-yet"].get("reason") == "fetched"
    assert result.outcomes["not-yet"].get("robots") == "unavailable_after 2049-06-25T20:00:00Z (X-Robots-Tag)"
    assert {"header-of-others", "not-yet"} <= result.bodies


def test_of_a_page_that_says_noarchive_the_body_alone_is_not_kept(result: Result) -> None:
    for page in ("noarchive", "header-noarchive"):
        assert page not in result.bodies
        assert b"schema.org" in b"".join(result.facts[page])
        assert result.outcomes[page].get("reason") == "fetched"
    assert result.outcomes["noarchive"].get("robots") == "noarchive (meta robots)"
    # Any answer may ask for it.
    assert "gone" not in result.bodies
    assert "moved" in result.bodies


def test_links_are_followed_unless_the_page_or_they_ask_otherwise(result: Result) -> None:
    followed = {path.strip("/") for path in DIRECTIVES if f"{path}/next" in result.asked}
    assert followed == {path.strip("/") for path in DIRECTIVES} - UNFOLLOWED
    assert not {"/nofollow-link", "/ugc", "/sponsored"} & result.asked
    # They are on record all the same; and nobody reads what a redirect says of its own page.
    assert result.outcomes["nofollow"].get("outlink") == "http://a.test/nofollow/next L a/@href"
    assert "/moved-here" in result.asked


def test_a_canonical_address_on_the_site_is_followed_and_the_data_kept(result: Result) -> None:
    assert "/original" in result.asked
    for page in ("copy?sort=1", "copy?sort=2", "data"):
        outcome = result.outcomes[page]
        assert (outcome.get("duplicate"), outcome.get("duplicate-of")) == ("canonical", "http://a.test/original")
        assert page in result.bodies
        assert b"schema.org" in b"".join(result.facts[page])


def test_a_canonical_address_elsewhere_is_on_record_alone(result: Result) -> None:
    outcome = result.outcomes["stranger"]
    assert (outcome.get("duplicate"), outcome.get("canonical")) == ("", "http://b.test/elsewhere")
    assert "/elsewhere" not in result.asked
    assert result.outcomes["self"].get("duplicate") == ""


def test_links_lose_what_only_tracks(result: Result) -> None:
    assert {"/utm?b=2&a=1", "/s"} <= result.asked
    assert not {path for path in result.asked if "utm_source" in path or "sid" in path.lower()}


def test_a_canonical_address_loses_what_only_tracks_before_it_is_compared(result: Result) -> None:
    assert result.outcomes["session?b=1"].get("duplicate") == ""


def test_a_page_that_no_longer_says_noindex_is_read_in_full(tmp_path: Path) -> None:
    """Also where nothing else of it has changed, and the server would say so."""
    page = make_page(HOME)
    header = {"X-Robots-Tag": "noindex"}

    def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        if "if-none-match" in headers:
            return Answer(304, headers={"ETag": '"1"'})
        return Answer(body=page.body, headers={"ETag": '"1"', **header}) if path == "/" else Answer(404)

    folder = tmp_path / "crawl"
    with Web(answer) as web:
        flags = ["--delay", 0, "--shards", 1, "--archive", "none", *web.resolve({"*.test": "127.0.0.1"})]
        crawl(folder, HOME, *flags, crawl_revisit_s=3600)
        assert dict(read_facts(folder)) == {}
        header.clear()
        crawl(folder, *flags, crawl_revisit_s=3600, ahead_s=4000)
    assert b"schema.org" in b"".join(dict(read_facts(folder))[""])


def make_capture(*headers: tuple[str, str]) -> Capture:
    return Capture(Page(HOME, b""), 200, "OK", "1.1", headers, (), "127.0.0.1", 0.0, 0.0, 0)


def test_of_page_and_header_the_strictest_counts() -> None:
    capture = make_capture(("x-robots-tag", "nofollow"), ("X-ROBOTS-TAG", "unavailable_after: 2030-01-01"))
    extraction = Extraction(HOME, "text/html", robots=Robots(noarchive=True, unavailable_after=2_000_000_000.0))
    found = judge_directives(capture, extraction, 1_800_000_000.0)
    assert found.robots == Robots(False, True, True, 1_893_542_400.0)
    assert found.directives == (
        "nofollow (X-Robots-Tag)",
        "unavailable_after 2030-01-02T00:00:00Z (X-Robots-Tag)",
        "noarchive (meta robots)",
        "unavailable_after 2033-05-18T03:33:20Z (meta robots)",
    )
    assert judge_directives(capture, extraction, 1_900_000_000.0).robots.noindex
    assert judge_directives(make_capture(), None, 0.0) == Judgement()


def test_a_sitemap_stays_one_though_it_is_not_to_be_indexed() -> None:
    verdict = Verdict("done", "sitemap", 200)
    judgement = Judgement(robots=Robots(noindex=True), directives=("noindex (X-Robots-Tag)",))
    assert apply_judgement(verdict, Extraction(HOME, "text/xml"), judgement)[0] == verdict


PLAIN = Extraction(HOME, "text/html", title="A kettle")
ABSENT = Extraction(HOME, "text/html", title="Page not found", text="Page not found")
FOLDERS = [(f"http://a.test/{number}/x", Fingerprint(5, 0, True)) for number in range(2)]


@pytest.mark.parametrize(
    ("statements", "is_absent", "similar", "kind", "original"),
    [
        (7, False, [], "", ""),
        (
            7,
            False,
            [("http://a.test/2", Fingerprint(5, 7, False)), ("http://a.test/1", Fingerprint(5, 7, False))],
            "near",
            "http://a.test/1",
        ),
        (7, False, [("http://a.test/1", Fingerprint(5, 8, False))], "", ""),
        (7, False, [("http://a.test/1", Fingerprint(5, 7, True))], "", ""),
        (7, True, [("http://a.test/1", Fingerprint(5, 7, False))], "soft-404", ""),
        (7, True, FOLDERS, "soft-404", "http://a.test/1/x"),
        (7, False, FOLDERS, "soft-404", "http://a.test/1/x"),
        (7, False, FOLDERS[:1] * 5, "", ""),
    ],
)
def test_pages_with_nearly_the_same_text(
    statements: int, is_absent: bool, similar: list[tuple[str, Fingerprint]], kind: str, original: str
) -> None:
    found = judge_similar(HOME, PLAIN, Fingerprint(5, statements, is_absent), similar)
    assert found == (5, kind, original)


def test_what_a_page_says_of_itself_alone() -> None:
    assert judge_alone(make_capture(), ABSENT, 0.0).duplicate == DuplicateKind.SOFT_404
    found = judge_alone(make_capture(("X-Robots-Tag", "noindex")), ABSENT, 0.0)
    assert apply_judgement(Verdict("done", "fetched", 200), ABSENT, found)[0].reason == "noindex"
    assert judge_alone(make_capture(), PLAIN, 0.0) == Judgement()


def test_a_page_that_asks_not_to_be_indexed_gives_no_words_to_others() -> None:
    page = Extraction(HOME, "text/html", title="x", text="x", links=(Link(HOME, "next", "my home"),))
    verdict, kept = apply_judgement(Verdict("done", "fetched", 200), page, Judgement(robots=Robots(noindex=True)))
    assert (verdict.reason, kept) == ("noindex", Extraction(HOME, "text/html", links=(Link(HOME, "next"),)))


ARTICLE = Extraction(HOME, "text/html", text=" ".join(f"word{number}" for number in range(60)))


@pytest.mark.parametrize(
    ("extraction", "first", "similar", "kind", "original", "asked"),
    [
        (ARTICLE, HOME, [], "", "", ["claim", "find_alike"]),
        (ARTICLE, "http://b.test/", [], "exact", "http://b.test/", ["claim"]),
        (ARTICLE, HOME, ["http://a.test/1"], "near", "http://a.test/1", ["claim", "find_alike"]),
        (PLAIN, HOME, ["http://a.test/1"], "", "", ["claim"]),
        (ABSENT, "http://b.test/", [], "soft-404", "", []),
        (replace(ARTICLE, robots=Robots(noindex=True)), "http://b.test/", [], "", "", []),
        (replace(ARTICLE, canonical="http://a.test/x"), "http://b.test/", [], "canonical", "http://a.test/x", []),
    ],
)
def test_other_pages_are_asked_about_only_where_that_decides(
    extraction: Extraction, first: str, similar: list[str], kind: str, original: str, asked: list[str]
) -> None:
    found: list[str] = []

    async def claim(digest: str, url: str) -> str:
        found.append("claim")
        return first

    def find_alike(lease: Lease, fingerprint: Fingerprint) -> list[tuple[str, Fingerprint]]:
        found.append("find_alike")
        return [(url, fingerprint) for url in similar]

    judge = PageJudge(Domains(b"test\n", 1), lambda url: url, claim, find_alike)
    capture = Capture(Page(HOME, b"x" * 100), 200, "OK", "1.1", (), (), "127.0.0.1", 0.0, 0.0, 0)
    judgement = asyncio.run(judge.judge(Lease(LeaseKind.PAGE, "a.test", 1, HOME), capture, extraction))
    assert (judgement.duplicate, judgement.original, found) == (kind, original, asked)
