import sqlite3
import tempfile
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, DefaultGraph, NamedNode, RdfFormat, Store, parse

from rdfspider.errors import RdfspiderError
from rdfspider.index.quads.selection import Selection, is_on_site, is_page, read_pages, read_quads, restore_blank_nodes
from rdfspider.vocabulary.terms import FETCHES_GRAPH, make_graph_iri

S = "http://schema.org/"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
NODE = "genid:48a4e8612952075a"
ONE, TWO = "https://one.example/a", "https://www.two.example/b"
PAGES = f"""\
<https://one.example/#ada> <{TYPE}> <{S}Person> <{ONE}> .
<https://one.example/#ada> <{S}address> <{NODE}/n1> <{ONE}> .
<{NODE}/n1> <{S}addressLocality> "London" <{ONE}> .
<{NODE}/n2> <{TYPE}> <{S}Book> <{ONE}> .
<{NODE}/n2> <{S}author> <https://one.example/#ada> <{ONE}> .
<https://one.example/#ada> <{S}name> "Ada" <{TWO}> .
<https://two.example/#shop> <http://xmlns.com/foaf/0.1/name> "Shop" <{TWO}> .
"""


@pytest.fixture
def store() -> Store:
    """Two pages, their merge, and the index's own graphs."""
    made = Store()
    made.load(PAGES.encode(), RdfFormat.N_QUADS)
    triples = "".join(line.rpartition(" <")[0] + " .\n" for line in PAGES.splitlines())
    made.load(triples.encode(), RdfFormat.N_QUADS)
    for graph in (FETCHES_GRAPH, "urn:rdfspider:another"):
        made.load(f'<{ONE}> <urn:x> "internal" <{graph}> .\n'.encode(), RdfFormat.N_QUADS)
    return made


def lines(store: Store, **selection: object) -> set[str]:
    pages = list(read_pages(store, Selection(**selection)))  # type: ignore[arg-type]
    assert len({page.graph for page in pages}) == len(pages)
    found = [line for page in pages for line in page.nquads.decode().splitlines()]
    assert len(set(found)) == len(found)
    return set(found)


def test_everything_is_each_page_as_it_said_it_without_the_merge_and_internal_graphs(store: Store) -> None:
    expected = PAGES.replace(f"<{NODE}/n", "_:p48a4e8612952075an").replace("n1>", "n1").replace("n2>", "n2")
    assert lines(store) == set(expected.splitlines())


def test_a_site_is_a_host_and_the_hosts_below_it(store: Store) -> None:
    assert {page.graph for page in read_pages(store, Selection(site="two.example"))} == {TWO}
    assert {page.graph for page in read_pages(store, Selection(site="www.two.example"))} == {TWO}
    assert lines(store, site="wo.example") == set()


def test_a_page_alone(store: Store) -> None:
    assert {page.graph for page in read_pages(store, Selection(page=TWO))} == {TWO}
    assert lines(store, page="https://one.example/none") == set()
    assert lines(store, page=FETCHES_GRAPH) == set()


def test_a_type_brings_all_pages_that_speak_of_the_thing_and_what_hangs_on_it(store: Store) -> None:
    found = lines(store, types=frozenset({f"{S}Person"}))
    assert found == {
        f"<https://one.example/#ada> <{TYPE}> <{S}Person> <{ONE}> .",
        f"<https://one.example/#ada> <{S}address> _:p48a4e8612952075an1 <{ONE}> .",
        f'_:p48a4e8612952075an1 <{S}addressLocality> "London" <{ONE}> .',
        f'<https://one.example/#ada> <{S}name> "Ada" <{TWO}> .',
    }
    assert lines(store, types=frozenset({f"{S}Person"}), site="two.example") == {
        f'<https://one.example/#ada> <{S}name> "Ada" <{TWO}> .'
    }
    assert lines(store, types=frozenset({f"{S}Person"}), page=TWO) == lines(
        store, types=frozenset({f"{S}Person"}), site="two.example"
    )


def test_an_ontology_is_met_by_types_and_by_properties(store: Store) -> None:
    assert lines(store, terms=frozenset({"http://xmlns.com/foaf/0.1/name"})) == {
        f'<https://two.example/#shop> <http://xmlns.com/foaf/0.1/name> "Shop" <{TWO}> .'
    }
    assert len(lines(store, terms=frozenset({f"{S}Book"}))) == 2
    both = {"types": frozenset({f"{S}Person"}), "terms": frozenset({f"{S}address"})}
    assert len(lines(store, **both)) == 4
    assert lines(store, types=frozenset({f"{S}Person"}), terms=frozenset({f"{S}isbn"})) == set()


def test_the_chosen_things_are_named(store: Store) -> None:
    (page,) = read_pages(store, Selection(types=frozenset({f"{S}Book"})))
    assert page.things == {"_:p48a4e8612952075an2"}


def test_quads_have_blank_nodes(store: Store) -> None:
    quads = list(read_quads(store, Selection(types=frozenset({f"{S}Book"}))))
    assert {quad.subject for quad in quads} == {BlankNode("p48a4e8612952075an2")}
    assert {quad.graph_name for quad in quads} == {NamedNode(ONE)}


def test_rings_of_blank_nodes_end() -> None:
    ring = Store()
    for graph in (f" <{ONE}>", ""):
        ring.load(
            f"<{NODE}/n1> <{S}a> <{NODE}/n2>{graph} .\n<{NODE}/n2> <{S}b> <{NODE}/n1>{graph} .".encode(),
            RdfFormat.N_QUADS,
        )
        ring.load(f"<{NODE}/n1> <{TYPE}> <{S}Thing>{graph} .".encode(), RdfFormat.N_QUADS)
    assert len(lines(ring, types=frozenset({f"{S}Thing"}))) == 3


@pytest.mark.parametrize(
    "literal",
    [
        f"<{NODE}/n1> <{ONE}> .",
        f"<genid:iri/x> <{NODE}/n1>",
        f'\\" <{NODE}/n1> .',
        f"line\\n<{NODE}/n1> <x:y>",
    ],
)
def test_text_that_looks_like_a_blank_node_stays(literal: str) -> None:
    line = f'<{NODE}/n1> <{S}text> "{literal}" <{ONE}> .\n'
    assert restore_blank_nodes(line.encode()).decode() == line.replace(f"<{NODE}/n1>", "_:p48a4e8612952075an1", 1)
    assert list(parse(restore_blank_nodes(line.encode()), RdfFormat.N_QUADS))


def test_a_datatype_is_no_blank_node() -> None:
    line = f'<{ONE}> <{S}text> "x"^^<{NODE}/n1> <{ONE}> .\n'
    assert restore_blank_nodes(line.encode()).decode() == line


def test_blank_nodes_with_labels_of_others_and_stated_iris_come_back() -> None:
    line = f"<{NODE}/xmy%2Enode> <{S}about> <genid:iri/mine> <{ONE}> .\n"
    restored = restore_blank_nodes(line.encode()).decode()
    assert restored == f"_:p48a4e8612952075axmy.node <{S}about> <genid:mine> <{ONE}> .\n"


def test_where_things_are_noted_may_be_full(store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    connect = sqlite3.connect

    def connect_to_small_disk(name: str, **options: object) -> sqlite3.Connection:
        connection = connect(name, **options)  # type: ignore[call-overload]
        connection.execute("PRAGMA max_page_count = 3")
        return connection  # type: ignore[no-any-return]

    monkeypatch.setattr(sqlite3, "connect", connect_to_small_disk)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    triples = "".join(f"<https://x.example/{at}> <{TYPE}> <{S}Person> .\n" for at in range(2000))
    store.load(triples.encode(), RdfFormat.N_QUADS)
    with pytest.raises(RdfspiderError, match="temporary files: database or disk is full"):
        lines(store, types=frozenset({f"{S}Person"}))


def test_a_page_that_is_called_like_a_graph_of_ours_is_a_page() -> None:
    assert is_page(NamedNode(make_graph_iri(FETCHES_GRAPH)))
    assert is_page(NamedNode("https://one.example/"))
    assert not is_page(NamedNode(FETCHES_GRAPH))
    assert not is_page(DefaultGraph())


def test_hosts_of_sites() -> None:
    assert is_on_site("https://a.example:8080/x", "a.example")
    assert is_on_site("https://b.a.example/", "a.example")
    assert not is_on_site("https://ba.example/", "a.example")
    assert not is_on_site("urn:a.example", "a.example")
