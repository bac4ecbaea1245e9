"""Seeds that got no answer: the same command, once the trouble is over, fetches them."""

import socket
from pathlib import Path

import pytest

from web import Site, Web, check_archives, crawl, make_page, read_outcomes

# No name server need be asked to know that a label of 64 characters is no name.
NAMELESS = f"http://{'x' * 64}.test/"
FLAGS = ["--delay", 0, "--shards", 2]


@pytest.mark.parametrize(("seed", "is_final"), [(NAMELESS, True), ("http://a.test/", False)])
def test_a_seed_without_an_answer_is_asked_for_at_the_next_start(seed: str, is_final: bool, tmp_path: Path) -> None:
    site = Site()
    site.add(seed, make_page(seed, ["/next"]))
    site.add(f"{seed}next", make_page(f"{seed}next"))
    site.add("http://well.test/", make_page("http://well.test/"))
    folder = tmp_path / "crawl"
    with socket.socket() as closed, Web(site) as web:
        closed.bind(("127.0.0.1", 0))
        nobody = f"a.test=127.0.0.1:{closed.getsockname()[1]}"
        well = web.resolve({"well.test": "127.0.0.1"})
        quick = {"frontier_backoff_s": 0.01, "frontier_give_up_errors": 3}
        for _ in range(2):
            status = crawl(folder, seed, "http://well.test/", *FLAGS, "--resolve", nobody, *well, **quick).status()
            assert status["totals"]["pages"] == 1
            assert (status["totals"]["failed"], status["totals"]["scheduled"]) == (int(is_final), int(not is_final))
        assert [exchange.host for exchange in web.log if exchange.path != "/robots.txt"] == ["well.test"]
        status = crawl(folder, seed, "http://well.test/", *FLAGS, *web.resolve({"*.test": "127.0.0.1"})).status()
    assert (status["totals"]["pages"], status["totals"]["failed"], status["totals"]["scheduled"]) == (3, 0, 0)
    paths = [exchange.path for exchange in web.log if exchange.host != "well.test"]
    assert paths == ["/robots.txt", "/", "/next"]
    verdicts = [outcome.get("verdict") for outcome in read_outcomes(folder) if outcome.url == seed]
    assert verdicts == ["failed", "failed", "done"] if is_final else ["done"]
    check_archives(folder)
