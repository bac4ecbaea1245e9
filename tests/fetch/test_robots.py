"""Groups, names, delays and sitemaps of a robots.txt; and what the exchange for one means."""

from email.utils import formatdate
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdfspider.config import FetchConfig, FrontierConfig
from rdfspider.fetch.robots import MAX_ROBOTS_BYTES, RobotsTxt, judge_robots
from rdfspider.records import Capture, Failure, Page, RobotsState

AGENT = "rdfspider/0.1.0 (+https://example.org/about)"
CONFIG, PACE = FetchConfig(), FrontierConfig()
NOW = 1_700_000_000.0
HOUR, DAY = 3_600.0, 86_400.0


def may(text: str | bytes, url: str = "/private", agent: str = AGENT) -> bool:
    return RobotsTxt(text.encode() if isinstance(text, str) else text).allows(url, agent)


@pytest.mark.parametrize(
    ("line", "agent"),
    [
        ("rdfspider", AGENT),
        ("RDFSpider", AGENT),
        ("rdfspider", "RDFSPIDER"),
        ("rdfspider/1.0", AGENT),
        ("rdfspider*", AGENT),
        ("rdfspider and its friends", AGENT),
        ("rdfspider", "Mozilla/5.0 (compatible; rdfspider/0.1; +https://example.org/)"),
        ("*", AGENT),
        ("* # everybody", AGENT),
    ],
)
def test_a_group_is_found_by_the_product_token(line: str, agent: str) -> None:
    assert not may(f"User-agent: {line}\nDisallow: /", agent=agent)


@pytest.mark.parametrize("line", ["rdf", "spider", "rdfspider-images", "rdfspiderbot", "*spider", "", "0.1.0"])
def test_a_group_of_another_name_is_not_ours(line: str) -> None:
    assert may(f"User-agent: {line}\nDisallow: /")


def test_a_named_group_stands_instead_of_the_one_for_all() -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-agent: rdfspider\nDisallow: /private"
    assert may(text, "/public")
    assert not may(text, "/private")
    assert not may(text, "/public", "other")
    # A group without rules allows all.
    assert may("User-agent: *\nDisallow: /\nUser-agent: rdfspider")


def test_groups_of_one_name_are_one_and_a_group_has_many_names() -> None:
    text = "User-agent: rdfspider\nDisallow: /a\n\nUser-agent: b\nUser-agent: rdfspider\n\nDisallow: /c\nAllow: /a/b"
    assert [may(text, path) for path in ("/a", "/a/b", "/c", "/d")] == [False, True, False, True]
    assert [may(text, path, "b") for path in ("/a", "/c")] == [True, False]


def test_other_lines_do_not_end_a_group() -> None:
    text = "User-agent: rdfspider\nSitemap: /s.xml\n<br>\nHost: x\nCrawl-delay: 3\n\nUser-agent: b\nDisallow: /\n"
    robots = RobotsTxt(text.encode())
    assert not robots.allows("/", AGENT)
    assert not robots.allows("/", "b")
    assert (robots.crawl_delay(AGENT), robots.crawl_delay("b")) == (3.0, None)
    assert not may("User-agent: rdfspider\nDisallow: /a\nSitemap: /s.xml\nDisallow: /b", "/b")


def test_rules_before_the_first_group_are_nobodys() -> None:
    assert may("Disallow: /\nCrawl-delay: 5\nUser-agent: *\nAllow: /x")


@pytest.mark.parametrize(
    "text",
    [
        "user-agent:*\ndisallow:/private",
        "  USER-AGENT :  * \n\tDISALLOW\t: /private  # why",
        "User-agent: *\rDisallow: /private\r",
        "User-agent: *\r\nDisallow: /private\r\n",
        "\ufeffUser-agent: *\nDisallow: /private",
        "User-agent: *\nno colon here\n:::\n\0\0\nDisallow: /private",
        "User-agent *\nDisallow /private",
        "Useragent: *\nDissallow: /private",
    ],
)
def test_the_file_is_read_leniently(text: str) -> None:
    assert not may(text)
    assert may(text, "/public")


@pytest.mark.parametrize("charset", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-8"])
def test_any_unicode_is_read(charset: str) -> None:
    body = "User-agent: *\nDisallow: /ツ\n".encode(charset)
    assert not may(body, "/%E3%83%84")
    assert may(body, "/public")


@pytest.mark.parametrize("body", [b"", b"\0", b"\0\0\0", b"\xff\xfe", b"\xfe\xff\xd8", b"\xef\xbb", b"\x80" * 99, b":"])
def test_garbage_allows_all(body: bytes) -> None:
    assert may(body)


@given(
    st.lists(st.sampled_from([*b"aA*$%/:#-\r\n \0\xff\xfe\xef\xbb\xbf", *range(256)])).map(bytes), st.text(), st.text()
)
def test_no_bytes_and_no_url_raise(body: bytes, url: str, agent: str) -> None:
    robots = RobotsTxt(b"User-agent: *\nDisallow:" + body)
    assert robots.allows(url, agent) or robots.rule_for(url, agent).startswith("Disallow: ")
    assert RobotsTxt(body).crawl_delay(agent) is None


def test_the_file_itself_may_always_be_asked_for() -> None:
    assert may("User-agent: *\nDisallow: /", "https://example.org/robots.txt")
    assert not may("User-agent: *\nDisallow: /", "https://example.org/x/robots.txt")


def test_what_is_longer_is_cut_at_a_line() -> None:
    head = b"User-agent: *\nDisallow: /private\n"
    fill = b"#" * (MAX_ROBOTS_BYTES - len(head) - len(b"\nDisallow: /a")) + b"\nDisallow: /abc\nDisallow: /late\n"
    robots = RobotsTxt(head + fill)
    assert not robots.allows("/private", AGENT)
    # Neither the line that was cut, which would now say more than was meant, nor what follows.
    assert robots.allows("/a", AGENT)
    assert robots.allows("/late", AGENT)
    # A file of just that length is whole.
    assert not RobotsTxt((head + fill)[:MAX_ROBOTS_BYTES]).allows("/a", AGENT)


def test_huge_groups_do_not_multiply() -> None:
    agents = "".join(f"User-agent: a{chr(97 + i % 26)}{chr(97 + i // 26)}\n" for i in range(600)) * 20
    body = (agents + "Crawl-delay: 1\nDisallow: /x\n" * 8_000).encode()
    robots = RobotsTxt(body)
    assert not robots.allows("/x", "aab")
    assert robots.crawl_delay("aab") == 1.0


@pytest.mark.parametrize(
    ("value", "delay_s"),
    [("10", 10.0), ("0.5", 0.5), (".5", 0.5), ("2.", 2.0), ("0", 0.0), ("2 # slow", 2.0)]
    + [(value, None) for value in ("", "-1", "1.2.1", "10a", "1e9", "inf", "nan", "1,5", "9" * 500, "٣")],
)
def test_crawl_delay_is_a_plain_number(value: str, delay_s: float | None) -> None:
    assert RobotsTxt(f"User-agent: *\nCrawl-delay: {value}".encode()).crawl_delay(AGENT) == delay_s


def test_crawl_delay_belongs_to_its_group() -> None:
    text = (
        "User-agent: *\nCrawl-delay: 1\nUser-agent: b\nCrawl-delay: 12\nUser-agent: c\nUser-agent: d\nCrawl-delay: 10"
    )
    robots = RobotsTxt(text.encode())
    assert [robots.crawl_delay(agent) for agent in ("a", "b", "c", "d")] == [1.0, 12.0, 10.0, 10.0]
    robots = RobotsTxt(
        b"User-agent: *\nCrawl-delay: 1\nUser-agent: b\nDisallow:\nUser-agent: b\nCrawl-delay: 3\nCrawl-delay: 2"
    )
    assert robots.crawl_delay("b") == 3.0
    assert RobotsTxt(b"User-agent: *\nCrawl-delay: 1\nDisallow:\nUser-agent: b\nDisallow:").crawl_delay("b") is None


def test_sitemaps_are_found_anywhere() -> None:
    body = b"Sitemap: https://example.org/1.xml\nUser-agent: a\nSITEMAP : /2.xml # two\nDisallow: /\nsitemap:\nSitemap: /2.xml"
    assert RobotsTxt(body).sitemaps == ("https://example.org/1.xml", "/2.xml")


def test_the_deciding_line_is_told() -> None:
    robots = RobotsTxt("User-agent: *\ndisallow: /ツ*\nallow: /a$\nDisallow: /b\0c".encode())
    assert robots.rule_for("/ツ/x", AGENT) == "Disallow: /ツ*"
    assert robots.rule_for("/a", AGENT) == "Allow: /a$"
    assert robots.rule_for("/b%00c", AGENT) == "Disallow: /bc"
    assert robots.rule_for("/z", AGENT) == ""


def answer(status: int, body: bytes = b"", truncated: str = "", **headers: str) -> Capture:
    received = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    page = Page("https://example.org/robots.txt", body)
    return Capture(page, status, "", "1.1", received, (), "192.0.2.1", NOW, 0.1, len(body), truncated)


def judge(previous: RobotsState | None, exchange: Capture | Failure, now: float = NOW) -> RobotsState:
    return judge_robots(previous, exchange, now, CONFIG, PACE)


RULES = b"User-agent: *\nDisallow: /private\n"
TIMEOUT = Failure("https://example.org/robots.txt", "timeout")
GOOD = judge(None, answer(200, RULES))


def test_an_answer_is_used_for_a_day() -> None:
    assert RobotsState("rules", NOW, NOW + DAY, RULES, NOW, "status-200") == GOOD


@pytest.mark.parametrize(
    ("headers", "lifetime_s"),
    [
        ({"Cache_Control": "public, max-age=7200"}, 2 * HOUR),
        ({"Cache_Control": "max-age=7200", "Age": "1800"}, 1.5 * HOUR),
        ({"Cache_Control": "max-age=31536000"}, DAY),
        ({"Cache_Control": "max-age=0, must-revalidate"}, HOUR),
        ({"Cache_Control": "No-Store"}, HOUR),
        ({"Cache_Control": "max-age=x"}, DAY),
    ],
)
def test_cache_control_shortens_that_within_bounds(headers: dict[str, str], lifetime_s: float) -> None:
    assert judge(None, answer(200, RULES, **headers)).expires == NOW + lifetime_s
    config = FetchConfig(robots_ttl_s=60)
    assert judge_robots(None, answer(200, RULES, **headers), NOW, config, PACE).expires == NOW + 60


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451, 301, 308])
def test_what_is_not_there_allows_all_and_forgets_the_last_copy(status: int) -> None:
    assert judge(GOOD, answer(status, b"User-agent: *\nDisallow: /")) == RobotsState(
        "allow", NOW, NOW + DAY, reason=f"status-{status}"
    )


@pytest.mark.parametrize("exchange", [answer(500), answer(503), answer(304), answer(999), TIMEOUT])
def test_what_cannot_be_had_disallows_all(exchange: Capture | Failure) -> None:
    state = judge(None, exchange)
    assert (state.rule, state.errors, state.fetched) == ("unreachable", 1, NOW)
    assert NOW < state.expires < NOW + HOUR
    # That the file was not there yesterday is no copy of it.
    assert judge(judge(None, answer(404)), exchange).rule == "unreachable"


@pytest.mark.parametrize("exchange", [answer(500), answer(200, b"User-agent: x", truncated="disconnect"), TIMEOUT])
def test_the_last_good_copy_is_used_while_the_server_fails(exchange: Capture | Failure) -> None:
    state = GOOD
    for errors in range(1, 40):
        now = NOW + errors * DAY
        state = judge(state, exchange, now)
        assert (state.rule, state.body, state.body_fetched, state.errors) == ("rules", RULES, NOW, errors)
        assert state.fetched == NOW + DAY
        assert state.expires == now + HOUR, "after the back-off of its host alone, the copy would never be used"
    config = FetchConfig(robots_ttl_s=60)
    assert judge_robots(GOOD, exchange, NOW, config, PACE).expires == NOW + 60
    assert judge(state, answer(200, b"")).body == b""


def test_an_empty_file_is_a_copy_too() -> None:
    assert judge(judge(None, answer(204)), TIMEOUT).rule == "rules"


def test_waits_grow_and_retry_after_is_heeded() -> None:
    state, waits = None, []
    for _ in range(12):
        state = judge(state, TIMEOUT)
        waits.append(state.expires - NOW)
    assert waits[:3] == [10.0, 20.0, 40.0]
    assert waits[-1] == HOUR
    assert judge(None, answer(503, Retry_After="120")).expires == NOW + 120
    assert judge(None, answer(503, Retry_After=formatdate(NOW + 300, usegmt=True))).expires == NOW + 300
    assert judge(None, answer(503, Retry_After="9" * 400)).expires == NOW + DAY
    for nonsense in ("soon", "-5", "Mon, 99 Zzz 2023", "Thu, 01 Jan 1970 00:00:00 GMT"):
        assert judge(None, answer(503, Retry_After=nonsense)).expires == NOW + 10


def test_the_settings_say_how_long_waits_are() -> None:
    pace = FrontierConfig(backoff_s=0.5, max_backoff_s=1.5, max_wait_s=30)
    state, waits = None, []
    for _ in range(3):
        state = judge_robots(state, TIMEOUT, NOW, CONFIG, pace)
        waits.append(state.expires - NOW)
    assert waits == [0.5, 1.0, 1.5]
    assert judge_robots(None, answer(503, Retry_After="120"), NOW, CONFIG, pace).expires == NOW + 30


@pytest.mark.parametrize(("busy_s", "wait_s"), [(700.0, 700.0), (0.1, 10.0), (1e9, DAY)])
def test_that_a_host_must_wait_is_no_failure(busy_s: float, wait_s: float) -> None:
    busy = Failure("https://example.org/robots.txt", "busy")
    state, expiries = None, set()
    for _ in range(20):
        state = judge_robots(state, busy, NOW, CONFIG, PACE, busy_s)
        assert (state.rule, state.errors) == ("unreachable", 0)
        assert wait_s <= state.expires - NOW <= wait_s + 10
        expiries.add(state.expires)
    assert len(expiries) > 1, "two that lead to each other would meet again each time"
    copy = judge_robots(GOOD, busy, NOW, CONFIG, PACE, busy_s)
    assert (copy.rule, copy.body, copy.errors) == ("rules", RULES, 0)
    assert judge_robots(judge(None, TIMEOUT), busy, NOW, CONFIG, PACE, busy_s).errors == 1


def test_the_long_time_is_no_longer_when_the_clock_was_set_back() -> None:
    state = judge(None, TIMEOUT, NOW + 300 * DAY)
    for days in range(31):
        state = judge(state, TIMEOUT, NOW + days * DAY)
    assert state.rule == "allow"


def test_too_many_requests_is_a_wait_and_no_permission() -> None:
    state = judge(None, answer(429, Retry_After="600"))
    assert (state.rule, state.expires) == ("unreachable", NOW + 600)
    # Not even a copy at hand is leave to go on now; it is kept for later.
    state = judge(GOOD, answer(429))
    assert (state.rule, state.body, state.body_fetched, state.expires) == ("unreachable", RULES, NOW, NOW + 10)
    assert judge(state, TIMEOUT).rule == "rules"


def test_after_a_month_of_failures_a_file_counts_as_not_there() -> None:
    state = judge(None, TIMEOUT)
    for day in range(1, 30):
        state = judge(state, TIMEOUT, NOW + day * DAY)
        assert state.rule == "unreachable"
    assert judge(state, TIMEOUT, NOW + 30 * DAY).rule == "allow"
    # A month in which nobody asked is none.
    assert judge(judge(None, TIMEOUT), TIMEOUT, NOW + 31 * DAY).rule == "unreachable"
    assert judge(judge(None, answer(404)), TIMEOUT, NOW + 31 * DAY).rule == "unreachable"


def test_a_cut_answer_loses_the_line_that_was_cut() -> None:
    assert judge(None, answer(200, RULES + b"Disallow: /", truncated="length")).body == RULES
    long = judge(None, answer(200, RULES * 30_000))
    assert MAX_ROBOTS_BYTES - len(RULES) < len(long.body) <= MAX_ROBOTS_BYTES
    assert long.body.endswith(b"\n")


def test_the_documented_example_is_true() -> None:
    text = (Path(__file__).parents[2] / "docs/robots.md").read_text()
    example = text.partition("```python\n")[2].partition("```")[0]
    names: dict[str, object] = {}
    for line in example.splitlines():
        source, mark, shown = line.partition("  # ")
        if mark:
            assert repr(eval(source, names)) == shown
        else:
            exec(source, names)
