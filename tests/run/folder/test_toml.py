import tomllib

from rdfspider.run.folder.toml import change_value, write_tables

WRITTEN_BY_HAND = """\
# mine
[crawl]   # what
pages = 10  # enough
include = [
    "a",  # first
    "b",
]

[fetch]
contact = "me@example.org"
"""


def test_tables_can_be_read_again() -> None:
    tables = {"crawl": {"pages": 5, "time_s": 1.5, "include": ['a"\\b', "é\x7f"]}, "fetch": {"allow_private": True}}
    assert tomllib.loads(write_tables(tables)) == tables


def test_a_change_leaves_the_rest_as_it_was_written() -> None:
    text = change_value(WRITTEN_BY_HAND, "crawl", "pages", 20)
    assert text == WRITTEN_BY_HAND.replace("pages = 10  # enough", "pages = 20")


def test_a_list_over_several_lines_is_replaced_whole() -> None:
    text = change_value(WRITTEN_BY_HAND, "crawl", "include", ["c"])
    assert tomllib.loads(text)["crawl"] == {"pages": 10, "include": ["c"]}
    assert "# mine" in text and "# enough" in text


def test_what_is_new_goes_to_its_table_or_a_new_one() -> None:
    text = change_value(WRITTEN_BY_HAND, "crawl", "depth", 3)
    text = change_value(text, "archive", "keep", "all")
    assert tomllib.loads(text)["crawl"]["depth"] == 3
    assert tomllib.loads(text)["archive"] == {"keep": "all"}
    assert text.startswith("# mine\n")


def test_an_unusual_layout_is_written_anew() -> None:
    text = change_value("crawl.pages = 1\nfetch = { contact = 'x' }\n", "crawl", "pages", 2)
    assert tomllib.loads(text) == {"crawl": {"pages": 2}, "fetch": {"contact": "x"}}
