"""Pages that were under way when their shard died."""

import signal
import subprocess
import sys
from pathlib import Path

from rdfspider.run.heavy_pages import Suspects

DYING = """
import os, signal, sys
from pathlib import Path
from rdfspider.run.heavy_pages import Suspects

suspects = Suspects(Path(sys.argv[1]))
with suspects.watch("http://example.org/a-page-that-was-read-before"):
    pass
with suspects.watch(sys.argv[2]):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_page_is_suspected_when_the_process_died_of_it_and_ever_after(tmp_path: Path) -> None:
    urls = ["http://example.org/one", "http://example.org/two"]
    for url in urls:
        ended = subprocess.run([sys.executable, "-c", DYING, str(tmp_path), url], timeout=120)
        assert ended.returncode == -signal.SIGKILL
    for _ in range(2):
        suspects = Suspects(tmp_path)
        with suspects.watch("http://example.org/harmless"):
            pass
        suspects.close()
    suspects = Suspects(tmp_path)
    assert all(map(suspects.has, urls))
    assert not suspects.has("http://example.org/harmless")
    assert not suspects.has("http://example.org/a-page-that-was-read-before")
    suspects.close()
