"""A loopback web with honest and hostile hosts, made from a seed: each host has an address of its own in 127.0.0.0/8.

    python benchmarks/fair_web.py SEED KIND honest PORT LOG
    python benchmarks/fair_web.py SEED KIND others PORT

KIND is alone, hostile, farm, tarpits, slow-alone, slow, unasked, robots or turns.

Honest hosts and others have a process each, which ends when its stdin is closed. The first line on stdout is a JSON object with
the seeds, and the flags that lead a crawl there. Every answer of an honest host is a line of LOG: time, host, path and status.

- *Honest* hosts have thousands of pages with text and a product in JSON-LD, and two of them a catalogue of eight megabytes. A
  third of the hosts are seeds, the others are linked from one of these.
- *Hostile* hosts are linked from three honest hosts. Most are those of `tests/hostile`; nine more are below, which link to each
  other and to pages on honest hosts that do not exist.
- A *farm* of 200 hosts is linked from one honest host. Its pages look like honest ones, and each links to twenty of its hosts.
- *Tarpits* are seeds, as are servers that became slow: they are silent for 25 seconds, then send 160 bytes a second.
- Where all hosts are *slow*, each takes five seconds for an answer, honest ones, too (`slow-alone`). A farm of two domains, one
  for each shard, is linked from one honest host. Its first page, which comes at once, links to all its subdomains: 400 that are
  asked again and again (`slow`), or 4,000, so that most are not asked at all (`unasked`). They are in 64 networks. Or there are
  1,000 that look fast, but are slow: their robots.txt comes at once (`robots`), or so does every second page, too (`turns`).
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random
from typing import cast

import uvloop

# Before this folder, which has a module `web`, too.
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from hostile import HostileWeb, make_hostile
from rdfspider.domains import Domains, bundled_suffix_list

HONEST, HOSTILE, FARM, TARPITS = 60, 73, 200, 300
SUBDOMAINS = {"slow-alone": 0, "slow": 400, "unasked": 4000, "robots": 1000, "turns": 1000}
SHARDS = 2
_PAGES = 5_000
_CHILDREN = 4
_ENTRIES = 3
_CATALOGUES = 2
_JUNK_LINKS = 50
_SLOW_S = 5.0
_NETWORKS = 64
_SILENT_S, _DRIP_S, _DRIP_BYTES = 25.0, 0.1, 16
_OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n"
_MISSING = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\nnone"

Answer = bytes | Callable[[asyncio.Transport], "asyncio.Future[None] | asyncio.Task[None]"]


class Web:
    """All hosts of one web, and what each answers."""

    def __init__(self, seed: int, kind: str, port: int) -> None:
        self.kind = kind
        self.port = port
        chance = Random(seed)
        self._salt = chance.randrange(1 << 30)
        letters = "bdfgklmnprstvz"
        self._words = ["".join(chance.choice(letters) + chance.choice("aeiou") for _ in range(3)) for _ in range(3000)]
        taken: set[str] = set()
        self.honest = [_choose_address(chance, taken) for _ in range(HONEST)]
        self.seeds = self.honest[: HONEST // 3]
        self._children = {
            host: self.honest[HONEST // 3 + number :: HONEST // 3] for number, host in enumerate(self.seeds)
        }
        self.is_slow = kind in SUBDOMAINS
        networks = _NETWORKS if SUBDOMAINS.get(kind) else 0
        count = {"alone": 0, "hostile": HOSTILE, "farm": FARM, "tarpits": TARPITS}.get(kind, networks)
        scenes = make_hostile(seed, HOSTILE - len(_BEHAVIOURS)) if kind == "hostile" else []
        self.scenes = [(scene, _choose_address(chance, taken)) for scene in scenes]
        count -= len(scenes)
        block = _choose_address(chance, taken).rpartition(".")[0]
        # Half of a farm is in one network, the other half anywhere.
        near = [f"{block}.{number}" for number in range(1, 1 + count // 2)] if kind == "farm" else []
        self.others = near + [_choose_address(chance, taken) for _ in range(count - len(near))]
        chance.shuffle(self.others)
        self._numbers = {host: number for number, host in enumerate([*self.honest, *self.others])}
        self._catalogue = _make_catalogue(self._words)
        self._with_catalogue = [] if self.is_slow else self.seeds[-_CATALOGUES:]
        self._entries: dict[str, list[str]] = {}
        if kind == "hostile":
            linked = [*self._name(self.others), *(url for scene in scenes for url in scene.seeds)]
            self._entries = {host: linked[number::_ENTRIES] for number, host in enumerate(self.seeds[:_ENTRIES])}
        elif kind == "farm":
            self._entries = {self.seeds[0]: self._name(self.others[:1])}
        self._subdomains = _name_subdomains(chance, SUBDOMAINS[kind]) if networks else {}
        if networks:
            self._entries = {self.seeds[0]: [f"http://{entry}/" for entry in self._subdomains]}

    def resolve(self) -> list[str]:
        """The flags that lead a crawl to subdomains."""
        entries = [f"{entry}={self.others[0]}:{self.port}" for entry in self._subdomains]
        networks = [f"*.n{number}.*={host}:{self.port}" for number, host in enumerate(self.others)]
        return [flag for entry in entries + networks if self._subdomains for flag in ("--resolve", entry)]

    def wait_s(self, host: str, path: str, name: str) -> float:
        """How long a host takes for an answer, asked by a name."""
        if not self.is_slow or name in self._subdomains:
            return 0.0
        page = _read_number(path)
        looks_fast = page is None if self.kind == "robots" else page is None or page % 2 == 0
        is_feint = self.kind in ("robots", "turns") and host in self.others and looks_fast
        return 0.0 if is_feint else _SLOW_S

    def answer(self, host: str, path: str, name: str) -> Answer:
        """What a host sends for a path, asked by a name."""
        number = self._numbers[host]
        if number < HONEST:
            return self._answer_honestly(host, path)
        if self.kind == "tarpits":
            return _trap
        if self.kind == "farm":
            return self._answer_as_farm(host, path)
        if self.is_slow:
            return self._answer_as_subdomain(name, path)
        return _BEHAVIOURS[number % len(_BEHAVIOURS)](self, host, path)

    def _answer_honestly(self, host: str, path: str) -> bytes:
        if path == "/catalogue" and host in self._with_catalogue:
            return self._catalogue
        page = _read_number(path)
        if page is None or page >= _PAGES:
            return _MISSING
        more = [*self._name(self._children.get(host, ())), *self._entries.get(host, ())] if page == 0 else []
        if host in self._with_catalogue and page == 0:
            more.append("/catalogue")
        return self.make_page(host, page, more)

    def _answer_as_farm(self, host: str, path: str) -> bytes:
        page = _read_number(path)
        if page is None:
            return _MISSING
        chance = Random(f"{self._salt} {host} {page} links")
        return self.make_page(host, page, self._name(chance.sample(self.others, 20)))

    def _answer_as_subdomain(self, name: str, path: str) -> bytes:
        page = _read_number(path)
        if page is None:
            return _MISSING
        if name in self._subdomains:
            links = "".join(f'<a href="http://{other}/">x</a>' for other in self._subdomains[name])
            body = f"<!doctype html><title>All</title>{links}".encode()
            return _OK % len(body) + body
        others = self._subdomains[f"www.{name.partition('.')[2].partition('.')[2]}"]
        chance = Random(f"{self._salt} {name} {page} links")
        return self.make_page(name, page, [f"http://{other}/" for other in chance.sample(others, 20)])

    def _name(self, hosts: Iterable[str]) -> list[str]:
        return [f"http://{host}:{self.port}/" for host in hosts]

    def make_page(self, host: str, page: int, more: list[str]) -> bytes:
        """A page with text, a product, links to further pages of its host, and more links."""
        chance = Random(f"{self._salt} {host} {page}")
        words = chance.choices(self._words, k=400)
        product = {
            "@context": "https://schema.org",
            "@type": "Product",
            "name": " ".join(words[:3]),
            "description": " ".join(words[3:20]),
            "sku": str(chance.randrange(10**9)),
            "offers": {"@type": "Offer", "price": f"{chance.randrange(9999) / 100}", "priceCurrency": "EUR"},
        }
        own = [f"/p/{_CHILDREN * page + number}" for number in range(1, _CHILDREN + 1)]
        links = " ".join(f'<a href="{link}">{link}</a>' for link in (*own, *more))
        text = "".join(f"<p>{' '.join(words[start : start + 40])}</p>\n" for start in range(20, 400, 40))
        body = (
            f"<!doctype html><html lang=en><title>{product['name']}</title>"
            f'<script type="application/ld+json">{json.dumps(product)}</script><main>{text}</main><nav>{links}</nav></html>'
        ).encode()
        return _OK % len(body) + body

    def make_links(self, host: str, path: str) -> list[str]:
        """Links of a hostile page: to others like it, and to pages of honest hosts that do not exist."""
        chance = Random(f"{self._salt} {host} {path}")
        return self._name(self.others) + [
            f"http://{chance.choice(self.honest)}:{self.port}/{chance.choice(self._words)}/{chance.randrange(10**6)}"
            for _ in range(_JUNK_LINKS)
        ]


def _name_subdomains(chance: Random, count: int) -> dict[str, list[str]]:
    """For each shard the first host of a domain, and the subdomains that it links to."""
    domains = Domains(bundled_suffix_list(), SHARDS)
    found: dict[int, str] = {}
    while len(found) < SHARDS:
        name = f"farm{chance.randrange(10**6)}.test"
        found.setdefault(domains.shard(name), name)
    return {
        f"www.{name}": [f"h{number}.n{number % _NETWORKS}.{name}" for number in range(count // SHARDS)]
        for name in found.values()
    }


def _make_catalogue(words: list[str]) -> bytes:
    """A page of eight megabytes, as honest sites have them, too."""
    items = (
        f'<li vocab="https://schema.org/" typeof="Product"><b property="name">{word} {other}</b></li>\n'
        for word in words[:90]
        for other in words[:1000]
    )
    body = f"<!doctype html><title>All</title><ul>{''.join(items)}</ul>".encode()
    return _OK % len(body) + body


def _choose_address(chance: Random, taken: set[str]) -> str:
    while True:
        address = f"127.{chance.randrange(1, 255)}.{chance.randrange(256)}.{chance.randrange(1, 255)}"
        if address not in taken:
            taken.add(address)
            return address


def _read_number(path: str) -> int | None:
    if path == "/":
        return 0
    number = path.removeprefix("/p/")
    return int(number) if path.startswith("/p/") and number.isdecimal() and len(number) < 7 else None


def _trap(transport: asyncio.Transport) -> asyncio.Task[None]:
    return asyncio.ensure_future(_drip(transport, _SILENT_S))


async def _drip(transport: asyncio.Transport, silent_s: float) -> None:
    await asyncio.sleep(silent_s)
    transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    while not transport.is_closing():
        transport.write(b"<p>" + b"x" * (_DRIP_BYTES - 3))
        await asyncio.sleep(_DRIP_S)


def _send_page(web: Web, host: str, path: str) -> Answer:
    """An endless site of pages with new words, and junk links."""
    return web.make_page(host, (_read_number(path) or 0) % 10**6, web.make_links(host, path))


def _send_copies(web: Web, host: str, path: str) -> Answer:
    """The same page at every address, with new addresses."""
    stamp = Random(f"{host} {path}").randrange(10**9)
    links = "".join(f'<a href="{link}">x</a>' for link in web.make_links(host, path))
    links += "".join(f'<a href="/{stamp}/{number}">next</a>' for number in range(50))
    body = b"<!doctype html><title>the same</title>" + b"<p>the same words again</p>" * 100 + links.encode()
    return _OK % len(body) + body


def _send_markup(web: Web, host: str, path: str) -> Answer:
    """Much markup, which takes long to extract, and links to more of it."""
    links = "".join(f'<a href="{link}">x</a>' for link in web.make_links(host, path))
    links += "".join(f'<a href="/heavy/{number}{path[:20]}">x</a>' for number in range(20))
    item = '<div itemscope itemtype="https://schema.org/Thing"><p itemprop=name>a thing</p></div>'
    body = ("<!doctype html><title>heavy</title>" + links + item * 9_000).encode()
    return _OK % len(body) + body


def _send_huge(web: Web, host: str, path: str) -> Answer:
    """Twelve megabytes of nested data, compressed."""
    links = "".join(f'<a href="{link}">x</a>' for link in web.make_links(host, path))
    links += "".join(f'<a href="/huge/{number}{path[:20]}">x</a>' for number in range(20))
    item = '<div typeof="schema:Thing"><span property="schema:name">some name</span></div>'
    body = gzip.compress(("<!doctype html><title>huge</title>" + links + item * 150_000).encode(), 1)
    return _OK.replace(b"\r\n", b"\r\nContent-Encoding: gzip\r\n", 1) % len(body) + body


def _send_redirects(web: Web, host: str, path: str) -> Answer:
    target = f"/r/{Random(path).randrange(10**9)}"
    return f"HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n".encode()


def _send_errors(web: Web, host: str, path: str) -> Answer:
    return b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"


def _send_soft_404(web: Web, host: str, path: str) -> Answer:
    links = "".join(f'<a href="{link}">x</a>' for link in web.make_links(host, path))
    links += "".join(f'<a href="/missing/{Random(path).randrange(10**6)}/{number}">x</a>' for number in range(100))
    body = f"<!doctype html><title>Not found</title><h1>404 page not found</h1>{links}".encode()
    return _OK % len(body) + body


def _drip_at_once(web: Web, host: str, path: str) -> Answer:
    return lambda transport: asyncio.ensure_future(_drip(transport, 0.0))


def _stay_silent(web: Web, host: str, path: str) -> Answer:
    return lambda transport: asyncio.ensure_future(asyncio.sleep(3600))


_BEHAVIOURS = (
    _send_page,
    _send_copies,
    _send_markup,
    _send_huge,
    _send_redirects,
    _send_errors,
    _send_soft_404,
    _drip_at_once,
    _stay_silent,
)


class _Connection(asyncio.Protocol):
    """One connection of a client."""

    def __init__(self, web: Web, log: Callable[[str], object]) -> None:
        self._web = web
        self._log = log
        self._buffer = b""
        self._task: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are none of asyncio's classes.
        self._transport = cast("asyncio.Transport", transport)
        self._host = transport.get_extra_info("sockname")[0]

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, end, rest = self._buffer.partition(b"\r\n\r\n")
        if not end:
            return
        self._buffer = rest
        path = head.split(b" ", 2)[1].decode("latin-1")
        name = head.partition(b"\r\nHost: ")[2].partition(b"\r\n")[0].decode("latin-1")
        is_open = path not in ("/robots.txt", "/sitemap.xml")
        answer = self._web.answer(self._host, path, name) if is_open or self._web.kind == "tarpits" else _MISSING
        if not isinstance(answer, bytes):
            self._task = answer(self._transport)
        elif wait_s := self._web.wait_s(self._host, path, name):
            self._task = asyncio.ensure_future(self._send_later(path, answer, wait_s))
        else:
            self._send(path, answer)

    async def _send_later(self, path: str, answer: bytes, wait_s: float) -> None:
        await asyncio.sleep(wait_s)
        self._send(path, answer)

    def _send(self, path: str, answer: bytes) -> None:
        self._transport.write(answer)
        if self._host in self._web.honest:
            self._log(f"{time.time()} {self._host} {path} {answer[9:12].decode()}\n")

    def connection_lost(self, error: Exception | None) -> None:
        if self._task is not None:
            self._task.cancel()


async def _serve(web: Web, hosts: Sequence[str], seeds: Sequence[str], log: Path, flags: Sequence[str]) -> None:
    loop = asyncio.get_running_loop()
    with log.open("w", buffering=1) as stream:
        for host in hosts:
            await loop.create_server(lambda: _Connection(web, stream.write), host, web.port, backlog=1024)
        print(json.dumps({"seeds": [f"http://{host}:{web.port}/" for host in seeds], "flags": flags}), flush=True)
        await loop.run_in_executor(None, sys.stdin.read)


def main() -> None:
    seed, kind, role, port = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    web = Web(seed, kind, port)
    if role == "honest":
        uvloop.run(_serve(web, web.honest, web.seeds, Path(sys.argv[5]), ()))
        return
    seeds = web.others if kind == "tarpits" else ()
    scenes = [scene for scene, _ in web.scenes]
    with HostileWeb(scenes, [address for _, address in web.scenes] or ["127.0.0.1"]) as hostile:
        uvloop.run(_serve(web, web.others, seeds, Path(os.devnull), hostile.resolve() + web.resolve()))


if __name__ == "__main__":
    main()
