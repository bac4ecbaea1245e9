"""Which images a browser is told to load that wants to see them: none that a crawler may not ask for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexed import index_pages
from rdfspider import Crawl
from serving import Serving, serve

SEEN = {"Cookie": "rdfspider_images=on"}
PUBLIC = "https://images.example/tea.jpg"
PRIVATE = (
    "http://127.0.0.1:8080/cgi?do=1",
    "http://192.168.1.1/x.png",
    "http://[::1]/x.png",
    "http://2130706433/x.png",
    "http://0x7f.1/x.png",
    "http://user@localhost/x.png",
    "http://LOCALHOST./x.png",
    "https://router/x.png",
    "http://printer.local/x.png",
)


def name(at: int) -> str:
    return f"https://a.example/{at}#it"


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    thing = {"@context": "https://schema.org", "@type": "Product", "name": "Tea"}
    pages = {
        f"https://a.example/{at}": {**thing, "@id": name(at), "image": url} for at, url in enumerate((PUBLIC, *PRIVATE))
    }
    return index_pages(tmp_path_factory.mktemp("images") / "c", pages)


@pytest.fixture(scope="module")
def site(crawl: Crawl) -> Iterator[Serving]:
    with serve(crawl) as serving:
        yield serving


def test_images_of_the_web_are_shown_where_a_person_wants_them(site: Serving) -> None:
    assert f'src="{PUBLIC}"' in site.get("/entity", SEEN, iri=name(0)).text
    assert f'src="{PUBLIC}"' in site.get("/search", SEEN, q="tea").text
    assert f'src="{PUBLIC}"' not in site.get("/entity", iri=name(0)).text


def test_no_browser_is_led_into_its_own_network(site: Serving) -> None:
    for at, url in enumerate(PRIVATE, 1):
        page = site.get("/entity", SEEN, iri=name(at)).text
        assert 'src="http' not in page, url
        assert "It has an image" in page, url
    assert site.get("/search", SEEN, q="tea").text.count('src="http') == 1


def test_where_private_addresses_may_be_crawled_their_images_are_shown(tmp_path: Path) -> None:
    thing = {"@context": "https://schema.org", "@id": "#it", "@type": "Product", "name": "Tea", "image": PRIVATE[0]}
    folder = tmp_path / "c"
    index_pages(folder, {"https://a.example/0": thing})
    with serve(Crawl.create(folder, [], fetch_allow_private=True)) as serving:
        assert f'src="{PRIVATE[0]}"' in serving.get("/entity", SEEN, iri=name(0)).text


def test_where_a_name_was_given_an_address_by_hand_its_images_are_shown(tmp_path: Path) -> None:
    url = "http://shop.localhost:8585/tea.png"
    thing = {"@context": "https://schema.org", "@id": "#it", "@type": "Product", "name": "Tea", "image": url}
    folder = tmp_path / "c"
    index_pages(folder, {"https://a.example/0": thing})
    with serve(Crawl.create(folder, [], fetch_resolve=["*.localhost=127.0.0.1"])) as serving:
        assert f'src="{url}"' in serving.get("/entity", SEEN, iri=name(0)).text
    with serve(Crawl.create(folder, [], fetch_resolve=["*=127.0.0.1"])) as serving:
        assert f'src="{url}"' not in serving.get("/entity", SEEN, iri=name(0)).text
