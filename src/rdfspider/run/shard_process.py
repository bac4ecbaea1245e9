"""The process of one shard: a runner starts it with a ShardOrder on stdin, and its exit code says why it ended."""

import asyncio
import errno
import logging
import os
import pickle
import resource
import signal
import sys
from contextlib import suppress
from dataclasses import replace

import uvloop

from rdfspider.backup.manifests import SupersededError
from rdfspider.crawl.folder import frontier_folder, load_domains
from rdfspider.errors import InUseError, UsageError
from rdfspider.frontier.entries import StaleLifeError
from rdfspider.frontier.store import is_damage, is_disk_error
from rdfspider.places.records import mark_state
from rdfspider.processes.module_process import begin_module_process, calm_collector
from rdfspider.run.backups import UnrestoredError, forget_restored, recover_shard
from rdfspider.run.commits import check_disk
from rdfspider.run.runners.places import Parcel, enter_place, unpack_files
from rdfspider.run.runners.runner import ShardExit, ShardOrder
from rdfspider.run.shard import Shard

_log = logging.getLogger(__name__)

# For files of the database and the archive, pipes, and sockets to other shards, of which each has a connection to either side and
# what wakes the loop; at most half of what may be had.
_OTHER_DESCRIPTORS, _DESCRIPTORS_PER_SHARD = 1024, 3
# Each connection in use leaves others open for a moment, to be used again.
_DESCRIPTORS_PER_CONNECTION = 4
_LEAST_DESCRIPTORS = 128


def main() -> None:
    """Run a shard."""
    begin_module_process()
    try:
        order: ShardOrder = pickle.load(sys.stdin.buffer)
    except (EOFError, pickle.UnpicklingError):
        # The parent was killed before it had sent the whole order.
        sys.exit(1)
    try:
        uvloop.run(_run(fit_connections(order)))
    except UsageError as error:
        sys.stderr.write(f"rdfspider: {error}\n")
        sys.exit(ShardExit.UNRESTORED if isinstance(error, UnrestoredError) else ShardExit.USAGE)
    except Exception as error:
        # If the parent was killed, a new one may have removed its sockets; errors that follow from that are not reported.
        _leave_without_parent(order)
        # Exit without clean-up: what is in memory would only fail again, and all that matters is on disk.
        os._exit(_report(order, error))


def _report(order: ShardOrder, error: Exception) -> int:
    """Log why a shard cannot continue, and return its exit code."""
    number = order.number
    if isinstance(error, StaleLifeError):
        _log.warning("shard %d needs a higher epoch: %s", number, error)
        return ShardExit.STALE
    if isinstance(error, SupersededError):
        _log.warning("shard %d ends: %s", number, error)
        return ShardExit.SUPERSEDED
    if is_damage(error, frontier_folder(order.folder, number)):
        _log.warning("shard %d is damaged: %s", number, error)
        return ShardExit.DAMAGED
    if is_disk_error(error) or getattr(error, "errno", 0) in (errno.EMFILE, errno.ENFILE):
        _log.warning("shard %d is suspended: %s", number, error)
        return ShardExit.DISK_FAILED
    _log.error("shard %d failed", number, exc_info=error)
    return 1


def fit_connections(order: ShardOrder) -> ShardOrder:
    """Return the order with as many connections as there are descriptors for; UsageError if there are too few for a shard."""
    config = order.config
    wanted = config.fetch.connections
    others = _OTHER_DESCRIPTORS + _DESCRIPTORS_PER_SHARD * config.crawl.shards
    allowed = allow_descriptors(_DESCRIPTORS_PER_CONNECTION * wanted + others)
    if allowed < _LEAST_DESCRIPTORS:
        raise UsageError(
            f"a process may open only {allowed} files here, and a shard needs {_LEAST_DESCRIPTORS} at least: raise the "
            "limit, as with `ulimit -n 4096`"
        )
    others = min(others, allowed // 2)
    connections = min(wanted, (allowed - others) // _DESCRIPTORS_PER_CONNECTION)
    if connections == wanted:
        return order
    _log.warning(
        "shard %d uses %d connections instead of %d: a process may open only %d files here (see ulimit -n)",
        *(order.number, connections, wanted, allowed),
    )
    return order._replace(config=replace(config, fetch=replace(config.fetch, connections=connections)))


def allow_descriptors(wanted: int) -> int:
    """Raise the limit of open files: shells set it lower than the system would, and kept-alive connections need many. Returns how
    many of the wanted files may be open now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(ValueError, OSError):  # Some systems enforce a lower limit than they report.
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
    return wanted if soft == resource.RLIM_INFINITY else min(soft, wanted)


def _leave_without_parent(order: ShardOrder) -> None:
    if order.parent_pid and os.getppid() != order.parent_pid:
        # Like a power failure, this loses nothing.
        os._exit(0)


async def _run(order: ShardOrder) -> None:
    """Run a shard to its end. After an error, exit without clean-up: what is in memory, or the loop that is to be closed, would
    only fail again, and all that matters is on disk."""
    try:
        await _open_and_run(order)
    except SupersededError as error:
        os._exit(_report(order, error))
    except UsageError:
        raise
    except Exception as error:
        # If the parent was killed, a new one may have removed its sockets; errors that follow from that are not reported.
        _leave_without_parent(order)
        os._exit(_report(order, error))


def _enter_place(order: ShardOrder, parcel: Parcel) -> ShardOrder:
    """Return the order for a shard whose folder looks like the crawl's."""
    must_find = order.has_run and not order.config.run.replace_lost and not order.config.backup.url
    root = enter_place(order.folder, parcel, order.number, must_find=must_find)
    return order._replace(folder=root, config=unpack_files(root, parcel, order.config))


async def _open_and_run(order: ShardOrder) -> None:
    _leave_without_parent(order)
    if order.parcel is not None:
        order = _enter_place(order, order.parcel)
    if order.config.backup.url:
        order = recover_shard(order)
    elif order.parcel is None and not order.config.run.replace_lost:
        check_disk(order.folder, order.number)
    domains = load_domains(order.folder, order.config.crawl.shards)
    try:
        shard = Shard(order, domains)
    except InUseError as error:
        # A shard whose parent was killed still holds it, and ends soon.
        raise BlockingIOError(errno.EAGAIN, str(error)) from error
    forget_restored(order)
    if order.parcel is not None:
        # Before anything is fetched: from now on, this is the newest state.
        mark_state(order.folder, order.parcel.crawl, order.number, order.epoch)
    calm_collector()
    # From here on, the coordinator client watches the parent.
    _leave_without_parent(order)
    # SIGTERM, as at a system shutdown, ends the shard cleanly.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, shard.stop)
    await shard.run()


if __name__ == "__main__":
    main()
