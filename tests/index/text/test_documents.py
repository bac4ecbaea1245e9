"""Documents of pages and entities."""

import base64
import json
import random

import pytest

from index.pages import decode_card, make_outcome, person
from rdfspider.archive.outcomes import Outcome
from rdfspider.index.entities.contributions import hash_entity, read_page
from rdfspider.index.ledger.writer import Mention
from rdfspider.index.text.documents import build_entity, build_page
from rdfspider.index.text.fields import BUCKETS
from rdfspider.vocabulary.dates import read_date, write_date

KEY = "http://x.example/ada"
EARLIEST = -8520336000.0
"""The first day of 1700."""


def mention(name: str, site: str = "a.example", path: str = "", time: float = 1.7e9, **more: str) -> Mention:
    url = f"https://www.{site}/{path}"
    outcome = make_outcome(url, person(name, **{"@id": KEY}, **more))
    (contribution,) = read_page(url, site, outcome.statements).contributions.values()
    return Mention(url, f"www.{site}", site, outcome.language, time, contribution)


def build(*mentions: Mention, sources: int = 0) -> dict[str, object]:
    sites = sorted({each.site for each in mentions})
    return build_entity(hash_entity(KEY), mentions, sites, sources or len(mentions))


def page_fields(outcome: Outcome) -> dict[str, object]:
    reading = read_page(outcome.url, "a.example", outcome.statements)
    return build_page(outcome, "www.a.example", "a.example", reading)


def test_an_entity_of_several_pages() -> None:
    fields = build(
        mention("Ada", jobTitle="Analyst", time=1.7e9),
        mention("Ada", "b.example", birthPlace="London", time=1.8e9),
        sources=70,
    )
    assert fields["label"] == ["Ada"]
    assert str(fields["values"]).split("\n") == ["Analyst", "London"]
    assert fields["properties"] == {"name": ["Ada"], "jobtitle": ["Analyst"], "birthplace": ["London"]}
    assert fields["type"] == ["http://schema.org/Person"]
    assert fields["types"] == ["http://schema.org/person", "person", "http://schema.org/thing", "thing"]
    assert fields["ontologies"] == ["http://schema.org/", "schema", "schema.org"]
    assert "jobtitle" in fields["property_names"]  # type: ignore[operator]
    assert fields["site"] == ["a.example", "b.example"]
    assert fields["sites"] == ["a.example", "b.example", "www.a.example", "www.b.example"]
    assert fields["lang"] == fields["langs"] == ["en"]
    assert fields["syntax"] == ("jsonld",)
    assert fields["order"] == 70 << 40 | int.from_bytes(hash_entity(KEY)[:5])
    assert fields["bucket"] == int.from_bytes(hash_entity(KEY)) % BUCKETS
    card = decode_card(fields)
    assert card["id"] == KEY and card["sources"] == 70
    assert card["pages"][0] == {"url": "https://www.b.example/", "time": 1.8e9}, "the newest is first"


def test_a_card_tells_facts_and_how_many_sites_speak_of_it() -> None:
    mentions = [mention("Ada", f"{number}.example", jobTitle="Analyst") for number in range(20)]
    card = decode_card(build(*mentions, mention("Ada", "0.example", "other")))
    assert card["facts"] == [["http://schema.org/jobTitle", "Analyst"]]
    assert (card["site_count"], len(card["sites"])) == (20, 16)


def test_what_is_only_a_part_has_no_facts_and_is_not_suggested() -> None:
    for kind, starts in (("Person", ["a", "ad", "ada"]), ("Answer", [])):
        fields = build(mention("Ada", jobTitle="Analyst", **{"@type": kind}))
        assert (fields["start"], bool(decode_card(fields).get("facts"))) == (starts, bool(starts))


def test_a_page_is_suggested_by_its_title_unless_it_repeats_another() -> None:
    assert page_fields(make_outcome("https://a.example/", person("Ada")))["start"] == ["a", "ad", "ada"]
    assert (
        page_fields(make_outcome("https://a.example/", person("Ada"), duplicate_of="https://b.example/"))["start"] == []
    )


def test_the_label_is_what_most_sites_say_then_the_first_of_the_alphabet() -> None:
    assert build(mention("Ada B"), mention("Ada A"))["label"] == ["Ada A", "Ada B"]
    several = [mention("Ada B", "a.example"), mention("Ada B", "b.example"), mention("Ada A", "c.example")]
    assert build(*several)["label"] == ["Ada B", "Ada A"]
    of_one_site = [mention("Ada B", path="1"), mention("Ada B", path="2"), mention("Ada A", path="3")]
    assert build(*of_one_site)["label"] == ["Ada A", "Ada B"]


def test_the_order_in_which_an_entity_is_said_of_only_decides_the_order_of_values() -> None:
    mentions = [
        mention(f"Ada {n % 3}", f"{n % 4}.example", str(n), 1.7e9 + n % 2, jobTitle=f"J{n % 2}") for n in range(12)
    ]
    card = decode_card(build(*mentions))
    random.Random(1).shuffle(mentions)
    assert decode_card(build(*mentions)) == card


def test_a_date_is_one_that_is_stated_and_not_the_time_of_the_fetch() -> None:
    article = '{"@context": "https://schema.org", "@type": "Article", "headline": "News"%s}'
    html = f'<script type="application/ld+json">{article}</script>'
    dated = make_outcome("https://a.example/", html % ', "datePublished": "2020-05-01T12:00:00+02:00"')
    assert page_fields(dated)["date"] == "2020-05-01T10:00:00+00:00"
    assert page_fields(dated)["year"] == 2020
    changed = make_outcome("https://a.example/", html % "", last_modified="Fri, 01 May 2020 10:00:00 GMT")
    assert page_fields(changed)["date"] == "2020-05-01T10:00:00+00:00"
    for undated in (
        page_fields(make_outcome("https://a.example/", html % "", last_modified="yesterday")),
        build(mention("Ada")),
    ):
        assert not {"date", "year"} & undated.keys()
        card = decode_card(undated)
        assert card["date"] == 0 and card["pages"][0]["time"] == 1.7e9


def test_what_parts_say_is_found_and_is_no_property_of_the_thing() -> None:
    thing = {
        "nutrition": {"@type": "NutritionInformation", "calories": "120 kcal"},
        "potentialAction": {"@type": "ReadAction"},
    }
    fields = build(mention("Ada", **thing))  # type: ignore[arg-type]
    own = {"name", "nutrition", "potentialAction"}
    assert set(fields["property"]) == {f"http://schema.org/{name}" for name in own}  # type: ignore[call-overload]
    assert {name for name in fields["property_names"] if ":" not in name} == {name.lower() for name in own}  # type: ignore[attr-defined]
    assert fields["part_names"] == ["http://schema.org/calories", "calories"]
    assert fields["values"] == "120 kcal"
    properties = fields["properties"]
    assert isinstance(properties, dict) and properties["calories"] == properties["nutrition"] == ["120 kcal"]


def test_what_pages_escape_too_often_is_indexed_as_it_was_meant() -> None:
    ada = person("Ada &amp;amp; Bo&#39;s", jobTitle="R&amp;D &copy=1 &bogus; &amp;lt;").replace(
        "<title>", "<title>&amp;#039;"
    )
    fields = page_fields(make_outcome("https://a.example/", ada))
    assert decode_card(fields)["label"].startswith("'")
    made = build(mention("Ada &amp; Bo&#39;s", jobTitle="R&amp;D &copy=1 &bogus; &amp;lt;"))
    assert decode_card(made)["label"] == "Ada & Bo's"
    assert made["values"] == "R&D &copy=1 &bogus; &lt;"


def test_a_page() -> None:
    outcome = make_outcome(
        "https://www.a.example/p",
        '<meta property="og:title" content="Short"><a href="/q#x">q</a><a href="/q">q</a>' + person("Ada"),
    )
    fields = page_fields(outcome)
    card = decode_card(fields)
    assert card["kind"] == "page" and card["id"] == card["url"] == "https://www.a.example/p"
    assert fields["label"] == ["Ada", "Short"]
    assert "All of Ada." in str(fields["text"])
    assert fields["type"] == ["http://schema.org/Person"]
    assert fields["sites"] == ["a.example", "www.a.example"]
    assert set(fields["syntax"]) == {"jsonld", "rdfa", "meta"}  # type: ignore[call-overload]
    assert fields["weight"] == pytest.approx(1.0, rel=0.001)


def test_the_types_of_a_page_are_its_own_before_those_of_whom_it_names() -> None:
    url = "https://www.a.example/p"
    graph = [
        {"@id": url, "@type": "WebPage", "name": "Glaze"},
        {"@id": "#o", "@type": "Organization", "name": "Bakels"},
    ]
    script = json.dumps({"@context": "https://schema.org", "@graph": graph})
    card = decode_card(page_fields(make_outcome(url, f'<script type="application/ld+json">{script}</script>')))
    assert card["types"] == ["http://schema.org/WebPage", "http://schema.org/Organization"]


def test_a_repetition_weighs_less_and_says_of_what() -> None:
    fields = page_fields(make_outcome("https://a.example/", person("Ada"), duplicate_of="https://a.example/first"))
    assert fields["weight"] == pytest.approx(0.3, rel=0.001)
    assert decode_card(fields)["duplicate_of"] == "https://a.example/first"


def test_a_page_without_a_title_is_called_by_what_it_is_about_or_its_url() -> None:
    about = make_outcome("https://a.example/", person("Ada").replace("<title>Ada</title>", ""))
    assert decode_card(page_fields(about))["label"] == "Ada"
    assert decode_card(page_fields(make_outcome("https://a.example/x", "<p>text")))["label"] == "https://a.example/x"


def test_scripts_without_spaces_are_found_apart_and_shown_as_they_are() -> None:
    html = person("Tokyo東京タワー tower", jobTitle="“quotes” é ภาษาไทย").replace("All of", "茶 café")
    fields = page_fields(make_outcome("https://a.example/", html))
    assert fields["label"] == ["Tokyo  tower"] and fields["label_bigrams"] == ["東京タワー"]
    assert fields["text"] == "  café Tokyo  tower." and fields["bigrams"] == ["茶", "東京タワー"]
    shown = json.loads(base64.b64decode(str(fields["shown"])))
    assert shown == {"label": ["Tokyo東京タワー tower"], "text": ["茶 café Tokyo東京タワー tower."]}
    thing = build(mention("茶", jobTitle="ภาษาไทย"))
    assert thing["label_bigrams"] == ["茶"] and thing["bigrams"] == ["ภาษาไทย"]
    assert "shown" not in page_fields(make_outcome("https://a.example/", person("Café")))


def test_marks_upon_letters_are_left_out_of_words_and_not_of_what_is_shown() -> None:
    fields = build(mention("Rene\u0301e שָׁלוֹם مُحَمَّد हिन्दी", jobTitle="ｆｕｌｌ"))
    assert fields["label"] == ["Renée שלום محمد हिनदी"]
    assert fields["values"] == "full"
    properties = fields["properties"]
    assert isinstance(properties, dict) and properties["jobtitle"] == ["full"]
    assert json.loads(base64.b64decode(str(fields["shown"])))["values"] == ["ｆｕｌｌ"]


def test_a_thing_is_counted_by_the_classes_above_its_own() -> None:
    classes = {"http://schema.org/" + name for name in ("NewsArticle", "Article", "CreativeWork")}
    for spelling in ("NewsArticle", "newsarticle"):
        assert set(build(mention("News", **{"@type": spelling}))["type"]) == classes  # type: ignore[call-overload]


def test_a_timestamp_stays_a_text_and_an_address_is_no_word() -> None:
    fields = build(mention("Ada", birthDate="1815-12-10T00:00:00Z", telephone="https://x.example/call"))
    properties = fields["properties"]
    assert isinstance(properties, dict)
    assert properties["birthdate"] == [" 1815-12-10T00:00:00Z"]
    assert properties["telephone"] == ["https://x.example/call"]
    assert "x.example" not in str(fields["values"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-02", 86400.0),
        ("1970-02", 31 * 86400.0),
        (" 1970-01-01T01:00:00+0100 ", 0.0),
        ("1970-01-02 around noon", 86400.0),
        ("0001-01-01T00:00:00Z", None),
        ("9999-12-31", None),
        ("2020-99-99", None),
        ("Sat, 12/19/2020 - 10:00", 1608336000.0),
        ("19/12/2020", 1608336000.0),
        ("Saturday, 12/19/2020", 1608336000.0),
        ("Wed, 02/01/1970", None),
        ("Fri, 01/02/1970", 86400.0),
        ("02/01/1970", None),
        ("02/02/1970", 32 * 86400.0),
        ("12/32/2020", None),
        ("next week", None),
        ("1970", 0.0),
        ("Fri, 02 Jan 1970 01:00:00 +0100", 86400.0),
        ("Fri, 02 Jan 1970 00:00:00 -0000", 86400.0),
        ("1066-10-14", EARLIEST),
        ("0079", EARLIEST),
        ("-0044-03-15", EARLIEST),
        ("0000-00-00", None),
        ("2", None),
        ("20000", None),
        ("", None),
    ],
)
def test_dates(text: str, expected: float | None) -> None:
    assert read_date(text) == expected


@pytest.mark.parametrize(
    ("stated", "shown"),
    [
        ("2024-05-01", "2024-05-01"),
        ("2024-05-01T23:30:00-02:00", "2024-05-02"),
        ("1888", "1888"),
        ("2024-01-01T09:00:00Z", "2024-01-01"),
        ("1503", "1700 or earlier"),
        ("-0450", "1700 or earlier"),
        ("1700-05-01", "1700-05-01"),
        ("1969-12-31", "1969-12-31"),
    ],
)
def test_dates_are_shown_as_far_as_somebody_has_stated_them(stated: str, shown: str) -> None:
    assert write_date(read_date(stated) or 0.0) == shown
    assert write_date(0.0) == ""
