"""What a crawl has found of the demo's sites, told in a few lines: statements enter, and are held against the expectations."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from rdfspider.demo.expectations import Hidden, Published

_REASONS = {
    "robots": "behind robots.txt",
    "noindex": "marked noindex",
    "nofollow": "behind nofollow links",
    "expired": "out of date",
    "trap": "at the bottom of traps",
}
_SHOWN_OF_A_KIND = 3


def tell_findings(statements: Mapping[str, str], published: Sequence[Published], hidden: Sequence[Hidden]) -> list[str]:
    """From N-Quads by page: what was found, what several sites speak of, and what was rightly left out."""
    missing = []
    sites: dict[str, set[str]] = defaultdict(set)
    for row in published:
        if f'"{row.literal}"' in statements.get(row.url, ""):
            sites[row.entity].add(row.url.split("/")[2].partition(".")[0])
        else:
            missing.append(row)
    kinds = Counter(entity.partition("/")[0] for entity in sites)
    lines = [
        "",
        f"Found {len(sites):,} things: {', '.join(_count(kind, count) for kind, count in kinds.most_common())}.",
    ]
    names = {row.entity: row.literal for row in reversed(published)}
    lines.append("Known from several sites, among others:")
    lines += [f"  {names[entity]:<24} {', '.join(sorted(sites[entity]))}" for entity in _choose_shared(sites)]
    everything = "".join(statements.values())
    betrayed = [thing for thing in hidden if f'"{thing.literal}"' in everything]
    reasons = Counter(thing.reason for thing in hidden if thing not in betrayed)
    parts = (f"{count} {_REASONS[reason]}" for reason, count in reasons.most_common())
    lines.append(f"Left out, as it should be: {', '.join(parts)}.")
    if missing:
        lines.append(
            f"Not found on {len(missing):,} of {len(published):,} pages: {missing[0].literal} ({missing[0].url}), …"
        )
    return lines + [f"Found, but it is {_REASONS[thing.reason]}: {thing.literal} ({thing.url})" for thing in betrayed]


def _choose_shared(sites: dict[str, set[str]]) -> list[str]:
    """Some things of each kind that most sites speak of."""
    shared = sorted(
        (entity for entity in sites if len(sites[entity]) > 1), key=lambda entity: (-len(sites[entity]), entity)
    )
    kinds = sorted({entity.partition("/")[0] for entity in shared})
    return [entity for kind in kinds for entity in [one for one in shared if one.startswith(kind)][:_SHOWN_OF_A_KIND]]


def _count(kind: str, count: int) -> str:
    plural = {"person": "people"}.get(kind, f"{kind}s")
    return f"{count} {kind if count == 1 else plural}"
