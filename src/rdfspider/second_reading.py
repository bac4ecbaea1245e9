"""A page whose process died is read once more, by the second parser, in a process that can be killed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, TypeVar

from rdfspider.html_parser import PARSER_VARIABLE, SECOND_PARSER
from rdfspider.processes.calls import KillableCalls
from rdfspider.records import Problem


class _Reading(Protocol):
    """What reading a page gives: a dataclass with problems."""

    @property
    def problems(self) -> tuple[Problem, ...]: ...


_Read = TypeVar("_Read", bound=_Reading)


class SecondReading:
    """Reads pages again; the process ends with each page, since few need it. Any thread may use it."""

    def __init__(
        self, timeout_s: float, wait_turn_s: float | None = None, *, cpu_s: float = 0.0, niceness: int = 0
    ) -> None:
        """The limits are those of `KillableCalls`."""
        self._calls = KillableCalls(
            timeout_s, wait_turn_s, {PARSER_VARIABLE: SECOND_PARSER}, cpu_s=cpu_s, niceness=niceness
        )

    def read(self, read: Callable[..., _Read], *arguments: object, died: str) -> _Read:
        """Return what a module-level function makes of a page, with a Problem that says who read it and why.

        Raises CallError if that fails too, UnansweredError if it waits too long.
        """
        try:
            found: _Read = self._calls.call(read, *arguments)
        finally:
            self._calls.rest()
        problem = Problem("second-parser", f"read by {SECOND_PARSER}, because at first {died}")
        return replace(found, problems=(*found.problems, problem))  # type: ignore[type-var]

    def close(self) -> None:
        """Kill the process for good; a page that is being read fails."""
        self._calls.close()
