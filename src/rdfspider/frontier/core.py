"""The record of what nearly every part of a frontier needs, so that each part names only its other dependencies."""

from dataclasses import dataclass

from rdfspider.config import Config
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.entries import Counts
from rdfspider.frontier.hosts.hosts import Hosts
from rdfspider.frontier.hosts.queues import BackQueues
from rdfspider.frontier.store import Store
from rdfspider.frontier.url_rows import UrlRows


@dataclass(frozen=True, slots=True)
class Core:
    """The tables, the URLs and hosts in them, and the shared settings, clock and counts."""

    store: Store
    url_rows: UrlRows
    hosts: Hosts
    queues: BackQueues
    config: Config
    clock: Clock
    counts: Counts
