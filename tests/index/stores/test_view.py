"""Pages reach outside stores: each whole or not at all, at least once, and whatever the servers do meanwhile."""

import logging
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from pyoxigraph import Literal, NamedNode, Store

from index.graph_store import GraphStore, make_digest, serve_graphs
from index.virtuoso import PASSWORD, USER, Virtuoso, run_virtuoso
from rdfspider.archive.outcomes import Effect, Outcome
from rdfspider.errors import UsageError
from rdfspider.index.layout import IndexPaths
from rdfspider.index.quads.view import QuadView
from rdfspider.index.stores import view as stores
from rdfspider.index.stores.graph_servers import (
    Credentials,
    check_store_url,
    find_credentials,
    read_address,
    write_update,
)
from rdfspider.index.stores.view import StoreClosedError, StoreView, carry_ledgers, list_holders
from rdfspider.index.view import View
from rdfspider.vocabulary.terms import make_graph_iri
from waiting import PATIENCE_S, wait_until

PAGE, OTHER = "http://a.example/one?x=1&y=é", "http://b.example/two"
NAME = "http://schema.org/name"


OPENED: list[StoreView] = []


@pytest.fixture(autouse=True)
def _no_long_waits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(stores, "FIRST_WAIT_S", 0.01)
    monkeypatch.setattr(stores, "LONGEST_WAIT_S", 0.05)
    monkeypatch.setenv("HOME", str(tmp_path))
    yield
    while OPENED:
        OPENED.pop().close()


def say(url: str, *values: str, time: float = 1.0, effect: Effect = Effect.REPLACE) -> Outcome:
    """What a page says: its names, in two syntaxes, with a blank node."""
    lines = "".join(f'<{url}> <https://schema.org/name> "{value}" <{url}> .\n' for value in values)
    node = f"_:p0123456789abcdefn1 <{NAME}> <{url}> <{url}> .\n" if values else ""
    statements = {"rdfa": lines, "jsonld": lines + node} if values else {}
    return Outcome(url, time, "log", 0, 1, effect, digest="d", statements=statements)


def open_view(folder: Path, url: str) -> StoreView:
    """A view that is closed at the end of the test, if not sooner."""
    OPENED.append(StoreView(IndexPaths(folder), url))
    return OPENED[-1]


def take(view: View, *outcomes: Outcome, at: int = 1) -> None:
    view.apply(outcomes)
    view.commit({"log": at})


def apply_until_closed(view: StoreView, outcome: Outcome) -> threading.Thread:
    """Apply in another thread, which must end by the view being closed: pytest tells of any other end."""

    def apply() -> None:
        with pytest.raises(StoreClosedError):
            view.apply([outcome])

    sender = threading.Thread(target=apply)
    sender.start()
    return sender


def count_tries(view: StoreView) -> int:
    """How often it has tried in vain, by what it says."""
    found = re.search(r"; tried (\d+) times?$", view.problem)
    return int(found[1]) if found else 0


def names_in(held: GraphStore, url: str) -> set[str]:
    """The names that the store has of a page."""
    return {line.split('"')[1] for line in held.lines() if line.endswith(f" <{url}> .") and '"' in line}


@pytest.fixture
def held() -> GraphStore:
    return GraphStore()


@pytest.fixture
def base(held: GraphStore) -> Iterator[str]:
    with serve_graphs(held) as url:
        yield url


@pytest.fixture(params=["/store", "/update"])
def view(request: pytest.FixtureRequest, base: str, tmp_path: Path) -> StoreView:
    return open_view(tmp_path, base + request.param)


def test_the_server_holds_what_the_embedded_store_holds(view: StoreView, held: GraphStore, tmp_path: Path) -> None:
    quads = QuadView(IndexPaths(tmp_path / "embedded"))
    history = (
        [say(PAGE, "tea", 'quoted \\"tea\\"', "line\\nbreak", time=1), say(OTHER, "cup", time=1)],
        [say(PAGE, "tea", "pot", time=3), say(OTHER, time=2, effect=Effect.TOUCH), say("http://c.example/", "leaf")],
        [
            say("http://c.example/", time=2, effect=Effect.REMOVE),
            say(PAGE, "too late", time=2),
            say("http://d.example/"),
        ],
    )
    for outcomes in history:
        view.apply(outcomes)
        quads.apply(outcomes)
    view.commit({"log": 1})
    quads.commit({"log": 1})
    quads.close()
    store = Store.read_only(str(IndexPaths(tmp_path / "embedded").quads))
    named = {str(graph) for graph in store.named_graphs() if "urn:rdfspider:" not in str(graph)}
    pages = {f"{quad} ." for quad in store if str(quad.graph_name) in named}
    assert held.lines() == pages
    assert names_in(held, PAGE) == {"tea", "pot"}
    assert len(pages) == 5


def test_only_what_changed_is_sent(base: str, held: GraphStore, tmp_path: Path) -> None:
    view = open_view(tmp_path, f"{base}/store")
    take(view, say(PAGE, "tea", time=1), say(OTHER, time=1), say("http://c.example/", time=1, effect=Effect.REMOVE))
    assert held.sent("PUT") == [PAGE]
    # That a page is gone is told once: who knows what was sent before this ledger began.
    assert [seen.graph for seen in held.seen if seen.method == "DELETE"] == ["http://c.example/"]
    held.seen.clear()
    take(view, say(PAGE, "tea", time=2), say(PAGE, "old", time=0.5), say(PAGE, time=3, effect=Effect.TOUCH), at=2)
    take(view, say("http://c.example/", time=2, effect=Effect.REMOVE), at=2)
    assert held.seen == []
    take(view, say(PAGE, time=4), at=3)
    assert [seen.method for seen in held.seen] == ["DELETE"]
    assert not held.lines()
    # The page was gone at 4: an older copy from another file does not bring it back.
    take(view, say(PAGE, "tea", time=3.5), at=4)
    assert not held.lines()
    view.close()


def find_winners(base: str, held: GraphStore, folder: Path, *pair: Outcome) -> set[frozenset[str]]:
    """What the server has of a page in the end, whichever of two outcomes comes first, together or one after the other."""
    winners = set()
    for number, batches in enumerate(([pair], [pair[::-1]], [pair[:1], pair[1:]], [pair[1:], pair[:1]])):
        view = open_view(folder / str(number), f"{base}/store")
        for batch in batches:
            take(view, *batch)
        winners.add(frozenset(names_in(held, PAGE)))
        view.close()
    return winners


def test_of_two_of_the_same_moment_the_same_one_wins(base: str, held: GraphStore, tmp_path: Path) -> None:
    gone = say(PAGE, effect=Effect.REMOVE)
    assert find_winners(base, held, tmp_path / "gone", say(PAGE, "tea"), gone) == {frozenset({"tea"})}
    # Which of these it is has no meaning, only that it is always the same.
    for number in range(8):
        names = (f"cup {number}", f"pot {number}")
        winners = find_winners(base, held, tmp_path / names[0], *(say(PAGE, name) for name in names))
        assert len(winners) == 1
        assert winners < {frozenset({name}) for name in names}


def test_an_index_that_is_made_again_knows_what_the_server_may_have(
    base: str, held: GraphStore, tmp_path: Path
) -> None:
    view = open_view(tmp_path, f"{base}/store")
    take(view, say(PAGE, "tea"), say(OTHER, "cup"), say("http://c.example/"))
    view.close()
    old, new = IndexPaths(tmp_path), IndexPaths(tmp_path, "index.new")
    for _ in range(2):
        carry_ledgers(old, new)
    assert list_holders(new, lambda url: url == PAGE) == [f"{base}/store"]
    assert list_holders(new, lambda url: url == "http://c.example/") == []
    OPENED.append(StoreView(new, f"{base}/store"))
    assert OPENED[-1].load_cursors() == {}
    OPENED[-1].forget(lambda url: url == PAGE)
    take(OPENED[-1], say(OTHER, "cup"))
    assert names_in(held, PAGE) == set()
    assert held.sent("PUT").count(OTHER) == 2
    assert list_holders(new, lambda url: url == PAGE) == []
    assert list_holders(new, lambda url: url == OTHER) == [f"{base}/store"]


def test_cursors_are_those_of_the_last_commit(base: str, tmp_path: Path) -> None:
    view = open_view(tmp_path, f"{base}/store")
    assert view.load_cursors() == {}
    take(view, say(PAGE, "tea"), at=7)
    view.apply([say(OTHER, "cup")])
    view.close()
    again = open_view(tmp_path, base.replace("//", "//user:secret@") + "/store")
    assert again.load_cursors() == {"log": 7}
    again.close()
    elsewhere = open_view(tmp_path, f"{base}/update")
    assert elsewhere.load_cursors() == {}
    elsewhere.close()


def test_connections_are_kept(base: str, held: GraphStore, tmp_path: Path) -> None:
    view = open_view(tmp_path, f"{base}/store")
    for turn in range(5):
        take(view, *(say(f"http://a.example/{turn}/{n}", "tea") for n in range(20)))
    view.close()
    assert len(held.sent("PUT")) == 100
    assert held.connections <= stores.CONNECTIONS


def test_forgotten_pages_leave_the_server(view: StoreView, held: GraphStore) -> None:
    take(view, say(PAGE, "tea"), say(OTHER, "cup"))
    view.forget(lambda url: "a.example" in url)
    view.commit({"forgotten.txt": 1})
    assert names_in(held, PAGE) == set()
    assert names_in(held, OTHER) == {"cup"}


def test_what_was_sent_before_a_crash_can_be_forgotten(base: str, held: GraphStore, tmp_path: Path) -> None:
    view = open_view(tmp_path, f"{base}/store")
    view.apply([say(PAGE, "tea")])
    view.close()  # Without a commit.
    again = open_view(tmp_path, f"{base}/store")
    again.forget(lambda url: url == PAGE)
    again.close()
    assert not held.lines()


def test_kill_in_the_middle_and_go_on(base: str, held: GraphStore, tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from rdfspider.index.layout import IndexPaths
from rdfspider.archive.outcomes import Outcome
from rdfspider.index.stores.view import StoreView
view = StoreView(IndexPaths(Path(sys.argv[1])), sys.argv[2])
for n in range(view.load_cursors().get("log", 0), 60):
    url = f"http://a.example/{n}"
    view.apply([Outcome(url, 1.0, "log", n, n + 1, "replace", statements={"rdfa": f'<{url}> <urn:p> "{n}" <{url}> .\\n'})])
    if n % 7 == 0:
        view.commit({"log": n + 1})
view.commit({"log": 60})
view.close()
"""
    command = [sys.executable, "-c", script, str(tmp_path), f"{base}/store"]
    for enough in (10, 30):
        process = subprocess.Popen(command)
        wait_until(lambda enough=enough: len(held.sent("PUT")) >= enough)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run(command, check=True, timeout=120)
    assert held.lines() == {f'<http://a.example/{n}> <urn:p> "{n}" <http://a.example/{n}> .' for n in range(60)}
    assert len(held.sent("PUT")) < 60 + 2 * 8, "it begins where it was, and not at the start"


def test_a_server_that_is_busy_is_given_its_time(base: str, held: GraphStore, tmp_path: Path) -> None:
    held.faults = [(503, {"Retry-After": "1"}), (429, {}), (500, {})]
    view = open_view(tmp_path, f"{base}/store")
    take(view, say(PAGE, "tea"))
    assert [seen.status for seen in held.seen] == [503, 429, 500, 201]
    assert held.seen[1].time - held.seen[0].time >= 1.0
    assert view.problem == ""
    view.close()


def test_a_connection_cut_in_the_middle_leaves_the_old_page(base: str, held: GraphStore, tmp_path: Path) -> None:
    view = open_view(tmp_path, f"{base}/store")
    take(view, say(PAGE, "old"))
    held.faults = [(0, {}), (0, {}), (503, {"Retry-After": "1"})]
    values = [f"value {n}" for n in range(20_000)]
    sender = threading.Thread(target=take, args=(view, say(PAGE, *values, time=2)))
    sender.start()
    wait_until(lambda: [seen.status for seen in held.seen] == [201, 0, 0, 503])
    assert names_in(held, PAGE) == {"old"}
    sender.join()
    assert names_in(held, PAGE) == set(values)
    view.close()


def test_a_server_that_is_not_there_is_waited_for(held: GraphStore, tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    view = open_view(tmp_path, f"http://127.0.0.1:{port}/store")
    sender = threading.Thread(target=take, args=(view, say(PAGE, "tea")))
    sender.start()
    # More tries than a page has that is suspected.
    wait_until(lambda: count_tries(view) > stores.TRIES_CUT + 2)
    assert view.problem.startswith(f"http://127.0.0.1:{port}/store does not answer: connection refused; tried ")
    with serve_graphs(held, port):
        sender.join(60)
        assert names_in(held, PAGE) == {"tea"}
    assert view.problem == ""
    view.close()


def test_a_page_that_is_refused_holds_nothing_up(view: StoreView, held: GraphStore, tmp_path: Path) -> None:
    held.refuse = "poison"
    take(view, say(PAGE, "old"), say(OTHER, "cup"))
    take(view, say(PAGE, "poison", time=2), say(OTHER, "cup", "saucer", time=2), at=2)
    assert names_in(held, PAGE) == set()
    assert names_in(held, OTHER) == {"cup", "saucer"}
    assert (
        view.problem == f"{view.name} does not take 1 page; the last: {PAGE} (answers 400 Bad Request: bad literal in)"
    )
    assert view.load_cursors() == {"log": 2}
    assert "urn:rdfspider:probe" not in held.dump()
    take(view, say(PAGE, "new", time=3), at=3)
    assert names_in(held, PAGE) == {"new"}
    assert view.problem == ""


def test_a_page_that_ends_every_connection_is_passed_over(base: str, held: GraphStore, tmp_path: Path) -> None:
    view = open_view(tmp_path, f"{base}/store")
    held.faults = [(0, {})] * stores.TRIES_CUT
    take(view, say(PAGE, "tea"))
    assert not held.lines()
    assert "does not take 1 page" in view.problem
    view.close()


def test_a_server_that_refuses_everything_loses_nothing(base: str, held: GraphStore, tmp_path: Path) -> None:
    held.refuse = "<"  # Which is in every triple, also in that of the probe.
    view = open_view(tmp_path, f"{base}/store")
    sender = threading.Thread(target=take, args=(view, say(PAGE, "tea")))
    sender.start()
    wait_until(lambda: count_tries(view) > stores.TRIES_ANSWERED + 2)
    held.refuse = ""
    sender.join(60)
    assert names_in(held, PAGE) == {"tea"}
    view.close()


def test_basic_authentication(base: str, held: GraphStore, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    held.credentials = "Zoë:p@ss:word/"
    wrong = open_view(tmp_path, base.replace("//", "//Zo%C3%AB:wr0ng@") + "/store?key=hidden")
    sender = threading.Thread(target=take, args=(wrong, say(PAGE, "tea")))
    sender.start()
    wait_until(lambda: count_tries(wrong) > stores.TRIES_ANSWERED)
    assert wrong.problem.startswith(f"{base}/store refuses the user and password (401); tried ")
    held.credentials = "Zoë:wr0ng"
    sender.join(60)
    assert names_in(held, PAGE) == {"tea"}
    wrong.close()
    held.credentials = "Zoë:p@ss:word/"
    held.refuse = "poison"
    held.seen.clear()
    right = open_view(tmp_path / "other", base.replace("//", "//Zo%C3%AB:p%40ss:word%2F@") + "/store")
    take(right, say(OTHER, "cup"))
    take(right, say(OTHER, "saucer", time=2))
    take(right, say(PAGE, "poison", time=2))
    right.close()
    # The password is told when it is asked for, and then each time.
    assert [bool(seen.authorization) for seen in held.seen][:3] == [False, True, True]
    assert names_in(held, OTHER) == {"saucer"}
    # The server has repeated the header in its complaint.
    token = held.seen[-1].authorization.split()[1]
    shown = f"{right.problem} {right.name} {wrong.name} {caplog.text}"
    assert "bad literal" in shown
    assert not [secret for secret in (token, "wr0ng", "p@ss", "p%40ss", "hidden") if secret in shown]


def test_a_large_page_to_a_server_that_asks_for_a_password(base: str, held: GraphStore, tmp_path: Path) -> None:
    held.credentials = "u:p"
    view = open_view(tmp_path, base.replace("//", "//u:p@") + "/store")
    take(view, say(PAGE, *(f"value {n}" for n in range(5000))))
    assert [(seen.method, seen.status) for seen in held.seen] == [("DELETE", 401), ("DELETE", 404), ("PUT", 201)]
    view.close()


def test_certificates_are_verified(held: GraphStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is missing: apt-get install openssl")
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=store"
    make += " -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out certificate.pem"
    subprocess.run(make.split(), cwd=tmp_path, check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")
    with serve_graphs(held, tls=tls) as base:
        view = open_view(tmp_path, f"{base}/store")
        sender = apply_until_closed(view, say(PAGE, "tea"))
        wait_until(lambda: count_tries(view) >= 2)
        assert "does not answer: its certificate is not trusted (self-signed certificate)" in view.problem
        view.close()
        sender.join()
        assert not held.seen
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        view = open_view(tmp_path, f"{base}/store")
        take(view, say(PAGE, "tea"))
        assert names_in(held, PAGE) == {"tea"}
        view.close()


@pytest.mark.parametrize("status", [301, 307])
def test_redirects_are_not_followed(base: str, held: GraphStore, tmp_path: Path, status: int) -> None:
    held.faults = [(status, {"Location": f"{base}/update", "Retry-After": "100"})]
    view = open_view(tmp_path, f"{base}/store")
    sender = apply_until_closed(view, say(PAGE, "tea"))
    wait_until(lambda: count_tries(view) == 1)
    assert f"sends us elsewhere ({status})" in view.problem
    view.close()
    sender.join()
    assert [seen.status for seen in held.seen] == [status]


@pytest.mark.parametrize("fault", [503, -1])
def test_close_interrupts_waits_and_requests(base: str, held: GraphStore, tmp_path: Path, fault: int) -> None:
    held.faults = [(fault, {"Retry-After": "500"})]
    view = open_view(tmp_path, f"{base}/store")
    sender = apply_until_closed(view, say(PAGE, "tea"))
    # It waits for the server, or as long as the server has asked it to.
    wait_until(lambda: not held.faults and (fault == -1 or count_tries(view) == 1))
    view.close()
    sender.join(PATIENCE_S)
    assert not sender.is_alive()
    with pytest.raises(StoreClosedError):
        view.commit({"log": 1})
    view.close()
    again = open_view(tmp_path, f"{base}/store")
    assert again.load_cursors() == {}
    again.close()


def test_code_points_are_written_so_that_no_literal_ends_early(base: str, held: GraphStore, tmp_path: Path) -> None:
    view = open_view(tmp_path, f"{base}/update")
    take(view, say(PAGE, "a\\u0022 . <urn:x> <urn:y> \\u0022b\\u000Ac\\u005Cd \\U0001F375 \\u0001 \\\\u0041"))
    # Oxigraph reads escapes where it should; servers that go by the letter of SPARQL 1.1 (19.2) do so before all else.
    assert write_update("urn:g", ['<urn:s> <urn:p> "a\\u0022b\\\\u0041"']).splitlines()[2] == (
        '<urn:s> <urn:p> "a\\"b\\\\u0041" .'
    )
    (literal,) = (quad.object for quad in held.store if isinstance(quad.object, Literal))
    assert literal.value == 'a" . <urn:x> <urn:y> "b\nc\\d 🍵 \x01 \\u0041'
    view.close()


def test_no_page_says_anything_but_triples_of_its_own(view: StoreView, held: GraphStore) -> None:
    url = "http://evil.example/> { } } ; DROP ALL #"
    values = ("<urn:x\\u003E \\u002E \\u007D \\u007D ; DROP ALL ; #>", '"x"@en\\u0020', '"fine"', "<urn:fine>")
    graph = make_graph_iri(url)
    lines = "".join(f"<urn:s> <urn:p> {value} <{graph}> .\n" for value in values)
    take(view, say(PAGE, "tea"))
    take(view, Outcome(url, 1.0, "log", 0, 1, Effect.REPLACE, statements={"rdfa": lines}), at=2)
    assert names_in(held, PAGE) == {"tea"}
    assert {str(quad.object) for quad in held.store.quads_for_pattern(None, None, None, NamedNode(graph))} == {
        '"fine"',
        "<urn:fine>",
    }
    assert view.problem == ""


def test_an_update_is_one_request_in_parts_that_parsers_can_take() -> None:
    text = write_update("urn:g", [f'<urn:s> <urn:p> "{n}"' for n in range(2500)])
    assert text.count("CLEAR SILENT GRAPH <urn:g>") == 1
    assert write_update("urn:g", []) == "DROP SILENT GRAPH <urn:g>"
    assert [part.count("<urn:s>") for part in text.split("INSERT DATA")] == [0, 1000, 1000, 500]


@pytest.mark.parametrize(
    ("url", "is_graph_store"),
    [
        ("http://localhost:8890/sparql-graph-crud-auth", True),
        ("http://localhost:8890/sparql-auth", False),
        ("http://localhost:3030/ds/data", True),
        ("http://localhost:3030/ds/update", False),
        ("http://localhost:7200/repositories/r/rdf-graphs/service", True),
        ("http://localhost:7200/repositories/r/statements", False),
        ("https://example.org/rdf-graph-store?key=1", True),
        ("gsp+https://example.org/ds", True),
        ("update+https://example.org/store", False),
    ],
)
def test_the_url_tells_the_protocol(url: str, is_graph_store: bool) -> None:
    address = read_address(url)
    assert address.is_graph_store is is_graph_store
    assert "+" not in address.name
    check_store_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8890/sparql",
        "ftp://u:s3cret@example.org/",
        "http://",
        "http://u:s3cret@example.org:port/",
        "http://u:s3c/ret@example.org/",
        "http://u:s3c%0Aret@example.org/",
        "http://u:s3cret#x@example.org/",
        "http://[::1/",
        "http://example.org/sparql#x",
        "gsp+http://example.org/repositories/r/statements",
        "gsp+ftp://example.org/",
    ],
)
def test_what_is_no_address_is_said_in_one_line_without_the_password(url: str) -> None:
    with pytest.raises(UsageError, match=r"^--store") as raised:
        check_store_url(url)
    assert "\n" not in str(raised.value)
    assert "s3c" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_credentials_of_url_environment_and_netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".netrc").write_text("machine example.org login carol password three\n")
    (tmp_path / ".netrc").chmod(0o600)
    assert find_credentials("example.org", "") == Credentials("carol", "three")
    assert find_credentials("example.com", "") is None
    monkeypatch.setenv("RDFSPIDER_STORE_USER", "bob")
    monkeypatch.setenv("RDFSPIDER_STORE_PASSWORD", "two")
    assert find_credentials("example.org", "") == Credentials("bob", "two")
    assert find_credentials("example.org", "al%3Aice:o%40ne") == Credentials("al:ice", "o@ne")
    assert "two" not in repr(find_credentials("example.org", ""))
    with pytest.raises(UsageError, match="control characters"):
        find_credentials("example.org", "alice:one%0D%0Atwo")


@pytest.mark.parametrize("algorithm", ["MD5", "SHA-256", "SHA-512-256"])
def test_digest_authentication(base: str, held: GraphStore, tmp_path: Path, algorithm: str) -> None:
    held.credentials, held.algorithm = "Zoë:s3c:ret", algorithm
    view = open_view(tmp_path, base.replace("//", "//Zo%C3%AB:s3c:ret@") + "/store")
    for time_of_page in range(1, 6):
        take(view, say(PAGE, f"tea {time_of_page}", time=time_of_page))
    view.close()
    assert names_in(held, PAGE) == {"tea 5"}
    # A nonce serves until the server wants another; Basic, which would tell the password, is not used where a digest will do.
    assert [seen.status for seen in held.seen] == [401, 201, 201, 201, 401, 201, 201]
    assert not [seen for seen in held.seen if seen.authorization.startswith("Basic")]
    held.credentials = "Zoë:other"
    wrong = open_view(tmp_path / "other", base.replace("//", "//Zo%C3%AB:wrong@") + "/store")
    sender = apply_until_closed(wrong, say(PAGE, "cup", time=9))
    wait_until(lambda: count_tries(wrong) == 1)
    assert "refuses the user and password (401)" in wrong.problem
    wrong.close()
    sender.join()


@pytest.mark.parametrize(
    ("algorithm", "response"),
    [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ],
)
def test_digests_of_these_tests_are_those_of_rfc_7616(algorithm: str, response: str) -> None:
    # The example of section 3.9.1.
    said = {
        "realm": "http-auth@example.org",
        "uri": "/dir/index.html",
        "algorithm": algorithm,
        "nonce": "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
        "nc": "00000001",
        "cnonce": "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
        "qop": "auth",
    }
    assert make_digest("Mufasa:Circle of Life", "GET", said) == response


@pytest.fixture(scope="module")
def virtuoso(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Virtuoso]:
    with run_virtuoso(tmp_path_factory.mktemp("virtuoso")) as server:
        yield server


VIRTUOSO_PATHS = pytest.mark.parametrize("path", ["/sparql-graph-crud-auth", "/sparql-auth"])


def virtuoso_url(server: Virtuoso, path: str, password: str = PASSWORD) -> str:
    return f"http://{USER}:{quote(password, safe='')}@127.0.0.1:{server.port}{path}"


@VIRTUOSO_PATHS
def test_virtuoso_holds_what_pages_say(
    virtuoso: Virtuoso, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    page, other = f"http://a.example{path}?x=1&y=é", f"http://b.example{path}"
    view = open_view(tmp_path, virtuoso_url(virtuoso, path))
    take(view, say(page, "tea", "Grüner Tee 🍵", 'quoted \\"tea\\"\\n', "\\\\u0041"), say(other, "cup"))
    triples = virtuoso.read_graph(page)
    assert {triple for triple in triples if '"' in triple} == {
        f'<{page}> <{NAME}> "{value}"' for value in ("tea", "Grüner Tee 🍵", 'quoted \\"tea\\"\\n', "\\\\u0041")
    }
    assert len(triples) == 5
    assert any(triple.startswith("<genid:") for triple in triples)
    # Virtuoso hangs up after two seconds without a request: that is no failure, after which one would wait.
    waited: list[float] = []
    monkeypatch.setattr(view._closing, "wait", waited.append)
    time.sleep(2.2)
    take(view, say(page, "pot", time=2), say(other, time=2, effect=Effect.REMOVE), at=2)
    assert waited == []
    assert {triple for triple in virtuoso.read_graph(page) if '"' in triple} == {f'<{page}> <{NAME}> "pot"'}
    assert virtuoso.read_graph(other) == set()
    view.forget(lambda url: url == page)
    assert virtuoso.read_graph(page) == set()
    assert view.problem == ""
    view.close()


@VIRTUOSO_PATHS
def test_virtuoso_takes_pages_that_its_parser_would_not(virtuoso: Virtuoso, tmp_path: Path, path: str) -> None:
    page = f"http://large.example{path}"
    view = open_view(tmp_path, virtuoso_url(virtuoso, path))
    take(view, say(page, *(f"value {n}" for n in range(6000))))
    assert view.problem == ""
    assert len(virtuoso.read_graph(page)) == 6001
    view.close()


@VIRTUOSO_PATHS
def test_virtuoso_keeps_no_half_of_a_page_that_it_refuses(virtuoso: Virtuoso, tmp_path: Path, path: str) -> None:
    bad, good = f"http://bad.example{path}", f"http://good.example{path}"
    view = open_view(tmp_path, virtuoso_url(virtuoso, path))
    take(view, say(bad, "old"), say(good, "old"))
    # The one is too much for its updates, the other for its graph store; it has done a part of the update when it finds out.
    duration = f'<{bad}> <urn:p> "PT15M"^^<http://www.w3.org/2001/XMLSchema#duration> <{bad}> .\n'
    language = f'<{bad}> <urn:p> "x"@en-{"a" * 300} <{bad}> .\n'
    lines = "".join(f'<{bad}> <urn:p> "{n}" <{bad}> .\n' for n in range(1500))
    statements = {"rdfa": lines + (duration if path == "/sparql-auth" else language)}
    take(view, Outcome(bad, 2.0, "log", 0, 1, Effect.REPLACE, statements=statements), say(good, "new", time=2), at=2)
    assert f"does not take 1 page; the last: {bad} (answers 500 Internal Server Error" in view.problem
    assert virtuoso.read_graph(bad) == set()
    assert any('"new"' in triple for triple in virtuoso.read_graph(good))


@VIRTUOSO_PATHS
def test_virtuoso_with_a_wrong_password(virtuoso: Virtuoso, tmp_path: Path, path: str) -> None:
    view = open_view(tmp_path, virtuoso_url(virtuoso, path, "s3cret"))
    sender = apply_until_closed(view, say(OTHER, "tea"))
    wait_until(lambda: count_tries(view) > stores.TRIES_ANSWERED)
    assert view.problem.startswith(f"{view.name} refuses the user and password (401); tried ")
    assert view.name == f"http://127.0.0.1:{virtuoso.port}{path}"
    view.close()
    sender.join()
    assert virtuoso.read_graph(OTHER) == set()
