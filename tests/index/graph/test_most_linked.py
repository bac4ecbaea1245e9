"""The most linked pages and hosts, and the hosts around a site, against counts by hand; whatever generations there are."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.index.graph.pages import Model, make_history, make_page, remove_page

from rdfspider.archive.outcomes import Effect
from rdfspider.index.graph import site_links
from rdfspider.index.graph import view as view_module
from rdfspider.index.graph.kinds import LinkKind
from rdfspider.index.graph.most_linked import LinkedHost, LinkedPage
from rdfspider.index.graph.reader import GraphReader
from rdfspider.index.graph.view import GraphView
from rdfspider.index.layout import VERSION, IndexPaths
from rdfspider.urls import host_of


@contextmanager
def read(folder: Path, *groups: list[object], fan_out: int = 100) -> Iterator[GraphReader]:
    """The graph of outcomes, each group of them a generation."""
    paths = IndexPaths(folder)
    paths.index.mkdir(parents=True, exist_ok=True)
    paths.version.write_text(f"{VERSION}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(view_module, "FLUSH_S", 0.0)
        patch.setattr(view_module, "_DUTY", 1e9)
        patch.setattr(view_module, "FAN_OUT", fan_out)
        view = GraphView(paths)
        for number, group in enumerate(groups, 1):
            view.apply(group)  # type: ignore[arg-type]
            view.commit({"log": number})
        view.close()
    with closing(GraphReader(paths)) as reader:
        yield reader


def make_links(history: list[object]) -> list[tuple[str, str]]:
    model = Model()
    model.apply(history)  # type: ignore[arg-type]
    return [(source, target) for source, target, _, _ in model.list_links()]


def make_votes(history: list[object]) -> list[tuple[str, str]]:
    """The links that count."""
    model = Model()
    model.apply(history)  # type: ignore[arg-type]
    wanted, unwanted = LinkKind.LINK | LinkKind.DATA, LinkKind.NOFOLLOW | LinkKind.UGC | LinkKind.SPONSORED
    return [(source, target) for source, target, kind, _ in model.list_links() if kind & wanted and not kind & unwanted]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [40, 200])
def test_the_most_linked_are_those_that_most_hosts_link_to(tmp_path: Path, seed: int, size: int) -> None:
    history: list[object] = list(make_history(seed, 200))
    links = make_votes(history)
    by_page: defaultdict[str, list[str]] = defaultdict(list)
    by_host: defaultdict[str, list[str]] = defaultdict(list)
    for source, target in links:
        by_page[target].append(source)
        if host_of(source) != host_of(target):
            by_host[host_of(target)].append(host_of(source))
    votes = {page: len({host_of(each) for each in sources} - {host_of(page)}) for page, sources in by_page.items()}
    with read(tmp_path, *(history[start : start + size] for start in range(0, 200, size))) as reader:
        found = reader.list_most_linked(1000)
        assert {each.url: (each.hosts, each.pages) for each in found.pages} == {
            page: (count, len(by_page[page])) for page, count in votes.items()
        }
        assert [each.hosts for each in found.pages] == sorted((each.hosts for each in found.pages), reverse=True)
        assert {each.host: (each.hosts, each.links) for each in found.hosts} == {
            host: (len(set(sources)), len(sources)) for host, sources in by_host.items()
        }
        model = Model()
        model.apply(history)  # type: ignore[arg-type]
        read_urls = {url for url, outcome in model.newest.items() if outcome.effect == Effect.REPLACE or outcome.target}
        assert {each.url for each in found.read_pages} == votes.keys() & read_urls
        some = reader.list_most_linked(40)
        assert (some.pages[:5], some.hosts) == (found.pages[:5], found.hosts)


@pytest.mark.parametrize("seed", range(6))
def test_the_hosts_around_a_site_are_counted(tmp_path: Path, seed: int) -> None:
    history: list[object] = list(make_history(seed, 200))
    links = make_links(history)
    with read(tmp_path, *(history[start : start + 50] for start in range(0, 200, 50))) as reader:
        for site in ("site0.test", "site1.test", "www2.site2.test", "WWW2.site2.test"):
            own = {f"www{n}.site{n % 3}.test" for n in range(6)}
            own = {host for host in own if f".{host}".endswith(f".{site.lower()}")}
            out = Counter(host_of(b) for a, b in links if host_of(a) in own and host_of(b) not in own)
            into = Counter(host_of(a) for a, b in links if host_of(b) in own and host_of(a) not in own)
            found = reader.count_site_links(site)
            assert (dict(found.outward), dict(found.inward), found.is_cut) == (out, into, False)
            assert [each.links for each in found.inward] == sorted(into.values(), reverse=True)


def test_names_alike_and_odd_addresses_are_kept_apart(tmp_path: Path) -> None:
    pages: list[object] = [
        make_page("http://a.test/", 1, ["http://a-b.test/", "http://b.a.test/x", "http://user@h.test/", "http://127.0.0.1:8080/"]),
        make_page("http://a-b.test/", 1, ["https://a.test:8443/y", "http://ab.test/"]),
        make_page("http://[::1]/", 1, ["http://b.a.test/x"]),
    ]  # fmt: skip
    with read(tmp_path, pages) as reader:
        found = reader.count_site_links("a.test")
        assert set(found.outward) == {("a-b.test", 1), ("h.test", 1), ("127.0.0.1", 1)}
        assert set(found.inward) == {("a-b.test", 1), ("[::1]", 1)}
        assert reader.count_site_links("127.0.0.1").inward == [("a.test", 1)]
        for bad in ("", ".", "no.test", "<script>", "\u202e", "a b"):
            assert reader.count_site_links(bad).inward == [], bad


def test_what_is_read_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[object] = [make_page(f"http://s{n}.test/", 1, ["http://hub.test/"]) for n in range(50)]
    with read(tmp_path, pages) as reader:
        assert len(reader.count_site_links("hub.test").inward) == 50
        monkeypatch.setattr(site_links, "_MAX_HOSTS", 20)
        found = reader.count_site_links("hub.test")
        assert (len(found.inward), found.is_cut) == (20, True)


def test_what_nobody_vouches_for_is_not_most_linked(tmp_path: Path) -> None:
    links = {f"http://{name}.test/": relation for name, relation in
             (("nofollow", "nofollow"), ("ugc", "ugc"), ("paid", "sponsored"), ("frame", "iframe"), ("good", ""))}  # fmt: skip
    relations = {url: relation for url, relation in links.items() if relation}
    fans: list[object] = [make_page(f"http://f{n}.test/", 1, list(links), relations=relations) for n in range(5)]
    moved = [remove_page(f"http://m{n}.test/", 1, "http://moved.test/") for n in range(9)]
    with read(tmp_path, [*fans, *moved]) as reader:
        found = reader.list_most_linked(10)
        assert found.pages == [LinkedPage("http://good.test/", 5, 5)]
        assert found.hosts == [LinkedHost("good.test", 5, 5)]


def test_hosts_of_odd_urls_have_one_vote(tmp_path: Path) -> None:
    urls = [f"http://{host}.test:{port}x/" for port in (1, 2) for host in "ab"]
    pages: list[object] = [make_page(url, 1, ["http://hub.test/"]) for url in urls]
    with read(tmp_path, pages) as reader:
        assert reader.list_most_linked(10).pages == [LinkedPage("http://hub.test/", 2, 4)]


def test_a_graph_without_links_has_no_most_linked(tmp_path: Path) -> None:
    with read(tmp_path, [make_page("http://a.test/", 1)]) as reader:
        assert reader.list_most_linked(10) == ([], [], [])
        assert reader.count_site_links("a.test") == ([], [], False)
