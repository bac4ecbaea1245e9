"""What the report of a site calls a conflict is what the page of a thing calls one."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import rdfspider
from indexed import index_pages
from rdfspider.results import StatedValue
from rdfspider.search.attributions import add_entity_syntaxes
from rdfspider.search.indexes import Indexes
from rdfspider.search.quality.conflicts import find_conflicts
from rdfspider.search.quality.report import inspect_site
from rdfspider.search.quality.samples import Described, SampledPage, SampledValue
from rdfspider.validate.conflict_rules import judge_values

S = "http://schema.org/"
ITEM = "https://a.example/#it"
MICRODATA = """<div itemscope itemtype="https://schema.org/Product" itemid="/#it"><meta itemprop="name" content="Tea">
{}</div>"""
JSONLD = """<script type="application/ld+json">{{"@context": "https://schema.org", "@id": "/#it", "@type": "Product",
"name": "Tea", {}}}</script>"""


def make_page(url: str, name: str, text: str) -> SampledPage:
    book = Described(types=["http://schema.org/Book"], label="A book")
    book.values = {name: [SampledValue(text, False)]}
    return SampledPage(url, {"jsonld": 5}, {}, "", {"http://a.example/#book": book}, False)


@pytest.mark.parametrize(
    ("name", "one", "other", "is_conflict"),
    [
        ("isbn", "0-306-40615-2", "0306406152", False),
        ("isbn", "0-306-40615-2", "0-306-40615-3", True),
        ("telephone", "+49 30 1234", "tel:+49-30-1234", False),
        ("latitude", "52.5200", "52.52004", False),
        ("latitude", "52.5200", "52.6", True),
        ("datePublished", "2024", "2024-05-01", False),
        ("datePublished", "2024-05-01", "2024-05-02", True),
        ("price", "10", "10.00", False),
        ("price", "10", "11", True),
        ("availability", "InStock", "https://schema.org/InStock", False),
        ("headline", "Tea, and more", "tea and more", False),
        ("datePublished", "2024-05-02T00:30:00+02:00", "2024-05-01T22:30:00Z", False),
        ("datePublished", "1 May 2024 10:00:00 GMT", "2024-05-01", False),
        ("birthDate", "1452-04-15", "1519-05-02", True),
    ],
)
def test_values_that_mean_the_same_are_no_conflict(name: str, one: str, other: str, is_conflict: bool) -> None:
    pages = [make_page("http://a.example/1", name, one), make_page("http://a.example/2", name, other)]
    found, _ = find_conflicts(pages, {})
    assert bool(found) is is_conflict
    voices = [(StatedValue(text), [(page.url, "jsonld")]) for text, page in zip((one, other), pages, strict=True)]
    assert bool(judge_values(S + name, voices)) is is_conflict


@pytest.mark.parametrize(
    ("body", "conflicts"),
    [
        # Two syntaxes of one page.
        (JSONLD.format('"sku": "A1"') + MICRODATA.format('<meta itemprop="sku" content="B2">'), {"sku"}),
        # Two values of one of them, also where there is another one.
        (JSONLD.format('"telephone": ["030 1", "030 2"]'), set()),
        (JSONLD.format('"telephone": ["030 1", "030 2"]') + MICRODATA.format(""), set()),
        (
            JSONLD.format('"telephone": ["030 1", "030 2"]') + MICRODATA.format('<i itemprop="telephone">030-2</i>'),
            set(),
        ),
    ],
)
def test_the_report_and_the_thing_agree_on_one_page(tmp_path: Path, body: str, conflicts: set[str]) -> None:
    def read_statements(url: str) -> Mapping[str, str] | None:
        return rdfspider.extract(body.encode(), url=url).statements

    crawl = index_pages(tmp_path / "c", {"https://a.example/": body})
    thing = add_entity_syntaxes(crawl.entity(ITEM), read_statements)
    assert {name for name, each in thing.properties.items() if each.conflict} == {S + name for name in conflicts}
    with Indexes(crawl.folder) as indexes, indexes._use_ledger() as ledger, indexes._use_quads() as store:
        report = inspect_site(store, ledger, "a.example", seconds=60, read_statements=read_statements)
    assert report
    assert {one.path for one in report.conflicts} == conflicts
    assert all(one.is_within_page for one in report.conflicts)
    assert {source.syntax for one in report.conflicts for claim in one.claims for source in claim.sources} <= {
        "jsonld",
        "microdata",
    }
