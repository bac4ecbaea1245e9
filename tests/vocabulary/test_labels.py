"""Labels and texts of pages as people read them."""

import pytest

from rdfspider.vocabulary.labels import MAX_TITLE, clean_label, clean_text, cut_label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("<b>Green</b> tea", "Green tea"),
        ("&lt;b&gt;Green&lt;/b&gt; tea", "Green tea"),
        ("Green<br/>tea <img src=x onerror=alert(1)>", "Green tea"),
        ("Tea &amp; cake\n for&nbsp;two", "Tea & cake for two"),
        ("\ue001 Home\uf015", "Home"),
        ("\U000f0001Menu", "Menu"),
        ("a < b and List<String> > c", "a < b and List<String> > c"),
        ("Grüner Tee 🍵", "Grüner Tee 🍵"),
        ("<script>alert(1)</script>", "alert(1)"),
    ],
)
def test_a_label_has_no_markup_references_or_glyphs(text: str, label: str) -> None:
    assert clean_label(text) == label


def test_a_text_keeps_its_lines() -> None:
    assert clean_text("<p>one</p>\n<p>two</p>") == " one \n two "


def test_a_long_label_is_cut_after_a_word() -> None:
    assert cut_label("short") == "short"
    cut = cut_label("word " * 100)
    assert len(cut) <= MAX_TITLE
    assert cut.endswith("word…")
    assert len(cut_label("x" * 1000)) == MAX_TITLE


def test_many_open_brackets_cost_little() -> None:
    assert clean_text("<p " * 5_000) == "<p " * 5_000
