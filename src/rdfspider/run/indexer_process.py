"""The process that indexes a crawl while it runs: started by `run/indexer_watch.py`, with its order on stdin; the exit code says
why it ended. `rdfspider index` does the same in its own process (`run/reindexing.py`).

It runs with the priority of the shards: where all cores are busy, one of less priority would never catch up with them.
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
from rdfspider.errors import InUseError, UsageError
from rdfspider.index.indexer import Indexer
from rdfspider.index.layout import IndexPaths
from rdfspider.processes.module_process import begin_module_process, calm_collector
from rdfspider.run.reindexing import make_indexer

_log = logging.getLogger(__name__)

USAGE_ERROR = 2
"""The exit code of an indexer that cannot begin before somebody has mended something."""
FINISH = b"."
"""What is sent to it when the crawl has ended: it is to end when all is indexed."""
# How often is looked whether another process, which indexes the same crawl, has left.
_WAIT_S = 0.5
_STDIN = 0
_LENGTH_BYTES = 8


class IndexOrder(NamedTuple):
    """What the indexer must know."""

    folder: Path
    config: Config
    is_finishing: bool
    """Whether the crawl has ended already."""


def main() -> None:
    """Index a crawl until told to leave."""
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
        # Whatever is in memory would only fail again; all that counts is on disk.
        os._exit(1)


def _end_with(error: UsageError) -> NoReturn:
    sys.stderr.write(f"rdfspider: {error}\n")
    sys.exit(USAGE_ERROR)


def _index(indexer: Indexer) -> None:
    """Index; where another process does, wait until it has left, or until nothing is left to do."""
    while True:
        try:
            indexer.run()
            return
        except InUseError:
            if indexer.has_to_leave:
                return
            time.sleep(_WAIT_S)


def encode_order(order: IndexOrder) -> bytes:
    """What is written to the indexer's stdin first: the length of the order, and the order. The pipe then stays open."""
    body = pickle.dumps(order)
    return len(body).to_bytes(_LENGTH_BYTES) + body


def _read_order() -> IndexOrder:
    length = int.from_bytes(_read_exactly(_LENGTH_BYTES))
    order: IndexOrder = pickle.loads(_read_exactly(length))
    return order


def _read_exactly(count: int) -> bytes:
    """So many bytes of stdin. It is read without a buffer: a thread that waits in one keeps Python from leaving."""
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
    # The parent is gone, and another one may have begun. As if the power failed, which loses nothing.
    os._exit(0)


if __name__ == "__main__":
    main()
