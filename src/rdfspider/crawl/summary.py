"""The state of a crawl in words: a Status enters, lines for the terminal leave."""

import glob
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from rdfspider.crawl.budgets import BUDGETS, EndReason
from rdfspider.crawl.folder import DOCUMENTS, read_first_seed
from rdfspider.crawl.messages import LinksTo, RunState
from rdfspider.crawl.status import GONE, Status, Totals, count_pages, find_late_links, list_places
from rdfspider.index.status import IndexState, IndexStatus
from rdfspider.vocabulary.names import shorten_iri

_COUNTS_SHOWN = 8
_PROBLEMS_SHOWN = 5
_NAME_CHARS = 60
_LATE_SHOWN, _WAITING_SHOWN, _PAIRS_SHOWN = 5, 10, 12
# A URL to paste should fit into a line.
_URL_CHARS = 100
# A shard sends a beat every second; after this long without one it is busy, stopped, or being restarted.
_SILENT_S = 5.0
_WORD = re.compile(r"[^\W\d_]{3,30}")
_PAGES = "shards/*/warc/*-pages-*.warc.gz"

REASONS: Mapping[str, str] = {
    EndReason.FINISHED: "nothing is left to fetch",
    **{budget.reason: f"the limit of {budget.reason} is reached" for budget in BUDGETS},
    EndReason.ASKED: "asked to stop",
    EndReason.HALTED: "asked to stop at once",
    EndReason.INTERRUPTED: "interrupted",
    EndReason.TERMINATED: "terminated",
    GONE: "its process is gone",
}
"""Why a crawl no longer runs, by `Status.reason`; any other reason is the error that ended it."""


def write_line(status: Status) -> str:
    """Describe the progress in one line."""
    totals = status.totals
    parts = (
        write_duration(status.run_s),
        f"{totals.pages:,} pages",
        f"{status.pages_s:.1f} pages/s",
        f"{status.bytes_s / 1e6:.2f} MB/s",
        f"known {totals.known:,}",
        f"queue {totals.scheduled:,}",
        f"hosts {totals.hosts:,}",
        f"errors {sum(totals.errors.values()):,}{f' ({write_counts(totals.errors, 2)})' if totals.errors else ''}",
    )
    mark = "" if status.state == RunState.RUNNING else f"  {write_state(status)}"
    index = f"  {write_index(status.index)}" if status.index else ""
    backup = f"  {write_backup(status)}" if write_backup(status) else ""
    held = "".join(f"  shard {beat.shard} {beat.state}: {beat.reason}" for beat in status.shards if beat.reason)
    held += "".join(f"  shard {unheard.shard} not heard yet" for unheard in status.unheard[:_LATE_SHOWN])
    return "  ".join(parts) + index + backup + mark + held


def write_summary(status: Status) -> list[str]:
    """Describe the results of the crawl in a few lines: first of all runs, then of this one."""
    index = [f"index       {write_index(status.index).removeprefix('index ')}"] if status.index else []
    if status.state == RunState.NEW:
        return ["new: it has not run yet", *index]
    if status.state == RunState.UNKNOWN:
        # All counts would be 0.
        return [write_state(status), *index]
    totals = status.totals
    lines = [
        f"{write_state(status)}, after {write_duration(status.elapsed_s or status.run_s)}",
        _write_pages(totals),
        f"quads       {totals.quads:,}{f': {write_counts(totals.quads_by_syntax)}' if totals.quads_by_syntax else ''}",
    ]
    if totals.types:
        lines.append(f"types       {write_names(totals.types)}")
    if totals.properties:
        lines.append(f"properties  {write_names(totals.properties)}")
    if totals.problems:
        problems = write_counts(totals.problems, _PROBLEMS_SHOWN)
        lines.append(f"problems    {sum(totals.problems.values()):,}: {problems}")
    lines += [
        f"URLs        {totals.known:,} known: {totals.done:,} done, {totals.failed:,} failed{_write_failures(totals)}, "
        f"{totals.disallowed:,} disallowed{_write_refusals(totals)}, {totals.scheduled:,} to fetch{_write_waiting(totals)}",
        f"hosts       {totals.hosts:,}{f', {totals.given_up_hosts:,} given up' if totals.given_up_hosts else ''}",
    ]
    lines += index
    if backup := write_backup(status):
        lines.append(f"backup      {backup.removeprefix('backup ')}")
    if status.limits:
        lines.append(f"limits      {', '.join(f'{name} {limit:,.15g}' for name, limit in status.limits.items())}")
    if status.started:
        speed = count_pages(totals) / max(status.run_s, 1)
        lines.append(f"this run    {write_duration(status.run_s)}, {speed:.1f} pages/s")
    outcomes = (("answers", totals.statuses), ("errors", totals.errors), ("turned away", totals.turned_away))
    for name, counts in outcomes:
        if counts:
            besides = _write_prerequisites(totals) if name == "answers" else ""
            lines.append(f"  {name:<9} {sum(counts.values()):,}: {write_counts(counts)}{besides}")
    return lines


def write_index(index: IndexStatus) -> str:
    """Describe the progress of the index."""
    if not index.views and index.problem:
        # Nothing else is known.
        return f"index {index.problem}"
    parts = [f"index {index.pages:,} pages"]
    if index.entities:
        parts.append(f"{index.quads:,} quads, {index.entities:,} entities")
    if index.lag_s >= 1:
        parts.append(f"{index.lag_s:,.0f} s behind")
    elif index.behind_pages and not index.is_running:
        parts.append(f"about {index.behind_pages:,} pages behind")
    if index.problem:
        parts.append(f"{index.state}: {index.problem}" if index.state == IndexState.SUSPENDED else index.problem)
    return " · ".join(parts)


def write_backup(status: Status) -> str:
    """Describe the backup: the age of the oldest state of a shard, and why nothing can be sent; empty if there is no backup."""
    backups = [(beat.shard, beat.backup) for beat in status.shards if beat.backup is not None]
    if not backups:
        return ""
    oldest = min(state.taken for _, state in backups)
    age = f"{max(0.0, status.updated - oldest):,.0f} s old" if oldest else "not complete yet"
    problem = next((f", shard {shard} waits: {state.problem}" for shard, state in backups if state.problem), "")
    return f"backup {age}{problem}"


def write_place(status: Status, folder: Path) -> list[str]:
    """Write the crawl's folder, and up to three commands to try next."""
    lines = [f"folder      {folder}, {status.totals.archive_bytes / 1e6:,.1f} MB in WARC files"]
    for number, command in enumerate(_choose_commands(status, folder)):
        lines.append(f"{'' if number else 'try next':<11} {command}")
    return lines


def warn_of_nothing(status: Status) -> str:
    """Warn about a crawl that has ended without a single page; empty if there is nothing to warn about."""
    totals = status.totals
    if status.state != RunState.ENDED or totals.fetched_pages:
        return ""
    reasons = {**totals.statuses, **totals.errors}
    if totals.disallowed:
        reasons["disallowed"] = totals.disallowed
    if totals.pages and not reasons:
        # All its pages were imported, and there was nothing to fetch.
        return ""
    return f"not a single page could be fetched from any seed{f' ({write_counts(reasons)})' if reasons else ''}"


def warn_of_index(status: Status, folder: Path) -> str:
    """Warn about a crawl that has ended with an index that lacks some of its pages; empty if there is nothing to warn about."""
    incomplete = status.index.incomplete if status.index and status.state == RunState.ENDED else ""
    if not incomplete:
        return ""
    advice = "" if "`rdfspider " in incomplete else f"; `rdfspider index --dir {folder}` goes on when that is mended"
    return f"the index is not complete: {incomplete}{advice}"


def warn_of_links(status: Status) -> list[str]:
    """Warn about links between shards that wait for long, a sentence each."""
    return [
        f"links of shard {shard} for shard {links.shard} have waited for {links.oldest_s:,.0f} s"
        for shard, links in find_late_links(status)[:_LATE_SHOWN]
    ]


def write_links(status: Status) -> list[str]:
    """Describe the links that shards have sent each other in this run: of all pairs if they are few, else of those that wait."""
    pairs = [(beat.shard, links) for beat in status.shards for links in beat.links]
    sent, received = sum(links.sent for _, links in pairs), sum(links.received for _, links in pairs)
    if not sent:
        return []
    waiting = sorted((pair for pair in pairs if pair[1].oldest_s), key=lambda pair: -pair[1].oldest_s)
    shown = pairs if len(pairs) <= _PAIRS_SHOWN else waiting[:_WAITING_SHOWN]
    # What their last copies make durable, shards that have ended are not told.
    durable = "" if status.is_over else f", {sum(links.durable for _, links in pairs):,} durable"
    return [
        f"links       {sent:,} sent to other shards, {received:,} received{durable}",
        *(_write_pair(shard, links, is_over=status.is_over) for shard, links in shown),
        *(f"warning     {warning}" for warning in warn_of_links(status)),
    ]


def _write_pair(shard: int, links: LinksTo, *, is_over: bool) -> str:
    durable = "" if is_over else f", {links.durable:,} durable"
    oldest = f", the oldest waits for {links.oldest_s:,.0f} s" if links.oldest_s else ""
    return f"  {shard} to {links.shard:<4} {links.sent:,} sent, {links.received:,} received{durable}{oldest}"


def write_shards(status: Status, now: float) -> list[str]:
    """Describe the last beat of each shard in one line, without processor and connections if the crawl is over."""
    return [
        f"shard {beat.shard:<5} {beat.state if status.is_over or now - beat.time < _SILENT_S else 'silent'}"
        f"{f' ({beat.reason})' if beat.reason else ''}, process {beat.pid}, "
        f"{beat.memory_used_bytes / 1e6:,.0f} MB of {beat.memory_total_bytes / 1e6:,.0f} MB "
        f"({beat.memory_free_bytes / 1e6:,.0f} MB free), "
        f"{'' if status.is_over else f'CPU {beat.cpu_percent:.0f} %, {beat.connections} connections, '}"
        f"{beat.pages:,} pages, {max(0.0, now - beat.time):.0f} s ago"
        for beat in status.shards
    ]


def warn_of_unheard(status: Status, now: float) -> list[str]:
    """Warn about shards that were started and have not been heard since, a line each."""
    return [
        f"warning     shard {unheard.shard} has not been heard since it was started, {now - unheard.since:,.0f} s ago"
        for unheard in status.unheard
    ]


def write_places(status: Status) -> list[str]:
    """Describe each place where shards run in one line, without its processors if the crawl is over."""
    return [
        f"place       {use.place}: {'shard' if len(use.shards) == 1 else 'shards'} {', '.join(map(str, use.shards))}, "
        f"{use.pages:,} pages, "
        f"{'' if status.is_over else f'CPU {use.cpu_percent:.0f} % of {use.cores} cores, '}"
        f"{use.memory_free_bytes / 1e9:,.1f} of {use.memory_total_bytes / 1e9:,.1f} GB memory free, "
        f"{use.disk_free_bytes / 1e9:,.1f} of {use.disk_total_bytes / 1e9:,.1f} GB disk free"
        for use in list_places(status)
    ]


def write_state(status: Status) -> str:
    """Describe the state of a crawl, and its reason."""
    return f"{status.state}: {REASONS.get(status.reason, status.reason)}" if status.reason else status.state


def write_counts(counts: Mapping[str, int], most: int = _COUNTS_SHOWN) -> str:
    """List the highest counts."""
    shown = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
    return ", ".join(f"{name} {count:,}" for name, count in shown) + (", …" if len(counts) > most else "")


def write_names(counts: Mapping[str, int]) -> str:
    """List the most frequent types or properties, with short names."""
    by_name: dict[str, int] = {}
    for iri, count in counts.items():
        # schema.org is written with http and https, but is one vocabulary.
        name = shorten_name(iri)
        by_name[name] = by_name.get(name, 0) + count
    return write_counts(by_name)


def shorten_name(iri: str) -> str:
    """Shorten an IRI to `prefix:name` if its namespace is well known, and leave out the middle of a long name."""
    name = clean_text(shorten_iri(iri))
    half = _NAME_CHARS // 2
    return name if len(name) <= _NAME_CHARS else f"{name[:half]}…{name[-half + 1 :]}"


def clean_text(text: str) -> str:
    """Make text from the web safe for a terminal: without control characters and those that change its direction."""
    return text if text.isprintable() else "".join(mark if mark.isprintable() else " " for mark in text)


def write_duration(seconds: float) -> str:
    """Write a duration as minutes and seconds, with hours if there are any."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _write_pages(totals: Totals) -> str:
    parts = [f"pages       {totals.pages:,} ({totals.body_bytes / 1e6:,.1f} MB)"]
    if totals.pages:
        parts[0] += f" of {totals.sites:,} {'site' if totals.sites == 1 else 'sites'}"
        parts.append(f"{totals.structured:,} with structured data ({100 * totals.structured / totals.pages:.0f} %)")
    if totals.duplicates:
        parts.append(f"{totals.duplicates:,} duplicates")
    if totals.imported_pages:
        parts.append(f"{totals.imported_pages:,} imported")
    return ", ".join(parts)


def _write_failures(totals: Totals) -> str:
    """List why URLs failed, as far as this run knows."""
    if not totals.failures:
        return ""
    is_all = sum(totals.failures.values()) == totals.failed
    return f" ({'' if is_all else 'in this run '}{write_counts(totals.failures)})"


def _write_refusals(totals: Totals) -> str:
    """List why URLs were not requested."""
    robots = totals.disallowed - totals.filtered - totals.trapped
    kinds = {"robots.txt": robots, "scope and filters": totals.filtered, "traps": totals.trapped}
    told = {kind: count for kind, count in kinds.items() if count > 0}
    return f" ({write_counts(told)})" if told else ""


def _write_waiting(totals: Totals) -> str:
    """Count the URLs to fetch that a crawl does not wait for."""
    parts = []
    if totals.over_budget:
        parts.append(f"{totals.over_budget:,} over the budget of their host or domain")
    if totals.scheduled_given_up:
        parts.append(f"{totals.scheduled_given_up:,} on hosts that do not answer; run the crawl again later")
    return f" ({', '.join(parts)})" if parts else ""


def _write_prerequisites(totals: Totals) -> str:
    """Count the responses to requests for prerequisites, with or without success."""
    counts = {name.replace("-", " "): count for name, count in totals.prerequisites.items()}
    return f"; for the crawl itself {sum(counts.values()):,}: {write_counts(counts)}" if counts else ""


def _choose_word(status: Status) -> str:
    """Choose a word to search for: the longest in the title of a recently found page."""
    titles = (find.title for find in reversed(status.totals.finds))
    words = (max(_WORD.findall(title), key=len, default="") for title in titles)
    return next(filter(None, words), "")


def _choose_commands(status: Status, folder: Path) -> list[str]:
    """Choose commands that work in this folder: extraction needs archived pages."""
    where = f"--dir {shlex.quote(str(folder))}"
    has_pages = next(folder.glob(_PAGES), None) is not None
    pages = shlex.quote(f"{glob.escape(str(folder))}/{_PAGES}")
    urls = list(filter(None, (read_first_seed(folder), *(find.url for find in reversed(status.totals.finds)))))
    url = next((url for url in urls if len(url) <= _URL_CHARS), min(urls, key=len, default=""))
    # The contexts that the crawl fetched; without them, some JSON-LD yields no statements.
    kept = folder / DOCUMENTS
    contexts = f" --documents {shlex.quote(str(kept))}" if any(kept.glob("*.json")) else ""
    word = _choose_word(status) if status.index and status.index.pages else ""
    return [
        f"rdfspider extract {pages}{contexts} --output data.nq" if has_pages else f"rdfspider status {where} --json",
        f"rdfspider search {word} {where}" if word else f"rdfspider hosts {where}",
        *([f"rdfspider why {shlex.quote(url)} {where}"] if url else []),
    ]
