"""Hostile sites: spaces of pages without end, copies, false names of hosts, and ways into private networks."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from hostile.exchanges import moved
from hostile.scenes import WORDS, Scene, respond, site
from web import make_page

PRIVATE = (
    "http://127.0.0.1:{port}/",
    "http://localhost:{port}/",
    "http://127.1:{port}/",
    "http://2130706433:{port}/",
    "http://0x7f000001:{port}/",
    "http://0177.0.0.1:{port}/",
    "http://[::1]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
    "http://0.0.0.0:{port}/",
    "http://a.localhost:{port}/",
    "http://127.0.0.1.:{port}/",
    "http://user:word@127.0.0.1:{port}/",
    "http://①②⑦.0.0.1:{port}/",
    "http://169.254.169.254/latest/meta-data/",
    "http://10.0.0.1/",
    "http://192.168.0.1/",
    "http://[fd00::1]/",
)
"""Names of places that a crawl of the public web must not ask; `{port}` is that of a server which listens there."""
NAMES = (
    "http://honest.test@{host}/",
    "http://{host}\\@127.0.0.1/",
    "http:\\\\{host}\\x",
    "http:///{host}/",
    "http:/{host}/",
    "//{host}/%2e%2e/%2e%2e/etc",
    "http://{host}:22/",
    "http://{host}:99999/",
    "http://{host}:-1/",
    "http://{host}%00.test/",
    "http://{host}%2f.test/",
    "http://xn--\u0000.test/",
    "http://xn--99999999999.test/",
    "http://{long}.test/",
    "http://{dots}/",
    "http://a..test/",
    "http://-.test/",
    "http://{host}./",
    "HTTP://{upper}/upper",
    "http://{host}/\u202e/moc",
    "http://\u0430mber.test/",
    "http://{host}#@127.0.0.1/",
    "http://{host}?@127.0.0.1/",
    "javascript:alert(1)",
    "data:text/html,<a href=/x>",
    "mailto:x@{host}",
    "http://{host}/a\u0009b\u000ac",
)
"""Addresses that two readers may take for two different hosts."""


def lead_on(scene: Scene, make: Callable[[str], Sequence[str]]) -> None:
    """Answer every path with a page of links that `make` names, but no robots.txt and no sitemap."""
    scene.otherwise = lambda path: respond(make_page(scene.url(path), make(path)).body)
    scene.replies["/robots.txt"] = scene.replies["/sitemap.xml"] = respond(b"", status=404)


@site
def a_calendar(scene: Scene) -> None:
    first = scene.chance.randrange(1900, 2100)

    def link_months(path: str) -> list[str]:
        year, _, month = path.partition("year=")[2].partition("&month=")
        number = 12 * int(year or first) + int(month or 1)
        return [f"/calendar?year={each // 12}&month={each % 12 + 1}" for each in (number - 2, number)]

    lead_on(scene, link_months)
    scene.add_home(f"/calendar?year={first}&month=1")


@site
def session_ids(scene: Scene) -> None:
    name = scene.chance.choice(("session", "visit", "s", "token"))
    lead_on(scene, lambda path: [f"/shop?{name}={scene.chance.randrange(10**12)}" for _ in range(3)])
    scene.expect("/shop", "fetched")
    scene.add_home("/shop")


@site
def paths_that_grow(scene: Scene) -> None:
    words = scene.chance.sample(WORDS, 2)
    lead_on(scene, lambda path: [f"{path.rstrip('/')}/{word}/" for word in words])
    scene.expect(f"/{words[0]}/", "fetched")
    scene.add_home(f"/{words[0]}/")


@site
def parameters_in_every_order(scene: Scene) -> None:
    names = scene.chance.sample(WORDS, 6)

    def shuffle(path: str) -> list[str]:
        return ["/list?" + "&".join(f"{name}=1" for name in scene.chance.sample(names, 4)) for _ in range(6)]

    lead_on(scene, shuffle)
    scene.expect("/list", "fetched")
    scene.add_home("/list")


@site
def soft_404s(scene: Scene) -> None:
    body = b"<title>404 Not Found</title><h1>Page not found</h1><p>The page you asked for does not exist.</p>"
    scene.otherwise = respond(body)
    scene.replies["/robots.txt"] = respond(b"", status=404)
    path = scene.name_path()
    scene.expect(path, "soft-404")
    scene.add_home(path, *(scene.name_path() for _ in range(20)))


@site
def mirrors(scene: Scene) -> None:
    """One text under every name."""
    text = " ".join(scene.chance.choices(WORDS, k=400))
    links = "".join(f"<a href=/m{number}>x</a>" for number in range(30))
    scene.otherwise = respond(f"<title>the same</title><p>{text}</p>{links}".encode())
    scene.replies["/robots.txt"] = scene.replies["/sitemap.xml"] = respond(b"", status=404)
    # Which of them is the original is for the crawler to say.
    scene.expect("/m0", "fetched", "exact", "near")
    scene.add_home("/m0")


@site
def junk_on_other_hosts(scene: Scene) -> None:
    """Links to pages of honest hosts that are not there."""
    path = scene.name_path()
    links = [f"http://honest{number % 4}.test/junk/{scene.chance.randrange(10**9)}" for number in range(20)]
    scene.replies[path] = respond(make_page(scene.url(path), links).body)
    scene.expect(path, "fetched")
    scene.add_home(path)


@site
def a_return_address(scene: Scene) -> None:
    """A login page that every page leads to, with the way back in its address."""

    scene.otherwise = lambda path: moved(f"/login?back={path[-3000:]}%26{scene.chance.randrange(10**6)}")
    scene.replies["/robots.txt"] = scene.replies["/sitemap.xml"] = respond(b"", status=404)
    path = scene.name_path()
    scene.expect(path, "redirect")
    scene.add_home(path)


def private_urls(port: int) -> list[str]:
    """The names of a server on this machine that a crawl of the public web must not ask."""
    return [url.format(port=port) for url in PRIVATE]


def make_ways_inside(scene: Scene, port: int) -> None:
    """Lead to private addresses by links, redirects, refreshes, sitemaps, robots.txt, contexts and canonical links."""
    chance: random.Random = scene.chance
    urls = private_urls(port)
    links = "".join(f'<a href="{url}">x</a><link rel=canonical href="{url}">' for url in urls)
    target = chance.choice(urls)
    data = (
        f'<script type="application/ld+json">{{"@context": "{target}", "@id": "{target}", "url": "{target}"}}</script>'
    )
    refresh = f'<meta http-equiv=refresh content="0; url={target}">'
    path = scene.name_path()
    scene.replies[path] = respond(f"{refresh}{links}{data}".encode())
    scene.expect(path, "fetched", "canonical")
    paths = [path]
    for number, url in enumerate(urls):
        scene.replies[f"/go/{number}"] = moved(url, status=chance.choice((301, 302, 307, 308)))
        scene.expect(f"/go/{number}", "redirect")
        paths.append(f"/go/{number}")
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    scene.replies["/sitemap.xml"] = respond(f"<urlset>{entries}</urlset>".encode(), "application/xml")
    scene.replies["/robots.txt"] = respond("".join(f"Sitemap: {url}\n" for url in urls).encode(), "text/plain")
    scene.add_home(*paths)


@site
def false_host_names(scene: Scene) -> None:
    path = scene.name_path()
    fills = {"host": scene.host, "upper": scene.host.upper(), "long": "x" * 300, "dots": "." * 50}
    links = "".join(f"<a href='{name.format(**fills)}'>x</a>" for name in NAMES)
    scene.replies[path] = respond(links.encode())
    scene.expect(path, "fetched")
    scene.add_home(path)
