"""Clients that are slow, or leave, or send what nobody should: they keep nobody else from the site."""

import gc
import logging
import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from types import SimpleNamespace
from urllib.parse import quote

import pytest

from indexed import index_pages
from rdfspider import Crawl
from rdfspider.run.visitor import Visitor
from rdfspider.serve import limits
from rdfspider.serve.monitor import event_stream
from serving import TOKEN, Serving, serve
from waiting import PATIENCE_S, wait_until

# Many thousand millions of rows.
SLOW = f"SELECT (COUNT(*) AS ?n) {{ {' '.join(f'?s{at} ?p{at} ?o{at} .' for at in range(12))} }}"
# Some MB.
LONG = f"""SELECT ?a {{ {" ".join(f"?s{at} ?p{at} ?o{at} ." for at in range(5))} BIND("{"x" * 1000}" AS ?a) }}"""
FORM = "Content-Type: application/x-www-form-urlencoded"
BROWSER = {"Accept": "text/html,*/*;q=0.8"}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    tea = {"@context": "https://schema.org", "@id": "#tea", "@type": "Product", "name": "Green tea"}
    pages = {f"https://tea.example/{number}": tea for number in range(5)}
    return index_pages(tmp_path_factory.mktemp("guard") / "c", pages)


@pytest.fixture(scope="module")
def site(crawl: Crawl) -> Iterator[Serving]:
    # Longer than any test waits for a place that was left.
    with serve(crawl, query_timeout_s=600) as serving:
        yield serving


def connect(site: Serving, head: str = "", body: bytes = b"", *, buffer_bytes: int = 0) -> socket.socket:
    """A connection over which a request was sent."""
    client = socket.socket()
    client.settimeout(PATIENCE_S)
    if buffer_bytes:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
    client.connect(("127.0.0.1", site.port))
    if head:
        method, _, rest = head.partition("\n")
        lines = [f"{method} HTTP/1.1", "Host: localhost", *filter(None, rest.split("\n"))]
        client.sendall("\r\n".join([*lines, "", ""]).encode() + body)
    return client


def read_all(client: socket.socket) -> bytes:
    """What comes until the other side closes, or cuts, the connection."""
    parts = []
    try:
        while part := client.recv(1 << 16):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def read_status(client: socket.socket) -> int:
    return int(client.recv(1 << 16).split(b" ")[1])


def wait_for_refusal(clients: list[socket.socket]) -> None:
    """One more than have a place was sent: as soon as one is refused, no matter which, all others have theirs."""
    refused, _, _ = select.select(clients, [], [], PATIENCE_S)
    assert [read_status(client) for client in refused] == [503]


def test_who_leaves_a_page_with_a_query_leaves_room_for_others(site: Serving) -> None:
    site.get("/sparql", query="ASK {}")
    request = f"GET /sparql?query={quote(SLOW)}\nAccept: text/html"
    clients = [connect(site, request) for _ in range(limits.MAX_CLIENT_HEAVY_UNDER_WAY + 1)]
    wait_for_refusal(clients)
    # No client has all places.
    assert site.get("/sparql", query="ASK {}").status == 503
    assert site.get("/login").status == 200
    for client in clients:
        client.close()
    wait_until(lambda: site.get("/sparql", query="ASK {}").status == 200)


def test_what_was_left_is_no_news_for_the_log(site: Serving, caplog: pytest.LogCaptureFixture) -> None:
    sparql = site.site.indexes._get_sparql()

    def is_busy() -> bool:
        return len(sparql._all) > len(sparql._idle)

    wait_until(lambda: not is_busy())
    for accept in ("text/html", "application/json"):
        with closing(connect(site, f"GET /sparql?query={quote(SLOW)}\nAccept: {accept}")):
            wait_until(is_busy)
        wait_until(lambda: not is_busy())
    assert site.get("/sparql", query="ASK {}").status == 200
    gc.collect()
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "empty"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 200),
    ],
)
def test_pages_of_others_have_no_query_run_that_nobody_sees(
    site: Serving, headers: dict[str, str], status: int
) -> None:
    for accept in ("text/html", "application/json"):
        assert site.get("/sparql", headers | {"Accept": accept}, query="ASK {}").status == status


def test_programs_of_others_may_ask_the_endpoint_and_no_page_where_that_is_allowed(crawl: Crawl) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}
    with serve(crawl, origins=("*",)) as site:
        assert site.get("/sparql", headers | {"Accept": "application/json"}, query="ASK {}").status == 200
        assert site.get("/sparql", headers | {"Accept": "text/html"}, query="ASK {}").status == 403


def test_an_answer_that_nobody_reads_is_given_up(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_CLIENT_SENDING_BYTES", 15_000_000)
    path = f"/sparql.csv?query={quote(LONG)}"
    with serve(crawl) as serving:
        length = len(serving.get(path).body)
        assert 8_000_000 < length < 15_000_000
        monkeypatch.setattr(limits, "WRITE_S", 0.5)
        with closing(connect(serving, f"GET {path}", buffer_bytes=4096)) as client:
            assert client.recv(100).startswith(b"HTTP/1.1 200")
            # There is room for one such answer at a time, so that another says when this one was given up.
            wait_until(lambda: serving.ask("HEAD", path).status == 200)
            assert len(read_all(client)) < length / 2


def test_only_so_much_waits_to_be_read(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WRITE_S", 600)
    monkeypatch.setattr(limits, "MAX_CLIENT_SENDING_BYTES", 15_000_000)
    with serve(crawl) as serving:
        length = len(serving.get("/sparql.csv", query=LONG).body)
        assert 8_000_000 < length < 15_000_000
        with closing(connect(serving, f"GET /sparql.csv?query={quote(LONG)}", buffer_bytes=4096)) as client:
            assert client.recv(100).startswith(b"HTTP/1.1 200")
            assert serving.get("/sparql.csv", query=LONG).status == 503
            assert serving.get("/").status == 200


@pytest.mark.parametrize("body", [b"", b"token="])
def test_bodies_that_do_not_come_keep_no_place(crawl: Crawl, monkeypatch: pytest.MonkeyPatch, body: bytes) -> None:
    with serve(crawl) as serving, ExitStack() as stack:

        def send(count: int) -> list[socket.socket]:
            head = f"POST /inspect\n{FORM}\nContent-Length: 100"
            return [stack.enter_context(closing(connect(serving, head, body))) for _ in range(count)]

        monkeypatch.setattr(limits, "BODY_S", 600)
        wait_for_refusal(send(limits.MAX_CLIENT_READING + 1))
        assert serving.post("/inspect", html="<p>").status == 503
        # A place among those that cost more.
        assert serving.get("/sparql").status == 200
        stack.close()
        wait_until(lambda: serving.post("/inspect", html="<p>").status == 200)
        monkeypatch.setattr(limits, "BODY_S", 0.5)
        assert {read_status(client) for client in send(limits.MAX_CLIENT_READING)} == {408}
        monkeypatch.setattr(limits, "BODY_S", 600)
        assert serving.post("/inspect", html="<p>").status == 200


def test_headers_that_do_not_come_end_the_connection(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HEADERS_S", 3)
    with serve(crawl) as serving:
        with closing(connect(serving)) as silent, closing(connect(serving)) as slow:
            slow.sendall(b"GET / HTTP/1.1\r\nHo")
            assert read_all(silent) == b""
            assert read_all(slow) == b""
        # A request after another, on the same connection.
        with closing(connect(serving, "GET /openapi.json")) as kept:
            assert read_status(kept) == 200
            time.sleep(3.5)
            kept.sendall(b"GET /login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert b"Show the token" in read_all(kept)


def test_a_client_has_only_so_many_connections(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HEADERS_S", 600)

    def is_answered() -> bool:
        try:
            return serving.get("/login").status == 200
        except ConnectionError:
            return False

    with serve(crawl) as serving, ExitStack() as stack:
        for _ in range(limits.MAX_CLIENT_CONNECTIONS):
            stack.enter_context(closing(connect(serving)))
        with closing(connect(serving)) as client:
            assert read_status(client) == 503
        assert not is_answered()
        stack.close()
        wait_until(is_answered)


def test_others_watch_while_one_address_has_all_its_places(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "MAX_OWN_WATCHERS", 3)
    with serve(crawl) as serving, ExitStack() as stack:
        for _ in range(3):
            client = stack.enter_context(closing(connect(serving, "GET /monitor/events")))
            assert read_status(client) == 200
        with closing(connect(serving, "GET /monitor/events")) as client:
            assert read_status(client) == 503


def test_a_long_body_without_a_length_is_refused_everywhere(site: Serving) -> None:
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    for path, chunks in (("/inspect", 100), ("/login", 40), ("/control/pause", 40), ("/sparql", 40)):
        with closing(connect(site, f"POST {path}\n{FORM}\nTransfer-Encoding: chunked")) as client:

            def send(client: socket.socket = client, chunks: int = chunks) -> None:
                client.sendall(chunk * chunks + b"0\r\n\r\n")

            sender = threading.Thread(target=send)
            sender.start()
            assert read_status(client) == 413
            sender.join()


def test_a_long_paste_is_read_and_a_longer_one_refused_with_a_page(site: Serving) -> None:
    assert site.post("/inspect", html="é" * 500_000).status == 200
    reply = site.post("/inspect", BROWSER, html="é" * 1_100_000)
    assert (reply.status, reply.headers["content-type"]) == (413, "text/html; charset=utf-8")
    assert "<h1>Too long</h1>" in reply.text


@pytest.mark.parametrize("path", ["/sparql", "/.well-known/void", "/", "/static/site.css"])
@pytest.mark.parametrize("host", ["localhost#", "localhost/static/", "[::1"])
def test_what_is_no_name_of_a_server_is_refused(site: Serving, path: str, host: str) -> None:
    reply = site.get(path, {"Host": host})
    assert (reply.status, "content-security-policy" in reply.headers) == (421, True)


def test_an_origin_that_is_none_is_another(site: Serving) -> None:
    reply = site.post("/images", BROWSER | {"Origin": "http://["}, show="on")
    assert reply.status == 403
    assert "Show the token" not in reply.text


def test_what_nobody_thought_of_is_an_answer_with_all_headers(
    site: Serving, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("rdfspider.serve.app.describe_api", lambda pages: 1 / 0)
    reply = site.get("/openapi.json")
    assert reply.status == 500
    assert "nosniff" in reply.headers["x-content-type-options"]
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert "ZeroDivisionError" not in reply.text
    assert "ZeroDivisionError" in caplog.text


def test_no_header_makes_one_client_many(crawl: Crawl) -> None:
    with serve(crawl) as serving:
        for at in range(100):
            status = serving.post("/login", {"X-Forwarded-For": f"10.0.0.{at}"}, token="x").status
            if at < 10:
                assert status == 403
            if status == 429:
                break
    assert status == 429


def test_a_method_that_is_not_answered_tells_which_are(site: Serving) -> None:
    reply = site.ask("PUT", "/search")
    assert reply.status == 405
    assert {"GET", "HEAD"} <= set(reply.headers["allow"].replace(" ", "").split(","))


def test_without_the_token_the_way_leads_to_it_and_on(site: Serving) -> None:
    reply = site.post("/login", BROWSER, token="x", next="/search?q=tea")
    assert (reply.status, 'name="next" value="/search?q=tea"' in reply.text) == (403, True)
    reply = site.post("/control/pause", BROWSER)
    assert (reply.status, 'href="/login"' in reply.text) == (403, True)
    foreign = site.post("/control/pause", BROWSER | {"Origin": "http://evil.example"})
    assert "Not without the token" not in foreign.text


def test_a_session_ends_and_its_pages_are_kept_nowhere(site: Serving) -> None:
    cookie = site.post("/login", token="the-token-of-the-tests").headers["set-cookie"].partition(";")[0]
    assert cookie.startswith(f"rdfspider_session_{site.port}=")
    reply = site.get("/inspect", BROWSER | {"Cookie": cookie})
    assert ('name="csrf"' in reply.text, reply.headers["cache-control"]) == (True, "private, no-store")
    assert site.get("/login", BROWSER | {"Cookie": cookie}).headers["cache-control"] == "no-cache"
    site.post("/logout", {"Cookie": cookie})
    assert 'name="csrf"' not in site.get("/inspect", BROWSER | {"Cookie": cookie}).text


def test_templates_are_read_once(site: Serving) -> None:
    assert site.site._templates.auto_reload is False


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/login?" + "a&" * 1001, {}),
        ("/sparql?" + "a&" * 1001, {}),
        ("/nothing?" + "a&" * 1001, {}),
        ("/login", {"Cookie": "a=1;" * 301}),
        ("/login", {"Cookie": "a=" + "1" * (16 << 10)}),
        ("/login", {"Accept": "a/b," * 301}),
    ],
)
def test_what_takes_long_to_read_is_not_read(site: Serving, path: str, headers: dict[str, str]) -> None:
    reply = site.get(path, headers)
    assert (reply.status, "content-security-policy" in reply.headers) == (400, True)


def test_who_guesses_the_token_with_requests_is_slowed_down(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    right = {"Authorization": f"Bearer {TOKEN}"}
    # Time stands still for the limits: what is used up stays used up, however slow the machine is.
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: 0.0))
    with serve(crawl) as serving:
        assert {serving.get("/openapi.json", right).status for _ in range(50)} == {200}
        assert {serving.get("/openapi.json", {"Authorization": "Basic eDp5"}).status for _ in range(50)} == {200}
        wait_until(lambda: serving.get("/openapi.json", {"Authorization": "Bearer x"}).status == 429)
        # Nor is it told that a guess was right.
        statuses = [serving.get("/openapi.json", {"Authorization": "Bearer x"} | more).status for more in ({}, right)]
        assert statuses == [429, 429]
        assert serving.get("/openapi.json").status == 200


def test_one_client_has_few_pastes_read_at_once(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    is_over = threading.Event()
    read = Visitor.read
    monkeypatch.setattr(Visitor, "read", lambda self, page: is_over.wait(PATIENCE_S) and read(self, page))
    body = b"html=%3Cp%3E"
    head = f"POST /inspect.json\n{FORM}\nContent-Length: {len(body)}"
    with serve(crawl) as serving, ExitStack() as stack:
        clients = [
            stack.enter_context(closing(connect(serving, head, body))) for _ in range(limits.MAX_CLIENT_PASTES + 1)
        ]
        wait_for_refusal(clients)
        # Copies of archived pages do not wait for them.
        assert serving.site.visitor.call(len, "four") == 4
        is_over.set()
        wait_until(lambda: serving.post("/inspect.json", html="<p>").status == 200)


def test_files_of_the_site_are_counted_too(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "STATIC_RATE", (0.01, 3))
    with serve(crawl) as serving:
        assert [serving.get("/static/site.css").status for _ in range(4)] == [200, 200, 200, 429]
        assert serving.get("/login").status == 200


def test_a_cookie_that_comes_by_tls_goes_by_tls_alone(site: Serving) -> None:
    for headers, is_secure in (({}, False), ({"X-Forwarded-Proto": "https"}, True)):
        assert ("Secure" in site.post("/login", headers, token=TOKEN).headers["set-cookie"]) is is_secure


def test_programs_of_others_run_nothing_where_they_may_not_read(crawl: Crawl) -> None:
    ours = {"Accept": "application/json"}
    with serve(crawl) as serving:
        for headers, status in (
            ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}, 403),
            ({"Origin": "http://evil.example"}, 403),
            ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 200),
            ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}, 200),
            ({}, 200),
        ):
            assert serving.get("/sparql", ours | headers, query="ASK {}").status == status, headers
