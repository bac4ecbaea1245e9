"""Fuzzing of all that reads foreign bytes or what a person types: no exception but those that are meant, and bounded time.

A few cases of each target by default; `TEST_FUZZ=3600` goes on for an hour in all. The cases follow from `TEST_SEED`, and a
failure names the number of its case, which `TEST_CASE=N` repeats alone.
"""

import asyncio
import gzip
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyoxigraph
from pyoxigraph import RdfFormat

import rdfspider
from conftest import RecordMaker
from hostile import make_hostile
from hostile.mutations import mutate
from indexed import index_pages
from rdfspider.archive.warc_file import Damage, WarcFile
from rdfspider.config import Config, CrawlConfig
from rdfspider.crawl.messages import Beat
from rdfspider.detect.content import detect_content
from rdfspider.discover.link_headers import read_link_headers
from rdfspider.discover.scope import Scope
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.errors import UsageError
from rdfspider.fetch.robots import RobotsTxt
from rdfspider.frontier.frontier import Frontier
from rdfspider.index.text.query_language import parse_question
from rdfspider.records import Discovered, Page
from rdfspider.run.peers import coordinator_hub as coordinators
from rdfspider.run.peers import peers
from rdfspider.run.peers.coordinator import Coordinator
from rdfspider.run.peers.coordinator_client import PeerHandlers
from rdfspider.run.peers.messages import (
    UNREADABLE,
    Acquire,
    Arrival,
    Book,
    Claimed,
    ContentClaim,
    Control,
    ControlCommand,
    CoordinatorBatch,
    Document,
    DocumentStored,
    Hello,
    Links,
    MessageBatch,
    Permits,
    PermitsReturned,
    PermitsWanted,
    Received,
    Release,
    Repeated,
    Round,
    RoundAnswer,
    ScopeFound,
    ShardBatch,
    encode_links,
)
from rdfspider.run.runners.local import LocalRunner
from rdfspider.urls import host_of, normalise_url, resolve_links

SECONDS = float(os.environ.get("TEST_FUZZ", 0))
"""How long to go on with all targets together; 0 tries a few cases of each."""
SEED = int(os.environ.get("TEST_SEED", 1))
CASE = int(os.environ.get("TEST_CASE", -1))
TARGETS = 8
CASES = 60
CASE_CPU_S = 20.0
"""No case may take so much processor time; each is a fraction of what a page may be long."""
URL = "http://example.org/dir/page?q=1"
TYPES = (
    "text/html application/xhtml+xml application/xml application/ld+json text/turtle text/n3 application/rdf+xml text/plain "
    "application/rss+xml application/n-quads application/n-triples image/svg+xml application/trig application/json"
).split()


def fuzz(target: str, examples: Sequence[bytes], check: Callable[[bytes, random.Random], object]) -> None:
    """Check mutations of examples until the time of this target is over."""
    end = time.monotonic() + SECONDS / TARGETS
    numbers: Iterator[int] = iter(range(CASES)) if not SECONDS else iter(range(10**12))
    if CASE >= 0:
        numbers = iter([CASE])
    count = 0
    for number in numbers:
        if SECONDS and time.monotonic() > end:
            break
        chance = random.Random(f"{target} {SEED} {number}")
        case = mutate(chance, examples)
        started = time.process_time()
        try:
            check(case, chance)
        except Exception as error:
            error.add_note(f"{target}: TEST_SEED={SEED} TEST_CASE={number}: {case[:2000]!r}")
            raise
        took_s = time.process_time() - started
        assert took_s < CASE_CPU_S, (
            f"{target}: TEST_SEED={SEED} TEST_CASE={number} took {took_s:.1f} s: {case[:2000]!r}"
        )
        count += 1
    print(f"{target}: {count:,} cases of seed {SEED}")  # noqa: T201


def hostile_bodies() -> list[bytes]:
    """The bodies of hostile pages that are short enough to be tried often, with those of honest ones."""
    replies = [reply for scene in make_hostile(SEED) for reply in scene.replies.values() if isinstance(reply, bytes)]
    bodies = (reply.partition(b"\r\n\r\n")[2] for reply in replies)
    return sorted({body for body in bodies if 20 < len(body) < 20_000})


def documents() -> list[bytes]:
    """Small documents of every format."""
    folder = Path(__file__).parents[2] / "docs"
    rdf = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/"'
    texts = [
        '{"@context": {"@vocab": "http://v.example/", "a": {"@id": "b", "@type": "@id"}}, "@id": "x", "a": [{"@list": [1]}]}',
        '@prefix a: <http://a.example/> . a:b a:c "d"@en, 1.5e0, "x"^^a:t ; a:e [ a:f ( 1 2 ) ] .',
        "<http://a/b> <http://a/c> _:d <http://a/g> .\n",
        f'<rdf:RDF {rdf}><e:A rdf:about="#x"><e:b>c</e:b></e:A></rdf:RDF>',
        "<rss version='2.0'><channel><title>t</title><item><link>http://a/</link><pubDate>Mon, 1 Jan 2024 00:00:00 GMT</pubDate>"
        "</item></channel></rss>",
        "<div itemscope itemtype='http://schema.org/Event' itemref=x><time itemprop=startDate datetime=2024-01-01>x</time></div>"
        "<p id=x itemprop=y>z",
        "<p vocab='http://schema.org/' typeof='Person' resource='#a'><span property='name' lang=en>N</span>"
        "<a property=url href='/u'>u</a>",
        "<div class='h-card vcard'><a class='p-name u-url fn url' href=/x>n</a><time class='dt-bday' datetime=2000-01-01></time>",
    ]
    return [*(path.read_bytes() for path in sorted(folder.glob("*.html"))), *(text.encode() for text in texts)]


def test_detect() -> None:
    def check(case: bytes, chance: random.Random) -> None:
        charset = chance.choice(
            ["", "; charset=utf-16", "; charset=x-user-defined", "; charset=" + chance.choice(TYPES)]
        )
        detect_content(Page(URL, case, chance.choice([None, "", chance.choice(TYPES) + charset])), 100_000)

    fuzz("detect", [*documents(), *hostile_bodies(), gzip.compress(documents()[0])], check)


def test_extract() -> None:
    def check(case: bytes, chance: random.Random) -> None:
        found = rdfspider.extract(case, URL, chance.choice([None, *TYPES]), about_page=chance.random() < 0.3)
        assert "internal-error" not in {problem.code for problem in found.problems}, found.problems
        nquads = found.to_nquads()
        assert sum(1 for _ in pyoxigraph.parse(nquads.encode(), RdfFormat.N_QUADS)) == nquads.count("\n")

    fuzz("extract", [*documents(), *hostile_bodies()], check)


ROBOTS = [
    b"User-agent: *\nDisallow: /private\nAllow: /private/*.html$\nCrawl-delay: 1.5\nSitemap: http://a.example/s.xml\n",
    "User-agent: rdfspider\nUser-agent: other\nDisallow: /*a*b*c$\n\nUser-agent: *\nDisallow: /ツ?x=%2F&y\n".encode(),
    "User-agent: *\r\nDisallow: /\r\n".encode("utf-16"),
]


def test_robots() -> None:
    def check(case: bytes, chance: random.Random) -> None:
        rules = RobotsTxt(case)
        delay_s = rules.crawl_delay("rdfspider")
        assert delay_s is None or 0 <= delay_s < float("inf")
        assert isinstance(rules.sitemaps, tuple)
        for path in ("", "/private/x.html", "/aXbXc", "/%E3%83%84?x=/&y", "/" + "a" * 300, "/robots.txt"):
            assert rules.allows(f"http://example.org{path}", "rdfspider") or path != "/robots.txt"
            rules.rule_for(f"http://example.org{path}", "rdfspider")

    fuzz("robots", ROBOTS, check)


URLS = [
    b"http://user:pass@www.example.org:8080/a/../b/%7Ec;d?e=f&g=%20#h",
    "HTTP://bücher.example/ä?ö#ü".encode(),
    b"//example.org/x",
    b"../../a/./b?c",
    b"http://[2001:db8::1]:80/",
    b"http://0x7f.1/",
    b"mailto:a@b.example",
    b"</a>; rel=next; title*=UTF-8''x, <b>; rel=\"canonical alternate\"; type=text/turtle",
]


def test_urls() -> None:
    scope = Scope(CrawlConfig(), Domains(bundled_suffix_list(), 2))
    scope.extend("http://example.org/")

    def check(case: bytes, chance: random.Random) -> None:
        text = case.decode("utf-8", "surrogateescape" if chance.random() < 0.2 else "replace")
        for url in (normalise_url(text), *resolve_links(URL, [text, *text.split()]).values()):
            if url is not None:
                assert normalise_url(url) == url, f"the normal form of {url!r} is another"
                assert url.isascii()
                host_of(url)
                scope.find_refusal(url)
        for link in read_link_headers([("Link", text)], URL):
            assert isinstance(link.target, str)

    fuzz("urls", URLS, check)


SITEMAPS = [
    b"<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://a/b</loc><lastmod>2024-01-01"
    b"</lastmod></url></urlset>",
    b"<sitemapindex><sitemap><loc>/s.xml</loc></sitemap></sitemapindex>",
    b"http://a.example/1\nhttp://a.example/2\n",
    b"<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='/e'/><updated>2024-01-01T00:00:00Z</updated></entry></feed>",
    gzip.compress(b"<urlset><url><loc>http://a/b</loc></url></urlset>"),
]


def test_sitemaps() -> None:
    def check(case: bytes, chance: random.Random) -> None:
        kind = chance.choice(["application/xml", "text/xml", "text/plain", "application/gzip", "application/rss+xml"])
        found = rdfspider.extract(case, "http://example.org/sitemap.xml", kind)
        assert "internal-error" not in {problem.code for problem in found.problems}, found.problems

    fuzz("sitemaps", SITEMAPS, check)


def test_warc(make_record: RecordMaker, tmp_path: Path) -> None:
    records = [make_record(f"http://a.example/{number}", b"<p>x" * number) for number in (1, 50, 2000)]
    records.append(make_record("http://a.example/m", b"a: b\r\n", kind="metadata"))
    examples = [b"".join(records), b"".join(map(gzip.compress, records)), gzip.compress(b"".join(records))]

    def check(case: bytes, chance: random.Random) -> None:
        path = tmp_path / f"case.warc{chance.choice(['', '.gz', '.zst'])}"
        path.write_bytes(case)
        try:
            with WarcFile(path) as file:
                for item in file.read(0, file.size, lambda record, position: (record.reader.read(), position)):
                    assert isinstance(item, Damage | tuple)
        except UsageError as error:
            assert "\n" not in str(error)
        path.unlink()

    fuzz("warc", examples, check)


QUESTIONS = [
    b'green tea -type:Recipe site:example.org "exact words" pre*',
    b"type:Product OR type:Offer year:2024 lang:en schema:author:melville",
    b"property:name date:2024-01..2024-02 -site:x ontology:foaf kind:page",
    "“tea” ציפור 茶 naïve".encode(),
]


def test_search_language(tmp_path: Path) -> None:
    page = {"@context": "https://schema.org", "@type": "Product", "name": "Green tea", "author": {"name": "Melville"}}
    with index_pages(tmp_path / "crawl", {"https://example.org/": page}) as crawl:

        def check(case: bytes, chance: random.Random) -> None:
            text = case.decode("utf-8", "surrogateescape" if chance.random() < 0.2 else "replace")[:5000]
            parse_question(text)
            try:
                crawl.search(text, limit=3)
            except UsageError as error:
                assert "\n" not in str(error)

        fuzz("search language", QUESTIONS, check)


def test_peer_messages(tmp_path: Path) -> None:
    """What comes to a shard from others and from the coordinator, and to the coordinator from shards."""
    encode = msgspec.msgpack.encode
    links = encode_links([Discovered("http://a.test/"), Discovered("http://b.test/", 3)])
    # Those with number 0 are taken whenever they come, the others in their order.
    said: list[list[Any]] = [
        [Hello((0, 0), (0, 0)), Links((1, 1), (0, 0), links), Received((1, 1), (1, 1))],
        [Hello((0, 0), (0, 0)), Acquire("127.0.0.1", 1), Release("127.0.0.1", 0.5), Claimed(1, "http://a.test/")],
        [Hello((0, 0), (0, 0)), ContentClaim(1, b"key", "http://a.test/"), Repeated("http://a.test", "http://b.test")],
    ]
    batches = [MessageBatch(1, 1, 1, number, 3, False, messages) for number in (0, 1) for messages in said]
    told = [
        Permits(1, 5),
        Round(3),
        Control(ControlCommand.SLOW, "reason"),
        Control(ControlCommand.FILTERS, include=("a",)),
        Book({1: ("tcp://127.0.0.1:9", 1)}),
        Document(f"{'a' * 64}.json", b"{}"),
    ]
    orders = [CoordinatorBatch(1, 1, 0, 1, False, [message]) for message in told]
    reports = [
        Arrival(1, 1, 5, 10, ("http://a.test/",)),
        Beat(1, 1, 1.0, 5, (1, 1), False),
        PermitsWanted(1, 1, 5),
        PermitsReturned(1, 1, 2),
        RoundAnswer(1, 1, 1, True, (1, 1)),
        ScopeFound(1, 1, ("http://a.test/",)),
        DocumentStored(1, 1, f"{'a' * 64}.json", b"{}"),
    ]
    answers = [ShardBatch(1, 1, 0, 0, 1, False, [message]) for message in reports]
    asyncio.run(_fuzz_peers(tmp_path, [*map(encode, batches), *map(encode, orders), *map(encode, answers)]))


async def _fuzz_peers(folder: Path, examples: list[bytes]) -> None:
    config = Config(crawl=CrawlConfig(shards=2, pages=100))
    frontier = Frontier(folder / "frontier", config, Domains(bundled_suffix_list(), 2), 0)
    controls: list[Control] = []

    def take_links(links: list[Discovered]) -> None:
        frontier.add(links)

    handlers = PeerHandlers(controls.append, take_links, lambda *asked: None, lambda: False)
    runner = LocalRunner(2)
    shard = peers.Peers(0, runner.addresses, frontier, config, handlers)

    def check(case: bytes, chance: random.Random) -> None:
        shard._read([case])
        shard.coordinator._read([case])
        hub = Coordinator(2, config.crawl)
        for report in (examples[-7], case):
            try:
                batch: Any = coordinators._decoder.decode(report)
            except UNREADABLE:
                continue
            for message in batch.messages:
                hub.receive(message)
        frontier.commit()

    try:
        await shard.start()
        fuzz("peer messages", examples, check)
    finally:
        await shard.close()
        frontier.close()
        runner.close()
