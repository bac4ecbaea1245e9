"""What is known of each origin's robots.txt: on disk, and in memory those that were asked for last, within a bound of bytes."""

from msgspec.msgpack import Decoder, Encoder
from msgspec.structs import replace

from rdfspider.frontier.keys import pack_host
from rdfspider.frontier.store import Store
from rdfspider.records import RobotsRule, RobotsState

# A robots.txt may have 500 KB; nearly all have less than four.
_MEMORY_BYTES = 16 * 1024 * 1024
_ENTRY_BYTES = 512

_encode = Encoder().encode
decode_robots = Decoder(RobotsState).decode


class Origins:
    """The robots.txt of all origins."""

    def __init__(self, store: Store) -> None:
        self._robots = store.tables["robots"]
        self._memory: dict[bytes, RobotsState | None] = {}
        self._memory_bytes = 0
        self._staged: dict[bytes, RobotsState] = {}

    def get(self, number: int, origin: str) -> RobotsState | None:
        """What is known; None before the first answer."""
        key = pack_host(number) + origin.encode()
        if key in self._memory:
            return self._memory[key]
        state = self._staged.get(key)
        if state is None:
            value = self._robots.get(key)
            state = decode_robots(value) if value else None
        self._remember(key, state)
        return state

    def put(self, number: int, origin: str, state: RobotsState) -> None:
        """Stage what was learned; it holds from now on."""
        key = pack_host(number) + origin.encode()
        self._robots.put(key, _encode(state))
        self._staged[key] = state
        self._forget(key)
        self._remember(key, state)

    def expire_silent(self, number: int, now: float) -> None:
        """Have every robots.txt of a host asked for again that could not be had because nothing answered."""
        for key, value in self._robots.scan(pack_host(number), pack_host(number + 1)):
            state = decode_robots(value)
            if is_silent(state) and state.expires > now:
                self.put(number, key[len(pack_host(number)) :].decode(), replace(state, expires=now))

    def settle(self) -> None:
        """After a commit: the table knows what was staged."""
        self._staged.clear()

    def _remember(self, key: bytes, state: RobotsState | None) -> None:
        self._memory[key] = state
        self._memory_bytes += _size(state)
        while self._memory_bytes > _MEMORY_BYTES:
            self._forget(next(iter(self._memory)))

    def _forget(self, key: bytes) -> None:
        if key in self._memory:
            self._memory_bytes -= _size(self._memory.pop(key))


def is_silent(state: RobotsState) -> bool:
    """Whether nothing answered that asked for a robots.txt; a refusal or an error of the server is an answer."""
    return state.rule == RobotsRule.UNREACHABLE and not state.reason.startswith("status-")


def _size(state: RobotsState | None) -> int:
    return _ENTRY_BYTES + (len(state.body) if state else 0)
