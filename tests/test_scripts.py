"""`scripts/run`: what it takes for a seed, and what for a command."""

import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).parent.parent / "scripts" / "run"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["demo", "--help"], "Crawl a small web that comes with rdfspider"),
        (["serch"], "No such command 'serch'. Did you mean 'search'"),
        (["example.org", "--help"], "Crawl from seeds, and keep the structured data"),
        (["--help"], "Crawl from seeds, and keep the structured data"),
    ],
)
def test_a_word_is_a_command_and_an_address_a_seed(tmp_path: Path, arguments: list[str], said: str) -> None:
    ended = subprocess.run([RUN, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said in " ".join((ended.stdout + ended.stderr).split())
    assert not list(tmp_path.iterdir())
