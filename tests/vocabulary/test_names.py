"""Names of classes and properties."""

import pytest

from rdfspider.vocabulary.names import find_readable_name


@pytest.mark.parametrize(
    ("iri", "name"),
    [
        ("http://schema.org/datePublished", "date published"),
        ("http://schema.org/gtin13", "gtin13"),
        ("http://schema.org/mainEntityOfPage", "main entity of page"),
        ("http://purl.org/goodrelations/v1#hasEAN_UCC-13", "has EAN UCC 13"),
        ("http://a.test/#hasGTINCode", "has GTIN code"),
        ("http://ogp.me/ns#image:secure_url", "image secure url"),
        ("http://ogp.me/ns/article#published_time", "published time"),
        ("http://a.test/#___", "http://a.test/#___"),
        ("http://a.test/#größeInCm", "größe in cm"),
    ],
)
def test_names_of_properties_in_words(iri: str, name: str) -> None:
    assert find_readable_name(iri) == name
