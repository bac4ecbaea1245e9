import csv
import io

import pytest

from rdfspider.serve.negotiation import choose_format, split_suffix, write_csv, write_turtle

ALL = ("html", "json", "csv", "nq", "ttl")


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", "html"),
        ("*/*", "html"),
        ("application/json", "json"),
        ("text/turtle, */*;q=0.1", "ttl"),
        ("text/html;q=0.3, application/n-quads;q=0.9", "nq"),
        ("text/*", "html"),
        ("image/png", ""),
        ("text/html;q=0, */*", "json"),
        ("text/*;q=0.2, text/csv, */*;q=0.1", "csv"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "html"),
        ("application/json;q=0", ""),
        ("application/json;q=nonsense", ""),
        ("," * 3000, ""),
    ],
)
def test_the_format_that_is_liked_best(accept: str, expected: str) -> None:
    assert choose_format(accept, ALL) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/search.json", ("/search", "json")),
        ("/search", ("/search", "")),
        ("/a.exe", ("/a.exe", "")),
        ("/a.json/b", ("/a.json/b", "")),
    ],
)
def test_suffixes_of_paths(path: str, expected: tuple[str, str]) -> None:
    assert split_suffix(path) == expected


def test_no_cell_is_a_formula_and_every_cell_can_be_read_back() -> None:
    cells = ["=1+1", "@x", "+49 30", "plain", 'a "quoted", text\nof two lines', 7]
    (head, row) = csv.reader(io.StringIO(write_csv(["a"] * 6, [cells]).decode(), newline=""))
    assert row == ["'=1+1", "'@x", "'+49 30", "plain", 'a "quoted", text\nof two lines', "7"]
    assert head == ["a"] * 6


def test_turtle_has_each_triple_once_whatever_the_graphs() -> None:
    nquads = b'<http://a/s> <http://a/p> "x" <http://a/g> .\n<http://a/s> <http://a/p> "x" <http://a/h> .\n'
    assert write_turtle(nquads).decode().count('"x"') == 1


def test_a_line_before_a_formula_does_not_hide_it() -> None:
    assert write_csv(("a",), [("\n=1+1",)]) == b'a\r\n"\'\n=1+1"\r\n'
