import asyncio
import contextlib
import tempfile
from pathlib import Path

import pytest
import zmq

from rdfspider.run.peers.sockets import (
    Wire,
    find_endpoint,
    make_endpoint_folder,
    open_hub,
    open_inlet,
    open_line,
    open_outlet,
    remove_endpoint_folder,
)


def test_endpoints_are_private_and_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    for parent in (tempfile.gettempdir(), str(long)):
        monkeypatch.setattr(tempfile, "tempdir", parent)
        folder = make_endpoint_folder()
        assert folder.stat().st_mode & 0o777 == 0o700
        assert len(find_endpoint(folder, "coordinator").encode()) < 107
        folder.rmdir()
    assert list(long.iterdir()) == []


def test_endpoints_are_removed_when_nobody_listens_and_nothing_else_is(tmp_path: Path) -> None:
    """A crawl's folder that was copied while it ran names the sockets of that run."""
    other = tmp_path / "home" / "rdfspider-data"
    other.mkdir(parents=True)
    remove_endpoint_folder(find_endpoint(other, "coordinator"))
    assert other.is_dir()

    folder = make_endpoint_folder()
    endpoint = find_endpoint(folder, "coordinator")
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    hub = open_hub(context, endpoint)
    remove_endpoint_folder(endpoint)
    assert folder.is_dir()
    hub.close(linger=0)
    context.term()
    remove_endpoint_folder(endpoint)
    assert not folder.exists()


def test_an_outlet_takes_nothing_while_nobody_is_there_and_finds_a_new_inlet(tmp_path: Path) -> None:
    async def story() -> None:
        context = zmq.Context()
        folder = make_endpoint_folder()
        outlet = open_outlet(context, find_endpoint(folder, 0))
        with pytest.raises(zmq.Again):
            outlet.send(b"lost", zmq.DONTWAIT)
        heard: list[list[bytes]] = []
        for life in (b"first", b"second"):
            inlet = Wire(open_inlet(context, find_endpoint(folder, 0)), heard.append)
            while [life] not in heard:
                with contextlib.suppress(zmq.Again):
                    outlet.send(life, zmq.DONTWAIT)
                await asyncio.sleep(0.01)
            inlet.close()
        outlet.close()
        context.term()
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()

    asyncio.run(asyncio.wait_for(story(), 60))


def test_a_message_that_makes_trouble_does_not_stop_the_next_ones(tmp_path: Path) -> None:
    async def story() -> None:
        context = zmq.Context()
        folder = make_endpoint_folder()
        troubles: list[dict[str, object]] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, trouble: troubles.append(trouble))
        heard: list[bytes] = []

        def take(frames: list[bytes]) -> None:
            heard.append(frames[-1])
            if frames[-1] == b"1":
                raise RuntimeError("trouble")

        hub = Wire(open_hub(context, find_endpoint(folder, "hub")), take)
        line = Wire(open_line(context, find_endpoint(folder, "hub"), "0"), lambda frames: None)
        for n in range(300):
            assert line.send([b"%d" % n])
        while len(heard) < 300:
            await asyncio.sleep(0.01)
        assert heard == [b"%d" % n for n in range(300)]
        assert len(troubles) == 1
        line.close()
        hub.close()
        context.term()
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()

    asyncio.run(asyncio.wait_for(story(), 60))
