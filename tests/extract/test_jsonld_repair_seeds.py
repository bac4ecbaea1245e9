"""Objects made from a seed are written as JSON and broken; whatever is read of them must have been said.

`TEST_SEED=N scripts/test tests/extract/test_jsonld_repair_seeds.py` breaks other objects.
"""

import json
import os
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from rdfspider.extract.jsonld.repair import repair_json

SEED = int(os.environ.get("TEST_SEED", "1"))
OBJECTS = 2_000
NAMES = [
    "name",
    "sku",
    "description",
    "url",
    "offers",
    "price",
    "image",
    "author",
    "@type",
    "@id",
    "alternateName",
    "brand",
]
TEXTS = [
    "Anvil",
    "A1",
    "",
    "12",
    "https://e.example/a?b=c#d",
    "http://schema.org/InStock",
    "2020-01-02T10:00:00Z",
    "Fast, cheap and good",
    "Note: it is heavy",
    "PT1H30M",
    "it's the dogs' bowl",
    'He said "yes", and left',
    'A 24" screen, black',
    'see "A", note: "B" is better',
    'see "A", "B": "C", "d": "e" and more',
    'one "two" three: "four"',
    '<img src="//cdn.example/x.png" alt="" title="a: b">',
    '{"a":"b","c":"d"}',
    'items["x"] = {"y": 1}',
    '"Quoted"',
    'ends with "a quote"',
    "“typographic” quotes, “twice”",
    "C:\\new\\dir",
    "{{ product }} and {% tag %}",
    "a // b /* c */ <!-- d -->",
    "x: y, z: w",
    "true",
    "ü, 😀 and\nlines\tand tabs",
]
SCALARS: list[Any] = [1, 0, -1.5, 1299.5, True, False, 4]


def make_object(rng: random.Random, depth: int = 0) -> dict[str, Any]:
    return {name: make_value(rng, depth) for name in rng.sample(NAMES, rng.randint(1, 6))}


def make_value(rng: random.Random, depth: int) -> Any:
    kind = rng.random()
    if depth < 3 and kind < 0.2:
        return make_object(rng, depth + 1)
    if depth < 3 and kind < 0.3:
        return [make_value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    return rng.choice(SCALARS) if kind < 0.45 else rng.choice(TEXTS)


def tokenize(value: Any) -> list[tuple[str, str]]:
    """The JSON of a value in tokens of a kind each: key, text, other, item, and the signs `{ } [ ] , :`."""
    if isinstance(value, dict):
        members = [[("key", json.dumps(key)), (":", ":"), *tokenize(item)] for key, item in value.items()]
        return [("{", "{"), *join(members), ("}", "}")]
    if isinstance(value, list):
        joined = join([tokenize(item) for item in value])
        return [("[", "["), *(("item", text) if kind == "other" else (kind, text) for kind, text in joined), ("]", "]")]
    return [("text" if isinstance(value, str) else "other", json.dumps(value, ensure_ascii=False))]


def join(groups: list[list[tuple[str, str]]]) -> list[tuple[str, str]]:
    joined = [token for group in groups for token in (*group, (",", ","))]
    return joined[:-1]


Breaker = Callable[[random.Random, str], str]


def unquote(text: str) -> str:
    return text[1:-1].replace('\\"', '"')


BREAKS: list[tuple[str, str, Breaker]] = [
    ("bare key", "key", lambda _, text: text[1:-1]),
    ("typographic key", "key", lambda _, text: f"“{text[1:-1]}”"),
    ("typographic end of a key", "key", lambda _, text: f'"{text[1:-1]}”'),
    ("single quotes around a key", "key", lambda _, text: f"'{text[1:-1]}'"),
    ("key without its first quote", "key", lambda _, text: text[1:]),
    ("key without its last quote", "key", lambda _, text: text[:-1]),
    ("member without a name before a key", "key", lambda rng, text: f'"":{rng.choice("12")},{text}'),
    (
        "tag before a key",
        "key",
        lambda rng, text: rng.choice(["{% if x %}", "{{ x }}", "<?php if ($a) ?>", "<% x %>"]) + text,
    ),
    (
        "comment before a key",
        "key",
        lambda rng, text: rng.choice(["// c\n", "/* c */", "<!-- c -->", "<br />\n"]) + text,
    ),
    ("unescaped quotes", "text", lambda _, text: f'"{unquote(text)}"'),
    ("typographic value", "text", lambda _, text: f"“{unquote(text)}”"),
    ("typographic end of a value", "text", lambda _, text: f"{text[:-1]}”"),
    ("single quotes around a value", "text", lambda _, text: f"'{unquote(text)}'"),
    ("text without its first quote", "text", lambda _, text: text[1:]),
    ("text without its last quote", "text", lambda _, text: text[:-1]),
    ("raw controls", "text", lambda _, text: text.replace("and\\n", "and\n").replace("\\tand", "\tand")),
    ("expression", "text", lambda rng, text: text + rng.choice([' + name + "x"', " + name", ".trim()"])),
    ("tag after a text", "text", lambda rng, text: text + rng.choice(["{% endif %}", " <% x %>"])),
    (
        "tag for a value",
        "other",
        lambda rng, _: rng.choice(["{{ x }}", "{{ x }} EUR", "12{{ x }}", "{% if x %}1{% endif %}"]),
    ),
    ("decimal comma", "other", lambda _, text: text + ",50"),
    ("variable", "other", lambda rng, _: rng.choice(["undefined", "window.location.href", "price()", "NaN"])),
    ("no comma", ",", lambda rng, _: rng.choice([" ", "\n"])),
    ("two commas", ",", lambda _, text: text * 2),
    ("comma before the end of an object", "}", lambda _, text: "," + text),
    ("no end of an object", "}", lambda _, text: ""),
    ("comma before the end of an array", "]", lambda _, text: "," + text),
    ("no end of an array", "]", lambda _, text: ""),
    ("no colon", ":", lambda _, text: " "),
    ("equals sign", ":", lambda _, text: "="),
]
MILD = [found for found in BREAKS if found[1] not in "}]" and not found[0].endswith(("of a value", "quote"))]
WHOLE: list[tuple[str, Breaker]] = [
    ("cut", lambda rng, text: text[: rng.randrange(len(text))]),
    ("comment before it", lambda _, text: f"<!-- made {{by}} us -->\n{text}"),
    ("wrapped", lambda _, text: f"<!--\n{text}\n// -->"),
    ("assigned", lambda _, text: f"var data = {text};"),
    ("text after it", lambda _, text: f"{text} and so on"),
]


def break_somewhere(rng: random.Random, tokens: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Break one place, or two where neither loses the end of a value: else several readings might be right."""
    first = rng.choice(BREAKS)
    others = [rng.choice(MILD)] if first in MILD and rng.random() < 0.5 else []
    for name, kind, breaker in (first, *others):
        places = [place for place, token in enumerate(tokens) if token[0] == kind]
        if places:
            place = rng.choice(places)
            tokens = [*tokens[:place], (name, breaker(rng, tokens[place][1])), *tokens[place + 1 :]]
    return tokens


def was_said(found: Any, said: Any) -> bool:
    """Whether what was found is a part of what was said: members and items may be missing, and nothing may be new."""
    if found is None:
        return True
    if isinstance(found, dict):
        return isinstance(said, dict) and all(key in said and was_said(found[key], said[key]) for key in found)
    if isinstance(found, list):
        rest = iter(said if isinstance(said, list) else ())
        return all(item is None or any(was_said(item, other) for other in rest) for item in found)
    return type(found) is type(said) and bool(found == said)


def test_nothing_is_read_of_broken_objects_that_they_did_not_say() -> None:
    rng = random.Random(SEED)
    read: Counter[bool] = Counter()
    for _ in range(OBJECTS):
        said = make_object(rng)
        if rng.random() < 0.8:
            tokens = break_somewhere(rng, tokenize(said))
            text = rng.choice(["", " "]).join(token for _, token in tokens)
        else:
            text = rng.choice(WHOLE)[1](rng, json.dumps(said))
        repaired = repair_json(text, 50)
        read[repaired is not None] += 1
        for value in repaired.values if repaired else []:
            assert was_said(value, said), f"{text!r} was read as {value!r}; seed {SEED}"
    assert read[True] > 0.8 * read.total()


@pytest.mark.parametrize("name", [name for name, *_ in BREAKS])
def test_one_break_costs_little(name: str) -> None:
    """Plain texts with one break of a kind keep the members before it, and most kinds all."""
    said = {
        "@type": "Product",
        "name": "Anvil",
        "price": 4,
        "image": ["a.png"],
        "offers": {"sku": "A1"},
        "url": "http://e.example/",
    }
    kind, breaker = next((kind, breaker) for other, kind, breaker in BREAKS if other == name)
    tokens = tokenize(said)
    place = [place for place, token in enumerate(tokens) if token[0] == kind][-1]
    tokens[place] = (name, breaker(random.Random(SEED), tokens[place][1]))
    repaired = repair_json("".join(text for _, text in tokens), 50)
    assert repaired is not None
    assert was_said(repaired.values[0], said)
    assert repaired.values[0].items() >= {"@type": "Product", "name": "Anvil"}.items()
