"""Hostile servers on loopback addresses, made from a seed, for tests and benchmarks.

    scenes = [*make_honest(1, 20), *make_hostile(1, 73), *make_farm(1, 200), *make_tarpits(1, 300)]
    with HostileWeb(scenes, addresses) as web:
        …  # crawl web.seeds with web.resolve()

A Scene (`scenes.py`) is what one host does; the behaviours are in `exchanges.py`, `lists.py`, `pages.py` and `sites.py`.
"""

from hostile.hosts import make_farm, make_honest, make_hostile, make_tarpits
from hostile.scenes import BEHAVIOURS, Scene
from hostile.server import HostileWeb

__all__ = ["BEHAVIOURS", "HostileWeb", "Scene", "make_farm", "make_honest", "make_hostile", "make_tarpits"]
