"""Heads of answers, from the lines that libcurl hands over."""

import pytest

from rdfspider.fetch.curl import Head, read_head


def test_a_head_is_read_up_to_its_empty_line() -> None:
    lines = [b"HTTP/1.1 200 Very OK\r\n", b"A: 1\r\n", b"b:\t\xe9 \r\n", b"\r\n", b"Trailer: x\r\n", b"\r\n"]
    head = read_head(lines)
    assert head == Head("1.1", 200, "Very OK", (("A", "1"), ("b", "\u00e9")))
    assert head.first("a") == "1"
    assert head.first("trailer") == ""


def test_interim_answers_are_passed_over() -> None:
    lines = [b"HTTP/1.1 100 Continue\r\n", b"X: 1\r\n", b"\r\n", b"HTTP/2 404 \r\n", b"\r\n"]
    assert read_head(lines) == Head("2", 404, "", ())
    assert read_head(lines[:3]) is None


def test_folded_lines_are_one() -> None:
    head = read_head([b"HTTP/1.0 200 OK\r\n", b"A: 1\r\n", b" 2\r\n", b"\t3\r\n", b"\r\n"])
    assert head is not None
    assert head.headers == (("A", "1 2 3"),)


@pytest.mark.parametrize(
    "line", [b"HTTP/1.1\r\n", b"HTTP/1.1 20 OK\r\n", b"HTTP/1.1 abc OK\r\n", b"ICY 200 OK\r\n", b"x"]
)
def test_what_is_no_status_line_is_no_head(line: bytes) -> None:
    assert read_head([line, b"A: 1\r\n", b"\r\n"]) is None


def test_an_unfinished_head_is_none() -> None:
    assert read_head([]) is None
    assert read_head([b"HTTP/1.1 200 OK\r\n", b"A: 1\r\n"]) is None
