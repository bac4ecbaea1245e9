import base64
import hashlib
from datetime import UTC, datetime

import pytest

from rdfspider.archive.warc import compute_digest, format_date, make_request, make_response_head
from rdfspider.records import Capture, Page


def capture(url: str = "https://example.org:8443/a?b", **values: object) -> Capture:
    facts: dict[str, object] = {
        "page": Page(url, b"12345"),
        "status": 200,
        "reason": "OK",
        "http_version": "1.1",
        "headers": (),
        "request_headers": (),
        "address": "",
        "started": 0.0,
        "duration_s": 0.0,
        "wire_bytes": 0,
    }
    return Capture(**facts | values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "first", "host"),
    [
        ("https://example.org:8443/a?b", "GET /a?b HTTP/1.1", "example.org:8443"),
        ("http://example.org/", "GET / HTTP/1.1", "example.org"),
        ("http://[::1]:80/x//y", "GET /x//y HTTP/1.1", "[::1]:80"),
    ],
)
def test_requests_name_path_and_host(url: str, first: str, host: str) -> None:
    assert make_request(capture(url)).decode() == f"{first}\r\nHost: {host}\r\n\r\n"


def test_a_host_header_that_was_sent_is_kept() -> None:
    sent = (("host", "x"), ("Accept", "*/*"))
    assert make_request(capture(request_headers=sent)) == b"GET /a?b HTTP/1.1\r\nhost: x\r\nAccept: */*\r\n\r\n"


def test_headers_of_the_wire_get_another_name() -> None:
    received = (("content-encoding", "gzip"), ("Transfer-Encoding", "chunked"), ("Content-Length", "3"), ("X", "y"))
    assert make_response_head(capture(headers=received)) == (
        b"HTTP/1.1 200 OK\r\nX-Crawler-content-encoding: gzip\r\nX-Crawler-Transfer-Encoding: chunked\r\n"
        b"X-Crawler-Content-Length: 3\r\nX: y\r\nContent-Length: 5\r\n\r\n"
    )


@pytest.mark.parametrize(("spoken", "written"), [("1.0", "1.0"), ("1.1", "1.1"), ("2", "1.1"), ("3", "1.1")])
def test_newer_versions_are_written_as_text(spoken: str, written: str) -> None:
    assert make_response_head(capture(http_version=spoken)).startswith(f"HTTP/{written} 200 OK\r\n".encode())


def test_bytes_beyond_ascii_stay_as_they_came() -> None:
    value = "Ålesund…".encode().decode("latin-1")
    assert b"X: \xc3\x85lesund\xe2\x80\xa6\r\n" in make_response_head(capture(headers=(("X", value),)))


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\n\n", "\r\n\r\n", "\0"])
def test_line_ends_in_values_become_spaces(end: str) -> None:
    head = make_response_head(capture(headers=(("A", f"b{end}"), ("C", f"{end}d: e"))))
    assert head == b"HTTP/1.1 200 OK\r\nA: b \r\nC:  d: e\r\nContent-Length: 5\r\n\r\n"


@pytest.mark.parametrize(
    "data", [b"", b"a", b"<p>tea</p>" * 1000, *(bytes([number]) * number for number in range(2, 200, 7))]
)
def test_digests_are_sha1_in_base_32(data: bytes) -> None:
    assert compute_digest(data) == "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


@pytest.mark.parametrize("seconds", [0.0, 0.000001, 1_700_000_000.0, 1_700_000_000.123456, 253_402_300_799.0])
def test_dates_have_microseconds_and_end_in_z(seconds: float) -> None:
    date = format_date(seconds)
    assert (len(date), date[-1]) == (27, "Z")
    assert datetime.fromisoformat(date) == datetime.fromtimestamp(seconds, UTC)
