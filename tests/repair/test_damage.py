"""Every kind of damage to every kind of file: each command answers, or says in one line what is wrong and what helps."""

import logging
import re
from pathlib import Path

import pytest
from tests.repair.damages import (
    FILES,
    KINDS,
    PAGES,
    SEED,
    Sound,
    choose_damages,
    copy_crawl,
    damage,
    read_quads,
    resolve_all,
)

from command_line import run_line
from rdfspider import Crawl
from rdfspider.errors import UsageError
from serving import serve
from web import Crawling

QUESTIONS: dict[str, list[str]] = {
    "status": [],
    "why": [SEED],
    "hosts": [],
    "search": ["thing"],
    "stats": [],
    "export": [],
    "entity": [f"{SEED}#it"],
    "links": [SEED],
}
QUERY = "SELECT ?s ?name { ?s schema:name ?name } ORDER BY ?s"
PAGES_OF_SITE = [
    "/",
    "/search?q=thing",
    f"/entity?iri={SEED}%23it",
    f"/inspect?url={SEED}",
    "/sites",
    "/classes",
    "/crawl",
]
CHANGING = re.compile(r" ago|results? in|rdfspider why")
"""What differs from one time to the next."""
HARMLESS = {("index version", "cut"), ("index status", "deleted"), ("history", "deleted")}
"""A version without its line end, and files that need not be there."""


@pytest.fixture(scope="module")
def rows(sound: Sound) -> str:
    return run_line("query", QUERY, "--dir", sound.folder).stdout


@pytest.fixture(scope="module")
def answers(sound: Sound) -> dict[str, str]:
    return {name: ask(sound.folder, name)[1] for name in QUESTIONS}


def ask(folder: Path, name: str) -> tuple[int, str, str]:
    """A question: exit code, answer without the folder's name, what was said."""
    output = ["--output", "-"] if name == "export" else []
    done = run_line(name, *QUESTIONS[name], *output, "--dir", folder)
    lines = [line for line in done.stdout.splitlines() if not CHANGING.search(line)]
    return done.returncode, "\n".join(sorted(lines)).replace(str(folder), ""), done.stderr


def test_a_sound_crawl_is_sound(sound: Sound) -> None:
    for flags in ([], ["--deep"]):
        done = run_line("verify", *flags, "--dir", sound.folder)
        assert (done.returncode, done.stdout) == (0, ""), done.stdout
    assert run_line("doctor", "--dir", sound.folder).returncode == 0
    assert run_line("stats", "--dir", sound.folder).stdout.startswith(f"pages {PAGES} ")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("file", FILES)
def test_each_command_answers_as_before_or_says_what_helps(
    sound: Sound, answers: dict[str, str], tmp_path: Path, file: str, kind: str
) -> None:
    folder = copy_crawl(sound.folder, tmp_path)
    damage(folder, file, kind)
    for name in QUESTIONS:
        code, answer, told = ask(folder, name)
        if code == 0:
            says_why = "`rdfspider " in answer or "crawl      unknown" in answer or (file, kind) in HARMLESS
            assert answer == answers[name] or says_why, f"{name} answers something else, and does not say why: {answer}"
        else:
            told = told or answer
            assert "`rdfspider " in told, f"{name} does not say what helps: {told}"
            assert len(told.splitlines()) == 1 or name == "status"
    done = run_line("verify", "--deep", "--dir", folder)
    assert done.returncode == ((file, kind) not in HARMLESS), f"verify: {done.stdout}{done.stderr}"


@pytest.mark.parametrize(("file", "kind"), choose_damages("query", 10))
def test_sparql_answers_as_before_or_says_what_helps(
    sound: Sound, rows: str, tmp_path: Path, file: str, kind: str
) -> None:
    folder = copy_crawl(sound.folder, tmp_path)
    damage(folder, file, kind)
    done = run_line("query", QUERY, "--dir", folder)
    if done.returncode == 0:
        assert done.stdout == rows
    else:
        assert "`rdfspider " in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("file", "kind"), choose_damages("serve", 12))
def test_the_site_shows_pages_or_says_why_not(
    sound: Sound, tmp_path: Path, caplog: pytest.LogCaptureFixture, file: str, kind: str
) -> None:
    folder = copy_crawl(sound.folder, tmp_path)
    damage(folder, file, kind)
    try:
        crawl = Crawl.open(folder)
    except UsageError as error:
        assert "`rdfspider " in str(error)
        return
    with serve(crawl) as serving:
        for path in PAGES_OF_SITE:
            reply = serving.get(path)
            assert reply.status != 500, f"{path}: {reply.text}"
            assert reply.status < 400 or "rdfspider " in reply.text or "no index yet" in reply.text, path
            assert "Traceback" not in reply.text
        reply = serving.get("/sparql", query=QUERY)
        assert reply.status != 500
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize(("file", "kind"), choose_damages("index", 12))
def test_an_index_is_brought_up_to_date_or_says_what_helps(sound: Sound, tmp_path: Path, file: str, kind: str) -> None:
    folder = copy_crawl(sound.folder, tmp_path)
    damage(folder, file, kind)
    done = run_line("index", "--dir", folder)
    check_change(sound, folder, done.returncode, done.stderr)


@pytest.mark.parametrize(("file", "kind"), choose_damages("import", 4))
def test_an_import_goes_on_or_says_what_helps(
    sound: Sound, tmp_path: Path, capfd: pytest.CaptureFixture[str], file: str, kind: str
) -> None:
    folder = copy_crawl(sound.folder, tmp_path)
    damage(folder, file, kind)
    done = run_line("import", *sound.folder.glob("shards/*/warc/*-pages-*"), "--dir", folder)
    # What its processes say comes first.
    check_change(sound, folder, done.returncode, capfd.readouterr().err + done.stderr)


@pytest.mark.parametrize(("file", "kind"), choose_damages("crawl", 4))
def test_a_crawl_goes_on_or_says_what_helps(sound: Sound, tmp_path: Path, file: str, kind: str) -> None:
    folder = copy_crawl(sound.folder, tmp_path)
    damage(folder, file, kind)
    # A lost setting has its default, and none of these may lead out of this machine.
    flags = ["--scope", "any", "--delay", 0, *resolve_all(sound.web)]
    with Crawling(folder, SEED, *flags, index_enabled="true") as crawling:
        code = crawling.wait()
        check_change(sound, folder, code, crawling.stderr())


def check_change(sound: Sound, folder: Path, code: int, told: str) -> None:
    """Check that a command that changes a damaged crawl has everything in the end, or says what helps."""
    assert "Traceback" not in told
    assert code in (0, 1, 2)
    if code == 0:
        assert read_quads(folder) == sound.quads or "`rdfspider " in told
    else:
        assert told.splitlines()[-1].startswith("rdfspider: ")
        assert "`rdfspider " in told, f"it does not say what helps: {told}"
