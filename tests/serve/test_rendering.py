"""Whatever a site calls its things, it stays text, in its place and of a length that can be read."""

import pytest
from markupsafe import Markup

from rdfspider.serve.rendering import (
    draw_outward,
    locate_static,
    make_address,
    make_templates,
    write_bytes,
    write_day,
    write_duration,
    write_label,
    write_number,
    write_properties,
    write_sentence,
    write_short,
    write_term,
    write_text,
    write_types,
)
from rdfspider.vocabulary.labels import is_visible


def test_markup_in_names_is_text() -> None:
    for write in (write_label, write_text, write_short):
        assert "<script" not in write("<script>alert(1)</script>")
        assert 'onload="' not in write('" onload="x')


def test_what_turns_the_direction_is_left_out_and_the_rest_isolated() -> None:
    assert write_label("a\u202eb\u2066c") == "<bdi>abc</bdi>"
    assert write_text("a\u202eb\nc") == "<bdi>ab\nc</bdi>"


@pytest.mark.parametrize("name", ["\u202e\u200f", "\u200b\u2060", "\u00ad", " \u3164\u2800", "\u200d" * 300 + "a"])
def test_what_nobody_could_see_is_said(name: str) -> None:
    assert not is_visible(name[:200])
    assert write_label(name).startswith("<bdi")
    assert "(nothing to be seen)" in write_label(name)
    parts = make_templates().get_template("parts.html").module
    assert "https://a.test/#it" in parts.thing("https://a.test/#it", name[:200]).striptags()  # type: ignore[attr-defined]


def test_nothing_is_nothing() -> None:
    assert write_label("") == "<bdi></bdi>"
    assert all(map(is_visible, ("a", "東", "\u200fא", "🜚", "%", "\u0bbf")))


def test_long_texts_are_cut() -> None:
    assert len(write_label("x" * 1_000_000)) < 3000
    assert len(write_text("x" * 1_000_000)) < 3000
    assert len(write_short("http://example.org/" + "x" * 1_000_000)) < 3000


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", " http://a", "JAVASCRIPT:x", "//a", "ftp://a"]
)
def test_only_addresses_of_the_web_can_be_clicked(url: str) -> None:
    assert "<a" not in draw_outward(url)


def test_links_that_leave_tell_nobody_where_one_was() -> None:
    link = draw_outward("https://example.org/?a=1&b=2")
    assert 'href="https://example.org/?a=1&amp;b=2"' in link
    assert 'rel="noopener noreferrer nofollow"' in link


def test_addresses_leave_out_what_is_empty_and_repeat_what_is_many() -> None:
    assert (
        make_address("/search", q="tea & co", type=["A", "B"], site="", page=None)
        == "/search?q=tea%20%26%20co&type=A&type=B"
    )
    assert make_address("/search") == "/search"
    assert make_address("/entity", iri="http://a/\ud800") == "/entity?iri=http://a/%3F"


def test_numbers_sizes_and_times_as_people_write_them() -> None:
    assert [write_number(number) for number in (0, 1234567, 3.14, 2500.5)] == ["0", "1,234,567", "3.1", "2,500"]
    assert [write_bytes(size) for size in (12, 1500, 2.5e9)] == ["12 B", "1.5 kB", "2.5 GB"]
    assert [write_duration(time_s) for time_s in (0.02, 3.21, 60, 600, 9000)] == [
        "20 ms",
        "3.2 s",
        "60 s",
        "10 min",
        "2.5 h",
    ]
    assert "2025-06-15" in write_day(1_750_000_000.0)
    assert write_day(0) == write_day(1e30) == ""


def test_names_are_broken_between_their_parts() -> None:
    assert ">schema:<wbr>Image<wbr>Object</bdi>" in write_short("http://schema.org/ImageObject")
    assert ">http://<wbr>a.<wbr>test/<wbr>&lt;b&gt;#</bdi>" in write_short("http://a.test/<b>#")


def test_classes_of_one_name_are_named_once() -> None:
    drawn = write_types(["http://schema.org/Person", "http://xmlns.com/foaf/0.1/Person", "http://schema.org/Thing"])
    assert [iri for iri, _ in drawn] == ["http://schema.org/Person", "http://schema.org/Thing"]
    assert "schema:Person · http://schema.org/Person, foaf:Person · http://xmlns.com/foaf/0.1/Person" in drawn[0][1]


def test_properties_are_named_in_words_with_their_prefix_where_names_are_equal() -> None:
    published, mine, other = "http://schema.org/datePublished", "http://schema.org/title", "http://ogp.me/ns#title"
    drawn = write_properties([published, mine, other])
    assert drawn[published] == f'<bdi title="schema:datePublished · {published}">date published</bdi>'
    assert Markup(drawn[mine]).striptags() == "title schema"
    assert Markup(drawn[other]).striptags() == "title og"
    alone = "http://ogp.me/ns#type"
    assert Markup(write_properties([alone])[alone]).striptags() == "type og"
    assert Markup(write_properties([alone], is_card=True)[alone]).striptags() == "type"
    assert "<b>" not in write_properties(["http://a.test/#<b>"])["http://a.test/#<b>"]


def test_terms_of_well_known_vocabularies_have_their_name_alone() -> None:
    assert ">In<wbr>Stock</bdi>" in write_term("http://schema.org/InStock")
    assert ">http://<wbr>a.<wbr>test/<wbr>In<wbr>Stock</bdi>" in write_term("http://a.test/InStock")


def test_empty_lines_of_markup_become_one() -> None:
    assert write_text("\n \n One\n\n  \n\t\nTwo\nThree\n\n") == "<bdi>One\n\nTwo\nThree</bdi>"


def test_long_iris_keep_their_ends() -> None:
    assert write_short(f"http://a.test/{'x' * 100}#Event").endswith("#<wbr>Event</bdi>")


def test_what_is_wrong_is_told_as_a_sentence() -> None:
    assert write_sentence("there is no such page") == "<bdi>There is no such page.</bdi>"
    assert write_sentence("is it?") == "<bdi>Is it?</bdi>"
    assert write_sentence("") == "<bdi></bdi>"


def test_templates_escape_without_being_asked() -> None:
    assert make_templates().from_string("{{ it }}").render(it="<b>") == "&lt;b&gt;"


def test_addresses_of_static_files_change_with_the_files() -> None:
    assert locate_static("site.css").startswith("/static/site.css?")
    assert locate_static("no-such.css") == ""
