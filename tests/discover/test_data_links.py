"""Links inside the data: by predicates, by queries, and to the namespaces of the terms that it is written in."""

import pytest

from rdfspider.config import DATA_LINKS
from rdfspider.discover.data_links import (
    MAX_DATA_LINKS,
    MAX_ONTOLOGIES_PER_PAGE,
    MAX_ONTOLOGIES_PER_SITE,
    DataLinks,
    Ontologies,
    check_query,
    find_query,
    flatten_query,
    run_query,
)

GRAPH = "<http://g.org/>"
SEE = "http://www.w3.org/2000/01/rdf-schema#seeAlso"


def line(predicate: str, obj: str) -> str:
    return f"<http://s.org/> <{predicate}> {obj} {GRAPH} .\n"


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        (line(SEE, "<http://a.org/é?x=1#y>"), ["http://a.org/é?x=1#y"]),
        (line("http://purl.org/rss/1.0/link", '"http://a.org/x"'), ["http://a.org/x"]),
        (line("http://schema.org/url", '"http://a.org/"^^<http://x.org/t>'), ["http://a.org/"]),
        (line("http://schema.org/url", '"http://a.org/"@en-GB'), ["http://a.org/"]),
        (line("http://schema.org/url", '"\\n http://a.org/x \\t"@en'), ["http://a.org/x"]),
        (line("http://schema.org/url", '"http://a.org/ and more"@en'), []),
        (line("http://schema.org/url", '"http://a.org/\\"x"'), []),
        (line("http://schema.org/url", '"see http://a.org/"'), []),
        (line(SEE, "<urn:x>"), []),
        (line(SEE, "_:b1"), []),
        (line(SEE + "x", "<http://a.org/>"), []),
    ],
)
def test_objects_of_the_predicates_that_are_addresses(statement: str, found: list[str]) -> None:
    assert DataLinks(DATA_LINKS).find(["", statement + statement]) == found


def test_own_predicates_take_the_place_of_the_usual_ones() -> None:
    data = line("http://x.org/p(1)", "<http://a.org/>") + line(SEE, "<http://b.org/>")
    assert DataLinks(["http://x.org/p(1)"]).find([data]) == ["http://a.org/"]


def test_a_page_of_links_is_cut() -> None:
    data = "".join(line(SEE, f"<http://a.org/{number}>") for number in range(MAX_DATA_LINKS + 10))
    assert len(DataLinks(DATA_LINKS).find([data])) == MAX_DATA_LINKS


QUERY = "PREFIX s: <http://schema.org/> SELECT ?a ?b { ?a s:url ?b }"


def test_a_query_is_told_from_predicates() -> None:
    assert find_query([QUERY]) == QUERY
    assert not find_query(DATA_LINKS)
    assert not find_query(["http://example.org/SELECT"])


def test_every_iri_of_the_results_is_a_link() -> None:
    data = line("http://schema.org/url", "<http://a.org/>") + line("http://schema.org/url", '"text"')
    assert run_query(QUERY, "http://g.org/", data) == ["http://s.org/", "http://a.org/"]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT ?x {", "error at 1:"),
        ("PREFIX a: <http://a.org/> ASK { ?s ?p ?o }", "no SELECT"),
        ("SELECT ?x { SERVICE <http://a.org/> { ?x ?y ?z } }", "SERVICE"),
        ("SELECT ?x { FILTER(1<2)service silent?s{ ?x ?y ?z } }", "SERVICE"),
        ("SELECT ?x { ?x ?y ?z FILTER(" + "(" * 5000, "deeper"),
        ("SELECT ?x { ?x ?y '" + "x" * 20_000 + "' }", "characters"),
    ],
)
def test_a_query_that_cannot_be_used_is_refused(query: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        check_query(query)


def test_words_that_look_like_others_are_allowed() -> None:
    check_query(
        "PREFIX s: <http://a.org/service> SELECT ?service { ?service a s:SERVICE ; s:x 'SERVICE <a> {' } # SERVICE"
    )


def test_a_query_fits_on_a_line() -> None:
    query = "SELECT ?x # all\n  { ?x <http://a.org/#y>  'a  #b' }"
    assert flatten_query(query) == "SELECT ?x   { ?x <http://a.org/#y> 'a  #b' }"


TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def state(predicate: str, obj: str = '"x"') -> str:
    return f"<http://s.org/a/b> <{predicate}> {obj} <http://g.org/> .\n"


def test_predicates_and_classes_have_namespaces() -> None:
    data = state("http://a.org/ns#p") + state("http://b.org/ns/p") + state(TYPE, "<http://c.org/C>")
    data += (
        state("http://a.org/ns#q", "<http://object.org/x#y>")
        + state("urn:x:y")
        + state("http://d.org")
        + state(TYPE, "_:b")
    )
    found = Ontologies().find("s.org", [data])
    assert found == [
        "http://a.org/ns",
        "http://b.org/ns/",
        "http://c.org/",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns",
    ]


def test_each_is_found_once() -> None:
    ontologies = Ontologies()
    assert ontologies.find("s.org", [state("http://a.org/ns#p")]) == ["http://a.org/ns"]
    assert ontologies.find("s.org", [state("http://a.org/ns#q"), state("http://b.org/p")]) == ["http://b.org/"]


def test_a_page_with_a_namespace_a_line_brings_a_few() -> None:
    ontologies = Ontologies()
    data = "".join(state(f"http://n{number}.org/p") for number in range(50))
    assert len(ontologies.find("s.org", [data])) == MAX_ONTOLOGIES_PER_PAGE
    # What was not taken may come with another page.
    assert len(ontologies.find("s.org", [data])) == MAX_ONTOLOGIES_PER_PAGE


def test_no_site_uses_up_the_ontologies_of_all() -> None:
    ontologies = Ontologies()
    pages = ["".join(state(f"http://n{page}-{number}.org/p") for number in range(20)) for page in range(50)]
    assert sum(len(ontologies.find("a.org", [data])) for data in pages) == MAX_ONTOLOGIES_PER_SITE
    assert len(ontologies.find("b.org", [pages[-1]])) == MAX_ONTOLOGIES_PER_PAGE


def test_a_host_that_no_dns_has_is_left_out() -> None:
    assert Ontologies().find("s.org", [state(f"http://{'a.' * 200}org/p")]) == []
