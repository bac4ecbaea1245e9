"""What can be changed in a crawl's folder at any time: a command enters, files are changed, how many changes there were leaves.

Who calls holds the folder's lock: the process that runs the crawl, or whoever wants the change while none does. What was
changed is durable when the call returns.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from rdfspider.config import Config, CrawlConfig
from rdfspider.crawl.folder import add_seeds, change_settings
from rdfspider.crawl.messages import Command
from rdfspider.crawl.seeds import read_seeds
from rdfspider.crawl.settings import Asked, ask_flags
from rdfspider.errors import UsageError

_KINDS = ("include", "exclude")


def make_change(folder: Path, config: Config, command: Command) -> tuple[int, Config]:
    """Do what was asked, and return how much of it was new, and the settings that hold from now on."""
    if command.command == "add-seeds":
        return add_seeds(folder, read_seeds(command.seeds, None, config.fetch)), config
    change = _add_filters if command.command == "add-filters" else _remove_filters
    filters = {kind: change(config.crawl, kind, getattr(command, kind)) for kind in _KINDS}
    before = sum(len(getattr(config.crawl, kind)) for kind in _KINDS)
    asked = {f"crawl.{kind}": Asked(list(patterns), f"--{kind}") for kind, patterns in filters.items()}
    change_settings(folder, asked)
    count = abs(sum(map(len, filters.values())) - before)
    crawl = replace(config.crawl, include=filters["include"], exclude=filters["exclude"])
    return count, replace(config, crawl=crawl)


def check_patterns(kind: str, patterns: Iterable[str]) -> tuple[str, ...]:
    """Patterns of filters as they are kept; a UsageError says what is wrong with one."""
    checked = ask_flags({f"crawl.{kind}": Asked(list(patterns), f"--{kind}")})[f"crawl.{kind}"].value
    return tuple(checked) if isinstance(checked, list) else ()


def _add_filters(config: CrawlConfig, kind: str, patterns: Iterable[str]) -> tuple[str, ...]:
    # Each may be fine, and all of them together too many or too slow.
    return check_patterns(kind, dict.fromkeys((*getattr(config, kind), *patterns)))


def _remove_filters(config: CrawlConfig, kind: str, patterns: Iterable[str]) -> tuple[str, ...]:
    known: tuple[str, ...] = getattr(config, kind)
    removed = set(patterns)
    if unknown := [pattern for pattern in patterns if pattern not in known]:
        raise UsageError(f"--{kind} {unknown[0]}: there is no such filter; `rdfspider filter list` shows all")
    return tuple(pattern for pattern in known if pattern not in removed)
