"""What could be SERVICE to Oxigraph's parser is found, whatever it is disguised as; what only looks like it is left alone."""

import socket
import threading
from collections.abc import Iterator

import pytest
from pyoxigraph import Literal, NamedNode, Quad, Store

from rdfspider.errors import UsageError
from rdfspider.index.quads.sparql.query_text import check_kind, find_services, read_tokens
from rdfspider.vocabulary.prefixes import TEXT_NAMESPACE

PREFIXES = {"text": TEXT_NAMESPACE, "schema": "http://schema.org/", "a": "http://127.0.0.1:PORT/", "": "http://a/"}
# Each of these makes Oxigraph connect to a server inside.
DISGUISES = [
    "SELECT * { SERVICE <http://127.0.0.1:PORT/> { ?s ?p ?o } }",
    "SELECT * { service <http://127.0.0.1:PORT/> { ?s ?p ?o } }",
    "SELECT * { SeRvIcE SILENT <http://127.0.0.1:PORT/> { ?s ?p ?o } }",
    "SELECT * { SERVICE<http://127.0.0.1:PORT/>{ ?s ?p ?o } }",
    "SELECT * { SERVICE # a comment\n <http://127.0.0.1:PORT/> { ?s ?p ?o } }",
    "SELECT * { # SERVICE <urn:rdfspider:text> {\n SERVICE <http://127.0.0.1:PORT/> { ?s ?p ?o } }",
    "SELECT * { SERVICE a:x { ?s ?p ?o } }",
    "SELECT * { SERVICEa:x { ?s ?p ?o } }",
    "PREFIX SERVICEa: <http://a/> SELECT * { SERVICE a:x { ?s ?p ?o } }",
    "BASE <http://127.0.0.1:PORT/> SELECT * { SERVICE <x> { ?s ?p ?o } }",
    "SELECT * { SERVICE <http:\\u002F/127.0.0.1:PORT/> { ?s ?p ?o } }",
    "ASK { { SELECT * { SERVICE <http://127.0.0.1:PORT/> { ?s ?p ?o } } } }",
    "SELECT * { FILTER EXISTS { SERVICE <http://127.0.0.1:PORT/> { ?s ?p ?o } } }",
    "SELECT * { ?s ?p ?o FILTER NOT EXISTS { SERVICE <http://127.0.0.1:PORT/> { ?s ?p ?o } } }",
    "DESCRIBE ?s { SERVICE <http://127.0.0.1:PORT/> { ?s ?p ?o } }",
    "SELECT * { BIND('it\\'s SERVICE' AS ?x) SERVICE <http://127.0.0.1:PORT/> { ?s ?p ?o } }",
    "SELECT * { BIND('''a'b''' AS ?x) SERVICE <http://127.0.0.1:PORT/> { ?s ?p ?o } BIND('''a''' AS ?y) }",
    # Oxigraph needs no space between a number and a keyword.
    "SELECT * { ?s ?p 1SERVICE <http://127.0.0.1:PORT/> { ?s ?p ?o } }",
    # Less than, for Oxigraph; it could also be the IRI <?b)SERVICE#>.
    "SELECT * { BIND(1 AS ?a) BIND(2 AS ?b) FILTER(?a<?b)SERVICE#>\n<http://127.0.0.1:PORT/> { ?s ?p ?o } }",
    # The same with a quotation mark that an IRI could hold, so that all after it would be a string.
    "SELECT * { BIND(1 AS ?a) FILTER(?a<2&&'>'='>') SERVICE <http://127.0.0.1:PORT/> { ?s ?p ?o } BIND(' ' AS ?c) }",
    "SELECT * { BIND(1 AS ?a) FILTER(?a<2#>'''\n) SERVICE <http://127.0.0.1:PORT/> { ?s ?p ?o } #'''\n }",
]
# These are not valid for Oxigraph now, but another version may think otherwise.
DOUBTS = [
    "SELECT * { \\u0053ERVICE <http://127.0.0.1/> { ?s ?p ?o } }",
    "SELECT * { S\\U00000045RVICE <http://127.0.0.1/> { ?s ?p ?o } }",
    "SELECT * { BIND('\\u0027 AS ?x) SERVICE <http://127.0.0.1/> { ?s ?p ?o } }",
    "SELECT * { ?s ?p trueSERVICE <http://127.0.0.1/> { ?s ?p ?o } }",
    "SELECT * { ?s ?p a:b.SERVICE <http://127.0.0.1/> { ?s ?p ?o } }",
    "SELECT * { ?s ?p 'open SERVICE <http://127.0.0.1/> { ?s ?p ?o } }",
    "SELECT * { SERVICE <urn:rdfspider:texts> { ?s ?p ?o } }",
    "SELECT * { SERVICE SILENT <urn:rdfspider:text> { ?s text:query 'a' } }",
    "SELECT * { VALUES ?x { <http://127.0.0.1/> } SERVICE ?x { ?s ?p ?o } }",
    "SELECT * { VALUES ?x { <http://127.0.0.1/> } SERVICE?x{ ?s ?p ?o } }",
    "SERVICE",
    "service:a {",
]
HARMLESS = [
    "SELECT * { ?service a schema:Service ; schema:serviceType 'SERVICE <http://127.0.0.1/> {' }",
    "SELECT * { ?s ?p <http://127.0.0.1/service#x> } # SERVICE <http://127.0.0.1/> {",
    'SELECT * { GRAPH ?service { ?s ?p """a SERVICE " b""" } }',
    "PREFIX service: <urn:service#> SELECT * { ?s service:x 'x'@service }",
    "SELECT * { ?s ?p ?o FILTER(?o<5&&?o>3) } ORDER BY ?service",
    "SELECT * { ?s ?p 'it\\'s' , \"SERVICE\" , '''SERVICE''' }",
]


class Listener:
    """A server inside that notes who connects, and hangs up."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.connections = 0
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            connection.close()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    server = Listener()
    yield server
    server.close()


@pytest.mark.parametrize("query", DISGUISES)
def test_each_disguise_works_with_oxigraph_alone_and_is_refused_here(query: str, listener: Listener) -> None:
    query = query.replace("PORT", str(listener.port))
    prefixes = {name: iri.replace("PORT", str(listener.port)) for name, iri in PREFIXES.items()}
    node = NamedNode("http://a/")
    store = Store()
    store.extend([Quad(node, node, node), Quad(node, node, Literal(1))])
    try:
        answer = store.query(query, prefixes=prefixes)
        if not isinstance(answer, type(store.query("ASK {}"))):
            list(answer)  # type: ignore[call-overload]
    except OSError:
        pass
    assert listener.connections > 0
    with pytest.raises(UsageError, match=r"not allowed|two ways"):
        find_services(query, read_tokens(query))


@pytest.mark.parametrize("query", DOUBTS)
def test_what_might_become_service_is_refused(query: str) -> None:
    with pytest.raises(UsageError, match=r"not allowed|two ways"):
        find_services(query, read_tokens(query))


@pytest.mark.parametrize("query", HARMLESS)
def test_what_only_looks_like_service_is_let_through(query: str) -> None:
    assert find_services(query, read_tokens(query)) == []
    Store().query(query, prefixes={"schema": PREFIXES["schema"]})


def test_tokens_leave_nothing_out() -> None:
    text = "SELECT ?x { <http://a/#b> schema:name 'a # b'@en ; :p.q 1.5e3 . } # end"
    assert [token.text for token in read_tokens(text)] == (
        [*"SELECT ?x { <http://a/#b> schema:name".split(), "'a # b'", "@en", ";", ":p.q", "1.5e3", ".", "}"]
    )


@pytest.mark.parametrize(
    "update",
    [
        "INSERT DATA { <a:a> <a:b> <a:c> }",
        "prefix a: <a:> # DELETE\nBASE <a:> delete where { ?s ?p ?o }",
        "LOAD <http://127.0.0.1/>",
        "CLEAR ALL",
        "WITH <a:a> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
    ],
)
def test_updates_are_refused(update: str) -> None:
    with pytest.raises(UsageError, match="would change the data"):
        check_kind(update, read_tokens(update))


@pytest.mark.parametrize(
    "query",
    ["PREFIX insert: <a:> SELECT ?delete { ?insert insert:delete ?delete }", "ask{}", "SELECT*{}", "PREFIX", "", "{"],
)
def test_what_is_no_update_is_left_to_the_parser(query: str) -> None:
    check_kind(query, read_tokens(query))


def test_what_begins_like_no_query_is_told_where() -> None:
    query = "PREFIX a: <a:>\n # SELECT\n SELEC * { ?s ?p ?o }"
    with pytest.raises(UsageError, match=r"line 3, column 2: a query begins with SELECT, .* not with 'SELEC'"):
        check_kind(query, read_tokens(query))
