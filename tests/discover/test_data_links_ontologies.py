"""The namespaces of the terms that data is written in."""

from rdfspider.discover.data_links import MAX_PER_PAGE, MAX_PER_SITE, Ontologies

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
    found = Ontologies().find("s.org", [data])
    assert found == [
        "http://a.org/ns",
        "http://b.org/ns/",
        "http://c.org/",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns",
    ]


def test_each_is_found_once() -> None:
    ontologies = Ontologies()
    assert ontologies.find("s.org", [line("http://a.org/ns#p")]) == ["http://a.org/ns"]
    assert ontologies.find("s.org", [line("http://a.org/ns#q"), line("http://b.org/p")]) == ["http://b.org/"]


def test_a_page_with_a_namespace_a_line_brings_a_few() -> None:
    ontologies = Ontologies()
    data = "".join(line(f"http://n{number}.org/p") for number in range(50))
    assert len(ontologies.find("s.org", [data])) == MAX_PER_PAGE
    # What was not taken may come with another page.
    assert len(ontologies.find("s.org", [data])) == MAX_PER_PAGE


def test_no_site_uses_up_the_ontologies_of_all() -> None:
    ontologies = Ontologies()
    pages = ["".join(line(f"http://n{page}-{number}.org/p") for number in range(20)) for page in range(50)]
    assert sum(len(ontologies.find("a.org", [data])) for data in pages) == MAX_PER_SITE
    assert len(ontologies.find("b.org", [pages[-1]])) == MAX_PER_PAGE


def test_a_host_that_no_dns_has_is_left_out() -> None:
    assert Ontologies().find("s.org", [line(f"http://{'a.' * 200}org/p")]) == []
