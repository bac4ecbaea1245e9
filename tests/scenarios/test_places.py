"""Shards in folders and at addresses of their own, as on other machines: the same crawl, over TCP with keys."""

import os
import pickle
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from networks import has_ipv6
from rdfspider import Crawl, Status, UsageError
from rdfspider.crawl.messages import Command
from rdfspider.places import client
from rdfspider.places.keys import load_keys
from rdfspider.processes.module_process import ModuleProcess
from rdfspider.run.coordination import run_crawl
from rdfspider.run.peers.coordinator_hub import send_command
from rdfspider.run.runners import local
from rdfspider.run.runners.local import LocalRunner
from rdfspider.run.runners.places import Place
from rdfspider.run.runners.runner import ShardExit, ShardOrder
from rdfspider.search.page_record import read_copy
from unreachable import Unreachable, find_life, name_life
from waiting import wait_until
from web import (
    Answer,
    Crawling,
    Site,
    Web,
    check_politeness,
    make_chain,
    make_page,
    make_site,
    pages_of,
    read_outcomes,
    share_addresses,
)

HOSTS = [f"site{number}.test" for number in range(16)]
PLACING = share_addresses(HOSTS, 8) | {"*.test": "127.0.0.1"}
DELAY_S, IP_DELAY_S = 0.1, 0.01
ADDRESSES = ["127.0.0.2", "[::1]" if has_ipv6() else "127.0.0.3", "127.0.0.4", "127.0.0.5"]


def make_crawl(folder: Path, web: Web, places: int = 0, **settings: Any) -> Crawl:
    named = [f"{ADDRESSES[number]}={folder.parent}/place{number}" for number in range(places)]
    resolve = tuple(web.resolve(PLACING if len(web.ports) > 1 else {"*.test": "127.0.0.1"})[1::2])
    pace = {"delay_s": DELAY_S, "ip_delay_s": IP_DELAY_S, "min_free_bytes": 0, "allow_private": True, "ways": ()}
    usual = {"shards": 4, "scope": "any", "index_enabled": False, "places": named, "seeds": [f"http://{HOSTS[0]}/"]}
    return Crawl.create(folder, resolve=resolve, **(usual | pace | settings))


def list_outcomes(folder: Path) -> list[tuple[str, str]]:
    return sorted((outcome.url, outcome.get("verdict")) for outcome in read_outcomes(folder))


def ask_questions(crawl: Crawl) -> dict[str, object]:
    """Answers of the indexes, without what depends on the time."""
    rows = crawl.query('SELECT * WHERE { GRAPH ?g { ?s ?p ?o } FILTER(STRSTARTS(STR(?g), "http://site")) }')
    found = crawl.search("thing", limit=500)
    stats = crawl.stats()
    return {
        "quads": sorted(map(str, rows)),
        "search": (found.total, sorted(hit.id for hit in found)),
        "stats": stats.totals,
        "export": sorted(map(str, crawl.quads())),
    }


def read_body(crawl: Crawl, url: str) -> bytes:
    with crawl.indexes as indexes:
        record = indexes.page(url, None)
        assert record is not None and record.payload is not None
        capture = read_copy(record.payload)
    assert capture is not None
    return capture.page.body


def test_a_crawl_in_places_is_like_a_local_one(tmp_path: Path) -> None:
    """Page for page, and indexed, answer for answer; the crawl's folder is an ordinary one."""
    site = make_site(HOSTS, 200)
    with Web(site, sorted(set(PLACING.values()))) as web:
        far = make_crawl(tmp_path / "crawl", web, places=4, address=ADDRESSES[1], index_enabled=True)
        status = far.run()
        assert check_politeness(web.log, DELAY_S, IP_DELAY_S) == []
        near = make_crawl(tmp_path / "one" / "crawl", web, index_enabled=True)
        near.run()
    assert (status.state, status.totals.pages) == ("ended", 200)
    assert all(shard.pages for shard in status.shards)
    assert not list(far.folder.glob("shards/*/frontier"))
    assert not list(far.folder.glob("shards/*/warc/*-pages-*"))
    assert list_outcomes(far.folder) == list_outcomes(near.folder)
    assert len(list_outcomes(far.folder)) == 200
    assert ask_questions(far) == ask_questions(near)
    url = f"http://{HOSTS[3]}/2"
    assert read_body(far, url) == site.answers[HOSTS[3], "/2"].body
    assert far.why(url).answer == near.why(url).answer
    assert {host.host for host in far.hosts(limit=50)} == set(HOSTS)


def test_reports_ask_the_places_of_shards_while_the_crawl_runs(tmp_path: Path) -> None:
    """And say that a shard is away, instead of that a URL was never seen."""
    site = make_site(HOSTS, 60)
    answers: list[tuple[str, int, bytes]] = []
    errors: list[str] = []
    crawl: Crawl

    def ask(status: Status) -> None:
        """Pages are asked for once they are indexed; afterwards the processes that answer for places are stopped."""
        pages = status.index.pages if status.index else 0
        if answers or pages < 60:
            return
        url = f"http://{HOSTS[3]}/2"
        answers.append((crawl.why(url).answer, len(crawl.hosts(limit=50)), read_body(crawl, url)))
        for desk in desks:
            desk.kill()
            desk.wait()
        for question in (lambda: crawl.why(url), crawl.hosts, lambda: read_body(crawl, url)):
            with pytest.raises(UsageError) as caught:
                question()
            errors.append(str(caught.value))

    desks: list[subprocess.Popen[bytes]] = []
    start = local.start_beside

    def note(module: str, order: bytes) -> "subprocess.Popen[bytes]":
        desks.append(start(module, order))
        return desks[-1]

    with Web(site) as web, pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "start_beside", note)
        patch.setattr(client, "TIMEOUT_S", 1.0)
        web.answers = delay_end(site, lambda: bool(errors))
        seeds = [f"http://{HOSTS[0]}/", "http://more.test/more/0"]
        crawl = make_crawl(tmp_path / "crawl", web, places=2, shards=2, seeds=seeds, index_enabled=True)
        status = crawl.run(ask)
    assert status.state == "ended"
    answer, hosts, body = answers[0]
    assert answer.startswith("fetched: ")
    assert hosts == len(HOSTS) + 1
    assert body == site.answers[HOSTS[3], "/2"].body
    assert all("is away" in error for error in errors)
    assert len(errors) == 3
    # They were started again, so that nothing is missing in the end.
    assert {outcome.url for outcome in read_outcomes(crawl.folder)} >= site.urls
    for number in range(2):
        shutil.move(tmp_path / f"place{number}", tmp_path / f"away{number}")
    with pytest.raises(UsageError, match=r"is away: it is in (127\.0\.0\.\d|::1) "):
        crawl.why(f"http://{HOSTS[3]}/2")


def test_an_order_names_nothing_of_the_coordinators_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    orders: list[bytes] = []
    start = ModuleProcess.start

    async def note(module: str, order: bytes, **named: Any) -> ModuleProcess:
        if module == "rdfspider.run.shard_process":
            orders.append(order)
        return await start(module, order, **named)

    monkeypatch.setattr(local.ModuleProcess, "start", note)
    documents = tmp_path / "documents"
    (documents / "ctx.test").mkdir(parents=True)
    (documents / "ctx.test/context.jsonld").write_bytes(CONTEXT)
    site = Site()
    site.add(f"http://{HOSTS[0]}/", make_data("http://ctx.test/context.jsonld"))
    with Web(site) as web:
        make_crawl(tmp_path / "crawl", web, places=2, shards=2, extract_documents=str(documents)).run()
    assert len(orders) == 2
    for order in orders:
        told = pickle.loads(order)
        assert str(tmp_path / "crawl").encode() not in pickle.dumps(told._replace(config=None))
        assert not told.folder.is_relative_to(tmp_path / "crawl")
    texts = [path.read_bytes() for path in tmp_path.glob("place*/*/given-documents/ctx.test/context.jsonld")]
    assert texts == [CONTEXT, CONTEXT]


CONTEXT = b'{"@context": {"@vocab": "http://vocab.test/"}}'


def make_data(context: str) -> Answer:
    body = f'<script type="application/ld+json">{{"@context": "{context}", "@id": "#it", "name": "it"}}</script>'
    return Answer(body=body.encode())


def test_contexts_and_new_seeds_reach_shards_in_other_places(tmp_path: Path) -> None:
    """One shard fetches the context, all pages are read with it; seeds are given while the crawl runs."""
    site = Site()
    context = Answer(body=CONTEXT, content_type="application/ld+json")
    site.add("http://ctx.test/context.jsonld", context)
    for host in HOSTS:
        site.add(f"http://{host}/", make_data("http://ctx.test/context.jsonld"))
    folder = tmp_path / "crawl"
    given: list[bool] = []

    def add_seeds() -> None:
        command = Command("add-seeds", seeds=tuple(f"http://{host}/" for host in HOSTS[1:]))
        answer = send_command((folder / "control").read_text().strip(), command)
        given.append(answer is not None and answer.is_done)

    adding = threading.Thread(target=add_seeds)

    def give(status: Status) -> None:
        if status.totals.pages and not adding.ident:
            adding.start()

    with Web(lambda host, path, headers: site(host, path, headers)) as web:
        web.answers = delay_end(site, lambda: bool(given))
        seeds = [f"http://{HOSTS[0]}/", "http://more.test/more/0"]
        status = make_crawl(folder, web, places=4, ways=("contexts",), seeds=seeds).run(give)
    assert given == [True]
    fetched = {exchange.url for exchange in pages_of(web.log)}
    assert fetched >= {f"http://{host}/" for host in HOSTS}
    assert [exchange.url for exchange in web.log].count("http://ctx.test/context.jsonld") == 1
    kept = {path.name for path in (folder / "documents").iterdir()}
    assert len(kept) == 1
    assert all({path.name for path in root.iterdir()} == kept for root in tmp_path.glob("place*/*/documents"))
    assert status.totals.quads >= len(HOSTS)


def delay_end(site: Site, is_over: Any) -> Any:
    """The site, and pages that lead on until something has come true."""

    def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        start, _, number = path.rpartition("/")
        if (host, start) != ("more.test", "/more"):
            return site(host, path, headers)
        return make_page(f"http://{host}{path}", [] if is_over() else [f"/more/{int(number) + 1}"])

    return answer


def test_a_shard_finds_its_newest_state_by_a_file(tmp_path: Path) -> None:
    """Whatever the folders are called now; and one that has run before does not begin anew where its state is not."""
    folder = tmp_path / "crawl"
    with Web(make_site(HOSTS, 60)) as web:
        make_crawl(folder, web, places=1, shards=2, pages=20).run()
        folder.rename(tmp_path / "moved")
        for number, root in enumerate(sorted((tmp_path / "place0").iterdir())):
            root.rename(tmp_path / "place0" / f"other-{number}")
        crawl = Crawl.create(tmp_path / "moved", pages=0)
        status = crawl.run()
        assert (status.state, status.totals.pages) == ("ended", 60)
        shutil.move(tmp_path / "place0", tmp_path / "away")
        assert Crawl.create(tmp_path / "moved", ["http://new.test/"], time_s=4).run().reason == "time"
        assert not list((tmp_path / "place0").iterdir())


def test_places_are_for_new_crawls(tmp_path: Path) -> None:
    with Web(make_site(HOSTS, 10)) as web:
        make_crawl(tmp_path / "crawl", web, shards=1).run()
        with pytest.raises(UsageError, match=r"run\.places: not allowed; the shards of this crawl are in"):
            make_crawl(tmp_path / "crawl", web, places=1, shards=1).run()


def test_a_head_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    """Its shards end, and the next run waits for their leases: no server is asked too early."""
    site = make_site(HOSTS, 120)
    flags = ["--scope", "any", "--delay", 0.2, "--shards", 2, "--no-index"]
    flags += ["--place", f"127.0.0.2={tmp_path}/place0", "--place", f"127.0.0.3={tmp_path}/place1"]
    with Web(site) as web:
        settings = {"frontier_ip_delay_s": 0.01, "run_lease_s": 3}
        arguments = [f"http://{HOSTS[0]}/", *flags, *web.resolve({"*.test": "127.0.0.1"})]
        with Crawling(tmp_path / "crawl", *arguments, **settings) as crawling:
            wait_until(lambda: len(web.log) > 40)
            crawling.process.kill()
            crawling.process.wait()
            # The shards of the first run are left to themselves.
            with Crawling(tmp_path / "crawl", *arguments, **settings) as second:
                assert second.wait() == 0
    status = Crawl.open(tmp_path / "crawl").status()
    assert (status.state, status.totals.pages) == ("ended", 120)
    assert {outcome.url for outcome in read_outcomes(tmp_path / "crawl")} == site.urls
    assert check_politeness(web.log, 0.2, 0.01) == []


class MovingRunner(LocalRunner):
    """Starts each life of a shard in another place, with a copy of its last state, under another name for servers."""

    def __init__(self, folder: Path) -> None:
        super().__init__(1, [Place("127.0.0.2", folder / "place0")], load_keys(folder / "crawl", 1), 3.0)
        self._base = folder
        self.lives: list[Unreachable] = []

    async def start(self, order: ShardOrder) -> Any:
        life = len(self.lives)
        place = self._base / f"place{life}"
        if life:
            shutil.copytree(self._base / f"place{life - 1}", place)
        place.mkdir(exist_ok=True)
        self._places = [Place(f"127.0.0.{2 + life}", place)]
        self.addresses = self.addresses._replace(shards=(f"tcp://127.0.0.{2 + life}:*",))
        order = order._replace(addresses=order.addresses._replace(shards=self.addresses.shards))
        self.lives.append(Unreachable(await super().start(name_life(order, life))))
        return self.lives[-1]


def test_a_stopped_shard_that_goes_on_after_its_lease_asks_nobody(tmp_path: Path) -> None:
    """Its machine is paused and out of reach; its successor has been started elsewhere by then."""
    site = make_chain("a.test", 80)
    stopped_at: list[int] = []
    continued_at: list[int] = []
    with Web(site) as web:
        pace = {"delay_s": 0.2, "ip_delay_s": 0.1}
        crawl = make_crawl(tmp_path / "crawl", web, places=1, shards=1, seeds=["http://a.test/"], **pace)
        runner = MovingRunner(tmp_path)

        def pause(status: Status) -> None:
            lives = runner.lives
            if status.totals.pages > 5 and not stopped_at:
                lives[0].is_cut = True
                os.kill(lives[0].pid, signal.SIGSTOP)
                stopped_at.append(len(web.log))
            elif not continued_at and any(find_life(exchange) == (0, 1) for exchange in web.log):
                continued_at.append(len(web.log))
                os.kill(lives[0].pid, signal.SIGCONT)

        status = run_crawl(tmp_path / "crawl", crawl.config, pause, runner)
    assert (status.state, status.reason, status.totals.pages) == ("ended", "finished", 80)
    assert continued_at
    # One request may have been under way when it was stopped.
    assert (0, 0) not in map(find_life, web.log[stopped_at[0] + 1 :])
    assert runner.lives[0].code == ShardExit.LEASE_OVER
    assert check_politeness(web.log, 0.2, 0.1) == []


def test_a_run_whose_watcher_fails_ends_although_a_shard_does_not_answer(tmp_path: Path) -> None:
    with Web(make_chain("a.test", 10_000)) as web:
        crawl = make_crawl(tmp_path / "crawl", web, places=1, shards=1, seeds=["http://a.test/"])
        runner = MovingRunner(tmp_path)

        def fail(status: Status) -> None:
            if status.totals.pages:
                os.kill(runner.lives[0].pid, signal.SIGSTOP)
                raise ValueError("mine")

        began = time.monotonic()
        with pytest.raises(ValueError, match="mine"):
            run_crawl(tmp_path / "crawl", crawl.config, fail, runner)
        # Else only the end of the shard's lease ends it, after a minute.
        assert time.monotonic() < began + 45
    status = Crawl.open(tmp_path / "crawl").status()
    assert (status.state, status.reason) == ("stopped", "what watched it failed: mine")
    assert len(runner.lives) == 1
