"""A TCP proxy whose connections take a while and can be cut, as those of machines far apart. For tests only."""

import asyncio


class Wire:
    """Passes bytes on to a port of loopback, each after `latency_s`; what is under way at a cut is lost."""

    def __init__(self, to_port: int, latency_s: float = 0.03) -> None:
        self._to_port = to_port
        self._latency_s = latency_s
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.cuts = 0
        """Connections that were cut."""

    async def open(self) -> int:
        """Listen, and return the port."""
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    def cut(self) -> None:
        """Reset all connections; new ones may be made at once."""
        for writer in self._writers:
            writer.transport.abort()
        self.cuts += len(self._writers) // 2
        self._writers.clear()

    async def close(self) -> None:
        """Cut all connections, and take no more."""
        assert self._server is not None
        self._server.close()
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to_port)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, far_writer}
        for source, target in ((reader, far_writer), (far_reader, writer)):
            task = asyncio.create_task(self._pass_on(source, target))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass_on(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        try:
            while data := await source.read(65536):
                loop.call_later(self._latency_s, self._write, target, data)
        except OSError:
            pass
        loop.call_later(self._latency_s, target.transport.abort)

    @staticmethod
    def _write(target: asyncio.StreamWriter, data: bytes) -> None:
        if not target.transport.is_closing():
            target.write(data)
