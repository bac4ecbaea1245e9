import pytest

from rdfspider.validate.page import is_escaped_twice


@pytest.mark.parametrize("text", ["Tom &amp; Jerry", "It&#39;s", "It&#x27;s", "a&nbsp;b", "/?a=1&amp;b=2"])
def test_a_reference_in_a_plain_text_was_escaped_twice(text: str) -> None:
    assert is_escaped_twice(text)


@pytest.mark.parametrize("text", ["Tom & Jerry", "a &nosuchname; b", "<p>Tom &amp; Jerry</p>", "R&D;", ""])
def test_other_texts_were_not(text: str) -> None:
    assert not is_escaped_twice(text)
