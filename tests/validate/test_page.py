"""Each rule of a page, with pages that break it and pages that do not."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rdfspider.pipeline import extract
from rdfspider.records import Problem
from rdfspider.validate.findings import ERROR, HINT, RULES, WARNING, Finding
from rdfspider.validate.page import MAX_FINDINGS, Validator
from rdfspider.validate.profiles import load_profile
from rdfspider.validate.statements import MAX_STATEMENTS
from rdfspider.vocabulary.labels import RDF_TYPE

URL = "https://shop.example/tea/green"
_VALIDATORS = {name: Validator(load_profile(name)) for name in ("schema", "google", "usual")}


def check_html(html: str, profile: str = "schema") -> list[Finding]:
    found = extract(html, URL)
    return _VALIDATORS[profile].check(URL, found.statements, found.problems)


def check(thing: object, profile: str = "schema", context: object = "https://schema.org") -> list[Finding]:
    """Findings of a page with one JSON-LD script: a thing, or a list of them."""
    data = {"@context": context, "@graph": thing} if isinstance(thing, list) else {"@context": context, **thing}  # type: ignore[dict-item]
    return check_html(f'<script type="application/ld+json">{json.dumps(data)}</script>', profile)


def rules(found: list[Finding]) -> list[str]:
    return sorted(finding.rule for finding in found)


def test_a_good_page_has_no_findings() -> None:
    offer = {"@type": "Offer", "price": 4.5, "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}
    good = {
        "@type": "Product",
        "name": "Tea",
        "url": "https://shop.example/",
        "offers": offer,
        "gtin13": "4006381333931",
    }
    assert check(good) == []
    assert check_html("<p>Nothing here</p>") == []


def test_both_spellings_of_the_namespace_are_right() -> None:
    for context in ("http://schema.org", "https://schema.org/", {"@vocab": "https://www.schema.org/"}):
        assert check({"@type": "Event", "startDate": "2026-05-01T19:30"}, context=context) == []
    for start in ("http://schema.org/", "https://schema.org/"):
        assert check_html(f'<p itemscope itemtype="{start}Event"><b itemprop=name>A</b></p>') == []


def test_an_unknown_class_with_the_one_that_was_meant() -> None:
    [found] = check({"@type": "Evnt", "name": "Party", "startDate": "2026-05-01"})
    assert (found.rule, found.severity, found.path, found.syntax) == ("unknown-class", ERROR, "Evnt", "jsonld")
    assert found.message == 'schema.org has no class "Evnt"; did you mean Event?'
    [found] = check({"@type": "Zorblax", "name": "A"})
    assert found.message == 'schema.org has no class "Zorblax"'
    assert rules(check_html('<p itemscope itemtype="https://schema.org/"><b itemprop=name>A</b></p>')) == [
        "unknown-class"
    ]


def test_a_class_in_another_case() -> None:
    [found] = check({"@type": "product", "name": "Tea"})
    assert (found.rule, found.severity, found.message) == ("class-case", WARNING, "product: schema.org writes Product")


@pytest.mark.parametrize("name", ["Person/Minister", "TattooParlor", "EUEnergyEfficiencyEnumeration", "InStock"])
def test_classes_that_are_none_of_our_business_or_right(name: str) -> None:
    assert check_html(f'<p itemscope itemtype="https://schema.org/{name}"><b itemprop=name>A</b></p>') == []


def test_an_extended_class_may_have_properties_of_its_own() -> None:
    page = '<p itemscope itemtype="https://schema.org/{}"><b itemprop=office>A</b></p>'
    assert check_html(page.format("Person/Minister")) == []
    assert rules(check_html(page.format("Person"))) == ["unknown-property"]


def test_an_unknown_property_with_the_one_that_was_meant() -> None:
    [found] = check({"@type": "Event", "locaton": "Here"})
    assert (found.rule, found.path) == ("unknown-property", "Event.locaton")
    assert found.message == 'schema.org has no property "locaton"; did you mean location?'
    [found] = check({"@type": "Event", "startdate": "2026-05-01"})
    assert (found.rule, found.message) == ("property-case", "startdate: schema.org writes startDate")
    action = {"@type": "SearchAction", "target": "https://shop.example/?q={q}", "query-input": "required name=q"}
    assert check({"@type": "WebSite", "potentialAction": action}) == []


def test_link_types_are_no_properties_though_rdfa_reads_them_so() -> None:
    page = '<div vocab="https://schema.org/" typeof="Person"><b property="name">A</b><a rel="nofollow" href="/x">x</a></div>'
    assert check_html(page) == []


def test_a_property_that_the_class_does_not_have() -> None:
    [found] = check({"@type": "Article", "headline": "A", "recipeYield": "4"})
    assert (found.rule, found.severity) == ("property-of-class", WARNING)
    assert found.message == "Article has no property recipeYield; Recipe has it"


@pytest.mark.parametrize(
    "thing",
    [
        {"@type": "NewsArticle", "headline": "of a superclass", "wordCount": 3},
        {"@type": ["Article", "Recipe"], "recipeYield": "4", "articleSection": "two classes"},
        {"@type": ["Product", "https://other.example/Kettle"], "recipeYield": "another vocabulary"},
        {"@type": "OrganizationRole", "member": {"@type": "Person", "name": "a role"}, "roleName": "x", "actor": "y"},
        {"name": "no class", "recipeYield": "4"},
    ],
)
def test_properties_that_a_thing_may_have(thing: dict[str, object]) -> None:
    assert [found for found in check(thing) if found.rule == "property-of-class"] == []


def test_superseded_terms_are_only_a_hint() -> None:
    found = check([{"@type": "Recipe", "ingredients": "salt"}, {"@type": "Code", "name": "A"}])
    assert [(each.rule, each.severity) for each in found] == [("superseded", HINT)] * 2
    assert {each.message for each in found} == {
        "ingredients is superseded by recipeIngredient",
        "Code is superseded by SoftwareSourceCode",
    }


def test_a_thing_of_the_wrong_class() -> None:
    [found] = check({"@type": "Article", "author": {"@type": "Recipe", "name": "A"}})
    assert (found.rule, found.path) == ("value-class", "Article.author")
    assert found.message == "author is of class Recipe, where schema.org has Organization or Person"


@pytest.mark.parametrize(
    "author",
    [
        {"@type": "Corporation", "name": "a subclass"},
        {"@type": "Thing", "name": "too general, but not wrong"},
        {"@type": "Role", "author": {"@type": "Person", "name": "A"}},
        {"@type": "https://other.example/Author", "name": "of another vocabulary"},
        {"name": "no class"},
        {"@id": "https://other.example/#jane"},
        "https://other.example/jane",
    ],
)
def test_things_that_may_be_a_value(author: object) -> None:
    assert check({"@type": "Article", "author": author}) == []


def test_a_described_page_is_still_a_url() -> None:
    page = {"@type": "WebPage", "@id": URL, "potentialAction": {"@type": "ReadAction", "target": {"@id": URL}}}
    assert check(page) == []


def test_a_thing_where_a_text_is_expected() -> None:
    [found] = check({"@type": "Store", "openingHours": {"@type": "OpeningHoursSpecification", "opens": "09:00"}})
    assert (found.rule, found.path) == ("thing-for-text", "Store.openingHours")


def test_a_text_where_a_thing_is_expected_is_only_a_hint() -> None:
    [found] = check({"@type": "Article", "author": "Jane"})
    assert (found.rule, found.severity) == ("text-for-thing", HINT)


def test_a_url_where_a_text_is_expected() -> None:
    [found] = check_html('<p itemscope itemtype="https://schema.org/Person"><a itemprop=name href=/jane>Jane</a></p>')
    assert (found.rule, found.path, found.syntax) == ("url-for-text", "Person.name", "microdata")
    assert check_html('<p itemscope itemtype="https://schema.org/Person"><a itemprop=url href=/jane>Jane</a></p>') == []


def test_empty_values_and_things() -> None:
    found = check({"@type": "Product", "name": "", "description": " ", "brand": {}})
    assert rules(found) == ["empty-thing", "empty-value", "empty-value"]


def test_texts_that_are_escaped_twice() -> None:
    assert rules(check({"@type": "Product", "name": "Tom &amp; Jerry"})) == ["escaped-twice"]
    assert check({"@type": "Product", "name": "Tom & Jerry", "description": "<b>Tom &amp; Jerry</b>"}) == []


def test_a_reference_that_leads_nowhere() -> None:
    [found] = check({"@type": "Article", "author": {"@id": "#jane"}})
    assert (found.rule, found.path, found.value) == ("dangling-reference", "Article.author", f"{URL}#jane")
    jane = {"@type": "Person", "@id": "#jane", "name": "Jane"}
    assert check([{"@type": "Article", "author": {"@id": "#jane"}}, jane]) == []
    # On another page, or an address within this one.
    assert check({"@type": "Article", "author": {"@id": "https://shop.example/#jane"}, "url": "#top"}) == []


def test_an_address_without_its_scheme() -> None:
    [found] = check({"@type": "Person", "url": "www.jane.example/home"})
    assert (found.rule, found.path) == ("url-form", "Person.url")
    assert check({"@type": "Person", "image": "https://cdn.example/www.jane.example/a.jpg"}) == []


def test_members_of_enumerations_as_iris() -> None:
    page = '<p itemscope itemtype="https://schema.org/Offer"><link itemprop=availability href="{}"></p>'
    assert check_html(page.format("https://schema.org/InStock")) == []
    assert check_html(page.format("https://other.example/Soon")) == []
    [found] = check_html(page.format("http://schema.org/instock"))
    assert (
        found.message == '"http://schema.org/instock" is no ItemAvailability; did you mean https://schema.org/InStock?'
    )


def test_syntaxes_that_contradict_each_other() -> None:
    microdata = (
        '<div itemscope itemtype="https://schema.org/Product"><b itemprop=name>Tea</b>'
        '<p itemprop=offers itemscope itemtype="https://schema.org/Offer"><b itemprop=price content="{}">x</b></p></div>'
    )
    offer = {"@type": "Offer", "price": "4.50"}
    data = json.dumps({"@context": "https://schema.org", "@type": "Product", "name": "Tea", "offers": offer})
    script = f'<script type="application/ld+json">{data}</script>'
    [found] = check_html(script + microdata.format("5.50"))
    assert (found.rule, found.path) == ("syntax-conflict", "Product.offers.price")
    assert found.message == 'offers.price is "4.50" in jsonld, and "5.50" in microdata'
    assert check_html(script + microdata.format("4.5")) == []
    assert check_html(script + microdata.format("5.50").replace("Tea", "Coffee")) == []
    # Another number, or a class that says little: these may be two things.
    other = (
        script.replace('"name"', '"sku": "1", "name"'),
        microdata.replace("<p", "<meta itemprop=sku content=2><p", 1),
    )
    assert check_html(other[0] + other[1].format("5.50")) == []
    work = script.replace("Product", "Recipe").replace("offers", "datePublished").replace(json.dumps(offer), '"2026"')
    dated = (
        '<p itemscope itemtype="https://schema.org/{}"><b itemprop=name>Tea</b><i itemprop=datePublished>2025</i></p>'
    )
    assert check_html(work + dated.format("CreativeWork")) == []
    assert rules(check_html(work + dated.format("Recipe"))) == ["syntax-conflict"]


def test_what_microformats_say_is_not_schema_org_by_their_authors() -> None:
    page = '<p class="h-entry"><b class="p-name">A</b> by <i class="p-author">Jane</i> <i class="dt-published">Tuesday</i></p>'
    assert check_html(page) == []


def test_problems_of_extraction_are_findings() -> None:
    [found] = check_html('<script type="application/ld+json">This is no data</script>')
    assert (found.rule, found.severity, found.value, found.syntax) == ("markup", ERROR, "json-invalid", "jsonld")
    template = Problem("iri-repaired", "'https://x.example/?q={search_term}' was read as …", "jsonld")
    assert _VALIDATORS["schema"].check(URL, {}, [template]) == []


def test_other_vocabularies_with_a_table() -> None:
    page = '<p xmlns:foaf="http://xmlns.com/foaf/0.1/" about="#me"><b property="foaf:{}">A</b></p>'
    assert check_html(page.format("name")) == []
    [found] = check_html(page.format("nmae"))
    assert found.rule == "unknown-term"
    assert found.message == "foaf:nmae: its vocabulary has no such term; did you mean name?"


def test_what_rich_results_require_and_recommend() -> None:
    found = check({"@type": "Recipe", "name": "Soup", "recipeIngredient": "salt"}, "google")
    [required] = [each for each in found if each.severity == ERROR]
    assert (required.rule, required.path) == ("missing-required", "Recipe.image")
    assert required.message == "Recipe has no image, which the profile google requires"
    recommended = {each.path for each in found if each.rule == "missing-recommended"}
    assert "Recipe.author" in recommended and "Recipe.recipeIngredient" not in recommended
    assert check({"@type": "Recipe", "name": "Soup"}, "schema") == []


def test_things_that_are_part_of_another_are_checked_where_the_profile_says_so() -> None:
    article = {"@type": "Article", "publisher": {"@type": "LocalBusiness", "telephone": "1"}}
    assert "missing-required" not in rules(check(article, "google"))
    product = {"@type": "Product", "name": "Tea", "offers": {"@type": "Offer", "priceCurrency": "EUR"}}
    assert [each.path for each in check(product, "google") if each.severity == ERROR] == ["Product.offers.price"]


def test_a_thing_with_an_iri_is_one_over_all_syntaxes() -> None:
    data = json.dumps({"@context": "https://schema.org", "@type": "Movie", "@id": "#m", "name": "A"})
    image = '<p itemscope itemtype="https://schema.org/Movie" itemid="#m"><img itemprop=image src=a.jpg></p>'
    found = check_html(f'<script type="application/ld+json">{data}</script>{image}', "google")
    assert "missing-required" not in rules(found)


def test_equal_findings_are_counted() -> None:
    [found] = check([{"@type": "Offer", "price": "free"}, {"@type": "Offer", "price": "free"}])
    assert (found.rule, found.count) == ("price-form", 2)


def test_findings_are_bounded() -> None:
    many = [{"@type": "Offer", "price": f"free {number}"} for number in range(MAX_FINDINGS + 50)]
    assert len(check(many)) == MAX_FINDINGS


def test_any_number_of_warnings_leaves_room_for_errors() -> None:
    warnings = [{"@type": "Product", "brand": {"@id": f"#{number}"}} for number in range(MAX_FINDINGS + 50)]
    found = check([*warnings, {"@type": "Offer", "price": "free"}])
    assert found[0].rule == "price-form" and len(found) == MAX_FINDINGS + 1


@pytest.mark.parametrize(("more", "found"), [(0, []), (1, ["markup"])])
def test_a_page_of_which_only_a_part_was_checked_is_not_called_good(more: int, found: list[str]) -> None:
    text = '_:a <http://schema.org/name> "Tea" <g> .\n' * (MAX_STATEMENTS + more)
    assert rules(_VALIDATORS["schema"].check(URL, {"jsonld": text})) == found


def test_hostile_statements_raise_nothing() -> None:
    lines = ['<a> <http://schema.org/name> "\\u0041\\" <x> ." <b> .', "_:x <http://schema.org/price> _:x <b> .", ""]
    for text in ("\n".join(lines), "_:x <http://schema.org/url> <> <b> .\n", '_:a <http://schema.org/price> "" <b> .'):
        _VALIDATORS["google"].check("no url at all", {"jsonld": text, "microdata": text})


SCHEMA = "http://schema.org/"
OFFERS = [f"<u:x> <{SCHEMA}offers> _:o{at % 3} <g> ." for at in range(3_000)]
PRICES = [f'_:o{at % 3} <{SCHEMA}price> "{at}" <g> .' for at in range(3_000)]
HOSTILE = {
    "classes": [f"_:a <{RDF_TYPE}> <{SCHEMA}C{at}> <g> ." for at in range(5_000)],
    "dangling": [f"_:a{at} <{SCHEMA}brand> <{URL}#{at}> <g> ." for at in range(5_000)],
    "long names": [f"_:a{at} <{SCHEMA}{'x' * 5_000}{at}> _:a{at + 1} <g> ." for at in range(500)],
    "shared parts": [f"<u:x> <{RDF_TYPE}> <{SCHEMA}Product> <g> .", *OFFERS, *PRICES],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_findings_of_hostile_pages_are_few_and_short(name: str) -> None:
    text = "\n".join(HOSTILE[name]) + "\n"
    found = _VALIDATORS["google"].check(URL, {"jsonld": text, "microdata": text, "rdfa": text})
    assert len(found) <= 3 * MAX_FINDINGS
    assert max((len(each.path) + len(each.message) + len(each.type) for each in found), default=0) < 3_000


TERMS = (
    '|_:a|<a>|"|"x|"x"|<|.|<g> .|<http://schema.org/price>|<http://schema.org/offers>|<http://schema.org/Offer>|'
    f"<http://schema.org/availability>|<{RDF_TYPE}>"
).split("|")


@settings(max_examples=300)
@given(st.lists(st.lists(st.sampled_from(TERMS), max_size=6), max_size=6))
def test_lines_that_are_no_quads_raise_nothing(lines: list[list[str]]) -> None:
    text = "\n".join(" ".join(parts) for parts in lines) + "\n<x> <http://schema.org/name> _:a <g> .\n"
    _VALIDATORS["google"].check(URL, {"jsonld": text, "microdata": text})


def test_every_rule_has_a_test() -> None:
    written = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert [rule for rule in RULES if f'"{rule}"' not in written] == []
