"""Explanations of URLs in words: facts of the frontier enter; a sentence, or a few aligned lines, leave."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from msgspec import Struct

from rdfspider.codes import PREREQUISITE_REASONS, FailureCode, Reason, RobotsRule, Truncation
from rdfspider.crawl.reports.frontiers import write_wait
from rdfspider.frontier.entries import HostEntry, HostStatus, UrlEntry
from rdfspider.records import Esteem, RobotsState
from rdfspider.ways import Way

_FAILURES: Mapping[str, str] = {
    FailureCode.BUSY: "there was no room for it here",
    FailureCode.CONNECT_TIMEOUT: "no connection in time",
    FailureCode.DNS: "the name of its host could not be looked up",
    FailureCode.FIRST_BYTE_TIMEOUT: "the server said nothing in time",
    FailureCode.NXDOMAIN: "there is no such host",
    FailureCode.PRIVATE: "its host is on a private network (see --allow-private)",
    FailureCode.PROTOCOL: "what came is not sound HTTP",
    FailureCode.REFUSED: "the connection was refused",
    FailureCode.RESET: "the connection ended before the answer",
    FailureCode.SHORTAGE: "this machine had no descriptor, network or name server for it",
    FailureCode.SLOW: "the answer came too slowly",
    FailureCode.TAKEN_BACK: "its server was slow while others waited for the connection",
    FailureCode.TIMEOUT: "the answer took too long",
    FailureCode.TLS: "no TLS connection that can be trusted",
    FailureCode.TOO_LARGE: "the head of the answer is too long",
    Reason.TOO_MANY_REDIRECTS: "too many redirects lead to it",
    FailureCode.UNREACHABLE: "there is no way to its host",
    FailureCode.UNSUPPORTED: "no such address can be asked",
}
_ANSWERS: Mapping[str, str] = {
    Reason.UNCHANGED: "fetched again, and not modified since (304)",
    Reason.GONE: "fetched: it is gone for good (410)",
    Reason.SOFT_404: "fetched, but it says that nothing is there (soft 404)",
}
_CUTS: Mapping[str, str] = {
    Truncation.LENGTH: "it is longer than may be taken",
    Truncation.TIME: "it took too long",
    Truncation.DISCONNECT: "the connection ended before it did",
    Truncation.UNWANTED: "its type is none that is read",
}
_STATES: Mapping[str, str] = {
    HostStatus.GIVEN_UP: "its host is given up",
    HostStatus.NO_ADDRESS: "its host has no address",
    HostStatus.OVER_BUDGET: "its host is over budget",
}
# A shorter wait is over before anyone reads it.
_MIN_WAIT_S = 0.05
_LABEL_CHARS = 11


class Step(Struct, frozen=True):
    """A page that led to the next one."""

    url: str
    found_as: str
    """How this page itself was found."""


class Explanation(Struct, frozen=True, kw_only=True):
    """What happened to a URL and why. Times are seconds since 1970, or 0 if there is none."""

    url: str
    """In normal form."""
    answer: str
    """The explanation in one sentence."""
    notes: tuple[str, ...] = ()
    """How the given URL was interpreted, if that is not obvious."""
    state: str = "unknown"
    """unknown (it was never seen), scheduled, done, failed or disallowed."""
    reason: str = ""
    """The reason of the last verdict: fetched, redirect, status-404, timeout, disallowed, …"""
    status: int = 0
    error: str = ""
    rule: str = ""
    """What decided, in words: a line of robots.txt, a filter, a trap."""
    attempts: int = 0
    """Failed attempts."""
    decided: float = 0.0
    """When the last verdict was recorded."""
    found_as: str = ""
    depth: int | None = None
    """Links from a seed; None for a URL that was never seen or was imported."""
    way: tuple[Step, ...] = ()
    """The pages that led to it, from the one that it was found on back to the seed; at most 20."""
    redirects: tuple[str, ...] = ()
    """The URLs that redirected to it, in order."""
    target: str = ""
    """The target of its redirect, if the archive has it."""
    truncated: str = ""
    """Why its body is incomplete: length, time, disconnect or unwanted; empty if it is complete, or not in the archive."""
    directives: str = ""
    """The robots directives of its last response, with their sources: `noarchive (X-Robots-Tag)`."""
    captured: float = 0.0
    """When the archived body was fetched, or an imported page was captured; 0 if the archive has none."""
    quads: int = 0
    digest: str = ""
    duplicate: str = ""
    """How it duplicates another page: exact, near, canonical or soft-404."""
    original: str = ""
    """The URL of that page."""
    segment: str = ""
    """The WARC file with its outcome, as a path in the crawl's folder."""
    offset: int = 0
    next_visit: float = 0.0
    priority: int | None = None
    """Its priority in the queue of its host, from 0 (first) to 7; None if it is not queued."""
    before: int | None = None
    """About how many URLs of its host come before it."""
    robots: str = ""
    """What the stored robots.txt says about it, in words."""
    refusal: str = ""
    """Why scope, trap rules or filters exclude it now, found as it was, or by a plain link if never seen; empty if none does."""
    trap: str = ""
    """Why URLs like it are now rarely requested; empty if they are requested normally."""
    esteem: str = ""
    """What the link graph says of it and its site, in words; empty if nothing that changes the order."""
    host: HostEntry | None = None
    """What is known about its host; None if nothing is."""
    crawl: str = ""
    """The state of the crawl."""


@dataclass(frozen=True, slots=True)
class Obstacles:
    """What may prevent or delay the fetch of a URL, in words; empty or None if nothing does."""

    refusal: str = ""
    """Scope, a filter or a trap rule excludes it."""
    prohibition: str = ""
    """Its robots.txt forbids it."""
    trap: str = ""
    """URLs like it gave nothing new."""
    budget: str = ""
    """A limit of pages, bytes or time is reached."""
    halt: str = ""
    """The crawl or the URL's shard fetches nothing now."""
    host: HostEntry | None = None
    robots: RobotsState | None = None


def answer_done(entry: UrlEntry, target: str, truncated: str, unread: str = "") -> str:
    """Describe a URL with a final response; its target, why it is truncated, and why nothing could be extracted from it come from
    the archive."""
    if entry.reason == Reason.FETCHED and unread:
        sentence = f"fetched, but nothing could be extracted: {unread}"
    elif entry.reason == Reason.FETCHED:
        sentence = f"fetched: {_count(entry.quads, 'statement')}"
    elif entry.reason == Reason.IMPORTED:
        captured = f", captured {datetime.fromtimestamp(entry.captured, UTC):%Y-%m-%d}" if entry.captured else ""
        sentence = f"imported: {_count(entry.quads, 'statement')}{captured}"
    elif entry.reason == Reason.REDIRECT:
        sentence = f"fetched: it redirects ({entry.status}){f' to {target}' if target else ''}"
    elif entry.reason == Reason.NOINDEX:
        came = "imported" if entry.found_as == Way.IMPORT else "fetched"
        sentence = f"{came}, but nothing of it is kept: it asks for {entry.rule or entry.reason}"
    elif entry.reason in PREREQUISITE_REASONS:
        purpose = entry.reason.removeprefix("no-")
        vain = "" if purpose == entry.reason else f", which it is not ({entry.status})"
        sentence = f"fetched for the crawl itself, as a {purpose}{vain}"
    else:
        sentence = _ANSWERS.get(entry.reason, f"fetched: the server answered {entry.status or entry.reason}")
    if entry.rule and entry.reason != Reason.NOINDEX:
        sentence += f" ({entry.rule})"
    if entry.duplicate and entry.reason != Reason.SOFT_404:
        sentence += f"; a duplicate ({entry.duplicate}){f' of {entry.original}' if entry.original else ''}"
    if truncated:
        sentence += f"; it is not whole: {_CUTS.get(truncated, truncated)}"
    return sentence


def explain_failure(code: str) -> str:
    """Explain the code of a failure."""
    return _FAILURES.get(code, code)


def answer_failed(entry: UrlEntry) -> str:
    """Describe a URL that failed for good, by a failure or a server error."""
    tries = f", after {_count(entry.attempts, 'try', 'tries')}" if entry.attempts else ""
    why = f"the server answered {entry.status}" if entry.reason.startswith("status-") else _FAILURES.get(entry.reason)
    return f"not fetched: {why or entry.reason}{tries}{f' ({entry.rule})' if entry.rule else ''}"


def answer_refused(entry: UrlEntry, origin: str, line: str) -> str:
    """Describe a URL that was not requested because of robots.txt or another rule; `line` is that of the stored robots.txt."""
    if entry.reason != Reason.DISALLOWED or (entry.rule and not entry.rule.startswith("Disallow")):
        is_told = not entry.rule or entry.reason in (Reason.FILTERED, Reason.DISALLOWED)
        return f"not fetched: {entry.rule or entry.reason if is_told else f'{entry.reason}: {entry.rule}'}"
    rule = entry.rule or (line if line.startswith("Disallow") else "")
    return f"not fetched: robots.txt of {origin} {f'says `{rule}`' if rule else 'does not allow it'}"


def answer_scheduled(entry: UrlEntry, obstacles: Obstacles, before: int | None, now: float) -> str:
    """Describe a URL in a queue, with `before` URLs of its host in front: what will prevent its fetch, else what it waits for."""
    host, robots = obstacles.host, obstacles.robots
    if excluded := obstacles.refusal or obstacles.prohibition:
        return f"scheduled, but will not be fetched: {excluded}"
    if obstacles.trap:
        return f"scheduled, but will hardly be fetched: trap: {obstacles.trap}"
    if obstacles.budget:
        return f"scheduled, but not fetched while {obstacles.budget}"
    tried = f", tried {_count(entry.attempts, 'time')} in vain ({entry.reason})" if entry.attempts else ""
    if entry.reason == FailureCode.TAKEN_BACK:
        tried += f", to be asked again in the slow lane ({_FAILURES[entry.reason]})"
    elif entry.reason == Reason.HEAVY:
        tried += ", to be fetched again (too many pages that take long to extract were waiting)"
    elif entry.reason == Reason.LOST:
        tried = " again, as the archive has lost its records"
    if obstacles.halt:
        return f"scheduled{tried}: {obstacles.halt}"
    if host and host.status in _STATES:
        wait = f", for another {write_wait(host.wait_s)}" if host.wait_s else ""
        return f"scheduled{tried}: {_STATES[host.status]}{wait}: {_explain_status(host)}"
    if robots and robots.rule == RobotsRule.UNREACHABLE and robots.expires > now:
        return (
            f"scheduled{tried}: its robots.txt cannot be had ({robots.reason}), "
            f"and is asked for again in {write_wait(robots.expires - now)}"
        )
    is_waiting = host is not None and host.wait_s >= _MIN_WAIT_S
    wait = f"is left alone for another {write_wait(host.wait_s)} ({host.reason})" if host and is_waiting else ""
    if before:
        first = f"about {_count(before, 'URL')} of its host come{'s' * (before == 1)} first"
        return f"scheduled{tried}: {first}{f', and the host {wait}' if wait else ''}"
    if wait:
        return f"scheduled{tried}: its host {wait}"
    return f"scheduled{tried}: it is the next of its host{f'; {host.reason}' if host and host.reason else ''}"


def answer_unknown(obstacles: Obstacles, depth: int, *, is_seed: bool) -> str:
    """Describe what would happen to a URL that was never seen, if a page had a plain link to it; `depth` is the crawl's limit."""
    host = obstacles.host
    if is_seed:
        return "never seen, but it is a seed: it is scheduled as soon as the crawl runs"
    if obstacles.refusal:
        return f"never seen; a plain link to it would not be followed: {obstacles.refusal}"
    if obstacles.prohibition:
        return f"never seen; by a plain link it would not be fetched: {obstacles.prohibition}"
    if obstacles.trap:
        return f"never seen; by a plain link it would be scheduled, but hardly fetched: trap: {obstacles.trap}"
    if obstacles.budget:
        return f"never seen; by a plain link it would be scheduled, but not fetched while {obstacles.budget}"
    if host and host.status in _STATES:
        state = f"{_STATES[host.status]}: {_explain_status(host)}"
        return f"never seen; by a plain link it would be scheduled, but not fetched while {state}"
    page = f"a page that is less than {_count(depth, 'link')} from a seed" if depth else "a page"
    return f"never seen; it would be scheduled as soon as {page} links to it without nofollow"


def write_robots(state: RobotsState | None, line: str, now: float) -> str:
    """Describe the state of a robots.txt, and the line that applies to a URL."""
    if state is None:
        return "not known yet"
    if state.rule == RobotsRule.UNREACHABLE:
        left = write_wait(state.expires - now) if state.expires > now else "a moment"
        return f"cannot be had ({state.reason}), so nothing may be fetched; asked for again in {left}"
    if state.rule == RobotsRule.ALLOW:
        return f"there is none ({state.reason}), so it is allowed"
    return line or "allowed: no line is about it"


def write_esteem(esteem: Esteem, host: str, url: str) -> str:
    """Tell what the link graph says of a URL and its site."""
    told = []
    if host in esteem.hosts:
        told.append(f"its host comes {_count(esteem.hosts[host], 'step')} later: it repeats other hosts")
    elif esteem.step > 0:
        told.append(
            f"its site comes {_count(esteem.step, 'step')} later: hardly any site that seeds lead to links to it"
        )
    elif esteem.step < 0:
        told.append(f"its site comes {_count(-esteem.step, 'step')} sooner: sites that seeds lead to link to it")
    if url in esteem.pages:
        told.append("it comes sooner than other pages of its host: several sites link to it")
    return "; ".join(told)


def write_explanation(found: Explanation, now: float) -> list[str]:
    """Write the answer, and below it everything that is known, one fact per line."""
    return [found.answer, *(f"{label:<{_LABEL_CHARS}}{text}" for label, text in _write_facts(found, now))]


def _write_facts(found: Explanation, now: float) -> Iterator[tuple[str, str]]:
    yield "URL", found.url
    yield from (("", note) for note in found.notes)
    state = found.state + (f", {found.reason}" if found.reason and found.reason != found.state else "")
    yield "state", state + (f", {_write_time(found.decided, now)}" if found.decided else "")
    if found.attempts:
        yield "tries", f"{found.attempts} in vain"
    if found.found_as:
        distance = "" if found.depth is None else f", {_count(found.depth, 'link')} from a seed"
        yield "found as", found.found_as + distance
    for label, step in zip(("found on", *("" for _ in found.way)), found.way, strict=False):
        yield label, f"{step.url} ({step.found_as})"
    for label, url in zip(("redirects", *("" for _ in found.redirects)), found.redirects, strict=False):
        yield label, url
    if found.captured:
        statements = _count(found.quads, "statement")
        yield "captured", ", ".join(filter(None, (_write_time(found.captured, now), statements, found.digest)))
    if found.segment:
        yield "archive", f"{found.segment}, from byte {found.offset:,}"
    if found.next_visit:
        yield "next visit", _write_time(found.next_visit, now)
    if found.priority is not None and found.before is not None:
        yield "queue", f"priority {found.priority}, about {_count(found.before, 'URL')} of its host before it"
    yield "robots.txt", found.robots
    if found.refusal:
        yield "scope", f"links to it are not followed now: {found.refusal}"
    if found.trap:
        yield "trap", found.trap
    if found.esteem:
        yield "esteem", found.esteem
    if found.host:
        yield "host", _write_host(found.host)
    yield "crawl", found.crawl


def _explain_status(host: HostEntry) -> str:
    return host.reason.removeprefix(f"{host.status}: ")


def _write_host(host: HostEntry) -> str:
    wait = f"waits {write_wait(host.wait_s)}" if host.wait_s else ""
    state = ": ".join(filter(None, (wait, host.reason)))
    counts = f"{_count(host.pages, 'page')}, {_count(host.failed, 'error')}, {host.queued:,} to fetch"
    return f"{host.host}, {counts}{f'; {state}' if state else ''}"


def _write_time(moment: float, now: float) -> str:
    text = f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S} UTC"
    return f"{text} ({write_wait(now - moment)} ago)" if moment <= now else f"{text} (in {write_wait(moment - now)})"


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
