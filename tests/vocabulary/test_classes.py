"""Superclasses, names of classes and properties."""

import csv
import io
import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from rdfspider.vocabulary.classes import find_superclasses, list_class_names
from rdfspider.vocabulary.names import find_field_name, find_ontology, find_short_name, list_prefixes, split_iri

SCRIPT = Path(__file__).parents[2] / "scripts" / "make_schemaorg_classes"


def test_superclasses_are_the_nearest_first() -> None:
    found = find_superclasses("http://schema.org/NewsArticle")
    assert found == ("http://schema.org/Article", "http://schema.org/CreativeWork", "http://schema.org/Thing")


def test_a_class_with_two_parents_has_those_above_both() -> None:
    found = find_superclasses("http://schema.org/LocalBusiness")
    assert {"http://schema.org/Organization", "http://schema.org/Place", "http://schema.org/Thing"} == set(found)


def test_classes_of_other_vocabularies_and_unknown_ones_have_none() -> None:
    assert find_superclasses("http://xmlns.com/foaf/0.1/Person") == ()
    assert find_superclasses("http://schema.org/NoSuchThing") == ()


def test_a_class_is_found_by_iri_and_name_of_itself_and_of_those_above() -> None:
    names = list_class_names("http://schema.org/Book")
    assert names[:4] == ("http://schema.org/book", "book", "http://schema.org/creativework", "creativework")
    assert "thing" in names


def test_the_hierarchy_has_no_circle_and_every_class_is_below_thing_or_a_data_type() -> None:
    parents = json.loads(files("rdfspider.vocabulary").joinpath("schemaorg_classes.json").read_bytes())
    assert len(parents) > 900
    roots = {f"http://schema.org/{name}" for name in ("Thing", "DataType", "Text", "Number", "Quantity")}
    for name in parents:
        above = find_superclasses(f"http://schema.org/{name}")
        assert f"http://schema.org/{name}" not in above
        assert roots.intersection(above), name


def test_the_script_keeps_parents_of_schema_org_alone(tmp_path: Path) -> None:
    table = io.StringIO()
    writer = csv.DictWriter(table, ["id", "subTypeOf"])
    writer.writeheader()
    writer.writerow({"id": "https://schema.org/Thing", "subTypeOf": ""})
    writer.writerow({"id": "https://schema.org/B", "subTypeOf": "https://schema.org/Thing, https://schema.org/A"})
    writer.writerow({"id": "https://schema.org/C", "subTypeOf": "rdfs:Class"})
    (tmp_path / "types.csv").write_text(table.getvalue())
    made = subprocess.run([sys.executable, SCRIPT, tmp_path / "types.csv"], capture_output=True, check=True)
    assert json.loads(made.stdout) == {"B": "A Thing"}


@pytest.mark.parametrize(
    ("iri", "parts"),
    [
        ("http://schema.org/name", ("http://schema.org/", "name")),
        ("http://ogp.me/ns#image:width", ("http://ogp.me/ns#", "image:width")),
        ("article:published_time", ("article:", "published_time")),
        ("http://example.org/a/", ("http://example.org/", "a/")),
        ("http://example.org", ("http:", "//example.org")),
        ("urn:isbn:123", ("urn:isbn:", "123")),
    ],
)
def test_namespace_and_name(iri: str, parts: tuple[str, str]) -> None:
    assert split_iri(iri) == parts


def test_names_that_people_know() -> None:
    assert find_short_name("http://schema.org/datePublished") == "datepublished"
    assert find_field_name("http://ogp.me/ns#image:width") == "image_width"
    assert find_field_name("http://example.org/größe") == "gr_e"
    assert find_ontology("http://xmlns.com/foaf/0.1/name") == "http://xmlns.com/foaf/0.1/"
    assert "dc" in list_prefixes("http://purl.org/dc/terms/")
    assert "dc" in list_prefixes("http://purl.org/dc/elements/1.1/")
    assert list_prefixes("http://example.org/ns#") == ()
