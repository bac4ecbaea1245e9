"""The process of one shard: started by `run/local.py`, with its order on stdin; the exit code says why it ended."""

import asyncio
import logging
import os
import pickle
import signal
import sys
from pathlib import Path
from typing import NamedTuple

import uvloop

from rdfspider.config import Config
from rdfspider.errors import UsageError
from rdfspider.run.folder import load_domains
from rdfspider.run.shard import Shard

_log = logging.getLogger(__name__)

DISK_FAILED = 75
"""The exit code of a shard whose disk is full or missing; it is started again later."""


class Order(NamedTuple):
    """What a shard must know."""

    number: int
    folder: Path
    endpoints: str
    config: Config


def main() -> None:
    """Run a shard."""
    # Ctrl-C reaches every process of a terminal; what it means is the parent's decision.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(level=logging.WARNING, format="rdfspider: %(message)s", stream=sys.stderr)
    order: Order = pickle.load(sys.stdin.buffer)
    try:
        uvloop.run(_run(order))
    except UsageError as error:
        sys.stderr.write(f"rdfspider: {error}\n")
        sys.exit(2)
    except OSError as error:
        sys.stderr.write(f"rdfspider: shard {order.number} is suspended: {error}\n")
        sys.stderr.flush()
        # Whatever is in memory would only fail again; all that counts is on disk.
        os._exit(DISK_FAILED)
    except Exception:
        _log.exception("shard %d failed", order.number)
        os._exit(1)


async def _run(order: Order) -> None:
    domains = load_domains(order.folder, order.config.crawl.shards)
    shard = Shard(order.number, order.folder, order.endpoints, order.config, domains)
    # An end by the system, as at a shutdown, is a clean one.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, shard.stop)
    await shard.run()


if __name__ == "__main__":
    main()
