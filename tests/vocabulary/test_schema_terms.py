"""Schema.org's terms: the table, and what misspelt names may mean."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from rdfspider.vocabulary.classes import list_known_classes
from rdfspider.vocabulary.schema_terms import (
    DATA_TYPES,
    load_members,
    load_properties,
    load_superseded_classes,
    suggest_class,
    suggest_member,
    suggest_property,
)

SCRIPT = Path(__file__).parents[2] / "scripts" / "make_schemaorg_terms"


def test_the_table_is_closed() -> None:
    # Schema.org itself still names a class that it has taken back.
    known = list_known_classes() | DATA_TYPES | {"DeliveryTimeSettings"}
    properties = load_properties()
    assert len(properties) > 1400
    for name, facts in properties.items():
        assert facts.domains | facts.ranges <= known, name
        assert set(facts.superseded_by) <= properties.keys(), name
    assert set(load_members().values()) <= known
    assert load_members()["InStock"] == "ItemAvailability"
    assert load_superseded_classes()["Code"] == "SoftwareSourceCode"


@pytest.mark.parametrize(
    ("name", "meant"), [("Evnt", "Event"), ("product", "Product"), ("Recpie", "Recipe"), ("Zorblax", ""), ("X", "")]
)
def test_classes_that_are_meant(name: str, meant: str) -> None:
    assert suggest_class(name) == meant


@pytest.mark.parametrize(
    ("name", "meant"),
    [("startdate", "startDate"), ("recipeIngrediant", "recipeIngredient"), ("nmae", "name"), ("foo", "")],
)
def test_properties_that_are_meant(name: str, meant: str) -> None:
    assert suggest_property(name) == meant


def test_members_that_are_meant() -> None:
    assert suggest_member("in stock", frozenset({"ItemAvailability"})) == "InStock"
    assert suggest_member("in stock", frozenset({"DayOfWeek"})) == ""


def test_the_script_keeps_names_of_schema_org_alone(tmp_path: Path) -> None:
    start = "https://schema.org/"
    rows = {
        "properties.csv": {
            "id": f"{start}name",
            "domainIncludes": f"{start}Thing",
            "rangeIncludes": f"{start}Text, https://other.example/Text",
            "subPropertyOf": "http://www.w3.org/2000/01/rdf-schema#label",
            "supersededBy": "",
        },
        "types.csv": {"id": f"{start}InStock", "enumerationtype": f"{start}ItemAvailability", "supersededBy": ""},
    }
    for name, row in rows.items():
        with (tmp_path / name).open("w", newline="") as file:
            writer = csv.DictWriter(file, row)
            writer.writeheader()
            writer.writerow(row)
    done = subprocess.run(
        [sys.executable, SCRIPT, *(tmp_path / name for name in rows)], capture_output=True, check=True
    )
    assert json.loads(done.stdout) == {
        "properties": {"name": ["Thing", "Text", "", ""]},
        "members": {"InStock": "ItemAvailability"},
        "superseded": {},
    }
