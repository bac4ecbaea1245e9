"""Rules are those of the last robots.txt, and the memory for them is bounded."""

from rdfspider.fetch.robots import RecentRules
from rdfspider.records import Lease, RobotsState


def make_lease(url: str, body: bytes, fetched: float = 1.0, rule: str = "rules") -> Lease:
    return Lease("page", "example.org", 1, url, robots=RobotsState(rule, fetched, fetched + 1, body, fetched))


def test_a_newer_robots_txt_replaces_the_rules_of_its_origin_alone() -> None:
    rules = RecentRules()
    assert not rules.allows(make_lease("https://a.org/x", b"User-agent: *\nDisallow: /x"))
    assert rules.explain(make_lease("https://a.org/x", b"User-agent: *\nDisallow: /x")) == "Disallow: /x"
    assert rules.allows(make_lease("https://b.org/x", b"User-agent: *\nDisallow: /y"))
    assert rules.explain(make_lease("https://b.org/x", b"User-agent: *\nDisallow: /y")) == ""
    assert rules.allows(make_lease("https://a.org/x", b"", fetched=2.0))
    assert rules.allows(make_lease("https://a.org/x", b"User-agent: *\nDisallow: /x", rule="allow"))


def test_many_large_files_are_not_all_kept() -> None:
    rules = RecentRules()
    body = b"User-agent: *\nDisallow: /x\n" + b"#" * 400_000
    for number in range(30):
        assert not rules.allows(make_lease(f"https://{number}.org/x", body))
    assert len(rules._rules) <= 10
    assert not rules.allows(make_lease("https://0.org/x", body))
