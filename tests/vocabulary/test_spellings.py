"""One vocabulary under several spellings is one in the indexes."""

import pytest

from rdfspider.vocabulary.names import find_ontology
from rdfspider.vocabulary.prefixes import KNOWN_AS, PREFIXES
from rdfspider.vocabulary.spellings import fold_class_name, fold_name, fold_namespace

OG = "http://ogp.me/ns#"


@pytest.mark.parametrize(
    ("spelt", "meant"),
    [
        ("article:published_time", "http://ogp.me/ns/article#published_time"),
        ("fb:app_id", "http://ogp.me/ns/fb#app_id"),
        ("OG:title", f"{OG}title"),
        ("twitter:image:src", "https://dev.twitter.com/cards#image:src"),
        ("sioct:Comment", "http://rdfs.org/sioc/types#Comment"),
        ("https://ogp.me/ns#title", f"{OG}title"),
        ("https://ogp.me/ns/article#tag", "http://ogp.me/ns/article#tag"),
        ("http://opengraphprotocol.org/schema/title", f"{OG}title"),
        ("https://opengraphprotocol.org/schema/title", f"{OG}title"),
        ("http://ogp.me/ns#article:tag", "http://ogp.me/ns/article#tag"),
        ("http://www.facebook.com/2008/fbmladmins", "http://ogp.me/ns/fb#admins"),
        ("https://www.facebook.com/2008/fbml#admins", "http://ogp.me/ns/fb#admins"),
        ("https://purl.org/dc/terms/title", "http://purl.org/dc/terms/title"),
        ("http://purl.org/dc/terms#title", "http://purl.org/dc/terms/title"),
        ("http://www.xmlns.com/foaf/0.1/name", "http://xmlns.com/foaf/0.1/name"),
        ("https://www.w3.org/2006/vcard/ns#fn", "http://www.w3.org/2006/vcard/ns#fn"),
        ("http://www.w3.org/ns/activitystreams#name", "https://www.w3.org/ns/activitystreams#name"),
        ("https://www.schema.org/name", "http://schema.org/name"),
        ("http://schema.org#name", "http://schema.org/name"),
        ("https://schema.orgListItem", "http://schema.org/ListItem"),
        ("https://rdf.data-vocabulary.org/#url", "http://data-vocabulary.org/url"),
    ],
)
def test_spellings_become_one(spelt: str, meant: str):
    assert fold_name(spelt) == meant


@pytest.mark.parametrize(
    "iri",
    [
        "http://ogp.me/ns#image:width",
        "http://schema.org/Intangible/FinancialQuote",
        "https://schema.organic/Apple",
        "https://schema.organisation",
        "http://example.org/ns#title",
        "slick:group",
        "urn:isbn:1",
        "https://api.w.org/",
        "http://",
        "og:",
        "",
    ],
)
def test_what_has_one_spelling_stays(iri: str):
    assert fold_name(iri) == iri


def test_the_usual_namespaces_stay():
    for namespace, prefixes in KNOWN_AS.items():
        if PREFIXES[prefixes[0]] == namespace:
            assert fold_name(f"{namespace}Xy") == f"{namespace}Xy"
            assert fold_namespace(namespace) == namespace


def test_classes_of_schema_org_are_also_folded_by_case():
    assert fold_class_name("https://schema.org/product") == "http://schema.org/Product"
    assert fold_class_name("http://schema.org/headline") == "http://schema.org/headline"
    # A property of the same letters is another thing.
    assert fold_name("http://schema.org/brand") == "http://schema.org/brand"


def test_undeclared_prefixes_and_hosts_are_no_ontologies():
    assert find_ontology("slick:group") == find_ontology("al:ios:url") == find_ontology("https://api.w.org/") == ""
    assert find_ontology("http://example.org/ns#title") == "http://example.org/ns#"
    assert find_ontology("urn:example:ns:title") == "urn:example:ns:"
