"""The server is what judges the crawler, so its own word is held against that of a plain client."""

import http.client
import time

from waiting import wait_until
from web import Answer, Web, make_page, make_site


def fetch(web: Web, host: str, path: str, address: str = "127.0.0.1", timeout_s: float = 30) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(address, web.ports[address], timeout=timeout_s)
    try:
        connection.request("GET", path, headers={"Host": host})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_the_log_has_what_was_asked_where_and_when() -> None:
    site = make_site(["a.test", "b.test"], 4)
    site.add("http://b.test/slow", Answer(503, headers={"Retry-After": "7"}, delay_s=0.05))
    with Web(site, ["127.0.0.1", "127.0.0.2"]) as web:
        before = time.monotonic()
        assert fetch(web, "a.test", "/1")[0] == 200
        assert fetch(web, "b.test:80", "/slow", "127.0.0.2")[0] == 503
        after = time.monotonic()
    first, second = web.log
    assert (first.url, first.address, first.status) == ("http://a.test/1", "127.0.0.1", 200)
    assert (second.host, second.address, second.retry_after_s) == ("b.test", "127.0.0.2", 7.0)
    assert before <= first.started <= first.ended <= second.started <= second.ended <= after
    assert second.ended - second.started >= 0.05


def test_the_log_tells_connections_apart() -> None:
    with Web(make_site(["a.test"], 2)) as web:
        connection = http.client.HTTPConnection("127.0.0.1", web.ports["127.0.0.1"], timeout=30)
        for path in ("/", "/1"):
            connection.request("GET", path, headers={"Host": "a.test"})
            connection.getresponse().read()
        connection.close()
        fetch(web, "a.test", "/")
        wait_until(lambda: len(web.log) >= 3)
    assert [exchange.connection for exchange in web.log] == [1, 1, 2]


def test_bodies_may_trickle_and_connections_may_drop() -> None:
    answers = {"/drop": Answer(hangs_up=True), "/drip": Answer(body=b"x" * 100, chunks=4, chunk_delay_s=0.02)}
    with Web(lambda host, path, headers: answers[path]) as web:
        assert fetch(web, "a.test", "/drip") == (200, b"x" * 100)
        try:
            fetch(web, "a.test", "/drop")
        except http.client.RemoteDisconnected:
            dropped = True
        wait_until(lambda: len(web.log) >= 2)
    assert dropped
    assert web.log[0].ended - web.log[0].started >= 0.06
    assert web.log[1].status == 0


def test_a_client_that_leaves_is_noticed() -> None:
    with Web(lambda host, path, headers: Answer(delay_s=1)) as web:
        connection = http.client.HTTPConnection("127.0.0.1", web.ports["127.0.0.1"])
        connection.request("GET", "/", headers={"Host": "a.test"})
        connection.close()
        wait_until(lambda: len(web.log) >= 1)
    assert web.log[0].agent_left


def test_every_page_of_a_site_can_be_reached_from_the_first() -> None:
    site = make_site(["a.test", "b.test", "c.test"], 60, seed=3)
    found, todo = set(), ["http://a.test/"]
    while todo:
        url = todo.pop()
        if url not in found:
            found.add(url)
            host, _, path = url.removeprefix("http://").partition("/")
            todo += [link for link in site.urls if f'"{link}"'.encode() in site.answers[host, "/" + path].body]
    assert found == site.urls
    assert len(found) == 60


def test_pages_name_themselves() -> None:
    assert b"http://a.test/7#it" in make_page("http://a.test/7").body
