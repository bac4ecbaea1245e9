"""The record of what nearly every part of a frontier needs, so that each part names only its other dependencies."""

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
    """The tables, the URLs and hosts in them, and the shared settings, clock and counts."""

    store: Store
    url_rows: UrlRows
    hosts: Hosts
    queues: Queues
    config: Config
    clock: Clock
    counts: Counts
