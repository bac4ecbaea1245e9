"""robots.txt by two suites: the stress tests of RFC 9309's authors, and the cases of robots-parser. Pass counts are pinned."""

import json
from pathlib import Path
from typing import Any

from rdfspider import RobotsTxt

# RFC 9309, 2.2.2: "The /robots.txt URI is implicitly allowed." These four checks want it refused.
AGAINST_THE_RFC = {
    ("327748.textproto", "asdfbot", "http://m.example.com/robots.txt"),
    ("369883.textproto", "BarBot", "http://example.com/robots.txt"),
    ("369883.textproto", "AB", "http://example.com/robots.txt"),
    ("860237.textproto", "XYZ", "http://example.com/robots.txt"),
}


def test_stress_suite_of_the_rfc(suites: Path) -> None:
    passed, failed = judge(read(suites, "rfc9309-stress.json")["groups"], "file")
    assert failed == AGAINST_THE_RFC
    assert passed == 250


def test_robots_parser_suite(suites: Path) -> None:
    passed, failed = judge(read(suites, "robots-parser-cases.json")["groups"], "test")
    assert failed == set()
    assert passed == 126


def test_robots_parser_crawl_delays(suites: Path) -> None:
    """Each case is there twice, first with None, whatever the file says: of 34, the 10 whose twin says otherwise are wrong."""
    cases = read(suites, "robots-parser-cases.json")["crawl_delay"]
    assert len(cases) == 34
    found = [(case, RobotsTxt(case["robots"].encode()).crawl_delay(case["agent"])) for case in cases]
    assert [case for case, delay in found[1::2] if delay != case["crawl_delay"]] == []
    assert sum(delay == case["crawl_delay"] for case, delay in found) == 24


def test_robots_parser_sitemaps(suites: Path) -> None:
    """Here, too, each case is there twice, first with None: of 10, these 5 are wrong."""
    cases = read(suites, "robots-parser-cases.json")["sitemaps"]
    assert len(cases) == 10
    found = [(case, RobotsTxt(case["robots"].encode()).sitemaps) for case in cases]
    assert [case for case, sitemaps in found[1::2] if sitemaps != tuple(case["sitemaps"])] == []
    assert [case for case, _ in found[::2] if case["sitemaps"] is not None] == []


def judge(groups: list[dict[str, Any]], name: str) -> tuple[int, set[tuple[str, str, str]]]:
    passed, failed = 0, set()
    for group in groups:
        robots = RobotsTxt(group["robots"].encode())
        for check in group["checks"]:
            if robots.allows(check["url"], check["agent"]) == check["allowed"]:
                passed += 1
            else:
                failed.add((group[name], check["agent"], check["url"]))
    return passed, failed


def read(suites: Path, name: str) -> Any:
    return json.loads((suites / "robots" / name).read_text())
