"""The process that indexes a crawl while it runs.

`run/indexer_watch.py` starts it with an IndexOrder on stdin; its exit code says why it ended. It has the same priority as the
shards: with a lower one, it would never catch up where all cores are busy. `rdfspider index` indexes in its own process
(`run/reindexing.py`).
"""

import logging
import os
import pickle
import signal
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple, NoReturn

from rdfspider.config import Config
from rdfspider.errors import USAGE_EXIT, InUseError, UsageError
from rdfspider.index.indexer import Indexer
from rdfspider.index.layout import IndexPaths
from rdfspider.processes.module_process import begin_module_process, calm_collector
from rdfspider.run.reindexing import make_indexer

_log = logging.getLogger(__name__)

FINISH = b"."
"""The message that tells the indexer, after the crawl, to end when everything is indexed."""
# How often to check whether another process that indexes the same crawl has ended.
_WAIT_S = 0.5
_STDIN = 0
_LENGTH_BYTES = 8


class IndexOrder(NamedTuple):
    """The task of the indexer."""

    folder: Path
    config: Config
    is_finishing: bool
    """Whether the crawl has ended already."""


def main() -> None:
    """Index a crawl until told to end."""
    begin_module_process()
    order = _read_order()
    try:
        indexer = make_indexer(IndexPaths(order.folder), order.config)
    except UsageError as error:
        _end_with(error)
    signal.signal(signal.SIGTERM, lambda number, frame: indexer.stop())
    if order.is_finishing:
        indexer.finish()
    calm_collector()
    threading.Thread(target=_hear, args=[indexer], name="parent", daemon=True).start()
    try:
        _index(indexer)
    except UsageError as error:
        _end_with(error)
    except Exception as error:
        _log.error("the indexer failed", exc_info=error)
        # Exit without clean-up: what is in memory would only fail again, and all that matters is on disk.
        os._exit(1)


def _end_with(error: UsageError) -> NoReturn:
    sys.stderr.write(f"rdfspider: {error}\n")
    sys.exit(USAGE_EXIT)


def _index(indexer: Indexer) -> None:
    """Index; while another process indexes the crawl, wait for it to end, unless this one is told to end."""
    while True:
        try:
            indexer.run()
            return
        except InUseError:
            if indexer.has_to_leave:
                return
            time.sleep(_WAIT_S)


def encode_order(order: IndexOrder) -> bytes:
    """Encode an order for the indexer's stdin: its length, then its bytes. The pipe stays open afterwards."""
    body = pickle.dumps(order)
    return len(body).to_bytes(_LENGTH_BYTES) + body


def _read_order() -> IndexOrder:
    length = int.from_bytes(_read_exactly(_LENGTH_BYTES))
    order: IndexOrder = pickle.loads(_read_exactly(length))
    return order


def _read_exactly(count: int) -> bytes:
    """Read `count` bytes from stdin, unbuffered: a thread that blocks in a buffered read would keep Python from exiting."""
    read = b""
    while len(read) < count:
        if not (more := os.read(_STDIN, count - len(read))):
            # The parent was killed before it had sent the whole order.
            sys.exit(1)
        read += more
    return read


def _hear(indexer: Indexer) -> None:
    while received := os.read(_STDIN, len(FINISH)):
        if received == FINISH:
            indexer.finish()
    # The parent is gone, and another may have started. Like a power failure, this exit loses nothing.
    os._exit(0)


if __name__ == "__main__":
    main()
