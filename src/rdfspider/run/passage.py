"""The way to a server: its address must be free, and one of the shard's connections."""

import asyncio
from collections.abc import Callable

from rdfspider.run.gate import AddressGate


class Passage:
    """What every request of a shard goes through; `on_enter` is called when it may start."""

    def __init__(self, gate: AddressGate, connections: int, on_enter: Callable[[], None]) -> None:
        self._gate = gate
        self._slots = asyncio.Semaphore(connections)
        self._on_enter = on_enter

    async def acquire(self, address: str) -> None:
        """Return when that address may be asked; `release` has to follow."""
        await self._gate.acquire(address)
        try:
            await self._slots.acquire()
        except asyncio.CancelledError:
            self._gate.release(address)
            raise
        self._on_enter()

    def release(self, address: str) -> None:
        """The request has ended, now."""
        self._slots.release()
        self._gate.release(address)
