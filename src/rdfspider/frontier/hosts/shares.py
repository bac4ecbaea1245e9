"""Who has had how much of this shard lately: what requests cost enters, and whether a host is over its share leaves.

The cost of a request is the part of the shard that it used: the time on its connection divided by the number of connections, and
the processor time of its page and its links. It counts for the host's registrable domain and all that led to it: shares are a
tree, with the domains of seeds at the top, and below each domain those that its pages introduced (`HostRecord.line`). On every
level the same share is due to each, so a farm of hosts has the share of the one domain that introduced it. Networks of addresses
are counted apart, and none is due more than a quarter.

Hosts that answer fast get connections before others do, so some may answer fast for that alone, and take long the next time. A
domain over its share is doubted while such hosts of it, and of all that it led to, take long on average: none of them is fast.

All of it is in memory, decays within seconds, and is bounded by what was requested meanwhile; only the lines are stored.
"""

from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

from rdfspider.frontier.hosts.hosts import FAST, Host

WITHIN, CROWDED, OVER = range(3)
"""How much a host has had: no more than its share, its network more, or it or one that led to it more."""

REQUEST_S = 0.003
"""The processor time that any request costs, about."""
LINK_S = 7e-6
"""The processor time that a link of a page costs until it is scheduled, about."""
UNPRODUCTIVE = 3
"""How many more requests an answer counts for that brought nothing new."""

# How often costs decay and are compared, and what is left of them then: half after some seven seconds.
_REVIEW_S, _REST = 1.0, 0.9
# What remains at most of costs of a second each second.
_MEMORY_S = _REVIEW_S / (1 - _REST)
# How many times its share a domain may have had: everybody's demand differs a little.
_TOLERANCE = 1.5
# Costs below this count as nothing.
_NOTHING_S = 0.001
# How long requests to hosts that answered fast take on average at most, lest their domain is doubted once it is over its share.
_FAST_S = 1.0
# The share of all costs that is due to a network.
_NETWORK_SHARE = 0.25


class Share:
    """What a domain and all that it led to has had."""

    __slots__ = ("children", "cost_s", "held_s", "is_doubted", "is_over", "key", "own_s", "parent", "requests")

    def __init__(self, key: int, parent: "Share | None") -> None:
        self.key = key
        self.parent = parent
        self.cost_s = 0.0
        self.own_s = 0.0
        """The part that its own hosts had."""
        self.is_over = False
        """Whether it or one above it has had more than its share."""
        self.requests = 0.0
        """Requests to hosts that had answered fast before."""
        self.held_s = 0.0
        """How long these have held their connections."""
        self.is_doubted = False
        """Whether such requests take long, to it or to one above it that has had more than its share."""
        self.children: dict[int, Share] = {}


class Shares:
    """The costs of domains and networks."""

    def __init__(self, connections: int) -> None:
        self._connections = connections
        self._root = Share(0, None)
        self._by_key: dict[int, Share] = {}
        self._networks: dict[str, float] = {}
        self._crowded: set[str] = set()
        self._open: dict[Host, deque[float]] = {}
        """When the requests under way began, by host."""
        self._next_review = 0.0

    def begin(self, host: Host, now: float) -> None:
        """Note a request that begins; `end` must follow."""
        self._open.setdefault(host, deque()).append(now)

    def end(self, host: Host) -> None:
        """Note that a request of a host has ended."""
        began = self._open[host]
        began.popleft()
        if not began:
            del self._open[host]

    def charge_exchange(self, host: Host, duration_s: float) -> None:
        """Count a request that has ended, before its answer says how fast the host is (`HostRecord.tempo`)."""
        is_fast = host.record.tempo == FAST
        self.charge(host, REQUEST_S + duration_s / self._connections, is_fast, duration_s if is_fast else 0.0)

    def charge(self, host: Host, cost_s: float, requests: int = 0, held_s: float = 0.0) -> None:
        """Count what a host has cost, and how long requests to it took if it had answered fast before."""
        share: Share | None = self._find(host)
        assert share is not None
        share.own_s += cost_s
        while share is not None:
            share.cost_s += cost_s
            share.requests += requests
            share.held_s += held_s
            share = share.parent
        if network := _network_of(host):
            self._networks[network] = self._networks.get(network, 0.0) + cost_s

    def expect(self, host: Host) -> None:
        """Note a host that waits: one domain that has had all lately, with those that it led to, is no longer alone."""
        top = (*host.record.line, host.domain.key)[0]
        if len(self._root.children) == 1 and top not in self._root.children:
            self.charge(host, 2 * _NOTHING_S)

    def rate(self, host: Host) -> int:
        """How much a host has had, in relation to others."""
        share = self._find_nearest(host)
        if share is not None and share.is_over:
            return OVER
        return CROWDED if self._crowded and _network_of(host) in self._crowded else WITHIN

    def doubts(self, host: Host) -> bool:
        """Whether an answer of a host that was fast shows nothing, as its domain is over its share and others of it take long."""
        share = self._find_nearest(host)
        return share is not None and share.is_doubted

    def find_group(self, host: Host) -> int:
        """With whom a host waits: 0 for all within their share, otherwise the key of the topmost domain over its share that led
        to it, or 1 for all that are only in crowded networks."""
        share = self._find_nearest(host)
        if share is None or not share.is_over:
            return int(self.rate(host) == CROWDED)
        while share.parent is not None and share.parent.is_over:
            share = share.parent
        return share.key

    def review(self, now: float) -> None:
        """Let costs decay and compare them, once a second."""
        if now < self._next_review:
            return
        self._next_review = now + _REVIEW_S
        for share in (self._root, *self._by_key.values()):
            share.cost_s *= _REST
            share.own_s *= _REST
            share.requests *= _REST
            share.held_s *= _REST
        for share in [share for share in self._by_key.values() if share.cost_s < _NOTHING_S]:
            # What is above has had at least as much, so nothing is left without a parent.
            del self._by_key[share.key]
            if share.parent is not None:
                share.parent.children.pop(share.key, None)
        self._networks = {network: _REST * cost for network, cost in self._networks.items() if cost > _NOTHING_S}
        under_way = [(host, *self._count_open(host, began, now)) for host, began in self._open.items()]
        for host, cost_s, requests, held_s in under_way:
            self.charge(host, cost_s, requests, held_s)
        for share in _walk(self._root):
            _compare(share)
        due_s = max(_NETWORK_SHARE, _TOLERANCE / max(len(self._networks), 1)) * sum(self._networks.values())
        self._crowded = {network for network, cost in self._networks.items() if cost > due_s}
        for host, cost_s, requests, held_s in under_way:
            self.charge(host, -cost_s, -requests, -held_s)

    def _count_open(self, host: Host, began: deque[float], now: float) -> tuple[float, int, float]:
        """What requests under way have cost so far, for no more than what is left later of those that have ended; and how many of
        them take long, and how long, if the host had answered fast before."""
        taken_s = [min(now - at, _MEMORY_S) for at in began]
        late_s = [taken for taken in taken_s if taken > _FAST_S] if host.record.tempo == FAST else []
        return sum(taken_s) / self._connections, len(late_s), sum(late_s)

    def _find_nearest(self, host: Host) -> Share | None:
        """The share of a host's domain, or of the nearest that led to it; None if none has had anything lately."""
        for key in (host.domain.key, *reversed(host.record.line)):
            share = self._by_key.get(key)
            if share is not None:
                return share
        return None

    def _find(self, host: Host) -> Share:
        """The share of a host's domain; one that has had nothing lately is made again, below those that led to it."""
        share = self._by_key.get(host.domain.key)
        if share is not None:
            return share
        share = self._root
        for key in (*host.record.line, host.domain.key):
            child = self._by_key.get(key)
            if child is None:
                child = self._by_key[key] = share.children[key] = Share(key, share)
                child.is_over, child.is_doubted = share.is_over, share.is_doubted
            share = child
        return share


def _walk(share: Share) -> Iterator[Share]:
    """All shares, those above first."""
    found = [share]
    while found:
        share = found.pop()
        yield share
        found.extend(share.children.values())


def _compare(parent: Share) -> None:
    """Find the children of a share that have had more than is due to each; its own hosts are one more of them."""
    parts = len(parent.children) + (parent.own_s > _NOTHING_S)
    due_s = _TOLERANCE * parent.cost_s / max(parts, 1)
    for child in parent.children.values():
        child.is_over = parent.is_over or (parts > 1 and child.cost_s > due_s)
        # Who has been doubted stays so until its hosts do answer fast, also while it has little.
        is_late = (child.is_over or child.is_doubted) and child.held_s > _FAST_S * child.requests
        child.is_doubted = parent.is_doubted or is_late


def _network_of(host: Host) -> str:
    addresses = host.record.addresses
    return find_network(addresses.addresses[0]) if addresses is not None and addresses.addresses else ""


@lru_cache(maxsize=65_536)
def find_network(address: str) -> str:
    """The network that an address shares with what its owner may have beside it: /24 of IPv4, /48 of IPv6."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is None:
            return f"{IPv6Address(int(parsed) >> 80 << 80)}/48"
        parsed = parsed.ipv4_mapped
    return f"{str(parsed).rpartition('.')[0]}.0/24"
