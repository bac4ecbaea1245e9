"""What a crawl has found of the demo's sites, told in a few lines: what it kept enters, and is held against the expectations."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from rdfspider.demo.expectations import Hidden, Published
from rdfspider.demo.facts import make_key

_REASONS = {
    "robots": "behind robots.txt",
    "noindex": "marked noindex",
    "nofollow": "behind nofollow links",
    "expired": "out of date",
    "trap": "at the bottom of traps",
}
_SHOWN_OF_A_KIND = 3
_MISSING_SHOWN = 5


def tell_findings(
    statements: Mapping[str, str], everything: str, published: Sequence[Published], hidden: Sequence[Hidden]
) -> list[str]:
    """What was found, what several sites speak of, and what was rightly left out.

    `statements` are N-Quads by page, `everything` is all records as one text.
    """
    missing = []
    sites: dict[str, set[str]] = defaultdict(set)
    for row in published:
        if f'"{row.literal}"' in statements.get(row.url, ""):
            sites[row.entity].add(row.url.split("/")[2].partition(".")[0])
        else:
            missing.append(row)
    kinds = Counter(entity.partition("/")[0] for entity in sites)
    names = {row.entity: row.literal for row in reversed(published)}
    counts = ", ".join(_count(kind, count) for kind, count in kinds.most_common())
    lines = ["", f"Found {len(sites):,} of {len(names):,} things that the sites publish: {counts}."]
    shared = [f"  {names[entity]:<24} {', '.join(sorted(sites[entity]))}" for entity in _choose_shared(sites)]
    lines += ["Known from several sites, among others:", *shared] if shared else []
    betrayed = find_names(everything, hidden)
    reasons = Counter(thing.reason for thing in hidden if thing not in betrayed)
    parts = (f"{count} {_REASONS[reason]}" for reason, count in reasons.most_common())
    lines += [f"Left out, as it should be: {', '.join(parts)}."] if reasons else []
    lines += [f"Not found: {row.literal} ({row.url})" for row in missing[:_MISSING_SHOWN]]
    if len(missing) > _MISSING_SHOWN:
        lines.append(f"Not found either: {len(missing) - _MISSING_SHOWN:,} of {len(published):,} things on pages")
    return lines + [f"Found, but it is {_REASONS[thing.reason]}: {thing.literal} ({thing.url})" for thing in betrayed]


def find_names(text: str, hidden: Sequence[Hidden]) -> list[Hidden]:
    """Of what is hidden, that which a text names, however its words are written or joined, as in URLs."""
    words = make_key(text)
    return [thing for thing in hidden if make_key(thing.literal) in words]


def _choose_shared(sites: dict[str, set[str]]) -> list[str]:
    """Some things of each kind that most sites speak of."""
    shared = sorted(
        (entity for entity in sites if len(sites[entity]) > 1), key=lambda entity: (-len(sites[entity]), entity)
    )
    kinds = sorted({entity.partition("/")[0] for entity in shared})
    return [entity for kind in kinds for entity in [one for one in shared if one.startswith(kind)][:_SHOWN_OF_A_KIND]]


def _count(kind: str, count: int) -> str:
    plural = {"person": "people"}.get(kind, f"{kind}s")
    return f"{count:,} {kind if count == 1 else plural}"
