"""The process that rates a large graph beside the indexer: the paths of an index enter on stdin, the file of ranks is replaced.

It has a low priority, so that neither the crawl nor the indexer waits for it, and ends when its parent does. It may be killed at any
instant: the older file stays.
"""

import contextlib
import json
import os
import sys
import threading
from pathlib import Path

from rdfspider.errors import RdfspiderError
from rdfspider.index.graph.rating import rate_graph
from rdfspider.index.layout import IndexPaths
from rdfspider.processes.module_process import begin_module_process

_NICE = 10
_STDIN = 0


def encode_paths(paths: IndexPaths) -> bytes:
    """What the process gets on stdin, which stays open."""
    return json.dumps([str(paths.folder), paths.name]).encode() + b"\n"


def main() -> None:
    """Rate a graph."""
    begin_module_process()
    with contextlib.suppress(OSError):
        os.nice(_NICE)
    line = sys.stdin.buffer.readline()
    if not line:
        # The parent was killed before it had sent them.
        sys.exit(1)
    folder, name = json.loads(line)
    threading.Thread(target=_await_parent, name="parent", daemon=True).start()
    try:
        rate_graph(IndexPaths(Path(folder), name))
    except (OSError, RdfspiderError, MemoryError) as error:
        sys.stderr.write(f"rdfspider: the link graph is not rated: {error}\n")
        sys.stderr.flush()
        os._exit(1)
    # Nothing is left to clean up.
    os._exit(0)


def _await_parent() -> None:
    """End when the parent is gone, or wants that."""
    os.read(_STDIN, 1)
    os._exit(1)


if __name__ == "__main__":
    main()
