"""Identifiers: one form of each, and nothing for what only looks like one."""

import pytest

from rdfspider.index.identity.identifiers import (
    read_doi,
    read_gtin,
    read_isbn,
    read_mailbox,
    read_mailbox_sum,
    read_orcid,
)


@pytest.mark.parametrize(
    ("text", "gtin"),
    [
        ("4006381333931", "04006381333931"),
        ("4 006381 333931", "04006381333931"),
        ("04006381333931", "04006381333931"),
        ("036000291452", "00036000291452"),
        ("96385074", "00000096385074"),
        ("4006381333932", ""),
        ("0000000000000", ""),
        ("1111111111116", ""),
        ("1234567890128", ""),
        ("2012345678900", ""),
        ("400638133393", ""),
        ("４００６３８１３３３９３１", ""),
        ("n/a", ""),
        ("", ""),
        ("4" * 100_000, ""),
    ],
)
def test_a_gtin_has_a_right_check_digit_and_is_no_shops_own(text: str, gtin: str) -> None:
    assert read_gtin(text) == gtin


@pytest.mark.parametrize(
    ("text", "isbn"),
    [
        ("0-306-40615-2", "09780306406157"),
        ("ISBN 978-0-306-40615-7", "09780306406157"),
        ("urn:isbn:9780306406157", "09780306406157"),
        ("ISBN-10: 080442957X", "09780804429573"),
        ("0-306-40615-3", ""),
        ("4006381333931", ""),
        ("0000000000", ""),
        ("X306406152", ""),
    ],
)
def test_an_isbn_of_either_length_is_the_gtin_of_the_book(text: str, isbn: str) -> None:
    assert read_isbn(text) == isbn


def test_an_orcid_has_a_right_check_digit() -> None:
    assert read_orcid("https://orcid.org/0000-0002-1825-0097") == "0000-0002-1825-0097"
    assert read_orcid("0000-0002-1694-233x") == "0000-0002-1694-233X"
    assert read_orcid("0000-0002-1825-0098") == read_orcid("0000-0000-0000-0000") == read_orcid("none") == ""


def test_a_doi_is_one_in_any_case_and_with_any_beginning() -> None:
    for text in ("doi:10.1000/XYZ123", "https://doi.org/10.1000/xyz123", "http://dx.doi.org/10.1000/xyz123."):
        assert read_doi(text) == "10.1000/xyz123"
    assert read_doi("10.1/short") == read_doi("nothing") == ""


def test_mail_addresses_are_compared_by_their_hashes() -> None:
    digest = read_mailbox("mailto:Ada@Example.org")
    assert digest == read_mailbox(" ada@example.org ") == read_mailbox_sum(digest.upper())
    assert len(digest) == 40
    for text in ("ada", "ada@localhost", "@example.org", "a b@example.org", "https://example.org/@ada"):
        assert read_mailbox(text) == ""
    assert read_mailbox_sum("0000") == ""
