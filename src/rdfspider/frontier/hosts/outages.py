"""Hosts that are given up, and what brings them back early: a link to an origin that works, or a restart of the crawl.

A person who restarts a crawl may have fixed what kept its seeds from an answer: a name, an address, a network. So a small index,
read at the start, holds the seeds that failed without an answer, and the hosts of seeds that were given up without one.
"""

from collections.abc import Iterable

from rdfspider.codes import RobotsRule
from rdfspider.config import FrontierConfig
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.hosts.active import ActiveHosts
from rdfspider.frontier.hosts.hosts import GIVEN_UP, Host, Hosts
from rdfspider.frontier.hosts.origins import Origins
from rdfspider.frontier.keys import GIVEN_UP_QUEUE, origin_of, pack_host, pack_row, unpack_row
from rdfspider.frontier.store import Store
from rdfspider.pace import explain_pace, pace_gap_s
from rdfspider.records import Discovered

_INDEX = b"unanswered/"
_INDEX_END = b"unanswered0"


class Outages:
    """Gives up hosts, and brings them back."""

    def __init__(
        self, store: Store, hosts: Hosts, active: ActiveHosts, origins: Origins, config: FrontierConfig, clock: Clock
    ) -> None:
        self._meta = store.tables["meta"]
        self._hosts = hosts
        self._active = active
        self._origins = origins
        self._config = config
        self._clock = clock

    def give_up(self, host: Host, until: float, *, is_silent: bool) -> None:
        """Send a host no requests until a monotonic time; `is_silent` says that its last request got no answer."""
        self._hosts.set_status(host, GIVEN_UP)
        if host.record.is_seeded:
            key = _INDEX + pack_host(host.number)
            if is_silent:
                self._meta.put(key, b"")
            else:
                # The wait that an answer asked for also holds after restarts.
                self._meta.delete(key)
        self._active.leave(host, GIVEN_UP_QUEUE, until)

    def is_out(self, host: Host) -> bool:
        """Whether a host has not answered since it was given up for its own errors."""
        record, config = host.record, self._config
        return record.errors >= config.give_up_errors and record.gap_s >= config.give_up_s

    def note_seed(self, number: int, sequence: int) -> None:
        """Stage that a seed failed without an answer."""
        self._meta.put(_INDEX + pack_row(number, sequence), b"")

    def take_unanswered(self, limit: int) -> list[tuple[int, int | None]]:
        """Take up to `limit` entries out of the index, staged: numbers of hosts that were given up without an answer, and host
        numbers and sequences of seeds that failed without one. They may have been answered meanwhile."""
        found: list[tuple[int, int | None]] = []
        for key, _ in self._meta.scan(_INDEX, _INDEX_END, limit):
            self._meta.delete(key)
            entry = key[len(_INDEX) :]
            found.append((int.from_bytes(entry, "big"), None) if len(entry) == len(pack_host(0)) else unpack_row(entry))
        return found

    def forget_addresses(self, host: Host) -> None:
        """Have the name of a host looked up again, even if it did not exist."""
        host.record.addresses = None
        self._hosts.mark_changed(host)

    def end_silence(self, host: Host) -> None:
        """Let a host that was given up without an answer try once more at its usual pace; one error gives it up again."""
        if host.record.status != GIVEN_UP and not self.is_out(host):
            return
        delay_s = host.record.crawl_delay_s
        gap_s = pace_gap_s(delay_s, 0.0, self._config)
        self._hosts.shorten_gap(host, gap_s, explain_pace(gap_s, delay_s, 0.0, self._config))
        self._origins.expire_silent(host.number, self._clock.now())
        if host.record.status == GIVEN_UP:
            self._active.recall(host)

    def keep_out(self, host: Host) -> bool:
        """Whether a host with new URLs is still given up; if so, this is staged."""
        if host.is_active or not self.is_out(host) or host.ready_at <= self._clock.monotonic():
            return False
        self._hosts.set_status(host, GIVEN_UP)
        self._active.put_aside(host, GIVEN_UP_QUEUE, host.ready_at)
        return True

    def reconsider(self, host: Host, links: Iterable[Discovered]) -> None:
        """Bring back a host that was given up for the robots.txt of one origin, if new links go to another that works."""
        if self.is_out(host):
            return
        for origin in {origin_of(link.url) for link in links}:
            robots = self._origins.get(host.number, origin)
            if robots is not None and robots.rule != RobotsRule.UNREACHABLE:
                self._active.recall(host)
                return
