"""The process that indexes beside a running crawl: an IndexOrder enters on stdin, its exit code says why it ended.

The parent's side is in `run/index_watch.py`. `rdfspider index` indexes in its own process (`run/reindexing.py`).
"""

import logging
import os
import pickle
import signal
import sys
import threading
import time
from typing import NoReturn

from rdfspider.errors import USAGE_EXIT, InUseError, UsageError, is_shortage
from rdfspider.index.indexer import Indexer
from rdfspider.index.layout import IndexPaths
from rdfspider.processes.module_process import begin_module_process, calm_collector
from rdfspider.run.index_watch import FINISH, LENGTH_BYTES, IndexOrder
from rdfspider.run.reindexing import make_indexer

_log = logging.getLogger(__name__)

# How often to check whether another process that indexes the same crawl has ended.
_WAIT_S = 0.5
_STDIN = 0


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
    threading.Thread(target=_listen, args=[indexer], name="parent", daemon=True).start()
    try:
        _index(indexer)
    except UsageError as error:
        _end_with(error)
    except Exception as error:
        if is_shortage(error):
            _log.warning("the indexer is suspended: %s", error)
        else:
            _log.error("the indexer failed", exc_info=error)
        # Exit without clean-up: what is in memory would only fail again, and all that matters is on disk.
        os._exit(1)


def _end_with(error: UsageError) -> NoReturn:
    sys.stderr.write(f"rdfspider: {error}\n")
    sys.exit(USAGE_EXIT)


def _index(indexer: Indexer) -> None:
    """Index; while another process indexes the crawl, wait for it to end, and where there is no room or no file descriptor for an
    index, wait for that, unless this one is told to end."""
    is_told = False
    while True:
        try:
            indexer.run()
            return
        except InUseError:
            if indexer.has_to_leave:
                return
        except OSError as error:
            if not is_shortage(error) or indexer.has_to_leave or indexer.has_begun:
                raise
            if not is_told:
                _log.warning("the indexer is suspended: %s", error)
            is_told = True
        time.sleep(_WAIT_S)


def _read_order() -> IndexOrder:
    length = int.from_bytes(_read_exactly(LENGTH_BYTES))
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


def _listen(indexer: Indexer) -> None:
    """Read the parent's messages until it is gone."""
    while received := os.read(_STDIN, len(FINISH)):
        if received == FINISH:
            indexer.finish()
    # The parent is gone, and another may have started. Like a power failure, this exit loses nothing.
    os._exit(0)


if __name__ == "__main__":
    main()
