"""Which things of several pages are one, in the real ledger; and which are not, whatever pages claim."""

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from index.pages import dump_index, make_outcome
from rdfspider.archive.outcomes import Outcome
from rdfspider.index.entities.contributions import find_entity
from rdfspider.index.identity import components
from rdfspider.index.identity.components import Component, Splits, explain_thing
from rdfspider.index.identity.evidence import Reason
from rdfspider.index.layout import IndexPaths
from rdfspider.index.text.view import TextView

Thing = dict[str, Any]
CONTEXT = {"@vocab": "http://schema.org/", "owl": "http://www.w3.org/2002/07/owl#", "owl:sameAs": {"@type": "@id"}}


def page(url: str, *things: Thing, time: float = 1.0) -> Outcome:
    data = json.dumps({"@context": CONTEXT, "@graph": things})
    html = f'<title>Page</title><script type="application/ld+json">{data}</script>'
    return make_outcome(url, html, time, digest=str(hash(data)))


def thing(iri: str, name: str, kind: str = "Person", **more: Any) -> Thing:
    return {"@id": iri, "@type": kind, "name": name, **more}


def index(folder: Path, pages: Iterable[Outcome]) -> None:
    view = TextView(IndexPaths(folder))
    view.apply(list(pages))
    view.commit({"log": 1})
    view.close()


def groups(folder: Path) -> set[frozenset[str]]:
    """The IRIs of each entity that has several."""
    cards = [each["card"] for each in dump_index(folder).values() if each["card"]["kind"] == "entity"]
    return {frozenset([card["id"], *card["same"]]) for card in cards if card.get("same")}


def join(folder: Path, *things: Thing) -> set[frozenset[str]]:
    """What becomes one, if each thing is on a site of its own."""
    index(folder, [page(f"https://site{number}.example/p", each) for number, each in enumerate(things)])
    return groups(folder)


def explain(folder: Path, iri: str) -> Component | None:
    with sqlite3.connect(IndexPaths(folder).ledger) as db:
        return explain_thing(db, find_entity(iri) or b"", Splits(), is_merging=True)


A, B, C = "http://a.example/ada", "http://b.example/lovelace", "http://c.example/1815"
WIKIDATA = "http://www.wikidata.org/entity/Q7259"


def test_sameas_joins_what_agrees_with_the_reason_kept(tmp_path: Path) -> None:
    assert join(tmp_path, thing(A, "Ada Lovelace", sameAs=B), thing(B, "Ada, Lady Lovelace")) == {frozenset((A, B))}
    found = explain(tmp_path, A)
    assert found is not None and found.members == (B, A)
    assert [edge.reason for edge in found.edges] == [Reason.SAME_AS] and not found.refused


def test_things_that_claim_the_same_undescribed_target_are_one(tmp_path: Path) -> None:
    one = thing(A, "Ada Lovelace", sameAs="https://www.wikidata.org/wiki/Q7259")
    other = thing(B, "Ada Lovelace", **{"owl:sameAs": WIKIDATA})
    assert join(tmp_path, one, other, thing(C, "Ada Lovelace")) == {frozenset((A, B))}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"gtin13": "4006381333931"}, {"gtin": "04006381333931"}),
        ({"isbn": "0-306-40615-2"}, {"gtin13": "9780306406157"}),
        ({"identifier": "doi:10.1000/XYZ"}, {"sameAs": "https://doi.org/10.1000/xyz"}),
    ],
)
def test_an_identifier_joins_things_under_any_iri(tmp_path: Path, one: Thing, other: Thing) -> None:
    found = join(tmp_path, thing(A, "Electrons and Atoms", "Product", **one), thing(B, "Electrons", "Product", **other))
    assert found == {frozenset((A, B))}


def test_people_by_mail_home_page_and_orcid(tmp_path: Path) -> None:
    orcid = "https://orcid.org/0000-0002-1825-0097"
    found = join(
        tmp_path,
        thing(A, "Ada Lovelace", email="mailto:ada@x.example", sameAs=orcid),
        thing(B, "Ada Lovelace", email="ADA@x.example", url="https://lovelace.example/"),
        thing(C, "Ada Lovelace", url="http://www.lovelace.example"),
        thing(orcid, "A. Lovelace"),
    )
    assert found == {frozenset((A, B, C, orcid))}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # Another kind.
        (thing(A, "Ada", sameAs=B), thing(B, "Ada", "Organization")),
        # Another label: one site alone cannot pull another's thing into its own.
        (thing(A, "Cheap pills", sameAs=B), thing(B, "Ada Lovelace")),
        (thing(A, "Cheap pills", **{"owl:sameAs": B}), thing(B, "Ada Lovelace")),
        (thing(A, "Cheap pills", sameAs=WIKIDATA), thing(B, "Ada Lovelace", sameAs=WIKIDATA)),
        ({"@id": A, "@type": "Person", "jobTitle": "Pills", "sameAs": B}, thing(B, "Ada Lovelace")),
        # Targets that say nothing.
        (thing(A, "Ada", sameAs="https://www.facebook.com/"), thing(B, "Ada", sameAs="https://facebook.com")),
        (thing(A, "Ada", sameAs="https://c.example/"), thing(B, "Ada", sameAs="https://c.example/")),
        # Identifiers that are none, or of something else.
        (thing(A, "Tea", "Product", gtin="0000000000000"), thing(B, "Tea", "Product", gtin="0000000000000")),
        (thing(A, "Tea", "Product", gtin="4006381333931"), thing(B, "Pencil", "Product", gtin="4006381333931")),
        (thing(A, "Tea", "Offer", gtin="4006381333931"), thing(B, "Tea", "Offer", gtin="4006381333931")),
        # A home page without the name.
        (thing(A, "Ada", url="https://x.example/"), thing(B, "Bob", url="https://x.example/")),
        (thing(A, "Ada", url="https://x.example/p"), thing(B, "Ada", url="https://x.example/p")),
    ],
)
def test_what_joins_nothing(tmp_path: Path, one: Thing, other: Thing) -> None:
    assert join(tmp_path, one, other) == set()


def test_each_saying_that_it_is_the_other_outweighs_labels_but_not_kinds(tmp_path: Path) -> None:
    assert join(tmp_path / "1", thing(A, "Ada", sameAs=B), thing(B, "Countess", sameAs=A)) == {frozenset((A, B))}
    assert join(tmp_path / "2", thing(A, "Ada", sameAs=B), thing(B, "Ada", "Organization", sameAs=A)) == set()


def test_a_target_that_many_different_things_claim_joins_nothing(tmp_path: Path) -> None:
    target = "https://hub.example/list"
    names = ["Ada", "Ada", "Bob", "Cleo", "Dan", "Eve"]
    things = [thing(f"http://t.example/{number}", name, sameAs=target) for number, name in enumerate(names)]
    assert join(tmp_path / "hub", *things) == set()
    found = explain(tmp_path / "hub", "http://t.example/0")
    assert found is not None and {edge.refusal for edge in found.refused} >= {"claimed by many different things"}
    assert join(tmp_path / "few", *things[:3]) == {frozenset(("http://t.example/0", "http://t.example/1"))}


def test_what_contradicts_is_not_joined_by_its_weakest_evidence(tmp_path: Path) -> None:
    first, second = {"gtin": "4006381333931"}, {"gtin": "5901234123457"}
    found = join(
        tmp_path,
        thing(A, "Pencil red", "Product", **first),
        thing("http://a2.example/p", "Pencil red", "Product", **first),
        thing(B, "Pencil red", "Product", sameAs=A, **second),
        thing("http://b2.example/p", "Pencil", "Product", **second),
    )
    assert found == {frozenset((A, "http://a2.example/p")), frozenset((B, "http://b2.example/p"))}
    why = explain(tmp_path, A)
    assert why is not None and {edge.refusal for edge in why.refused} == {"different GTIN or ISBN"}


def test_a_thing_with_two_identifiers_of_one_sort_is_joined_by_neither(tmp_path: Path) -> None:
    both = thing(C, "Pencil", "Product", gtin=["4006381333931", "5901234123457"])
    assert join(tmp_path, thing(A, "Pencil", "Product", gtin="4006381333931"), both) == set()


def test_the_canonical_one_is_the_shortest_iri_and_blank_nodes_come_last(tmp_path: Path) -> None:
    blank = {"@type": "Person", "name": "Ada Lovelace", "sameAs": WIKIDATA}
    long = thing("http://a.example/people/ada", "Ada Lovelace", sameAs=WIKIDATA)
    join(tmp_path, long, blank, thing(A, "Ada Lovelace", sameAs=WIKIDATA))
    (card,) = (each["card"] for each in dump_index(tmp_path).values() if each["card"]["kind"] == "entity")
    assert card["id"] == A and card["same"] == ["http://a.example/people/ada"] and card["sources"] == 3


def test_a_replaced_page_takes_its_claims_with_it(tmp_path: Path) -> None:
    index(
        tmp_path, [page("https://a.example/", thing(A, "Ada", sameAs=B)), page("https://b.example/", thing(B, "Ada"))]
    )
    assert groups(tmp_path) == {frozenset((A, B))}
    index(tmp_path, [page("https://a.example/", thing(A, "Ada"), time=2.0)])
    assert groups(tmp_path) == set() and explain(tmp_path, A) is None
    assert sum(each["card"]["kind"] == "entity" for each in dump_index(tmp_path).values()) == 2


def test_what_is_connected_beyond_bounds_is_left_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(components, "MAX_MEMBERS", 5)
    chain = [thing(f"http://t.example/{n:02}", "Ada", sameAs=f"http://t.example/{n + 1:02}") for n in range(20)]
    assert max(map(len, join(tmp_path / "members", *chain))) == 5
    monkeypatch.setattr(components, "_MAX_EXPLORED", 10)
    assert join(tmp_path / "explored", *chain) == set()
    monkeypatch.setattr(components, "MAX_CLAIMANTS", 3)
    crowd = [thing(f"http://t.example/{n}", "Ada", sameAs="https://x.example/ada") for n in range(5)]
    assert len(join(tmp_path / "few", *crowd[:3])) == 1
    assert join(tmp_path / "claimants", *crowd) == set()
    index(tmp_path / "few", [page("https://site9.example/", *crowd[3:])])
    assert groups(tmp_path / "few") == set(), "those joined before are parted"


def test_a_thing_that_another_claims_to_be_gives_the_name(tmp_path: Path) -> None:
    short = "http://e.co/x"
    index(
        tmp_path,
        [
            page("https://e.co/", thing(short, "Ada Lovelace", sameAs=A)),
            page("https://e2.example/", thing("http://e2.co/x", "Ada Lovelace", sameAs=short)),
            page("https://a.example/", thing(A, "Ada Lovelace")),
        ],
    )
    found = explain(tmp_path, short)
    assert found is not None and found.members == (A, short, "http://e2.co/x")


def test_one_site_cannot_undo_what_others_agree_on(tmp_path: Path) -> None:
    claim = {"sameAs": "https://x.example/ada"}
    junk = [thing(f"http://junk.example/{n}", f"Junk {chr(97 + n) * 3}", **claim) for n in range(9)]
    index(
        tmp_path,
        [
            page("https://junk.example/", *junk),
            page("https://a.example/", thing(A, "Ada", **claim)),
            page("https://b.example/", thing(B, "Ada", **claim)),
        ],
    )
    assert groups(tmp_path) == {frozenset((A, B))}


@pytest.mark.parametrize(("one", "other", "is_one"), [("Ada", "Ada Byron", False), ("By Ada King", "Ada King", True)])
def test_colleagues_share_an_address(tmp_path: Path, one: str, other: str, is_one: bool) -> None:
    things = [thing(f"http://a.example/{n}", name, email="info@a.example") for n, name in enumerate((one, other))]
    index(tmp_path, [page("https://a.example/", *things)])
    assert bool(groups(tmp_path)) == is_one


def test_a_number_in_another_script_joins_nothing(tmp_path: Path) -> None:
    number = {"gtin": "4006381333931"}
    assert join(tmp_path, thing(A, "Чай", "Product", **number), thing(B, "Cheap pills", "Product", **number)) == set()


def test_a_crowd_that_grows_is_parted_and_one_that_shrinks_is_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(components, "_MAX_EXPLORED", 10)
    iris = [f"http://t.example/{n:02}" for n in range(17)]
    pages = [
        page(f"https://site{n}.example/", thing(iris[n], "Ada" if n % 4 else "Bob", sameAs=iris[n + 1]))
        for n in range(16)
    ]
    index(tmp_path, pages[:8])
    index(tmp_path, pages[9:])
    assert len(groups(tmp_path)) > 2
    index(tmp_path, pages[8:9])
    assert groups(tmp_path) == set()
    index(tmp_path, [page("https://site8.example/", thing(iris[8], "Bob"), time=2.0)])
    again = [*pages[:8], page("https://site8.example/", thing(iris[8], "Bob"), time=2.0), *pages[9:]]
    index(tmp_path / "again", again)
    assert groups(tmp_path) == groups(tmp_path / "again") != set()
