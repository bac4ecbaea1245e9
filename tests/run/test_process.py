"""How the process of a shard begins and ends; what it does in between is told by whole crawls."""

import pickle
import resource
import subprocess
import sys
from pathlib import Path

from rdfspider import Crawl
from rdfspider.frontier.frontier import Frontier
from rdfspider.run.folder.layout import load_domains, shard_folder
from rdfspider.run.process import DISK_FAILED, Order


def test_a_database_that_cannot_be_had_suspends_the_shard(tmp_path: Path) -> None:
    """A shard whose parent was killed may live for another second: one line, no traceback, and the code for "later"."""
    crawl = Crawl.create(tmp_path / "crawl", ["https://example.org/"], shards=1)
    domains = load_domains(crawl.folder, 1)
    holder = Frontier(shard_folder(crawl.folder, 0) / "frontier", crawl.config, domains, 0)
    order = Order(0, crawl.folder, str(tmp_path), crawl.config)
    ended = subprocess.run(
        [sys.executable, "-m", "rdfspider.run.process"], input=pickle.dumps(order), capture_output=True, timeout=30
    )
    holder.close()
    assert ended.returncode == DISK_FAILED
    assert ended.stderr.startswith(b"rdfspider: shard 0 is suspended: ")
    assert ended.stderr.endswith(b"is in use by another process\n")
    assert ended.stderr.count(b"\n") == 1


def test_a_database_without_a_disk_suspends_the_shard(tmp_path: Path) -> None:
    """RocksDB's errors have no class of their own."""
    crawl = Crawl.create(tmp_path / "crawl", ["https://example.org/"], shards=1)
    frontier = shard_folder(crawl.folder, 0) / "frontier"
    # What RocksDB would write is a folder already.
    (frontier / "IDENTITY").mkdir(parents=True)
    (frontier / "CURRENT").mkdir()
    order = Order(0, crawl.folder, str(tmp_path), crawl.config)
    ended = subprocess.run(
        [sys.executable, "-m", "rdfspider.run.process"], input=pickle.dumps(order), capture_output=True, timeout=30
    )
    assert ended.returncode == DISK_FAILED
    assert ended.stderr.startswith(b"rdfspider: shard 0 is suspended: IO error: ")


def test_a_shard_may_have_as_many_files_open_as_its_connections_need() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    script = (
        "import resource; from rdfspider.run.process import allow_descriptors;"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, (64, {hard})); allow_descriptors(500);"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30)
    assert ended.stdout == "500\n"
