"""The head of a crawl: which run of the coordinator leads it, and whether a later one does now.

Each run gets an epoch, one higher than all before, by which shards refuse earlier coordinators. With a backup the store gives it,
so that two machines that go on from one backup differ in it. The earlier one looks for a later epoch every few seconds, and
ends; the later one starts its shards after that.
"""

import asyncio
import logging
from pathlib import Path

from rdfspider.backup.manifests import HEAD, SupersededError, begin_epoch, check_epoch
from rdfspider.backup.objects import Objects
from rdfspider.crawl.folder import identify_crawl
from rdfspider.crawl.lives import HeadLife, begin_head
from rdfspider.crawl.messages import RunState
from rdfspider.crawl.status import Status
from rdfspider.errors import AwayError
from rdfspider.frontier.clock import Clock
from rdfspider.run.shipping import run_in_thread
from rdfspider.run.store_owner import check_owner, claim_store

_log = logging.getLogger(__name__)

# How often to look for a later head. It costs one request to the store.
_LOOK_S = 3.0
# After so long a head that can reach the store has learned of its successor, and its shards have ended.
_HANDOVER_S = 8.0


def lead(folder: Path, url: str) -> HeadLife:
    """Begin a run of the coordinator, with a backup if there is a URL. AwayError if its store does not answer: without an epoch
    from there, an earlier run elsewhere would not learn of this one. UsageError if the store is another crawl's."""
    home = f"{Clock().machine_id}:{folder.resolve()}"
    if not url:
        return begin_head(folder, home)
    objects = Objects(url)
    crawl = identify_crawl(folder)
    claim_store(objects, crawl)

    def claim(least: int) -> int:
        epoch = begin_epoch(objects, HEAD, least)
        # Of two that take an empty store at once, none must lead in that of the other.
        check_owner(objects, crawl)
        return epoch

    return begin_head(folder, home, claim)


def find_earliest_start(
    previous: Status, claimed: float, lease_s: float, *, is_first: bool, may_overlap: bool
) -> float:
    """Return when shards may be started, in seconds since 1970, by a run that has `claimed` its epoch after the `previous` one.
    If that was killed, its shards may live on for their leases. If one was elsewhere, it `may_overlap` until it learns of this
    one, whatever the status here says of an earlier one. If it `is_first` and no status was written, there are no such shards."""
    if may_overlap:
        return claimed + _HANDOVER_S + lease_s
    if is_first and not previous.updated:
        return 0.0
    # The status of a run that was killed says what it said last, if this process holds the folder's lock: when it answered its
    # shards last, nothing says.
    is_over = previous.is_over and previous.state not in (RunState.DIED, RunState.UNKNOWN)
    return 0.0 if is_over else claimed + lease_s


async def watch_successor(url: str, epoch: int, look_s: float = _LOOK_S) -> None:
    """Look for a later head until there is one, which is a SupersededError. After any other problem the store is asked again."""
    problem = ""
    while True:
        await asyncio.sleep(look_s)
        try:
            await run_in_thread(lambda: check_epoch(Objects(url, creates=False), HEAD, epoch))
        except AwayError as error:
            _log.debug("whether the crawl goes on elsewhere is not known: %s", error)
        except SupersededError:
            raise
        except Exception as error:
            # Not to know must not end the crawl; the same problem is told once.
            if problem != (problem := repr(error)):
                _log.warning("whether the crawl goes on elsewhere is not known: %s", problem)
