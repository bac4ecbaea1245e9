"""Outcomes with links for tests, and what the graph should say of them: a model without generations."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
from xxhash import xxh3_64_intdigest

from rdfspider.archive.outcomes import NEVER, Effect, Outcome, make_stamp
from rdfspider.index.graph.keys import make_key
from rdfspider.index.graph.kinds import LinkKind
from rdfspider.index.graph.page_links import read_page_links
from rdfspider.index.graph.reader import GraphReader


def make_page(url: str, time: float, links: Sequence[str] = (), **fields: object) -> Outcome:
    """A page with links."""
    digest = f"sha1:{crc32(url.encode('utf-8', 'replace')) % 97:05}"
    plain = {"url": url, "time": time, "source": "log", "offset": 0, "end": 1, "effect": Effect.REPLACE}
    return Outcome(**{**plain, "digest": digest, "outlinks": tuple(links), **fields})  # type: ignore[arg-type]


def remove_page(url: str, time: float, target: str = "") -> Outcome:
    """A page that is gone, or has moved."""
    return make_page(url, time, effect=Effect.REMOVE, status=301 if target else 410, target=target)


def make_history(seed: int, length: int, hosts: int = 6, pages: int = 12) -> list[Outcome]:
    """Visits of a small web by chance: pages change, move and vanish, some visits are of the same moment."""
    chance = random.Random(seed)
    urls = [
        f"http{'s' * (host % 2)}://www{host}.site{host % 3}.test/{page}"
        for host in range(hosts)
        for page in range(pages)
    ]
    history = []
    for _ in range(length):
        url, time = chance.choice(urls), float(chance.randrange(1, 60))
        what = chance.random()
        if what < 0.12:
            history.append(remove_page(url, time, chance.choice(urls) if what < 0.05 else ""))
        elif what < 0.2:
            history.append(make_page(url, time, effect=Effect.TOUCH))
        else:
            links = chance.sample(urls, chance.randrange(0, 9))
            history.append(
                make_page(
                    url,
                    time,
                    links,
                    title=str(chance.randrange(1000)),
                    relations={link: chance.choice(["nofollow", "ugc nofollow", "next"]) for link in links[:2]},
                    anchors={link: chance.choice(["home", "more", "a page"]) for link in links[1:4]},
                    canonical=chance.choice(urls) if what > 0.9 else "",
                )
            )
    return history


@dataclass
class Model:
    """The newest outcome of each page."""

    newest: dict[str, Outcome] = field(default_factory=dict)

    def apply(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            known = self.newest.get(outcome.url)
            if outcome.effect != Effect.TOUCH and make_stamp(outcome) > (make_stamp(known) if known else NEVER):
                self.newest[outcome.url] = outcome

    def forget(self, is_forgotten: Callable[[str], bool]) -> None:
        self.newest = {url: outcome for url, outcome in self.newest.items() if not is_forgotten(url)}

    def list_links(self) -> set[tuple[str, str, int, str]]:
        rows = [row for outcome in self.newest.values() if (row := read_page_links(outcome))]
        return {(row.url, url, kind, row.anchors.get(url, "")) for row in rows for url, kind in row.kinds.items()}

    def list_pages(self) -> set[str]:
        pages = {outcome.url for outcome in self.newest.values() if outcome.effect == Effect.REPLACE}
        return pages.union(*([source, target] for source, target, _, _ in self.list_links()))


def dump(reader: GraphReader) -> tuple[list[str], list[tuple[str, str, int, str]]]:
    """All that a graph has, asked in every way; the ways have to agree."""
    urls = list(reader.list_urls())
    assert reader.count_pages() == len(urls)
    links = [(url, *link[:3]) for url in urls for link in reader.read_links(url)]
    assert reader.count_links() == len(links)
    back = [(link.url, url, link.kind, link.anchor) for url in urls for link in reader.read_backlinks(url)]
    found = [(source, target, int(kind), anchor) for source, target, kind, anchor in links]
    assert sorted(back) == sorted((source, target, kind, anchor) for source, target, kind, anchor in links)
    graph = reader.load_csr()
    followed = reader.load_csr(LinkKind.LINK, LinkKind.NOFOLLOW)
    for page, url in enumerate(urls):
        assert reader.find(url) == page
        assert reader.read_url(page) == url
        assert reader.has_page(url)
        targets = [target for source, target, _, _ in found if source == url]
        assert [urls[each] for each in reader.list_out(page)] == targets
        assert reader.count_out(url) == len(targets)
        assert reader.list_targets(url) == targets
        assert [link.url for link in reader.read_backlinks(url, 3, 1)] == [urls[each] for each in reader.list_in(page)][
            1:4
        ]
        sources = sorted(
            (make_key(urls[each]) for each in reader.list_in(page)),
            key=lambda key: (xxh3_64_intdigest(key) % 2**32, key),
        )
        assert [link.key for link in reader._state.sample_in(make_key(url), 3)] == sources[:3]
        assert reader.count_in(url) == len(sources)
        assert np.array_equal(graph.indices[graph.indptr[page] : graph.indptr[page + 1]], reader.list_out(page))
    usual = sum(1 for _, _, kind, _ in found if kind & LinkKind.LINK and not kind & LinkKind.NOFOLLOW)
    assert len(followed.indices) == usual
    hosts = reader.load_host_graph()
    assert int(hosts.weights.sum()) == sum(1 for one, other, _, _ in found if one.split("/")[2] != other.split("/")[2])
    return urls, sorted(found)
