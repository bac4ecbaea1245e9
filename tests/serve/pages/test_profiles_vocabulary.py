"""Lists of classes, properties and ontologies, and a page for each, also where names are hostile."""

import re
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph
import pytest
from pyoxigraph import RdfFormat

from indexed import index_pages
from serving import Serving, serve

SCHEMA = "http://schema.org/"
SCRIPT = "https://evil.example/<script>alert(1)</script>"
EVIL_CLASS = "https://evil.example/\"onmouseover='x'&\u202eC"
TURNED = "\u202eevil"


def make_shop(name: str, **more: object) -> dict[str, object]:
    return {
        "@context": "https://schema.org",
        "@id": f"https://tea.example/#{name}",
        "@type": "Store",
        "name": name,
        **more,
    }


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    pages: dict[str, object] = {
        "https://tea.example/1": make_shop("one", telephone="1", address={"@type": "PostalAddress", "postalCode": "AB"}),
        "https://tea.example/2": make_shop("two", telephone="2"),
        "https://tea.example/3": make_shop("three", url="https://tea.example/3"),
        "https://tea.example/4": make_shop("four"),
        "https://mug.example/": {"@type": f"{SCHEMA}Person", f"{SCHEMA}name": {"@value": "Ann", "@language": "en"}},
        "https://mug.example/ns": '<p prefix="rdfs: http://www.w3.org/2000/01/rdf-schema# own: https://mug.example/ns#">'
        '<a about="own:Mug" rel="rdfs:subClassOf" href="https://mug.example/ns#Vessel">x</a>'
        '<b about="#m" typeof="own:Mug" property="own:size">3</b></p>',
        "https://size.example/": {
            "@context": "https://schema.org",
            "@graph": [
                {"@id": f"#{at}", "@type": "ImageObject", "width": width}
                for at, width in enumerate([9, 60, "wide", {"@type": "QuantitativeValue", "value": 1}, 60])
            ],
        },
        "https://evil.example/": {
            "@id": "https://evil.example/#x",
            "@type": [EVIL_CLASS, *(f"https://evil.example/t/{number}" for number in range(1000))],
            f"{SCHEMA}name": f"<script>alert(1){TURNED}",
            "https://evil.example/p'><script>": "x" * 1_000_000,
        },
    }  # fmt: skip
    with serve(index_pages(tmp_path_factory.mktemp("vocabulary") / "c", pages)) as serving:
        yield serving


@pytest.mark.parametrize("path", ["/classes", "/properties", "/ontologies", "/sites"])
def test_lists_lead_to_each_other_and_come_in_all_formats(site: Serving, path: str) -> None:
    text = site.get(path).text
    for other in ("/classes", "/properties", "/ontologies", "/sites"):
        assert f'href="{other}"' in text
    data = site.get(f"{path}.json").json
    uses = [name["uses"] for name in data["names"]]
    assert data["total"] >= len(uses) > 0
    assert uses == sorted(uses, reverse=True)
    assert site.get(f"{path}.csv").text.splitlines()[0] == "name,uses,pages,sites"
    assert list(pyoxigraph.parse(site.get(f"{path}.nq").body, RdfFormat.N_QUADS))
    assert "void#Dataset>" in site.get(f"{path}.ttl").text


def test_a_list_is_filtered_and_paged(site: Serving) -> None:
    names = site.get("/classes.json", q="store").json
    assert [name["name"] for name in names["names"]] == [f"{SCHEMA}Store"]
    assert names["total"] == 1
    first, second = (site.get("/classes.json", page=page).json["names"] for page in (1, 2))
    assert len(first) == 50 and second and {name["name"] for name in first}.isdisjoint(name["name"] for name in second)
    assert "No name contains" in site.get("/classes", q="no such name").text


def test_a_class_tells_which_properties_its_things_have(site: Serving) -> None:
    data = site.get("/class.json", iri="https://schema.org/Store").json
    assert (data["iri"], data["things"], data["count"]["sites"]) == (f"{SCHEMA}Store", 4, 1)
    shares = {one["name"]: one["share"] for one in data["properties"]}
    assert (shares[f"{SCHEMA}name"], shares[f"{SCHEMA}telephone"], shares[f"{SCHEMA}address"]) == (1.0, 0.5, 0.25)
    assert data["superclasses"][0] == f"{SCHEMA}LocalBusiness"
    assert data["sites"] == [{"name": "tea.example", "pages": 4}]
    assert {hit["label"] for hit in data["examples"]} == {"one", "two", "three", "four"}


def test_a_class_leads_to_a_search_a_query_and_an_export(site: Serving) -> None:
    text = site.get("/class", iri="schema:Store").text
    assert 'href="/search?type=http://schema.org/Store"' in text
    assert "/sparql?query=SELECT" in text
    assert "rdfspider export --type schema:Store" in text


def test_a_class_that_only_stands_above_others_is_there_too(site: Serving) -> None:
    data = site.get("/class.json", iri="schema:LocalBusiness").json
    assert (data["things"], data["count"]["uses"]) == (4, 0)
    assert data["subclasses"][0]["name"] == f"{SCHEMA}Store"


def test_a_class_that_is_known_and_not_used_is_there_with_its_tree(site: Serving) -> None:
    below = re.search("<p>Below: .*?</p>", site.get("/class", iri="schema:LocalBusiness").text)
    assert below and "iri=http://schema.org/Library" in below[0]
    text = site.get("/class", iri="schema:Library").text
    assert "This class is known, but no page" in text and "iri=http://schema.org/LocalBusiness" in text
    assert site.get("/class.json", iri="schema:Library").json["count"]["uses"] == 0


def test_what_pages_state_of_subclasses_is_shown(site: Serving) -> None:
    data = site.get("/class.json", iri="https://mug.example/ns#Mug").json
    assert data["superclasses"] == ["https://mug.example/ns#Vessel"]


def test_a_property_tells_its_classes_and_values(site: Serving) -> None:
    data = site.get("/property.json", iri="schema:name").json
    assert data["values"]["kinds"] == {"text": 6} and data["values"]["is_all"]
    assert data["values"]["languages"] == {"en": 1}
    example = next(one for one in data["values"]["examples"] if one["value"] == "one")
    assert (example["thing"], example["thing_label"]) == ("https://tea.example/#one", "one")
    shares = {one["name"]: one["things"] for one in data["classes"]}
    assert (shares[f"{SCHEMA}Store"], shares[f"{SCHEMA}Person"]) == (4, 1)
    address = site.get("/property.json", iri="schema:address").json
    assert address["values"]["kinds"] == {"blank node": 1}


def test_values_come_the_most_frequent_first_and_nodes_without_a_name_last(site: Serving) -> None:
    values = site.get("/property.json", iri="schema:width").json["values"]
    assert values["kinds"] == {"number": 3, "text": 1, "blank node": 1}
    shown = [(one["value"], one["kind"], one["uses"]) for one in values["examples"]]
    assert shown[0] == ("60", "number", 2) and {one[:2] for one in shown[1:3]} == {("9", "number"), ("wide", "text")}
    assert (values["examples"][3]["kind"], values["examples"][3]["value_label"]) == (
        "blank node",
        "schema:QuantitativeValue",
    )
    assert "schema:QuantitativeValue</bdi>" in site.get("/property", iri="schema:width").text


def test_an_ontology_tells_its_terms_and_whether_it_was_fetched(site: Serving) -> None:
    schema = site.get("/ontology.json", iri="schema").json
    assert schema["prefixes"][0] == "schema" and schema["page"] == ""
    assert {count["name"] for count in schema["classes"]} >= {f"{SCHEMA}Store", f"{SCHEMA}Person"}
    own = site.get("/ontology.json", iri="https://mug.example/ns#").json
    assert own["page"] == "https://mug.example/ns"
    assert [count["name"] for count in own["properties"]] == ["https://mug.example/ns#size"]
    assert "The crawl has fetched it" in site.get("/ontology", iri="https://mug.example/ns#").text


def test_an_ontology_has_examples(site: Serving) -> None:
    assert len(site.get("/ontology.json", iri="schema").json["examples"]) == 6
    text = site.get("/ontology", iri="schema").text
    assert 'id="examples"' in text
    assert 'href="/entity?iri=https://tea.example/%23one"' in text
    own = site.get("/ontology", iri="https://mug.example/ns#").text
    assert (
        'href="/entity?iri=https://mug.example/ns%23m"' in own.partition('id="examples"')[2].partition("</section>")[0]
    )


@pytest.mark.parametrize("path", ["/class", "/property", "/ontology"])
def test_what_nobody_uses_is_not_found_and_what_is_not_named_is_asked_for(site: Serving, path: str) -> None:
    for name in ("https://no.example/X", SCRIPT, "x" * 5000, "\ud800".encode("utf-8", "surrogatepass"), "<>"):
        reply = site.get(path, iri=name)
        assert reply.status == 404
        assert "<script>alert" not in reply.text
    assert site.get(path).status == 400


@pytest.mark.parametrize("path", ["/classes", "/properties", "/ontologies", "/sites"])
def test_hostile_names_break_no_list(site: Serving, path: str) -> None:
    for page in range(1, 23):
        text = site.get(path, page=page).text
        assert "<script>alert" not in text and "\u202e" not in text
    assert site.get(path, page="9" * 9).status == 200
    assert site.get(path, q="\u202e<script>" + "x" * 3000).status == 200


def test_hostile_names_break_no_page(site: Serving) -> None:
    counts = site.get("/classes.json", q="evil.example").json["names"]
    evil = next(count["name"] for count in counts if "onmouseover" in count["name"])
    properties = site.get("/properties.json", q="evil.example").json["names"]
    for path, iri in (("/class", evil), ("/property", properties[0]["name"]), ("/ontology", "https://evil.example/t/")):
        reply = site.get(path, iri=iri)
        assert reply.status == 200, reply.text
        # A thousand types and a megabyte of text are cut.
        assert len(reply.body) < 200_000
        # Browsers escape what addresses hold.
        shown = re.sub('href="[^"]*"', "", reply.text)
        assert "<script>alert" not in shown and "\u202e" not in shown and "'x'&C" not in shown
        for suffix in ("json", "csv", "nq", "ttl"):
            assert site.get(f"{path}.{suffix}", iri=iri).status == 200


def test_without_an_index_the_lists_say_so(tmp_path: Path) -> None:
    from rdfspider import Crawl

    with serve(Crawl.create(tmp_path / "c", ["https://example.org/"])) as serving:
        for path in ("/classes", "/properties", "/ontologies", "/sites"):
            assert "Nothing is indexed yet" in serving.get(path).text
            assert serving.get(f"{path}.json").json["names"] == []
        for path in ("/class?iri=x", "/property?iri=x", "/ontology?iri=x", "/site?name=x", "/quality?site=x"):
            assert serving.get(path).status == 503
