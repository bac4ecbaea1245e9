from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, strategies
from tests.index.graphs import graphs, make_random_graph

from rdfspider.index.graph import mirrors
from rdfspider.index.graph.csr import Csr, find_hosts, make_csr
from rdfspider.index.graph.mirrors import GroupReason, HostGroup, find_groups, hash_paths

Link = tuple[str, str]
SOCIAL = [f"https://social{number}.example/" for number in range(20)]


def find(links: Iterable[Link], one_site: str = "\n") -> tuple[list[HostGroup], list[str]]:
    """The groups, and the URLs in id order; hosts under `one_site` are of one site."""
    pairs = list(links)
    urls = sorted({url for link in pairs for url in link})
    ids = {url: number for number, url in enumerate(urls)}
    sources, targets = (np.array([ids[link[side]] for link in pairs], np.int64) for side in (0, 1))
    csr = make_csr(len(urls), [(sources, targets)])
    hosts = find_hosts(urls)
    site_of = lambda host: one_site if host.endswith(one_site) else host  # noqa: E731
    return find_groups(csr, hosts, hash_paths(urls), site_of), urls


def make_site(host: str, pages: int, name: str = "page") -> list[Link]:
    """A site whose home page links to its other pages."""
    return [(f"https://{host}/", f"https://{host}/{name}/{page}") for page in range(pages)]


def link_home(host: str, targets: Iterable[str]) -> list[Link]:
    return [(f"https://{host}/", target) for target in targets]


def test_the_same_paths_under_another_host_are_a_mirror() -> None:
    sites = [make_site(host, 40) for host in ("original.example", "copy.test")]
    links = [link for site in sites for link in site] + make_site("other.example", 40, "item")
    groups, urls = find(links)
    assert [(group.reason, group.hosts) for group in groups] == [
        (GroupReason.MIRROR, ("copy.test", "original.example"))
    ]
    # The home page is one of them, but others have that, too.
    assert groups[0].shared == 41
    assert all(urls[example].startswith("https://copy.test/") for example in groups[0].examples)
    assert len(groups[0].examples) == 5


def test_a_copy_that_links_to_its_original_is_a_mirror() -> None:
    copy = [(f"https://copy.test/page/{page}", f"https://original.example/page/{page}") for page in range(40)]
    groups, _ = find([*make_site("original.example", 40), *make_site("copy.test", 40), *copy])
    assert [group.hosts for group in groups] == [("copy.test", "original.example")]


def test_a_copy_with_a_few_pages_more_or_less_is_a_mirror() -> None:
    groups, _ = find([*make_site("original.example", 100), *make_site("copy.test", 90)])
    assert [group.hosts for group in groups] == [("copy.test", "original.example")]


def test_branches_with_the_same_paths_and_other_links_are_no_mirrors() -> None:
    links = []
    for number in range(10):
        links += make_site(f"branch{number}.example", 40)
        links += link_home(
            f"branch{number}.example",
            [f"https://network.example/{number}/{page}" for page in range(3)] + ["https://maker.example/"],
        )
    assert find(links)[0] == []


def test_paths_that_a_program_gives_all_its_sites_make_no_mirrors() -> None:
    links = []
    for number in range(50):
        links += make_site(f"site{number}.example", 30, "installed")
        links += make_site(f"site{number}.example", 30, f"own{number}")
    assert find(links)[0] == []


def test_few_paths_make_no_mirror() -> None:
    assert find([*make_site("a.example", 10), *make_site("b.example", 10)])[0] == []


def make_farm(hosts: int, targets: int, own: int = 0) -> list[Link]:
    sold = [f"https://shop{target}.example/offer" for target in range(targets)]
    links = []
    for number in range(hosts):
        links += link_home(f"farm{number}.example", sold)
        links += link_home(f"farm{number}.example", [f"https://far{number}.example/{page}" for page in range(own)])
    return links


@pytest.mark.parametrize(("hosts", "targets", "own"), [(3, 30, 0), (12, 40, 4), (400, 100, 10)])
def test_hosts_with_the_same_links_to_other_sites_are_a_farm(hosts: int, targets: int, own: int) -> None:
    ordinary = [link for number in range(30) for link in make_site(f"site{number}.example", 30, f"own{number}")]
    groups, urls = find(make_farm(hosts, targets, own) + ordinary)
    assert len(groups) == 1
    assert groups[0].reason == GroupReason.FARM
    assert len(groups[0].hosts) == hosts
    assert groups[0].shared == targets
    assert all(urls[example].endswith("/offer") for example in groups[0].examples)


def test_a_farm_whose_hosts_link_to_each_other_is_found() -> None:
    hosts = [f"farm{number}.example" for number in range(40)]
    groups, _ = find(link for host in hosts for link in link_home(host, [f"https://{other}/" for other in hosts]))
    assert [group.hosts for group in groups] == [tuple(sorted(hosts))]


def test_two_farms_are_two_groups_the_larger_first(monkeypatch: pytest.MonkeyPatch) -> None:
    other = [(a.replace("farm", "yard"), b.replace("shop", "store")) for a, b in make_farm(20, 30)]
    groups, _ = find(make_farm(10, 30) + other)
    assert [len(group.hosts) for group in groups] == [20, 10]
    monkeypatch.setattr(mirrors, "MAX_GROUPS", 1)
    assert [len(group.hosts) for group in find(make_farm(10, 30) + other)[0]] == [20]


@pytest.mark.parametrize("others", [0, 500])
def test_customers_of_one_maker_that_link_to_the_same_social_sites_are_no_farm(others: int) -> None:
    links = []
    for number in range(100):
        links += make_site(f"customer{number}.example", 10, f"own{number}")
        links += link_home(f"customer{number}.example", [*SOCIAL, "https://maker.example/"])
    for number in range(others):
        links += link_home(f"other{number}.example", SOCIAL[number % 20 :])
    assert find(links)[0] == []


def test_links_to_pages_of_sites_that_everybody_knows_make_no_farm() -> None:
    famous = [f"https://famous{number}.example/" for number in range(60)]
    links = [link for number in range(20) for link in link_home(f"fan{number}.example", famous)]
    # Others know other pages of these sites.
    for number in range(60 * 30):
        links += link_home(f"other{number}.example", [f"{famous[number % 60]}{number}"])
    assert find(links)[0] == []


def test_hosts_of_one_site_that_link_to_each_other_are_no_farm() -> None:
    hosts = [f"{number}.university.example" for number in range(40)]
    links = [link for host in hosts for link in link_home(host, [f"https://{other}/" for other in hosts])]
    assert find(links, one_site=".university.example")[0] == []


def test_a_chain_of_hosts_that_each_resemble_the_next_is_not_one_group() -> None:
    links = []
    for number in range(30):
        targets = range(number * 10, number * 10 + 100)
        links += link_home(f"host{number:02}.example", [f"https://target{target}.example/" for target in targets])
    assert all(len(group.hosts) < 6 for group in find(links)[0])


def test_ordinary_hosts_are_no_groups() -> None:
    csr = make_random_graph(6000, 60_000, seed=3)
    urls = [f"https://h{page // 40}.example/{page}" for page in range(6000)]
    assert find_groups(csr, find_hosts(urls), hash_paths(urls)) == []


@given(graphs(), strategies.integers(1, 4))
def test_any_graph_can_be_searched(csr: Csr, pages: int) -> None:
    urls = [f"https://h{page // pages}.example/{page % pages}" for page in range(csr.nodes)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mirrors, "MIN_SHARED", 1)
        for group in find_groups(csr, find_hosts(urls), hash_paths(urls)):
            assert len(group.hosts) >= 2
            assert group.shared >= 1


def test_nothing_has_no_groups() -> None:
    assert find([])[0] == []


def test_paths_are_what_follows_the_host() -> None:
    hashes = hash_paths(
        ["https://a.example/x?y", "http://b.example:81/x?y", "https://a.example/x", "https://a.example/"]
    )
    assert hashes[0] == hashes[1]
    assert len(set(hashes.tolist())) == 3
