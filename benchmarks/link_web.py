"""Pages of other sites that link to pages of known things, made up by a seed: known things enter, HTML pages leave.

Honest sites call a thing by its label, whole or with a word missing, or by a nickname that its page does not have: a made-up
word, a word of other pages, or two words of other things' labels. Some say only "click here", or err and use the label of
another thing. Most things have no or few such links, a few have many. Spam uses the label or the nickname of a thing for other
pages: sites of many pages say it for pages of their own, of accomplices and of others, comments say it with `nofollow`, and the
hosts of farms repeat it.
"""

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bench_relevance import Item

from rdfspider.index.analysis import split_text

SITES, PAGES_A_SITE, MOST_LINKS = 200, 4, 30
"""Honest sites, pages of each, and those that link to one thing at most."""
SPAM_SITES, SPAM_PAGES, SPAM_VICTIMS = 8, 120, 8
FARMS, FARM_HOSTS, FARM_VICTIMS, FARM_OFFERS, COMMENTS = 3, 8, 10, 30, 300
NICKNAMES = ("made-up word", "word of texts", "two words of labels")
GENERIC = ("click here", "read more", "website", "this page", "Link", "here")
_NAMED_SHARE = 0.5
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


class Words(NamedTuple):
    """Words of real pages, of which nicknames and texts are made."""

    of_labels: Sequence[str]
    of_texts: Sequence[str]
    """Those that no label has."""


@dataclass(frozen=True, slots=True)
class Target:
    """A thing that other sites link to."""

    item: Item
    url: str
    """The page that is about it."""
    nickname: str
    origin: str
    """Where the nickname is from: a key of NICKNAMES."""


@dataclass(frozen=True, slots=True)
class LinkWeb:
    """Generated pages, and what they say."""

    pages: dict[str, str]
    """HTML by URL."""
    naming: dict[str, int]
    """How many honest sites call a thing by its nickname, by the URL of its page."""
    spammed: frozenset[str]
    """The URLs of things whose label or nickname spam uses."""


def _make_up(chance: random.Random) -> str:
    return "".join(chance.choice(_CONSONANTS) + chance.choice(_VOWELS) for _ in range(4))


def choose_nickname(own_words: set[str], words: Words, chance: random.Random) -> tuple[str, str]:
    """A name of words that a page does not have, and where it is from."""
    origin = chance.choice(NICKNAMES)
    if origin == "made-up word":
        return _make_up(chance), origin
    source, number = (words.of_texts, 1) if origin == "word of texts" else (words.of_labels, 2)
    return " ".join([word for word in chance.sample(source, 200) if word not in own_words][:number]), origin


def make_link_web(targets: Sequence[Target], words: Words, seed: int) -> LinkWeb:
    """Make the web; `words` are those of its texts."""
    chance = random.Random(f"links {seed}")
    links: dict[str, list[str]] = {
        f"https://site{site}.example/{page}": [] for site in range(SITES) for page in range(4)
    }
    naming: dict[str, int] = defaultdict(int)
    for target in targets:
        # Nobody links to four of ten things, and one of fifteen gets as many links as there may be.
        number = min(MOST_LINKS, int(chance.paretovariate(0.8)) - 1)
        for site in chance.sample(range(SITES), number):
            text, is_naming = _choose_text(target, targets, chance)
            naming[target.url] += is_naming
            for page in chance.sample(range(PAGES_A_SITE), chance.choice((1, 1, 1, 3))):
                links[f"https://site{site}.example/{page}"].append(_link(target.url, text))
    spammed = _add_spam(links, targets, chance)
    pages = {url: _write(lines, words, chance) for url, lines in links.items()}
    return LinkWeb(pages, naming, spammed)


def _choose_text(target: Target, targets: Sequence[Target], chance: random.Random) -> tuple[str, bool]:
    """What a site calls a thing, and whether that has its nickname."""
    label, words = target.item.label, target.item.label.split()
    if chance.random() < _NAMED_SHARE:
        name = target.nickname
        return chance.choice(
            (name, name, name, f"the {name}", f"{name}s", f"{name} {words[-1]}", f"{label} ({name})")
        ), True
    shorter = [*words]
    if len(words) > 1:
        del shorter[chance.randrange(len(words))]
    wrong = chance.choice(targets).item.label
    return chance.choice((label, label, label, " ".join(shorter), chance.choice(GENERIC), wrong)), False


def _add_spam(links: dict[str, list[str]], targets: Sequence[Target], chance: random.Random) -> frozenset[str]:
    """Add spam to pages, and pages of spam; return the things whose names it uses."""
    honest = [*links]
    spammed = set()

    def choose_victims(number: int) -> list[tuple[str, str]]:
        victims = chance.sample(targets, number)
        spammed.update(victim.url for victim in victims)
        # A victim, with the page that takes its name.
        return [(chance.choice((victim.item.label, victim.nickname)), chance.choice(targets).url) for victim in victims]

    for site in range(SPAM_SITES):
        victims = choose_victims(SPAM_VICTIMS)
        for number, (text, other) in enumerate(victims):
            takers = (f"https://spam{site}.example/offer{number}", f"https://goods{site}.example/offer{number}", other)
            links.update({url: [] for url in takers[:2]})
            for page in range(SPAM_PAGES):
                url = f"https://spam{site}.example/page{page}"
                links.setdefault(url, []).append(_link(takers[(page + number) % 3], text))
            for _ in range(COMMENTS // SPAM_SITES // SPAM_VICTIMS):
                links[chance.choice(honest)].append(_link(takers[1], text, "nofollow ugc"))
    for farm in range(FARMS):
        victims = choose_victims(FARM_VICTIMS)
        offers = [f"https://shop{farm}.example/offer{number}" for number in range(FARM_OFFERS)]
        links.update({url: [] for url in offers})
        lines = [_link(url, victims[number % FARM_VICTIMS][0]) for number, url in enumerate(offers)]
        links.update({f"https://farm{farm}-{host}.example/": lines for host in range(FARM_HOSTS)})
    return frozenset(spammed)


def _link(url: str, text: str, rel: str = "") -> str:
    said = f' rel="{rel}"' if rel else ""
    return f'<a href="{url}"{said}>{_escape(text)}</a>'


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def _write(links: Sequence[str], words: Words, chance: random.Random) -> str:
    """A page with links between words; one without links offers a product."""
    title = f"{_make_up(chance)} {_make_up(chance)}"
    text = " ".join(chance.choices(words.of_labels, k=20) + chance.choices(words.of_texts, k=20))
    product = {"@context": "https://schema.org", "@type": "Product", "name": title}
    data = "" if links else f'<script type="application/ld+json">{json.dumps(product)}</script>'
    return f"<title>{title}</title>{data}<p>{text} {' '.join(links)}"


def list_words(items: Iterable[Item], texts: Iterable[str]) -> Words:
    """List the longer words."""
    of_labels, of_texts = (_split([item.label for item in items]), _split(texts))
    return Words(sorted(of_labels), sorted(of_texts - of_labels))


def _split(texts: Iterable[str]) -> set[str]:
    words = {word for text in texts for word in split_text(text)[0]}
    return {word for word in words if len(word) > 3 and word.isascii() and word.isalpha()}
