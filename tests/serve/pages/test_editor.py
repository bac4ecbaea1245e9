"""The page of queries: what a browser without scripts is shown, what scripts ask for, and that every example has an answer."""

import json
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from indexed import index_pages
from rdfspider import Crawl
from rdfspider.search.example_queries import EXAMPLES, write_name
from serving import Reply, Serving, serve

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
HOSTILE = "<img src=x onerror=alert(1)>\u202e" + "x" * 5000
TEA = {
    "@context": {"@vocab": "http://schema.org/", "odd": "http://odd.example/ns/"},
    "@graph": [
        {
            "@id": "https://tea.example/#green",
            "@type": "Product",
            "name": "Green tea",
            "description": {"@value": "Grüner Tee", "@language": "de"},
            "datePublished": "2024-05-06",
            "offers": {"@type": "Offer", "price": 4.5, "priceCurrency": "EUR"},
            "latitude": 59.9,
            "longitude": 10.7,
            "odd:brewed in": "water",
        },
        {
            "@id": "https://tea.example/#evil",
            "@type": "Product",
            "name": HOSTILE,
            "isRelatedTo": {"@id": "https://tea.example/#green"},
        },
    ],
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    other = {
        "@context": "https://schema.org",
        "@id": "https://tea.example/#green",
        "@type": "Product",
        "name": "Sencha",
    }
    crawl = index_pages(
        tmp_path_factory.mktemp("editor") / "c", {"https://tea.example/": TEA, "https://shop.example/": other}
    )
    with serve(crawl) as serving:
        yield serving


def show(site: Serving, query: str, **parameters: str) -> Reply:
    return site.get("/sparql", BROWSER, query=query, **parameters)


def list_links(reply: Reply, start: str) -> list[str]:
    """The addresses that begin so."""
    return [unescape(part.partition('"')[0]) for part in reply.text.split('href="')[1:] if part.startswith(start)]


def list_examples(serving: Serving) -> dict[str, str]:
    """What answers to the examples show, by the query."""
    links = [link for link in list_links(serving.get("/sparql", BROWSER), "/sparql?query=") if "format=" not in link]
    return {
        parse_qs(urlsplit(link).query)["query"][0]: serving.ask("GET", link, headers=BROWSER).text for link in links
    }


def test_a_query_is_answered_below_it_without_scripts(site: Serving) -> None:
    reply = show(site, "SELECT ?thing ?name ?price { ?thing schema:name ?name ; schema:offers/schema:price ?price }")
    assert reply.status == 200
    assert 'href="/entity?iri=https://tea.example/%23green"' in reply.text
    assert "<bdi>Green tea</bdi>" in reply.text
    assert '<td class="number"><bdi>4.5</bdi></td>' in reply.text
    assert "2 rows in" in reply.text


def test_the_language_of_a_text_is_shown(site: Serving) -> None:
    assert (
        '<bdi>Grüner Tee</bdi> <span class="tag">@de</span>'
        in show(site, "SELECT ?d { ?s schema:description ?d }").text
    )


def test_what_pages_say_cannot_break_the_page(site: Serving) -> None:
    text = show(site, "SELECT ?name { <https://tea.example/#evil> schema:name ?name }").text
    assert "<img src=x" not in text
    shown = text.partition("<tbody>")[2].partition("</tbody>")[0]
    assert "&lt;img src=x" in shown
    assert "\u202e" not in shown
    assert "x" * 2100 not in shown


def test_a_query_that_was_typed_cannot_break_the_page(site: Serving) -> None:
    text = show(site, "</textarea><script>alert(1)</script>").text
    assert "<script>alert" not in text
    assert "&lt;/textarea&gt;" in text


def test_a_relative_iri_is_relative_to_the_endpoint_as_it_is_there(site: Serving) -> None:
    reply = show(site, "SELECT (<x> AS ?iri) {}")
    assert reply.status == 200
    assert f'href="/entity?iri={site.address}/x"' in reply.text


def test_yes_and_no_and_statements(site: Serving) -> None:
    assert '<p class="verdict">Yes</p>' in show(site, "ASK { ?s schema:name 'Green tea' }").text
    assert '<p class="verdict">No</p>' in show(site, "ASK { ?s schema:name 'Coal' }").text
    assert "&#34;Sencha&#34;" in show(site, "CONSTRUCT WHERE { ?s schema:name ?n }").text.partition("<pre")[2]
    assert "Nothing fits." in show(site, "SELECT * { ?s schema:name 'Coal' }").text


def test_what_is_wrong_is_said_beside_the_query(site: Serving) -> None:
    reply = show(site, "SELECT nonsense")
    assert reply.status == 400
    assert "not valid SPARQL" in reply.text
    assert "SELECT nonsense</textarea>" in reply.text


def test_a_query_that_takes_too_long_is_ended_and_said(site: Serving) -> None:
    pairs = " ".join(f"?s{at} ?p{at} ?o{at} ." for at in range(6))
    with serve(site.site.crawl, query_timeout_s=1.0) as hasty:
        reply = show(hasty, f"SELECT (COUNT(*) AS ?n) {{ {pairs} FILTER(?o1 = ?o5 && ?s3 != ?s4) }}")
    assert reply.status == 503
    assert "was ended after 1 s" in reply.text


def test_of_many_rows_the_first_are_shown_and_that_is_said(site: Serving) -> None:
    ten = "{} 0 1 2 3 4 5 6 7 8 9".format
    values = "".join(f"VALUES ?{name} {{ {ten('')} }} " for name in "abc")
    text = show(site, f"SELECT ?a ?b ?c {{ {values} }}").text
    assert text.partition("<tbody>")[2].count("<tr>") == 500
    assert "Only the first part is shown here" in text
    document = unescape(text.partition('data-cut="yes">')[2].partition("</template>")[0])
    assert len(json.loads(document)["results"]["bindings"]) == 500


@pytest.mark.parametrize(
    ("query", "formats"),
    [
        ("SELECT ?n { ?s schema:name ?n }", ["json", "xml", "csv", "tsv"]),
        ("CONSTRUCT WHERE { ?s schema:name ?n }", ["ttl", "nt", "jsonld", "rdf"]),
    ],
)
def test_every_download_is_there(site: Serving, query: str, formats: list[str]) -> None:
    links = list_links(show(site, query), "/sparql?query=")
    downloads = [link for link in links if "&format=" in link]
    assert [link.partition("&format=")[2] for link in downloads] == formats
    for link in downloads:
        reply = site.ask("GET", link, headers=BROWSER)
        assert (reply.status, "Green tea" in reply.text) == (200, True), link


def test_the_graphs_of_the_protocol_count_here_too(site: Serving) -> None:
    reply = show(site, "SELECT ?n { ?s schema:name ?n }", **{"default-graph-uri": "https://shop.example/"})
    assert "<bdi>Sencha</bdi>" in reply.text
    assert "<bdi>Green tea</bdi>" not in reply.text
    assert '<input type="hidden" name="default-graph-uri" value="https://shop.example/">' in reply.text


def test_every_example_has_an_answer(site: Serving) -> None:
    answers = list_examples(site)
    assert len(answers) == len(EXAMPLES)
    for query, text in answers.items():
        assert 'id="document"' in text, query
        assert "Nothing fits." not in text, query


def test_examples_are_about_what_the_data_has(tmp_path: Path) -> None:
    person = {"@context": "https://schema.org", "@type": "Person", "name": "Ann"}
    with serve(index_pages(tmp_path / "c", {"https://a.example/": person})) as serving:
        text = serving.get("/sparql", BROWSER).text
    assert "What is said of schema:Person" in text
    assert "Prices by currency" not in text


def test_general_examples_are_offered_while_the_index_has_no_page(tmp_path: Path) -> None:
    with serve(index_pages(tmp_path / "c", {})) as serving:
        reply = serving.get("/sparql", BROWSER)
    assert (reply.status, "What is said of schema:Thing" in reply.text) == (200, True)


def test_examples_without_an_answer_are_not_offered(tmp_path: Path) -> None:
    """The most used class has no names, nothing leads to the named one, and one page contradicts nobody."""
    offers = [{"@type": "Offer", "price": price} for price in (1, 2, 3)]
    tea = {"@context": "https://schema.org", "@id": "https://a.example/#tea", "@type": "Product", "name": "Tea"}
    with serve(index_pages(tmp_path / "c", {"https://a.example/": tea | {"offers": offers}})) as serving:
        answers = list_examples(serving)
    assert any("a schema:Product" in query for query in answers)
    assert [query for query, text in answers.items() if "Nothing fits." in text] == []
    assert not any("?links" in query or "?other_page" in query for query in answers)


def test_a_currency_is_one_in_whatever_language_it_is_said(tmp_path: Path) -> None:
    pages = {
        f"https://{name}.example/": {
            "@context": "https://schema.org",
            "@type": "Offer",
            "price": 4,
            "priceCurrency": currency,
        }
        for name, currency in {"a": "EUR", "b": {"@value": "EUR", "@language": "en"}}.items()
    }
    with serve(index_pages(tmp_path / "c", pages)) as serving:
        (text,) = (text for query, text in list_examples(serving).items() if "GROUP BY ?currency" in query)
    assert text.count("<bdi>EUR</bdi>") == 1


def test_names_are_completed_as_a_query_writes_them(site: Serving) -> None:
    names = site.get("/complete.json", kind="class", q="prod").json["names"]
    assert names == [{"text": "schema:Product", "iri": "http://schema.org/Product", "uses": 3}]
    by_prefix = site.get("/complete", {"Accept": "application/json"}, kind="property", q="schema:pri").json["names"]
    assert {name["text"] for name in by_prefix} == {"schema:price", "schema:priceCurrency"}
    assert site.get("/complete.csv", kind="class", q="Offer").text.splitlines()[1].startswith("schema:Offer,")
    assert site.get("/complete.json", kind="nonsense").status == 400


def test_an_odd_name_is_written_in_angle_brackets_or_not_at_all() -> None:
    assert write_name("http://odd.example/ns/brewed") == "<http://odd.example/ns/brewed>"
    assert write_name("http://schema.org/a.b/c") == "<http://schema.org/a.b/c>"
    assert write_name("https://schema.org/Product") == "<https://schema.org/Product>"
    assert write_name("http://schema.org/x y> } #") == ""


def test_without_an_index_there_is_the_form(tmp_path: Path) -> None:
    with serve(Crawl.create(tmp_path / "c", ["https://example.org/"])) as serving:
        assert "How many things of each class" in serving.get("/sparql", BROWSER).text
        reply = serving.get("/sparql", BROWSER, query="ASK {}")
        assert reply.status == 503
        assert "no index yet" in reply.text
        assert serving.get("/complete.json", kind="class", q="x").json == {"names": []}


def test_the_page_names_the_nonce_that_its_policy_allows(site: Serving) -> None:
    """The editor makes a style element, which has to carry it."""
    reply = site.get("/sparql", BROWSER)
    nonce = reply.text.partition('data-nonce="')[2].partition('"')[0]
    assert nonce
    assert f"'nonce-{nonce}'" in reply.headers["content-security-policy"]
