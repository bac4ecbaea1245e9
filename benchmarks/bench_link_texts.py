"""Searches for known things by what other sites call them: prints how early the right thing comes, without and with such names.

    python benchmarks/bench_link_texts.py CORPUS [--seeds N ...] [--things N] [--tune] [--keep DIR]

To the pages of CORPUS, as `bench_relevance.py` indexes them, come some two thousand generated ones of other sites, honest and
spam (`link_web.py` tells which). Known things are searched by their nicknames, which are on no page of theirs, alone and with a
word of the label; and by their labels, exact and disturbed, which must not be found worse than without names, neither with
generated pages nor on the real ones alone, and least of all where spam uses them. The nicknames are those that one honest site
or more uses. Each seed gives another web, other nicknames and other halves of the hosts: `--tune` tries weights on one half,
and takes the lowest that comes near the best one without making labels worse; what is printed is about the other half.
"""

import argparse
import random
import shutil
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench_index import read_log
from bench_relevance import (
    Item,
    Known,
    Searcher,
    divide,
    index_corpus,
    index_pages,
    list_items,
    list_queries,
    rate_first,
)
from link_web import LinkWeb, Target, Words, choose_nickname, list_words, make_link_web

from rdfspider.index.analysis import split_text
from rdfspider.index.graph.fame import NAME
from rdfspider.index.layout import IndexPaths
from rdfspider.index.text.ranking import WEIGHTS
from rdfspider.results import Role

WEIGHTS_TRIED = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
NOISE, NEAR = 0.003, 0.005
"""What labels may lose, and what nicknames may lack beside the best weight."""
LEAST_NICKNAMES = 0.95
"""A nickname that one honest site and one of spam say is right for either: this alone costs some two hundredths."""
TUNED, TIMED = 300, 500
"""Queries of a group to tune with, and searches that are timed."""
NICKNAMES, LABELS, ALONE = "nicknames", "labels", "real pages alone"
Groups = Mapping[str, Sequence[Known]]
"""Queries by what is asked; one may be in several groups."""
Rates = Mapping[str, Sequence[float]]
"""1/rank of the right thing for each query of each group."""


@dataclass(frozen=True, slots=True)
class Case:
    """The web of one seed."""

    seed: int
    folder: Path
    groups: Mapping[str, Groups]
    """The groups of each half."""


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="bench-link-texts-") as name:
        folder = arguments.keep or Path(name)
        plain = folder / "corpus"
        if not plain.exists():
            index_corpus(arguments.corpus, Path(name) / "corpus.warc.gz", plain)
        cases = [_make_case(seed, plain, folder, arguments.things) for seed in arguments.seeds]
        weight = WEIGHTS.called
        if arguments.tune:
            weight = tune(cases)
        report(cases, plain, weight)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, metavar="CORPUS")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], metavar="N")
    parser.add_argument(
        "--things", type=int, default=60, metavar="N", help="at most so many of each kind, in each half"
    )
    parser.add_argument("--tune", action="store_true", help="choose the weight on the other halves first")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="keep the crawls there, and use them if they are there"
    )
    return parser.parse_args()


def _make_case(seed: int, plain: Path, folder: Path, things: int) -> Case:
    """Make the web of a seed, and index it with the real pages if that was not done."""
    outcomes = read_log(plain)
    items = list_items(outcomes)
    halves = divide(items, seed, things)
    texts = {each.url: f"{each.title} {each.text} {each.statements}" for each in outcomes}
    words = list_words(items, (each.text for each in outcomes))
    targets = _list_targets([item for half in halves.values() for item in half], plain, texts, words, seed)
    web = make_link_web(targets, words, seed)
    linked = folder / f"linked-{seed}"
    if not linked.exists():
        shutil.copytree(plain, linked)
        with tempfile.TemporaryDirectory(prefix="bench-link-texts-") as name:
            index_pages(((url, page.encode()) for url, page in web.pages.items()), Path(name) / "links.warc.gz", linked)
    assert (IndexPaths(linked).graph / NAME).exists()
    groups = {name: _group_queries(half, items, targets, web, seed) for name, half in halves.items()}
    print(
        f"seed {seed}: {len(web.pages):,} generated pages link to {len(targets)} things, of which honest sites call "
        f"{sum(map(bool, web.naming.values()))} by a nickname and spam uses the names of {len(web.spammed)}",
        flush=True,
    )
    return Case(seed, linked, groups)


def _list_targets(
    items: Iterable[Item], plain: Path, texts: Mapping[str, str], words: Words, seed: int
) -> list[Target]:
    """The things that a page is about, each with that page and a nickname."""
    searcher = Searcher(plain)
    found: dict[str, Target] = {}
    for item in items:
        for url, cards in searcher.index.find_things_at(sorted(item.pages - found.keys())):
            if any(card.role == Role.MAIN and searcher.is_right(card, item) for card in cards):
                own = {word for part in split_text(f"{item.label} {texts[url]}") for word in part}
                name, origin = choose_nickname(own, words, random.Random(f"{seed} {url}"))
                found[url] = Target(item, url, name, origin)
                break
    return list(found.values())


def _group_queries(
    half: Sequence[Item], items: Sequence[Item], targets: Sequence[Target], web: LinkWeb, seed: int
) -> Groups:
    """The queries about a half, by what is asked."""
    groups: dict[str, list[Known]] = defaultdict(list)
    target_of = {target.item.label: target for target in targets}
    for item in half:
        target = target_of.get(item.label)
        count = web.naming[target.url] if target else 0
        if not target or not count:
            continue
        known = Known(target.nickname, "nickname", item)
        sites = "one site" if count == 1 else "2 to 4 sites" if count < 5 else "5 sites or more"
        words = split_text(item.label)[0]
        chance = random.Random(f"{seed} {item.label}")
        mixed = [Known(f"{target.nickname} {chance.choice(words)}", "nickname", item)] if words else []
        groups[NICKNAMES] += [known, *mixed]
        groups[f"  alone, of {sites}"].append(known)
        groups[f"  alone, {target.origin}"].append(known)
        groups["  with a word of the label"] += mixed
        if target.url in web.spammed:
            groups["  alone, also used by spam"].append(known)
    order = [NICKNAMES, *sorted(name for name in groups if name != NICKNAMES)]
    for known in list_queries(half, items, seed):
        groups[f"{LABELS}, {'exact' if known.way == 'exact' else 'disturbed'}"].append(known)
        target = target_of.get(known.item.label)
        if target and target.url in web.spammed and known.way == "exact":
            groups[f"{LABELS}, also used by spam"].append(known)
    return {name: groups[name] for name in [*order, *(name for name in groups if name not in order)]}


def _rate(searcher: Searcher, groups: Groups) -> Rates:
    rates = {
        (known.text, known.item.label): rate_first(searcher.search(known))
        for known in {(known.text, known.item.label): known for group in groups.values() for known in group}.values()
    }
    return {name: [rates[known.text, known.item.label] for known in group] for name, group in groups.items()}


def _join(rates: Sequence[Rates]) -> Rates:
    return {name: [rate for each in rates for rate in each.get(name, ())] for name in rates[0]}


def tune(cases: Sequence[Case]) -> float:
    """The weight for the half to tune of each seed, and that of all."""
    print(f"\nMRR on the halves to tune\n{'':28}" + "".join(f"{weight:8g}" for weight in WEIGHTS_TRIED), flush=True)
    found: dict[float, list[Rates]] = defaultdict(list)
    for case in cases:
        plain = Searcher(case.folder)
        few = {name: group[:TUNED] for name, group in case.groups["to tune"].items()}
        for weight in WEIGHTS_TRIED:
            searcher = Searcher(case.folder, replace(WEIGHTS, called=weight), plain.labels)
            found[weight].append(_rate(searcher, few))
        own = {weight: each[-1] for weight, each in found.items()}
        print(f"seed {case.seed}: {_choose(own):g}", flush=True)
    joined = {weight: _join(each) for weight, each in found.items()}
    for name in joined[0.0]:
        print(f"{name:28}" + "".join(f"{_mean(joined[weight], name):8.3f}" for weight in WEIGHTS_TRIED))
    weight = _choose(joined)
    print(f"all seeds: {weight:g}")
    return weight


def _choose(found: Mapping[float, Rates]) -> float:
    """The lowest weight that is near the best one for nicknames, of those that make no labels worse."""
    names = [name for name in found[0.0] if name.startswith(LABELS)]
    allowed = [
        weight
        for weight, rates in found.items()
        if all(_mean(rates, name) >= _mean(found[0.0], name) - NOISE for name in names)
    ]
    best = max(_mean(found[weight], NICKNAMES) for weight in allowed)
    return min(weight for weight in allowed if _mean(found[weight], NICKNAMES) >= best - NEAR)


def _mean(rates: Rates, name: str) -> float:
    return statistics.fmean(rates[name])


def _count_first(rates: Rates, name: str) -> float:
    return statistics.fmean(rate == 1 for rate in rates[name])


def report(cases: Sequence[Case], plain: Path, weight: float) -> None:
    """Print what names change, and judge it."""
    weights = (0.0, weight)
    found: dict[float, list[Rates]] = defaultdict(list)
    alone: dict[float, list[Rates]] = defaultdict(list)
    for case in cases:
        groups = case.groups["to report"]
        of_labels = {
            f"{ALONE}: {name}": group
            for name, group in groups.items()
            if name.startswith(LABELS) and not name.endswith("spam")
        }
        for folder, asked, into in ((case.folder, groups, found), (plain, of_labels, alone)):
            labels = Searcher(folder).labels
            for each in weights:
                into[each].append(_rate(Searcher(folder, replace(WEIGHTS, called=each), labels), asked))
        means = [f"{_mean(found[each][-1], NICKNAMES):.3f}" for each in weights]
        print(f"seed {case.seed}: MRR of nicknames {means[0]} without names, {means[1]} with them", flush=True)
    joined = {each: {**_join(found[each]), **_join(alone[each])} for each in weights}
    print(f"\n{'':38} {'queries':>8}   {'without names':^18}   {f'with weight {weight:g}':^18}")
    print(f"{'':38} {'':8}" + f"   {'MRR':>8} {'first':>9}" * 2)
    for name, rates in joined[0.0].items():
        line = f"{name:38} {len(rates):8,}"
        for each in weights:
            line += f"   {_mean(joined[each], name):8.3f} {_count_first(joined[each], name):9.1%}"
        print(line)
    nicknames = _mean(joined[weight], NICKNAMES)
    print(f"nicknames: MRR {nicknames:.3f}: {_judge(nicknames >= LEAST_NICKNAMES)}, at least {LEAST_NICKNAMES:g}")
    for name in joined[0.0]:
        if name.startswith((LABELS, ALONE)):
            lost = max(0.0, _mean(joined[0.0], name) - _mean(joined[weight], name))
            print(f"{name}: {lost:.3f} lower: {_judge(lost <= NOISE)}, at most {NOISE:g}")
    for case in cases:
        _time_searches(case, weight)


def _judge(is_reached: bool) -> str:
    return "reached" if is_reached else "MISSED"


def _time_searches(case: Case, weight: float) -> None:
    """Print how long searches take, without names and with them, in turns."""
    groups = case.groups["to report"].values()
    texts = sorted({known.text for group in groups for known in group})
    texts = random.Random(case.seed).sample(texts, min(TIMED, len(texts)))
    searchers = [Searcher(case.folder, replace(WEIGHTS, called=each)) for each in (0.0, weight)]
    seconds: list[list[float]] = [[], []]
    for turn in range(2):
        for text in texts:
            for searcher, taken in zip(searchers, seconds, strict=True):
                started = time.perf_counter()
                searcher.index.search(text)
                # The first turn fills caches.
                taken += [time.perf_counter() - started] * turn
    lines = [
        f"p50 {statistics.median(each) * 1000:.2f} ms, p95 {statistics.quantiles(each, n=20)[-1] * 1000:.2f} ms"
        for each in seconds
    ]
    ratio = statistics.median(seconds[1]) / statistics.median(seconds[0])
    print(
        f"seed {case.seed}: {len(texts)} searches: {lines[0]} without names, {lines[1]} with: {ratio:.2f} times the median"
    )


if __name__ == "__main__":
    main()
