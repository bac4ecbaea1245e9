"""The server of hostile hosts: scenes enter, and each is served on a loopback address and port of its own, with a log.

It runs in a thread of its own, so that a benchmark or a test only has to open it and to start a crawl beside it.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from hostile.scenes import Asked, Scene, respond
from waiting import PATIENCE_S

MAX_HEAD_BYTES = 65_536
_NOT_FOUND = respond(b"<title>There is nothing here</title>", status=404)


@dataclass(frozen=True, slots=True)
class Request:
    """One request that has come."""

    time: float
    """`time.monotonic()` when its head was read."""
    host: str
    """The host that was reached, whatever the request's Host header says."""
    path: str


class HostileWeb:
    """Serves scenes, as a context manager: `addresses` gives each its loopback address, by default the same for all."""

    def __init__(self, scenes: Sequence[Scene], addresses: Sequence[str] = ("127.0.0.1",)) -> None:
        self.scenes = list(scenes)
        self.log: list[Request] = []
        """Every request, in order."""
        self.failures: list[BaseException] = []
        """What went wrong in the server itself, which no test may leave unseen."""
        self._places = {scene.host: addresses[number % len(addresses)] for number, scene in enumerate(self.scenes)}
        self._ports: dict[str, int] = {}
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hostile web", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(PATIENCE_S) or self.failures:
            raise RuntimeError(f"the hostile web did not start: {self.failures}")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)

    @property
    def seeds(self) -> list[str]:
        """The seeds of all scenes."""
        return [url for scene in self.scenes for url in scene.seeds]

    def resolve(self) -> list[str]:
        """The flags that lead a crawl here."""
        return [
            flag
            for host, place in self._places.items()
            for flag in ("--resolve", f"{host}={place}:{self._ports[host]}")
        ]

    def count_requests(self, host: str) -> int:
        """How many requests have come to a host."""
        return sum(request.host == host for request in list(self.log))

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            servers = [self._loop.run_until_complete(self._listen(scene)) for scene in self.scenes]
        except OSError as error:
            self.failures.append(error)
            return
        finally:
            self._ready.set()
        try:
            self._loop.run_forever()
        finally:
            for server in servers:
                server.close()
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self._loop.close()

    async def _listen(self, scene: Scene) -> asyncio.Server:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await self._serve(scene, reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
                pass
            except Exception as error:  # A fault of a behaviour would pass for hostility.
                self.failures.append(error)
            with contextlib.suppress(OSError, RuntimeError):
                writer.close()

        place = self._places[scene.host]
        server = await asyncio.start_server(serve, place, 0, ssl=scene.tls, limit=MAX_HEAD_BYTES, backlog=1024)
        self._ports[scene.host] = server.sockets[0].getsockname()[1]
        if not scene.connects:
            server.close()
        return server

    async def _serve(self, scene: Scene, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if scene.greet is not None:
            self.log.append(Request(time.monotonic(), scene.host, ""))
            await scene.greet(reader, Asked("", {}, writer))
            return
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            path, headers = _read_head(head)
            self.log.append(Request(time.monotonic(), scene.host, path))
            reply = scene.replies.get(path, scene.otherwise or _NOT_FOUND)
            if asyncio.iscoroutinefunction(reply):
                await reply(Asked(path, headers, writer))
                return
            writer.write(reply(path) if callable(reply) else reply)
            await writer.drain()


def _read_head(head: bytes) -> tuple[str, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    fields = (line.partition(":") for line in lines if line)
    return first.split(" ", 2)[1] if " " in first else "", {name.lower(): value.strip() for name, _, value in fields}
