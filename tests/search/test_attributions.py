import pytest
from pyoxigraph import RdfFormat, Store

from rdfspider.search import attributions as module
from rdfspider.search.attributions import dump_statements, read_attributions

S = "http://schema.org/"
NODE = "genid:0123456789abcdef/n1"


def load(*quads: tuple[str, str, str, int]) -> Store:
    store = Store()
    for subject, predicate, term, page in quads:
        store.load(f"<{subject}> <{S}{predicate}> {term} .".encode(), RdfFormat.N_TRIPLES)
        line = f"<{subject}> <{S}{predicate}> {term} <https://example.org/{page}> .".encode()
        store.load(line, RdfFormat.N_QUADS)
    return store


def test_who_says_what_page_by_page() -> None:
    store = load(*(("urn:a", "name", '"A"', at) for at in range(7)), *(("urn:b", "name", '"B"', at) for at in range(3)))
    listed = [
        (attribution.value.text, attribution.source.page, attribution.node)
        for start in range(0, 12, 4)
        for attribution in read_attributions(store, ["urn:b", "urn:a"], f"{S}name", start, 4).attributions
    ]
    assert len(set(listed)) == len(listed) == 10
    assert [text for text, _, _ in listed] == ["A"] * 7 + ["B"] * 3
    found = read_attributions(store, ["urn:b", "urn:a"], f"{S}name", 100, 4)
    assert (found.attributions, found.count, found.has_more) == ((), 10, False)


def test_no_more_are_counted_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    store = load(*(("urn:a", "name", '"A"', at) for at in range(7)), ("urn:b", "name", '"B"', 1))
    for most, has_more in ((8, False), (7, True), (3, True)):
        monkeypatch.setattr(module, "_ATTRIBUTIONS_COUNTED", most)
        found = read_attributions(store, ["urn:a", "urn:b"], f"{S}name", 0, 5)
        assert (found.count, found.has_more) == (most, has_more)


def test_statements_are_in_the_graphs_of_their_pages_with_what_hangs_on_them() -> None:
    store = load(("urn:a", "name", '"A"', 0), ("urn:a", "address", f"<{NODE}>", 1), (NODE, "city", '"X"', 1))
    lines = dump_statements(store, ["urn:a"]).decode().splitlines()
    blank = "_:p0123456789abcdefn1"
    assert set(lines) == {
        f'<urn:a> <{S}name> "A" <https://example.org/0> .',
        f"<urn:a> <{S}address> {blank} <https://example.org/1> .",
        f'{blank} <{S}city> "X" <https://example.org/1> .',
    }
    assert len(dump_statements(store, ["urn:a"], f"{S}address").splitlines()) == 2


def test_what_is_too_much_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STATEMENTS_DUMPED", 3)
    store = load(*(("urn:a", "name", f'"{at}"', 0) for at in range(4)))
    first, *rest = dump_statements(store, ["urn:a"]).splitlines()
    assert first == b"# There are more: these are the first 3."
    assert len(rest) == 3
