"""Pages of other sites that link to pages of known things, made up by a seed: known things enter, HTML pages leave.

Honest sites call a thing by its label, whole or with a word missing, or by a nickname that its page does not have: a made-up
word, or one or two words of other things' labels. Some say only "click here", or err and use the label of another thing. Most
things have no or few such links, a few have many. Spam uses the label or the nickname of a thing for other pages: sites of many
pages say it for pages of their own, of accomplices and of others, comments say it with `nofollow`, and hosts of farms repeat it.
"""

import json
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from bench_relevance import Item

from rdfspider.index.analysis import split_text

SITES, PAGES_A_SITE, MOST_LINKS = 200, 4, 30
"""Honest sites, pages of each, and those that link to one thing at most."""
SPAM_SITES, SPAM_PAGES, SPAM_VICTIMS = 8, 120, 8
FARMS, FARM_HOSTS, FARM_VICTIMS, FARM_OFFERS, COMMENTS = 3, 8, 10, 30, 300
GENERIC = ("click here", "read more", "website", "this page", "Link", "here")
_NAMED_SHARE = 0.5
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


@dataclass(frozen=True, slots=True)
class Target:
    """A thing that other sites link to."""

    item: Item
    url: str
    """The page that is about it."""
    nickname: str
    is_made_up: bool
    """Whether the nickname is a word that nothing else has."""


@dataclass(frozen=True, slots=True)
class LinkWeb:
    """Generated pages, and what they say."""

    pages: dict[str, str]
    """HTML by URL."""
    naming: dict[str, int]
    """How many honest sites call a thing by its nickname, by the URL of its page."""
    spammed: frozenset[str]
    """The URLs of things whose label or nickname spam uses."""


def choose_nickname(own_words: set[str], words: Sequence[str], chance: random.Random) -> tuple[str, bool]:
    """A name of words that a page does not have, and whether it is a made-up one."""
    if chance.random() < 0.5:
        return "".join(chance.choice(_CONSONANTS) + chance.choice(_VOWELS) for _ in range(4)), True
    others = [word for word in chance.sample(words, 100) if word not in own_words]
    return " ".join(others[: chance.randint(1, 2)]), False


def make_link_web(targets: Sequence[Target], words: Sequence[str], seed: int) -> LinkWeb:
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


def _write(links: Sequence[str], words: Sequence[str], chance: random.Random) -> str:
    """A page with links between words; one without links offers a product."""
    title, text = " ".join(chance.choices(words, k=3)), " ".join(chance.choices(words, k=40))
    product = {"@context": "https://schema.org", "@type": "Product", "name": title}
    data = "" if links else f'<script type="application/ld+json">{json.dumps(product)}</script>'
    return f"<title>{title}</title>{data}<p>{text} {' '.join(links)}"


def list_words(items: Sequence[Item]) -> list[str]:
    """The longer words of labels, of which nicknames and texts are made."""
    words = {word for item in items for word in split_text(item.label)[0]}
    return sorted(word for word in words if len(word) > 3 and word.isascii() and word.isalpha())
