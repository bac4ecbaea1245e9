"""Samples: what pages have in common, and what one has of its own."""

import random

import pytest

from rdfspider import extract
from rdfspider.frontier.learning.patterns import Pattern
from rdfspider.judge.bottom_k import sample_copy, sample_page
from rdfspider.records import Extraction, Judgement


def read(body: str, url: str = "https://a.org/x") -> Extraction:
    return extract(f"<!doctype html><title>{url}</title>{body}".encode(), url, "text/html")


def list_things(names: list[str], url: str = "https://a.org/x") -> Extraction:
    items = ",".join(f'{{"@type": "Product", "name": "{name}"}}' for name in names)
    graph = f'{{"@context": "https://schema.org", "@graph": [{items}]}}'
    return read(f'<script type="application/ld+json">{graph}</script>', url)


def test_the_order_and_the_address_do_not_count() -> None:
    names = [f"thing {number}" for number in range(10)]
    first = list_things(names)
    random.Random(1).shuffle(names)
    assert sample_page(first).data == sample_page(list_things(names, "https://b.org/other")).data
    assert len(sample_page(first).data) == 8


def test_a_page_with_something_of_its_own_shows_it() -> None:
    assert sample_page(list_things(["one"])).data != sample_page(list_things(["another"])).data


def test_statements_without_literals_count_as_they_are() -> None:
    page = Extraction("https://a.org/", "text/turtle", statements={"rdf": "<a:a> <a:b> <a:c> <a:g> .\n"})
    assert len(sample_page(page).data) > 0


def test_what_a_page_says_of_itself_is_no_data() -> None:
    page = read('<meta property="og:title" content="May 2031"><meta name="twitter:title" content="May 2031">')
    assert page.statements
    assert sample_page(page).data == ()


@pytest.mark.parametrize("text", ["Events of 3 May 2031, 12:30", "Events of 4 May 2032, 9:15"])
def test_numbers_are_no_words(text: str) -> None:
    assert sample_page(read(f"<p>{text}")).words == sample_page(read("<p>Events of 1 May 1999, 0:00")).words


def test_long_texts_are_sampled_at_their_start_and_in_their_middle() -> None:
    page = Extraction("https://a.org/", "text/html", text=f"{'same ' * 500}special {'same ' * 400}")
    assert len(sample_page(page).words) == 2
    assert sample_page(Extraction("https://a.org/", "text/html")).words == ()


@pytest.mark.parametrize("place", [0, 150, 299])
def test_what_a_page_has_of_its_own_shows_wherever_it_is(place: int) -> None:
    def count_new(pages: int) -> int:
        known: set[int] = set()
        news = 0
        for number in range(pages):
            names = [f"what every page states, {line}" for line in range(300)]
            names[place : place + 1] = [
                f"{fact} of thing {number}" for fact in ("name", "maker", "size", "price", "code")
            ]
            sample = set(sample_page(list_things(names, f"https://a.org/{number}")).data)
            news += not sample <= known
            known |= sample
        return news

    assert count_new(40) > 10


def test_very_long_lists_are_sampled_everywhere() -> None:
    def sample(*own: str) -> tuple[int, ...]:
        nquads = "".join(
            f'<a:{number}> <a:b> "{own[number * len(own) // 9000]} {number}" <a:g> .\n' for number in range(9000)
        )
        return sample_page(Extraction("https://a.org/", "text/turtle", statements={"rdf": nquads})).data

    assert len(sample("a", "b", "c")) == 32
    for other in (("x", "b", "c"), ("a", "x", "c"), ("a", "b", "x")):
        assert sample(*other) != sample("a", "b", "c")


def test_statements_longer_than_a_part_count_too() -> None:
    nquads = "".join(f'<a:{number}> <a:b> "{number} {"x" * 5000}" <a:g> .\n' for number in range(40))
    assert sample_page(Extraction("https://a.org/", "text/turtle", statements={"rdf": nquads})).data != ()


def test_copies_of_a_page_have_their_bytes_in_common_and_nothing_else() -> None:
    page = list_things(["one"])
    first, again, other = (sample_copy(page, digest) for digest in ("sha1:A", "sha1:A", "sha1:B"))
    assert first == again
    assert set(first.data).isdisjoint(other.data)
    assert set(first.words).isdisjoint(other.words)
    assert sample_copy(read("<p>Words"), "sha1:A").data == ()


def test_a_catalogue_whose_pages_all_differ_is_never_given_up() -> None:
    # Statements as a shop has them: what all pages state is before and after the thing that a page is about.
    before, after = (
        "".join(f'<a:s> <a:{part}{line}> "{part} {line}" .\n' for line in range(90)) for part in ("nav", "faq")
    )
    pattern = Pattern()
    for number in range(3000):
        own = "".join(f'<a:p> <a:{fact}> "{fact} {number}" .\n' for fact in ("name", "sku", "price"))
        page = Extraction(f"https://a.org/{number}", "text/html", statements={"jsonld": before + own + after})
        pattern.meet(Judgement(**sample_page(page)._asdict()))
        assert not pattern.is_spent("/p/0")
