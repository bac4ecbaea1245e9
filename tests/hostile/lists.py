"""Hostile robots.txt files and sitemaps: silent, endless, packed, recursive, with millions of entries or other people's hosts."""

from __future__ import annotations

import asyncio
import gzip
import random
from collections.abc import Callable

from hostile.exchanges import closing, moved
from hostile.scenes import NEVER_S, Asked, Reply, Scene, respond, site, write_head

URLSET = '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
INDEX = '<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'


def robots(make: Callable[[random.Random], Reply]) -> Callable[[random.Random], Reply]:
    """Register a behaviour that is a robots.txt which must not keep a crawler from the host's pages."""

    def build(scene: Scene) -> None:
        scene.replies["/robots.txt"] = make(scene.chance)
        scene.add_home(scene.name_path())

    build.__name__ = make.__name__
    site(build)
    return make


def closed(make: Callable[[random.Random], Reply]) -> Callable[[random.Random], Reply]:
    """Register a behaviour that is a robots.txt without which nothing may be fetched (RFC 9309, 2.3.1.4)."""

    def build(scene: Scene) -> None:
        scene.replies["/robots.txt"] = make(scene.chance)
        scene.seeds.append(scene.url("/"))
        # Nothing of it is on record but what `rdfspider why` tells: the host was given up.
        scene.expect("/", "given-up")

    build.__name__ = make.__name__
    site(build)
    return make


def sitemap(*signs: str) -> Callable[[Callable[[Scene], Reply]], Callable[[Scene], Reply]]:
    """Register a behaviour that is a /sitemap.xml."""

    def register(make: Callable[[Scene], Reply]) -> Callable[[Scene], Reply]:
        def build(scene: Scene) -> None:
            scene.replies["/sitemap.xml"] = make(scene)
            scene.expect("/sitemap.xml", *signs)
            scene.add_home()

        build.__name__ = make.__name__
        site(build)
        return make

    return register


@closed
def robots_silent(chance: random.Random) -> Reply:
    async def wait(asked: Asked) -> None:
        await asyncio.sleep(NEVER_S)

    return wait


@closed
def robots_drips(chance: random.Random) -> Reply:
    async def drip(asked: Asked) -> None:
        await asked.send(write_head("Content-Length: 100000"))
        await asked.send_forever(b"Disallow: /\n"[: chance.randrange(1, 12)], 0.2)

    return drip


@closed
def robots_error(chance: random.Random) -> Reply:
    return respond(b"", status=chance.choice((500, 502, 503)))


@closed
def robots_too_often(chance: random.Random) -> Reply:
    return respond(b"", "text/plain", "Retry-After: 999999999999", status=429)


@closed
def robots_of_no_protocol(chance: random.Random) -> Reply:
    return closing(b"\xff\xfe" + chance.randbytes(300))


@robots
def robots_endless(chance: random.Random) -> Reply:
    async def flood(asked: Asked) -> None:
        await asked.send(write_head("Connection: close") + b"User-agent: *\n")
        await asked.send_forever(b"Disallow: /nothing-%d\n" % chance.randrange(10**9) * 100)

    return flood


@robots
def robots_of_patterns_that_backtrack(chance: random.Random) -> Reply:
    star = f"/*{chance.choice('aeiou')}" * chance.randrange(100, 1000)
    lines = "".join(f"Disallow: {star}{number}$\n" for number in range(200))
    return respond(f"User-agent: *\n{lines}".encode(), "text/plain")


@robots
def robots_bomb(chance: random.Random) -> Reply:
    body = gzip.compress(b"User-agent: *\n" + b"# nothing here\n" * 2_000_000)
    return respond(body, "text/plain", "Content-Encoding: gzip")


@robots
def robots_redirects_for_ever(chance: random.Random) -> Reply:
    return moved(f"/robots.txt?{chance.choice('ab')}", "X: y")


@robots
def robots_of_bytes(chance: random.Random) -> Reply:
    return respond(b"\0\xff\xfe" + chance.randbytes(100_000).replace(b"llow", b""), "text/plain")


@robots
def robots_with_absurd_delays(chance: random.Random) -> Reply:
    delays = chance.sample(["1e308", "-1", "NaN", "inf", "9" * 400, "0x10", "1,5", ""], 4)
    return respond("".join(f"User-agent: *\nCrawl-delay: {each}\nAllow: /\n" for each in delays).encode(), "text/plain")


@robots
def robots_with_sitemaps_of_others(chance: random.Random) -> Reply:
    hosts = (f"http://{chance.randrange(10**6)}.elsewhere.test/sitemap.xml" for _ in range(5000))
    return respond("".join(f"Sitemap: {each}\n" for each in (*hosts, "file:///etc/passwd")).encode(), "text/plain")


@sitemap("too-many-links")
def sitemap_bomb(scene: Scene) -> Reply:
    entry = f"<url><loc>{scene.url('/x')}</loc></url>".encode()
    return respond(gzip.compress(URLSET.encode() + entry * 300_000), "application/gzip")


@sitemap("sitemap")
def sitemap_of_itself(scene: Scene) -> Reply:
    entries = "".join(f"<sitemap><loc>{scene.url('/sitemap.xml')}</loc></sitemap>" for _ in range(100))
    return respond(f"{INDEX}{entries}</sitemapindex>".encode(), "application/xml")


@site
def sitemaps_without_end(scene: Scene) -> None:
    def lead_on(path: str) -> bytes:
        start = path.removesuffix(".xml")
        inner = "".join(f"<sitemap><loc>{scene.url(f'{start}{way}.xml')}</loc></sitemap>" for way in "ab")
        return respond(f"{INDEX}{inner}</sitemapindex>".encode(), "application/xml")

    scene.replies["/robots.txt"] = respond(b"", status=404)
    scene.otherwise = lead_on
    scene.expect("/sitemap.xml", "sitemap")
    scene.add_home()


@sitemap("sitemap")
def sitemap_of_many_entries(scene: Scene) -> Reply:
    entries = "".join(f"<url><loc>{scene.url(f'/e{number}')}</loc></url>" for number in range(2000))
    return respond(f"{URLSET}{entries}</urlset>".encode(), "application/xml")


@sitemap("sitemap")
def sitemap_of_other_hosts(scene: Scene) -> Reply:
    entries = "".join(f"<url><loc>http://{number}.elsewhere.test/</loc></url>" for number in range(3000))
    return respond(f"{URLSET}{entries}</urlset>".encode(), "application/xml")


@sitemap("entity-bomb")
def sitemap_of_entities(scene: Scene) -> Reply:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "lol"}">' for n in range(12))
    return respond(f"<!DOCTYPE urlset [{laughs}]><urlset><url><loc>&l11;</loc></url></urlset>".encode(), "text/xml")


@sitemap("not-well-formed")
def sitemap_of_nonsense(scene: Scene) -> Reply:
    chance = scene.chance
    entries = b"".join(b"<url><loc>" + chance.randbytes(30).replace(b"<", b"") + b"</loc></url>" for _ in range(60))
    return respond(URLSET.encode() + entries + b"</urlset>", "application/xml")


@sitemap("first-byte-timeout")
def sitemap_silent(scene: Scene) -> Reply:
    async def wait(asked: Asked) -> None:
        await asyncio.sleep(NEVER_S)

    return wait
