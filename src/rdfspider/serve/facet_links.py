"""The facets of results in, links that narrow the question or widen it again out, and what is chosen as chips.

Several values of one field mean any of them. So the counts of a field in which something is chosen are those without its own
choice: they tell what each other value would bring.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rdfspider.index.text.facets import name_value
from rdfspider.index.text.results import Facet, FacetCount
from rdfspider.serve.rendering import MAX_TEXT_CHARS, clean_text, cut_middle, make_address
from rdfspider.serve.replies import Ask
from rdfspider.vocabulary.names import find_short_name, list_prefixes, split_iri
from rdfspider.vocabulary.terms import fold_iri

FIELDS = {
    "type": "Type",
    "ontology": "Ontology",
    "property": "Property",
    "site": "Site",
    "lang": "Language",
    "syntax": "Syntax",
    "year": "Year",
}
"""The parameters that sift, and what they are called."""
# Of one field; nobody clicks so often.
_MAX_CHOSEN = 20
_NAME_CHARS = 48


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of a facet."""

    value: str
    name: str
    """As it is shown: short, and unlike that of the others."""
    whole: str
    """All of it, where the name is not."""
    count: int
    address: str
    """Where it is chosen; where it is chosen already, where it is not."""
    is_chosen: bool
    inside: tuple["Choice", ...] = ()
    """Values below it: subclasses."""


@dataclass(frozen=True, slots=True)
class Choices:
    """A facet."""

    field: str
    title: str
    choices: tuple[Choice, ...]
    is_approximate: bool


@dataclass(frozen=True, slots=True)
class Chip:
    """Something that was chosen."""

    title: str
    """Of its field."""
    name: str
    whole: str
    address: str
    """Where it is not."""


class Sieve:
    """What a person has chosen, and the addresses that change it."""

    def __init__(self, ask: Ask) -> None:
        found = ((field, ask.get_all(field)[:_MAX_CHOSEN]) for field in FIELDS)
        self.chosen: dict[str, tuple[str, ...]] = {field: values for field, values in found if values}
        self._question = ask.get("q")
        self._kept = {name: ask.get(name) for name in ("kind", "limit") if ask.get(name)}

    def list_kept(self) -> list[tuple[str, str]]:
        """What the form carries along; but for the first ontology, which is chosen beside the box."""
        kept = self.chosen | {"ontology": self.chosen.get("ontology", ())[1:]}
        pairs = [(field, value) for field, values in kept.items() for value in values]
        return [*pairs, *self._kept.items()]

    def list_chips(self) -> list[Chip]:
        """All that is chosen."""
        return [
            Chip(FIELDS[field].lower(), name, _clean(value), self._locate(field, _without(values, (value,))))
            for field, values in self.chosen.items()
            for value, name in name_apart(field, values).items()
        ]

    def clear(self) -> str:
        """The address of the question without anything chosen."""
        return make_address("/search", q=self._question, **self._kept)

    def widen(self, within: Facet, without: Facet) -> Facet:
        """The counts of a field without its own choice, and of those within it what is chosen, or below what is chosen."""
        known = {one.value for one in without.counts}
        chosen = self.chosen.get(within.field, ())
        kept: dict[str, FacetCount] = {}
        for one in within.counts:
            if one.parent in kept or any(is_called(within.field, one.value, value) for value in chosen):
                kept[one.value] = one
        more = tuple(one for one in kept.values() if one.value not in known)
        return replace(without, counts=(*more, *without.counts))

    def make_choices(self, facet: Facet) -> Choices:
        """A facet with its links; classes below others stand inside them."""
        known = {one.value for one in facet.counts}
        below: dict[str | None, list[FacetCount]] = {}
        for one in facet.counts:
            below.setdefault(one.parent if one.parent in known else None, []).append(one)
        names = name_apart(facet.field, [one.value for one in facet.counts])
        choices = self._make_level(facet.field, None, below, names, ())
        return Choices(facet.field, FIELDS[facet.field], choices, facet.is_approximate)

    def _make_level(
        self,
        field: str,
        parent: str | None,
        below: Mapping[str | None, Sequence[FacetCount]],
        names: Mapping[str, str],
        above: tuple[str, ...],
    ) -> tuple[Choice, ...]:
        """The values below one, or None, and those below them; `above` are those that all of them are below."""
        level = []
        for one in below.get(parent, ()):
            inside = self._make_level(field, one.value, below, names, (*above, one.value))
            level.append(self._make_choice(field, one, names[one.value], inside, above))
        return tuple(level)

    def _make_choice(
        self, field: str, one: FacetCount, name: str, inside: tuple[Choice, ...], above: tuple[str, ...]
    ) -> Choice:
        chosen = self.chosen.get(field, ())
        same = [value for value in chosen if is_called(field, one.value, value)]
        if same:
            values = _without(chosen, same)
        else:
            # Who chooses a class that is below or above a chosen one wants it instead.
            kin = (*above, *_list_values(inside))
            instead = [value for value in chosen if any(is_called(field, each, value) for each in kin)]
            values = (*_without(chosen, instead), one.value)
        address = self._locate(field, values)
        return Choice(one.value, name, _clean(one.value), one.count, address, bool(same), inside)

    def _locate(self, field: str, values: Iterable[str]) -> str:
        chosen = self.chosen | {field: tuple(values)}
        return make_address("/search", q=self._question, **chosen, **self._kept)


def name_apart(field: str, values: Sequence[str]) -> dict[str, str]:
    """Values of a field as they are shown, by value. Classes and properties of namespaces that nobody knows have local names,
    and what is long is cut in its middle; where two would look alike, they are shown whole."""
    names = name_ontologies(values) if field == "ontology" else {value: _name_shortly(field, value) for value in values}
    names = {value: cut_middle(name, _NAME_CHARS) for value, name in names.items()}
    counts = Counter(names.values())
    return {value: name if counts[name] == 1 else _clean(value) for value, name in names.items()}


def _name_shortly(field: str, value: str) -> str:
    name = name_value(field, value)
    is_iri = name == value and field in ("type", "property") and value.startswith(("http://", "https://", "urn:"))
    local = clean_text(split_iri(value)[1]).strip() if is_iri else ""
    return local or clean_text(name)


def name_ontologies(iris: Sequence[str]) -> dict[str, str]:
    """Ontologies as people write them, by IRI; where two have one prefix, each with its namespace."""
    names = {iri: clean_text(name_value("ontology", iri)) for iri in iris}
    counts = Counter(names.values())
    return {iri: name if counts[name] == 1 else f"{name} · {clean_text(iri)}" for iri, name in names.items()}


def is_called(field: str, value: str, name: str) -> bool:
    """Whether a person means a value by a name: schema:Person, person and the IRI are one."""
    asked = fold_iri(name).lower()
    if asked in (value.lower(), name_value(field, value).lower()):
        return True
    if field == "ontology":
        return asked in list_prefixes(value)
    return field in ("type", "property") and asked == find_short_name(value)


def _list_values(choices: Iterable[Choice]) -> Iterator[str]:
    for choice in choices:
        yield choice.value
        yield from _list_values(choice.inside)


def _clean(value: str) -> str:
    return clean_text(value[:MAX_TEXT_CHARS])


def _without(values: tuple[str, ...], taken: Iterable[str]) -> tuple[str, ...]:
    gone = set(taken)
    return tuple(value for value in values if value not in gone)
