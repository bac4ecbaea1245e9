"""Modules as processes: real ones, of Python's own modules."""

import asyncio

import pytest

from rdfspider.processes.module_process import ModuleProcess


def test_a_module_reads_its_order_from_stdin_and_its_lines_are_passed_on() -> None:
    async def story() -> None:
        lines: list[bytes] = []
        # Reads JSON from stdin until its end, and writes it.
        child = await ModuleProcess.start("json.tool", b'{"a": 1}', on_line=lines.append)
        assert await child.wait() == 0
        assert b"".join(lines).split() == [b"{", b'"a":', b"1", b"}"]
        child.kill()

    asyncio.run(asyncio.wait_for(story(), 60))


def test_a_module_whose_stdin_stays_open_goes_on_until_it_is_ended() -> None:
    async def story() -> None:
        child = await ModuleProcess.start("json.tool", b"{", keeps_stdin=True)
        child.send(b"}")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(child.wait(), 0.2)
        child.terminate()
        assert await child.wait() == -15

    asyncio.run(asyncio.wait_for(story(), 60))
