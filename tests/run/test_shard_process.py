"""How the process of a shard begins and ends; what it does in between is told by whole crawls."""

import os
import pickle
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from rdfspider import Crawl
from rdfspider.crawl.folder import frontier_folder, load_domains
from rdfspider.frontier.frontier import Frontier
from rdfspider.run.peers.sockets import AddressBook
from rdfspider.run.runners.runner import ShardExit, ShardOrder

# A parent that dies when its shard has the order, or before it has all of it.
DYING = """
import os, pickle, subprocess, sys
from rdfspider import Crawl
from rdfspider.run.peers.sockets import AddressBook
from rdfspider.run.runners.runner import ShardOrder

crawl = Crawl.open(sys.argv[1])
addresses = AddressBook(f"ipc://{sys.argv[2]}/coordinator", (f"ipc://{sys.argv[2]}/0",))
order = pickle.dumps(ShardOrder(0, crawl.folder, addresses, crawl.config, parent_pid=os.getpid()))
shard = subprocess.Popen([sys.executable, "-m", "rdfspider.run.shard_process"], stdin=subprocess.PIPE)
shard.stdin.write(order if sys.argv[3] == "whole" else order[:100])
shard.stdin.flush()
os._exit(0)
"""


def make_order(crawl: Crawl, sockets: Path) -> ShardOrder:
    addresses = AddressBook(f"ipc://{sockets}/coordinator", (f"ipc://{sockets}/0",))
    return ShardOrder(0, crawl.folder, addresses, crawl.config, parent_pid=os.getpid())


def run_shard(crawl: Crawl, sockets: Path) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "rdfspider.run.shard_process"]
    return subprocess.run(command, input=pickle.dumps(make_order(crawl, sockets)), capture_output=True, timeout=120)


def test_a_database_that_cannot_be_had_suspends_the_shard(tmp_path: Path) -> None:
    """A shard whose parent was killed may live for another second: one line, no traceback, and the code for "later"."""
    crawl = Crawl.create(tmp_path / "crawl", ["https://example.org/"], shards=1)
    domains = load_domains(crawl.folder, 1)
    holder = Frontier(frontier_folder(crawl.folder, 0), crawl.config, domains, 0)
    ended = run_shard(crawl, tmp_path)
    holder.close()
    assert ended.returncode == ShardExit.DISK_FAILED
    assert ended.stderr.startswith(b"rdfspider: shard 0 is suspended: ")
    assert ended.stderr.endswith(b"is in use by another process\n")
    assert ended.stderr.count(b"\n") == 1


def test_a_database_without_a_disk_suspends_the_shard(tmp_path: Path) -> None:
    """RocksDB's errors have no class of their own."""
    crawl = Crawl.create(tmp_path / "crawl", ["https://example.org/"], shards=1)
    frontier = frontier_folder(crawl.folder, 0)
    # What RocksDB would write is a folder already.
    (frontier / "IDENTITY").mkdir(parents=True)
    (frontier / "CURRENT").mkdir()
    ended = run_shard(crawl, tmp_path)
    assert ended.returncode == ShardExit.DISK_FAILED
    assert ended.stderr.startswith(b"rdfspider: shard 0 is suspended: IO error: ")


def test_a_damaged_database_is_told_in_one_line(tmp_path: Path) -> None:
    crawl = Crawl.create(tmp_path / "crawl", ["https://example.org/"], shards=1)
    frontier = frontier_folder(crawl.folder, 0)
    Frontier(frontier, crawl.config, load_domains(crawl.folder, 1), 0).close()
    (frontier / "CURRENT").write_bytes(b"")
    ended = run_shard(crawl, tmp_path)
    assert ended.returncode == ShardExit.DAMAGED
    assert ended.stderr.startswith(b"rdfspider: shard 0 is damaged: Corruption: ")
    assert ended.stderr.count(b"\n") == 1


def test_a_shard_may_have_as_many_files_open_as_its_connections_need() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    script = (
        "import resource; from rdfspider.run.shard_process import allow_descriptors;"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, (64, {hard})); allow_descriptors(500);"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert ended.stdout == "500\n"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (200, "25 connections\\nshard 3 uses 25 connections instead of 64: a process may open only 200 files here"),
        (60, "UsageError: a process may open only 60 files here, and a shard needs 128 at least: raise the limit"),
    ],
)
def test_a_shard_uses_no_more_connections_than_it_has_descriptors_for(files: int, told: str) -> None:
    script = (
        "import logging, resource, sys; from pathlib import Path; from rdfspider.config import Config;"
        "logging.basicConfig(format='%(message)s');"
        "from rdfspider.run.runners.runner import ShardOrder; from rdfspider.run.shard_process import fit_connections;"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}));"
        "order = fit_connections(ShardOrder(3, Path(), None, Config()));"
        "sys.stderr.write(str(order.config.fetch.connections) + ' connections\\n')"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert all(part in ended.stderr for part in told.split("\\n")), ended.stderr


@pytest.mark.parametrize("order", ["whole", "cut"])
def test_a_shard_whose_parent_dies_before_it_has_begun_ends_silently(tmp_path: Path, order: str) -> None:
    """Its sockets may be gone as well: the next run removes them."""
    crawl = Crawl.create(tmp_path / "crawl", ["https://example.org/"], shards=1)
    arguments = [str(crawl.folder), str(tmp_path / "gone"), order]
    # Who dies leaves stderr to its shard, so this waits for both.
    ended = subprocess.run([sys.executable, "-c", DYING, *arguments], stderr=subprocess.PIPE, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert not frontier_folder(crawl.folder, 0).exists()


def test_what_fails_once_the_parent_is_gone_is_not_told(tmp_path: Path) -> None:
    crawl = Crawl.create(tmp_path / "crawl", ["https://example.org/"], shards=1)
    # This shard finds its parent gone only after its sockets could not be bound.
    late = DYING.replace(
        '[sys.executable, "-m", "rdfspider.run.shard_process"]',
        """[sys.executable, "-c", "import os; from rdfspider.run import shard_process; real = os.getppid();"
        "answers = iter([real] * 3); os.getppid = lambda: next(answers, 1); shard_process.main()"]""",
    ).replace("os._exit(0)", "shard.stdin.close(); sys.exit(shard.wait())")
    arguments = [str(crawl.folder), str(tmp_path / "gone"), "whole"]
    ended = subprocess.run([sys.executable, "-c", late, *arguments], stderr=subprocess.PIPE, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert frontier_folder(crawl.folder, 0).exists()
