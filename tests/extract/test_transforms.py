"""The user's own code: how it is registered, chosen and called, and that its failures stay Problems."""

import pickle
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from rdfspider.config import ExtractConfig, Transform
from rdfspider.errors import UsageError
from rdfspider.extract.installed_transforms import installed_transforms
from rdfspider.extract.statements import Problems, Statements
from rdfspider.extract.transforms import extract_by_transform, find_transform, load_transforms
from rdfspider.records import Content, ContentKind, Page, Problem

DOCS = Path(__file__).parents[2] / "docs" / "transforms.md"
URL = "http://example.org/rows.csv"
LENGTH = "http://example.org/length"
MODULE = f"""
def length(body, url, media_type):
    return f'<{{url}}> <{LENGTH}> "{{len(body)}} {{media_type}}" .'
def endless(body, url, media_type):
    while True: pass
def wrong(body, url, media_type):
    raise ValueError("no rows in " + url)
def huge(body, url, media_type):
    return "#" * 10_000_000
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rows.py").write_text(MODULE)
    return tmp_path


def read(*transforms: Transform, body: bytes = b"a,b\n", **settings: object) -> tuple[list[str], tuple[Problem, ...]]:
    problems = Problems()
    config = ExtractConfig(transforms=transforms, **settings)  # type: ignore[arg-type]
    out = Statements(URL, URL, "transform", config, problems)
    extract_by_transform(Page(URL, body), Content("text/csv", ContentKind.TEXT, "utf-8", body.decode("latin-1")), out)
    return [line.removesuffix(f" <{URL}> .") for line in out.lines], problems.listed()


def write(folder: Path, toml: str) -> Path:
    path = folder / "transforms.toml"
    path.write_text(textwrap.dedent(toml))
    return path


def test_a_function_beside_the_file_is_found_and_called(folder: Path) -> None:
    path = write(folder, '[rows]\nmedia_type = "text/csv"\nfunction = "rows:length"')
    transforms = load_transforms(path)
    assert transforms == (Transform("rows", "text/csv", (), "rows:length", "text/turtle", str(folder)),)
    config = pickle.loads(pickle.dumps(ExtractConfig(transforms=transforms)))
    assert read(*config.transforms) == ([f'<{URL}> <{LENGTH}> "4 text/csv"'], ())


def test_a_command_gets_bytes_and_environment_and_runs_beside_the_file(folder: Path) -> None:
    script = folder / "count.sh"
    script.write_text(
        f'#!/bin/sh\necho "<$RDFSPIDER_URL> <{LENGTH}> \\"$(wc -c | tr -d " ") $RDFSPIDER_MEDIA_TYPE\\" ."\n'
    )
    script.chmod(0o755)
    path = write(
        folder,
        """
        [count]
        media_type = "text/*"
        command = ["./count.sh"]
        result_type = "application/n-triples"
        """,
    )
    assert read(*load_transforms(path)) == ([f'<{URL}> <{LENGTH}> "4 text/csv"'], ())


def test_json_ld_may_be_given() -> None:
    result = '{"@id": "", "http://example.org/length": "4"}'
    transform = Transform("echo", "text/csv", ("echo", result), result_type="application/ld+json")
    assert read(transform) == ([f'<{URL}> <{LENGTH}> "4"'], ())


def test_binary_bytes_arrive_as_they_are() -> None:
    code = "import sys; print(f'<x:s> <x:p> \"{sys.stdin.buffer.read().hex()}\" .')"
    lines, _ = read(Transform("hex", "*/*", (sys.executable, "-c", code)), body=b"\xff\xd8\0\r\n")
    assert lines == ['<x:s> <x:p> "ffd8000d0a"']


def test_silence_is_no_problem() -> None:
    assert read(Transform("quiet", "text/csv", ("true",))) == ([], ())


@pytest.mark.parametrize(
    ("media_type", "chosen"),
    [("image/png", "images"), ("IMAGE/PNG", "images"), ("text/csv", "table"), ("text/plain", None), ("a/b+xml", "xml")],
)
def test_the_first_that_fits_is_chosen(media_type: str, chosen: str | None) -> None:
    transforms = [
        Transform("table", "text/csv"),
        Transform("images", "image/*"),
        Transform("png", "image/png"),
        Transform("xml", "*/*+xml"),
    ]
    found = find_transform(media_type, transforms)
    assert (found.name if found else None) == chosen


@pytest.mark.parametrize(
    ("function", "code", "message"),
    [
        ("rows:endless", "transform-timeout", "rows: killed after 0.5 s"),
        ("rows:wrong", "transform-failed", f"rows: ValueError: no rows in {URL}"),
        ("rows:huge", "transform-output-too-long", "rows: gave 10000000 bytes, more than 1000"),
        ("rows:none", "transform-failed", "rows: AttributeError: module 'rows' has no attribute 'none'"),
    ],
)
def test_what_fails_is_a_problem(folder: Path, function: str, code: str, message: str) -> None:
    transform = Transform("rows", "text/csv", function=function, folder=str(folder))
    seconds = 0.5 if code == "transform-timeout" else 30
    lines, problems = read(transform, transform_seconds=seconds, max_body_bytes=1000)
    assert (lines, problems) == ([], (Problem(code, message, "transform"),))


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("sleep", "600"), "transform-timeout"),
        (("yes",), "transform-output-too-long"),
        (("false",), "transform-failed"),
        (("echo", "not RDF at all"), "syntax-error"),
        (("no-such-program-anywhere",), "transform-failed"),
        (("nul\0byte",), "transform-failed"),
    ],
)
def test_a_command_that_fails_is_a_problem(command: tuple[str, ...], code: str) -> None:
    seconds = 0.5 if code == "transform-timeout" else 30
    lines, problems = read(Transform("bad", "text/csv", command), transform_seconds=seconds, max_body_bytes=1000)
    assert (lines, [problem.code for problem in problems]) == ([], [code])


def test_a_folder_that_is_gone_is_a_problem(tmp_path: Path) -> None:
    transform = Transform("gone", "text/csv", ("true",), folder=str(tmp_path / "gone"))
    assert [problem.code for problem in read(transform)[1]] == ["transform-failed"]


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("[a", "is not TOML"),
        ("a = 1", "[a]: a transform is a table"),
        ('[a]\nfunction = "rows:length"', '[a]: media_type must be like "text/csv"'),
        ('[a]\nmedia_type = "csv"\nfunction = "rows:length"', '[a]: media_type must be like "text/csv"'),
        ('[a]\nmedia_type = "text/csv"', "[a]: give either a command or a function"),
        ('[a]\nmedia_type = "text/csv"\nfunction = "rows:length"\ncommand = ["cat"]', "give either"),
        ('[a]\nmedia_type = "text/csv"\ncommand = "cat"', "command must be a list of words"),
        ('[a]\nmedia_type = "text/csv"\ncommand = []', "command must be a list of words"),
        ('[a]\nmedia_type = "text/csv"\ncommand = ["no-such-program"]', "there is no program 'no-such-program'"),
        ('[a]\nmedia_type = "text/csv"\ncommand = ["./none.sh"]', "there is no program './none.sh'"),
        ('[a]\nmedia_type = "text/csv"\nfunction = "rows"', 'function must be like "package.module:function"'),
        ('[a]\nmedia_type = "text/csv"\nfunction = "rows:none"', "cannot be used: AttributeError"),
        ('[a]\nmedia_type = "text/csv"\nfunction = "nowhere:none"', "No module named 'nowhere'"),
        ('[a]\nmedia_type = "text/csv"\ncommand = ["cat"]\nresult_type = "text/html"', "result_type must be one of"),
        ('[a]\nmedia_type = "text/csv"\ncommand = ["cat"]\ntimeout = 3', "timeout is not known here"),
    ],
)
def test_a_wrong_file_is_told_in_one_line(folder: Path, toml: str, message: str) -> None:
    path = write(folder, toml)
    with pytest.raises(UsageError) as caught:
        load_transforms(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_or_unreadable_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_transforms(tmp_path / "missing.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\0")
    with pytest.raises(UsageError, match="is not TOML"):
        load_transforms(tmp_path / "binary.toml")


def test_installed_packages_offer_transforms(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    about = folder / "rows-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: rows\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[rdfspider.transforms]\ntext/* = rows:length\nnot a type = rows:length\n")
    monkeypatch.syspath_prepend(str(folder))
    transforms = installed_transforms()
    assert transforms == (Transform("rows:length for text/*", "text/*", function="rows:length"),)
    assert read(*transforms) == ([f'<{URL}> <{LENGTH}> "4 text/csv"'], ())


def test_the_examples_of_the_documentation_work(tmp_path: Path) -> None:
    """Files are named right before their text, commands right before what they print."""
    text = DOCS.read_text("utf-8")
    files = re.findall(r"`([\w./]+)`:\n\n```\w+\n(.*?)```", text, re.DOTALL)
    commands = re.findall(r"`rdfspider ([^`]+)` prints:\n\n```nquads\n(.*?)```", text, re.DOTALL)
    assert (len(files), len(commands)) == (5, 2)
    for name, body in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(body)
    run = [sys.executable, "-c", "from rdfspider.cli import main; main()"]
    for arguments, printed in commands:
        done = subprocess.run([*run, *shlex.split(arguments)], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert (done.stdout, done.stderr, done.returncode) == (printed, "", 0)
