"""A web of many hosts on loopback addresses, with a log, judges over that log, and a way to crawl it. For tests only."""

from web.archives import Outcome, check_archives, read_outcomes, read_responses, read_visits
from web.crawls import Crawling, command, crawl, run_first, stopped, wait_for_end
from web.judges import (
    check_address_pace,
    check_once,
    check_pace,
    check_politeness,
    check_retry_after,
    pages_of,
)
from web.server import Answer, Answers, Exchange, Web
from web.sites import Site, make_chain, make_page, make_site, make_tree, prolong, share_addresses

__all__ = [
    "Answer",
    "Answers",
    "Crawling",
    "Exchange",
    "Outcome",
    "Site",
    "Web",
    "check_address_pace",
    "check_archives",
    "check_once",
    "check_pace",
    "check_politeness",
    "check_retry_after",
    "command",
    "crawl",
    "make_chain",
    "make_page",
    "make_site",
    "make_tree",
    "pages_of",
    "prolong",
    "read_outcomes",
    "read_responses",
    "read_visits",
    "run_first",
    "share_addresses",
    "stopped",
    "wait_for_end",
]
