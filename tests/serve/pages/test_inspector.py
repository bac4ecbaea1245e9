"""The inspector of a real crawl's pages, their copies, and pages that are fetched or pasted; over a loopback web."""

import csv
import io
import json
import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from rdfspider import Crawl
from rdfspider.serve.pages import inspector
from serving import Serving, serve
from web.crawls import crawl
from web.server import Answer, Web
from web.sites import Site, make_page

HOME = "http://shop.test/"
TEA = "http://shop.test/tea"
DATA = {
    "@context": "https://schema.org",
    "@id": "#tea",
    "@type": "Product",
    "name": "Green <script>alert(1)</script> tea",
    "offers": {"@type": "Offer", "price": 4.5},
}


def make_tea() -> Answer:
    script = json.dumps(DATA).replace("</", "<\\/")[:-1] + ",}"
    return Answer(
        body=f"""<!doctype html><html lang=en><title>Tea &amp; more</title><!--{"-" * 1000}--><base href="/shop/">
        <link rel=stylesheet href=//evil.example/x.css><meta http-equiv=refresh content="9;url=//evil.example/">
        <script type="application/ld+json">{script}</script>
        <div itemscope itemtype="https://schema.org/Brand"><b itemprop=name>Marsh</b></div>
        <p onclick="alert(1)">Three words here. <a href="../">Home</a> <a href="javascript:alert(1)">bad</a>
        <script>alert(1)</script><img src=//evil.example/x.png alt="A cup"></p>""".encode()
    )


def make_web() -> Site:
    site = Site()
    site.add(HOME, make_page(HOME, ["/tea", "/private/x", "/kept-out", "/moved"]))
    site.add(TEA, make_tea())
    site.add(
        "http://shop.test/kept-out",
        make_page(
            "http://shop.test/kept-out",
            head='<meta name="robots" content="noarchive"><p>Words that nobody may keep.</p>',
        ),
    )
    site.add("http://shop.test/moved", Answer(301, headers={"Location": "/tea"}))
    site.add("http://shop.test/away", Answer(302, headers={"Location": "http://127.0.0.1:1/secret"}))
    site.add("http://shop.test/round", Answer(302, headers={"Location": "/round"}))
    site.add("http://shop.test/to-private", Answer(302, headers={"Location": "/private/x"}))
    site.robots["shop.test"] = Answer(body=b"User-agent: *\nDisallow: /private/\n", content_type="text/plain")
    return site


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    with Web(make_web()) as running:
        yield running


@pytest.fixture(scope="module")
def site(web: Web, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("inspector") / "c"
    settings = {"frontier_delay_s": 0, "index_enabled": "true", "crawl_shards": 1}
    crawl(folder, HOME, *web.resolve({"*.test": "127.0.0.1"}), **settings)
    with serve(Crawl.open(folder)) as serving:
        yield serving


@pytest.fixture
def guarded(web: Web, tmp_path: Path) -> Iterator[Serving]:
    """The site of a crawl that may not ask private addresses, but for the names that were given by hand."""
    entry = f"*.test=127.0.0.1:{web.ports['127.0.0.1']}"
    with serve(Crawl.create(tmp_path / "c", [HOME], fetch_resolve=(entry,), frontier_delay_s=0)) as serving:
        yield serving


def test_a_crawled_page_is_shown_with_all_that_is_known_of_it(site: Serving) -> None:
    html = site.get("/page", url=TEA).text
    for part in (
        "fetched: ",
        "Tea &amp; more",
        "JSON-LD",
        "Microdata",
        "schema:Offer · http://schema.org/Offer",
        "Three words here",
        "shard-000-pages-000001.warc.gz",
    ):
        assert part in html
    assert "<script>alert" not in html
    assert "Green &lt;script&gt;alert(1)" in html
    # Its JSON was broken, and mended.
    assert "json-repaired" in html and "broken JSON" in html
    assert f'href="/copy?url={TEA}"' in html
    assert re.search(r"fetched: \d+ statements", html)
    # One syntax is enough at first; the others say how much they have.
    assert re.findall(r'id="syntax-(\w+)"( open)?>', html) == [("jsonld", " open"), ("microdata", "")]
    assert re.search(r"Bytes on the wire</dt><dd><bdi>\d,\d{3}</bdi>", html)


def test_the_same_is_there_for_programs(site: Serving) -> None:
    found = site.get("/page.json", url="shop.test/tea").json
    assert (found["url"], found["why"]["state"], found["fetch"]["status"]) == (TEA, "done", 200)
    assert found["why"]["way"] == [{"url": HOME, "found_as": "seed"}]
    assert set(found["statements"]) == {"jsonld", "microdata"}
    assert [problem["code"] for problem in found["problems"]] == ["json-repaired"]
    assert [link["url"] for link in found["links"]] == [HOME]
    kinds = {page["url"]: page["kinds"] for page in found["in_links"]["pages"]}
    assert kinds == {HOME: ["link"], "http://shop.test/moved": ["redirect"]}
    assert b"<http://shop.test/shop/#tea> <http://schema.org/offers>" in site.get("/page.nq", url=TEA).body
    assert "schema:Product" in site.get("/page.ttl", url=TEA).text
    rows = list(csv.reader(io.StringIO(site.get("/page.csv", url=TEA, part="links").text)))
    assert rows == [["url", "relation", "text", "nofollow"], [HOME, "", "Home", "False"]]
    statements = list(csv.reader(io.StringIO(site.get("/page.csv", url=TEA).text)))
    assert statements[-1][::3] == ["microdata", "Marsh"]
    assert site.get("/page.csv", url=TEA, part="nothing").status == 400


def test_a_url_that_was_not_fetched_is_explained(site: Serving) -> None:
    assert "Disallow: /private/" in site.get("/page", url="http://shop.test/private/x").text
    assert "it redirects (301) to http://shop.test/tea" in site.get("/page", url="http://shop.test/moved").text
    reply = site.get("/page", url="http://elsewhere.example/")
    assert reply.status == 200
    assert "never seen; a plain link to it would not be followed" in reply.text
    assert site.get("/page", url="mailto:me@example.org").status == 400
    assert site.get("/page").headers["location"] == "/inspect"


def test_no_file_of_this_machine_is_looked_for(site: Serving) -> None:
    """A seed may be meant as a file, which the command line says; here that would tell strangers which files there are."""
    there, missing = (site.get("/page.json", url=path) for path in ("/etc/passwd", "/etc/no-such-file"))
    assert (there.status, missing.status) == (200, 200)


def test_the_copy_is_harmless(site: Serving) -> None:
    reply = site.get("/copy", url=TEA)
    policy, hashed = reply.headers["content-security-policy"].rsplit(" ", 1)
    assert policy == "sandbox; default-src 'none'; style-src"
    (style,) = re.findall("<style>(.*?)</style>", reply.text, re.DOTALL)
    assert hashed == f"'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'"
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert "Three words here." in reply.text and "[A cup]" in reply.text
    assert f'<a href="/page?url={HOME}" rel="noopener nofollow">Home</a>' in reply.text
    for part in ("<script", "onclick", "<link", "<base", "http-equiv", "evil.example", "javascript:", "<img"):
        assert part not in reply.text
    assert "evil.example" in site.get("/copy.json", url=TEA).json["source"]


def test_what_asks_not_to_be_archived_has_no_copy(site: Serving) -> None:
    page = site.get("/page", url="http://shop.test/kept-out")
    assert "noarchive (meta robots)" in page.text and "/copy?" not in page.text
    reply = site.get("/copy", url="http://shop.test/kept-out")
    assert reply.status == 404
    assert "asks that no copy be kept" in reply.text
    assert site.get("/copy", url="http://shop.test/never").status == 404


def test_fetching_takes_the_token(site: Serving, web: Web) -> None:
    before = len(web.log)
    assert site.post("/inspect/url", url=TEA).status == 403
    assert site.post("/inspect/url.json", url=TEA).status == 403
    assert len(web.log) == before


def test_a_page_is_fetched_and_read_without_a_crawl(site: Serving) -> None:
    found = site.post("/inspect/url.json", trusted=True, url="http://shop.test/moved").json
    assert [(hop["url"], hop["status"]) for hop in found["hops"]] == [("http://shop.test/moved", 301), (TEA, 200)]
    assert set(found["statements"]) == {"jsonld", "microdata"}
    assert "allowed: no line is about it" in site.post("/inspect/url", trusted=True, url=TEA).text
    # Nothing of it is kept.
    assert "never seen" in site.get("/page", url="http://shop.test/round").text


def test_robots_txt_is_obeyed_at_every_hop(site: Serving, web: Web) -> None:
    for path in ("private/x", "to-private"):
        reply = site.post("/inspect/url.json", trusted=True, url=f"http://shop.test/{path}")
        assert (reply.status, reply.json["error"]) == (403, "robots.txt of http://shop.test says `Disallow: /private/`")
    assert not [exchange for exchange in web.log if exchange.path.startswith("/private/")]


def test_private_addresses_are_refused_at_every_hop(guarded: Serving, web: Web) -> None:
    port, before = web.ports["127.0.0.1"], len(web.log)
    for url in (
        f"http://127.0.0.1:{port}/",
        f"http://[::1]:{port}/",
        f"http://[::ffff:127.0.0.1]:{port}/",
        "http://169.254.169.254/",
    ):
        reply = guarded.post("/inspect/url.json", trusted=True, url=url)
        assert (reply.status, "private network" in reply.json["error"]) == (403, True)
    assert len(web.log) == before
    reply = guarded.post("/inspect/url.json", trusted=True, url="http://shop.test/away")
    assert (reply.status, len(reply.json["hops"])) == (403, 2)


def test_what_does_not_come_is_said(site: Serving) -> None:
    for url, words in (
        ("http://shop.test/never", "the server answered 404"),
        ("http://shop.test/round", "redirects on and on"),
    ):
        reply = site.post("/inspect/url.json", trusted=True, url=url)
        assert (reply.status, words in reply.json["error"]) == (502, True)
    assert site.post("/inspect/url.json", trusted=True, url="ftp://shop.test/").status == 400


def test_forms_of_a_browser_must_be_ours(site: Serving) -> None:
    cookie = site.post("/login", token="the-token-of-the-tests").headers["set-cookie"].partition(";")[0]
    form = site.get("/inspect", {"Cookie": cookie}, url=TEA).text
    csrf = form.partition('name="csrf" value="')[2].partition('"')[0]
    assert site.post("/inspect/url", {"Cookie": cookie}, url=TEA).status == 403
    reply = site.post("/inspect/url", {"Cookie": cookie}, url=TEA, csrf=csrf)
    assert reply.status == 200
    # The secret is in a field of the form, and in no address.
    assert f"csrf={csrf}" not in reply.text


def test_pages_of_archives_from_elsewhere_are_shown(tmp_path: Path) -> None:
    """Others may have kept what asks not to be; it is not shown here."""
    records = b""
    for name, wish in (("open", "all"), ("closed", "noarchive")):
        page = f'<meta name=robots content={wish}><title>{name}</title><p vocab="http://schema.org/" typeof=Book>words'
        block = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}".encode()
        head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://other.example/{name}\r\n"
        head += "WARC-Date: 2024-05-01T10:00:00Z\r\nContent-Type: application/http; msgtype=response\r\n"
        head += f"Content-Length: {len(block)}"
        records += f"{head}\r\n\r\n".encode() + block + b"\r\n\r\n"
    archive = tmp_path / "other.warc"
    archive.write_bytes(records)
    crawl = Crawl.create(tmp_path / "c", ["https://example.org/"], crawl_shards=1)
    crawl.index([str(archive)])
    with serve(crawl) as serving:
        found = serving.get("/page.json", url="http://other.example/open").json
        assert (found["title"], list(found["statements"]), found["fetch"]["has_copy"]) == ("open", ["rdfa"], True)
        assert "<p>words</p>" in serving.get("/copy", url="http://other.example/open").text
        assert serving.get("/page.json", url="http://other.example/closed").json["fetch"]["has_copy"] is False
        assert serving.get("/copy", url="http://other.example/closed").status == 404
        archive.unlink()
        gone = serving.get("/page", url="http://other.example/open")
        assert gone.status == 200
        assert "cannot be read: other.warc: No such file" in gone.text
        assert str(tmp_path) not in gone.text and "UsageError" not in gone.text
        assert serving.get("/copy", url="http://other.example/open").status == 404


def test_of_what_asks_not_to_be_archived_only_the_beginning_is_shown(
    site: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "http://shop.test/kept-out"
    whole = site.get("/page.json", url=url).json
    monkeypatch.setattr(inspector, "_BEGINNING_CHARS", 3)
    found = site.get("/page.json", url=url).json
    assert (len(whole["text"]) > 3, whole["text_cut"], found["text"]) == (True, "", f"{whole['text'][:3]}…")
    assert "asks that no copy be kept (noarchive (meta robots))" in found["text_cut"]
    page = site.get("/page", {"Accept": "text/html"}, url=url).text
    assert "Only the beginning is shown" in page and whole["text"] not in page
    assert len(site.get("/page.json", url=TEA).json["text"]) > 4
