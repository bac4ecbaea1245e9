"""What is typed becomes a question, whatever it is."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdfspider.index.text.query_language import MAX_CHARS, MAX_CLAUSES, Clause, parse_date, parse_question


def parse(text: str) -> list[tuple[str, str, str]]:
    """Field, name and text of each clause, with the signs that it was typed with."""
    question = parse_question(text)
    assert question.note == ""
    return [
        ("-" * clause.is_excluded + clause.field, clause.name, clause.text + "*" * clause.is_prefix)
        for (clause,) in question.groups
    ]


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("green tea", [("words", "", "green"), ("words", "", "tea")]),
        ('"green tea"', [("words", "", "green tea")]),
        ("“green tea”", [("words", "", "green tea")]),
        ("tea -green", [("words", "", "tea"), ("-words", "", "green")]),
        ("wor*", [("words", "", "wor*")]),
        ("type:Person", [("type", "", "Person")]),
        ("TYPE:schema:Person", [("type", "", "schema:Person")]),
        ("-type:http://schema.org/Person", [("-type", "", "http://schema.org/Person")]),
        ('author:"Herman Melville"', [("value", "author", "Herman Melville")]),
        ("-author:melv*", [("-value", "author", "melv*")]),
        ("property:isbn site:example.org", [("property", "", "isbn"), ("site", "", "example.org")]),
        ("before:2024 after:2023-12-31", [("before", "", "2024"), ("after", "", "2023-12-31")]),
        ("year:2024 tea", [("year", "", "2024"), ("words", "", "tea")]),
        ("kind:page lang:en syntax:rdfa", [("kind", "", "page"), ("lang", "", "en"), ("syntax", "", "rdfa")]),
        # Signs between words, times and addresses are what they look like.
        ("tea - & AND coffee", [("words", "", "tea"), ("words", "", "coffee")]),
        ("12:30", [("words", "", "12:30")]),
        ("-https://example.org/tea", [("-words", "", "https://example.org/tea")]),
        ("", []),
        ("!?", []),
    ],
)
def test_the_language(text: str, clauses: list[tuple[str, str, str]]) -> None:
    assert parse(text) == clauses


def test_or_joins_its_neighbours() -> None:
    question = parse_question("green tea OR coffee OR type:book cup")
    assert [[clause.text for clause in group] for group in question.groups] == [
        ["green"],
        ["tea", "coffee", "book"],
        ["cup"],
    ]


@pytest.mark.parametrize(
    ("text", "words", "reason"),
    [
        ('"green tea', ["green", "tea"], "quotation mark"),
        ("tea author: melville", ["tea", "author", "melville"], "nothing stands behind 'author:'"),
        ('author:"" tea', ["author", "tea"], "nothing stands behind 'author:'"),
        ("tea before:yesterday", ["tea", "before", "yesterday"], "'yesterday' is no date"),
        ("after:2024-13", ["after", "2024", "13"], "'2024-13' is no date"),
        ("kind:book", ["kind", "book"], "'book' is no kind"),
        ("role:hero", ["role", "hero"], "'hero' is no role"),
        ("year:24", ["year", "24"], "'24' is no year; year:2024 is"),
        ("OR tea", ["OR", "tea"], "OR stands between"),
        ("tea OR", ["tea", "OR"], "OR stands between"),
        ("aa* " * 9, ["aa"] * 9, "more than 8 words end with *"),
        ("tea OR -green", ["tea", "OR", "green"], "OR and a minus"),
    ],
)
def test_what_breaks_a_rule_is_searched_as_plain_words_and_said(text: str, words: list[str], reason: str) -> None:
    question = parse_question(text)
    assert [clause.text for (clause,) in question.groups] == words
    assert question.note.startswith("searched as plain words: ")
    assert reason in question.note


def test_a_clause_knows_where_it_was_typed() -> None:
    text = 'tea -type:person author:"Herman Melville" wor*'
    for (clause,) in parse_question(text).groups:
        assert text[clause.start :].startswith(clause.text)


def test_long_questions_are_cut_and_say_so() -> None:
    question = parse_question("word " * 10_000)
    assert len(question.text) == MAX_CHARS
    assert len(question.groups) == MAX_CLAUSES
    assert f"first {MAX_CHARS:,} characters" in question.note
    assert f"first {MAX_CLAUSES} words" in question.note


def test_dates_are_the_first_instant_of_what_they_name() -> None:
    assert parse_date("2024") == datetime(2024, 1, 1, tzinfo=UTC)
    assert parse_date("2024-5") == datetime(2024, 5, 1, tzinfo=UTC)
    assert parse_date("2024-05-31") == datetime(2024, 5, 31, tzinfo=UTC)
    assert [parse_date(text) for text in ("0000", "2023-02-29", "24", "2024-", "２０２４-१३")] == [None] * 5


@given(st.text(alphabet=st.one_of(st.sampled_from('":-*OR| <>ab2type'), st.characters()), max_size=200))
def test_any_text_is_a_question(text: str) -> None:
    question = parse_question(text)
    assert all(isinstance(clause, Clause) and clause.text for group in question.groups for clause in group)
    question.text.encode()
