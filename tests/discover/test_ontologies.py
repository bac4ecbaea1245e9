"""The namespaces of the terms that data is written in."""

from rdfspider.discover.ontologies import MAX_PER_PAGE, Ontologies

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def line(predicate: str, obj: str = '"x"') -> str:
    return f"<http://s.org/a/b> <{predicate}> {obj} <http://g.org/> .\n"


def test_predicates_and_classes_have_namespaces() -> None:
    data = line("http://a.org/ns#p") + line("http://b.org/ns/p") + line(TYPE, "<http://c.org/C>")
    data += (
        line("http://a.org/ns#q", "<http://object.org/x#y>")
        + line("urn:x:y")
        + line("http://d.org")
        + line(TYPE, "_:b")
    )
    found = Ontologies().find([data])
    assert found == [
        "http://a.org/ns",
        "http://b.org/ns/",
        "http://c.org/",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns",
    ]


def test_each_is_found_once() -> None:
    ontologies = Ontologies()
    assert ontologies.find([line("http://a.org/ns#p")]) == ["http://a.org/ns"]
    assert ontologies.find([line("http://a.org/ns#q"), line("http://b.org/p")]) == ["http://b.org/"]


def test_a_page_with_a_namespace_a_line_brings_a_few() -> None:
    ontologies = Ontologies()
    data = "".join(line(f"http://n{number}.org/p") for number in range(50))
    assert len(ontologies.find([data])) == MAX_PER_PAGE
    # What was not taken may come with another page.
    assert len(ontologies.find([data])) == MAX_PER_PAGE


def test_a_host_that_no_dns_has_is_left_out() -> None:
    assert Ontologies().find([line(f"http://{'a.' * 200}org/p")]) == []
