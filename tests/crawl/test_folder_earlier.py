"""A crawl's folder that version 0.1.0 wrote, when its modules were others: it opens, answers as it did, and the crawl goes on.

Its index has another layout: it is refused with the advice to make it again, and then answers as it did, except for searches,
which have one result a page.

`folder_of_0_1_0.tar.xz` has the folder and what the commands of that version printed about it (`answers.json`). Two sites of a
loopback web were crawled up to a limit of pages, so that four URLs were left: a redirect, a soft 404, a page that asks for
noindex, a duplicate, a page that is missing, one that robots.txt forbids, and a sitemap are among the others. Then two pages of
a third site were imported, of which one asks for noindex; a filter was added, and a page was forgotten.
"""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Run

from web import Web, check_archives, command, crawl, make_page, pages_of

ARCHIVE = Path(__file__).with_name("folder_of_0_1_0.tar.xz")
LEFT = {"http://a.test/black", "http://a.test/listed", "http://a.test/white", "http://b.test/later2"}
"""What was still to be fetched."""
RENAMED = {"errands": "prerequisites", "wishes": "directives"}
"""Names in JSON that have changed since."""

NEW = (',"unreadable":0', ',"esteem":""')
"""What JSON tells since."""
IN_THE_ARCHIVE = (
    "http://purl.org/dc/terms/extent,",
    *(
        f"urn:rdfspider:vocab#{name},"
        for name in ("content", "digest", "reason", "statements", "syntax-jsonld", "verdict", "visit")
    ),
)
"""Facts of a fetch that the index tells no more, or in another form."""


def read_answers() -> dict[tuple[str, ...], str]:
    """What was printed then, by the arguments of the command."""
    with tarfile.open(ARCHIVE) as tar:
        file = tar.extractfile("answers.json")
        assert file is not None
        answers = file.read().decode()
    for then, now in RENAMED.items():
        answers = answers.replace(f'\\"{then}\\":', f'\\"{now}\\":')
    return {tuple(one["question"]): one["answer"] for one in json.loads(answers)}


ANSWERS = read_answers()
OF_THE_INDEX = [question for question in ANSWERS if question[0] in ("search", "query", "entity", "stats", "export")]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder, for questions that change nothing."""
    return unpack(tmp_path_factory.mktemp("earlier"))


def unpack(folder: Path) -> Path:
    with tarfile.open(ARCHIVE) as tar:
        tar.extractall(folder, filter="data")
    return folder / "crawl"


def read_answer(question: tuple[str, ...], printed: str) -> Any:
    """What was printed, without what differs from one time to the next: how long it took, and the order of what has none."""
    if question[0] == "export":
        return sorted(printed.splitlines())
    if question[0] == "query":
        return [row for row in printed.splitlines() if not row.startswith(IN_THE_ARCHIVE)]
    for new in NEW:
        printed = printed.replace(new, "")
    return [json.loads(line) for line in printed.splitlines()] if "--json" in question else printed.splitlines()


@pytest.mark.parametrize("question", [each for each in ANSWERS if each not in OF_THE_INDEX], ids=" ".join)
def test_it_answers_as_it_did(opened: Path, run: Run, question: tuple[str, ...]) -> None:
    code, printed, told = run(*question, "--dir", opened)
    assert (code, told) == (0, "")
    now, then = read_answer(question, printed), read_answer(question, ANSWERS[question])
    if question == ("status", "--json"):
        # What shards tell of links, places and backups was not told then, nor which ones are not heard.
        assert now[0].pop("unheard") == []
        for shard, known in zip(now[0]["shards"], then[0]["shards"], strict=True):
            for name in shard.keys() - known.keys():
                assert shard.pop(name) in (None, False, 0, "", [], [0, 0])
    assert now == then


def test_its_index_is_refused_and_made_again_says_the_same(tmp_path: Path, run: Run) -> None:
    folder = unpack(tmp_path)
    code, _, told = run("search", "tea", "--dir", folder)
    assert code == 2
    assert f"its layout is '2', this one reads 5; make it again with `rdfspider index --rebuild --dir {folder}`" in told
    assert run("index", "--rebuild", "--dir", folder)[0] == 0
    for question in OF_THE_INDEX:
        printed = run(*question, "--dir", folder)[1]
        if question[0] == "search":
            assert 0 < len(json.loads(printed)["hits"]) <= len(json.loads(ANSWERS[question])["hits"])
        else:
            now, then = read_answer(question, printed), read_answer(question, ANSWERS[question])
            if question[0] == "entity":
                # What makes several names one thing was not told then.
                now = [{name: one[name] for name in known} for one, known in zip(now, then, strict=True)]
            assert now == then


def test_the_crawl_goes_on_with_what_is_left_and_a_new_seed(tmp_path: Path) -> None:
    folder = unpack(tmp_path)
    command(folder, "index", "--rebuild")
    assert command(folder, "add", "http://d.test/") == "1 new seed\n"
    with Web(lambda host, path, headers: make_page(f"http://{host}{path}")) as web:
        flags = web.resolve({"*.test": "127.0.0.1"})
        crawl(folder, *flags, "--pages", 100, index_enabled="true")
    assert {exchange.url for exchange in pages_of(web.log)} == LEFT | {"http://d.test/"}
    check_archives(folder)
    then = json.loads(ANSWERS["status", "--json"])["totals"]
    now = json.loads(command(folder, "status", "--json"))
    for name, more in {"known": 1, "done": 5, "pages": 5, "structured": 5, "scheduled": -4, "disallowed": 0}.items():
        assert now["totals"][name] == then[name] + more, name
    assert now["index"]["pages"] == json.loads(ANSWERS["status", "--json"])["index"]["pages"] + 5
    rows = command(folder, "query", "SELECT ?name { ?s schema:name ?name } ORDER BY ?name").splitlines()[1:]
    new = [f"the thing of {url}" for url in sorted({*LEFT, "http://d.test/"})]
    assert rows == ["Green tea", "Tea Makers", "Tea Makers Ltd", "Tea cup", "The tea shop", *new]
