"""`EntityLookup`: the name of an entity enters; the entity, its attributions, other names and statements leave.

All answers of one `EntityLookup` are from the same snapshot of the quads, which its callers need not know.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from pyoxigraph import Store

from rdfspider.index.entities.contributions import URN
from rdfspider.index.ledger.reader import LedgerReader
from rdfspider.results import NameKind
from rdfspider.search.attributions import Alias, Attributions, dump_statements, read_aliases, read_attributions
from rdfspider.search.entity import NODES_MERGED, Entity, find_uses, read_entity, was_fetched
from rdfspider.search.name_lookup import list_readings
from rdfspider.urls import is_valid_iri
from rdfspider.vocabulary.labels import SAME_AS


class EntityLookup:
    """Looks up entities in one snapshot; valid as long as `Indexes.use_entities` keeps the snapshot open."""

    def __init__(self, store: Store, use_ledger: Callable[[], AbstractContextManager[LedgerReader]]) -> None:
        self._store = store
        self._use_ledger = use_ledger

    def find(self, name: str, *, same: bool = False, start: int = 0, via: str = "") -> Entity | None:
        """Return everything that pages state about an entity, and about all that are one with it; None if no page states
        anything. `same`, `start` and `via` are those of `read_entity`."""
        readings = [name.strip()] if name.strip().startswith(URN) else list_readings(name)
        with self._use_ledger() as ledger:
            for iri in readings:
                found = self._read(ledger, iri, same, start, via)
                if found is None or not (found.properties or found.things or found.reference_counts.keys() - SAME_AS):
                    # Nobody describes it, but a thing may be said to be it.
                    claimed = ledger.find_claimed(iri)
                    found = (self._read(ledger, claimed, same, start, via) if claimed else None) or found
                if found:
                    return found
        return None

    def _read(self, ledger: LedgerReader, name: str, same: bool, start: int, via: str) -> Entity | None:
        members = ledger.find_whole(name)
        iri = members[0] if members else name
        nodes = ledger.list_nodes(iri, NODES_MERGED + 1)
        found = read_entity(self._store, iri, filter(is_valid_iri, nodes), same=same, start=start, via=via)
        if found is None or not members:
            return found
        reasons, apart = ledger.explain_whole(iri)
        return replace(
            found, members=tuple(members) if len(members) > 1 else (), reasons=tuple(reasons), apart=tuple(apart)
        )

    def find_uses(self, iris: Iterable[str]) -> list[tuple[NameKind, str]]:
        """Return which of these IRIs pages use as a class or a property, each with its use."""
        return [(kind, iri) for iri in iris for kind in find_uses(self._store, iri)]

    def is_page(self, entity: Entity) -> bool:
        """Return whether the entity's IRI is the URL of a fetched page."""
        return bool(entity.things) or was_fetched(self._store, entity.iri)

    def read_aliases(self, entity: Entity, names: Iterable[str]) -> list[Alias]:
        """Return the labels of other names of the entity, and the pages that state the sameness."""
        return read_aliases(self._store, entity, names)

    def read_attributions(self, entity: Entity, predicate: str, start: int, most: int) -> Attributions:
        """Return which pages state which values of a property: up to `most` attributions after the first `start`."""
        return read_attributions(self._store, entity.nodes, predicate, start, most)

    def dump(self, nodes: Sequence[str], predicate: str = "") -> bytes:
        """Return what pages state about these nodes as N-Quads, of all properties or of one."""
        return dump_statements(self._store, nodes, predicate)
