"""Who is let in over TCP: keys of the crawl, and nobody else, however much they know."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zmq

from rdfspider.config import CrawlConfig
from rdfspider.crawl.messages import Command
from rdfspider.places.keys import CrawlKeys, KeyPair, ProcessKeys, make_keys
from rdfspider.run.peers.coordinator import Coordinator
from rdfspider.run.peers.coordinator_hub import CoordinatorHub
from rdfspider.run.peers.gatekeeper import Gatekeeper
from rdfspider.run.peers.messages import Arrival, Control, ControlCommand, ShardBatch
from rdfspider.run.peers.sockets import (
    SHARD_DOMAIN,
    LoopSocket,
    find_address,
    name_life,
    open_hub,
    open_inlet,
    open_line,
    open_outlet,
)

ANYWHERE = "tcp://127.0.0.2:*"
Story = Callable[["zmq.Context[zmq.Socket[bytes]]", CrawlKeys], Coroutine[Any, Any, None]]


kept: list[object] = []


class KeptContext(zmq.Context["zmq.Socket[bytes]"]):
    """A context whose sockets are open until its end."""

    def socket(self, *arguments: Any, **named: Any) -> "zmq.Socket[bytes]":
        kept.append(super().socket(*arguments, **named))
        return kept[-1]  # type: ignore[return-value]


def tell(story: Story) -> None:
    async def run() -> None:
        context = KeptContext()
        try:
            await asyncio.wait_for(story(context, make_keys(2)), 60)
        finally:
            context.destroy(linger=0)
            kept.clear()

    asyncio.run(run())


def pretend(keys: CrawlKeys) -> ProcessKeys:
    """Keys of somebody who knows all public keys of the crawl."""
    return keys.of_shard(1)._replace(own=KeyPair(*zmq.curve_keypair()))


def watch_refusals(socket: "zmq.Socket[bytes]") -> "zmq.Socket[bytes]":
    """Return what tells of connections that are refused from now on."""
    failures = (
        zmq.EVENT_HANDSHAKE_FAILED_AUTH | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
    )
    return socket.get_monitor_socket(failures)


async def wait_for_refusal(refusals: "zmq.Socket[bytes]") -> None:
    while not refusals.poll(0):
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("has_key", [False, True])
def test_an_inlet_takes_nothing_from_a_client_without_a_key_of_the_crawl(has_key: bool) -> None:
    async def story(context: "zmq.Context[zmq.Socket[bytes]]", keys: CrawlKeys) -> None:
        heard: list[list[bytes]] = []
        Gatekeeper(context, {SHARD_DOMAIN: frozenset(keys.of_shard(0).shards)})
        socket = open_inlet(context, ANYWHERE, keys.of_shard(0))
        LoopSocket(socket, heard.append)
        address, refusals = find_address(socket), watch_refusals(socket)
        # It has a context of its own, as in a process of its own.
        outside = KeptContext()
        stranger = outside.socket(zmq.PUSH)
        if has_key:
            stranger.close()
            stranger = open_outlet(outside, address, pretend(keys), keys.shards[0].public)
        else:
            stranger.connect(address)
            stranger.send(b"a lie")
        await wait_for_refusal(refusals)
        friend = open_outlet(outside, address, keys.of_shard(1), keys.shards[0].public)
        while not heard:
            if friend.poll(0, zmq.POLLOUT):
                friend.send(b"the truth")
            await asyncio.sleep(0.01)
        assert heard[0] == [b"the truth"]
        assert not has_key or not stranger.poll(0, zmq.POLLOUT)
        outside.destroy(linger=0)

    tell(story)


def test_without_a_gatekeeper_nobody_is_admitted() -> None:
    async def story(context: "zmq.Context[zmq.Socket[bytes]]", keys: CrawlKeys) -> None:
        socket = open_inlet(context, ANYWHERE, keys.of_shard(0))
        outlet = open_outlet(context, find_address(socket), keys.of_shard(1), keys.shards[0].public)
        for _ in range(50):
            assert not outlet.poll(0, zmq.POLLOUT)
            await asyncio.sleep(0.01)

    tell(story)


def test_a_shard_hears_only_a_coordinator_with_the_key_of_its_crawl() -> None:
    """Somebody else may have taken its address."""

    async def story(context: "zmq.Context[zmq.Socket[bytes]]", keys: CrawlKeys) -> None:
        impostor = pretend(keys)
        everybody = frozenset({*impostor.shards, impostor.own.public})
        Gatekeeper(context, {SHARD_DOMAIN: everybody})
        hub = open_hub(context, ANYWHERE, impostor)
        address, refusals = find_address(hub), watch_refusals(hub)
        heard: list[list[bytes]] = []
        name = name_life(0, 1)
        line = open_line(context, address, name, keys.of_shard(0))
        LoopSocket(line, heard.append)
        stop = msgspec.msgpack.encode(Control(ControlCommand.STOP))
        refused = asyncio.create_task(wait_for_refusal(refusals))
        while not refused.done():
            hub.send_multipart([name, stop])
            await asyncio.sleep(0.01)
        assert not heard
        true = open_hub(context, ANYWHERE, keys.of_coordinator())
        line.connect(find_address(true))
        while not heard:
            true.send_multipart([name, stop])
            await asyncio.sleep(0.01)
        assert heard[0] == [stop]

    tell(story)


def test_users_give_no_commands_where_shards_come(tmp_path: Path) -> None:
    """Not even with the key of a shard."""

    async def story(context: "zmq.Context[zmq.Socket[bytes]]", keys: CrawlKeys) -> None:
        coordinator = Coordinator(2, CrawlConfig())
        changes: list[bool] = []
        hub = CoordinatorHub(
            coordinator,
            f"ipc://{tmp_path}/control",
            lambda: changes.append(coordinator.is_told_to_stop),
            shard_address=ANYWHERE,
            keys=keys.of_coordinator(),
        )
        hub.open()
        answers: list[list[bytes]] = []
        line = LoopSocket(open_line(context, hub.shard_address, name_life(0, 1), keys.of_shard(0)), answers.append)
        line.send([b"", msgspec.json.encode(Command("stop"))])
        for shard in (1, 0):
            batch = ShardBatch(shard, 1, 0, 1, messages=[Arrival(shard, 1, 0, 0)])
            line.send([msgspec.msgpack.encode(batch)])
        while not answers:
            await asyncio.sleep(0.01)
        assert coordinator.present == {0}
        assert not any(changes)
        hub.close()

    tell(story)
