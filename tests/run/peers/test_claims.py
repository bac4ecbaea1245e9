"""Claims on contents between two shards: asked once, answered by who owns them, and not waited for in vain."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from rdfspider.archive.warc import compute_digest
from rdfspider.config import Config
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.contents import find_claim_owner, pack_digest
from rdfspider.frontier.frontier import Frontier
from rdfspider.run.peers.claims import Claims
from rdfspider.run.peers.messages import Claimed, ContentClaim, Repeated

DIGESTS = [compute_digest(str(number).encode()) for number in range(100)]
OWN, FOREIGN = ([key for key in DIGESTS if find_claim_owner(pack_digest(key), 2) == shard] for shard in range(2))


class HandClock(Clock):
    now_s = 100.0

    def monotonic(self) -> float:
        return self.now_s


class Asker:
    """Shard 0 of two, and what it says."""

    def __init__(self, folder: Path) -> None:
        self.clock = HandClock()
        self.frontier = Frontier(folder, Config(), Domains(bundled_suffix_list(), 2), 0)
        self.said: list[tuple[int, ContentClaim | Claimed | Repeated]] = []
        self.claims = Claims(0, 2, self.frontier, self.clock, lambda shard, message: self.said.append((shard, message)))

    async def ask(self, digest: str, url: str = "http://a.test/") -> "asyncio.Task[str]":
        """A claim that has been said, and may be answered."""
        task = asyncio.create_task(self.claims.claim(digest, url))
        await asyncio.sleep(0)
        return task

    def last_ticket(self) -> int:
        message = self.said[-1][1]
        assert isinstance(message, ContentClaim)
        return message.ticket


@pytest.fixture
def asker(tmp_path: Path) -> Iterator[Asker]:
    asker = Asker(tmp_path / "frontier")
    yield asker
    asker.frontier.close()


def test_a_content_of_its_own_is_asked_of_nobody(asker: Asker) -> None:
    async def check() -> None:
        assert await asker.claims.claim(OWN[0], "http://a.test/") == "http://a.test/"
        assert await asker.claims.claim(OWN[0], "http://b.test/") == "http://a.test/"

    asyncio.run(check())
    assert asker.said == []


def test_the_owner_of_a_content_answers_each_claim(asker: Asker) -> None:
    async def check() -> None:
        first, second = await asker.ask(FOREIGN[0]), await asker.ask(FOREIGN[0], "http://b.test/")
        assert [shard for shard, _ in asker.said] == [1, 1]
        ticket = asker.last_ticket()
        asker.claims.take(1, Claimed(ticket, "http://a.test/"))
        asker.claims.take(1, Claimed(ticket - 1))
        assert (await first, await second) == ("http://a.test/", "http://a.test/")
        asker.claims.answer(1, ContentClaim(7, pack_digest(OWN[0]), "http://c.test/"))
        asker.claims.answer(1, ContentClaim(8, pack_digest(OWN[0]), "http://d.test/"))
        asker.claims.answer(1, ContentClaim(7, pack_digest(OWN[0]), "http://c.test/"))
        assert asker.said[2:] == [(1, Claimed(7)), (1, Claimed(8, "http://c.test/")), (1, Claimed(7))]

    asyncio.run(check())


def test_an_owner_that_is_gone_is_waited_for_once(asker: Asker) -> None:
    async def check() -> None:
        waiting = await asker.ask(FOREIGN[0])
        asker.clock.now_s += 1.9
        asker.claims.sweep()
        await asyncio.sleep(0)
        assert not waiting.done()
        asker.clock.now_s += 0.2
        asker.claims.sweep()
        assert await waiting == "http://a.test/"
        late = asker.last_ticket()
        assert await asker.claims.claim(FOREIGN[1], "http://a.test/") == "http://a.test/"
        assert asker.last_ticket() == late
        # It was only slow: its answer changes nothing, but shows that it is there.
        asker.claims.take(1, Claimed(late, "http://b.test/"))
        again = await asker.ask(FOREIGN[1])
        asker.claims.take(1, Claimed(asker.last_ticket(), "http://b.test/"))
        assert await again == "http://b.test/"

    asyncio.run(check())


def test_an_owner_that_comes_back_is_asked_again(asker: Asker) -> None:
    async def check() -> None:
        waiting = await asker.ask(FOREIGN[0])
        asker.claims.ask_again(1)
        assert asker.said == [asker.said[0]] * 2
        asker.claims.take(1, Claimed(asker.last_ticket(), "http://b.test/"))
        asker.claims.take(1, Claimed(asker.last_ticket()))
        assert await waiting == "http://b.test/"
        asker.claims.ask_again(1)
        assert len(asker.said) == 2

    asyncio.run(check())


def test_at_the_end_nobody_waits(asker: Asker) -> None:
    async def check() -> None:
        waiting = await asker.ask(FOREIGN[0])
        cancelled = await asker.ask(FOREIGN[1])
        cancelled.cancel()
        await asyncio.sleep(0)
        asker.claims.close()
        assert await waiting == "http://a.test/"

    asyncio.run(check())
