"""How much sooner or later hosts come than others: the steps of sites and of single hosts enter, that of a host leaves.

They are in memory only: without them all hosts are equal.
"""

from collections.abc import Callable, Iterable

from rdfspider.records import Esteem


class Steps:
    """The steps of hosts; none at first."""

    def __init__(self, domain_of: Callable[[str], str]) -> None:
        self._domain_of = domain_of
        self._sites: dict[str, int] = {}
        self._hosts: dict[str, int] = {}

    def replace(self, table: Iterable[Esteem]) -> None:
        """Take new steps in place of the old ones."""
        self._sites, self._hosts = {}, {}
        for each in table:
            if each.step:
                self._sites[each.site] = each.step
            self._hosts.update(each.hosts)

    def of(self, host: str) -> int:
        """By how many queues a host comes later; below 0 sooner."""
        if not (self._sites or self._hosts):
            return 0
        step = self._hosts.get(host)
        return self._sites.get(self._domain_of(host), 0) if step is None else step
