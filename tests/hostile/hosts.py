"""Webs of hostile and honest hosts: a seed enters, scenes for a `HostileWeb` leave."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

from hostile import exchanges, lists, pages, sites
from hostile.scenes import BEHAVIOURS, NEVER_S, WORDS, Asked, Scene, respond, write_head
from web import make_page

__all__ = ["exchanges", "lists", "make_farm", "make_honest", "make_hostile", "make_tarpits", "pages", "sites"]


def make_hostile(seed: int, count: int = 0) -> list[Scene]:
    """So many hostile hosts, each with a behaviour; all behaviours once by default, and in turn where there are more hosts."""
    chance = random.Random(seed)
    names = list(BEHAVIOURS)
    chance.shuffle(names)
    scenes = []
    for number in range(count or len(names)):
        behaviour = names[number % len(names)]
        scene = Scene(f"{chance.choice(WORDS)}{number}.hostile{number}.test", behaviour, random.Random(chance.random()))
        BEHAVIOURS[behaviour](scene)
        scenes.append(scene)
    return scenes


def make_honest(seed: int, count: int, pages_each: int = 10) -> list[Scene]:
    """So many honest hosts `honestN.test`: each page is linked from the one before it, and some from other hosts too."""
    chance = random.Random(seed)
    scenes = []
    for number in range(count):
        scene = Scene(f"honest{number}.test", "honest", random.Random(chance.random()))
        paths = ["/", *(f"/{scene.chance.choice(WORDS)}-{page}.html" for page in range(1, pages_each))]
        for page, path in enumerate(paths):
            # Wide rather than deep, so that a host has work from its first page on.
            links = [*paths[3 * page + 1 : 3 * page + 4], f"http://honest{scene.chance.randrange(count)}.test/"]
            scene.add_honest(path, *links)
        scene.seeds.append(scene.url("/"))
        scenes.append(scene)
    return scenes


def make_farm(seed: int, count: int, *, seeds: int = 1, junk_hosts: Sequence[str] = ()) -> list[Scene]:
    """A farm of so many hosts, each its own domain, with pages without end that link to more of the farm.

    The first `seeds` hosts are seeds; the others are only linked. Pages also have links to pages of `junk_hosts` that are not
    there.
    """
    chance = random.Random(seed)
    hosts = [f"{chance.choice(WORDS)}.farm{number}.test" for number in range(count)]
    scenes = []
    for number, host in enumerate(hosts):
        scene = Scene(host, "farm", random.Random(chance.random()))

        def link(path: str, scene: Scene = scene) -> list[str]:
            own = [f"{path.rstrip('/')}/{scene.chance.choice(WORDS)}{scene.chance.randrange(100)}" for _ in range(5)]
            others = [f"http://{scene.chance.choice(hosts)}/{scene.chance.randrange(1000)}" for _ in range(5)]
            junk = [f"http://{other}/junk/{scene.chance.randrange(10**9)}" for other in junk_hosts]
            return [*own, *others, *scene.chance.sample(junk, min(2, len(junk)))]

        sites.lead_on(scene, link)
        if number < seeds:
            scene.seeds.append(scene.url("/"))
        scenes.append(scene)
    return scenes


def make_tarpits(seed: int, count: int, *, silent_s: float = 25.0, bytes_s: int = 160) -> list[Scene]:
    """So many hosts that say nothing for a while, then send a page so slowly; half of them their robots.txt too."""
    chance = random.Random(seed)
    scenes = []
    for number in range(count):
        scene = Scene(f"{chance.choice(WORDS)}.tarpit{number}.test", "tarpit", random.Random(chance.random()))

        async def drip(asked: Asked, scene: Scene = scene) -> None:
            await asyncio.sleep(silent_s)
            await asked.send(write_head("Content-Length: 99999999"))
            piece = make_page(scene.url(asked.path), [f"/{each}" for each in range(100)]).body
            for start in range(0, len(piece), bytes_s):
                await asked.send(piece[start : start + bytes_s], 1.0)
            await asyncio.sleep(NEVER_S)

        scene.otherwise = drip
        if chance.random() < 0.5:
            scene.replies["/robots.txt"] = respond(b"", status=404)
        scene.seeds.append(scene.url("/"))
        scenes.append(scene)
    return scenes
