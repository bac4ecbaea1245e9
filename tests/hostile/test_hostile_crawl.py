"""A crawl of all hostile hosts at once, with honest ones beside them: it ends, nothing breaks, and everything is on record.

The web is made from a seed, and every seed must pass: `TEST_SEED=N` takes another one.
"""

import base64
import hashlib
import logging
import os
import random
import shutil
import ssl
import subprocess
from pathlib import Path

import psutil

from command_line import run_line
from hostile import BEHAVIOURS, HostileWeb, Scene, make_farm, make_honest, make_hostile, make_tarpits
from hostile.sites import make_ways_inside, private_urls
from rdfspider.crawl.budgets import EndReason
from rdfspider.crawl.status import read_status
from web import Crawling, Outcome, check_archives, crawl, read_outcomes

SEED = int(os.environ.get("TEST_SEED", 1))
PAGES_PER_HOST = 40
LIMITS = {
    # Short, so that the test is; honest hosts get three attempts of so many seconds where the machine is busy.
    "fetch_first_byte_timeout_s": 3,
    "fetch_connect_timeout_s": 4,
    "fetch_timeout_s": 8,
    "fetch_max_body_bytes": 2 * 1024 * 1024,
    "frontier_max_backoff_s": 1,
    "frontier_max_wait_s": 1,
    "crawl_pages_per_host": PAGES_PER_HOST,
    # All ways of discovery, and an index: what is hostile reaches every stage.
    "crawl_ways": None,
    "index_enabled": None,
    # The hosts are reached by --resolve; other private addresses must not be.
    "fetch_allow_private": "false",
}
MAX_REQUESTS = 3 * PAGES_PER_HOST
"""What one hostile host may cost, whatever it links to: its pages, their failures and its sitemaps."""
LONG_LISTS = {
    "sitemap_of_many_entries",
    "sitemaps_without_end",
    "robots_with_sitemaps_of_others",
    "contexts_without_end",
}
"""Behaviours that name more URLs than that which are not there."""
LATE = {"time", "timeout", "first-byte-timeout", "connect-timeout", "slow"}
MAX_LATE = 6
"""Signs of a time limit, which a busy machine meets too, and how many URLs may show one instead of their own sign."""
SHARD_BYTES, HELPER_BYTES = 600_000_000, 1_200_000_000
"""The most memory of a process of the crawl, and of all that it has started together."""


def test_a_seed_makes_a_web_and_another_makes_another() -> None:
    assert len(BEHAVIOURS) >= 60
    one, same, other = make_hostile(1), make_hostile(1), make_hostile(2)
    assert [scene.host for scene in one] == [scene.host for scene in same]
    assert [scene.honest for scene in one] == [scene.honest for scene in same]
    assert [scene.host for scene in one] != [scene.host for scene in other]
    assert {scene.behaviour for scene in other} == set(BEHAVIOURS)


def test_a_crawl_of_hostile_hosts_ends_and_loses_nothing_honest(tmp_path: Path) -> None:
    logging.getLogger(__name__).warning("TEST_SEED=%d", SEED)
    folder = tmp_path / "crawl"
    forbidden = make_honest(SEED, 1, 1)[0]
    forbidden.host = "forbidden.test"
    with HostileWeb([forbidden]) as private:
        scenes = [*make_honest(SEED, 8), *make_hostile(SEED), make_inside(private), *make_untrusted(tmp_path)]
        with HostileWeb(scenes) as web:
            peaks = run_watched(folder, web)
    assert (web.failures, private.failures) == ([], [])
    assert private.log == [], "a private address was asked"
    assert "Traceback" not in (tmp_path / "crawl.stderr").read_text(errors="replace")
    status = read_status(folder)
    assert status.reason == EndReason.FINISHED
    assert status.index is not None
    assert status.index.behind_pages == 0
    check_archives(folder)
    outcomes = {outcome.url: outcome for outcome in read_outcomes(folder)}
    wrong = find_unrecorded(scenes, outcomes, folder) + find_lost(scenes, outcomes) + find_expensive(scenes, web)
    assert not wrong, "\n".join(wrong)
    assert max(peaks.values()) < SHARD_BYTES, peaks
    assert sum(peaks.values()) < HELPER_BYTES + 3 * SHARD_BYTES, peaks


def make_inside(private: HostileWeb) -> Scene:
    """A host that leads to a server on this machine by every name that it has."""
    scene = Scene("inside.ways.test", "ways inside", random.Random(SEED))
    port = int(private.resolve()[1].rpartition(":")[2])
    make_ways_inside(scene, port)
    assert len(private_urls(port)) > 10
    return scene


def make_untrusted(folder: Path) -> list[Scene]:
    """A host whose certificate nobody has signed but itself; none where openssl is missing."""
    if shutil.which("openssl") is None:
        return []
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    line = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=untrusted.test"]
    subprocess.run([*line, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    scene = Scene("untrusted.test", "an untrusted certificate", random.Random(SEED), scheme="https")
    scene.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    scene.tls.load_cert_chain(certificate, key)
    scene.seeds.append(scene.url("/"))
    scene.expect("/", "given-up")
    return [scene]


def run_watched(folder: Path, web: HostileWeb) -> dict[str, int]:
    """Crawl the web to its end; returns the most memory of each of its processes."""
    seeds = folder.with_suffix(".seeds")
    seeds.write_text("\n".join(web.seeds))
    # Hosts that nobody has are on an address where nobody listens.
    flags = ["--scope", "any", "--delay", 0, "--shards", 2, *web.resolve(), "--resolve", "*.test=127.0.0.9:9"]
    peaks: dict[str, int] = {}
    with Crawling(folder, "--seeds", seeds, *flags, **LIMITS) as crawling:
        assert crawling.wait_until(lambda: measure(crawling, peaks), timeout_s=240), crawling.stderr()
        assert crawling.wait() == 0, crawling.stderr()
    return peaks


def measure(crawling: Crawling, peaks: dict[str, int]) -> bool:
    """Note the memory of all processes of a crawl; whether it has ended."""
    try:
        parent = psutil.Process(crawling.process.pid)
        for process in (parent, *parent.children(recursive=True)):
            name = f"{process.pid} {' '.join(process.cmdline()[1:4])}"
            peaks[name] = max(peaks.get(name, 0), process.memory_info().rss)
    except psutil.Error:
        pass  # One of them has ended meanwhile.
    return crawling.process.poll() is not None


def find_unrecorded(scenes: list[Scene], outcomes: dict[str, Outcome], folder: Path) -> list[str]:
    """Hostile URLs of which the crawl has not put on record what it should."""
    wrong, late = [], []
    for scene in scenes:
        for path, expected in scene.expected.items():
            signs = read_signs(scene.url(path), outcomes, folder)
            if not signs & expected:
                told = f"{scene.behaviour}: {scene.url(path)} shows {signs}, none of {sorted(expected)}"
                (late if signs & LATE else wrong).append(told)
    return wrong + (late if len(late) > MAX_LATE else [])


def read_signs(url: str, outcomes: dict[str, Outcome], folder: Path) -> set[str]:
    """What tells of a URL: its reason, its failure, why it was cut, its problems; or that its host was given up, and why."""
    if outcome := outcomes.get(url):
        fields = {outcome.get(name) for name in ("reason", "error", "truncated", "duplicate")}
        return {*fields, *(value.split()[0] for name, value in outcome.fields if name == "problem")} - {""}
    told = run_line("why", url, "--dir", folder).stdout
    return {"given-up"} if "given up" in told.partition("\n")[0] else {told}


def find_lost(scenes: list[Scene], outcomes: dict[str, Outcome]) -> list[str]:
    """Honest pages that the crawl does not have, or has with another body than their own."""
    wrong = []
    for scene in scenes:
        for path, body in scene.honest.items():
            digest = f"sha1:{base64.b32encode(hashlib.sha1(body).digest()).decode()}"
            outcome = outcomes.get(scene.url(path))
            if outcome is None or outcome.get("reason") != "fetched" or outcome.get("payload-digest") != digest:
                wrong.append(f"{scene.behaviour}: {scene.url(path)}: {outcome and outcome.fields}")
    return wrong


def find_expensive(scenes: list[Scene], web: HostileWeb) -> list[str]:
    """Hostile hosts that were asked more often than any host may cost."""
    counts = {scene.behaviour: web.count_requests(scene.host) for scene in scenes if scene.behaviour not in LONG_LISTS}
    return [f"{behaviour}: {count} requests" for behaviour, count in counts.items() if count > MAX_REQUESTS]


def test_a_farm_has_pages_without_end_on_all_its_hosts(tmp_path: Path) -> None:
    farm = make_farm(SEED, 5, junk_hosts=["honest0.test"])
    with HostileWeb(farm, ["127.0.0.1", "127.0.0.2"]) as web:
        flags = ["--scope", "any", "--delay", 0, "--shards", 1, "--pages", 40, *web.resolve()]
        crawl(tmp_path / "crawl", *web.seeds, *flags, "--resolve", "*.test=127.0.0.9:9")
    assert web.failures == []
    assert all(web.count_requests(scene.host) for scene in farm)
    assert sum(outcome.get("reason") == "fetched" for outcome in read_outcomes(tmp_path / "crawl")) == 40


def test_tarpits_are_slow_without_end(tmp_path: Path) -> None:
    """At a pace at which a test can wait for them; those without a robots.txt are given up, which takes longer."""
    tarpits = make_tarpits(SEED, 20, silent_s=0.2, bytes_s=5000)
    with HostileWeb([scene for scene in tarpits if "/robots.txt" in scene.replies][:3]) as web:
        flags = ["--delay", 0, "--shards", 1, "--depth", 0, "--exclude", "/[0-9]", *web.resolve()]
        crawl(tmp_path / "crawl", *web.seeds, *flags, fetch_timeout_s=3)
    assert web.failures == []
    outcomes = {outcome.url: outcome.get("truncated") for outcome in read_outcomes(tmp_path / "crawl")}
    assert {url: cut for url, cut in outcomes.items() if cut} == dict.fromkeys(web.seeds, "time")
