"""Searches for known things of real pages by their labels, right and disturbed; prints how early the right thing comes.

    python benchmarks/bench_relevance.py CORPUS [--seed N] [--things N] [--tune] [--keep DIR]

The pages of CORPUS become a WARC file with their own URLs, which is imported and indexed as a person would. The things are the
people, products, recipes, articles and organisations that the extracted statements describe by a name. Each is searched by its
label as it is (*exact*), and by the label with a word missing, a word of another label added, a letter wrong, a word
inflected, or the words in another order (*disturbed*). The hosts are divided into two halves by a hash with the seed: `--tune`
learns the weights of the formula on one, and what is printed is about the other. Plain BM25 over the same fields, with all
words (AND) and with any (OR), is asked the same, and finds among the same documents.

Which labels count: 1 to 12 words with a letter and at least 4 characters, no addresses, and not the label of things on three
hosts or more ("Home", "Facebook"), which is not the name of one thing; nor the names of things that only comments, reviews,
images, offers and other parts point at (who wrote a comment, who owns an image), because parts are found in their whole. Which
hits are right: a thing (not a page) that a page of the label's thing describes and that has this label, or this among others,
but for case, accents and punctuation, or that has the thing's IRI. So what the thing was made one with is right, such as the
main thing of its page. If several things have the same label, each of them is right.

MRR is the mean of 1/rank of the first right hit among the first 20, else 0. nDCG@10 counts as right things those that any of
the three searches has among its first ten.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import log2
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyoxigraph
from bench_index import read_log
from tantivy import Occur, Query
from xxhash import xxh3_64_intdigest

from rdfspider import Crawl
from rdfspider.archive.outcomes import Outcome
from rdfspider.archive.warc import make_id, make_record
from rdfspider.index.analysis import split_text
from rdfspider.index.layout import IndexPaths
from rdfspider.index.text.documents import read_card
from rdfspider.index.text.fields import RUN_FIELDS, WORD_FIELDS
from rdfspider.index.text.query_language import parse_question
from rdfspider.index.text.query_plan import leave_out
from rdfspider.index.text.ranking import WEIGHTS, Weights
from rdfspider.index.text.searcher import TextIndex
from rdfspider.results import Card, Hit, HitKind
from rdfspider.search.link_signals import LinkSignals
from rdfspider.search.links import Links
from rdfspider.vocabulary.class_kinds import ClassKind, find_kind
from rdfspider.vocabulary.classes import find_superclasses
from rdfspider.vocabulary.labels import clean_label
from rdfspider.vocabulary.prefixes import PREFIXES, SCHEMA
from rdfspider.vocabulary.terms import fold_iri

LEAST_EXACT, LEAST_DISTURBED = 0.92, 0.75
CLASSES = {
    "person": (f"{SCHEMA}Person", f"{PREFIXES['foaf']}Person"),
    "product": (f"{SCHEMA}Product",),
    "recipe": (f"{SCHEMA}Recipe",),
    "article": (f"{SCHEMA}Article",),
    "organisation": (f"{SCHEMA}Organization",),
}
NAMES = (f"{SCHEMA}name", f"{SCHEMA}headline", f"{PREFIXES['foaf']}name")
REVIEWS = (f"{SCHEMA}Review", f"{SCHEMA}Question", f"{SCHEMA}Answer")
MAX_WORDS, MIN_CHARS, MAX_HOSTS = 12, 4, 2
FIRST, TUNED, TUNED_QUERIES = 20, 5, 400
"""Results that are looked at to report and to tune, and queries to tune with."""
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Item:
    """A label to search for, with all things that have it."""

    label: str
    kind: str
    """A key of CLASSES."""
    host: str
    pages: frozenset[str]
    iris: frozenset[str]


@dataclass(frozen=True, slots=True)
class Known:
    """A query and the item that it means."""

    text: str
    way: str
    """How the label was changed: exact, missing, added, misspelt, inflected, order."""
    item: Item


Found = Sequence[tuple[str, bool]]
"""Ids of the first results, each with whether it is right."""


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="bench-relevance-") as name:
        folder = arguments.keep or Path(name) / "crawl"
        if not folder.exists():
            _index(arguments.corpus, Path(name) / "pages.warc.gz", folder)
        items = list_items(read_log(folder))
        halves = _divide(items, arguments.seed, arguments.things)
        searcher = Searcher(folder)
        queries = {name: list(_list_queries(half, items, arguments.seed)) for name, half in halves.items()}
        for name, half in halves.items():
            kinds = ", ".join(f"{sum(item.kind == kind for item in half)} {kind}" for kind in CLASSES)
            print(f"{name}: {len(half):,} labels ({kinds}), {len(queries[name]):,} queries")
        if arguments.tune:
            weights = tune(folder, queries["to tune"], searcher.labels)
            print(weights)
            searcher = Searcher(folder, weights, searcher.labels)
        report(searcher, queries["to report"])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, metavar="CORPUS")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--things", type=int, default=60, metavar="N", help="at most so many of each kind, in each half"
    )
    parser.add_argument("--tune", action="store_true", help="learn the weights on the other half first")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the crawl there, and use it if it is there")
    return parser.parse_args()


def _index(corpus: Path, warc: Path, folder: Path) -> None:
    """Import and index the pages of the corpus."""
    seen = set()
    with warc.open("wb") as file:
        for line in (corpus / "index.jsonl").read_text().splitlines():
            entry = json.loads(line)
            url = entry["url"] or f"http://unknown.example/{entry['sha256'][:12]}.html"
            if url in seen:
                continue
            seen.add(url)
            body = gzip.decompress((corpus / entry["file"]).read_bytes())
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            about = {
                "WARC-Record-ID": make_id(),
                "WARC-Date": "2026-01-01T00:00:00Z",
                "WARC-Target-URI": url,
                "Content-Type": "application/http;msgtype=response",
            }
            file.write(make_record("response", about.items(), head + body))
    with Crawl.create_for_import(folder) as crawl:
        crawl.import_archives([str(warc)])
        crawl.index()


def list_items(outcomes: Iterable[Outcome]) -> list[Item]:
    """List the labels of things that pages describe, in a fixed order."""
    pages: dict[tuple[str, ...], set[str]] = defaultdict(set)
    iris: dict[tuple[str, ...], set[str]] = defaultdict(set)
    first: dict[tuple[str, ...], tuple[str, str]] = {}
    for outcome in sorted(outcomes, key=lambda outcome: outcome.url):
        for label, kind, iri in _list_named(outcome):
            key = fold_label(label)
            first.setdefault(key, (label, kind))
            pages[key].add(outcome.url)
            iris[key].update({iri} - {""})
    found = []
    for key, (label, kind) in sorted(first.items()):
        hosts = sorted({urlsplit(url).hostname or "" for url in pages[key]})
        if _is_name(label, key) and len(hosts) <= MAX_HOSTS:
            found.append(Item(label, kind, hosts[0], frozenset(pages[key]), frozenset(iris[key])))
    return found


def _list_named(outcome: Outcome) -> Iterator[tuple[str, str, str]]:
    """Yield the label, the kind and the IRI, if any, of each named thing of a page."""
    types: dict[Any, set[str]] = defaultdict(set)
    names: dict[Any, dict[str, str]] = defaultdict(dict)
    pointing: dict[Any, set[Any]] = defaultdict(set)
    for nquads in outcome.statements.values():
        for quad in pyoxigraph.parse(nquads.encode(), format=pyoxigraph.RdfFormat.N_QUADS, lenient=True):
            predicate = fold_iri(quad.predicate.value)
            if predicate == _TYPE and isinstance(quad.object, pyoxigraph.NamedNode):
                iri = fold_iri(quad.object.value)
                types[quad.subject].update((iri, *find_superclasses(iri)))
            elif predicate in NAMES and isinstance(quad.object, pyoxigraph.Literal):
                names[quad.subject].setdefault(predicate, quad.object.value)
            elif not isinstance(quad.object, pyoxigraph.Literal):
                pointing[quad.object].add(quad.subject)
    for subject, classes in types.items():
        kind = next((kind for kind, wanted in CLASSES.items() if not classes.isdisjoint(wanted)), "")
        label = next((names[subject][name] for name in NAMES if name in names[subject]), "")
        wholes = [types.get(each, set()) for each in pointing[subject]]
        if kind and label and not (wholes and all(map(_is_part, wholes))):
            iri = subject.value if isinstance(subject, pyoxigraph.NamedNode) else ""
            yield clean_label(label), kind, iri


def _is_part(classes: set[str]) -> bool:
    """Whether classes are those of a part of another thing: a comment, a review, an image, an offer."""
    return any(find_kind(iri) == ClassKind.PART or iri in REVIEWS for iri in classes)


def fold_label(label: str) -> tuple[str, ...]:
    """The words of a label without case, accents and punctuation."""
    words, runs = split_text(label)
    return (*words, *runs)


def _is_name(label: str, words: Sequence[str]) -> bool:
    is_long = len(label) >= MIN_CHARS or any(not word.isascii() for word in words)
    return 1 <= len(words) <= MAX_WORDS and is_long and "://" not in label and any(map(str.isalpha, label))


def _divide(items: Sequence[Item], seed: int, most: int) -> dict[str, list[Item]]:
    """Divide items by their hosts, and take at most so many of each kind from each half."""
    halves: dict[str, list[Item]] = {"to tune": [], "to report": []}
    chance = random.Random(seed)
    for item in chance.sample(items, len(items)):
        half = halves["to tune" if xxh3_64_intdigest(item.host.encode(), seed) % 2 else "to report"]
        if sum(each.kind == item.kind for each in half) < most:
            half.append(item)
    return halves


def _list_queries(items: Sequence[Item], all_items: Sequence[Item], seed: int) -> Iterator[Known]:
    """Yield the queries for labels: each as it is, and in each way in which it can be disturbed."""
    for item in items:
        chance = random.Random(f"{seed} {item.label}")
        yield Known(item.label, "exact", item)
        words = split_text(item.label)[0]
        for way, disturb in WAYS.items():
            disturbed = disturb(list(words), chance, all_items) if words else None
            if disturbed and disturbed != words:
                yield Known(" ".join(disturbed), way, item)


def _leave_out(words: list[str], chance: random.Random, _: Sequence[Item]) -> list[str] | None:
    if len(words) < 3:
        return None
    del words[chance.randrange(len(words))]
    return words


def _add(words: list[str], chance: random.Random, items: Sequence[Item]) -> list[str] | None:
    others = split_text(chance.choice(items).label)[0]
    words.insert(chance.randint(0, len(words)), chance.choice(others)) if others else None
    return words


def _misspell(words: list[str], chance: random.Random, _: Sequence[Item]) -> list[str] | None:
    long = [number for number, word in enumerate(words) if len(word) >= 5 and word.isascii() and word.isalpha()]
    if not long:
        return None
    number = chance.choice(long)
    word = words[number]
    at = chance.randrange(1, len(word) - 1)
    letter = chance.choice(_LETTERS)
    words[number] = chance.choice(
        (
            word[:at] + word[at + 1 :],
            word[:at] + letter + word[at:],
            word[:at] + letter + word[at + 1 :],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        )
    )
    return words


def _inflect(words: list[str], chance: random.Random, _: Sequence[Item]) -> list[str] | None:
    """Make a plural of a singular, or a singular of a plural, as English does."""
    long = [number for number, word in enumerate(words) if len(word) >= 4 and word.isascii() and word.isalpha()]
    if not long:
        return None
    number = chance.choice(long)
    word = words[number]
    if word.endswith("ies"):
        words[number] = f"{word[:-3]}y"
    elif word.endswith("s") and not word.endswith("ss"):
        words[number] = word[:-1]
    elif re.search("[^aeiou]y$", word):
        words[number] = f"{word[:-1]}ies"
    else:
        words[number] = word + ("es" if re.search("(s|x|z|ch|sh)$", word) else "s")
    return words


def _reorder(words: list[str], chance: random.Random, _: Sequence[Item]) -> list[str] | None:
    return chance.sample(words, len(words)) if len(words) > 1 else None


WAYS: Mapping[str, Callable[[list[str], random.Random, Sequence[Item]], list[str] | None]] = {
    "missing": _leave_out,
    "added": _add,
    "misspelt": _misspell,
    "inflected": _inflect,
    "order": _reorder,
}


class Searcher:
    """An index to ask, with all labels of its things."""

    def __init__(
        self, folder: Path, weights: Weights = WEIGHTS, labels: dict[str, set[tuple[str, ...]]] | None = None
    ) -> None:
        paths = IndexPaths(folder)
        signals = LinkSignals(paths)
        linked = (Links(paths).open_counter, signals.find_rank, signals.find_called)
        self.index = TextIndex(folder, weights, *linked)
        self.labels = labels or _read_labels(self.index)

    def is_right(self, hit: Hit | Card, item: Item) -> bool:
        """Whether a result is the item's thing, or what it was made one with."""
        if hit.kind == HitKind.PAGE:
            return False
        is_named = fold_label(item.label) in self.labels.get(hit.id, ())
        is_same = not item.iris.isdisjoint((hit.id, *hit.same))
        return is_same or (is_named and not item.pages.isdisjoint(page.url for page in hit.pages))

    def search(self, known: Known, limit: int = FIRST) -> Found:
        """The first results of our search."""
        return [(hit.id, self.is_right(hit, known.item)) for hit in self.index.search(known.text, limit=limit)]

    def search_plainly(self, known: Known, occur: Occur) -> Found:
        """The first results of plain BM25: the sum over fields and words, with all words or with any."""
        loaded = self.index.load()
        words, runs = split_text(known.text)
        parts = []
        for term, names in [*((word, WORD_FIELDS) for word in words), *((run, RUN_FIELDS) for run in runs)]:
            pairs = [term[at : at + 2] for at in range(len(term) - 1)] if names is RUN_FIELDS else []
            for pair in pairs or [term]:
                anywhere = [(Occur.Should, Query.term_query(loaded.schema, name, pair, "freq")) for name in names]
                parts.append((occur, Query.boolean_query(anywhere)))
        # The same documents as ours: neither parts nor pages that their main things stand for.
        left_out = leave_out(parse_question(""), loaded)
        query = Query.boolean_query([(Occur.Must, Query.boolean_query(parts)), *left_out])
        hits = loaded.searcher.search(query, FIRST, count=False).hits if parts else []
        cards = [read_card(loaded.searcher.doc(address)) for _, address in hits]
        return [(card.id, self.is_right(card, known.item)) for card in cards]


def _read_labels(index: TextIndex) -> dict[str, set[tuple[str, ...]]]:
    """Return all labels of each thing: that which was made one with others has theirs."""
    loaded = index.load()
    found: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    things = Query.term_query(loaded.schema, "kind", HitKind.ENTITY, "basic")
    for _, address in loaded.searcher.search(things, loaded.searcher.num_docs).hits:
        document = loaded.searcher.doc(address)
        card = read_card(document)
        shown = json.loads(document.get_first("shown") or b"{}").get("label", ())
        found[card.id].update(map(fold_label, (card.label, *shown, *map(str, document.get_all("label")))))
    return dict(found)


def rate_first(found: Found) -> float:
    """1/rank of the first right result, 0 if there is none."""
    return next((1 / rank for rank, (_, right) in enumerate(found, 1) if right), 0.0)


def rate_order(found: Found, right: int) -> float:
    """nDCG@10, where so many results are right."""
    gain = sum(1 / log2(rank + 1) for rank, (_, is_it) in enumerate(found[:10], 1) if is_it)
    return gain / best if (best := sum(1 / log2(rank + 1) for rank in range(1, min(right, 10) + 1))) else 0.0


def report(searcher: Searcher, queries: Sequence[Known]) -> None:
    searches: dict[str, Callable[[Known], Found]] = {
        "rdfspider": searcher.search,
        "BM25 AND": lambda known: searcher.search_plainly(known, Occur.Must),
        "BM25 OR": lambda known: searcher.search_plainly(known, Occur.Should),
    }
    found = {name: [search(known) for known in queries] for name, search in searches.items()}
    right = [
        {name for results in each for name, is_it in results[:10] if is_it}
        for each in zip(*found.values(), strict=True)
    ]
    print(f"\n{'':12} {'queries':>8}" + "".join(f"   {name:^28}" for name in searches))
    print(f"{'':12} {'':>8}" + f"   {'MRR':>8} {'nDCG@10':>9} {'nothing':>9}" * len(searches))
    ours: dict[str, float] = {}
    for way in ("exact", *WAYS, "disturbed"):
        chosen = [
            n for n, known in enumerate(queries) if known.way == way or (way == "disturbed" != known.way != "exact")
        ]
        line = f"{way:12} {len(chosen):8,}"
        for name, results in found.items():
            mrr = statistics.fmean(rate_first(results[n]) for n in chosen)
            ndcg = statistics.fmean(rate_order(results[n], len(right[n])) for n in chosen)
            nothing = statistics.fmean(not results[n] for n in chosen)
            line += f"   {mrr:8.3f} {ndcg:9.3f} {nothing:9.1%}"
            if name == "rdfspider":
                ours[way] = mrr
        print(line)
    for kind in CLASSES:
        rates = [
            rate_first(results)
            for results, known in zip(found["rdfspider"], queries, strict=True)
            if known.item.kind == kind and known.way == "exact"
        ]
        print(f"  exact, {kind}: MRR {statistics.fmean(rates) if rates else 0.0:.3f} of {len(rates)}")
    empty = [
        known.text
        for known, results in zip(queries, found["rdfspider"], strict=True)
        if not results and _count_known(searcher.index, known.text) >= 2
    ]
    print(f"exact labels: {_judge(ours['exact'], LEAST_EXACT)}")
    print(f"disturbed labels: {_judge(ours['disturbed'], LEAST_DISTURBED)}")
    print(f"queries of two or more known words without results: {len(empty)}: {'MISSED' if empty else 'reached'}, none")


def _count_known(index: TextIndex, text: str) -> int:
    searcher = index.load().searcher
    return sum(any(searcher.doc_freq(field, word) for field in WORD_FIELDS) for word in set(split_text(text)[0]))


def _judge(value: float, least: float) -> str:
    return f"MRR {value:.3f}: {'reached' if value >= least else 'MISSED'}, at least {least:g}"


def tune(folder: Path, queries: Sequence[Known], labels: dict[str, set[tuple[str, ...]]]) -> Weights:
    """Learn the weights by changing one at a time, as long as that helps."""
    chance = random.Random(0)
    few = chance.sample(queries, min(len(queries), TUNED_QUERIES))
    weights, best = WEIGHTS, _rate_weights(Searcher(folder, WEIGHTS, labels), few)
    print(f"  {best:.4f} with {weights}", flush=True)
    for is_first in (True, False):
        before = best
        for field in fields(Weights):
            for factor in (0.5, 2.0, 0.75, 1.33)[: 2 if is_first else 4]:
                changed = replace(weights, **{field.name: round(getattr(weights, field.name) * factor, 3)})
                rate = _rate_weights(Searcher(folder, changed, labels), few)
                if rate > best + 0.0005:
                    weights, best = changed, rate
                    print(f"  {best:.4f} with {field.name} {getattr(weights, field.name):g}", flush=True)
        if best < before + 0.001:
            break
    return weights


def _rate_weights(searcher: Searcher, queries: Sequence[Known]) -> float:
    """The mean of the MRR of exact and of disturbed labels."""
    rates: dict[bool, list[float]] = {True: [], False: []}
    for known in queries:
        rates[known.way == "exact"].append(rate_first(searcher.search(known, TUNED)))
    return statistics.fmean(statistics.fmean(each) for each in rates.values() if each)


if __name__ == "__main__":
    main()
