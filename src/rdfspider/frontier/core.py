"""What nearly every part of a frontier works with, as one record, so that a part names only what it needs besides."""

from dataclasses import dataclass

from rdfspider.config import Config
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.entries import Counts
from rdfspider.frontier.hosts.back_queues import Queues
from rdfspider.frontier.hosts.hosts import Hosts
from rdfspider.frontier.store import Store
from rdfspider.frontier.url_rows import UrlRows


@dataclass(frozen=True, slots=True)
class Core:
    """The tables, the URLs and hosts in them, and the settings, clock and counts that belong to all of them."""

    store: Store
    url_rows: UrlRows
    hosts: Hosts
    queues: Queues
    config: Config
    clock: Clock
    counts: Counts
