"""What a page is about: one thing, with all that tells of it at the same URL."""

import json
from typing import Any

import pytest

import rdfspider
from rdfspider.index.entities.contributions import Contribution, PageReading, read_page
from rdfspider.index.text.highlights import choose_facts
from rdfspider.results import Role
from rdfspider.vocabulary.dates import write_date
from rdfspider.vocabulary.prefixes import SCHEMA

PAGE = "https://kitchen.example/wings"
HOME = "https://kitchen.example/"
SITE = "kitchen.example"
RECIPE = {
    "@type": "Recipe",
    "name": "Firecracker Chicken Wings",
    "recipeIngredient": ["wings", "chilli"],
    "recipeInstructions": [
        {"@type": "HowToStep", "name": "Marinate", "text": "Leave it overnight."},
        {"@type": "HowToStep", "name": "Fry", "text": "Until golden."},
    ],
    "author": {"@type": "Person", "name": "Ada Cook"},
}


def read(*things: dict[str, Any], html: str = "", title: str = "", url: str = PAGE) -> PageReading:
    graph = json.dumps({"@context": "https://schema.org", "@graph": things})
    page = f'<title>{title}</title><script type="application/ld+json">{graph}</script>{html}'
    return read_page(url, SITE, rdfspider.extract(page.encode(), url=url).statements, title=title)


def main_of(reading: PageReading) -> Contribution | None:
    return reading.contributions[reading.main] if reading.main else None


def types_of(contribution: Contribution) -> list[str]:
    return [iri.removeprefix(SCHEMA).rpartition("/")[2] for iri in contribution.types]


def label_of(reading: PageReading) -> str:
    found = main_of(reading)
    return found.labels[0][2] if found else ""


def roles(reading: PageReading) -> dict[str, Role]:
    return {each.labels[0][2]: each.role for each in reading.contributions.values()}


def test_a_recipe_has_its_own_date_and_time_and_not_those_of_its_video() -> None:
    video = {"@type": "VideoObject", "name": RECIPE["name"], "duration": "PT2M", "uploadDate": "2019-03-19"}
    found = main_of(read({**RECIPE, "datePublished": "2023-01-12", "totalTime": "PT40M"}, video))
    assert found is not None and "VideoObject" in types_of(found) and found.date
    assert write_date(found.date[1]) == "2023-01-12"
    facts = choose_facts([found], [RECIPE["name"]])
    assert [text for _, text in facts] == ["Ada Cook", "40 minutes", "12 January 2023"]


def test_what_tells_of_one_thing_at_one_url_is_one_thing_with_several_types() -> None:
    reading = read(
        {"@type": "WebPage", "@id": PAGE, "name": "Firecracker Chicken Wings - Ada's Kitchen"},
        {"@type": "Article", "@id": f"{PAGE}#article", "headline": "The best wings ever", "isPartOf": {"@id": PAGE}},
        {**RECIPE, "@id": f"{PAGE}#recipe", "mainEntityOfPage": f"{PAGE}#article"},
        {"@type": "VideoObject", "name": "Firecracker Chicken Wings", "duration": "PT2M"},
        {"@type": "VideoObject", "name": "How to hold a knife", "duration": "PT1M"},
        {"@type": "Organization", "@id": f"{HOME}#org", "name": "Ada's Kitchen", "url": HOME},
        html='<div class="hentry"><h1 class="entry-title">Firecracker Chicken Wings</h1>'
        '<p class="entry-summary">hot</p></div>'
        '<meta property="og:type" content="article"><meta property="og:description" content="so hot">',
        title="Firecracker Chicken Wings - Ada's Kitchen",
    )
    found = main_of(reading)
    assert found is not None
    assert types_of(found) == ["Recipe", "Article", "VideoObject", "CreativeWork", "WebPage", "h-entry"]
    assert found.id == f"{PAGE}#recipe"
    # Its own name comes before those of the documents, but the words of all are found.
    assert found.labels[0][2] == "Firecracker Chicken Wings"
    assert {"The best wings ever", "Firecracker Chicken Wings - Ada's Kitchen"} <= {text for *_, text in found.labels}
    assert ("http://ogp.me/ns#description", ("so hot",)) in found.values
    others = roles(reading)
    assert others.pop("Firecracker Chicken Wings") is Role.MAIN
    assert {label for label, role in others.items() if role is Role.THING} == {
        "Ada Cook",
        "Ada's Kitchen",
        "How to hold a knife",
    }


@pytest.mark.parametrize(
    ("things", "title", "label"),
    [
        # The page names it, or it names the page.
        ([{"@type": "WebPage", "@id": PAGE, "mainEntity": {"@type": "Event", "name": "Fair"}}], "What is on", "Fair"),
        ([{"@type": "Event", "name": "Fair", "mainEntityOfPage": PAGE}], "What is on", "Fair"),
        ([{"@type": "Event", "name": "Fair", "url": "http://www.kitchen.example/wings/"}], "What is on", "Fair"),
        # Its label is the title, whatever else is there.
        ([{"@type": "Product", "name": f"Lamp {at}"} for at in range(5)], "Lamp 3 | Shop", "Lamp 3"),
        ([{"@type": "Product", "name": "Lamp", "url": "https://kitchen.example/true"}], "Lamp", "Lamp"),
        # It is the only one of its kind, and the title has a word of it.
        ([{"@type": "Product", "name": "Reading lamps of brass"}], "All about lamps", "Reading lamps of brass"),
        ([{"@type": "Product", "name": "A chair"}], "All about lamps", ""),
        # A thing rather than the article about it; but not a product that an article only names.
        ([{"@type": "Article", "headline": "Our wings"}, {**RECIPE, "url": PAGE}], "Our wings", RECIPE["name"]),
        ([{"@type": "NewsArticle", "headline": "Fire", "url": PAGE}, {"@type": "Product", "name": "Hose"}], "Fire", "Fire"),
        # A person or an organization only where the page is called so.
        ([{"@type": "Person", "name": "Ada Cook", "url": PAGE}], "Ada Cook - Kitchen", "Ada Cook"),
        ([{"@type": "Person", "name": "Ada Cook"}], "Wings by Ada Cook", ""),
        ([{"@type": "Organization", "name": "Kitchen", "url": HOME}], "Kitchen | Wings", ""),
        # A thing without a telling class only if its IRI is on the page.
        ([{"@type": "Thing", "@id": f"{PAGE}#it", "name": "A wing"}], "What is on", "A wing"),
        ([{"@type": "Thing", "name": "A wing"}], "What is on", ""),
        # Whoever published the page, and its path, are not what it is about.
        ([{"@type": "BreadcrumbList", "itemListElement": {"@type": "ListItem", "name": "Wings"}}], "Wings", ""),
        ([{"@type": "WebSite", "name": "Wings", "url": HOME}], "Wings", ""),
    ],
)  # fmt: skip
def test_evidence_for_the_main_thing(things: list[dict[str, Any]], title: str, label: str) -> None:
    assert label_of(read(*things, title=title)) == label


def test_a_page_that_lists_things_is_about_itself() -> None:
    posts = [{"@type": "BlogPosting", "headline": f"Post {at}", "url": f"{HOME}{at}"} for at in range(20)]
    assert read(*posts, title="Ada's Kitchen", url=HOME).main is None
    # Some themes say of each entry that it is the main thing of the page with the list.
    claimed = [{**post, "mainEntityOfPage": HOME} for post in posts]
    assert read(*claimed, title="Ada's Kitchen", url=HOME).main is None
    wings = {"@type": "Product", "name": "Wings of all sorts", "url": HOME}
    assert read({"@type": "CollectionPage", "@id": HOME}, wings, title="Wings", url=HOME).main is None
    questions = [{"@type": "Question", "name": f"Why {at}?"} for at in range(3)]
    faq = read({"@type": "FAQPage", "@id": PAGE, "mainEntity": questions}, title="Questions")
    assert faq.main is None
    assert set(roles(faq).values()) == {Role.PART}


def test_articles_under_two_headlines_at_the_url_of_the_page_are_the_page() -> None:
    one = {"@type": "Article", "@id": f"{PAGE}#a", "headline": "He said ‘no’", "mainEntityOfPage": PAGE}
    other = {"@type": "NewsArticle", "headline": "He said no", "url": PAGE}
    found = main_of(read(one, other, title="An interview"))
    assert found is not None
    assert types_of(found) == ["Article", "NewsArticle"]


def test_what_a_document_says_of_its_own_iri_is_its_main_thing() -> None:
    reading = read_page(
        PAGE,
        SITE,
        {
            "turtle": f"<{PAGE}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://x.example/Wing> <{PAGE}> .\n"
            f'<{PAGE}> <http://www.w3.org/2000/01/rdf-schema#label> "Left wing" <{PAGE}> .\n'
        },
    )
    assert label_of(reading) == "Left wing"


def test_a_post_with_the_same_name_is_the_thing_whatever_it_links_to() -> None:
    post = (
        '<article class="h-entry"><h1 class="p-name">Firecracker Chicken Wings</h1>'
        '<a class="u-url" href="/other-dish">Another dish</a></article>'
    )
    for thing in (RECIPE, {"@type": "Article", "@id": f"{PAGE}#article", "headline": RECIPE["name"]}):
        reading = read(thing, html=post, title="Wings for everybody: Firecracker Chicken Wings")
        (found,) = (each for each in reading.contributions.values() if each.labels[0][2] == RECIPE["name"])
        assert found.role == Role.MAIN and {thing["@type"], "h-entry"} <= {*types_of(found)}


def test_the_type_that_the_page_states_decides_between_things_with_the_same_claim() -> None:
    things = [{"@type": "Product", "name": "The Blue Lagoon"}, {"@type": "Book", "name": "The Red Sea Story"}]
    title = "On The Blue Lagoon and The Red Sea Story"
    for stated, label in (("book", "The Red Sea Story"), ("product", "The Blue Lagoon")):
        assert label_of(read(*things, title=title, html=f'<meta property="og:type" content="{stated}">')) == label
    person = {"@type": "Person", "name": "Ada Lovelace, Countess"}
    profile = '<meta property="og:type" content="profile">'
    about = "All about Ada Lovelace, Countess and her engine"
    assert [label_of(read(person, title=about, html=html)) for html in ("", profile)] == ["", "Ada Lovelace, Countess"]


def test_a_review_at_the_url_of_the_thing_is_the_thing() -> None:
    reading = read(
        {**RECIPE, "@id": f"{PAGE}#recipe"},
        {"@type": "Review", "@id": f"{PAGE}#review", "name": RECIPE["name"], "mainEntityOfPage": PAGE},
        title=RECIPE["name"],
    )
    found = main_of(reading)
    assert found is not None and types_of(found) == ["Recipe", "Review"]


def test_of_several_names_the_title_is_the_label_and_a_code_never_is() -> None:
    several = read({"@type": "Product", "name": ["A book beside it", "The One Device"]}, title="The One Device")
    assert label_of(several) == "The One Device"
    code = "a-60a0111a-c2d2-46c8-9e93-b16a374e6ba8"
    coded = read({"@type": "NewsArticle", "url": PAGE, "name": code, "headline": "A bank fails"}, title="Banks")
    assert label_of(coded) == "A bank fails"
    assert [*roles(read({"@type": "Product", "@id": f"{HOME}#p", "name": code}))] == [code], "where there is no other"


def test_very_many_claims_are_bounded() -> None:
    many = [{"@type": "Recipe", "name": "Wings", "url": PAGE, "@id": f"{PAGE}#{at}"} for at in range(500)]
    found = main_of(read(*many, title="Wings"))
    assert found is not None
    assert len(found.nodes) == 8
