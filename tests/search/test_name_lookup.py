from typing import Any

import pytest

from indexed import index_pages
from rdfspider import Crawl, UsageError
from rdfspider.search.indexes import Indexes
from rdfspider.search.name_lookup import Choice

S, FOAF = "http://schema.org/", "http://xmlns.com/foaf/0.1/"
PAGES = {
    "https://one.example/": {"@context": "https://schema.org", "@type": "NewsArticle", "headline": "News"},
    "https://one.example/b": {"@context": "https://schema.org", "@type": "Person", "name": "Ada"},
    "https://two.example/": f'<p vocab="{FOAF}" typeof="Person"><b property="name">Bob</b>',
    "https://two.example/v": f"""<p vocab="https://vocab.example/#" typeof="Captain"><b property="ship">Ark</b>
        <i property="{S}name">Noah</i>
        <p about="https://vocab.example/#Captain"><a rel="rdfs:subClassOf" href="https://vocab.example/#Sailor"></a>
        <p about="https://vocab.example/#Sailor"><a rel="rdfs:subClassOf" href="{FOAF}Person"></a>""",
    # Below a class that no page uses, which is below another one by schema.org; and schema.org's below one that is not.
    "https://www.two.example/w": f"""<p vocab="https://vocab.example/#" typeof="Sick"><b property="ward">9</b>
        <i property="{S}name">Tim</i>
        <p about="https://vocab.example/#Sick"><a rel="rdfs:subClassOf" href="{S}Patient"></a>
        <p about="{S}Article"><a rel="rdfs:subClassOf" href="https://vocab.example/#Paper"></a>""",
}
CAPTAIN, SICK = "https://vocab.example/#Captain", "https://vocab.example/#Sick"


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    return index_pages(tmp_path_factory.mktemp("names") / "crawl", PAGES)


@pytest.mark.parametrize(
    ("name", "classes"),
    [
        ("Person", {f"{S}Person", f"{FOAF}Person", CAPTAIN, SICK}),
        ("person", {f"{S}Person", f"{FOAF}Person", CAPTAIN, SICK}),
        ("schema:Person", {f"{S}Person", SICK}),
        ("https://schema.org/Person", {f"{S}Person", SICK}),
        ("foaf:Person", {f"{FOAF}Person", CAPTAIN}),
        (f"{FOAF}Person", {f"{FOAF}Person", CAPTAIN}),
        # Classes above, which no page uses: by schema.org, and as pages state.
        ("CreativeWork", {f"{S}NewsArticle"}),
        ("schema:Article", {f"{S}NewsArticle"}),
        ("https://vocab.example/#Sailor", {CAPTAIN}),
        ("Patient", {SICK}),
        ("paper", {f"{S}NewsArticle"}),
        (["schema:Person", "Article"], {f"{S}Person", f"{S}NewsArticle", SICK}),
    ],
)
def test_classes_are_called_in_many_ways_and_include_those_below(crawl: Crawl, name: str, classes: set[str]) -> None:
    selection, _ = Indexes(crawl.folder).select(Choice(type=name))
    assert selection.types == classes


@pytest.mark.parametrize(
    ("name", "terms"),
    [
        ("foaf", {f"{FOAF}Person", f"{FOAF}name"}),
        ("FOAF:", {f"{FOAF}Person", f"{FOAF}name"}),
        (FOAF, {f"{FOAF}Person", f"{FOAF}name"}),
        ("https://schema.org", {f"{S}Person", f"{S}name", f"{S}NewsArticle", f"{S}headline"}),
        ("https://vocab.example/", {CAPTAIN, SICK, *(f"https://vocab.example/#{name}" for name in ("ship", "ward"))}),
    ],
)
def test_ontologies_are_called_by_prefix_or_namespace(crawl: Crawl, name: str, terms: set[str]) -> None:
    selection, _ = Indexes(crawl.folder).select(Choice(ontology=name))
    assert selection.terms == terms


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"type": "Persn"}, "no page uses a class that is called 'Persn': did you mean schema:Person"),
        ({"type": "schema:NewsArticel"}, "did you mean schema:NewsArticle?"),
        ({"type": "Volcano"}, "`rdfspider stats` lists what they use"),
        ({"type": ""}, "no page uses a class"),
        ({"ontology": "foaff"}, "no page uses an ontology that is called 'foaff': did you mean foaf?"),
        ({"ontology": "gr"}, "no page uses an ontology"),
        ({"ontology": ""}, "no page uses an ontology"),
        ({"site": ""}, "is no site: name a host"),
        ({"site": "a b"}, "is no site: name a host"),
        ({"site": "onne.example"}, "no page of onne.example is indexed: did you mean one.example"),
        ({"site": "nowhere.test"}, "no page of nowhere.test is indexed: `rdfspider stats` lists the sites"),
        ({"site": "m.two.example"}, "no page of m.two.example is indexed"),
        ({"type": "\udcff"}, "no page uses a class that is called '?'"),
        ({"ontology": "\udcff"}, "no page uses an ontology that is called '?'"),
        ({"site": "\udcff"}, "no site"),
        ({"page": "\udcff"}, "no page '?' is indexed"),
        ({"type": 5}, "a name is text, not 5"),
        ({"ontology": [None]}, "a name is text, not None"),
        ({"site": 5}, "a name is text, not 5"),
        ({"page": "https://one.example/none"}, "no page 'https://one.example/none' is indexed"),
        ({"page": "\x00"}, "is indexed"),
    ],
)
def test_names_that_nobody_uses(crawl: Crawl, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as raised:
        crawl.quads(**asked)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "site", ["one.example", "ONE.example", "https://one.example/b?x", "one.example:443", " one.example "]
)
def test_sites_as_people_type_them(crawl: Crawl, site: str) -> None:
    assert {quad.graph_name.value for quad in crawl.quads(site=site)} == {
        "https://one.example/",
        "https://one.example/b",
    }


@pytest.mark.parametrize(
    ("site", "count"), [("two.example", 3), ("www.two.example", 1), ("example", 5), ("one.example", 2)]
)
def test_a_site_is_a_domain_a_host_or_what_is_above_several(crawl: Crawl, site: str, count: int) -> None:
    assert len({quad.graph_name for quad in crawl.quads(site=site)}) == count


def test_types_are_those_that_words_find(crawl: Crawl) -> None:
    for name in ("person", "schema:Person", "Patient", "Article", "https://vocab.example/#Sailor"):
        found = {page.url for hit in crawl.search(type=name) for page in hit.pages}
        assert {quad.graph_name.value for quad in crawl.quads(type=name)} == found


def test_pages_are_about_so_many_where_that_is_known(crawl: Crawl) -> None:
    assert Indexes(crawl.folder).select(Choice())[1] == 5
    assert Indexes(crawl.folder).select(Choice(site="one.example"))[1] is None
