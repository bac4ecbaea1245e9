"""Targets of sameAs: which join nothing, and which are one."""

import pytest

from rdfspider.index.identity.addresses import find_home, list_spellings


@pytest.mark.parametrize(
    "iri",
    [
        "https://other.example/",
        "https://other.example",
        "http://www.other.example/index.html",
        "https://other.example/en/",
        "https://other.example/about",
        "https://other.example/contact-us/",
        "https://www.facebook.com/",
        "https://m.facebook.com",
        "https://www.facebook.com/pages/",
        "https://www.facebook.com/sharer.php?u=https%3A%2F%2Fa.example",
        "https://twitter.com/intent/tweet?text=x",
        "https://twitter.com/@",
        "https://www.linkedin.com/company/",
        "https://www.youtube.com/channel",
        "https://www.youtube.com/watch",
        "https://www.instagram.com/explore/",
        "mailto:a@b.example",
        "tel:12345",
        "#",
        "",
        "https://a.example/" + "x" * 1000,
    ],
)
def test_what_says_nothing_of_a_thing_joins_nothing(iri: str) -> None:
    assert list_spellings(iri) == ()


@pytest.mark.parametrize(
    "same",
    [
        ("https://www.facebook.com/Acme/", "http://facebook.com/acme", "https://m.facebook.com/acme?ref=page"),
        ("https://twitter.com/acme", "https://x.com/Acme", "https://www.twitter.com/acme?lang=en"),
        ("https://www.youtube.com/watch?v=Ab1", "http://youtube.com/watch?v=Ab1&t=3"),
        (
            "http://dbpedia.org/resource/Berlin",
            "https://dbpedia.org/resource/Berlin",
            "http://www.dbpedia.org/resource/Berlin/",
        ),
        ("https://a.example/about#me", "http://www.a.example/about#me"),
    ],
)
def test_one_target_in_several_spellings_is_one(same: tuple[str, ...]) -> None:
    assert len({list_spellings(iri)[0] for iri in same}) == 1


def test_different_targets_stay_different_and_an_iri_that_pages_may_describe_is_kept() -> None:
    videos = {list_spellings(f"https://www.youtube.com/watch?v={video}")[0] for video in ("Ab1", "ab1")}
    assert len(videos) == 2
    assert list_spellings("http://dbpedia.org/resource/Berlin")[1:] == ("http://dbpedia.org/resource/Berlin",)
    assert list_spellings("https://a.example:8080/x") == ("https://a.example:8080/x",)


def test_only_the_root_of_a_site_of_its_own_is_a_home_page() -> None:
    assert find_home("https://www.acme.example/") == find_home("http://acme.example") == "acme.example"
    for url in ("https://acme.example/en", "https://facebook.com/", "https://acme.example/?x=1", "acme.example", ""):
        assert find_home(url) == ""
