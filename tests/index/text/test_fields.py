"""The table of fields: what follows from it is as indexes on disk and people expect it."""

import json
from pathlib import Path

import tantivy

from rdfspider.index.text.fields import ASKED, FACETS, FIELDS, build_schema

DOCS = Path(__file__).parents[3] / "docs" / "search.md"


def test_the_schema_is_that_of_indexes_on_disk(tmp_path: Path) -> None:
    """Whoever changes it gives `index/layout.py` another version: old indexes could not be opened."""
    tantivy.Index(build_schema(), path=str(tmp_path))
    found = json.loads((tmp_path / "meta.json").read_text())["schema"]
    assert found == json.loads(Path(__file__).with_name("schema.json").read_text())


def test_names_are_unique() -> None:
    assert len({field.name for field in FIELDS}) == len(FIELDS)
    assert len(ASKED) == sum(len(field.asked_as) for field in FIELDS)


def test_what_people_can_ask_for_is_documented() -> None:
    text = DOCS.read_text()
    assert [name for name in ASKED if f"`{name}:" not in text] == []
    # What is counted can be asked for by the same name.
    assert FACETS.keys() <= ASKED.keys()


def test_suggested_values_are_those_of_facets() -> None:
    assert {field.suggests_values for field in FIELDS} - {""} <= FACETS.keys()
