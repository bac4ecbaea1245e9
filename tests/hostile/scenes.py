"""Scenes: what one hostile host answers to each path, what a crawler must make of it, and the table of all behaviours.

A behaviour is a function with a decorator below; from a seed's chance it makes a reply, a page or a whole site. A Scene has an
honest page beside what is hostile wherever the host lets a crawler reach one.
"""

from __future__ import annotations

import asyncio
import random
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from web import make_page

NEVER_S = 3600.0
"""Longer than any crawl of a test."""

WORDS = (
    "amber birch cedar delta ember fjord grove heron inlet jetty kelp larch maple nadir ochre petal quartz reed".split()
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to a hostile host, and the connection to answer it on."""

    path: str
    headers: Mapping[str, str]
    writer: asyncio.StreamWriter

    async def send(self, data: bytes, pause_s: float = 0.0) -> None:
        """Send bytes, then wait; raises ConnectionError when the crawler has left."""
        self.writer.write(data)
        await self.writer.drain()
        if pause_s:
            await asyncio.sleep(pause_s)

    async def send_forever(self, data: bytes, pause_s: float = 0.0) -> None:
        """Send the same bytes until the crawler leaves."""
        while True:
            await self.send(data, pause_s)

    def reset(self) -> None:
        """End the connection with RST instead of FIN."""
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Reply = bytes | Callable[[str], bytes] | Callable[[Asked], Awaitable[None]]
"""The whole answer to a request, what makes it of the path, or what writes it, after which the connection is closed."""


@dataclass(slots=True)
class Scene:
    """What one host does, and what a crawler must have on record of it afterwards."""

    host: str
    behaviour: str
    chance: random.Random
    replies: dict[str, Reply] = field(default_factory=dict)
    otherwise: Reply | None = None
    """The reply to any other path; None answers 404."""
    scheme: str = "http"
    port: int | None = None
    """The port in its URLs; None is that of the scheme."""
    connects: bool = True
    """Whether anything listens there."""
    tls: ssl.SSLContext | None = None
    """For a host that speaks TLS."""
    greet: Callable[[asyncio.StreamReader, Asked], Awaitable[None]] | None = None
    """Takes over the connection before a request is read, as a TLS server does."""
    seeds: list[str] = field(default_factory=list)
    expected: dict[str, frozenset[str]] = field(default_factory=dict)
    """Path → the signs of which its outcome must show at least one: see `web.Outcome` and `signs_of`."""
    honest: dict[str, bytes] = field(default_factory=dict)
    """Path → the body of an honest page that must be fetched all the same."""

    def url(self, path: str) -> str:
        """The URL of a path on this host."""
        port = f":{self.port}" if self.port else ""
        return f"{self.scheme}://{self.host}{port}{path}"

    def name_path(self, ending: str = "") -> str:
        """A path that the seed chooses."""
        return f"/{self.chance.choice(WORDS)}/{self.chance.choice(WORDS)}-{self.chance.randrange(10_000)}{ending}"

    def expect(self, path: str, *signs: str) -> None:
        """Note what the outcome of a path must show one of."""
        self.expected[path] = frozenset(signs)

    def add_honest(self, path: str, *links: str) -> None:
        """Add a page that must be fetched, with links."""
        body = make_page(self.url(path), links).body
        self.honest[path] = body
        self.replies[path] = respond(body)

    def add_home(self, *links: str) -> None:
        """Add the home page: it leads to the hostile paths, and to an honest page that comes after them."""
        after = self.name_path(".html")
        self.add_honest(after)
        self.add_honest("/", *links, after)
        self.seeds.append(self.url("/"))


Builder = Callable[[Scene], None]
BEHAVIOURS: dict[str, Builder] = {}
"""All behaviours, by the names of their functions."""


def site(build: Builder) -> Builder:
    """Register a behaviour that builds its scene itself."""
    BEHAVIOURS[build.__name__] = build
    return build


def exchange(*signs: str) -> Callable[[Callable[[random.Random], Reply]], Callable[[random.Random], Reply]]:
    """Register a behaviour that is one hostile reply, with the signs of which its outcome shows one."""

    def register(make: Callable[[random.Random], Reply]) -> Callable[[random.Random], Reply]:
        def build(scene: Scene) -> None:
            path = scene.name_path()
            scene.replies[path] = make(scene.chance)
            scene.expect(path, *signs)
            scene.add_home(path)

        BEHAVIOURS[make.__name__] = build
        return make

    return register


def page(content_type: str, *signs: str) -> Callable[[Callable[[random.Random], str]], Callable[[random.Random], str]]:
    """Register a behaviour that is the body of one hostile page, with the signs of which its outcome shows one."""

    def register(make: Callable[[random.Random], str]) -> Callable[[random.Random], str]:
        def build(scene: Scene) -> None:
            path = scene.name_path()
            scene.replies[path] = respond(make(scene.chance).encode("utf-8", "surrogatepass"), content_type)
            scene.expect(path, *signs)
            scene.add_home(path)

        BEHAVIOURS[make.__name__] = build
        return make

    return register


def respond(body: bytes, content_type: str = "text/html; charset=utf-8", *headers: str, status: int = 200) -> bytes:
    """A whole response with its right length."""
    lines = "".join(f"{header}\r\n" for header in headers)
    head = f"HTTP/1.1 {status} Reply\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n{lines}\r\n"
    return head.encode("latin-1") + body


def write_head(*headers: str, status: str = "200 OK") -> bytes:
    """A head alone, with these headers."""
    return "".join(f"{line}\r\n" for line in (f"HTTP/1.1 {status}", "Content-Type: text/html", *headers, "")).encode()
