import asyncio
import contextlib
from pathlib import Path

import pytest
import zmq

from rdfspider.run.peers.sockets import LoopSocket, open_hub, open_inlet, open_line, open_outlet


def test_an_outlet_takes_nothing_while_nobody_is_there_and_finds_a_new_inlet(tmp_path: Path) -> None:
    async def story() -> None:
        context = zmq.Context()
        address = f"ipc://{tmp_path}/socket"
        outlet = open_outlet(context, address)
        with pytest.raises(zmq.Again):
            outlet.send(b"lost", zmq.DONTWAIT)
        heard: list[list[bytes]] = []
        for life in (b"first", b"second"):
            inlet = LoopSocket(open_inlet(context, address), heard.append)
            while [life] not in heard:
                with contextlib.suppress(zmq.Again):
                    outlet.send(life, zmq.DONTWAIT)
                await asyncio.sleep(0.01)
            inlet.close()
        outlet.close()
        context.term()

    asyncio.run(asyncio.wait_for(story(), 60))


def test_a_message_that_makes_trouble_does_not_stop_the_next_ones(tmp_path: Path) -> None:
    async def story() -> None:
        context = zmq.Context()
        address = f"ipc://{tmp_path}/socket"
        troubles: list[dict[str, object]] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, trouble: troubles.append(trouble))
        heard: list[bytes] = []

        def take(frames: list[bytes]) -> None:
            heard.append(frames[-1])
            if frames[-1] == b"1":
                raise RuntimeError("trouble")

        hub = LoopSocket(open_hub(context, address), take)
        line = LoopSocket(open_line(context, address), lambda frames: None)
        for n in range(300):
            assert line.send([b"%d" % n])
        while len(heard) < 300:
            await asyncio.sleep(0.01)
        assert heard == [b"%d" % n for n in range(300)]
        assert len(troubles) == 1
        line.close()
        hub.close()
        context.term()

    asyncio.run(asyncio.wait_for(story(), 60))
