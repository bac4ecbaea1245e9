"""The epochs of shards in a crawl with a backup: the store gives them, or, while it does not answer, the crawl's folder."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future

from rdfspider.backup.manifests import begin_epoch, check_head, name_shard
from rdfspider.backup.objects import Objects
from rdfspider.errors import AwayError

_log = logging.getLogger(__name__)

# How long a shard that is started waits for its epoch; without one from the store it does not wait for that.
_CLAIM_S = 10.0


def claim_epoch(url: str, number: int, least: int) -> int:
    """Let the store give a life of a shard its epoch. While the store is away, or takes longer than some seconds, the shard takes
    the next one that is known here, and tells the store before it sends anything."""

    def ask() -> int:
        objects = Objects(url, creates=False)
        check_head(objects)
        return begin_epoch(objects, name_shard(number), least)

    try:
        return _ask_within(_CLAIM_S, url, ask)
    except AwayError as error:
        _log.warning("shard %d begins an epoch that its backup has not given: %s", number, error)
        return least


def _ask_within(limit_s: float, url: str, ask: Callable[[], int]) -> int:
    """Return the answer of a store; AwayError if there is none in time. The store's own limits are far higher, and a folder on
    another machine has none."""
    answer: Future[int] = Future()

    def run() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=run, name="claim", daemon=True).start()
    try:
        return answer.result(limit_s)
    except TimeoutError:
        raise AwayError(f"{url} has not answered for {limit_s:g} s") from None
