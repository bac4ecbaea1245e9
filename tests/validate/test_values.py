"""The forms of values: good and bad ones of each."""

import pytest

from rdfspider.validate.values import find_check
from rdfspider.vocabulary.schema_terms import load_properties

GOOD = {
    "startDate": "2026 2026-05 2026-05-01 2026-05-01T19:30 2026-05-01T19:30:00Z 2026-05-01T19:30:00.123+02:00 20260501 "
    "2026-W18 2026-05-01T19:30+0200 -0044-03-15",
    "opens": "09:00 09:00:00 T09:00 23:59",
    "duration": "PT20M P1DT2H PT1H30M P0D PT1.5H P2W -PT5M PT0S",
    "price": "12.50 12 .5 0 1299.00 4.5E0",
    "priceCurrency": "EUR USD BTC",
    "reviewCount": "12 12.0 1E3",
    "numberOfRooms": "2.5 3",
    "ratingValue": "4.5 A 4.5/5 90%",
    "isAccessibleForFree": "true False https://schema.org/True 1",
    "url": "https://a.example/ mailto:a@b.example",
    "image": "https://a.example/a.jpg",
    "availability": "https://schema.org/InStock http://schema.org/InStock http://purl.org/other#Soon",
    "inLanguage": "en pt-BR zh-Hant https://a.example/en",
    "gtin13": "4006381333931",
    "gtin": "4006381333931 https://id.gs1.org/01/04006381333931",
    "name": "anything",
    "author": "https://a.example/jane",
    "width": "300px",
}
BAD = [
    ("startDate", "next tuesday", "date-form"),
    ("startDate", "2026-13-01", "date-form"),
    ("startDate", "0000-00-00", "date-form"),
    ("startDate", "2026-05-01 19:30:00", "date-style"),
    ("startDate", "Wed, 5 May 2021 05:53:00 +0200", "date-style"),
    ("opens", "9 am", "date-form"),
    ("duration", "20 minutes", "duration-form"),
    ("duration", "PT", "duration-form"),
    ("duration", "PT1H30", "duration-form"),
    ("price", "12,50 EUR", "price-form"),
    ("lowPrice", "1,299.00", "price-form"),
    ("price", "free", "price-form"),
    ("priceCurrency", "€", "currency-form"),
    ("priceCurrency", "eur", "currency-form"),
    ("reviewCount", "1,234", "number-form"),
    ("reviewCount", "1.5", "number-form"),
    ("numberOfRooms", "three", "number-form"),
    ("ratingValue", "4,5", "number-form"),
    ("isAccessibleForFree", "yes", "boolean-form"),
    ("url", "/relative", "url-form"),
    ("image", "a picture", "text-for-thing"),
    ("image", "/img/a.jpg", "url-form"),
    ("availability", "yes", "enumeration-value"),
    ("availability", "in stock", "enumeration-value"),
    ("availability", "https://schema.org/Instock", "enumeration-value"),
    ("availability", "InStock", "enumeration-form"),
    ("dayOfWeek", "Monday", "enumeration-form"),
    ("suitableForDiet", "GlutenFreeDiet", "enumeration-form"),
    ("inLanguage", "English", "language-form"),
    ("inLanguage", "en_US", "language-form"),
    ("gtin13", "4006381333932", "gtin-form"),
    ("gtin8", "4006381333931", "gtin-form"),
    ("author", "Jane", "text-for-thing"),
]


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in GOOD.items() for text in texts.split()])
def test_good_values(name: str, text: str) -> None:
    check = find_check(name, load_properties()[name])
    assert check is None or check(text) is None
    assert check is None or check(f" {text}\n") is None


@pytest.mark.parametrize(("name", "text", "rule"), BAD)
def test_bad_values(name: str, text: str, rule: str) -> None:
    check = find_check(name, load_properties()[name])
    assert check is not None
    verdict = check(text)
    assert verdict is not None
    assert verdict.rule == rule
    assert text in verdict.message


def test_what_was_meant_is_said() -> None:
    check = find_check("availability", load_properties()["availability"])
    assert check is not None
    assert "did you mean https://schema.org/InStock?" in str(check("in stock"))


def test_long_values_are_cut_in_messages() -> None:
    check = find_check("price", load_properties()["price"])
    assert check is not None
    verdict = check("a\n" * 10_000)
    assert verdict is not None and len(verdict.message) < 200 and "\n" not in verdict.message
