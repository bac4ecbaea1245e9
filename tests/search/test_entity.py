from pathlib import Path

import msgspec
import pytest
from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Store
from tests.conftest import Run

from indexed import TIME, index_pages
from rdfspider import Crawl, UsageError
from rdfspider.index.layout import IndexPaths
from rdfspider.index.quads.described import SOURCES_SHOWN
from rdfspider.search import entity as entities
from rdfspider.search.entity import Entity, read_entity

S = "http://schema.org/"
ADA = "https://one.example/#ada"
PAGES = {
    "https://one.example/": {
        "@context": "https://schema.org",
        "@id": ADA,
        "@type": "Person",
        "name": "Ada Lovelace",
        "birthDate": "1815-12-10",
        "sameAs": "https://two.example/ada",
        "address": {"@type": "PostalAddress", "addressLocality": "London"},
    },
    "https://two.example/": {
        "@context": "http://schema.org",
        "@id": ADA,
        "name": "Ada Lovelace",
        "birthDate": "1815-12-11",
        "address": {"@type": "PostalAddress", "addressLocality": "London"},
    },
    "https://two.example/ada": {
        "@context": "https://schema.org",
        "@id": "https://two.example/ada",
        "@type": "Person",
        "name": "A countess",
        "jobTitle": "Mathematician",
        "sameAs": "https://three.example/ada",
    },
    "https://two.example/book": {
        "@context": "https://schema.org",
        "@type": "Book",
        "name": "Notes",
        "author": {"@id": ADA},
    },
}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    return index_pages(tmp_path_factory.mktemp("entity") / "crawl", PAGES)


def texts(found: Entity, name: str) -> list[str]:
    return [value.text for value in found[name]]


def test_what_pages_agree_on_is_one_value_with_its_sources(crawl: Crawl) -> None:
    found = crawl.entity(ADA)
    assert (found.label, found.types) == ("Ada Lovelace", (f"{S}Person",))
    (name,) = found["name"]
    assert name.source_count == 2
    assert [(source.page, source.fetched, source.syntaxes) for source in name.sources] == [
        ("https://two.example/", TIME + 3600, ("jsonld",)),
        ("https://one.example/", TIME, ("jsonld",)),
    ]


def test_what_pages_contradict_stands_side_by_side(crawl: Crawl) -> None:
    values = crawl.entity(ADA)[f"{S}birthDate"]
    assert {value.text: value.sources[0].page for value in values} == {
        "1815-12-10": "https://one.example/",
        "1815-12-11": "https://two.example/",
    }


def test_blank_nodes_are_inside_and_equal_ones_are_one_value(crawl: Crawl) -> None:
    (address,) = crawl.entity(ADA)["schema:address"]
    assert [value.text for value in address.inside[f"{S}addressLocality"]] == ["London"]
    assert (address.kind, address.source_count) == ("blank", 2)


def test_what_points_at_it(crawl: Crawl) -> None:
    found = crawl.entity(ADA)
    (reference,) = found.references
    assert (reference.label, reference.types, reference.property) == ("Notes", (f"{S}Book",), f"{S}author")
    assert reference.source is not None
    assert reference.source.page == "https://two.example/book"
    assert found.reference_count == 1
    # The book has no IRI; it can be asked for all the same, also as exports call it.
    assert crawl.entity(reference.id).label == "Notes"
    label = "_:p" + reference.id.removeprefix("genid:").replace("/", "")
    assert crawl.entity(label).label == "Notes"


def test_the_same_is_shown_and_merged_on_request_only(crawl: Crawl) -> None:
    alone = crawl.entity(ADA)
    assert alone.same == ("https://two.example/ada",)
    assert "jobTitle" not in alone
    merged = crawl.entity(ADA, same=True)
    assert texts(merged, "jobTitle") == ["Mathematician"]
    assert merged.nodes == (ADA, "https://two.example/ada", "https://three.example/ada")
    # It is the same from the other end, by two steps.
    assert texts(crawl.entity("https://three.example/ada", same=True), "name") == ["Ada Lovelace", "A countess"]


def test_what_nobody_describes_is_the_thing_that_is_said_to_be_it(crawl: Crawl) -> None:
    found = crawl.entity("https://three.example/ada")
    assert (found.iri, found.same) == ("https://two.example/ada", ("https://three.example/ada", ADA))


def test_what_is_judged_to_contradict_says_so(crawl: Crawl) -> None:
    found = crawl.entity(ADA)
    assert {iri: each.conflict for iri, each in found.properties.items() if each.conflict} == {
        f"{S}birthDate": "single"
    }


def test_things_that_only_blank_nodes_speak_of(crawl: Crawl) -> None:
    (hit,) = (hit for hit in crawl.search("notes").hits if hit.kind == "entity")
    assert hit.id.startswith("urn:rdfspider:entity:")
    found = crawl.entity(hit.id)
    assert (found.iri, found.label) == (hit.id, "Notes")
    assert texts(found, "author") == [ADA]


def test_a_page_speaks_of_things(crawl: Crawl) -> None:
    (thing,) = crawl.entity("https://two.example/book").things
    assert (thing.label, thing.types) == ("Notes", (f"{S}Book",))
    # As people type it.
    assert crawl.entity("two.example/book").things == (thing,)
    assert crawl.entity("HTTPS://Two.example:443/book").things == (thing,)


@pytest.mark.parametrize(
    "name", ["schema:Person", "https://schema.org/Person", "http://www.schema.org/Person", "<http://schema.org/Person>"]
)
def test_variants_of_schema_org_are_one(crawl: Crawl, name: str) -> None:
    found = crawl.entity(name)
    assert found.iri == f"{S}Person"
    assert found.reference_count == 2


@pytest.mark.parametrize(
    "name",
    [
        "https://one.example/#bob",
        "",
        "  ",
        "no such thing",
        "_:x",
        "_:",
        "urn:rdfspider:entity:xyz",
        "genid:",
        "\x00",
        "\udcff",
        "<",
        "a" * 5000,
        "urn:rdfspider:entity:" + "0" * 32,
    ],
)
def test_what_nobody_speaks_of_is_a_clear_answer(crawl: Crawl, name: str) -> None:
    with pytest.raises(UsageError, match=r"no page says anything of .*rdfspider search") as raised:
        crawl.entity(name)
    assert len(str(raised.value)) < 400


@pytest.mark.parametrize("name", [None, 5, b"https://one.example/"])
def test_what_is_no_text_calls_nothing(crawl: Crawl, name: object) -> None:
    with pytest.raises(UsageError, match="a thing is called by a text, not"):
        crawl.entity(name)  # type: ignore[arg-type]


def test_a_crawl_without_an_index(tmp_path: Path) -> None:
    empty = Crawl.create(tmp_path / "crawl", ["https://example.org/"], contact="me@example.org")
    for ask in (lambda: empty.entity(ADA), empty.stats, empty.quads):
        with pytest.raises(UsageError, match="rdfspider index --dir"):
            ask()


def test_an_index_of_another_version(tmp_path: Path) -> None:
    other = index_pages(tmp_path / "crawl", {})
    IndexPaths(other.folder).version.write_text("99\n")
    for ask in (lambda: other.entity(ADA), other.stats, other.quads, lambda: other.export(tmp_path / "out.nq")):
        with pytest.raises(UsageError, match="another version of rdfspider"):
            ask()
    assert not (tmp_path / "out.nq").exists()


def test_names_of_properties_are_many(crawl: Crawl) -> None:
    found = crawl.entity(ADA)
    assert found["name"] == found["schema:name"] == found[f"{S}name"] == found.properties[f"{S}name"].values
    assert "name" in found
    assert set(found) == set(found.properties)
    with pytest.raises(KeyError):
        found["nmae"]
    assert {source.page for source in found.sources} == {"https://one.example/", "https://two.example/"}


def load(triples: str, pages: int = 1) -> Store:
    store = Store()
    store.bulk_load(triples.encode(), RdfFormat.N_TRIPLES)
    for at in range(pages):
        quads = triples.replace(" .\n", f" <https://example.org/{at}> .\n")
        store.bulk_load(quads.encode(), RdfFormat.N_QUADS)
    return store


def test_html_is_escaped() -> None:
    evil = '<script>alert(1)</script>"&'
    written = evil.replace('"', '\\"')
    triples = f'<javascript:alert(1)> <{S}name> "{written}" .\n<javascript:alert(1)> <{S}url> <data:text/html,x> .\n'
    triples += f"<javascript:alert(1)> <{S}part> <genid:0123456789abcdef/n1> .\n"
    triples += f'<genid:0123456789abcdef/n1> <{S}name> "{written}" .\n'
    found = read_entity(load(triples), "javascript:alert(1)", ["javascript:alert(1)"])
    assert found is not None
    html = found._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert 'href="javascript' not in html
    assert 'href="data' not in html
    assert 'href="https://example.org/0"' in html


def test_what_is_said_without_end_is_bounded_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entities, "_TRIPLES_READ", 500)
    triples = "".join(f'<urn:a> <{S}tag> "{at}" .\n' for at in range(1000))
    triples += "".join(f"<urn:b{at}> <{S}about> <urn:a> .\n" for at in range(200))
    found = read_entity(load(triples), "urn:a", ["urn:a"])
    assert found is not None
    tags = found.properties[f"{S}tag"]
    assert (len(tags.values), tags.value_count) == (entities.VALUES_SHOWN, 500)
    assert found.is_cut
    assert (len(found.references), found.reference_count) == (entities.REFERENCES_SHOWN, 200)


def test_what_points_at_it_without_end_is_said_to_be_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entities, "_REFERENCES_COUNTED", 100)
    triples = "".join(f"<urn:b{at}> <{S}about> <urn:{name}> .\n" for at in range(80) for name in "ab")
    one = read_entity(load(triples), "urn:a", ["urn:a"])
    both = read_entity(load(triples), "urn:a", ["urn:a", "urn:b"])
    assert one is not None
    assert both is not None
    assert (one.reference_count, one.has_more_references, one.is_cut) == (80, False, False)
    assert (both.reference_count, both.has_more_references, both.is_cut) == (100, True, True)


def test_what_points_at_it_is_listed_from_a_place_on_and_by_property() -> None:
    triples = "".join(f"<urn:b{at}> <{S}{'about' if at % 2 else 'by'}> <urn:a> .\n" for at in range(120))
    store = load(triples)
    found = [read_entity(store, "urn:a", ["urn:a"], start=start) for start in (0, 50, 100, 150)]
    pages = [each.references for each in found if each]
    assert [len(page) for page in pages] == [50, 50, 20, 0]
    assert len({thing.id for page in pages for thing in page}) == 120
    about = read_entity(store, "urn:a", ["urn:a"], start=50, via=f"{S}about")
    assert about
    assert {thing.property for thing in about.references} == {f"{S}about"}
    assert (len(about.references), about.reference_count) == (10, 120)
    assert about.reference_counts == {f"{S}about": 60, f"{S}by": 60}


def test_sources_are_bounded_and_counted() -> None:
    found = read_entity(load(f'<urn:a> <{S}name> "A" .\n', pages=40), "urn:a", ["urn:a"])
    assert found is not None
    (name,) = found["name"]
    assert (len(name.sources), name.source_count) == (SOURCES_SHOWN, 40)


def test_what_most_pages_say_is_not_hidden_by_many_values_of_one() -> None:
    store = load("".join(f'<urn:a> <{S}name> "spam {at}" .\n' for at in range(1000)))
    truth = Quad(NamedNode("urn:a"), NamedNode(f"{S}name"), Literal("Truth"), DefaultGraph())
    store.add(truth)
    pages = [NamedNode(f"https://honest.example/{at}") for at in range(3)]
    store.extend(Quad(*truth.triple, page) for page in pages)
    found = read_entity(store, "urn:a", ["urn:a"])
    assert found is not None
    assert (found.label, found["name"][0].text, found["name"][0].source_count) == ("Truth", "Truth", 3)
    assert found.properties[f"{S}name"].value_count == 1001


def test_what_was_not_counted_to_its_end_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entities, "_SOURCES_COUNTED", 20)
    for pages, has_more in ((20, False), (21, True)):
        found = read_entity(load(f'<urn:a> <{S}name> "A" .\n', pages), "urn:a", ["urn:a"])
        assert found is not None
        (name,) = found["name"]
        assert (name.source_count, name.has_more_sources, found.is_cut) == (20, has_more, has_more)
        assert (" and at least 19 more" if has_more else " and 19 more") in found._repr_html_()


def test_a_page_that_says_so_of_two_names_is_one_source() -> None:
    triples = f'<urn:a> <{S}name> "A" .\n<urn:b> <{S}name> "A" .\n<urn:a> <{S}sameAs> <urn:b> .\n'
    found = read_entity(load(triples, pages=2), "urn:a", ["urn:a"], same=True)
    assert found is not None
    assert [(value.text, value.source_count) for value in found["name"]] == [("A", 2)]


def test_nesting_and_rings_end() -> None:
    node = "genid:0123456789abcdef/n"
    triples = f"<urn:a> <{S}part> <{node}0> .\n"
    triples += "".join(f"<{node}{at}> <{S}part> <{node}{at + 1}> .\n" for at in range(1000))
    triples += f"<{node}1000> <{S}part> <{node}0> .\n<urn:a> <{S}sameAs> <urn:a> .\n"
    found = read_entity(load(triples), "urn:a", ["urn:a"], same=True)
    assert found is not None
    depth, (value,) = 0, found["part"]
    while value.inside:
        depth, (value,) = depth + 1, value.inside[f"{S}part"]
    assert depth == 4
    assert found.same == ()


def test_chains_of_the_same_are_bounded() -> None:
    triples = "".join(f"<urn:x{at}> <{S}sameAs> <urn:x{at + 1}> .\n" for at in range(1000))
    found = read_entity(load(triples), "urn:x0", ["urn:x0"], same=True)
    assert found is not None
    assert (len(found.nodes), found.is_cut) == (entities.NODES_MERGED, True)


@pytest.mark.parametrize(("others", "is_cut"), [(99, False), (100, True)])
def test_as_many_names_as_are_merged_are_not_cut(others: int, is_cut: bool) -> None:
    triples = "".join(f"<urn:a> <{S}sameAs> <urn:x{at}> .\n" for at in range(others))
    found = read_entity(load(triples), "urn:a", ["urn:a"], same=True)
    assert found is not None
    assert (len(found.nodes), found.is_cut) == (entities.NODES_MERGED, is_cut)
    nodes = ["urn:a", *(f"urn:x{at}" for at in range(others))]
    found = read_entity(load(triples), "urn:a", nodes)
    assert found is not None
    assert (len(found.nodes), found.is_cut) == (entities.NODES_MERGED, is_cut)


def test_the_document_shows_what_is_printed(run: Run, crawl: Crawl) -> None:
    document = (Path(__file__).parents[2] / "docs/entities.md").read_text()
    shown = document.partition("--dir mycrawl\n")[2].partition("```")[0]
    _, out, _ = run("entity", ADA, "--dir", crawl.folder)
    assert [line.rstrip() for line in out.splitlines()] == shown.splitlines()


def test_an_entity_becomes_json(crawl: Crawl) -> None:
    decoded = msgspec.json.decode(msgspec.json.encode(crawl.entity(ADA)))
    assert decoded["properties"][f"{S}name"]["values"][0]["text"] == "Ada Lovelace"


RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def test_a_list_is_one_value_with_its_items_in_order(tmp_path: Path) -> None:
    page = {"@id": "https://a.example/#it", "https://a.example/p": {"@list": [*map(str, range(7)), {"@list": ["in"]}]}}
    # Who says the same on two pages says one thing.
    found = index_pages(tmp_path / "c", {"https://a.example/": page, "https://b.example/": page}).entity(
        "https://a.example/#it"
    )
    (value,) = found["https://a.example/p"]
    assert [item.text for item in value.items[:7]] == [*map(str, range(7))]
    assert [item.text for item in value.items[7].items] == ["in"]
    assert (value.source_count, value.inside, value.rest) == (2, {}, "")
    assert "<ol><li>0</li>" in found._repr_html_()


def test_a_list_without_end_ends(tmp_path: Path) -> None:
    cell = {
        "@id": "_:a",
        f"{RDF}first": "x",
        f"{RDF}rest": {"@id": "_:b", f"{RDF}first": "y", f"{RDF}rest": {"@id": "_:a"}},
    }
    broken = {f"{RDF}first": ["z"], f"{RDF}rest": "no list"}
    page = {"@id": "https://a.example/#it", "https://a.example/p": cell, "https://a.example/q": broken}
    found = index_pages(tmp_path / "c", {"https://a.example/": page}).entity("https://a.example/#it")
    (endless,), (cut,) = found["https://a.example/p"], found["https://a.example/q"]
    assert [item.text for item in endless.items] == ["x", "y"]
    assert [item.text for item in cut.items] == ["z"]
