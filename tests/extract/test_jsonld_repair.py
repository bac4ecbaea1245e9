import json

import pytest

from rdfspider.extract.jsonld.repair import repair_json

EXPECTED = {"a": "b", "c": [1, 2]}


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ('\ufeff{"a": "b", "c": [1, 2]}', "a byte order mark"),
        ('<!-- {"a": "b", "c": [1, 2]} -->', "comments or markup"),
        ('<![CDATA[{"a": "b", "c": [1, 2]}]]>', "comments or markup"),
        ('//<![CDATA[\n{"a": "b", "c": [1, 2]}\n//]]>', "comments or markup"),
        ('// <![CDATA[ {"a": "b", "c": [1, 2]} // ]]>', "comments or markup"),
        ('/*<![CDATA[*/{"a": "b", "c": [1, 2]}/*]]>*/', "comments or markup"),
        ('{"a": "b", // said so\n /* and */ "c": [1, 2]}', "comments or markup"),
        ('{"a": "b",<br />\n"c": [1, 2]}', "comments or markup"),
        ('<!-- made by us --> {"a": "b", "c": [1, 2]}', "comments or markup"),
        ('<!-- {"a": "old"} --> {"a": "b", "c": [1, 2]}', "comments or markup"),
        ('{"a": "b",{% if c %}"c": [1, 2]{% endif %}}', "tags of templates"),
        ('{"a": "b", "c": [1, 2,],}', "commas or semicolons at the end"),
        ('{"a": "b", "c": [1, 2]};', "commas or semicolons at the end"),
        ('{"a": "b",, "c": [1, 2]}', "commas too many"),
        ('{"a": "b"\n "c": [1, 2]}', "missing commas"),
        ('{"a": "b" "c": [1, 2]}', "missing commas"),
        ("{'a': 'b', 'c': [1, 2]}", "single quotes"),
        ('{a: "b", c: [1, 2]}', "keys without quotes"),
        ('{"a": "b",c: [1, 2]}', "keys without quotes"),
        ('{"a": "b",“c”: [1, 2]}', "typographic quotes"),
        ('{"a": b, "c": [1, 2]}', "values without quotes"),
        ("{&quot;a&quot;: &quot;b&quot;, &quot;c&quot;: [1, 2]}", "quotes written as character references"),
        ("{“a”: “b”, “c”: [1, 2]}", "typographic quotes"),
        ('var data = {"a": "b", "c": [1, 2]};', "an assignment before it"),
        ('{"a": "b", "c": [1, 2]', "a missing end"),
        ('{"a": "b", "c": [1, 2}', "brackets that do not match"),
        ('{"a": "b", "c": [1, 2]} and so on', "text after the end"),
    ],
)
def test_what_is_plain_is_repaired_and_named(text: str, note: str) -> None:
    repaired = repair_json(text, 500)
    assert repaired is not None
    assert repaired.values == [EXPECTED]
    assert note in repaired.notes


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "one\ntwo\tthree\x00"}', "one\ntwo\tthree\x00"),
        ('{"a": "he said "yes", and left"}', 'he said "yes", and left'),
        ('{"a": "<img width="300" src="https://e.org/x">", "b": 1}', '<img width="300" src="https://e.org/x">'),
        ('{"a": "it\\\'s"}', "it's"),
        ('{"a": \'it is "so"\', "b": 1}', 'it is "so"'),
        ('{"a": "1\\-2", "b": 1,}', "1-2"),
        ('{"a": "half \\ud800 pair"}', "half \ufffd pair"),
        ('{"a": "whole \\ud83d\\ude00 pair",}', "whole 😀 pair"),
        ('{"a": undefined}', None),
        ('{"a": , "b": 1}', None),
        ('{"a": 1e999}', None),
        ('{"a": NaN}', None),
        ('{"a": True,}', True),
        ('{"a": 0123}', "0123"),
    ],
)
def test_values_keep_their_meaning(text: str, value: object) -> None:
    repaired = repair_json(text, 500)
    assert repaired is not None
    assert repaired.values[0]["a"] == value


@pytest.mark.parametrize(
    ("text", "value", "lost"),
    [
        ('{"a": 1, "": 2, "b": 3,}', {"a": 1, "b": 3}, ["''"]),
        ('{"a": 1, "p": {{ price }} EUR, "b": 3}', {"a": 1, "b": 3}, ["'p'"]),
        ('{"a": 1, "p": window.location.href, "b": 3}', {"a": 1, "b": 3}, ["'p'"]),
        ('{"a": 1, "p": "C:\\dir", "b": 3}', {"a": 1, "b": 3}, ["'p'"]),
        ('{"a": 1, "p": 12,50, "b": 3}', {"a": 1}, ["'p'", "all after 'p'"]),
        ('{"a": 1, "p": "x" + y + "z", "b": 3}', {"a": 1}, ["'p'", "all after 'p'"]),
        ('{"a": 1, "p": "see "A", note: "B" too", "b": 3}', {"a": 1}, ["'p'", "all after 'p'"]),
        ('{"a": 1, "p": "{"c":"d","e":"f"}", "b": 3}', {"a": 1}, ["'p'", "all after 'p'"]),
        ('{"a": 1, "p": {"c": 1, "b": 3}', {"a": 1}, ["'p'"]),
        ('{"a": 1, "p": "never closed', {"a": 1}, ["'p'", "all after 'p'"]),
        ('{"a": 1, "p": 12', {"a": 1}, ["'p'", "all after 'p'"]),
        ('{"a": {"c": 1}, "p" 2}', {}, []),
        ('{"a": 1, {% if c %}"p": 2,{% else %}"p": 3,{% endif %} "b": 3}', {"a": 1, "b": 3}, ["'p'"]),
        ('{"a": 1, "p": `x`, "b": 3}', {"a": 1, "b": 3}, ["'p'"]),
        ('{"a": 1, "p": &quot;x&quot;, "b": 3}', {"a": 1, "b": 3}, ["'p'"]),
        ('{"a": 1, "p": true//, "b": 3\n}', {"a": 1, "b": 3}, ["'p'"]),
        ("{'a': 1, 'p': x', 'b': 3}", {"a": 1}, ["'p'", "all after 'p'"]),
        ("{'a': 1, 'p': true 'b': 3}", {"a": 1}, ["'p'", "all after 'p'"]),
        ('{"a": 1, "p": ["x""y"], "b": 3}', {"a": 1}, ["'p'", "all after 'p'"]),
        ('{"a": 1, "p": "size [6"] x", "b": 3}', {"a": 1}, ["'p'", "all after 'p'"]),
    ],
)
def test_what_is_unclear_is_left_out_and_named(text: str, value: dict[str, object], lost: list[str]) -> None:
    repaired = repair_json(text, 500)
    assert (repaired.values[0] if repaired else {}, repaired.lost if repaired else []) == (value, lost)


def test_several_values_in_a_row_are_all_read() -> None:
    repaired = repair_json('{"a": 1}\n{"b": 2},\n[{"c": 3}]', 500)
    assert repaired is not None
    assert repaired.values == [{"a": 1}, {"b": 2}, [{"c": 3}]]


def test_what_is_whole_before_a_ruin_is_kept() -> None:
    repaired = repair_json('{"a": 1} {"b" 2', 500)
    assert repaired is not None
    assert repaired.values == [{"a": 1}]


@pytest.mark.parametrize(
    "text", ["", "Just prose.", '{"a" "b"}', "{{ template }}", '{"a": "never closed', "[" * 600 + ","]
)
def test_what_is_not_plain_is_refused(text: str) -> None:
    assert repair_json(text, 500) is None


def test_repairs_of_sound_json_change_nothing() -> None:
    value = {"a": ["b", {"c": None, "d": [True, -1.5e3]}, 'q"\\/\n'], "e": "“”&quot; // no comment"}
    repaired = repair_json(json.dumps(value), 500)
    assert repaired is not None
    assert repaired.values == [value]
