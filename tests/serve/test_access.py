"""Who may do more than read: names of the server, tokens, cookies and forms of other sites."""

import socket

import pytest
from starlette.requests import Request

from rdfspider.errors import UsageError
from rdfspider.serve.access import is_loopback, make_access


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
        ("localhost#", False),
        ("localhost/static/", False),
        ("localhost:x", False),
        ("me@localhost", False),
    ],
)
def test_names_of_this_machine(host: str, is_own: bool) -> None:
    assert make_access("127.0.0.1", False).is_own_name(host) is is_own


@pytest.mark.parametrize("host", ["192.0.2.1", "0.0.0.0", "::"])
def test_a_server_for_others_is_called_by_addresses_its_own_names_and_those_given(host: str) -> None:
    access = make_access(host, False, names=["Crawl.example.org"])
    own = socket.gethostname()
    called = ("crawl.example.org:443", "CRAWL.EXAMPLE.ORG", "10.1.2.3:8321", "[2001:db8::1]:8321", own, "localhost")
    assert [name for name in called if not access.is_own_name(name)] == []
    others = ("evil.example", "evil.example:8321", "crawl.example.org/#", "10.1.2.3.evil.example", "")
    assert [name for name in others if access.is_own_name(name)] == []


def test_a_server_of_this_machine_has_a_name_where_one_is_given() -> None:
    assert make_access("127.0.0.1", False, names=["crawl.example.org"]).is_own_name("crawl.example.org")
    assert not make_access("127.0.0.1", False).is_own_name("10.1.2.3")
    for wrong in ("https://crawl.example.org", "crawl.example.org:443", "*", ""):
        with pytest.raises(UsageError, match="that is no name of a server"):
            make_access("127.0.0.1", False, names=[wrong])


def test_only_what_is_sent_as_the_token_is_a_try() -> None:
    access = make_access("127.0.0.1", False, token="secret")
    assert access.sends_bearer(make_request(authorization="bearer x"))
    # A password for a server before this one.
    assert not access.sends_bearer(make_request(authorization="Basic eDp5"))
    assert not make_access("192.0.2.1", False).sends_bearer(make_request(authorization="Bearer x"))


def test_the_token_comes_by_header_or_as_the_cookie_that_stands_for_it() -> None:
    access = make_access("127.0.0.1", False, token="secret")
    assert access.is_trusted(make_request(authorization="Bearer secret"))
    assert access.is_trusted(make_request(cookie=f"{access.cookie}={access.open_session()}"))
    assert not access.is_trusted(make_request(authorization="Bearer secre"))
    assert not access.is_trusted(make_request(cookie=f"{access.cookie}=secret"))
    assert not access.is_trusted(make_request())


def test_where_only_reading_is_allowed_the_token_opens_nothing() -> None:
    access = make_access("192.0.2.1", False, token="secret")
    assert not access.is_trusted(make_request(authorization="Bearer secret"))
    assert not access.is_trusted(make_request(cookie=f"{access.cookie}={access.open_session()}"))


def test_each_login_has_a_session_of_its_own_that_ends() -> None:
    access = make_access("127.0.0.1", False, token="secret", port=8321)
    first, second = access.open_session(), access.open_session()
    assert first != second
    access.close_session(first)
    assert not access.is_trusted(make_request(cookie=f"{access.cookie}={first}"))
    assert access.is_trusted(make_request(cookie=f"{access.cookie}={second}"))
    for _ in range(100):
        access.open_session()
    assert not access.is_trusted(make_request(cookie=f"{access.cookie}={second}"))


def test_servers_at_two_ports_have_two_cookies() -> None:
    assert make_access("127.0.0.1", False, port=1).cookie != make_access("127.0.0.1", False, port=2).cookie


@pytest.mark.parametrize(
    ("headers", "is_own"),
    [
        ({"origin": "http://127.0.0.1:1"}, True),
        ({}, True),
        ({"origin": "http://evil.example"}, False),
        ({"origin": "null"}, False),
        ({"origin": "http://["}, False),
        ({"sec_fetch_site": "cross-site"}, False),
        ({"sec_fetch_site": "same-site"}, False),
    ],
)
def test_forms_carry_what_only_pages_of_this_site_have(headers: dict[str, str], is_own: bool) -> None:
    access = make_access("127.0.0.1", False, token="secret")
    session, other = access.open_session(), access.open_session()
    request = make_request(host="127.0.0.1:1", cookie=f"{access.cookie}={session}", **headers)
    assert access.is_own_form(request, access.find_csrf(session)) is is_own
    assert not access.is_own_form(request, "")
    assert not access.is_own_form(request, access.find_csrf(other))


@pytest.mark.parametrize(
    ("site", "mode", "dest", "is_unseen"),
    [
        ("cross-site", "no-cors", "empty", True),
        ("cross-site", "navigate", "iframe", True),
        ("cross-site", "navigate", "document", False),
        ("same-origin", "no-cors", "empty", False),
        ("none", "navigate", "document", False),
    ],
)
def test_what_other_sites_have_loaded(site: str, mode: str, dest: str, is_unseen: bool) -> None:
    request = make_request(sec_fetch_site=site, sec_fetch_mode=mode, sec_fetch_dest=dest)
    assert make_access("127.0.0.1", False).is_unseen(request) is is_unseen


def test_two_starts_have_two_tokens() -> None:
    assert make_access("127.0.0.1", False).token != make_access("127.0.0.1", False).token


def test_loopback_addresses() -> None:
    assert [is_loopback(host) for host in ("127.9.9.9", "::1", "[::1]", "0.0.0.0", "10.0.0.1", "a.test")] == [
        True
    ] * 3 + [False] * 3
