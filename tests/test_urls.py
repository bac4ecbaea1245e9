import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from rdfspider.urls import (
    MAX_URL_CHARS,
    host_of,
    host_of_authority,
    normalise_url,
    resolve_iri,
    resolve_links,
    valid_iri,
)


@pytest.mark.parametrize(
    ("reference", "expected"),
    # RFC 3986, 5.4: the examples, against http://a/b/c/d;p?q
    [
        ("g:h", "g:h"),
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"),
        ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."),
        ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"),
        ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"),
        ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"),
    ],
)
def test_references_resolve_as_rfc_3986_says(reference: str, expected: str) -> None:
    assert resolve_iri("http://a/b/c/d;p?q", reference) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("http://example.org", "http://example.org"),
        (" http://example.org/a b ", "http://example.org/a%20b"),
        ("http://example.org/{id}", "http://example.org/%7Bid%7D"),
        ("http://example.org/100%", "http://example.org/100%25"),
        ("http://example.org/%zz", "http://example.org/%25zz"),
        ("http://example.org/a#b#c", "http://example.org/a#b%23c"),
        ("http:\\\\example.org", "http://example.org"),
        ("http://exa mple.org/", None),
        ("no-scheme", None),
        ("http://münchen.de/ä", "http://münchen.de/ä"),
        ("mailto:a@b.org", "mailto:a@b.org"),
        ("http://example.org/\ue000", "http://example.org/%EE%80%80"),
    ],
)
def test_iris_of_the_real_web_are_repaired_or_refused(text: str, value: str | None) -> None:
    found = valid_iri(text)
    assert (found.value if found else None) == value


@given(
    st.text() | st.from_regex(r"https?://[^\s]{0,40}", fullmatch=True) | st.text().map("http://example.org/".__add__)
)
def test_what_is_called_an_iri_is_one(text: str) -> None:
    found = valid_iri(text)
    if found is not None:
        NamedNode(found.value)


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("/x", "https://example.org/x"),
        ("x", "https://example.org/a/x"),
        ("../x#frag", "https://example.org/x"),
        ("#frag", "https://example.org/a/b"),
        ("//Other.ORG", "https://other.org/"),
        ("HTTP://example.org:80/%7Ea/./b?q=1 2", "http://example.org/~a/b?q=1%202"),
        ("/caf%c3%a9", "https://example.org/caf%C3%A9"),
        ("/caf%C3%A9", "https://example.org/caf%C3%A9"),
        ("/café", "https://example.org/caf%C3%A9"),
        ("/a%2fb?x=%2f%61", "https://example.org/a%2Fb?x=%2Fa"),
        # What is escaped twice, or escapes nothing, stays so.
        ("/%2541/%zz/%4", "https://example.org/%2541/%zz/%4"),
        ("/%2%65%2%65/private", "https://example.org/%2%65%2%65/private"),
        ("/%%34%31", "https://example.org/%%341"),
        ("mailto:a@b.org", None),
        ("javascript:void(0)", None),
        ("https://1.2.3/", "https://1.2.0.3/"),
        ("/a\\b", "https://example.org/a/b"),
    ],
)
def test_links_resolve_as_browsers_do(link: str, target: str | None) -> None:
    assert resolve_links("https://example.org/a/b", [link]) == {link: target}


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("http://127.0.0.1:8080/a", "http://127.0.0.1:8080/a"),
        ("http://127.0.0.1/a", "http://127.0.0.1/a"),
        ("http://127.0.0.01/a", "http://127.0.0.1/a"),
        ("http://127.1/a", "http://127.0.0.1/a"),
        ("http://127.0.0.256/a", None),
        ("http://example.org:80/a", "http://example.org/a"),
        ("https://example.org:443/a", "https://example.org/a"),
        ("https://example.org:80/a", "https://example.org:80/a"),
        ("https://example.org:08080/a", "https://example.org:8080/a"),
        ("https://example.org:65535/a", "https://example.org:65535/a"),
        ("https://example.org:65536/a", None),
        ("https://example.org:/a", "https://example.org/a"),
        ("/a", "http://127.0.0.9:8000/a"),
        ("a", "http://127.0.0.9:8000/x/a"),
        ("a\nb", "http://127.0.0.9:8000/x/ab"),
    ],
)
def test_addresses_with_ports_and_numbers_resolve_as_browsers_do(link: str, target: str | None) -> None:
    others = ["/1", "http://127.0.0.1:8080/2"]
    found = resolve_links("http://127.0.0.9:8000/x/y", [others[0], link, others[1]])
    assert found == {others[0]: "http://127.0.0.9:8000/1", link: target, others[1]: others[1]}


def test_a_base_that_is_no_address_resolves_only_absolute_links() -> None:
    assert resolve_links("urn:x:y", ["https://example.org/", "/x"]) == {
        "https://example.org/": "https://example.org/",
        "/x": None,
    }


@pytest.mark.parametrize(
    ("form", "filler", "width"),
    [
        ("https://a.example/{}", "x", 1),
        ("https://a.example/?{}", "x", 1),
        ("https://a.example/" + "y" * 4000 + "?{}", "x", 1),
        ("https://a.example/%7e{}", "x", 1),
        ("https://a.example/b/../{}", "x", 1),
        ("https://a.example/{}", "é", 6),
        ("https://{}/", "a.", 2),
        ("/{}", "x", 1),
        ("{}", "x", 1),
    ],
)
def test_links_that_are_too_long_lead_nowhere(form: str, filler: str, width: int) -> None:
    def resolve(count: int) -> str | None:
        link = form.format(filler * count)
        return resolve_links("https://example.org/", [link])[link]

    start = len(resolve(1) or "") - width
    most = (MAX_URL_CHARS - start) // width
    longest = resolve(most)
    assert longest and len(longest) == start + most * width
    assert resolve(most + 1) is None
    assert resolve(1_000_000) is None


def test_what_becomes_short_is_followed() -> None:
    link = "/a#" + "x" * 10_000
    spread = "/b" + "\n" * 10_000 + "c"
    assert resolve_links("https://example.org/", [link, spread]) == {
        link: "https://example.org/a",
        spread: "https://example.org/bc",
    }


def test_normal_form_is_stable() -> None:
    address = normalise_url("HTTPS://Example.org/a/../b#c")
    assert address == "https://example.org/b"
    assert normalise_url(address) == address


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://example.org/", "example.org"),
        ("https://user:secret@example.org:8080/a@b", "example.org"),
        ("https://user@example.org/", "example.org"),
        ("http://[::1]:80/", "[::1]"),
        ("http://[2001:db8::1]/", "[2001:db8::1]"),
        ("http://user:secret@[::1]:80/", "[::1]"),
        ("http://127.0.0.1/x:y", "127.0.0.1"),
        ("https://example.org/?q=http://example.com/", "example.org"),
    ],
)
def test_the_host_of_a_url(url: str, host: str) -> None:
    assert host_of(url) == host
    assert host_of_authority(url.split("/")[2]) == host


@given(st.text("%2546aEe7x/.", max_size=30))
def test_a_normal_address_is_its_own_normal_form(path: str) -> None:
    """Or one page would have two addresses, and what robots.txt judges would not be what is asked for."""
    address = normalise_url(f"http://example.org/{path}")
    assert address and normalise_url(address) == address
