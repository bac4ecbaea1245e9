import pytest

from rdfspider.search.export import group_things

S = "http://schema.org/"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def write(*triples: str) -> bytes:
    return "".join(f"{triple} <https://example.org/> .\n" for triple in triples).encode()


def test_a_thing_has_its_types_values_and_blank_nodes_inside() -> None:
    (thing,) = group_things(
        write(
            f"<urn:a> <{TYPE}> <{S}Person>",
            f'<urn:a> <{S}name> "Ada"@en',
            f'<urn:a> <{S}birthDate> "1815-12-10"^^<http://www.w3.org/2001/XMLSchema#date>',
            f"<urn:a> <{S}address> _:b",
            f'_:b <{S}addressLocality> "London"',
        )
    )
    assert thing == {
        "id": "urn:a",
        "types": [f"{S}Person"],
        "properties": {
            f"{S}name": [{"value": "Ada", "language": "en"}],
            f"{S}birthDate": [{"value": "1815-12-10", "datatype": "http://www.w3.org/2001/XMLSchema#date"}],
            f"{S}address": [
                {"id": "_:b", "types": [], "properties": {f"{S}addressLocality": [{"value": "London"}]}},
            ],
        },
    }


def test_what_two_point_at_stands_alone() -> None:
    things = list(group_things(write(f"<urn:a> <{S}x> _:b", f"<urn:c> <{S}x> _:b", f'_:b <{S}name> "B"')))
    assert [thing["id"] for thing in things] == ["urn:a", "urn:c", "_:b"]
    assert things[0]["properties"] == {f"{S}x": [{"id": "_:b"}]}


def test_what_was_chosen_stands_alone() -> None:
    nquads = write(f"<urn:a> <{S}x> _:b", f'_:b <{S}name> "B"')
    assert [thing["id"] for thing in group_things(nquads)] == ["urn:a"]
    assert [thing["id"] for thing in group_things(nquads, {"_:b"})] == ["urn:a", "_:b"]


def count(value: object) -> int:
    """Statements that are written, at whatever depth."""
    if isinstance(value, dict) and "properties" in value:
        values = [each for values in value["properties"].values() for each in values]
        return len(value["types"]) + len(values) + sum(map(count, values))
    return 0


@pytest.mark.parametrize(
    "triples",
    [
        [f"_:b{at} <{S}next> _:b{at + 1}" for at in range(5000)],
        [f"_:b{at} <{S}next> _:b{(at + 1) % 50}" for at in range(50)],
        [f"_:b <{S}self> _:b"],
        [f"_:b{at} <{S}x{side}> _:b{at + 1}" for at in range(60) for side in "lr"],
    ],
    ids=["long", "ring", "itself", "every path twice"],
)
def test_each_statement_is_written_once(triples: list[str]) -> None:
    assert sum(map(count, group_things(write(*triples)))) == len(triples)
