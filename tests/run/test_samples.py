"""Samples: what pages have in common, and what one has of its own."""

import random

import pytest

from rdfspider import extract
from rdfspider.records import Extraction
from rdfspider.run.samples import sample_copy, sample_page


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


def test_long_lists_are_sampled_at_both_ends_in_whole_statements() -> None:
    def sample(first: str, middle: str, last: str) -> tuple[int, ...]:
        names = [
            *(f"{first} {number}" for number in range(9)),
            middle * 9000,
            *(f"{last} {number}" for number in range(9)),
        ]
        return sample_page(list_things(names)).data

    assert sample("a", "b", "c") == sample("a", "x", "c")
    assert sample("a", "b", "c") != sample("x", "b", "c")
    assert sample("a", "b", "c") != sample("a", "b", "x")


def test_copies_of_a_page_have_their_bytes_in_common_and_nothing_else() -> None:
    page = list_things(["one"])
    first, again, other = (sample_copy(page, digest) for digest in ("sha1:A", "sha1:A", "sha1:B"))
    assert first == again
    assert set(first.data).isdisjoint(other.data)
    assert set(first.words).isdisjoint(other.words)
    assert sample_copy(read("<p>Words"), "sha1:A").data == ()
