"""Hosts that are given up, and what brings them back before their time: a link to an origin that is well, or a new start.

A person who starts a crawl again may have mended what kept its seeds from an answer: a name, an address, a network. So seeds that
failed without one, and hosts of seeds that were given up in silence, are in a small index, which is read at the start.
"""

from collections.abc import Iterable

from rdfspider.config import FrontierConfig
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.hosts.active import ActiveHosts
from rdfspider.frontier.hosts.hosts import GIVEN_UP as IS_GIVEN_UP
from rdfspider.frontier.hosts.hosts import Host, Hosts
from rdfspider.frontier.hosts.origins import Origins
from rdfspider.frontier.keys import GIVEN_UP, origin_of, pack_host, pack_row, unpack_row
from rdfspider.frontier.store import Store
from rdfspider.pace import explain_pace, pace_gap_s
from rdfspider.records import Discovered, RobotsRule

_INDEX = b"unanswered/"
_INDEX_END = b"unanswered0"


class Outages:
    """Gives hosts up, and brings them back."""

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
        """Leave a host alone until a monotonic time; its last error was silent where nothing answered."""
        self._hosts.set_status(host, IS_GIVEN_UP)
        if host.record.is_seeded:
            key = _INDEX + pack_host(host.number)
            if is_silent:
                self._meta.put(key, b"")
            else:
                # What it asked for with its last answer holds over all starts.
                self._meta.delete(key)
        self._active.leave(host, GIVEN_UP, until)

    def is_out(self, host: Host) -> bool:
        """Whether a host has had no answer since it was given up for errors of its own."""
        record, config = host.record, self._config
        return record.errors >= config.give_up_errors and record.gap_s >= config.give_up_s

    def note_seed(self, number: int, sequence: int) -> None:
        """Stage that a seed has failed without an answer."""
        self._meta.put(_INDEX + pack_row(number, sequence), b"")

    def take_unanswered(self, limit: int) -> list[tuple[int, int | None]]:
        """Numbers of hosts that were given up in silence, and of hosts and sequences of seeds that failed so, at most so many;
        stage that they are no longer in the index. They may have had an answer meanwhile."""
        found: list[tuple[int, int | None]] = []
        for key, _ in self._meta.scan(_INDEX, _INDEX_END, limit):
            self._meta.delete(key)
            entry = key[len(_INDEX) :]
            found.append((int.from_bytes(entry, "big"), None) if len(entry) == len(pack_host(0)) else unpack_row(entry))
        return found

    def forget_addresses(self, host: Host) -> None:
        """Have the name of a host looked up anew, also where the answer was that there is none."""
        host.record.addresses = None
        self._hosts.mark_changed(host)

    def end_silence(self, host: Host) -> None:
        """Have a host asked again, once and at its usual pace, that was given up in silence: one more error, and it is again."""
        if host.record.status != IS_GIVEN_UP and not self.is_out(host):
            return
        delay_s = host.record.crawl_delay_s
        gap_s = pace_gap_s(delay_s, 0.0, self._config)
        self._hosts.shorten_gap(host, gap_s, explain_pace(gap_s, delay_s, 0.0, self._config))
        self._origins.expire_silent(host.number, self._clock.now())
        if host.record.status == IS_GIVEN_UP:
            self._active.recall(host)

    def keep_out(self, host: Host) -> bool:
        """Whether a host that had nothing left, and has now, is still to be left alone; then that is staged."""
        if host.is_active or not self.is_out(host) or host.ready_at <= self._clock.monotonic():
            return False
        self._hosts.set_status(host, IS_GIVEN_UP)
        self._active.put_aside(host, GIVEN_UP, host.ready_at)
        return True

    def reconsider(self, host: Host, links: Iterable[Discovered]) -> None:
        """New links to a host that was given up: where that was for the robots.txt of another origin, it comes back for them."""
        if self.is_out(host):
            return
        for origin in {origin_of(link.url) for link in links}:
            robots = self._origins.get(host.number, origin)
            if robots is not None and robots.rule != RobotsRule.UNREACHABLE:
                self._active.recall(host)
                return
