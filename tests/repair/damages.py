"""A small crawl with an index, copies of it, and damage of every kind to every kind of file. For tests only."""

import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rdfspider import Crawl
from web import Site, Web, crawl, make_site

HOSTS = ["www.site0.test", "www.site1.test", "www.site2.test", "www.site3.test"]
PAGES = 40
SEED = f"http://{HOSTS[0]}/"


class Sound(NamedTuple):
    """A crawl that has ended, its web, and what it found. Tests leave it as it is, and damage copies."""

    folder: Path
    web: Web
    site: Site
    quads: set[str]


def _largest(pattern: str) -> Callable[[Path], Path]:
    return lambda folder: max(folder.glob(pattern), key=lambda path: (path.stat().st_size, path.name))


FILES: dict[str, Callable[[Path], Path]] = {
    "settings": _largest("crawl.toml"),
    "suffixes": _largest("suffixes.dat"),
    "seeds": _largest("seeds.txt"),
    "status": _largest("status.json"),
    "history": _largest("history.json"),
    "frontier rows": _largest("shards/000/frontier/*.sst"),
    "frontier manifest": _largest("shards/000/frontier/MANIFEST*"),
    "frontier current": _largest("shards/000/frontier/CURRENT"),
    "lengths": _largest("shards/000/warc/committed"),
    "facts": _largest("shards/000/warc/*-facts-*"),
    "pages": _largest("shards/000/warc/*-pages-*"),
    "index version": _largest("index/version"),
    "index status": _largest("index/status.json"),
    "ledger": _largest("index/ledger.sqlite"),
    "quads": _largest("index/quads/*.sst"),
    "quads current": _largest("index/quads/CURRENT"),
    "snapshot": _largest("index/snapshots/*/*.sst"),
    "text meta": _largest("index/text/meta.json"),
    "text store": _largest("index/text/*.store"),
    "text terms": _largest("index/text/*.term"),
    "graph manifest": _largest("index/graph/manifest"),
    "graph links": _largest("index/graph/*.graph"),
}
"""Every kind of file: where it is."""


def _flip(content: bytes) -> bytes:
    """Change some bytes in the last three quarters."""
    chance, changed = random.Random(1), bytearray(content)
    for _ in range(max(1, min(20, len(content) // 50))):
        changed[chance.randrange(len(content) // 4, len(content))] ^= 0xFF
    return bytes(changed)


KINDS: dict[str, Callable[[bytes], bytes | None]] = {
    "cut": lambda content: content[: len(content) // 2],
    "flipped": _flip,
    "deleted": lambda content: None,
    "emptied": lambda content: b"",
    "garbage": lambda content: random.Random(2).randbytes(len(content)),
}
"""What happens to a file."""

ALL = [(file, kind) for file in FILES for kind in KINDS]
IS_WHOLE = bool(int(os.environ.get("TEST_DAMAGES", 0)))
"""Whether all damages are asked for."""
_SEED = int(os.environ.get("TEST_SEED", 1))


def choose_damages(purpose: str, count: int) -> list[tuple[str, str]]:
    """So many damages of one file, from a seed; all if that is asked for."""
    return ALL if IS_WHOLE else random.Random(f"{purpose} {_SEED}").sample(ALL, count)


def damage(folder: Path, file: str, kind: str) -> Path:
    """Damage a file of a crawl. It becomes another one: a file may have several names."""
    path = FILES[file](folder)
    changed = KINDS[kind](path.read_bytes())
    path.unlink()
    if changed is not None:
        path.write_bytes(changed)
    return path


@contextmanager
def crawled(folder: Path) -> Iterator[tuple[Web, Site]]:
    """A crawl that has ended in this folder, and its web, which is still there."""
    site = make_site(HOSTS, PAGES)
    with Web(site) as web:
        run_crawl(folder, web)
        yield web, site


def run_crawl(folder: Path, web: Web, **settings: object) -> None:
    """Let the crawl go on until its end."""
    flags = ["--scope", "any", "--delay", 0, "--shards", 2, *resolve_all(web)]
    crawl(folder, SEED, *flags, **{"index_enabled": "true", **settings})


def resolve_all(web: Web) -> list[str]:
    """The flags with which all hosts are this web's."""
    return web.resolve({"*.test": "127.0.0.1"})


def read_quads(folder: Path) -> set[str]:
    """All quads of a crawl's index."""
    with Crawl.open(folder) as opened:
        return {str(quad) for quad in opened.quads()}


def copy_crawl(crawl_folder: Path, folder: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(crawl_folder, folder / "crawl", symlinks=True))
