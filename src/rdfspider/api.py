"""The Python API of a whole crawl, which the command line uses too: create or open its folder, run it, query it, control it.

crawl = Crawl.create("mycrawl", ["https://example.org/"], pages=100, contact="me@example.org")
status = crawl.run()
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from rdfspider.archive.volumes import check_volumes
from rdfspider.config import Config
from rdfspider.crawl.folder import (
    CONTROL,
    IMPORT,
    add_seeds,
    change_settings,
    check_folder,
    check_import,
    check_patterns,
    hold_folder,
    is_in_use,
    make_change,
    make_folder,
    read_seeds,
)
from rdfspider.crawl.messages import Command, CommandAnswer, CommandName, RunState
from rdfspider.crawl.seeds import collect_seeds
from rdfspider.crawl.settings import Asked, ask_config, ask_flags, load_config
from rdfspider.crawl.status import Status, read_status
from rdfspider.errors import InUseError, RdfspiderError, UsageError

if TYPE_CHECKING:
    from pyoxigraph import Quad

    from rdfspider.crawl.reports.explanations import Explanation
    from rdfspider.frontier.entries import HostEntry
    from rdfspider.index.status import IndexStatus
    from rdfspider.index.text.searcher import Filter
    from rdfspider.results import Results
    from rdfspider.run.backups import BackupReport
    from rdfspider.run.imports import ImportReport
    from rdfspider.run.reindexing import Removal
    from rdfspider.search.entity import Entity
    from rdfspider.search.export import Exported
    from rdfspider.search.found_links import FoundLinks, LinkPath
    from rdfspider.search.indexes import Indexes
    from rdfspider.search.link_graph import LinkGraph
    from rdfspider.search.name_lookup import Choice, Names
    from rdfspider.search.rows import Rows, Statements
    from rdfspider.search.statistics import Statistics
    from rdfspider.search.things_table import Things

_ANSWER_S = 10.0
_POLL_S = 0.1
# Names of each kind that a notebook shows.
_NAMES_DRAWN = 10
# Threads that query the same crawl share one handle.
_OPENING = threading.Lock()


class Crawl:
    """A crawl in its folder, running or not."""

    def __init__(self, folder: Path, config: Config | None = None) -> None:
        self.folder = folder
        self._config = config
        self._indexes: Indexes | None = None

    @classmethod
    def create(
        cls,
        dir: str | Path,
        seeds: Iterable[str] = (),
        *,
        seeds_file: Path | None = None,
        config: Config | None = None,
        **settings: object,
    ) -> "Crawl":
        """Create a crawl, or continue the one in the folder, adding the seeds and settings to it.

        Settings are named `section_field`, or just `field` if only one section has it; they override `config`, and are stored in
        the folder's crawl.toml. An invalid argument raises UsageError and changes nothing.
        """
        folder = Path(dir)
        asked = (ask_config(config) if config else {}) | ask_flags(settings)
        given, seeds_file = _recover(folder, asked, (seeds,) if isinstance(seeds, str) else seeds, seeds_file)
        check_folder(folder)
        # Everything is checked before anything is created.
        found = load_config(folder, asked)
        check_volumes(found.archive.volumes)
        urls = collect_seeds(given, seeds_file, found.fetch)
        if not urls and not (folder.is_dir() and read_seeds(folder)):
            raise UsageError(f"{folder} has no seeds yet: name at least one URL to start from")
        return cls._make(folder, found, asked, urls)

    @classmethod
    def create_for_import(cls, dir: str | Path, **settings: object) -> "Crawl":
        """Create a crawl without seeds for `import_archives`, or open the one in the folder."""
        folder = Path(dir)
        asked = ask_flags(settings)
        check_folder(folder)
        found = load_config(folder, asked)
        check_volumes(found.archive.volumes)
        return cls._make(folder, found, asked, ())

    @classmethod
    def _make(cls, folder: Path, found: Config, asked: Mapping[str, Asked], urls: Iterable[str]) -> "Crawl":
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{folder} cannot be made: {error.strerror}") from error
        with hold_folder(folder):
            if check_folder(folder):
                change_settings(folder, asked)
            else:
                make_folder(folder, found.crawl.shards, asked)
            add_seeds(folder, urls)
        return cls(folder, found)

    @classmethod
    def open(cls, dir: str | Path) -> "Crawl":
        """Open the crawl in the folder, unchanged."""
        folder = Path(dir)
        if not check_folder(folder):
            if not folder.exists():
                raise UsageError(f"{folder}: there is no such folder")
            raise UsageError(f"{folder} is not a crawl: it has no crawl.toml that `rdfspider crawl` has made")
        return cls(folder)

    def __repr__(self) -> str:
        return f"Crawl({str(self.folder)!r})"

    def _repr_html_(self) -> str:
        """For notebooks: the folder, the status, and what was found most."""
        parts = [f"<h3>{escape(str(self.folder))}</h3>", self.status()._repr_html_()]
        with suppress(RdfspiderError):
            statistics = self.stats(top=_NAMES_DRAWN)
            parts += (f"<h4>{name}</h4>{getattr(statistics, name)._repr_html_()}" for name in ("classes", "sites"))
        return "".join(parts)

    @property
    def config(self) -> Config:
        """The crawl's settings, including those from environment variables."""
        if self._config is None:
            self._config = load_config(self.folder)
        return self._config

    @property
    def indexes(self) -> "Indexes":
        """The indexes of what was found so far; they answer more questions than the methods below."""
        # Imported here, because crawling and extracting do not need the indexes.
        from rdfspider.search.indexes import Indexes

        with _OPENING:
            if self._indexes is None:
                self._indexes = Indexes(self.folder)
            return self._indexes

    def run(self, on_progress: Callable[[Status], None] | None = None) -> Status:
        """Crawl until nothing is left, a limit is reached or the crawl is stopped; return the final status.

        `on_progress` is called with the status every second, and at the end with the final one.
        """
        # Imported here, because extracting does not need the crawler.
        from rdfspider.run.coordination import run_crawl
        from rdfspider.run.shipping import check_store

        check_volumes(self.config.archive.volumes)
        check_store(self.config.backup)
        if self.config.index.enabled:
            from rdfspider.run.index_watch import check_before_crawl

            check_before_crawl(self.folder, self.config)
        with hold_folder(self.folder):
            return run_crawl(self.folder, self.config, on_progress)

    def import_archives(
        self, sources: Sequence[str], on_progress: "Callable[[Status, Sequence[ImportReport]], None] | None" = None
    ) -> "tuple[Status, list[ImportReport]]":
        """Import the pages of WARC files (paths, patterns or folders) into the crawl; return its status and a report per file."""
        from rdfspider.archive.reader import find_archives
        from rdfspider.run.imports import run_import

        paths = find_archives(sources)
        with hold_folder(self.folder, IMPORT):
            return run_import(self.folder, self.config, paths, on_progress or (lambda status, reports: None))

    def status(self) -> Status:
        """Return the current status, or how the crawl ended."""
        return read_status(self.folder)

    def why(self, url: str) -> "Explanation":
        """Explain why a URL was or was not fetched, or what would happen to it; works while the crawl runs."""
        from rdfspider.crawl.reports.frontiers import Frontiers
        from rdfspider.crawl.reports.why import explain_url

        # The filters may have changed since the crawl was opened.
        with Frontiers(self.folder, load_config(self.folder)) as frontiers:
            return explain_url(frontiers, url)

    def hosts(self, sort: str = "pages", limit: int = 20) -> "list[HostEntry]":
        """List the hosts with the most pages, quads, errors, queued URLs or waiting time; works while the crawl runs."""
        from rdfspider.crawl.reports.frontiers import Frontiers, find_hosts

        with Frontiers(self.folder, load_config(self.folder)) as frontiers:
            return find_hosts(frontiers, sort, limit)

    def index(
        self,
        sources: Sequence[str] = (),
        *,
        rebuild: bool = False,
        follow: bool = False,
        stores: Sequence[str] = (),
        on_progress: "Callable[[IndexStatus], None] | None" = None,
    ) -> "IndexStatus":
        """Bring the index up to date, or rebuild it. `sources` are more WARC files (paths, patterns or folders) to index, now and
        in every rebuild; `stores` are more SPARQL servers, saved in the settings so that `forget` removes pages from them too.
        Raise InUseError if another process indexes, such as a running crawl, which then indexes the added files."""
        from rdfspider.run.reindexing import add_archives, rebuild_index, update_index

        self._add_stores(stores)
        add_archives(self.folder, sources)
        if rebuild:
            return rebuild_index(self.folder, self.config, on_progress)
        return update_index(self.folder, self.config, is_following=follow, on_progress=on_progress)

    def forget(self, target: str, *, ahead: bool = False, undo: bool = False) -> "Removal":
        """Remove a page (a URL) or a site (a host or domain) from the index, and keep it out of later updates and rebuilds; with
        `ahead` also if nothing of it is indexed yet. `undo` takes that back: the index gets it again from the archive."""
        from rdfspider.run.reindexing import forget_pages, restore_pages

        if undo:
            return restore_pages(self.folder, self.config, target)
        return forget_pages(self.folder, self.config, target, ahead=ahead)

    def split(self, iri: str, other: str | None = None, *, undo: bool = False) -> bool:
        """Keep two things apart that were found to be one; without `other`, join the thing with nothing at all. `undo` takes
        that back. Later updates and rebuilds obey it. Return whether the index shows it already."""
        from rdfspider.run.reindexing import split_things

        return split_things(self.folder, self.config, [iri, other] if other else [iri], undo=undo)

    def search(
        self,
        words: str = "",
        *,
        type: "Filter" = None,
        ontology: "Filter" = None,
        property: "Filter" = None,
        site: "Filter" = None,
        lang: "Filter" = None,
        syntax: "Filter" = None,
        year: "Filter" = None,
        kind: "Filter" = None,
        limit: int = 10,
        offset: int = 0,
        facets: bool = False,
        exact: bool = False,
        explain: bool = False,
    ) -> "Results":
        """Search what was found so far, by words and filters (`docs/search.md`), best results first; works while the crawl runs.

        A filter takes one value or several; a result must match any of them. Unknown words are corrected unless `exact`; with
        `explain`, each hit tells the parts of its score.
        """
        return self.indexes.search(
            words,
            type=type,
            ontology=ontology,
            property=property,
            site=site,
            lang=lang,
            syntax=syntax,
            year=year,
            kind=kind,
            limit=limit,
            offset=offset,
            facets=facets,
            exact=exact,
            explain=explain,
        )

    def query(self, text: str, *, limit: int = 100_000, timeout_s: float = 30.0) -> "Rows | Statements | bool":
        """Answer a SPARQL query (`docs/sparql.md`): SELECT, ASK, CONSTRUCT or DESCRIBE; works while the crawl runs.

        A query that takes longer than `timeout_s` raises UnansweredError; at most `limit` rows or triples are returned.
        """
        from rdfspider.results import QueryLimits

        return self.indexes.query(text, QueryLimits(timeout_s=timeout_s, rows=limit))

    def entity(self, iri: str, same: bool = False) -> "Entity":
        """Return every statement about an entity, with source and time, and what refers to it; works while the crawl runs.

        `same` merges the entities that pages declare to be the same (`owl:sameAs`, `schema:sameAs`).
        """
        return self.indexes.entity(iri, same=same)

    def links(
        self, url: str, direction: str = "in", *, limit: int = 20, offset: int = 0, nofollow: bool = True
    ) -> "FoundLinks":
        """Return the links of other pages to a page, or with the direction `out` its own (`docs/graph.md`); works while the crawl
        runs. Without `nofollow`, those that are not followed are left out."""
        links = self.indexes.links
        if direction not in ("in", "out"):
            raise UsageError(f"links go in or out, not {direction!r:.40}")
        list_links = links.list_in if direction == "in" else links.list_out
        return list_links(url, limit, offset, nofollow=nofollow)

    def path(self, source: str, target: str, *, max_steps: int = 10) -> "LinkPath":
        """Return a shortest path from one page to another by links, or that there is none."""
        return self.indexes.links.find_path(source, target, max_steps)

    def graph(self) -> "LinkGraph":
        """Return the graph of all links as it is now: as arrays, for scipy or networkx, of hosts, or as files."""
        from rdfspider.search.link_graph import LinkGraph

        return LinkGraph(self.indexes.links.open_newest())

    def stats(self, top: int = 1000) -> "Statistics":
        """Count the classes, properties, ontologies and sites of the pages, the `top` of each; works while the crawl runs."""
        return self.indexes.statistics(top)

    def quads(
        self, site: str | None = None, type: "Names" = None, ontology: "Names" = None, page: str | None = None
    ) -> "Iterator[Quad]":
        """Iterate over the quads: all, or those of a site, a page, or about entities of a class or an ontology."""
        from rdfspider.search.name_lookup import Choice

        selection, _ = self.indexes.select(Choice(site=site, type=type, ontology=ontology, page=page))
        return self.indexes.stream_quads(selection)

    def export(
        self,
        output: str | Path | None,
        *,
        format: str | None = None,
        site: str | None = None,
        type: "Names" = None,
        ontology: "Names" = None,
        columns: "Names" = None,
        several: str = "join",
        separator: str = " | ",
        canonical: bool = False,
        on_page: "Callable[[Exported], None]" = lambda exported: None,
        **choice: "Names",
    ) -> "Exported":
        """Write such quads to a file (None is stdout); its name decides on compression, and on the format if none is given.

        CSV and Excel, and Parquet with `columns`, have one row a thing instead, as `things` gives them. `graph`, `property`,
        `syntax` and the same with `without_` before them choose pages by a pattern and statements (`docs/export.md`). With
        `canonical`, things that were found to be one have one IRI; in tables they always have.
        """
        from rdfspider.search.export import has_things
        from rdfspider.search.name_lookup import list_names
        from rdfspider.search.things import make_several

        path = None if output is None else Path(output)
        asked = _make_choice(site=site, type=type, ontology=ontology, **choice)
        if columns is None and not has_things(path, format):
            return self.indexes.export(path, format, asked, on_page, canonical=canonical)
        names = list_names(columns)
        return self.indexes.export_things(path, format, asked, names, make_several(several, separator), on_page)

    def things(
        self,
        type: "Names",
        columns: "Names" = None,
        *,
        several: str = "join",
        separator: str = " | ",
        site: str | None = None,
        **choice: "Names",
    ) -> "Things":
        """Return the things of a class or one below it as a table, one row each: `crawl.things("Product").to_pandas()`.

        Columns are properties or paths of them, such as `name` and `offers.price`; without any, those that such things
        usually have. With `several="rows"` several values become several rows instead of being joined.
        """
        from rdfspider.search.name_lookup import list_names
        from rdfspider.search.things import make_several
        from rdfspider.search.things_table import Things

        asked = _make_choice(site=site, type=type, **choice)
        names, form = list_names(columns), make_several(several, separator)
        return Things(lambda: self.indexes.read_things(asked, names, form))

    def add_seeds(self, seeds: Iterable[str] = (), *, seeds_file: Path | None = None) -> int:
        """Add seeds; return how many were new. A running crawl takes them at once, a stopped one when it runs next."""
        urls = collect_seeds((seeds,) if isinstance(seeds, str) else seeds, seeds_file, self.config.fetch)
        if not urls:
            raise UsageError("name at least one URL to add")
        return self._change(Command(CommandName.ADD_SEEDS, seeds=tuple(urls)))

    @property
    def filters(self) -> dict[str, tuple[str, ...]]:
        """The regular expressions that decide which links are followed, by kind: include and exclude."""
        crawl = load_config(self.folder).crawl
        return {"include": crawl.include, "exclude": crawl.exclude}

    def add_filter(self, *, include: str | Iterable[str] = (), exclude: str | Iterable[str] = ()) -> int:
        """Add filters; return how many were new. They apply at once, also to queued URLs."""
        return self._change(_ask_filters(CommandName.ADD_FILTERS, include, exclude))

    def remove_filter(self, *, include: str | Iterable[str] = (), exclude: str | Iterable[str] = ()) -> int:
        """Remove filters; return how many. Queued URLs that only these filters excluded come back."""
        return self._change(_ask_filters(CommandName.REMOVE_FILTERS, include, exclude))

    def pause(self, *, wait: bool = True) -> None:
        """Pause a running crawl after the requests in flight; return when it is paused, or without `wait` at once."""
        self._tell(CommandName.PAUSE)
        if not wait:
            return
        # No request takes longer than `timeout_s`; the rest is for making its result durable.
        limit_s = self.config.fetch.timeout_s + _ANSWER_S
        end = time.monotonic() + limit_s
        while (state := self._tell(CommandName.STATUS).state) == RunState.PAUSING:
            if time.monotonic() > end:
                raise RdfspiderError(
                    f"{self.folder}: what is under way is not finished after {limit_s:g} s; "
                    "the crawl pauses when it is, and starts nothing until then"
                )
            time.sleep(_POLL_S)
        if state != RunState.PAUSED:
            raise UsageError(f"{self.folder}: the crawl is {state} meanwhile")

    def resume(self) -> None:
        """Resume a paused crawl."""
        self._tell(CommandName.RESUME)

    def stop(self, *, wait: bool = True) -> None:
        """Stop a running crawl, within ten seconds; return when it has ended, or without `wait` at once."""
        self._tell(CommandName.STOP)
        while wait and is_in_use(self.folder):
            time.sleep(_POLL_S)

    def backup(self, to: str, on_progress: Callable[[str], None] = lambda what: None) -> "BackupReport":
        """Send a copy of the crawl, which may run, to a folder or an object store; return when it is complete."""
        from rdfspider.run.backups import backup_crawl, backup_running, read_url

        url = read_url(to, "to")
        if not (is_in_use(self.folder) and (self.folder / CONTROL).exists()):
            return backup_crawl(self.folder, self.config, url, on_progress)
        try:
            return backup_running(self._tell, url, on_progress)
        except UsageError as error:
            if is_in_use(self.folder):
                raise
            raise UsageError(
                f"{self.folder}: the crawl has ended before the copy was complete; try again now"
            ) from error

    def close(self) -> None:
        """Close the indexes, and end the processes that answer SPARQL; the next query opens them again."""
        if self._indexes:
            self._indexes.close()

    def __enter__(self) -> "Crawl":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _add_stores(self, stores: Sequence[str]) -> None:
        from rdfspider.index.stores.graph_servers import check_store_url

        known = self.config.index.stores
        if new := [url for url in dict.fromkeys(stores) if url not in known]:
            for url in new:
                check_store_url(url)
            asked = ask_flags({"index.stores": [*known, *new]})
            with hold_folder(self.folder):
                change_settings(self.folder, asked)
            self._config = load_config(self.folder, asked)

    def _change(self, command: Command) -> int:
        """Have the process that runs the crawl make a change, or make it here if none does; return how much changed."""
        end = time.monotonic() + _ANSWER_S
        while True:
            try:
                count = self._change_now(command)
                break
            except InUseError:
                check_import(self.folder)
                # The crawl is starting or ending.
                if time.monotonic() > end:
                    raise
                time.sleep(_POLL_S)
        self._config = None
        return count

    def _change_now(self, command: Command) -> int:
        if is_in_use(self.folder) and (self.folder / CONTROL).exists():
            try:
                return self._tell(command).count
            except UsageError:
                if is_in_use(self.folder):
                    raise
        with hold_folder(self.folder):
            return make_change(self.folder, load_config(self.folder), command)[0]

    def _tell(self, command: str | Command) -> CommandAnswer:
        if not is_in_use(self.folder):
            raise UsageError(f"{self.folder}: no crawl runs there")
        check_import(self.folder)
        try:
            endpoint = (self.folder / CONTROL).read_text("utf-8").strip()
        except FileNotFoundError:
            raise UsageError(f"{self.folder}: the crawl is starting; try again in a moment") from None
        from rdfspider.run.peers.coordinator_hub import send_command

        answer = send_command(endpoint, command, _ANSWER_S)
        if answer is None:
            raise UsageError(f"{self.folder}: the crawl does not answer")
        if not answer.is_done:
            raise UsageError(f"{self.folder}: {answer.message}")
        return answer


def _make_choice(**names: "Names") -> "Choice":
    from rdfspider.search.name_lookup import Choice

    if unknown := sorted(names.keys() - {field.name for field in fields(Choice)}):
        raise TypeError(f"there is no choice by {', '.join(unknown)}")
    return Choice(**names)  # type: ignore[arg-type]


def _ask_filters(command: CommandName, include: str | Iterable[str], exclude: str | Iterable[str]) -> Command:
    def check(kind: str, given: str | Iterable[str]) -> tuple[str, ...]:
        return check_patterns(kind, (given,) if isinstance(given, str) else given)

    return Command(command, include=check("include", include), exclude=check("exclude", exclude))


def _recover(
    folder: Path, asked: Mapping[str, Asked], seeds: Iterable[str], seeds_file: Path | None
) -> tuple[Iterable[str], Path | None]:
    """Bring back what is gone of a crawl that has a backup, if it has these seeds. Return what is left to be read of them: they,
    and stdin, can be read once."""
    try:
        config = load_config(folder, asked)
    except UsageError:
        # Said in other words once the folder is looked at.
        return seeds, seeds_file
    if config.backup.url:
        from rdfspider.run.backups import recover_folder

        # The settings of the crawl that comes back may allow private networks.
        seeds, seeds_file = collect_seeds(seeds, seeds_file, replace(config.fetch, allow_private=True)), None
        recover_folder(folder, config.backup.url, seeds)
    return seeds, seeds_file
