"""Who may do more than read: names of the server, tokens, cookies and forms of other sites."""

import pytest
from starlette.requests import Request

from rdfspider.serve.access import COOKIE, is_loopback, make_access


def make_request(**headers: str) -> Request:
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": pairs})


@pytest.mark.parametrize(
    ("host", "is_own"),
    [
        ("127.0.0.1:8321", True),
        ("127.3.2.1", True),
        ("localhost:1", True),
        ("[::1]:8321", True),
        ("evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("", False),
        ("[::1", False),
    ],
)
def test_names_of_this_machine(host: str, is_own: bool) -> None:
    assert make_access("127.0.0.1", False).is_own_name(host) is is_own


def test_a_server_for_others_is_called_by_any_name() -> None:
    assert make_access("192.0.2.1", False).is_own_name("crawler.example.org")


def test_the_token_comes_by_header_or_as_the_cookie_that_stands_for_it() -> None:
    access = make_access("127.0.0.1", False, token="secret")
    assert access.is_trusted(make_request(authorization="Bearer secret"))
    assert access.is_trusted(make_request(cookie=f"{COOKIE}={access.cookie}"))
    assert not access.is_trusted(make_request(authorization="Bearer secre"))
    assert not access.is_trusted(make_request(cookie=f"{COOKIE}=secret"))
    assert not access.is_trusted(make_request())


def test_where_only_reading_is_allowed_the_token_opens_nothing() -> None:
    access = make_access("192.0.2.1", False, token="secret")
    assert not access.is_trusted(make_request(authorization="Bearer secret"))
    assert not access.is_trusted(make_request(cookie=f"{COOKIE}={access.cookie}"))


def test_forms_carry_what_only_pages_of_this_site_have() -> None:
    access = make_access("127.0.0.1", False, token="secret")
    assert access.is_own_form(make_request(host="127.0.0.1:1", origin="http://127.0.0.1:1"), access.csrf)
    assert not access.is_own_form(make_request(host="127.0.0.1:1"), "")
    assert not access.is_own_form(make_request(host="127.0.0.1:1", origin="http://evil.example"), access.csrf)
    assert not access.is_own_form(make_request(host="127.0.0.1:1", origin="null"), access.csrf)
    assert not access.is_own_form(make_request(host="127.0.0.1:1", sec_fetch_site="cross-site"), access.csrf)
    assert not access.is_own_form(make_request(host="127.0.0.1:1", sec_fetch_site="same-site"), access.csrf)


def test_two_starts_have_two_tokens() -> None:
    assert make_access("127.0.0.1", False).token != make_access("127.0.0.1", False).token


def test_loopback_addresses() -> None:
    assert [is_loopback(host) for host in ("127.9.9.9", "::1", "[::1]", "0.0.0.0", "10.0.0.1", "a.test")] == [
        True
    ] * 3 + [False] * 3
