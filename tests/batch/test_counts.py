from rdfspider.batch.counts import BatchStatistics, PageCounts, count_statements
from rdfspider.records import Problem

PAGE = """\
_:a <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Book> <http://e.org/> .
_:a <http://schema.org/name> "a <http://schema.org/no> b" <http://e.org/> .
<http://e.org/#b> <http://schema.org/name> <http://e.org/c> <http://e.org/> .
<http://e.org/#b> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> _:c <http://e.org/> .
"""


def test_types_and_properties_of_a_page() -> None:
    assert count_statements(PAGE) == PageCounts({"http://schema.org/Book": 1}, {"http://schema.org/name": 2})
    assert count_statements("") == PageCounts({}, {})


def test_pages_add_up() -> None:
    statistics = BatchStatistics()
    statistics.add_page(
        {"rdfa": 2, "jsonld": 3}, (Problem("iri-dropped", "…", "rdfa", 4),), PageCounts({"T": 1}, {"p": 2})
    )
    statistics.add_page({"rdfa": 1}, (Problem("charset", "…"),), PageCounts({"T": 2}, {"q": 1}))
    statistics.add_page({}, (), None)
    assert (statistics.pages, statistics.pages_with_data) == (3, 2)
    assert statistics.quads == {"rdfa": 3, "jsonld": 3}
    assert statistics.pages_by_syntax == {"rdfa": 2, "jsonld": 1}
    assert statistics.problems == {"rdfa": 4, "page": 1}
    assert (statistics.types, statistics.properties) == ({"T": 3}, {"p": 2, "q": 1})
