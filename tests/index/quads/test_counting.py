import pytest
from pyoxigraph import Literal, RdfFormat, Store

from rdfspider.index.quads.counting import MergeCounts, count_merge, count_references, count_values, list_references
from rdfspider.vocabulary.terms import FETCHES_GRAPH

S = "http://schema.org/"


@pytest.fixture(scope="module")
def store() -> Store:
    found = Store()
    lines = [
        f"<urn:s{at}> <{S}{name}> <urn:{to}> .\n" for at in range(30) for name, to in (("about", "a"), ("by", "b"))
    ]
    lines += [f"<urn:t{at}> <{S}by> <urn:a> .\n" for at in range(12)]
    lines += [f'<urn:a> <{S}name> "A" <https://example.org/{at}> .\n' for at in range(5)]
    lines += [f'<urn:a> <{S}name> "B" <https://example.org/1> .\n', f'<urn:a> <{S}name> "C" <{FETCHES_GRAPH}> .\n']
    found.bulk_load("".join(lines).encode(), RdfFormat.N_QUADS)
    return found


def test_each_is_counted_and_listed_once_wherever_pages_begin(store: Store) -> None:
    counts, has_more = count_references(store, ["urn:a", "urn:b"], 1000)
    assert [(count.property, count.node, count.uses) for count in counts] == [
        (f"{S}about", "urn:a", 30),
        (f"{S}by", "urn:a", 12),
        (f"{S}by", "urn:b", 30),
    ]
    assert not has_more
    nodes = ["urn:a", "urn:b"]
    listed = [quad for start in range(0, 80, 7) for quad in list_references(store, nodes, counts, start, 7)]
    assert len(listed) == len(set(listed)) == 72
    assert [quad.predicate.value for quad in listed] == sorted(quad.predicate.value for quad in listed)
    assert list(list_references(store, nodes, counts, 72, 7)) == []


def test_what_the_nodes_of_one_thing_say_of_each_other_is_no_reference_to_it(store: Store) -> None:
    nodes = ["urn:a", "urn:s0", "urn:s1"]
    counts, _ = count_references(store, nodes, 1000)
    assert [(count.property, count.uses) for count in counts] == [(f"{S}about", 28), (f"{S}by", 12)]
    listed = {quad.subject.value for quad in list_references(store, nodes, counts, 0, 50)}
    assert len(listed) == 40 and listed.isdisjoint(nodes)


def test_the_merge_is_counted_without_what_pages_repeat_unless_it_is_too_large(store: Store) -> None:
    assert count_merge(store, 72) == MergeCounts(72, {f"{S}about": 30, f"{S}by": 42}, {})
    assert count_merge(store, 71) is None


@pytest.mark.parametrize(("most", "has_more"), [(41, True), (42, True), (71, True), (72, False)])
def test_no_more_are_counted_than_may_be(store: Store, most: int, has_more: bool) -> None:
    counts, more = count_references(store, ["urn:a", "urn:b"], most)
    assert (sum(count.uses for count in counts), more) == (most, has_more)


def test_values_are_counted_by_pages(store: Store) -> None:
    assert count_values(store, "urn:a", f"{S}name", 100) == [(Literal("A"), 5), (Literal("B"), 1)]
    assert sum(count for _, count in count_values(store, "urn:a", f"{S}name", 3)) == 3
