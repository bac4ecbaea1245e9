"""What a page says of which thing."""

import time
from collections.abc import Mapping

import pytest

import rdfspider
from rdfspider.index.entities.contributions import MAX_ENTITIES, URN, Contribution, PageReading, find_entity, read_page
from rdfspider.vocabulary.prefixes import SCHEMA

PAGE = "https://shop.example.com/lamp"
SITE = "example.com"


def read(html: str, url: str = PAGE, site: str = SITE) -> PageReading:
    return read_page(url, site, rdfspider.extract(html.encode(), url=url).statements)


def read_jsonld(json: str, url: str = PAGE, site: str = SITE) -> PageReading:
    return read(f'<script type="application/ld+json">{json}</script>', url, site)


def read_triples(triples: str) -> PageReading:
    return read_page(PAGE, SITE, {"turtle": "".join(f"{line} <{PAGE}> .\n" for line in triples.strip().splitlines())})


def by_label(reading: PageReading) -> dict[str, Contribution]:
    return {each.labels[0][2]: each for each in reading.contributions.values()}


def values(contribution: Contribution) -> Mapping[str, tuple[str, ...]]:
    return {iri.removeprefix(SCHEMA): texts for iri, texts in contribution.values}


def test_an_iri_is_the_key_of_its_thing_on_every_site() -> None:
    lamp = '{"@context": "https://schema.org", "@type": "Product", "@id": "http://x.example/lamp", "name": "Lamp"}'
    one, other = read_jsonld(lamp), read_jsonld(lamp, "https://other.example/", "other.example")
    assert list(one.contributions) == list(other.contributions)
    assert by_label(one)["Lamp"].id == "http://x.example/lamp"
    assert find_entity("http://x.example/lamp") in one.contributions


def test_a_blank_node_is_known_by_its_url_within_its_site() -> None:
    text = '{"@context": "https://schema.org", "@type": "Product", "name": "%s", "url": "https://shop.example.com/p/1"}'
    one, same = read_jsonld(text % "Lamp"), read_jsonld(text % "LAMP", "https://shop.example.com/other")
    elsewhere = read_jsonld(text % "Lamp", "https://thief.example/", "thief.example")
    assert list(one.contributions) == list(same.contributions)
    assert list(one.contributions) != list(elsewhere.contributions)
    assert by_label(one)["Lamp"].id == URN + next(iter(one.contributions)).hex()


def test_authors_who_all_give_their_site_as_url_are_told_apart() -> None:
    text = '{"@context": "https://schema.org", "@type": "Person", "name": "%s", "url": "https://example.com/"}'
    assert list(read_jsonld(text % "Ada").contributions) != list(read_jsonld(text % "Bob").contributions)


@pytest.mark.parametrize(
    "shared", ['"url": "https://example.com/about"', '"sameAs": "https://social.example/paper"', '"identifier": "7"']
)
def test_what_several_things_share_does_not_make_them_one(shared: str) -> None:
    text = f'{{"@context": "https://schema.org", "@type": "Person", "name": "%s", {shared}}}'
    pages = [read_jsonld(text % name, f"https://example.com/{name}") for name in ("Ada", "Bob", "ada")]
    ada, bob, same = (list(page.contributions) for page in pages)
    assert ada == same != bob


@pytest.mark.parametrize(
    "nothing", ['"sku": "N/A"', '"sameAs": "https://example.com/"', '"url": "https://example.com"']
)
def test_what_tells_nothing_of_a_thing_does_not_tell_it_from_itself(nothing: str) -> None:
    text = '{"@context": "https://schema.org", "@type": "Product", "name": "Lamp"%s}'
    plain, other = (read_jsonld(text % end, site="example.com") for end in ("", f", {nothing}"))
    assert list(plain.contributions) == list(other.contributions)


def test_reviews_of_one_page_that_all_give_its_url_are_told_apart() -> None:
    review = '{"@type": "Review", "name": "%s", "url": "https://shop.example.com/p/1"}'
    text = f'{{"@context": "https://schema.org", "@graph": [{review % "Good"}, {review % "Bad"}]}}'
    assert set(by_label(read_jsonld(text))) == {"Good", "Bad"}


def test_a_product_is_known_by_its_number_and_brand() -> None:
    brand = '"brand": {"@type": "Brand", "name": "%s"}'
    text = f'{{"@context": "https://schema.org", "@type": "Product", "name": "%s", "sku": "7", {brand}}}'
    keys = [read_jsonld(text % each) for each in (("Lamp", "Lux"), ("lamp", "Lux"), ("Lamp", "Nox"))]
    lamps = [by_label(reading)[label] for reading, label in zip(keys, ("Lamp", "lamp", "Lamp"), strict=True)]
    assert lamps[0].id == lamps[1].id != lamps[2].id


def test_otherwise_class_and_label_tell_and_case_and_spaces_do_not_matter() -> None:
    text = '{"@context": "https://schema.org", "@type": "%s", "name": "%s"}'
    one, same, other = (
        list(read_jsonld(text % each).contributions)
        for each in (("Person", "Ada Lovelace"), ("Person", "ADA  lovelace"), ("Book", "Ada Lovelace"))
    )
    assert one == same != other


def test_the_same_thing_in_two_syntaxes_is_one() -> None:
    reading = read(
        '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Person", "name": "Ada"}</script>'
        '<p itemscope itemtype="https://schema.org/Person"><b itemprop="name">Ada</b> <i itemprop="jobTitle">Analyst</i></p>'
    )
    (ada,) = reading.contributions.values()
    assert ada.syntaxes == ("jsonld", "microdata")
    assert len(ada.nodes) == 2
    assert all(node.startswith("genid:") for node in ada.nodes)
    assert values(ada)["jobTitle"] == ("Analyst",)


def test_what_one_syntax_names_by_an_iri_or_url_and_another_does_not_is_one() -> None:
    microdata = '<p itemscope itemtype="https://schema.org/Book"><b itemprop="name">%s</b></p>'
    book = '{"@type": "Book", "name": "%s", %s}'
    graph = ", ".join(
        [
            book % ("Named", '"@id": "http://x.example/book"'),
            book % ("Placed", '"url": "https://shop.example.com/p/1"'),
            book % ("Twice", '"url": "https://shop.example.com/p/2"'),
            book % ("Twice", '"url": "https://shop.example.com/p/3"'),
        ]
    )
    reading = read(
        f'<script type="application/ld+json">{{"@context": "https://schema.org", "@graph": [{graph}]}}</script>'
        + "".join(microdata % name for name in ("named", "Placed", "Twice"))
    )
    found = sorted((each.labels[0][2], len(each.nodes), each.url) for each in reading.contributions.values())
    assert found == [
        ("Named", 2, ""),
        ("Placed", 2, "https://shop.example.com/p/1"),
        ("Twice", 1, ""),
        ("Twice", 1, "https://shop.example.com/p/2"),
        ("Twice", 1, "https://shop.example.com/p/3"),
    ]
    assert reading.contributions[find_entity("http://x.example/book") or b""].id == "http://x.example/book"


def test_no_iri_can_pass_for_the_key_of_another_sites_thing() -> None:
    forged = r"<other.example\u0000http://schema.org/Person\u0000label\u0000ada>"
    reading = read_triples(f'{forged} <http://schema.org/name> "Eve"')
    assert reading.contributions == {}


def test_a_book_has_the_name_of_its_author_and_the_values_of_nameless_parts() -> None:
    reading = read_jsonld(
        '{"@context": "https://schema.org", "@type": "Book", "name": "Notes", "author": {"@type": "Person", "name": "Ada"},'
        ' "aggregateRating": {"@type": "AggregateRating", "ratingValue": "4.5"}}'
    )
    book = by_label(reading)["Notes"]
    assert values(book)["author"] == ("Ada",)
    assert book.parts == (("http://schema.org/aggregateRating http://schema.org/ratingValue", ("4.5",)),)
    assert "ratingValue" not in values(book), "which is not the book's own"
    assert set(by_label(reading)) == {"Notes", "Ada"}, "the rating has no label, so it is no thing of its own"


def test_parts_weigh_less() -> None:
    reading = read_jsonld(
        '{"@context": "https://schema.org", "@type": "Article", "name": "News", "author": {"@type": "Person", "name": "Ada"},'
        ' "publisher": {"@id": "http://x.example/#us", "@type": "Organization", "name": "Us"},'
        ' "image": {"@type": "ImageObject", "name": "Picture", "contentUrl": "https://x.example/i.png"}}'
    )
    weights = {label: each.weight for label, each in by_label(reading).items()}
    assert weights["News"] == 1 > weights["Us"] > weights["Ada"] > weights["Picture"] > 0
    assert by_label(reading)["News"].image == "https://x.example/i.png"


def test_labels_descriptions_and_dates_are_ranked() -> None:
    reading = read_triples(
        '<http://x.example/a> <http://ogp.me/ns#title> "From og"@en\n'
        '<http://x.example/a> <http://schema.org/name> "  The \\u0041\\n name "@en\n'
        '<http://x.example/a> <http://schema.org/dateModified> "2024-02-01"\n'
        '<http://x.example/a> <http://schema.org/datePublished> "2024-01-01T00:00:00Z"\n'
        '<http://x.example/a> <http://www.w3.org/2000/01/rdf-schema#comment> "a comment"\n'
        '<http://x.example/a> <http://schema.org/description> "a description"'
    )
    (thing,) = reading.contributions.values()
    assert [label[2] for label in thing.labels] == ["The A name", "From og"]
    assert thing.description is not None and thing.description[2] == "a description"
    assert thing.date == (0, 1704067200.0)
    assert thing.languages == ("en",)


def test_an_iri_without_a_label_is_called_by_its_end() -> None:
    reading = read_triples(
        "<http://x.example/people#ada%20l> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://xmlns.com/foaf/0.1/Person>"
    )
    assert list(by_label(reading)) == ["ada l"]


def test_what_a_page_says_of_itself_without_a_class_is_no_other_thing() -> None:
    reading = read('<meta property="og:title" content="Lamp"><meta property="og:description" content="It shines.">')
    assert reading.contributions == {}
    assert reading.own is not None
    assert reading.own.labels[0][2] == "Lamp"


def test_counts_of_a_page() -> None:
    facts = read_jsonld(
        '{"@context": "https://schema.org", "@graph": [{"@type": "Person", "name": "Ada"}, {"@type": "Person", "name": "Bob"}]}'
    ).facts
    assert facts.classes == {"http://schema.org/Person": 2}
    assert facts.properties["http://schema.org/name"] == 2
    assert facts.ontologies["http://schema.org/"] == 4
    assert facts.syntaxes == {"jsonld": 4} and facts.quads == 4


def test_variants_of_schema_org_are_one() -> None:
    one = read_jsonld('{"@context": {"@vocab": "https://schema.org/"}, "@type": "Person", "name": "Ada"}')
    other = read_jsonld('{"@context": {"@vocab": "http://www.schema.org/"}, "@type": "Person", "name": "Ada"}')
    assert list(one.contributions) == list(other.contributions)
    assert one.facts.classes == other.facts.classes == {"http://schema.org/Person": 1}


def test_subclasses_are_learned() -> None:
    subclass = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
    reading = read_triples(f"<http://x.example/Poet> {subclass} <http://xmlns.com/foaf/0.1/Person>")
    assert reading.subclasses == [("http://x.example/Poet", "http://xmlns.com/foaf/0.1/Person")]


def test_hostile_pages_are_bounded() -> None:
    name = "<http://schema.org/name>"
    many = "\n".join(f'<http://x.example/{n}> {name} "thing {n}"' for n in range(MAX_ENTITIES + 500))
    assert len(read_triples(many).contributions) == MAX_ENTITIES
    alike = "\n".join(f'_:b{n} {name} "same"\n_:b{n} <http://x.example/p{n}> "{n}"' for n in range(20_000))
    dense = "\n".join(f'_:c{n} {name} "thing {n}"' for n in range(200))
    dense += "\n" + "\n".join(f"_:c{n} <http://x.example/p> _:d{m}" for n in range(200) for m in range(100))
    dense += "\n" + "\n".join(f'_:d{m} <http://x.example/q{k}> "{k}"' for m in range(100) for k in range(100))
    started = time.process_time()
    (same,) = read_triples(alike).contributions.values()
    things = read_triples(dense).contributions
    assert time.process_time() - started < 5
    assert len(same.nodes) <= 8
    assert len(things) == 200
    long = read_triples(
        f'<http://x.example/a> {name} "a"\n' + f'<http://x.example/a> <http://x.example/p> "{"x" * 1_000_000}"'
    )
    assert all(len(text) <= 2_000 for each in long.contributions.values() for _, texts in each.values for text in texts)


def test_escapes_that_stand_for_no_character_cost_their_own_statements_only() -> None:
    name = "<http://schema.org/name>"
    reading = read_triples(
        rf'<http://x.example/\uD800> {name} "a"'
        "\n"
        rf'<http://x.example/\U00FFFFFF> {name} "b"'
        "\n"
        rf'<http://x.example/c> {name} "c\uD800\U00FFFFFF"'
    )
    assert list(by_label(reading)) == ["c\ufffd\ufffd"]
