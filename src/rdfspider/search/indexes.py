"""A crawl's folder and a question in, the answer of its indexes out: of an entity, of counts, of statements.

Each question opens what it needs, reads the newest state, also while an indexer writes, and lets it go.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pyoxigraph import Quad, Store

from rdfspider.errors import UnreadableError, UsageError
from rdfspider.index.entities.contributions import URN
from rdfspider.index.layout import IndexPaths, check_index
from rdfspider.index.ledger.reader import LedgerReader
from rdfspider.index.quads.selection import Selection, read_quads
from rdfspider.index.quads.snapshots import SnapshotReader, tell_damage
from rdfspider.search.entity import NODES_MERGED, Entity, read_entity
from rdfspider.search.name_lookup import Names, make_selection
from rdfspider.search.statistics import Statistics, read_statistics
from rdfspider.urls import is_valid_iri, normalise_url
from rdfspider.vocabulary.names import find_namespaces
from rdfspider.vocabulary.terms import fold_iri, make_graph_iri, skolemise


def find_entity(folder: Path, name: str, *, same: bool = False) -> Entity:
    """Everything said of a thing; UsageError where no page says anything."""
    if not isinstance(name, str):
        raise UsageError(f"a thing is called by a text, not {name!r:.100}")
    with open_store(folder) as store:
        if found := look_up_entity(store, folder, name, same=same):
            return found
    shown = name if len(name) <= 200 else f"{name[:200]}…"
    raise UsageError(f"no page says anything of {shown!r}: find how it is called with `rdfspider search`")


def look_up_entity(
    store: Store, folder: Path, name: str, *, same: bool = False, start: int = 0, via: str = ""
) -> Entity | None:
    """The same of a store that is open; None where no page says anything. `start` and `via` are those of `read_entity`."""
    if name.strip().startswith(URN):
        iri = name.strip()
        with open_ledger(folder) as ledger:
            nodes = dict.fromkeys(node for _, node in ledger.find_members(iri, NODES_MERGED + 1))
        if nodes and (found := read_entity(store, iri, nodes, same=same, start=start, via=via)):
            return found
    for iri in list_readings(name):
        if found := read_entity(store, iri, [iri], same=same, start=start, via=via):
            return found
    return None


def find_statistics(folder: Path, top: int) -> Statistics:
    """Which names pages use, so many of each kind, and how often."""
    if top < 1:
        raise UsageError(f"top is {top}, and must be at least 1")
    with open_ledger(folder) as ledger:
        return read_statistics(ledger, top)


def select_statements(
    folder: Path, *, site: str | None = None, type: Names = None, ontology: Names = None, page: str | None = None
) -> tuple[Selection, int | None]:
    """What is selected, and about how many pages that is; None where nobody knows before they are read."""
    with open_ledger(folder) as ledger:
        selection = make_selection(ledger, site=site, type=type, ontology=ontology, page=page)
        return selection, ledger.read_totals().pages if selection == Selection() else None


def stream_quads(folder: Path, selection: Selection) -> Iterator[Quad]:
    """The quads that are selected; the snapshot that they come from is held until the last."""
    with open_store(folder) as store:
        yield from read_quads(store, selection)


@contextmanager
def open_store(folder: Path) -> Iterator[Store]:
    """The newest snapshot of the quads."""
    paths = IndexPaths(folder)
    check_index(paths)
    with closing(SnapshotReader(paths.snapshots)) as reader, reader.use() as store:
        try:
            yield store
        except BrokenPipeError:
            raise
        except (OSError, RuntimeError) as error:
            # What is opened is not yet read.
            raise UnreadableError(tell_damage(paths.snapshots, error)) from error


@contextmanager
def open_ledger(folder: Path) -> Iterator[LedgerReader]:
    """The ledger as of its last commit."""
    paths = IndexPaths(folder)
    check_index(paths)
    try:
        with closing(LedgerReader(paths)) as ledger:
            yield ledger
    except sqlite3.DatabaseError as error:
        where = "" if os.access(paths.index, os.W_OK) else ", in a folder that is read-only for you"
        raise UnreadableError(
            f"{paths.ledger} cannot be read ({error}{where}); if that stays so, make it again with "
            f"`rdfspider index --rebuild --dir {folder}`"
        ) from error


def list_readings(name: str) -> list[str]:
    """What a person may mean: an IRI as it is, a label of an export, a prefixed name, the URL of a page without care."""
    text = name.strip().removeprefix("<").removesuffix(">")
    if text.startswith("_:"):
        node = skolemise(text[2:])
        return [node] if node else []
    prefix, _, local = text.partition(":")
    readings = [fold_iri(text), *(namespace + local for namespace in find_namespaces(prefix) if local)]
    addresses = (text,) if ":" in text else (f"https://{text}", f"http://{text}") if "." in text else ()
    for url in addresses:
        # Without its fragment an address would be another thing: the page.
        readings += [url if "#" in url else normalise_url(url) or url, make_graph_iri(url)]
    return [iri for iri in dict.fromkeys(readings) if is_valid_iri(iri)]
