"""Copies of open tables: each is a whole state, whatever is merged meanwhile."""

import shutil
import threading
from pathlib import Path

from rdfspider.config import Config
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.frontier.checkpoints import link_tables
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Discovered
from rdfspider.ways import Way


def open_frontier(folder: Path) -> Frontier:
    return Frontier(folder, Config(), Domains(bundled_suffix_list(), 1), 0)


def test_each_checkpoint_is_the_state_of_its_moment(tmp_path: Path) -> None:
    """Many small files are made, so that they are merged all the time."""
    frontier = open_frontier(tmp_path / "frontier")
    taken: list[tuple[Path, int, tuple[int, int]]] = []
    for number in range(40):
        urls = (f"http://host{at % 50}.test/{number}/{at}" for at in range(200))
        frontier.add([Discovered(url, 0, Way.LINK) for url in urls])
        frontier.commit()
        folder = tmp_path / f"copy{number}"
        frontier.create_checkpoint(folder)
        taken.append((folder, frontier.counts.known, frontier.generation))
    frontier.close()
    for folder, known, generation in taken:
        copy = open_frontier(folder)
        assert (copy.counts.known, copy.generation[1]) == (known, generation[1])
        last = f"http://host49.test/{known // 200 - 1}/199"
        assert copy.find(last) is not None
        copy.close()


def test_a_copy_that_was_disturbed_is_known_as_such(tmp_path: Path) -> None:
    """As by flushes meanwhile, which let the list of files grow."""
    frontier = open_frontier(tmp_path / "frontier")
    is_over = threading.Event()
    writes = 0

    def write() -> None:
        nonlocal writes
        while not is_over.is_set():
            frontier.meta.put("count", b"%d" % writes)
            frontier.commit()
            frontier.flush()
            writes += 1

    thread = threading.Thread(target=write)
    thread.start()
    sound = 0
    for number in range(200):
        folder = tmp_path / f"copy{number}"
        if not link_tables(tmp_path / "frontier", folder):
            shutil.rmtree(folder)
            continue
        sound += 1
        if sound % 10 == 0:
            # Every file that its list names is there, or this fails.
            open_frontier(folder).close()
    is_over.set()
    thread.join()
    frontier.close()
    assert writes
