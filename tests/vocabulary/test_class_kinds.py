"""The places of classes on a page."""

import pytest

from rdfspider.vocabulary.class_kinds import ClassKind, find_kind, is_layout, sort_types
from rdfspider.vocabulary.prefixes import PREFIXES, SCHEMA


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        ("Recipe Product Event Movie Review Question recipe HowTo", ClassKind.TOPIC),
        ("Person NewsMediaOrganization Brand LocalBusiness", ClassKind.AGENT),
        ("Article BlogPosting ReportageNewsArticle", ClassKind.ARTICLE),
        ("VideoObject AudioObject", ClassKind.MEDIA),
        ("CreativeWork Thing", ClassKind.VAGUE),
        ("WebPage FAQPage CollectionPage WebSite Blog", ClassKind.DOCUMENT),
        ("ImageObject ListItem HowToStep BreadcrumbList AggregateRating Offer PostalAddress SearchAction Comment "
         "SiteNavigationElement NutritionInformation PropertyValue Answer imageobject", ClassKind.PART),
    ],
)  # fmt: skip
def test_kinds(names: str, kind: ClassKind) -> None:
    found = {name: find_kind(SCHEMA + name) for name in names.split()}
    assert set(found.values()) == {kind}, found


def test_the_most_informative_type_comes_first() -> None:
    entry = PREFIXES["mf"] + "h-entry"
    types = [entry, SCHEMA + "WebPage", SCHEMA + "BlogPosting", SCHEMA + "Recipe"]
    assert sort_types(types) == [SCHEMA + "Recipe", SCHEMA + "BlogPosting", SCHEMA + "WebPage", entry]
    assert [is_layout(iri) for iri in types] == [False, True, False, False]


def test_an_unknown_class_may_be_anything() -> None:
    assert find_kind("http://x.example/Wing") is ClassKind.TOPIC
