"""What a card shows of a thing that other sites describe too, or claim to be, in a real index."""

from pathlib import Path
from typing import Any

import pytest

from index.identity.test_components import index, page, thing
from index.pages import dump_index

VICTIM = "https://victim.example#org"
OWN = {"description": "We make pencils.", "image": "https://victim.example/logo.png", "url": "https://victim.example/"}
EVIL = {"description": "A scam.", "image": "https://e.co/skull.png", "url": "https://e.co/", "telephone": "666"}


def card_of(folder: Path) -> dict[str, Any]:
    (card,) = (each["card"] for each in dump_index(folder).values() if each["card"]["kind"] == "entity")
    return card


@pytest.mark.parametrize(
    "claim",
    [
        thing("https://e.co/#o", "Victim Pencils", "Organization", sameAs=VICTIM, **EVIL),
        thing(VICTIM, "Any Victim", "Organization", **EVIL),
    ],
)
def test_a_thing_is_shown_as_its_own_site_does(tmp_path: Path, claim: dict[str, Any]) -> None:
    pages = [page(f"https://evil{number}.example/", claim) for number in range(3)]
    index(
        tmp_path,
        [
            *pages,
            page("https://www.victim.example/", thing(VICTIM, "Victim Pencils", "Organization", telephone="1", **OWN)),
        ],
    )
    card = card_of(tmp_path)
    assert card["id"] == VICTIM and card["label"] == "Victim Pencils"
    assert {name: card[name] for name in OWN} == OWN
    assert card["facts"] == [["http://schema.org/telephone", "1"]]
    assert card["sources"] == 4, "what others state is not lost"


def test_what_the_own_site_does_not_tell_comes_from_others(tmp_path: Path) -> None:
    plain = thing(VICTIM, "Victim Pencils", "Organization", foundingDate="1900")
    index(tmp_path, [page("https://victim.example/", plain), page("https://e.co/", thing(VICTIM, "Victim", **EVIL))])
    card = card_of(tmp_path)
    assert (card["label"], card["description"], card["image"]) == ("Victim Pencils", EVIL["description"], EVIL["image"])
