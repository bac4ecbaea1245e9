"""Who is let in over TCP: keys of the crawl, and nobody else, however much they know."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zmq

from peering import Shard, until
from ports import find_free_ports
from rdfspider.config import Config, CrawlConfig
from rdfspider.crawl.messages import Command
from rdfspider.frontier.outbox import START
from rdfspider.places.keys import CrawlKeys, KeyPair, ProcessKeys, make_keys
from rdfspider.records import Discovered
from rdfspider.run.peers.coordinator import Coordinator
from rdfspider.run.peers.coordinator_hub import CoordinatorHub
from rdfspider.run.peers.gatekeeper import Gatekeeper, admit_shards
from rdfspider.run.peers.messages import (
    Arrival,
    Control,
    ControlCommand,
    CoordinatorBatch,
    Hello,
    Links,
    MessageBatch,
    ShardBatch,
    encode_links,
)
from rdfspider.run.peers.sockets import (
    AddressBook,
    LoopSocket,
    find_address,
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


def tell(story: Story, shards: int = 2) -> None:
    async def run() -> None:
        context = KeptContext()
        try:
            await asyncio.wait_for(story(context, make_keys(shards)), 60)
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
        Gatekeeper(context, admit_shards(keys.of_shard(0).shards))
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
        Gatekeeper(context, admit_shards([*impostor.shards, impostor.own.public]))
        hub = open_hub(context, ANYWHERE, impostor)
        address, refusals = find_address(hub), watch_refusals(hub)
        heard: list[list[bytes]] = []
        line = open_line(context, address, keys.of_shard(0))
        line.disconnect(address)
        name = line.routing_id = b"a name to send to"
        line.connect(address)
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
        line = LoopSocket(open_line(context, hub.shard_address, keys.of_shard(0)), answers.append)
        line.send([b"", msgspec.json.encode(Command("stop"))])
        line.send([make_arrival(0)])
        while not answers:
            await asyncio.sleep(0.01)
        assert coordinator.present == {0}
        assert not any(changes)
        hub.close()

    tell(story)


def make_arrival(shard: int, epoch: int = 1) -> bytes:
    return msgspec.msgpack.encode(ShardBatch(shard, epoch, 0, 1, messages=[Arrival(shard, epoch, 0, 0)]))


def test_with_the_key_of_one_shard_nobody_speaks_for_another_at_the_coordinator(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nor does anybody hear what is for another."""

    async def story(context: "zmq.Context[zmq.Socket[bytes]]", keys: CrawlKeys) -> None:
        coordinator = Coordinator(2, CrawlConfig())
        hub = CoordinatorHub(
            *(coordinator, f"ipc://{tmp_path}/control", lambda: None),
            shard_address=ANYWHERE,
            keys=keys.of_coordinator(),
        )
        hub.open()
        heard: list[list[list[bytes]]] = [[], []]
        sockets = [open_line(context, hub.shard_address, keys.of_shard(shard)) for shard in (0, 1)]
        first, second = (LoopSocket(socket, to.append) for socket, to in zip(sockets, heard, strict=True))
        for _ in range(3):
            second.send([make_arrival(0, epoch=2)])
        second.send([make_arrival(1)])
        while not heard[1]:
            await asyncio.sleep(0.01)
        assert coordinator.present == {1}
        first.send([make_arrival(0)])
        while not heard[0]:
            await asyncio.sleep(0.01)
        assert (coordinator.present, coordinator.find_epoch(0)) == ({0, 1}, 1)
        assert all(msgspec.msgpack.decode(frames[-1], type=CoordinatorBatch).to_epoch == 1 for frames in heard[1])
        hub.close()

    tell(story)
    assert caplog.messages == ["shard 1 is refused: with its key somebody speaks for shard 0"]


def test_with_the_key_of_one_shard_nobody_speaks_for_another_to_its_peers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(context: "zmq.Context[zmq.Socket[bytes]]", keys: CrawlKeys) -> None:
        ports = find_free_ports(3)
        addresses = AddressBook(f"ipc://{tmp_path}/coordinator", tuple(f"tcp://127.0.0.2:{port}" for port in ports))
        config = Config(crawl=CrawlConfig(shards=3))
        first = await Shard(0, tmp_path, addresses, config, keys=keys.of_shard(0)).start()
        outlet = open_outlet(context, addresses.shards[0], keys.of_shard(1), keys.shards[0].public)

        def speak(source: int, *links: Links, number: int) -> None:
            messages = [Hello(START, START), *links]
            outlet.send(
                msgspec.msgpack.encode(MessageBatch(source, 1, first.frontier.epoch, number, 0, False, messages))
            )

        def link(url: str) -> Links:
            return Links((1, 1), START, encode_links([Discovered(url)]))

        while not outlet.poll(0, zmq.POLLOUT):
            await asyncio.sleep(0.01)
        speak(2, link("http://a.test/lie"), number=1)
        speak(2, link("http://a.test/lie"), number=2)
        speak(1, link("http://a.test/truth"), number=1)
        await until(lambda: first.knows("http://a.test/truth"))
        assert not first.knows("http://a.test/lie")
        await first.close()

    tell(story, shards=3)
    assert caplog.messages == ["shard 1 is refused: with its key somebody speaks for shard 2"]
