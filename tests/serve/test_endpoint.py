"""The endpoint as clients find it: ways to ask, formats, graphs, what is refused, limits, and clients that leave."""

import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import pyoxigraph
import pytest
from pyoxigraph import NamedNode, RdfFormat, Store

from indexed import index_pages
from rdfspider import Crawl
from rdfspider.serve import limits
from serving import Serving, serve
from waiting import PATIENCE_S, wait_until

SELECT = "SELECT ?name { ?s schema:name ?name } ORDER BY ?name"
CONSTRUCT = "CONSTRUCT { ?s schema:name ?name } { ?s schema:name ?name }"
# Many thousand millions of rows.
SLOW = f"SELECT (COUNT(*) AS ?n) {{ {' '.join(f'?s{at} ?p{at} ?o{at} .' for at in range(12))} }}"
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
JSON, XML = "application/sparql-results+json", "application/sparql-results+xml"


def product(name: str, **more: str) -> dict[str, str]:
    return {"@context": "https://schema.org", "@id": f"#{name}", "@type": "Product", "name": name, **more}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    pages = {
        "https://tea.example/": product("tea", description="green\x01 leaves"),
        "https://oil.example/": product("oil", description="of olives", color="green"),
    }
    return index_pages(tmp_path_factory.mktemp("endpoint") / "c", pages)


@pytest.fixture(scope="module")
def site(crawl: Crawl) -> Iterator[Serving]:
    with serve(crawl) as serving:
        yield serving


@pytest.fixture(scope="module")
def open_site(crawl: Crawl) -> Iterator[Serving]:
    with serve(crawl, origins=("*",)) as serving:
        yield serving


def test_a_query_comes_in_three_ways(site: Serving) -> None:
    replies = [
        site.get("/sparql", query=SELECT),
        site.post("/sparql", query=SELECT),
        site.ask("POST", "/sparql", SELECT.encode(), {"Content-Type": "application/sparql-query; charset=UTF-8"}),
    ]
    for reply in replies:
        assert (reply.status, reply.headers["content-type"]) == (200, JSON)
        assert [row["name"]["value"] for row in reply.json["results"]["bindings"]] == ["oil", "tea"]
        assert "x-rdfspider-truncated" not in reply.headers


@pytest.mark.parametrize(
    ("accept", "of_select", "of_construct"),
    [
        ("", JSON, "text/turtle; charset=utf-8"),
        ("*/*", JSON, "text/turtle; charset=utf-8"),
        ("application/*", JSON, "application/n-triples"),
        (f"{XML};q=0.9, application/rdf+xml;q=0.9, */*;q=0.1", XML, "application/rdf+xml"),
        (f"{XML}, application/rdf+xml, */*", XML, "application/rdf+xml"),
        ("application/json", "application/json", "application/json"),
        ("text/plain", "text/plain; charset=utf-8", "text/plain; charset=utf-8"),
        (
            "text/tab-separated-values, application/n-quads",
            "text/tab-separated-values; charset=utf-8",
            "application/n-quads",
        ),
        ("text/csv;q=0.5, text/*;q=0.4, text/turtle;q=0", "text/csv; charset=utf-8", "text/n3; charset=utf-8"),
        ("image/png, text/csv;q=0.1, application/ld+json;q=0.1", "text/csv; charset=utf-8", "application/ld+json"),
    ],
)
def test_accept_says_which_format(site: Serving, accept: str, of_select: str, of_construct: str) -> None:
    headers = {"Accept": accept} if accept else {}
    assert site.get("/sparql", headers, query=SELECT).headers["content-type"] == of_select
    assert site.get("/sparql", headers, query=CONSTRUCT).headers["content-type"] == of_construct


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("text/turtle", RdfFormat.TURTLE),
        ("application/n-triples", RdfFormat.N_TRIPLES),
        ("application/rdf+xml", RdfFormat.RDF_XML),
        ("application/ld+json", RdfFormat.JSON_LD),
    ],
)
def test_triples_are_the_same_in_every_format(site: Serving, name: str, form: RdfFormat) -> None:
    reply = site.get("/sparql", {"Accept": name}, query=CONSTRUCT)
    found = {(quad.subject.value, quad.object.value) for quad in pyoxigraph.parse(reply.body, form)}
    assert found == {("https://tea.example/#tea", "tea"), ("https://oil.example/#oil", "oil")}


def test_a_parameter_or_a_suffix_comes_before_accept(site: Serving) -> None:
    for path, parameters in (("/sparql", {"format": "csv"}), ("/sparql", {"output": "text/csv"}), ("/sparql.csv", {})):
        reply = site.get(path, {"Accept": BROWSER}, query=SELECT, **parameters)
        assert (reply.headers["content-type"], reply.text) == ("text/csv; charset=utf-8", "name\r\noil\r\ntea\r\n")
    assert site.get("/sparql.json", query=CONSTRUCT).headers["content-type"] == "application/ld+json"
    reply = site.get("/sparql", query=SELECT, format="shapefile")
    assert (reply.status, "'shapefile'" in reply.text) == (400, True)


def test_csv_that_a_browser_downloads_holds_no_formulas(site: Serving) -> None:
    query = """SELECT ?a ?b { VALUES (?a ?b) { ("=1+1" "a, =b") ("-5" -5) ("+4.5e3" "@x") ("-1-1" "q\\"=q") ("" "\\r=x") } }"""
    plain = 'a,b\r\n=1+1,"a, =b"\r\n-5,-5\r\n+4.5e3,@x\r\n-1-1,"q""=q"\r\n,"\r=x"\r\n'
    disarmed = 'a,b\r\n\'=1+1,"a, =b"\r\n-5,-5\r\n+4.5e3,\'@x\r\n\'-1-1,"q""=q"\r\n,"\'\r=x"\r\n'
    assert site.get("/sparql.csv", query=query).text == plain
    for headers in ({"Accept": BROWSER}, {"Accept": "*/*", "Sec-Fetch-Mode": "navigate"}):
        assert site.get("/sparql", headers, query=query, format="csv").text == disarmed


def test_a_browser_is_shown_the_editor(site: Serving) -> None:
    for parameters in ({}, {"query": SELECT}):
        reply = site.get("/sparql", {"Accept": BROWSER}, **parameters)
        assert (reply.status, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert "access-control-allow-origin" not in reply.headers


def test_what_a_format_cannot_hold_is_said(site: Serving) -> None:
    for accept, query in (("text/csv", CONSTRUCT), ("application/rdf+xml", SELECT), ("image/png", SELECT)):
        reply = site.get("/sparql", {"Accept": accept}, query=query)
        assert (reply.status, reply.headers["content-type"]) == (406, "text/plain; charset=utf-8")
    # A suffix and a parameter are not mere preferences: a file is called by them.
    for form, query in (("nq", SELECT), ("ttl", SELECT), ("csv", CONSTRUCT), ("tsv", CONSTRUCT)):
        assert site.get(f"/sparql.{form}", query=query).status == 406
        assert site.get("/sparql", query=query, format=form).status == 406


def test_all_variables_are_in_the_order_of_the_query(site: Serving) -> None:
    query = "# SELECT *\nSELECT DISTINCT * { ?zebra schema:name ?name { SELECT * { ?zebra a ?kind } } }"
    assert site.get("/sparql.csv", query=query).text.split("\r\n")[0] == "zebra,name,kind"
    assert site.get("/sparql.json", query=query).json["head"]["vars"] == ["zebra", "name", "kind"]
    # Those that cannot be seen from outside are no columns.
    inner = "SELECT * { { SELECT (COUNT(*) AS ?n) ?b { ?a ?b ?c } GROUP BY ?b } BIND(?n * 2 AS ?a) MINUS { ?b a ?d } }"
    assert site.get("/sparql.json", query=inner).json["head"]["vars"] == ["n", "b", "a"]
    assert site.get("/sparql.json", query="SELECT * { }").json["head"]["vars"] == []


def test_rdf_xml_is_well_formed_or_refused(site: Serving) -> None:
    accept = {"Accept": "application/rdf+xml"}
    ElementTree.fromstring(site.get("/sparql", accept, query="CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }").body)
    nodes = site.get("/sparql", accept, query="CONSTRUCT { [] <urn:p> [ <http://x.example/é> '\\u0008<\\uFFFE' ] } {}")
    assert nodes.body.count(b"nodeID") == 3
    ElementTree.fromstring(nodes.body)
    reply = site.get("/sparql", accept, query="CONSTRUCT { <a> <http://x.example/1234> 1 } {}")
    assert (reply.status, "<http://x.example/1234>" in reply.text) == (406, True)


def test_the_graphs_of_the_protocol_take_the_place_of_those_of_the_query(site: Serving) -> None:
    def names(query: str, **graphs: str) -> list[str]:
        parameters = {name.replace("_", "-"): value for name, value in graphs.items()}
        return site.get("/sparql", query=query, format="csv", **parameters).text.split()[1:]

    tea, oil = "https://tea.example/", "https://oil.example/"
    everywhere = "SELECT ?name { GRAPH ?g { ?s schema:name ?name } }"
    assert names(SELECT, default_graph_uri=tea) == ["tea"]
    assert names(SELECT.replace("{", f"FROM <{tea}> {{", 1)) == ["tea"]
    assert names(SELECT.replace("{", f"FROM <{tea}> {{", 1), default_graph_uri=oil) == ["oil"]
    assert names(everywhere, default_graph_uri=oil) == []
    assert names(everywhere, named_graph_uri=oil) == ["oil"]
    assert names(SELECT, named_graph_uri=oil) == []
    assert site.get("/sparql", query=SELECT, **{"default-graph-uri": "not an IRI"}).status == 400


def test_a_relative_iri_is_relative_to_the_endpoint(site: Serving) -> None:
    reply = site.get("/sparql", query="SELECT (<x> AS ?iri) {}", format="csv")
    assert reply.text == f"iri\r\n{site.address}/x\r\n"


@pytest.mark.parametrize(
    ("method", "path", "kind", "body", "status"),
    [
        ("GET", "/sparql?query=", None, None, 400),
        ("GET", f"/sparql?query={quote('SELECT * {')}", None, None, 400),
        ("GET", f"/sparql?query={quote(SELECT)}&query={quote(SELECT)}", None, None, 400),
        ("GET", "/sparql?query=ASK%7B%7D%FF", None, None, 400),
        ("GET", "/sparql?update=CLEAR%20ALL", None, None, 403),
        ("GET", f"/sparql?query={quote('CLEAR ALL')}", None, None, 400),
        ("GET", f"/sparql?query={quote('SELECT * { SERVICE <http://127.0.0.1/> { ?s ?p ?o } }')}", None, None, 400),
        ("GET", "/sparql?query=ASK%7B%7D" + "&a=1" * 1001, None, None, 400),
        ("POST", "/sparql", "application/x-www-form-urlencoded", b"", 400),
        ("POST", f"/sparql?query={quote(SELECT)}", "application/x-www-form-urlencoded", b"query=ASK%7B%7D", 400),
        ("POST", "/sparql", "application/sparql-update", b"CLEAR ALL", 403),
        ("POST", "/sparql", "text/plain", b"ASK {}", 415),
        ("POST", "/sparql", "application/sparql-query; charset=utf-16", "ASK {}".encode("utf-16"), 415),
        ("POST", "/sparql", "application/sparql-query", b"ASK { ?s ?p '\xff' }", 400),
        ("POST", "/sparql", "application/sparql-query", b"#" * (3 << 20), 413),
        ("PUT", "/sparql", "application/sparql-query", b"ASK {}", 405),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    site: Serving, method: str, path: str, kind: str | None, body: bytes | None, status: int
) -> None:
    reply = site.ask(method, path, body, {"Content-Type": kind, "Accept": JSON} if kind else {"Accept": JSON})
    assert reply.status == status
    assert "Traceback" not in reply.text
    assert reply.text.count("\n") <= 1


def test_a_mistake_is_json_for_whoever_names_that(site: Serving) -> None:
    reply = site.get("/sparql", {"Accept": f"{JSON}, application/json"}, query="SELECT")
    assert (reply.status, reply.headers["content-type"]) == (400, "application/json")
    assert "not valid SPARQL" in reply.json["error"]


def test_words_are_found_by_the_text_service(site: Serving) -> None:
    query = "SELECT ?s { SERVICE <urn:rdfspider:text> { ?s text:query 'olives kind:entity' } }"
    assert site.get("/sparql.csv", query=query).text == "s\r\nhttps://oil.example/#oil\r\n"


def test_pages_of_any_site_may_read_where_all_are_allowed(open_site: Serving) -> None:
    site, origin = open_site, {"Origin": "https://elsewhere.example"}
    for path in (f"/sparql?query={quote(SELECT)}", "/sparql", "/sparql?query=x", "/.well-known/void"):
        headers = site.ask("GET", path, headers=origin).headers
        assert headers["access-control-allow-origin"] == "*"
        assert headers["cross-origin-resource-policy"] == "cross-origin"
        assert "x-rdfspider-truncated" in headers["access-control-expose-headers"].lower()
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    preflight = site.ask("OPTIONS", "/sparql", headers=origin | asked)
    assert preflight.status == 204
    assert "POST" in preflight.headers["access-control-allow-methods"]
    assert "content-type" in preflight.headers["access-control-allow-headers"].lower()
    for path in ("/", "/login"):
        assert "access-control-allow-origin" not in site.ask("GET", path, headers=origin).headers


@pytest.mark.parametrize(("accept", "kind"), [(JSON, "text/plain; charset=utf-8"), ("application/json",) * 2])
def test_pages_of_any_site_may_read_why_they_are_refused(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch, accept: str, kind: str
) -> None:
    """What the server refuses before the endpoint sees it: methods, long and slow bodies, too many or too fast requests."""
    everyone = ("*",)
    headers = {"Origin": "https://elsewhere.example", "Accept": accept, "Content-Type": "application/sparql-query"}
    replies = []
    with monkeypatch.context() as patch, serve(crawl, origins=everyone) as serving:
        replies += [serving.ask("PUT", path, b"ASK {}", headers) for path in ("/sparql", "/.well-known/void")]
        replies.append(serving.ask("POST", "/sparql", b"#" * (3 << 20), headers))
        patch.setattr(limits, "BODY_S", 0.1)
        replies.append(serving.ask("POST", "/sparql", None, headers | {"Content-Length": "10"}))
        patch.setattr(limits.RateLimit, "take", lambda *_, **__: 3.0)
        replies.append(serving.ask("GET", "/sparql?query=ASK%7B%7D", headers=headers))
    monkeypatch.setattr(limits, "MAX_CLIENT_HEAVY_UNDER_WAY", 0)
    with serve(crawl, origins=everyone) as serving:
        replies.append(serving.ask("GET", "/sparql?query=ASK%7B%7D", headers=headers))
    assert [reply.status for reply in replies] == [405, 405, 413, 408, 429, 503]
    for reply in replies:
        assert (reply.headers["access-control-allow-origin"], reply.headers["content-type"]) == ("*", kind)
        assert reply.headers["cross-origin-resource-policy"] == "cross-origin"
        assert reply.json["error"] if kind == "application/json" else reply.text.count("\n") == 1


def test_a_slash_at_the_end_is_the_same_address(open_site: Serving) -> None:
    site = open_site
    origin = {"Origin": "https://elsewhere.example"}
    for reply in (site.get("/sparql/", origin, query="ASK {}"), site.post("/sparql/", origin, query="ASK {}")):
        assert (reply.status, reply.json["boolean"]) == (200, True)
        assert reply.headers["access-control-allow-origin"] == "*"
    assert site.get("/sparql/", query="SELECT (<x> AS ?iri) {}", format="csv").text == f"iri\r\n{site.address}/x\r\n"
    browser = site.get("/sparql/", {"Accept": BROWSER}, query="ASK {}")
    assert (browser.status, browser.headers["location"]) == (307, f"{site.address}/sparql?query=ASK+%7B%7D")


def test_all_lines_of_accept_are_read(site: Serving) -> None:
    """A list may be sent in several lines, as RFC 9110 has it in section 5.3."""

    def ask(path: str, *accept: str) -> str:
        lines = "".join(f"Accept: {each}\r\n" for each in accept)
        with closing(socket.create_connection(("127.0.0.1", site.port), timeout=60)) as client:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{lines}Connection: close\r\n\r\n".encode())
            with client.makefile("rb") as stream:
                head = stream.read().partition(b"\r\n\r\n")[0].decode().lower()
        return next(line.partition(": ")[2] for line in head.split("\r\n") if line.startswith("content-type:"))

    query = f"/sparql?query={quote(SELECT)}"
    assert ask(query, "image/png", "text/csv") == "text/csv; charset=utf-8"
    assert ask(query, "text/csv;q=0.5", XML) == XML
    assert ask("/sparql", "text/csv;q=0.5", "text/html") == "text/html; charset=utf-8"
    assert ask("/sparql?query=x", JSON, "application/json") == "application/json"
    assert ask("/.well-known/void", "image/png", "application/n-triples") == "application/n-triples"
    for path in ("/search?q=tea", "/no/such/page"):
        assert ask(path, "text/html;q=0.5", "application/json") == "application/json"


def test_pages_of_allowed_origins_may_read_and_no_others(crawl: Crawl) -> None:
    path = f"/sparql?query={quote(SELECT)}"
    with serve(crawl, origins=("https://app.example", "http://localhost:3000")) as serving:
        for origin in ("https://app.example", "http://localhost:3000"):
            reply = serving.ask("GET", path, headers={"Origin": origin})
            assert (reply.status, reply.headers["access-control-allow-origin"]) == (200, origin)
            assert "origin" in reply.headers["vary"].lower()
        for origin in ("https://elsewhere.example", "http://app.example", "https://app.example.evil.example", "null"):
            reply = serving.ask("GET", path, headers={"Origin": origin})
            assert (reply.status, "access-control-allow-origin" in reply.headers) == (403, False)
            assert "origin" in reply.headers["vary"].lower()


def test_pages_of_other_sites_may_not_read(site: Serving) -> None:
    origin = {"Origin": "https://elsewhere.example"}
    paths = (f"/sparql?query={quote(SELECT)}", "/sparql", "/sparql?query=x", "/.well-known/void")
    assert site.get("/sparql", query=SELECT).json["results"]["bindings"]
    preflight = site.ask("OPTIONS", "/sparql", headers=origin | {"Access-Control-Request-Method": "POST"})
    replies = [preflight, *(site.ask("GET", path, headers=origin) for path in paths)]
    assert preflight.headers["allow"] == "GET, HEAD, POST, OPTIONS"
    for reply in replies:
        assert not [name for name in reply.headers if name.startswith("access-control-")]
        assert reply.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    ("accept", "kind", "form"),
    [
        (BROWSER.replace("text/html,", ""), "text/turtle; charset=utf-8", RdfFormat.TURTLE),
        ("application/n-quads, text/turtle;q=0.6", "application/n-quads", RdfFormat.N_TRIPLES),
        ("application/ld+json", "application/ld+json", RdfFormat.JSON_LD),
        ("application/rdf+xml", "application/rdf+xml", RdfFormat.RDF_XML),
    ],
)
def test_the_data_are_described(site: Serving, accept: str, kind: str, form: RdfFormat) -> None:
    void = "http://rdfs.org/ns/void#"
    reply = site.get("/.well-known/void", {"Accept": accept, "Host": f"localhost:{site.port}"})
    assert (reply.status, reply.headers["content-type"]) == (200, kind)
    found = Store()
    found.load(reply.body, form)
    data = NamedNode(f"http://localhost:{site.port}/.well-known/void#data")

    def get(name: str) -> set[str]:
        return {quad.object.value for quad in found.quads_for_pattern(data, NamedNode(void + name), None)}

    assert get("sparqlEndpoint") == {f"http://localhost:{site.port}/sparql"}
    assert get("uriLookupEndpoint") == {f"http://localhost:{site.port}/entity?iri="}
    assert (get("documents"), get("entities"), get("vocabulary")) == (
        {"2"},
        {"2"},
        {"http://schema.org/", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"},
    )
    partitions = (
        "?data void:classPartition [ void:class schema:Product ; void:entities 2 ] ; "
        "void:propertyPartition [ void:property schema:description ; void:triples 2 ] ; "
        "void:propertyPartition [ void:property schema:color ; void:triples 1 ]"
    )
    prefixes = {"void": void, "schema": "http://schema.org/"}
    assert bool(found.query(f"ASK {{ {partitions} }}", prefixes=prefixes))
    # Two types, two names, two descriptions and a colour, as SPARQL counts them.
    count = site.get("/sparql.csv", query="SELECT (COUNT(*) AS ?n) { ?s ?p ?o }").text.split()[1]
    assert (get("triples"), count) == ({"7"}, "7")


def test_without_an_index_nothing_is_asked_yet(tmp_path: Path) -> None:
    with serve(Crawl.create(tmp_path / "c", ["https://example.org/"])) as serving:
        reply = serving.get("/sparql", query=SELECT)
        assert (reply.status, str(tmp_path) in reply.text) == (503, False)
        assert "sparqlEndpoint" in serving.get("/.well-known/void").text
        assert "sd:endpoint" in serving.get("/sparql").text


def test_answers_end_at_the_limits_that_were_set(crawl: Crawl) -> None:
    with serve(crawl, query_rows=1) as serving:
        for path in ("/sparql.csv", "/sparql.nt"):
            reply = serving.get(path, query=SELECT if path.endswith("csv") else CONSTRUCT)
            assert reply.headers["x-rdfspider-truncated"] == "true"
            assert reply.text.strip().count("\n") == path.endswith("csv")
    with serve(crawl, query_timeout_s=0.7) as serving:
        reply = serving.get("/sparql", query=SLOW)
        assert (reply.status, "0.7 s" in reply.text) == (503, True)


def test_who_leaves_is_not_answered_any_more(crawl: Crawl) -> None:
    """All processes are busy with slow queries; pages are shown all the same, and other queries as soon as the clients leave."""
    with serve(crawl, query_timeout_s=600) as serving, ThreadPoolExecutor(1) as pool:
        serving.get("/sparql", query=SELECT)
        request = f"GET /sparql?query={quote(SLOW)} HTTP/1.1\r\nHost: localhost\r\nAccept: {JSON}\r\n\r\n".encode()
        cores, sparql = os.cpu_count() or 1, serving.site.indexes._get_sparql()
        clients = [socket.create_connection(("127.0.0.1", serving.port)) for _ in range(cores + 1)]
        for client in clients:
            client.sendall(request)
        wait_until(lambda: len(sparql._all) - len(sparql._idle) >= cores)
        waiting = pool.submit(serving.get, "/sparql", query=SELECT)
        wait_until(lambda: len(sparql._queue._waiting) >= 2)
        assert serving.get("/").status == 200
        assert not waiting.done()
        for client in clients:
            with closing(client):
                pass
        assert waiting.result(timeout=PATIENCE_S).status == 200
