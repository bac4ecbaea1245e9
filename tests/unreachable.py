"""Shards on machines that cannot be reached any more, and whose lives servers can tell apart. For tests only."""

import asyncio
from dataclasses import replace

from rdfspider.processes.module_process import ModuleProcess
from rdfspider.run.runners.runner import ShardOrder
from web import Exchange

_CONTACT = "http://life.test/"


class Unreachable:
    """A child whose machine may be out of reach: nothing is known of its end then, and it cannot be killed."""

    def __init__(self, child: ModuleProcess) -> None:
        self.child = child
        self.pid = child.pid
        self.is_cut = False

    @property
    def code(self) -> int | None:
        """The exit code; None while it lives."""
        return self.child._process.returncode

    async def wait(self) -> int:
        code = await self.child.wait()
        while self.is_cut:
            await asyncio.sleep(0.1)
        return code

    def terminate(self) -> None:
        if not self.is_cut:
            self.child.terminate()

    def kill(self) -> None:
        if not self.is_cut:
            self.child.kill()


def name_life(order: ShardOrder, life: int) -> ShardOrder:
    """Let servers see in each request whose it is."""
    fetch = replace(order.config.fetch, contact=f"{_CONTACT}{order.number}/{life}")
    return order._replace(config=replace(order.config, fetch=fetch))


def find_life(exchange: Exchange) -> tuple[int, int]:
    """The shard that made a request, and in which of its lives, from 0."""
    name = exchange.headers["user-agent"].partition(_CONTACT)[2].rstrip(") ")
    shard, _, life = name.partition("/")
    return int(shard), int(life)
