"""What is forgotten, by page and by site, and how people say so."""

import threading
from pathlib import Path

import pytest

from rdfspider.errors import UsageError
from rdfspider.index.layout import IndexPaths
from rdfspider.index.log.indexed_sources import Forgotten, add_rule


@pytest.fixture
def paths(tmp_path: Path) -> IndexPaths:
    return IndexPaths(tmp_path)


def test_nothing_is_forgotten_at_first(paths: IndexPaths) -> None:
    forgotten = Forgotten.load(paths)
    assert (forgotten.mark, forgotten.matches("http://example.org/")) == (0, False)


def test_a_page_is_itself_alone(paths: IndexPaths) -> None:
    assert add_rule(paths, " HTTPS://Example.org:443/a/../b%7e?q#top ") == "the page https://example.org/b~?q"
    forgotten = Forgotten.load(paths)
    assert forgotten.matches("https://example.org/b~?q")
    assert not forgotten.matches("http://example.org/b~?q")
    assert not forgotten.matches("https://example.org/b~")


@pytest.mark.parametrize(
    ("rule", "inside", "outside"),
    [
        (
            "Example.org",
            ["http://example.org/", "https://a.b.example.org:8080/x?y"],
            ["http://notexample.org/", "http://org/"],
        ),
        ("www.example.org/", ["http://www.example.org/a", "http://x.www.example.org/"], ["http://example.org/"]),
        (".example.org", ["http://user@example.org./"], ["http://example.com/example.org"]),
        ("bücher.example", ["http://xn--bcher-kva.example/"], ["http://b.example/"]),
        ("localhost", ["http://localhost:8000/"], ["http://localhost.example/"]),
        ("192.0.2.7", ["http://192.0.2.7/"], ["http://192.0.2.70/", "http://2.7/"]),
        ("[2001:DB8::1]", ["http://[2001:db8::1]:80/a"], ["http://[2001:db8::2]/"]),
    ],
)
def test_a_site_is_all_hosts_below_it(paths: IndexPaths, rule: str, inside: list[str], outside: list[str]) -> None:
    add_rule(paths, rule)
    forgotten = Forgotten.load(paths)
    assert [url for url in inside + outside if forgotten.matches(url)] == inside


def test_it_is_said_what_will_be_forgotten(paths: IndexPaths) -> None:
    assert add_rule(paths, "Example.ORG") == "all pages of example.org and of all hosts below it"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "example.org/tea",
        "ftp://example.org/",
        "http://",
        "example.org:80",
        "*.example.org",
        "two words",
        "me@x.org",
        "a%",
        "[::",
    ],
)
def test_what_is_neither_is_refused(paths: IndexPaths, text: str) -> None:
    with pytest.raises(UsageError, match=r"neither a page nor a site|no http or https address"):
        add_rule(paths, text)
    assert not paths.forgotten.exists()


def test_a_rule_is_kept_once_and_others_stay(paths: IndexPaths) -> None:
    paths.forgotten.write_text("# asked for by mail\nexample.com")
    for text in ("example.org", "EXAMPLE.org", "example.com", "http://example.net/"):
        add_rule(paths, text)
    assert paths.forgotten.read_text() == "# asked for by mail\nexample.com\nexample.org\nhttp://example.net/\n"
    names = ["example.org", "http://example.net/", "example.com"]
    assert Forgotten.load(paths).mark == Forgotten(names).mark


def test_commands_at_the_same_time_lose_nothing(paths: IndexPaths) -> None:
    threads = [threading.Thread(target=add_rule, args=(paths, f"site{number}.example")) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Forgotten.load(paths).mark == Forgotten([f"site{number}.example" for number in range(16)]).mark


def test_the_mark_tells_which_rules_there_are_and_not_how_many() -> None:
    assert Forgotten([]).mark == 0
    marks = {Forgotten(rules).mark for rules in (["a.example"], ["b.example"], ["a.example", "b.example"])}
    assert len(marks | {0}) == 4
    assert Forgotten(["b.example", "A.example"]).mark == Forgotten(["a.example", "b.example"]).mark
    assert max(marks) < 1 << 53, "a number that JSON keeps"


def test_a_line_that_is_no_rule_is_said(paths: IndexPaths) -> None:
    paths.forgotten.write_text("example.org\nwhat is this\n")
    with pytest.raises(UsageError, match=r"forgotten\.txt: 'what is this' is neither"):
        Forgotten.load(paths)


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        add_rule(IndexPaths(tmp_path / "nowhere"), "example.org")
