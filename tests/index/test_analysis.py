"""Words of texts, as the tokenizer of the index has them."""

from hypothesis import example, given
from hypothesis import strategies as st

from rdfspider.index.analysis import build_words, split_text


@given(st.text(st.characters(codec="ascii"), max_size=120))
@example("x" * 99)
@example("x" * 100)
@example("Node.js 2_b\x1f\x0bC")
def test_plain_text_has_the_words_of_the_tokenizer(text: str) -> None:
    assert split_text(text) == (build_words().analyze(text), [])
