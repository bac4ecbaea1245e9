"""Crawls that find pages in other ways than by links, on real servers: sitemaps, headers, data, contexts, ontologies."""

import gzip
import itertools
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from web import Answer, Crawling, Outcome, Site, Web, command, crawl, make_page, pages_of, read_outcomes, run_first

EVERYWHERE = {"*.test": "127.0.0.1"}
QUICK = ["--delay", 0, "--shards", 1]
# Where pages of several sites have to do with each other.
TWO_SHARDS = ["--delay", 0, "--shards", 2]
TEXT, XML, JSON_LD = "text/plain", "application/xml", "application/ld+json"
PLAIN = Answer(body=b"<title>nothing else</title>")


def outcomes_of(folder: Path) -> dict[str, Outcome]:
    return {outcome.url: outcome for outcome in read_outcomes(folder)}


def ways_of(folder: Path) -> dict[str, str]:
    """How each URL was found."""
    return {url: outcome.get("found-as") for url, outcome in outcomes_of(folder).items()}


def make_sitemap(*urls: str, kind: str = "url", more: str = "") -> bytes:
    root = "urlset" if kind == "url" else "sitemapindex"
    entries = "".join(f"<{kind}><loc>{url}</loc>{more}</{kind}>" for url in urls)
    return (
        f'<?xml version="1.0"?><{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{root}>'.encode()
    )


def totals_of(folder: Path) -> dict[str, Any]:
    """What a crawl has counted."""
    totals: dict[str, Any] = json.loads(command(folder, "status", "--json"))["totals"]
    return totals


def find(folder: Path, site: Site, *arguments: object, ways: str, **settings: object) -> Web:
    with Web(site) as web:
        crawl(folder, "http://a.test/", *QUICK, *arguments, *web.resolve(EVERYWHERE), crawl_ways=ways, **settings)
    return web


def paths_of(web: Web) -> list[str]:
    return [exchange.path for exchange in pages_of(web.log)]


def test_sitemaps_of_every_kind_lead_to_pages(tmp_path: Path) -> None:
    site = Site()
    lines = ["/index.xml", "http://a.test/list.txt", "/feed.xml", "http://other.invalid/sitemap.xml"]
    robots = "".join(f"Sitemap: {line}\n" for line in lines)
    site.robots["a.test"] = Answer(body=robots.encode(), content_type=TEXT)
    site.add("http://a.test/", PLAIN)
    index = make_sitemap("http://a.test/packed.xml.gz", "http://a.test/plain", kind="sitemap")
    site.add("http://a.test/index.xml", Answer(body=index, content_type=XML))
    packed = gzip.compress(make_sitemap("http://a.test/1", "http://b.a.test/2", "http://stranger.test/no"))
    site.add("http://a.test/packed.xml.gz", Answer(body=packed, content_type="application/x-gzip"))
    site.add(
        "http://a.test/plain", Answer(body=make_sitemap("http://a.test/3"), content_type="application/octet-stream")
    )
    site.add("http://a.test/list.txt", Answer(body=b"http://a.test/4\r\nhttp://a.test/5\r\n", content_type=TEXT))
    feed = b"<rss version='2.0'><channel><title>t</title><item><link>http://a.test/6</link></item></channel></rss>"
    site.add("http://a.test/feed.xml", Answer(body=feed, content_type="text/xml"))
    pages = {f"http://a.test/{number}" for number in (1, 3, 4, 5, 6)} | {"http://b.a.test/2"}
    for url in pages:
        site.add(url, make_page(url))
    web = find(tmp_path / "crawl", site, "--scope", "any", ways="sitemaps")
    found = outcomes_of(tmp_path / "crawl")
    assert {url for url in found if found[url].get("found-as") == "listed"} == pages
    assert {url for url in found if found[url].get("reason") == "sitemap"} == {
        f"http://a.test/{name}" for name in ("index.xml", "packed.xml.gz", "plain", "list.txt", "feed.xml")
    }
    # Where robots.txt names some, none is guessed; and what a sitemap says of another site does not count.
    assert "/sitemap.xml" not in [exchange.path for exchange in web.log if exchange.host == "a.test"]
    assert "stranger.test" not in {exchange.host for exchange in web.log}
    totals = totals_of(tmp_path / "crawl")
    assert totals["pages"] == 1 + len(pages)


def test_a_sitemap_is_looked_for_where_it_usually_is(tmp_path: Path) -> None:
    site = Site()
    site.add("http://a.test/", make_page("http://a.test/", ["http://www.a.test/"]))
    site.add("http://www.a.test/", PLAIN)
    site.add("http://a.test/sitemap.xml", Answer(body=make_sitemap("http://a.test/listed"), content_type=XML))
    site.add("http://a.test/listed", PLAIN)
    web = find(tmp_path / "crawl", site, ways="sitemaps")
    assert sorted(paths_of(web)) == ["/", "/", "/listed", "/sitemap.xml", "/sitemap.xml"]
    # www has none, which is on record and no failure.
    found = outcomes_of(tmp_path / "crawl")
    missing = found["http://www.a.test/sitemap.xml"]
    assert (missing.get("verdict"), missing.get("reason"), missing.status) == ("done", "no-sitemap", 404)
    totals = totals_of(tmp_path / "crawl")
    assert totals["statuses"] == {"200": 3}
    assert totals["pages"] == 3


@pytest.mark.parametrize("settings", [["--depth", 2], []])
def test_sitemaps_are_not_asked_for_where_they_are_of_no_use(tmp_path: Path, settings: list[object]) -> None:
    site = Site()
    site.add("http://a.test/", make_page("http://a.test/", ["/map.xml"]))
    site.add("http://a.test/map.xml", Answer(body=make_sitemap("http://a.test/listed"), content_type=XML))
    site.add("http://a.test/listed", PLAIN)
    web = find(tmp_path / "crawl", site, *settings, ways="sitemaps" if settings else "headers")
    # With a limit of depth, one that a page links to is a page with links.
    assert paths_of(web) == (["/", "/map.xml", "/listed"] if settings else ["/", "/map.xml"])


def test_a_page_in_the_place_of_a_sitemap_is_a_page(tmp_path: Path) -> None:
    site = Site()
    site.robots["a.test"] = Answer(body=b"Sitemap: /all-pages", content_type=TEXT)
    site.add("http://a.test/", make_page("http://a.test/", ["http://b.a.test/"]))
    site.add("http://b.a.test/", PLAIN)
    site.add("http://a.test/all-pages", make_page("http://a.test/all-pages", ["/1"]))
    site.add("http://a.test/1", PLAIN)
    # Nobody promised one here, and there is a page, which nobody wanted; and a server that apologizes for everything.
    site.add("http://b.a.test/", make_page("http://b.a.test/", ["http://c.a.test/"]))
    site.add("http://b.a.test/sitemap.xml", make_page("http://b.a.test/sitemap.xml", ["/2"]))
    site.add("http://b.a.test/2", PLAIN)
    site.add("http://c.a.test/", PLAIN)
    apology = b"<title>404 Not Found</title><h1>Page not found</h1><a href='/trap'>home</a>"
    site.add("http://c.a.test/sitemap.xml", Answer(body=apology))
    web = find(tmp_path / "crawl", site, ways="sitemaps")
    assert sorted(paths_of(web)) == ["/", "/", "/", "/1", "/2", "/all-pages", "/sitemap.xml", "/sitemap.xml"]
    found = outcomes_of(tmp_path / "crawl")
    assert found["http://a.test/all-pages"].get("reason") == "fetched"
    assert found["http://a.test/all-pages"].get("quads")
    for url in ("http://b.a.test/sitemap.xml", "http://c.a.test/sitemap.xml"):
        assert found[url].get("reason") == "no-sitemap"
        assert not found[url].get("quads")


def test_a_home_page_in_the_place_of_a_sitemap_is_one_page(tmp_path: Path) -> None:
    """Whether it is known before the sitemap is looked for or not, and whether the server sends us there or answers with it."""
    site = Site()
    cases = list(enumerate(itertools.product(["/", "/1"], [200, 302])))
    for number, (_, status) in cases:
        home = make_page(f"http://a{number}.test/", ["/1", "/2"], padding_bytes=200)
        site.add(f"http://a{number}.test/", home)
        moved = Answer(302, headers={"Location": "/"})
        site.add(f"http://a{number}.test/sitemap.xml", home if status == 200 else moved)
        for path in ("/1", "/2"):
            site.add(f"http://a{number}.test{path}", make_page(f"http://a{number}.test{path}", ["/"]))
    with Web(site) as web:
        seeds = [f"http://a{number}.test{first}" for number, (first, _) in cases]
        crawl(tmp_path / "crawl", *seeds, *QUICK, *web.resolve(EVERYWHERE), crawl_ways="sitemaps")
    found = outcomes_of(tmp_path / "crawl")
    for number, _ in cases:
        paths = [exchange.path for exchange in pages_of(web.log) if exchange.host == f"a{number}.test"]
        assert sorted(paths) == ["/", "/1", "/2", "/sitemap.xml"]
        home_page, sitemap = found[f"http://a{number}.test/"], found[f"http://a{number}.test/sitemap.xml"]
        assert home_page.get("reason") == "fetched"
        assert home_page.get("quads")
        assert not home_page.get("duplicate")
        assert not sitemap.get("quads")
    totals = totals_of(tmp_path / "crawl")
    assert (totals["pages"], totals["duplicates"]) == (3 * len(cases), 0)


def test_sitemaps_are_asked_for_whatever_the_first_page_is_and_count_as_no_pages(tmp_path: Path) -> None:
    """The first page is of a type that is not read; a list is empty, one asks not to be followed, one is linked as a page."""
    site = Site()
    site.robots["a.test"] = Answer(
        body=b"Sitemap: /empty.xml\nSitemap: /index.xml\nSitemap: /shy.xml", content_type=TEXT
    )
    site.add("http://a.test/", Answer(body=b"%PDF-1.7", content_type="application/pdf"))
    site.add("http://a.test/empty.xml", Answer(body=make_sitemap(), content_type=XML))
    # Kept elsewhere, it lists pages of who lists it.
    index = make_sitemap("http://cdn.test/pages.xml", kind="sitemap")
    site.add("http://a.test/index.xml", Answer(body=index, content_type=XML))
    pages = make_sitemap("http://a.test/1?utm_source=map", "http://stranger.test/no")
    site.add("http://cdn.test/pages.xml", Answer(body=pages, content_type=XML))
    shy = Answer(body=make_sitemap("http://a.test/no"), content_type=XML, headers={"X-Robots-Tag": "nofollow"})
    site.add("http://a.test/shy.xml", shy)
    site.add("http://a.test/1", make_page("http://a.test/1", ["/linked.xml"]))
    site.add("http://a.test/linked.xml", Answer(body=make_sitemap(), content_type=XML))
    web = find(tmp_path / "crawl", site, *TWO_SHARDS, ways="sitemaps")
    lists = {f"/{name}.xml" for name in ("empty", "index", "shy", "pages")}
    assert set(paths_of(web)) == {"/", "/1", "/linked.xml", *lists}
    found = outcomes_of(tmp_path / "crawl")
    assert {url.partition("test")[2] for url in found if found[url].get("reason") == "sitemap"} == lists
    assert totals_of(tmp_path / "crawl")["pages"] == 3


def test_endless_and_hostile_sitemaps_end(tmp_path: Path) -> None:
    """Lists of lists without end, one that is a bomb, one of entities, and one that lists more than it may."""
    site = Site()
    site.add("http://a.test/", PLAIN)
    names = ["/nest/0", "/bomb.xml.gz", "/entities.xml", "/deep.xml"]
    site.robots["a.test"] = Answer(body="".join(f"Sitemap: {name}\n" for name in names).encode(), content_type=TEXT)
    bomb = gzip.compress(make_sitemap("http://a.test/1") + bytes(200_000_000), 1)
    site.add("http://a.test/bomb.xml.gz", Answer(body=bomb, content_type="application/gzip"))
    entities = b'<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    entities += b'<!ENTITY c SYSTEM "file:///etc/passwd">]><urlset><url><loc>http://a.test/&b;&c;</loc></url></urlset>'
    site.add("http://a.test/entities.xml", Answer(body=entities, content_type=XML))
    deep = b"<urlset>" + b"<url>" * 100_000 + b"<loc>http://a.test/deep</loc>"
    site.add("http://a.test/deep.xml", Answer(body=deep, content_type=XML))

    def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        if not path.startswith("/nest/"):
            return site(host, path, headers)
        number = int(path.rpartition("/")[2])
        return Answer(body=make_sitemap(f"http://a.test/nest/{number + 1}", kind="sitemap"), content_type=XML)

    with Web(answer) as web:
        crawl(tmp_path / "crawl", "http://a.test/", *QUICK, *web.resolve(EVERYWHERE), crawl_ways="sitemaps")
    assert [path for path in paths_of(web) if path.startswith("/nest")] == ["/nest/0", "/nest/1", "/nest/2"]
    found = outcomes_of(tmp_path / "crawl")
    assert found["http://a.test/1"].get("found-as") == "listed"
    assert f"http://a.test/{'a' * 100}" in found


def test_a_server_that_answers_everything_by_a_list_is_bound_by_the_limits(tmp_path: Path) -> None:
    def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        number = int("0" + path.rpartition("/")[2]) if path[1:].isdecimal() else 0
        lines = "".join(f"http://a.test/{2 * number + more}\n" for more in (1, 2))
        return Answer(404) if path == "/robots.txt" else Answer(body=lines.encode(), content_type=TEXT)

    with Web(answer) as web:
        limits = ["--pages", 5, "--time", "60s"]
        crawl(tmp_path / "crawl", "http://a.test/", *QUICK, *limits, *web.resolve(EVERYWHERE), crawl_ways="sitemaps")
    assert totals_of(tmp_path / "crawl")["pages"] == 5
    assert len(paths_of(web)) <= 7


def test_a_person_may_want_as_a_page_what_was_fetched_as_a_context(tmp_path: Path) -> None:
    site = Site()
    data = '{"@context": "http://b.test/", "@id": "#x", "name": "X"}'
    page = f'<script type="application/ld+json">{data}</script>'.encode()
    site.add("http://a.test/", Answer(body=page))
    site.add("http://b.test/", make_page("http://b.test/", ["http://b.test/next"]))
    site.add("http://b.test/next", PLAIN)
    folder = tmp_path / "crawl"
    find(folder, site, *TWO_SHARDS, ways="contexts")
    assert outcomes_of(folder)["http://b.test/"].get("reason") == "no-context"
    with Web(site) as web:
        crawl(folder, "http://b.test/", *TWO_SHARDS, *web.resolve(EVERYWHERE))
    assert {"/", "/next"} <= {exchange.path for exchange in web.log if exchange.host == "b.test"}
    assert outcomes_of(folder)["http://b.test/"].get("reason") == "fetched"


def test_what_has_changed_by_its_sitemap_is_fetched_again(tmp_path: Path) -> None:
    """In a crawl that visits pages again: the list names a page as changed long before its own visit is due."""
    site = Site()
    site.robots["a.test"] = Answer(body=b"Sitemap: /old.xml", content_type=TEXT)
    for name in ("", "same", "changed"):
        site.add(f"http://a.test/{name}", make_page(f"http://a.test/{name}"))
    listed = make_sitemap("http://a.test/same", "http://a.test/changed", more="<lastmod>2020-01-01</lastmod>")
    site.add("http://a.test/old.xml", Answer(body=listed, content_type=XML))
    folder = tmp_path / "crawl"
    with Web(site) as web:
        arguments = [*QUICK, *web.resolve(EVERYWHERE)]
        settings: dict[str, object] = {"crawl_ways": "sitemaps", "crawl_revisit_s": 1_000_000}
        crawl(folder, "http://a.test/", *arguments, **settings)
        before = len(web.log)
        time.sleep(1.1)
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        new = make_sitemap("http://a.test/same", more="<lastmod>2020-01-01</lastmod>").replace(
            b"</urlset>",
            f"<url><loc>http://a.test/changed</loc><lastmod>{now}</lastmod></url></urlset>".encode(),
        )
        site.add("http://a.test/new.xml", Answer(body=new, content_type=XML))
        site.add("http://a.test/more", make_page("http://a.test/more", ["/new.xml"]))
        crawl(folder, "http://a.test/more", *arguments, **settings)
    assert [exchange.path for exchange in web.log[before:]] == ["/more", "/new.xml", "/changed"]


def test_headers_feeds_and_heads_lead_to_data_and_pages(tmp_path: Path) -> None:
    site = Site()
    head = "<link rel=alternate type=text/turtle href=/a.ttl><link rel=stylesheet href=/a.css><link rel='shortcut icon' href=/i>"
    head += "<link rel=next href=/page/2><link rel=alternate type=application/atom+xml href=/feed><link rel=preload href=/f>"
    home = make_page("http://a.test/", ["/ugly"], head=head)
    links = (
        '</b.ttl>; rel="alternate"; type="text/turtle"; title="a, b; <c>", </c.css>; rel=preload, </c>; rel=describedby'
    )
    site.add("http://a.test/", Answer(body=home.body, headers={"Link": links}))
    site.add("http://a.test/page/2", PLAIN)
    feed = b"""<feed xmlns="http://www.w3.org/2005/Atom"><id>x</id><link rel="next" href="/feed?page=2"/>
    <entry><link href="/entry"/></entry></feed>"""
    site.add("http://a.test/feed", Answer(body=feed, content_type="application/atom+xml"))
    site.add("http://a.test/feed?page=2", Answer(body=feed, content_type="application/atom+xml"))
    web = find(tmp_path / "crawl", site, ways="headers")
    assert ways_of(tmp_path / "crawl") == {
        "http://a.test/": "seed",
        "http://a.test/ugly": "link",
        "http://a.test/a.ttl": "alternate",
        "http://a.test/feed": "alternate",
        "http://a.test/page/2": "next",
        "http://a.test/b.ttl": "alternate",
        "http://a.test/c": "header",
        "http://a.test/feed?page=2": "next",
        "http://a.test/entry": "link",
    }
    assert "/a.css" not in paths_of(web)


def test_links_in_the_data_are_followed(tmp_path: Path) -> None:
    site = Site()
    turtle = b"""@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix s: <http://schema.org/> .
    </x#it> rdfs:seeAlso </see#also> ; s:image </image> ; s:url "http://a.test/text" ; rdfs:seeAlso <http://b.test/> ."""
    site.add("http://a.test/", Answer(body=turtle, content_type="text/turtle"))
    find(tmp_path / "crawl", site, ways="data")
    assert ways_of(tmp_path / "crawl") == {
        "http://a.test/": "seed",
        "http://a.test/see": "data",
        "http://a.test/text": "data",
    }


def test_a_query_of_the_users_finds_links(tmp_path: Path) -> None:
    site = Site()
    turtle = b"@prefix : <http://x.org/> . </1> :part </2> ; :rank 1 . </3> :part </4> ; :rank 9 ."
    site.add("http://a.test/", Answer(body=turtle, content_type="text/turtle"))
    query = "PREFIX : <http://x.org/> SELECT ?to { ?from :part ?to ; :rank ?rank FILTER(?rank > 5) }"
    find(tmp_path / "crawl", site, ways="data", crawl_data_links=query)
    assert ways_of(tmp_path / "crawl") == {"http://a.test/": "seed", "http://a.test/4": "data"}


def test_a_query_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    site = Site()
    turtle = "\n".join(f"</{number}> <http://x.org/p> </{number + 1}> ." for number in range(300))
    site.add("http://a.test/", Answer(body=turtle.encode(), content_type="text/turtle"))
    site.add("http://a.test/page", PLAIN)
    query = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n2 ?o }"
    settings = {"crawl_data_links": query, "run_extract_timeout_s": 0.5}
    find(tmp_path / "crawl", site, "http://a.test/page", ways="data", **settings)
    found = outcomes_of(tmp_path / "crawl")
    assert set(found) == {"http://a.test/", "http://a.test/page"}
    assert found["http://a.test/"].get("problem").startswith("query-timeout")
    assert found["http://a.test/"].get("quads") == "rdf 300", "its data is kept"
    assert totals_of(tmp_path / "crawl")["problems"] == {"query-timeout": 1}


def test_ontologies_are_asked_for_as_data_and_not_followed(tmp_path: Path) -> None:
    site = Site()
    data = b"""<http://a.test/#it> a <http://onto.test/ns#Thing> ;
      <http://onto.test/ns#name> "it" ; <http://defs.test/p/x> "y" ."""
    site.add("http://a.test/", Answer(body=data, content_type="text/turtle"))
    site.add("http://onto.test/ns", Answer(303, headers={"Location": "/ns.ttl"}))
    labels = b"<http://onto.test/ns#Thing> <http://www.w3.org/2000/01/rdf-schema#seeAlso> </more> ."
    site.add("http://onto.test/ns.ttl", Answer(body=labels, content_type="text/turtle"))
    site.add("http://defs.test/p/", make_page("http://defs.test/p/", ["/more"]))
    with Web(site) as web:
        arguments = [*TWO_SHARDS, "--ontologies", *web.resolve({**EVERYWHERE, "www.w3.org": "127.0.0.1"})]
        crawl(tmp_path / "crawl", "http://a.test/", *arguments, crawl_ways="data ontologies")
    found = {url: way for url, way in ways_of(tmp_path / "crawl").items() if "w3.org" not in url}
    assert found == {
        "http://a.test/": "seed",
        "http://onto.test/ns": "ontology",
        "http://onto.test/ns.ttl": "ontology",
        "http://defs.test/p/": "ontology",
    }
    asked = next(exchange for exchange in web.log if exchange.path == "/ns")
    assert asked.headers["accept"].startswith("text/turtle")
    assert outcomes_of(tmp_path / "crawl")["http://onto.test/ns.ttl"].get("reason") == "fetched"


CONTEXT = b'{"@context": {"@vocab": "http://vocab.test/"}}'


def make_data(context: str) -> Answer:
    body = f'<script type="application/ld+json">{{"@context": "{context}", "@id": "#it", "name": "it"}}</script>'
    return Answer(body=body.encode())


def test_a_context_is_fetched_once_and_kept(tmp_path: Path) -> None:
    """On another site, by way of a redirect, for pages of both shards; the limit of pages does not count it."""
    site = Site()
    hosts = [f"s{number}.test" for number in range(6)]
    for host in hosts:
        site.add(f"http://{host}/", make_data("http://www.ctx.test/old"))
    site.add("http://www.ctx.test/old", Answer(302, headers={"Location": "/context.jsonld"}))
    site.add("http://www.ctx.test/context.jsonld", Answer(body=CONTEXT, content_type=JSON_LD))
    folder = tmp_path / "crawl"
    with Web(site) as web:
        seeds = [f"http://{host}/" for host in hosts]
        crawl(folder, *seeds, "--pages", 6, *TWO_SHARDS, *web.resolve(EVERYWHERE), crawl_ways="contexts")
        assert sorted(paths_of(web)) == [*["/"] * 6, "/context.jsonld", "/old"]
        site.add("http://late.test/", make_data("http://www.ctx.test/context.jsonld"))
        crawl(folder, "http://late.test/", "--pages", 7, *TWO_SHARDS, *web.resolve(EVERYWHERE), crawl_ways="contexts")
        assert paths_of(web)[8:] == ["/"]
    found = outcomes_of(folder)
    assert {found[f"http://{host}/"].get("quads") for host in (*hosts, "late.test")} == {"jsonld 1"}
    assert found["http://www.ctx.test/context.jsonld"].get("reason") == "context"
    asked = next(exchange for exchange in web.log if exchange.path == "/context.jsonld")
    assert asked.headers["accept"].startswith(JSON_LD)
    assert totals_of(folder)["pages"] == 7


def test_a_context_that_cannot_be_had_costs_its_own_data_only(tmp_path: Path) -> None:
    site = Site()
    site.robots["a.test"] = Answer(body=b"User-agent: *\nDisallow: /private", content_type=TEXT)
    names = ["missing", "private/context", "text", "large", "nowhere"]
    for name in names:
        site.add(f"http://a.test/of/{name}", make_data(f"/{name}"))
    site.add("http://a.test/", make_page("http://a.test/", [f"/of/{name}" for name in names]))
    site.add("http://a.test/text", Answer(body=b"no context", content_type=TEXT))
    large = b'{"@context": {"@vocab": "http://v.test/"}, "x": "' + b"x" * 1_100_000 + b'"}'
    site.add("http://a.test/large", Answer(body=large, content_type=JSON_LD))
    site.add("http://a.test/of/nowhere", make_data("http://nowhere.invalid/c"))
    web = find(tmp_path / "crawl", site, ways="contexts")
    assert sorted(path for path in paths_of(web) if path.startswith("/of/")) == sorted(
        f"/of/{name}" for name in names
    ), "none has waited in vain, to be fetched again"
    found = outcomes_of(tmp_path / "crawl")
    for name in names:
        assert found[f"http://a.test/of/{name}"].get("problem").startswith("context-unknown")
    # What is no context is a page as any other.
    assert found["http://a.test/text"].get("reason") == "fetched"
    assert found["http://a.test/missing"].status == 404


def test_a_context_that_pages_link_to_serves_too(tmp_path: Path) -> None:
    """It was fetched as a page before anybody knew that it is a context."""
    site = Site()
    site.add("http://a.test/", make_page("http://a.test/", ["/context.jsonld"]))
    site.add("http://a.test/context.jsonld", Answer(body=CONTEXT, content_type=JSON_LD))
    site.add("http://a.test/data", make_data("/context.jsonld"))
    folder = tmp_path / "crawl"
    find(folder, site, ways="contexts")
    with Web(site) as web:
        crawl(folder, "http://a.test/data", *QUICK, *web.resolve(EVERYWHERE), crawl_ways="contexts")
    assert paths_of(web) == ["/data"]
    assert outcomes_of(folder)["http://a.test/data"].get("quads") == "jsonld 1"


def test_a_context_that_was_fetched_as_a_page_is_asked_for_at_once(tmp_path: Path) -> None:
    """Of a type that is no data's, with data of its own, elsewhere, missing, forbidden: whatever became of it as a page."""
    site = Site()
    site.robots["a.test"] = Answer(body=b"User-agent: *\nDisallow: /forbidden", content_type=TEXT)
    contexts = ["/untyped", "/data", "/moved", "/missing", "/forbidden"]
    site.add("http://a.test/", make_page("http://a.test/", contexts))
    site.add("http://a.test/untyped", Answer(body=CONTEXT, content_type=TEXT))
    both = b'{"@context": {"@vocab": "http://vocab.test/"}, "@id": "#both", "name": "both"}'
    site.add("http://a.test/data", Answer(body=both, content_type=JSON_LD))
    site.add("http://a.test/moved", Answer(302, headers={"Location": "/untyped"}))
    for name in contexts:
        site.add(f"http://a.test/of{name}", make_data(name))
    folder = tmp_path / "crawl"
    find(folder, site, ways="contexts")
    seeds = [f"http://a.test/of{name}" for name in contexts]
    with Web(site) as web:
        crawl(folder, *seeds, *QUICK, *web.resolve(EVERYWHERE), crawl_ways="contexts")
    asked = sorted(path for path in paths_of(web) if path.startswith("/of"))
    assert asked == sorted(f"/of{name}" for name in contexts), "none has waited in vain, to be fetched again"
    found = outcomes_of(folder)
    assert [found[seed].get("quads") for seed in seeds[:3]] == ["jsonld 1"] * 3
    assert all(found[seed].get("problem").startswith("context-unknown") for seed in seeds[3:])
    # What says something besides is still a page.
    both_found = found["http://a.test/data"]
    assert (both_found.get("reason"), both_found.get("quads")) == ("fetched", "jsonld 1")


@pytest.mark.parametrize("end", ["stop", "pause"])
def test_who_waits_for_a_context_does_not_keep_a_crawl_from_its_end(
    tmp_path: Path, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page is fetched again when the crawl goes on, and nothing of it is lost."""
    # Nobody here would be patient enough for a shard that waits.
    run_first("from rdfspider.run import prerequisites\n\nprerequisites.WAIT_S = 600.0\n", tmp_path, monkeypatch)
    site = Site()
    site.add("http://a.test/", make_data("http://slow.test/context"))
    site.add("http://slow.test/context", Answer(body=CONTEXT, content_type=JSON_LD))
    site.robots["slow.test"] = Answer(503, headers={"Retry-After": "60"})
    folder = tmp_path / "crawl"
    with Web(site) as web:
        arguments = ["http://a.test/", *TWO_SHARDS, *web.resolve(EVERYWHERE)]
        with Crawling(folder, *arguments, crawl_ways="contexts") as crawling:
            assert crawling.wait_until(lambda: any(exchange.host == "slow.test" for exchange in web.log))
            command(folder, end)
            if end == "pause":
                command(folder, "stop")
            crawling.wait()
            assert "sitecustomize" not in crawling.stderr()
        assert not any(folder.glob("shards/*/warc/*.warc.gz")) or outcomes_of(folder) == {}
        assert totals_of(folder)["scheduled"] == 2
