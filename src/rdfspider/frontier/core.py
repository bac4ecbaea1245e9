"""What is below the URLs: the tables, and the hosts with their queues and clocks, opened in the order of their dependencies.

Parts that work on URLs receive a Core, so that each names only its other dependencies.
"""

from dataclasses import dataclass

from rdfspider.config import Config
from rdfspider.domains import Domains
from rdfspider.frontier.clock import Calendar, Clock
from rdfspider.frontier.entries import Counts
from rdfspider.frontier.hosts.active import ActiveHosts
from rdfspider.frontier.hosts.hosts import Hosts
from rdfspider.frontier.hosts.lanes import Lanes
from rdfspider.frontier.hosts.origins import Origins
from rdfspider.frontier.hosts.outages import Outages
from rdfspider.frontier.hosts.pacing import ForeignHosts, Pacing
from rdfspider.frontier.hosts.queues import BackQueues, FrontQueues
from rdfspider.frontier.hosts.shares import Shares
from rdfspider.frontier.hosts.steps import Steps
from rdfspider.frontier.keys import UrlIds
from rdfspider.frontier.state import FrontierState
from rdfspider.frontier.store import Store
from rdfspider.frontier.url_rows import UrlRows
from rdfspider.pace import longest_wait_s


@dataclass(frozen=True, slots=True)
class Core:
    """The tables, the URLs and hosts in them, and the shared settings, clock and counts."""

    store: Store
    url_rows: UrlRows
    hosts: Hosts
    queues: BackQueues
    front_queues: FrontQueues
    steps: Steps
    lanes: Lanes
    shares: Shares
    active: ActiveHosts
    origins: Origins
    outages: Outages
    pacing: Pacing
    foreign: ForeignHosts
    config: Config
    clock: Clock
    counts: Counts


def open_core(
    store: Store, state: FrontierState, config: Config, domains: Domains, shard: int, clock: Clock, calendar: Calendar
) -> Core:
    """Open what is below the URLs; `state` gets the number of scheduled URLs if it is older than that field."""
    pace, counts = config.frontier, state.counts
    hosts = Hosts(store, domains, pace, clock, calendar, state)
    state.queued = state.queued or hosts.count_queued()
    url_rows = UrlRows(store, shard, UrlIds(domains.shards))
    queues = BackQueues(store, url_rows, state.queued)
    # Twice as long, so that only a clock that was set back can make a wait look longer.
    steps = Steps(domains.domain)
    front_queues = FrontQueues(store, state.next_place, 2 * longest_wait_s(pace), steps)
    lanes = Lanes(config.fetch.connections)
    shares = Shares(config.fetch.connections)
    active = ActiveHosts(hosts, front_queues, queues, lanes, shares, config, clock, counts)
    origins = Origins(store)
    outages = Outages(store, hosts, active, origins, pace, clock)
    pacing = Pacing(hosts, outages, pace, clock)
    foreign = ForeignHosts(pace, clock, active.max_in_flight)
    return Core(
        store,
        url_rows,
        hosts,
        queues,
        front_queues,
        steps,
        lanes,
        shares,
        active,
        origins,
        outages,
        pacing,
        foreign,
        config,
        clock,
        counts,
    )
