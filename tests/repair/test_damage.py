"""Every kind of damage to every kind of file: each command answers, or says in one line what is wrong and what helps."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.repair.damages import FILES, KINDS, PAGES, SEED, copy_crawl, crawled, damage

from command_line import run_line

QUESTIONS: dict[str, list[str]] = {
    "status": [],
    "why": [SEED],
    "hosts": [],
    "search": ["thing"],
    "stats": [],
    "export": [],
    "entity": [f"{SEED}#it"],
}
CHANGING = re.compile(r" ago|results? in|rdfspider why")
"""What differs from one time to the next."""
HARMLESS = {("index version", "cut"), ("index status", "deleted"), ("history", "deleted")}
"""A version without its line end, and files that need not be there."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("sound") / "crawl"
    with crawled(folder):
        pass
    yield folder


@pytest.fixture(scope="module")
def answers(sound: Path) -> dict[str, str]:
    return {name: ask(sound, name)[1] for name in QUESTIONS}


def ask(folder: Path, name: str) -> tuple[int, str, str]:
    """A question: exit code, answer without the folder's name, what was said."""
    output = ["--output", "-"] if name == "export" else []
    done = run_line(name, *QUESTIONS[name], *output, "--dir", folder)
    lines = [line for line in done.stdout.splitlines() if not CHANGING.search(line)]
    return done.returncode, "\n".join(sorted(lines)).replace(str(folder), ""), done.stderr


def test_a_sound_crawl_is_sound(sound: Path) -> None:
    for flags in ([], ["--deep"]):
        done = run_line("verify", *flags, "--dir", sound)
        assert (done.returncode, done.stdout) == (0, ""), done.stdout
    assert run_line("doctor", "--dir", sound).returncode == 0
    assert run_line("stats", "--dir", sound).stdout.startswith(f"pages {PAGES} ")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("file", FILES)
def test_each_command_answers_as_before_or_says_what_helps(
    sound: Path, answers: dict[str, str], tmp_path: Path, file: str, kind: str
) -> None:
    folder = copy_crawl(sound, tmp_path)
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
