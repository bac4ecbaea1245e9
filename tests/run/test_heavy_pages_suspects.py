"""Pages that were under way when their shard died."""

import signal
import subprocess
import sys
from pathlib import Path

from rdfspider.run.heavy_pages import PoisonPages

DYING = """
import os, signal, sys
from pathlib import Path
from rdfspider.run.heavy_pages import PoisonPages

poison_pages = PoisonPages(Path(sys.argv[1]))
with poison_pages.watch("http://example.org/a-page-that-was-read-before"):
    pass
with poison_pages.watch(sys.argv[2]):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_page_is_suspected_when_the_process_died_of_it_and_ever_after(tmp_path: Path) -> None:
    urls = ["http://example.org/one", "http://example.org/two"]
    for url in urls:
        ended = subprocess.run([sys.executable, "-c", DYING, str(tmp_path), url], timeout=120)
        assert ended.returncode == -signal.SIGKILL
    for _ in range(2):
        poison_pages = PoisonPages(tmp_path)
        with poison_pages.watch("http://example.org/harmless"):
            pass
        poison_pages.close()
    poison_pages = PoisonPages(tmp_path)
    assert all(map(poison_pages.has, urls))
    assert not poison_pages.has("http://example.org/harmless")
    assert not poison_pages.has("http://example.org/a-page-that-was-read-before")
    poison_pages.close()
