"""Publishes known things under several names, among namesakes and spam; prints how many pairs are rightly found to be one.

    python benchmarks/bench_identity.py CORPUS [--seed N] [--things N] [--tune] [--errors N]

The things are people, organisations, products and books that the pages of CORPUS describe, and those of the demo's sites,
whose identity its tables know. Each thing of CORPUS is published again on made-up sites, in another syntax and spelling:
under its IRI, with `sameAs` in either vocabulary, with an account or an encyclopedia in common, with a GTIN, ISBN, ORCID,
e-mail address or home page, or with its name alone, by which nobody can know it. Beside them are different things: namesakes
with other identifiers or none, variants that share brand, URL and most of the name, colleagues with the same account, a site
and its owner. And hostile ones: other things that claim to be well-known ones, give their identifiers, or claim what all
claim: home pages, roots of networks, hubs, `0000000000000`.

All pages are indexed by the real views. A pair is two descriptions on different pages; it is right if both are of one thing.
Pairs that have the same key without any joining are "by IRI only". The hosts are divided into two halves by a hash with the
seed: `--tune` shows one, to look at while the rules are made; without it the other is reported.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sqlite3
import tempfile
from collections.abc import Iterator
from html import escape
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from xxhash import xxh3_64_intdigest

import rdfspider
from rdfspider.archive.outcomes import Effect, Outcome
from rdfspider.demo.expectations import list_published
from rdfspider.demo.server import DemoWeb
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.index.entities.contributions import URN, Contribution, read_page
from rdfspider.index.identity.identifiers import read_orcid
from rdfspider.index.identity.likeness import find_kind, share_word, split_words
from rdfspider.index.layout import IndexPaths
from rdfspider.index.text.view import TextView
from rdfspider.results import Role
from rdfspider.urls import host_of
from rdfspider.vocabulary.labels import NO_LABEL_RANK
from rdfspider.vocabulary.prefixes import SCHEMA

LEAST_PRECISION, LEAST_GAIN = 0.99, 2.0
KINDS = ("Person", "Organization", "Product", "Book")
_HUBS = ("https://directory.example/list", "https://www.wikidata.org/wiki/Q5")
_DOMAINS = Domains(bundled_suffix_list(), shards=1)
Thing = dict[str, Any]


class Original(NamedTuple):
    """A thing that a page of the corpus describes."""

    truth: str
    iri: str
    kind: str
    name: str
    words: str
    mention: tuple[str, bytes]


class World:
    """Pages, and which thing each description is of."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.outcomes: list[Outcome] = []
        self.mentions: dict[tuple[str, bytes], tuple[str, str]] = {}
        """By URL and key: the true thing, and what sort of description it is."""
        self.names: dict[tuple[str, bytes], str] = {}
        """What each description calls its thing, to show with errors."""

    def take(self, url: str, body: bytes, media_type: str = "text/html") -> dict[bytes, Contribution]:
        """Add a page; return its things by key."""
        found = rdfspider.extract(body, url=url, content_type=media_type)
        statements, language = dict(found.statements), found.language or ""
        self.outcomes.append(
            Outcome(url, 1.7e9, "log", 0, 1, Effect.REPLACE, digest=url, statements=statements, title=found.title or "",
                    text=found.text, language=language, canonical=found.canonical or "")
        )  # fmt: skip
        reading = read_page(
            url, _DOMAINS.domain(host_of(url)), statements, title=found.title or "", canonical=found.canonical or ""
        )
        return reading.contributions

    def publish(self, truth: str, sort: str, thing: Thing, *, site: str = "") -> None:
        """Add a page about one thing, in one of several syntaxes."""
        number = len(self.outcomes)
        host = site or f"www.site{number}.example"
        url = f"https://{host}/things/{number}"
        if "@id" in thing and not thing["@id"].startswith("http"):
            thing = thing | {"@id": url + thing["@id"]}
        write = _write_microdata if self.chance.random() < 0.4 and "owl:sameAs" not in thing else _write_jsonld
        name = str(thing["name"])
        for key, each in self.take(url, write(thing).encode()).items():
            if any(" ".join(label[2].split()) == " ".join(name.split()) for label in each.labels):
                self.mentions[url, key] = (truth, sort)
                self.names[url, key] = name
                return

    def draw_digits(self, count: int) -> str:
        """Random digits."""
        return "".join(self.chance.choice("0123456789") for _ in range(count))


def _write_jsonld(thing: Thing) -> str:
    context = {"@vocab": SCHEMA, "owl": "http://www.w3.org/2002/07/owl#", "owl:sameAs": {"@type": "@id"}}
    data = json.dumps({"@context": context, **thing}).replace("<", "\\u003c")
    return f'<title>A page</title><script type="application/ld+json">{data}</script>'


def _write_microdata(thing: Thing) -> str:
    identity = f' itemid="{escape(thing["@id"])}"' if "@id" in thing else ""
    parts = []
    for name, value in thing.items():
        if name.startswith("@"):
            continue
        for text in value if isinstance(value, list) else [value]:
            is_link = name in ("sameAs", "url")
            parts.append(f'<link itemprop="{name}" href="{escape(text)}">' if is_link
                         else f'<span itemprop="{name}">{escape(text)}</span>')  # fmt: skip
    return f'<title>A page</title><div itemscope itemtype="http://schema.org/{thing["@type"]}"{identity}>{"".join(parts)}</div>'


def read_corpus(corpus: Path, world: World, is_chosen: Any) -> Iterator[Original]:
    """The things that pages of the chosen hosts describe by a name, one of each name. Things of one site and kind whose names
    have a word in common may be one or not, which nobody knows: of these, one is taken."""
    names: set[str] = set()
    near: dict[tuple[str, str], list[frozenset[str]]] = {}
    rows = [json.loads(line) for line in (corpus / "index.jsonl").read_text().splitlines()]
    for row in rows:
        url = row["url"]
        if not url or not is_chosen(urlsplit(url).hostname or ""):
            continue
        contributions = world.take(url, gzip.decompress((corpus / row["file"]).read_bytes()))
        for key, each in contributions.items():
            kind = next((name for name in KINDS if find_kind(each.types) == find_kind([SCHEMA + name])), "")
            rank, _, name = each.labels[0]
            if each.role == Role.PART or not kind or rank == NO_LABEL_RANK or name.casefold() in names:
                continue
            if not 4 <= len(name) <= 80 or "//" in name:
                continue
            words = split_words(name)
            alike = near.setdefault((_DOMAINS.domain(host_of(url)), kind), [])
            if any(share_word(words, other) for other in alike):
                continue
            alike.append(words)
            names.add(name.casefold())
            told = each.description[2][:200] if each.description else ""
            iri = "" if each.id.startswith(URN) else each.id
            yield Original(f"{url} {each.id}", iri, kind, name, told, (url, key))


def make_identifiers(world: World, kind: str, name: str) -> dict[str, tuple[Thing, Thing]]:
    """Ways in which two pages can give evidence of one thing, as each of them writes it."""
    account = "".join(sign for sign in name.casefold() if sign.isalnum() and sign.isascii())[:20] + world.draw_digits(4)
    item = f"Q{world.draw_digits(7)}"
    ways: dict[str, tuple[Thing, Thing]] = {
        "account": ({"sameAs": f"https://www.facebook.com/{account}/"},
                    {"sameAs": [f"http://facebook.com/{account}", f"https://x.com/{account}"]}),
        "encyclopedia": ({"sameAs": f"https://en.wikipedia.org/wiki/{account}"}, {"sameAs": f"http://en.wikipedia.org/wiki/{account}"}),
        "wikidata": ({"sameAs": f"https://www.wikidata.org/wiki/{item}"}, {"owl:sameAs": f"http://www.wikidata.org/entity/{item}"}),
    }  # fmt: skip
    if kind in ("Product", "Book"):
        body = ("978" if kind == "Book" else "40") + world.draw_digits(12)
        gtin = _add_check(body[:12])
        ways["number"] = ({"isbn" if kind == "Book" else "gtin13": gtin}, {"gtin": f"0{gtin}"})
        if kind == "Book":
            ways["isbn"] = ({"isbn": _shorten_isbn(gtin)}, {"isbn": f"ISBN {gtin[:3]}-{gtin[3:]}"})
    else:
        mail = f"{account}@mail.example"
        ways["mail"] = ({"email": mail.upper()}, {"email": f"mailto:{mail}"})
        home = f"https://{account or 'x'}.example"
        ways["home page"] = ({"url": f"{home}/"}, {"url": home.replace("://", "://www.").replace("https", "http")})
    if kind == "Person":
        orcid = _make_orcid(world)
        ways["orcid"] = ({"sameAs": f"https://orcid.org/{orcid}"}, {"identifier": f"http://orcid.org/{orcid}"})
    return ways


def _add_check(digits: str) -> str:
    total = sum(int(digit) * (3 if at % 2 else 1) for at, digit in enumerate(digits))
    return f"{digits}{-total % 10}"


def _shorten_isbn(isbn: str) -> str:
    body = isbn[3:12]
    check = -sum(int(digit) * (10 - at) for at, digit in enumerate(body)) % 11
    return f"{body}{'X' if check == 10 else check}"


def _make_orcid(world: World) -> str:
    while True:
        text = f"0000-0002-{world.draw_digits(4)}-{world.draw_digits(3)}"
        if found := next((text + sign for sign in "0123456789X" if read_orcid(text + sign)), ""):
            return found


def disturb(chance: random.Random, name: str) -> str:
    """The name as another site may write it."""
    words = name.split()
    ways = [name, name.upper(), name.title(), f"{name} – Official", f"The {name}", name.replace("é", "e")]
    if len(words) == 2:
        ways.append(f"{words[1]}, {words[0]}")
    return chance.choice(ways)


def _add(thing: Thing, *evidence: Thing) -> Thing:
    """A thing with all of these values."""
    added = dict(thing)
    for name, value in (pair for each in evidence for pair in each.items()):
        values = [value] if isinstance(value, str) else value
        added[name] = [*added[name], *values] if name in added else values
    return added


def publish_same(world: World, original: Original) -> None:
    """The thing on other sites: under its IRI, with evidence, and with its name alone."""
    chance, truth = world.chance, original.truth
    thing = {"@type": original.kind, "name": original.name, "description": original.words or "…"}
    ways = make_identifiers(world, original.kind, original.name)
    first, second = chance.sample(sorted(ways), 2)
    if original.iri:
        world.publish(truth, "its IRI", thing | {"@id": original.iri})
        same = chance.choice(["sameAs", "owl:sameAs"])
        name = disturb(chance, original.name)
        if urlsplit(original.iri).path.strip("/") or urlsplit(original.iri).fragment:
            named = thing | {"@id": "#it", "name": name}
            world.publish(truth, same, _add(named, {same: original.iri}, ways[first][0]))
    # Three sites, of which the second gives evidence of both sorts.
    world.publish(truth, first, thing | {"@id": "#a"} | ways[first][0])
    world.publish(truth, f"{first}, {second}", _add(thing, ways[second][0], ways[first][1]))
    world.publish(truth, second, thing | {"@id": "#b", "name": disturb(chance, original.name)} | ways[second][1])
    world.publish(truth, "name alone", thing)


def publish_different(world: World, original: Original) -> None:
    """Other things that look like it."""
    chance, kind, name = world.chance, original.kind, original.name
    ways = make_identifiers(world, kind, name)
    evidence = ways[chance.choice(sorted(ways))][0]
    number = len(world.outcomes)
    world.publish(f"namesake {number}", "namesake", {"@id": "#n", "@type": kind, "name": name} | evidence)
    world.publish(f"namesake {number} b", "namesake", {"@type": kind, "name": name, "description": "Another one."})
    if kind in ("Product", "Book"):
        shared = {"@type": "Product", "brand": name.split()[0], "url": f"https://www.shop{number}.example/all"}
        for color in ("red", "blue"):
            numbers = {"gtin13": _add_check("40" + world.draw_digits(10))}
            sibling = shared | numbers | {"@id": f"#{color}", "name": f"{name} {color}"}
            for _ in range(2):
                world.publish(f"sibling {number} {color}", "sibling", sibling, site=f"www.shop{number}.example")
    elif kind == "Organization":
        host = f"www.owner{number}.example"
        profile = {"sameAs": [f"https://www.facebook.com/owner{number}"], "url": f"https://{host}/", "name": name}
        for each in ("Organization", "WebSite", "Person"):
            world.publish(
                f"owner {number} {each}", "site and owner", profile | {"@id": f"#{each}", "@type": each}, site=host
            )
    else:
        host = f"www.firm{number}.example"
        shared = {"sameAs": f"https://www.linkedin.com/company/firm{number}", "email": f"info@firm{number}.example"}
        for colleague in (name, f"{name.split()[0]} Quimby", "Zebulon Fairweather"):
            person = shared | {"@type": "Person", "@id": f"#{len(world.outcomes)}", "name": colleague}
            world.publish(f"colleague {number} {colleague}", "colleague", person, site=host)


def publish_hostile(world: World, original: Original) -> None:
    """Spam that claims to be it, and claims that all make."""
    chance, number = world.chance, len(world.outcomes)
    target = original.iri or f"https://www.wikidata.org/wiki/Q{world.draw_digits(7)}"
    spam = {"@id": "#s", "@type": original.kind, "name": f"Cheap pills {number} buy now"}
    same = chance.choice(["sameAs", "owl:sameAs"])
    world.publish(f"spam {number}", "claims to be it", spam | {same: target})
    other = {"Person": "Organization"}.get(original.kind, "Person")
    world.publish(
        f"spam {number} kind", "claims to be it", spam | {"@type": other, "name": original.name, same: target}
    )
    nameless = {"Person": "jobTitle"}.get(original.kind, "slogan")
    wordy = f"{original.name} casino bonus free spins jackpot slots poker"
    world.publish(f"spam {number} long", "claims to be it", spam | {"name": wordy, nameless: "x", same: target})
    roots = ["https://www.facebook.com/", "https://twitter.com/home", "https://www.google.com/"]
    empty = [*_HUBS, *roots, "https://example.org/about"]
    for at in range(3):
        claims = {
            "sameAs": chance.sample(empty, 3),
            "gtin": "0000000000000",
            "email": "n/a",
            "url": "https://www.facebook.com/",
        }
        world.publish(f"hub {number} {at}", "claims what all claim", spam | {"name": f"{original.name} {at}"} | claims)
    if original.kind in ("Product", "Book"):
        gtin = _add_check("40" + world.draw_digits(10))
        world.publish(
            original.truth + number * "'", "stolen number", spam | {"@id": "#r", "name": original.name, "gtin": gtin}
        )
        world.publish(f"thief {number}", "stolen number", spam | {"gtin": gtin})


def publish_demo(world: World) -> None:
    """The pages of the demo, and which thing each describes."""
    web = DemoWeb(8888)
    published = list_published(web.at)
    for url in dict.fromkeys(each.url for each in published):
        parts = urlsplit(url)
        answer = web.answer(parts.netloc, parts.path, {})
        contributions = world.take(url, answer.body, answer.content_type)
        literals = {each.literal: each.entity for each in published if each.url == url}
        for key, each in contributions.items():
            for _, _, label in each.labels:
                if each.role != Role.PART and label in literals:
                    world.mentions[url, key] = (f"demo {literals[label]}", "demo")


def judge(world: World, errors: int) -> bool:
    """Index all pages, compare pairs, and print the result."""
    # Threads of the text index may still delete files of merged segments after it is closed.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        paths = IndexPaths(Path(folder))
        view = TextView(paths)
        for start in range(0, len(world.outcomes), 500):
            view.apply(world.outcomes[start : start + 500])
            view.commit({"log": start + 500})
        view.close()
        with sqlite3.connect(paths.ledger) as db:
            canonical = {key: whole or key for key, whole in db.execute("SELECT id, canonical FROM entities")}
    rows: dict[str, list[int]] = {}
    for (one, (truth, sort)), (other, (another, sort2)) in combinations(world.mentions.items(), 2):
        if one[0] == other[0]:
            continue
        is_same, is_key = truth == another, one[1] == other[1]
        is_joined = canonical.get(one[1], one[1]) == canonical.get(other[1], other[1])
        if not (is_same or is_joined):
            continue
        for name in ("demo" if sort == "demo" else "corpus", "all"):
            row = rows.setdefault(name, [0] * 5)
            row[0] += is_same
            row[1] += is_joined
            row[2] += is_same and is_joined
            row[3] += is_key
            row[4] += is_same and is_key
        if is_joined and not is_same and errors > 0:
            errors -= 1
            names = [world.names.get(each, "") for each in (one, other)]
            print(f"  wrong: {sort} {one[0]} {names[0]!r} = {sort2} {other[0]} {names[1]!r}")
    print(f"{len(world.outcomes):,} pages, {len(world.mentions):,} descriptions\n")
    print(f"{'':8} {'true pairs':>10} {'joined':>8} {'precision':>10} {'recall':>8}   by IRI only: precision, recall")
    for name, (same, joined, right, keyed, key_right) in rows.items():
        print(f"{name:8} {same:10,} {joined:8,} {right / max(1, joined):10.4f} {right / max(1, same):8.3f} "
              f"{key_right / max(1, keyed):17.4f} {key_right / max(1, same):8.3f}")  # fmt: skip
    same, joined, right, keyed, key_right = rows["all"]
    precision, gain = right / max(1, joined), right / max(1, key_right)
    is_reached = precision >= LEAST_PRECISION and gain >= LEAST_GAIN
    print(f"\nprecision {precision:.4f} (at least {LEAST_PRECISION}), recall {gain:.1f} times that by IRI only "
          f"(at least {LEAST_GAIN:g}): {'reached' if is_reached else 'MISSED'}")  # fmt: skip
    return is_reached


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--things", type=int, default=150, help="how many things of the corpus are published again")
    parser.add_argument("--tune", action="store_true", help="show the other half of the hosts")
    parser.add_argument("--errors", type=int, default=0, metavar="N", help="print N wrong pairs")
    asked = parser.parse_args()
    world = World(random.Random(asked.seed))

    def is_chosen(host: str) -> bool:
        half = xxh3_64_intdigest(f"{asked.seed} {_DOMAINS.domain(host)}".encode()) % 2
        return half == (1 if asked.tune else 0)

    originals = list(read_corpus(asked.corpus, world, is_chosen))
    world.chance.shuffle(originals)
    for original in originals[: asked.things]:
        world.mentions[original.mention] = (original.truth, "original")
        publish_same(world, original)
        publish_different(world, original)
        publish_hostile(world, original)
    publish_demo(world)
    raise SystemExit(0 if judge(world, asked.errors) else 1)


if __name__ == "__main__":
    main()
