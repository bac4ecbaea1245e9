"""The bytes of a robots.txt enter, whether a URL may be fetched leaves; it also judges the exchange for a robots.txt.

Implements RFC 9309: `RobotsTxt` its section 2.2, `judge_robots` its sections 2.3 to 2.5. Every input gets an answer: an
unknown line is skipped and does not end its group.
"""

import random
import re
from collections import OrderedDict
from dataclasses import dataclass

from rdfspider import __version__
from rdfspider.codes import FailureCode, RobotsRule, Truncation
from rdfspider.config import FetchConfig, FrontierConfig
from rdfspider.fetch.robots_rules import Rule, Ruleset, read_target
from rdfspider.pace import backoff_gap_s, read_retry_after
from rdfspider.records import Capture, Failure, Lease, RobotsState

MAX_ROBOTS_BYTES = 500 * 1024
"""How much of a robots.txt is read and fetched: the minimum that RFC 9309 requires."""

# Line names, including common misspellings whose meaning is clear.
_KEYS = {
    b"user-agent": "agent",
    b"useragent": "agent",
    b"user agent": "agent",
    b"allow": "allow",
    b"disallow": "disallow",
    b"dissallow": "disallow",
    b"dissalow": "disallow",
    b"disalow": "disallow",
    b"crawl-delay": "delay",
    b"crawldelay": "delay",
    b"sitemap": "sitemap",
    b"site-map": "sitemap",
}
_NAME = re.compile(rb"[A-Za-z_\-]+")
_ALL = re.compile(rb"\*(?:\s|$)")
_PRODUCT = re.compile(r"\s*(?:Mozilla/\S+\s+\(compatible;\s*)?([^\s/;()]*)", re.IGNORECASE)
_DELAY = re.compile(rb"\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}")
_MAX_AGE = re.compile(r"max-age\s*=\s*\"?(\d{1,9})", re.IGNORECASE)
_SHOWN_CHARS = 200

# The shortest lifetime: frameworks send `no-cache` and `max-age=0` with everything, but nobody wants robots.txt requested
# that often. After a failure, the last good copy is also used for this long before the next attempt.
_MIN_LIFETIME_S = 3600.0
# RFC 9309, 2.3.1.4: after this time, and this many failures, an unreachable file counts as unavailable.
_LONG_TIME_S = 30 * 86_400.0
_MANY_ERRORS = 10
PRODUCT = "rdfspider"
"""This crawler's product token in robots.txt files."""
# A parsed file takes about ten times its length; nearly all files are smaller than 4 KB.
_KEPT_BYTES = 4 * 1024 * 1024
_LEAST_BYTES = 1024


class RobotsTxt:
    """A parsed robots.txt. `agent` is a crawler's product token or its whole User-Agent header."""

    def __init__(self, body: bytes) -> None:
        self._sections: dict[str, list[_Section]] = {}
        self._rulesets: dict[str, Ruleset] = {}
        sitemaps: dict[str, None] = {}
        self._read(_to_utf8(_cut(body)), sitemaps)
        self.sitemaps: tuple[str, ...] = tuple(sitemaps)
        """The values of all sitemap lines, as written; they may be relative."""

    def allows(self, url: str, agent: str) -> bool:
        """Whether the crawler may fetch the URL; only its path and query matter."""
        rule = self._find_rule(url, agent)
        return rule is None or rule.allows

    def rule_for(self, url: str, agent: str) -> str:
        """The line that decides on the URL; empty if none does, so it is allowed."""
        rule = self._find_rule(url, agent)
        if rule is None:
            return ""
        value = "".join(shown for shown in rule.value.decode("utf-8", "replace") if shown.isprintable())
        return f"{'Allow' if rule.allows else 'Disallow'}: {value[:_SHOWN_CHARS]}"

    def crawl_delay(self, agent: str) -> float | None:
        """The Crawl-delay for the crawler in seconds; None if there is none."""
        delays = [section.delay_s for section in self._sections_for(agent) if section.delay_s is not None]
        return max(delays, default=None)

    def _find_rule(self, url: str, agent: str) -> Rule | None:
        rules = self._rulesets.get(agent)
        if rules is None:
            # Groups of one name are merged (2.2.1). Sections of one group share their list; both may name the crawler.
            lists = {id(section.rules): section.rules for section in self._sections_for(agent)}
            rules = self._rulesets[agent] = Ruleset(line for lines in lists.values() for line in lines)
        target = read_target(url)
        # 2.2.2: "The /robots.txt URI is implicitly allowed."
        return None if target == "/robots.txt" else rules.find_rule(target)

    def _sections_for(self, agent: str) -> "list[_Section]":
        match = _PRODUCT.match(agent)
        name = match[1].lower() if match else ""
        return self._sections.get(name) or self._sections.get("*", [])

    def _read(self, body: bytes, sitemaps: dict[str, None]) -> None:
        section, after = _Section([]), "allow"
        for line in body.splitlines():
            key, value = _read_line(line)
            if key == "agent":
                if after in ("allow", "disallow"):
                    section = _Section([])
                elif after == "delay":
                    # 2.2.4: other records do not end a group. A delay is for the agents before it, rules are for all.
                    section = _Section(section.rules)
                if (name := _read_name(value)) is not None:
                    known = self._sections.setdefault(name, [])
                    if not known or known[-1] is not section:
                        known.append(section)
            elif key in ("allow", "disallow"):
                if value:
                    section.rules.append((key == "allow", value))
            elif key == "delay":
                section.add_delay(value)
            elif key == "sitemap" and value:
                sitemaps[value.decode("utf-8", "replace")] = None
            if key and key != "sitemap" and not (key == "delay" and after in ("allow", "disallow")):
                after = key


@dataclass(slots=True, eq=False)
class _Section:
    """The lines after a run of user-agent lines; sections of one group share the same list of rules."""

    rules: list[tuple[bool, bytes]]
    delay_s: float | None = None

    def add_delay(self, value: bytes) -> None:
        """Keep the longest delay; ignore a value that is not a plain number."""
        if _DELAY.fullmatch(value):
            self.delay_s = max(float(value), self.delay_s or 0.0)


def judge_robots(
    previous: RobotsState | None,
    exchange: Capture | Failure,
    now: float,
    config: FetchConfig,
    pace: FrontierConfig,
    busy_s: float = 0.0,
) -> RobotsState:
    """Return the state of an origin's robots.txt after a request for it, whose redirects were already followed.

    `pace` sets the wait after a file that cannot be fetched, as for any other failing server. `busy_s` is the wait for a host
    that a redirect leads to and that must not be asked yet.
    """
    if isinstance(exchange, Failure):
        if exchange.code == FailureCode.UNSUPPORTED:
            # No request is possible there; a page fails permanently for the same reason.
            return RobotsState(RobotsRule.ALLOW, now, now + config.robots_ttl_s, reason=exchange.code)
        return _judge_unreachable(previous, exchange.code, now, busy_s, pace, config)
    status, reason = exchange.status, f"status-{exchange.status}"
    if 200 <= status < 300:
        if exchange.truncated in (Truncation.TIME, Truncation.DISCONNECT):
            # The missing part may contain the rule that matters.
            return _judge_unreachable(previous, exchange.truncated, now, 0.0, pace, config)
        body = _cut(exchange.page.body, is_whole=exchange.truncated != Truncation.LENGTH)
        lifetime_s = _read_lifetime(exchange, config)
        return RobotsState(RobotsRule.RULES, now, now + lifetime_s, body, now, reason)
    if status == 429:
        # As a 4xx status it would mean "unavailable", which allows everything; but 429 means: not now.
        retry_after_s = read_retry_after(exchange, now)
        return _judge_unreachable(previous, reason, now, retry_after_s, pace, config, is_refusal=True)
    if 300 <= status < 500 and status != 304:
        # 2.3.1.3, and 2.3.1.2 for a redirect without a target or in a chain that is too long.
        return RobotsState(RobotsRule.ALLOW, now, now + _read_lifetime(exchange, config), reason=reason)
    return _judge_unreachable(previous, reason, now, read_retry_after(exchange, now), pace, config)


class RecentRules:
    """A cache of parsed rules, by origin, least recently used dropped first."""

    def __init__(self) -> None:
        self._rules: OrderedDict[str, tuple[float, int, RobotsTxt]] = OrderedDict()
        self._kept_bytes = 0

    def allows(self, lease: Lease) -> bool:
        """Whether the rules of the origin's robots.txt allow the lease's URL."""
        rules = self._find(lease)
        return rules is None or rules.allows(lease.url, PRODUCT)

    def explain(self, lease: Lease) -> str:
        """The line that decides on the lease's URL; empty if none does."""
        rules = self._find(lease)
        return rules.rule_for(lease.url, PRODUCT) if rules else ""

    def list_sitemaps(self, lease: Lease) -> tuple[str, ...]:
        """The sitemaps in the robots.txt of the lease's origin, as written."""
        rules = self._find(lease)
        return rules.sitemaps if rules else ()

    def _find(self, lease: Lease) -> RobotsTxt | None:
        state = lease.robots
        if state is None or state.rule != RobotsRule.RULES:
            return None
        origin = lease.url[: lease.url.find("/", 8)]
        known = self._rules.get(origin)
        if known is None or known[0] != state.body_fetched:
            self._drop(origin)
            known = (state.body_fetched, len(state.body) + _LEAST_BYTES, RobotsTxt(state.body))
            self._rules[origin] = known
            self._kept_bytes += known[1]
            while self._kept_bytes > _KEPT_BYTES and len(self._rules) > 1:
                self._drop(next(iter(self._rules)))
        self._rules.move_to_end(origin)
        return known[2]

    def _drop(self, origin: str) -> None:
        known = self._rules.pop(origin, None)
        if known is not None:
            self._kept_bytes -= known[1]


def make_user_agent(contact: str) -> str:
    """The User-Agent header: the crawler's name, and the contact of its owner."""
    return f"{PRODUCT}/{__version__} (+{contact})" if contact else f"{PRODUCT}/{__version__}"


def _judge_unreachable(
    previous: RobotsState | None,
    reason: str,
    now: float,
    retry_after_s: float,
    pace: FrontierConfig,
    config: FetchConfig,
    *,
    is_refusal: bool = False,
) -> RobotsState:
    """2.3.1.4: complete disallow; but 2.4 permits using the last good copy while the file is unreachable.

    If the server refuses requests for now (429), the copy is kept for later. If we could not ask, that counts as no failure.
    """
    is_busy = reason == FailureCode.BUSY
    errors = (previous.errors if previous else 0) + (not is_busy)
    # The clock may have been set back.
    since = min(previous.fetched, now) if previous and previous.errors else now
    wait_s = backoff_gap_s(max(errors, 1), retry_after_s, pace)
    if is_busy:
        # Otherwise two hosts whose robots.txt redirect to each other would block each other every time.
        wait_s += random.uniform(0.0, pace.backoff_s)
    body, body_fetched = (previous.body, previous.body_fetched) if previous else (b"", 0.0)
    if is_refusal:
        return RobotsState(RobotsRule.UNREACHABLE, since, now + wait_s, body, body_fetched, reason, errors)
    if body_fetched:
        # If the file were requested as soon as its host may be asked again, the copy would never be used.
        lifetime_s = max(wait_s, min(_MIN_LIFETIME_S, config.robots_ttl_s))
        return RobotsState(RobotsRule.RULES, since, now + lifetime_s, body, body_fetched, reason, errors)
    if now - since >= _LONG_TIME_S and errors >= _MANY_ERRORS:
        return RobotsState(RobotsRule.ALLOW, since, now + config.robots_ttl_s, reason=reason, errors=errors)
    return RobotsState(RobotsRule.UNREACHABLE, since, now + wait_s, reason=reason, errors=errors)


def _read_lifetime(capture: Capture, config: FetchConfig) -> float:
    """2.4: how long the response is used, in seconds: by its Cache-Control, within bounds."""
    control = capture.header("cache-control")
    match = _MAX_AGE.search(control)
    if match is None and "no-cache" not in control.lower() and "no-store" not in control.lower():
        return config.robots_ttl_s
    age = capture.header("age").strip()
    fresh_s = float(match[1]) if match else 0.0
    if age.isascii() and age.isdigit() and len(age) < 10:
        fresh_s -= int(age)
    return min(max(fresh_s, _MIN_LIFETIME_S), config.robots_ttl_s)


def _cut(body: bytes, is_whole: bool = True) -> bytes:
    """The part that is read, without an incomplete last line: the missing rest of `Disallow: /a` may matter."""
    if is_whole and len(body) <= MAX_ROBOTS_BYTES:
        return body
    body = body[:MAX_ROBOTS_BYTES]
    return body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]


def _to_utf8(body: bytes) -> bytes:
    """Remove a BOM and convert UTF-16, which some editors write; a zero byte in the first character also reveals it."""
    if body.startswith(b"\xef\xbb\xbf"):
        return body[3:]
    charset = ""
    if body.startswith(b"\xff\xfe") or (body[1:2] == b"\0" and body[:1] != b"\0"):
        charset = "utf-16-le"
    elif body.startswith(b"\xfe\xff") or (body[:1] == b"\0" and body[1:2] not in (b"\0", b"")):
        charset = "utf-16-be"
    if not charset:
        return body
    return body.decode(charset, "ignore").removeprefix("\ufeff").encode("utf-8", "ignore")


def _read_line(line: bytes) -> tuple[str, bytes]:
    """Return the kind of a line, empty for lines without meaning, and its value."""
    line = line.partition(b"#")[0]
    key, mark, value = line.partition(b":")
    if not mark:
        words = line.split()
        if len(words) != 2:
            return "", b""
        key, value = words
    return _KEYS.get(key.strip().lower(), ""), value.strip()


def _read_name(value: bytes) -> str | None:
    """The product token of a user-agent line, which is letters, `_` and `-` up to any other character (2.2.1); or `*`."""
    if _ALL.match(value):
        return "*"
    match = _NAME.match(value)
    return match[0].decode().lower() if match else None
