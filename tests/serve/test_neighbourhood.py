import re
from xml.etree import ElementTree

import pytest
from pyoxigraph import RdfFormat, Store

from rdfspider.search.entity import Entity, read_entity
from rdfspider.serve.neighbourhood import draw_neighbourhood

S = "http://schema.org/"
SVG = "{http://www.w3.org/2000/svg}"


def read(triples: str) -> Entity:
    store = Store()
    store.bulk_load(triples.encode(), RdfFormat.N_TRIPLES)
    found = read_entity(store, "urn:a", ["urn:a"])
    assert found
    return found


def parse(picture: str) -> ElementTree.Element:
    return ElementTree.fromstring(str(picture).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))


def test_what_points_at_it_is_left_and_what_it_points_at_right() -> None:
    tree = parse(
        draw_neighbourhood(
            read(
                f'<urn:a> <{S}name> "A" .\n<urn:a> <{S}knows> <urn:b> .\n<urn:b> <{S}name> "B" .\n'
                f'<urn:c> <{S}about> <urn:a> .\n<urn:c> <{S}mentions> <urn:a> .\n<urn:c> <{S}name> "C" .\n'
            )
        )
    )
    boxes = {link.get("href"): link.find(f"{SVG}svg") for link in tree.iter(f"{SVG}a")}
    assert list(boxes) == ["/entity?iri=urn:c", "/entity?iri=urn:b"]
    left, right = boxes.values()
    assert left is not None
    assert right is not None
    assert float(left.get("x", "")) < 0 < float(right.get("x", ""))
    assert [text.text for text in left.iter(f"{SVG}text")] == ["about, mentions", "C"]


@pytest.mark.parametrize("count", [1, 16, 300])
def test_boxes_never_meet_and_are_few(count: int) -> None:
    triples = "".join(f"<urn:a> <{S}p{at}> <urn:b{at}> .\n<urn:c{at}> <{S}p{at}> <urn:a> .\n" for at in range(count))
    tree = parse(draw_neighbourhood(read(triples)))
    links = list(tree.iter(f"{SVG}a"))
    assert len(links) == min(2 * count, 16)
    places = [
        (float(box.get("x", "")), float(box.get("y", "")), float(box.get("width", "")), float(box.get("height", "")))
        for box in tree.iter(f"{SVG}svg")
        if box.get("x")
    ]
    for at, (x, y, width, height) in enumerate(places):
        for other_x, other_y, other_width, other_height in places[at + 1 :]:
            assert (
                x + width <= other_x
                or other_x + other_width <= x
                or y + height <= other_y
                or other_y + other_height <= y
            )


def test_names_are_cut_and_escaped() -> None:
    evil = '<script>alert(1)</script> & \\u202e \\"' + "W" * 100_000
    triples = f'<urn:a> <{S}name> "{evil}" .\n<urn:a> <{S}knows> <urn:b> .\n<urn:b> <{S}name> "{evil}" .\n'
    picture = draw_neighbourhood(read(triples))
    assert "<script>" not in picture
    assert "\u202e" not in picture
    assert len(picture) < 4_000
    assert parse(picture) is not None
    assert not re.search(r"\bstyle=|fill=|\bon\w+=", picture)


def test_what_stands_alone_has_no_picture() -> None:
    assert draw_neighbourhood(read(f'<urn:a> <{S}name> "A" .\n')) == ""
