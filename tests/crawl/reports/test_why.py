"""`rdfspider why` against real crawls: what was fetched or not, what waits, and what would become of a URL never seen."""

import json
from pathlib import Path

import pytest
from tests.conftest import Run

from rdfspider import Crawl, UsageError
from rdfspider.index.graph.esteem_file import NAME, save_esteem
from rdfspider.index.layout import IndexPaths
from rdfspider.records import Esteem
from web import Answer, Crawling, Site, Web, command, crawl, make_chain, make_page

EVERYWHERE = {"*.test": "127.0.0.1"}


def make_faulty_site() -> Site:
    """A site on which every kind of outcome is met; `b.test` belongs to another shard or not, as it hashes."""
    site = Site()
    robots = b"User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /private\nAllow: /private/open\n"
    site.robots["a.test"] = Answer(body=robots, content_type="text/plain")
    links = ["/page", "/private/x", "/private/open", "/moved", "/dead", "/missing", "/skip/x", "http://b.test/"]
    site.add("http://a.test/", make_page("http://a.test/", links))
    for path in ("/page", "/private/open", "/second"):
        site.add(f"http://a.test{path}", make_page(f"http://a.test{path}"))
    site.add("http://a.test/moved", Answer(301, headers={"Location": "/moved-on"}))
    site.add("http://a.test/moved-on", Answer(302, headers={"Location": "http://b.test/arrived"}))
    site.add("http://a.test/dead", Answer(500))
    site.add("http://b.test/", make_page("http://b.test/", ["/deep", "http://a.test/second"]))
    site.add("http://b.test/arrived", make_page("http://b.test/arrived"))
    site.add("http://b.test/deep", make_page("http://b.test/deep"))
    return site


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of that site which has ended."""
    folder = tmp_path_factory.mktemp("why") / "crawl"
    with Web(make_faulty_site()) as web:
        flags = ["--delay", 0, "--shards", 3, "--exclude", "/skip/", *web.resolve(EVERYWHERE)]
        crawl(folder, "http://a.test/", "http://b.test/nowhere", *flags)
    return folder


def test_a_fetched_page_tells_how_it_was_found_and_where_it_is_kept(folder: Path) -> None:
    found = Crawl.open(folder).why("http://a.test/page")
    assert found.answer == "fetched: 2 statements"
    assert (found.state, found.reason, found.status) == ("done", "fetched", 200)
    assert (found.found_as, found.depth, found.quads) == ("link", 1, 2)
    assert [(step.url, step.found_as) for step in found.way] == [("http://a.test/", "seed")]
    assert found.robots == "allowed: no line is about it"
    assert found.decided >= found.captured > 0
    assert found.digest.startswith("sha1:")
    assert (folder / found.segment).is_file() and found.offset > 0
    assert found.host and found.host.host == "a.test" and found.host.pages == 4
    assert found.crawl == "ended"


def test_the_way_to_a_page_leads_over_shards_back_to_the_seed(folder: Path) -> None:
    found = Crawl.open(folder).why("http://b.test/deep")
    assert [step.url for step in found.way] == ["http://b.test/", "http://a.test/"]


def test_a_line_of_robots_txt_is_told(folder: Path) -> None:
    found = Crawl.open(folder).why("http://a.test/private/x")
    assert found.answer == "not fetched: robots.txt of http://a.test says `Disallow: /private`"
    assert (found.state, found.reason, found.rule) == ("disallowed", "disallowed", "Disallow: /private")
    assert Crawl.open(folder).why("http://a.test/private/open").robots == "Allow: /private/open"


def test_an_error_is_told_with_its_tries(folder: Path) -> None:
    found = Crawl.open(folder).why("http://a.test/dead")
    assert found.answer == "not fetched: the server answered 500, after 3 tries"
    assert (found.state, found.attempts) == ("failed", 3)
    assert Crawl.open(folder).why("http://a.test/missing").answer == "fetched: the server answered 404"


def test_redirects_are_told_at_both_ends(folder: Path) -> None:
    moved = Crawl.open(folder).why("http://a.test/moved")
    assert moved.answer == "fetched: it redirects (301) to http://a.test/moved-on"
    assert (moved.target, moved.truncated, moved.captured) == ("http://a.test/moved-on", "", 0.0)
    found = Crawl.open(folder).why("http://b.test/arrived")
    assert found.redirects == ("http://a.test/moved", "http://a.test/moved-on")
    assert [(step.url, step.found_as) for step in found.way] == [
        ("http://a.test/moved-on", "redirect"),
        ("http://a.test/moved", "link"),
        ("http://a.test/", "seed"),
    ]


@pytest.mark.parametrize(
    ("url", "answer"),
    [
        ("http://c.test/", "a plain link to it would not be followed: outside the scope (domain)"),
        ("http://a.test/skip/x", "a plain link to it would not be followed: filter: --exclude /skip/"),
        (
            "http://a.test/private/y",
            "by a plain link it would not be fetched: robots.txt of http://a.test says `Disallow: /private`",
        ),
        ("http://a.test/other", "it would be scheduled as soon as a page links to it without nofollow"),
        ("http://a.test/" + 9000 * "x", "a plain link to it would not be followed: too long"),
        ("http://a.test/x/x/x/x/x", "a plain link to it would not be followed: trap: repeated segment (/x)"),
    ],
)
def test_of_a_url_never_seen_it_is_told_what_would_happen(folder: Path, url: str, answer: str) -> None:
    found = Crawl.open(folder).why(url)
    assert found.answer == f"never seen; {answer}"
    assert (found.state, found.depth) == ("unknown", None)


def test_urls_are_understood_as_seeds_are(folder: Path) -> None:
    found = Crawl.open(folder).why("A.test/%70age#part")
    assert (found.url, found.state) == ("http://a.test/page", "done")
    assert found.notes == ("https://a.test/page was never seen as it stands; this is about http://a.test/page",)
    found = Crawl.open(folder).why("http://a.test/page?utm_source=x")
    assert (found.url, found.state) == ("http://a.test/page", "done")
    assert Crawl.open(folder).why("http://a.test/other?a=1&sid=2").url == "http://a.test/other?a=1"
    found = Crawl.open(folder).why("a.test/other")
    assert (found.url, found.state) == ("https://a.test/other", "unknown")
    assert found.robots == "not known yet"


def test_nothing_is_written_to_the_folder(folder: Path, run: Run) -> None:
    def look() -> dict[str, tuple[int, int]]:
        paths = [folder, *folder.rglob("*")]
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in paths}

    before = look()
    assert run("why", "http://a.test/page", "--dir", str(folder))[0] == 0
    assert run("hosts", "--dir", str(folder))[0] == 0
    assert look() == before


def test_the_lines_begin_with_the_answer(folder: Path, run: Run) -> None:
    code, output, _ = run("why", "http://b.test/arrived", "--dir", str(folder))
    lines = output.splitlines()
    assert (code, lines[0]) == (0, "fetched: 2 statements")
    assert lines[1] == "URL        http://b.test/arrived"
    assert "found on   http://a.test/moved-on (redirect)" in lines
    assert "           http://a.test/moved (link)" in lines
    assert "redirects  http://a.test/moved" in lines
    assert lines[-1] == "crawl      ended"


def test_json_is_one_object(folder: Path, run: Run) -> None:
    _, output, _ = run("why", "a.test/private/x", "--dir", str(folder), "--json")
    assert len(output.splitlines()) == 1
    found = json.loads(output)
    assert (found["state"], found["rule"], found["host"]["host"]) == ("disallowed", "Disallow: /private", "a.test")


def test_mistakes_are_one_line(folder: Path, run: Run, tmp_path: Path) -> None:
    assert run("why", "--dir", str(folder))[0] == 2
    code, _, errors = run("why", "x:y", "--dir", str(folder))
    assert (code, errors) == (2, "rdfspider: x:y: not an http or https URL\n")
    code, _, errors = run("why", " ", "--dir", str(folder))
    assert (code, errors) == (2, "rdfspider: the URL is empty: not an http or https URL\n")
    code, _, errors = run("why", "http://a.test/", "--dir", str(tmp_path))
    assert code == 2 and "is not a crawl" in errors
    with pytest.raises(UsageError):
        Crawl.open(folder).why("x:y")


def test_a_crawl_that_has_not_run_yet_knows_its_seeds(tmp_path: Path) -> None:
    made = Crawl.create(tmp_path / "crawl", ["http://a.test/"], shards=2)
    assert (
        made.why("http://a.test/").answer == "never seen, but it is a seed: it is scheduled as soon as the crawl runs"
    )
    answer = "never seen; it would be scheduled as soon as a page links to it without nofollow"
    assert made.why("http://a.test/x").answer == answer
    assert made.hosts() == []


def test_what_waits_is_told_while_the_crawl_runs_and_after_it_was_killed(tmp_path: Path) -> None:
    """A running crawl is asked from another process; its host wants to be left alone for an hour."""
    site = make_chain("a.test", 2)
    site.robots["a.test"] = Answer(body=b"User-agent: *\nCrawl-delay: 3600", content_type="text/plain")
    folder = tmp_path / "crawl"
    with Web(site) as web:
        flags = ["--shards", 1, *web.resolve(EVERYWHERE)]
        with Crawling(folder, "http://a.test/", "http://a.test/1", *flags) as crawling:
            crawling.wait_until(
                lambda: bool(web.log) and "Crawl-delay" in Crawl.open(folder).why("http://a.test/1").answer
            )
            answer = command(folder, "why", "http://a.test/1").splitlines()
            assert answer[0] == (
                "scheduled: about 1 URL of its host comes first, and the host is left alone for another 60 min "
                "(Crawl-delay: 3600 of robots.txt)"
            )
            assert answer[-1] == "crawl      running"
            found = Crawl.open(folder).why("http://a.test/1")
            assert (found.priority, found.before) == (0, 1)
            crawling.kill()
        assert Crawl.open(folder).why("http://a.test/1").crawl == "died"
        answer = Crawl.open(folder).why("http://a.test/1").answer
        assert answer == "scheduled: the crawl does not run (died: its process is gone)"


def test_a_url_that_waits_in_a_paused_crawl_is_told_of_a_filter_that_came_later(tmp_path: Path) -> None:
    site = make_chain("a.test", 2)
    site.add("http://a.test/1", Answer(503, headers={"Retry-After": "1800"}))
    folder = tmp_path / "crawl"
    with (
        Web(site) as web,
        Crawling(folder, "http://a.test/", "--delay", 0.1, "--shards", 1, *web.resolve(EVERYWHERE)) as crawling,
    ):
        crawling.wait_until(lambda: bool(web.log) and "Retry-After" in Crawl.open(folder).why("http://a.test/1").answer)
        found = Crawl.open(folder).why("http://a.test/1")
        assert found.answer == "scheduled: its host is left alone for another 30 min (Retry-After: 1800 s (503))"
        command(folder, "pause")
        found = Crawl.open(folder).why("http://a.test/1")
        assert found.answer == "scheduled: the crawl is paused"
        assert (found.crawl, found.reason, found.before) == ("paused", "status-503", 0)
    Crawl.create(folder, exclude=["/1$"])
    assert (
        Crawl.open(folder).why("http://a.test/1").answer == "scheduled, but will not be fetched: filter: --exclude /1$"
    )


@pytest.mark.parametrize(
    ("limit", "value", "told"),
    [
        ("pages", 1, "the crawl has all its 1 page (crawl.pages)"),
        ("bytes", 10, "the crawl has all its 10 bytes (crawl.bytes)"),
    ],
)
def test_a_limit_that_ended_the_crawl_is_what_a_url_waits_for(
    tmp_path: Path, limit: str, value: int, told: str
) -> None:
    site = make_chain("a.test", 50)
    folder = tmp_path / "crawl"
    with Web(site) as web:
        # Bytes are counted once a second: by then no second page has come.
        flags = ["--delay", 3, "--shards", 1, "--set", f"crawl.{limit}={value}", *web.resolve(EVERYWHERE)]
        crawl(folder, "http://a.test/", *flags)
    assert Crawl.open(folder).why("http://a.test/1").answer == f"scheduled, but not fetched while {told}"
    answer = Crawl.open(folder).why("http://a.test/other").answer
    assert answer == f"never seen; by a plain link it would be scheduled, but not fetched while {told}"
    Crawl.create(folder, **{limit: 1_000_000})
    answer = Crawl.open(folder).why("http://a.test/1").answer
    assert answer.startswith("scheduled: the crawl does not run (ended: the limit of")


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        ("pages_per_host", "its host has all its pages: 2 (crawl.pages_per_host)"),
        ("pages_per_domain", "a.test has all its pages: 2 (crawl.pages_per_domain)"),
    ],
)
def test_the_budget_of_a_host_or_domain_is_named_until_it_is_raised(tmp_path: Path, limit: str, told: str) -> None:
    site = Site()
    urls = [f"http://a.test/{number}" for number in range(5)]
    site.add("http://a.test/", make_page("http://a.test/", urls))
    for url in urls:
        site.add(url, make_page(url))
    folder = tmp_path / "crawl"
    with Web(site) as web:
        flags = ["--delay", 0, "--shards", 1, "--set", f"crawl.{limit}=2", *web.resolve(EVERYWHERE)]
        crawl(folder, "http://a.test/", *flags)
    found = Crawl.open(folder)
    waiting = [url for url in urls if found.why(url).state == "scheduled"]
    assert len(waiting) == 4
    assert {found.why(url).answer for url in waiting} == {f"scheduled, but not fetched while {told}"}
    (host,) = found.hosts()
    assert (host.status, host.pages, host.queued) == ("over budget", 2, 4)
    assert host.reason == f"over budget: {told.replace('its host', 'it')}"
    raised = Crawl.create(folder, **{limit: 10})
    answer = "scheduled: the crawl does not run (ended: nothing is left to fetch)"
    assert {raised.why(url).answer for url in waiting} == {answer}


def test_a_url_is_judged_as_it_was_found(tmp_path: Path) -> None:
    """A context may be outside the scope, but `--exclude` holds for it, too."""
    context = "http://contexts.test/tea.jsonld"
    site = Site()
    data = f'<script type="application/ld+json">{{"@context": "{context}", "name": "Tea"}}</script>'
    site.add("http://a.test/", Answer(body=data.encode()))
    site.add(context, Answer(503, headers={"Retry-After": "1800"}))
    folder = tmp_path / "crawl"
    with Web(site) as web:
        flags = ["--delay", 0.1, "--shards", 1, *web.resolve(EVERYWHERE)]
        with Crawling(folder, "http://a.test/", *flags, crawl_ways="contexts") as crawling:
            crawling.wait_until(lambda: bool(web.log) and "Retry-After" in Crawl.open(folder).why(context).answer)
            found = Crawl.open(folder).why(context)
            assert found.answer == "scheduled: its host is left alone for another 30 min (Retry-After: 1800 s (503))"
            assert (found.found_as, found.refusal) == ("context", "")
            never_seen = Crawl.open(folder).why("http://contexts.test/other.jsonld")
            assert never_seen.refusal == "outside the scope (domain)"
    Crawl.create(folder, exclude=["/tea[.]jsonld$"])
    found = Crawl.open(folder).why(context)
    assert found.answer == "scheduled, but will not be fetched: filter: --exclude /tea[.]jsonld$"


def test_the_time_that_is_used_up_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    site = make_chain("a.test", 50)
    with Web(site) as web:
        crawl(folder, "http://a.test/", "--delay", 60, "--shards", 1, "--time", "2", *web.resolve(EVERYWHERE))
    answer = Crawl.open(folder).why("http://a.test/other").answer
    assert answer.endswith("not fetched while the crawl has all its 2 seconds (crawl.time_s)")


def test_a_page_that_could_not_be_extracted_says_so(tmp_path: Path) -> None:
    site = Site()
    site.add("http://a.test/", Answer(body=b"<p class=h-card><b itemscope itemprop=x>word" * 40_000))
    folder = tmp_path / "crawl"
    with Web(site) as web:
        flags = ["--delay", 0, "--shards", 1, "--set", "run.extract_timeout_s=0.1", *web.resolve(EVERYWHERE)]
        crawl(folder, "http://a.test/", *flags)
    found = Crawl.open(folder).why("http://a.test/")
    assert found.answer == "fetched, but nothing could be extracted: it took more than 0.1 s of processor time"


def test_a_page_that_came_cut_off_says_so(tmp_path: Path) -> None:
    site = Site()
    site.add("http://a.test/", make_page("http://a.test/"))
    folder = tmp_path / "crawl"
    with Web(site) as web:
        flags = ["--delay", 0, "--shards", 1, "--set", "fetch.max_body_bytes=100", *web.resolve(EVERYWHERE)]
        crawl(folder, "http://a.test/", *flags)
    found = Crawl.open(folder).why("http://a.test/")
    assert found.truncated == "length"
    assert found.answer.endswith("; it is not whole: it is longer than may be taken")


def test_what_the_link_graph_says_of_a_url_is_told(folder: Path, run: Run) -> None:
    graph = IndexPaths(folder).graph
    graph.mkdir(parents=True, exist_ok=True)
    page = "http://www.b.test/named"
    save_esteem(graph, [Esteem("a.test", 2), Esteem("b.test", -1, {"copy.b.test": 2}, (page,))])
    assert Crawl.open(folder).why(page).esteem == "", "this crawl has no index, so its shards do not hear of it"
    settings = folder / "crawl.toml"
    without = settings.read_text()
    settings.write_text(without.replace("enabled = false", "enabled = true"))
    told = {
        url: Crawl.open(folder).why(url).esteem
        for url in ("http://a.test/", page, "http://copy.b.test/", "http://c.test/")
    }
    assert list(told.values()) == [
        "its site comes 2 steps later: hardly any site that seeds lead to links to it",
        "its site comes 1 step sooner: sites that seeds lead to link to it; it comes sooner than other pages of its host: "
        "several sites link to it",
        "its host comes 2 steps later: it repeats other hosts",
        "",
    ]
    output = run("why", page, "--dir", str(folder))[1]
    assert f"esteem     {told[page]}" in output.splitlines()
    (graph / NAME).write_bytes(b"damaged")
    assert Crawl.open(folder).why(page).esteem == ""
    (graph / NAME).unlink()
    settings.write_text(without)
