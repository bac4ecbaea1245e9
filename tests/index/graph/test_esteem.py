"""What the crawl gets from the ranks: who is held in esteem, and who is not, however it tries."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from tests.index.graph.pages import make_page
from tests.index.graph.rated import add_pages, make_paths

from rdfspider.archive.outcomes import Outcome
from rdfspider.index.graph.esteem import LATER, MAX_PAGE_CHARS
from rdfspider.index.graph.esteem_file import NAME, NO_ESTEEM, load_esteem, mark_esteem
from rdfspider.index.graph.rating import rate_graph
from rdfspider.index.graph.view import GraphView
from rdfspider.records import Esteem

GOOD, PRAISED, OWN = "https://www.good.org/", "https://praised.org/", "https://a.many.org/"


def rate(folder: Path, pages: Iterable[Outcome], seeds: str = "") -> dict[str, Esteem]:
    """What is said of sites."""
    paths = make_paths(folder)
    if seeds:
        paths.seeds.write_text(f"{seeds}\n")
    add_pages(paths, list(pages))
    assert rate_graph(paths)
    table = load_esteem(paths.graph)
    assert len({each.site for each in table}) == len(table)
    return {each.site: each for each in table}


def praise(target: str, sites: int, name: str = "fan", **fields: object) -> list[Outcome]:
    """A page of each of some sites that links to one, and to some other of its own."""
    fans = [f"https://{name}{number}.co.uk/" for number in range(sites)]
    return [make_page(fan, 1.0, [target, f"https://other-{name}{n}.net/"], **fields) for n, fan in enumerate(fans)]


def test_sites_vote_not_hosts_and_three_are_needed(tmp_path: Path) -> None:
    cheap = [make_page(f"https://h{number}.cheap.net/", 1.0, [PRAISED]) for number in range(50)]
    own = [make_page(f"https://h{number}.many.org/", 1.0, [OWN]) for number in range(50)]
    two = praise("https://two.org/", 2, "friend")
    found = rate(tmp_path, [*praise(GOOD, 9), *cheap, *own, *two])
    assert found == {"good.org": Esteem("good.org", -2, pages=(GOOD,))}


def test_links_that_are_not_recommended_do_not_vote(tmp_path: Path) -> None:
    relations = {PRAISED: "ugc"}
    bought = praise(PRAISED, 30, "forum", relations=relations)
    found = rate(tmp_path, [*praise(GOOD, 9), *bought])
    assert list(found) == ["good.org"]


def test_pages_that_were_fetched_are_not_named(tmp_path: Path) -> None:
    deep = "https://www.good.org/deep"
    pages = [*praise(GOOD, 9), *praise(deep, 9, "reader"), make_page(GOOD, 1.0, [deep])]
    assert rate(tmp_path, pages)["good.org"].pages == (deep,)


def test_pages_with_very_long_urls_are_not_named(tmp_path: Path) -> None:
    long = f"https://www.good.org/{'a' * MAX_PAGE_CHARS}"
    assert rate(tmp_path, praise(long, 9)) == {"good.org": Esteem("good.org", -2)}


def test_farms_have_no_vote_and_come_later(tmp_path: Path) -> None:
    paid = [f"https://paid.org/{number}" for number in range(30)]
    farm = [make_page(f"https://farm{number}.net/", 1.0, paid) for number in range(20)]
    found = rate(tmp_path, [*praise(GOOD, 9), *farm])
    assert found.pop("good.org").step < 0
    assert found == {f"farm{n}.net": Esteem(f"farm{n}.net", hosts={f"farm{n}.net": LATER}) for n in range(20)}


def test_the_best_of_hosts_with_the_same_pages_is_taken_for_the_original(tmp_path: Path) -> None:
    hosts = ["www.first.org", "mirror.net", "copy.mirror.net"]
    pages = [
        make_page(f"https://{host}/{number}", 1.0, [f"https://{host}/{(number + 1) % 40}", "https://else.net/"])
        for host in hosts
        for number in range(40)
    ]
    found = rate(tmp_path, [*pages, *praise("https://www.first.org/3", 9)])
    assert found["first.org"] == Esteem("first.org", -2)
    assert found["mirror.net"] == Esteem("mirror.net", hosts={"mirror.net": LATER, "copy.mirror.net": LATER})


def test_sites_that_only_praise_each_other_come_later_than_those_that_seeds_lead_to(tmp_path: Path) -> None:
    ring = [f"https://ring{number}.net/" for number in range(12)]
    pages = [make_page(url, 1.0, [other for other in ring if other != url]) for url in ring]
    seed = make_page("https://seed.org/", 1.0, [f"https://fan{number}.co.uk/" for number in range(9)])
    found = rate(tmp_path, [*pages, seed, *praise(GOOD, 9)], seeds="https://seed.org/")
    assert found["good.org"].step == -2
    assert {found[f"ring{number}.net"].step for number in range(12)} == {LATER}
    # Without a seed nobody knows better.
    (tmp_path / "again").mkdir()
    found = rate(tmp_path / "again", [*pages, seed, *praise(GOOD, 9)])
    assert LATER not in {each.step for each in found.values()}


def test_a_table_that_is_missing_or_damaged_is_empty(tmp_path: Path) -> None:
    rate(tmp_path, praise(GOOD, 9))
    folder = make_paths(tmp_path).graph
    assert mark_esteem(folder) != NO_ESTEEM
    whole = (folder / NAME).read_bytes()
    for body in (b"", b"no table", whole[:-1], whole[:9] + b"\0" + whole[10:]):
        (folder / NAME).write_bytes(body)
        assert load_esteem(folder) == []
    (folder / NAME).unlink()
    assert load_esteem(folder) == []
    assert mark_esteem(folder) == NO_ESTEEM


def test_forgotten_pages_are_not_in_the_table(tmp_path: Path) -> None:
    rate(tmp_path, praise(GOOD, 9))
    paths = make_paths(tmp_path)
    with closing(GraphView(paths)) as view:
        view.forget(lambda url: url == GOOD)
    assert load_esteem(paths.graph) == []
