"""What is only a part of something is found inside it."""

from index.entities.test_main_thing import HOME, PAGE, RECIPE, main_of, read, roles
from rdfspider.results import Role
from rdfspider.vocabulary.prefixes import SCHEMA


def test_a_part_knows_its_whole_and_its_words_are_among_those_of_the_whole() -> None:
    reading = read({**RECIPE, "@id": f"{PAGE}#recipe"}, title="Wings")
    step = next(each for each in reading.contributions.values() if each.labels[0][2] == "Fry")
    assert step.role is Role.PART
    assert step.whole == (f"{PAGE}#recipe", "Firecracker Chicken Wings")
    found = main_of(reading)
    assert found is not None
    # In the order of the page.
    assert dict(found.values)[SCHEMA + "recipeInstructions"] == ("Marinate", "Fry")
    path = f"{SCHEMA}recipeInstructions {SCHEMA}text"
    assert dict(found.parts)[path] == ("Leave it overnight.", "Until golden.")


def test_parts_of_parts_belong_to_the_whole() -> None:
    sections = [
        {"@type": "HowToSection", "name": "Sauce", "itemListElement": [{"@type": "HowToStep", "text": "Stir slowly."}]}
    ]
    found = main_of(read({"@type": "Recipe", "name": "Wings", "url": PAGE, "recipeInstructions": sections}))
    assert found is not None
    assert "Stir slowly." in [text for _, texts in found.parts for text in texts]


def test_a_thing_in_a_part_is_named_and_stays_a_thing() -> None:
    items = [{"@type": "ListItem", "position": 1, "item": {"@type": "Product", "name": "Lamp", "sku": "A-7"}}]
    reading = read({"@type": "OfferCatalog", "@id": f"{PAGE}#all", "name": "Lamps", "itemListElement": items})
    assert roles(reading)["Lamp"] is Role.THING
    whole = next(each for each in reading.contributions.values() if each.labels[0][2] == "Lamps")
    assert "Lamp" in [text for _, texts in whole.parts for text in texts]
    assert "A-7" not in [text for _, texts in whole.parts for text in texts]


def test_navigation_sites_and_mere_names_of_links_are_parts() -> None:
    crumbs = [{"@type": "ListItem", "position": 1, "name": "Start", "item": {"@id": HOME, "name": "Home"}}]
    reading = read(
        {"@type": "WebSite", "name": "Kitchen", "url": HOME},
        {"@type": "BreadcrumbList", "itemListElement": crumbs},
        {"@type": "SiteNavigationElement", "name": "Shop", "url": f"{HOME}shop"},
        {"@type": "Article", "url": PAGE, "headline": "Fire", "about": {"@type": "Thing", "name": "heat"}},
        title="Fire",
    )
    found = roles(reading)
    assert found.pop("Fire") is Role.MAIN
    assert found == dict.fromkeys(("Kitchen", "Start", "Home", "Shop", "heat"), Role.PART)
    main = main_of(reading)
    assert main is not None
    assert "Home" not in [text for _, texts in (*main.values, *main.parts) for text in texts]


def test_who_comments_is_part_of_the_comment_and_who_writes_is_a_thing() -> None:
    said = {"@type": "Comment", "text": "Nice.", "author": {"@type": "Person", "name": "Troll"}}
    review = {"@type": "Review", "name": "Good", "author": {"@type": "Person", "name": "Critic"}}
    found = roles(read({**RECIPE, "url": PAGE, "comment": said, "review": review}))
    assert (found["Ada Cook"], found["Troll"], found["Critic"], found["Good"]) == (
        Role.THING,
        Role.PART,
        Role.PART,
        Role.PART,
    )
    cards = "".join(f'<p class="vcard"><a class="fn url" href="/u/{at}">Reader {at}</a></p>' for at in range(5))
    assert set(roles(read(html=cards)).values()) == {Role.PART}
    team = "".join(f'<p class="vcard"><b class="fn">Cook {at}</b> <i class="role">chef</i></p>' for at in range(5))
    assert set(roles(read(html=team)).values()) == {Role.THING}


def test_parts_that_point_to_each_other_are_read_once() -> None:
    ring = [
        {
            "@type": "HowToStep",
            "@id": f"{PAGE}#{at}",
            "text": f"turn {at}",
            "nextItem": {"@id": f"{PAGE}#{(at + 1) % 400}"},
        }
        for at in range(400)
    ]
    found = main_of(read({"@type": "HowTo", "name": "Ring", "url": PAGE, "step": {"@id": f"{PAGE}#0"}}, *ring))
    assert found is not None
    assert 100 < sum(len(texts) for _, texts in found.parts) <= 300


def test_a_comment_is_a_part_whatever_else_it_is() -> None:
    comment = (
        '<div about="#comment" typeof="http://rdfs.org/sioc/ns#Post http://rdfs.org/sioc/types#Comment">'
        '<span property="http://purl.org/dc/terms/title">I disagree</span> <b property="schema:text">Why not?</b></div>'
    )
    assert roles(read(RECIPE, title=RECIPE["name"], html=comment))["I disagree"] == Role.PART


def test_an_update_of_a_live_blog_is_a_thing_of_its_own() -> None:
    updates = [{"@type": "BlogPosting", "headline": "Ten arrested", "articleBody": "This evening."}]
    live = {"@type": "LiveBlogPosting", "headline": "Riots live", "url": PAGE, "liveBlogUpdate": updates}
    assert roles(read(live, title="Riots live")) == {"Riots live": Role.MAIN, "Ten arrested": Role.THING}
