"""Whether robots.txt allows a URL: the rules of recent origins are kept as they were parsed, within a bound of memory. And who
asks: the name that rules and servers know us by."""

from collections import OrderedDict

from rdfspider import __version__
from rdfspider.fetch.robots import RobotsTxt
from rdfspider.records import Lease

PRODUCT = "rdfspider"
"""The name that robots.txt files know this crawler by."""

# A parsed file takes about ten times its length; nearly all files have less than 4 KB.
_KEPT_BYTES = 4 * 1024 * 1024
_LEAST_BYTES = 1024


class RecentRules:
    """The rules of the origins that were asked last."""

    def __init__(self) -> None:
        self._rules: OrderedDict[str, tuple[float, int, RobotsTxt]] = OrderedDict()
        self._kept_bytes = 0

    def allows(self, lease: Lease) -> bool:
        """Whether the lease's URL may be fetched, by what is known of its origin's robots.txt."""
        rules = self._find(lease)
        return rules is None or rules.allows(lease.url, PRODUCT)

    def explain(self, lease: Lease) -> str:
        """The line that decides on the lease's URL; empty where none does."""
        rules = self._find(lease)
        return rules.rule_for(lease.url, PRODUCT) if rules else ""

    def list_sitemaps(self, lease: Lease) -> tuple[str, ...]:
        """The sitemaps that the robots.txt of the lease's origin names, as written."""
        rules = self._find(lease)
        return rules.sitemaps if rules else ()

    def _find(self, lease: Lease) -> RobotsTxt | None:
        state = lease.robots
        if state is None or state.rule != "rules":
            return None
        origin = lease.url[: lease.url.find("/", 8)]
        known = self._rules.get(origin)
        if known is None or known[0] != state.body_fetched:
            self._drop(origin)
            known = (state.body_fetched, len(state.body) + _LEAST_BYTES, RobotsTxt(state.body))
            self._rules[origin] = known
            self._kept_bytes += known[1]
            while self._kept_bytes > _KEPT_BYTES and len(self._rules) > 1:
                self._drop(next(iter(self._rules)))
        self._rules.move_to_end(origin)
        return known[2]

    def _drop(self, origin: str) -> None:
        known = self._rules.pop(origin, None)
        if known is not None:
            self._kept_bytes -= known[1]


def make_user_agent(contact: str) -> str:
    """What servers are told: who asks, and where to complain."""
    return f"{PRODUCT}/{__version__} (+{contact})" if contact else f"{PRODUCT}/{__version__}"
