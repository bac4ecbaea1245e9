"""`EntityLookup`: the name of an entity enters; the entity, its attributions, other names and statements leave.

All answers of one `EntityLookup` are from the same snapshot of the quads, which its callers need not know.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager

from pyoxigraph import Store

from rdfspider.index.entities.contributions import URN
from rdfspider.index.ledger.reader import LedgerReader
from rdfspider.results import NameKind
from rdfspider.search.attributions import Alias, Attributions, dump_statements, read_aliases, read_attributions
from rdfspider.search.entity import NODES_MERGED, Entity, find_uses, read_entity, was_fetched
from rdfspider.search.name_lookup import list_readings


class EntityLookup:
    """Looks up entities in one snapshot; valid as long as `Indexes.use_entities` keeps the snapshot open."""

    def __init__(self, store: Store, use_ledger: Callable[[], AbstractContextManager[LedgerReader]]) -> None:
        self._store = store
        self._use_ledger = use_ledger

    def find(self, name: str, *, same: bool = False, start: int = 0, via: str = "") -> Entity | None:
        """Return everything that pages state about an entity; None if no page states anything. `same`, `start` and `via` are
        those of `read_entity`."""
        if name.strip().startswith(URN):
            iri = name.strip()
            with self._use_ledger() as ledger:
                nodes = dict.fromkeys(node for _, node in ledger.find_members(iri, NODES_MERGED + 1))
            if nodes and (found := read_entity(self._store, iri, nodes, same=same, start=start, via=via)):
                return found
        for iri in list_readings(name):
            if found := read_entity(self._store, iri, [iri], same=same, start=start, via=via):
                return found
        return None

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
