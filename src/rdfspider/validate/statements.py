"""Statements as rules see them: the N-Quads of a page enter; its things leave, by syntax, with their classes and values.

Only statements with a property that some rule is about are kept; terms stay as they are written in N-Quads.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

from rdfspider.validate.terms import ClassTerms, PropertyTerm, PropertyTerms, find_classes
from rdfspider.vocabulary.labels import RDF_TYPE
from rdfspider.vocabulary.terms import unescape

MAX_STATEMENTS = 20_000
"""The most statements of a syntax that are read; no page of use to people has as many."""
_TYPE = f"<{RDF_TYPE}>"
_MAX_DEPTH = 8
_MAX_TYPES = 100
"""The most classes of a thing that are read."""
_NAME_CHARS = 200
"""How much of a name a path has."""
_MAX_CHARS = 20_000
"""How much of a literal is read."""
_MAPPED = frozenset(("microformats", "meta", "feed", "page"))
"""Syntaxes that authors write without schema.org: its terms are our own mapping."""

Values = list[tuple[PropertyTerm, str]]


class SyntaxStatements:
    """The things of a page as one syntax describes them."""

    __slots__ = ("_nquads", "_parents", "_subjects", "is_cut", "syntax", "things", "types")

    def __init__(self, syntax: str, nquads: str, terms: PropertyTerms) -> None:
        self.syntax = syntax
        self.types: dict[str, tuple[str, ...]] = {}
        """The terms of each thing's classes, in their order."""
        self.things: dict[str, Values] = {}
        """The values of each thing's properties, in their order."""
        self.is_cut = False
        """Whether there are more statements than are read."""
        self._nquads = nquads
        self._parents: dict[str, tuple[str, str]] | None = None
        self._subjects: frozenset[str] | None = None
        self._read(nquads, terms)

    def _read(self, nquads: str, terms: PropertyTerms) -> None:
        things, types = self.things, self.types
        lines = nquads.split("\n")
        # The last line ends too.
        self.is_cut = len(lines) > MAX_STATEMENTS + 1
        for line in islice(lines, MAX_STATEMENTS):
            if not line or line[0] == " ":
                continue
            try:
                subject, predicate, rest = line.split(" ", 2)
                # The rest is the value, the graph and the point; a graph has no blanks.
                end = rest.rindex(" ", 1, -2)
            except ValueError:
                # Archives made elsewhere may have lines that are no quads.
                continue
            if predicate == _TYPE:
                known_types = types.get(subject, ())
                if len(known_types) < _MAX_TYPES:
                    types[subject] = (*known_types, rest[:end])
            elif (term := terms[predicate]) is not None:
                value = rest[:end]
                known = things.get(subject)
                if known is None:
                    things[subject] = [(term, value)]
                else:
                    known.append((term, value))

    def find_classes(self, thing: str) -> ClassTerms:
        """Return the classes of a thing, which may be none."""
        return find_classes(self.types.get(thing, ()))

    def is_described(self, thing: str) -> bool:
        """Return whether there is any statement about a thing, with whatever property."""
        if thing in self.things or thing in self.types:
            return True
        if self._subjects is None:
            self._subjects = frozenset(line.partition(" ")[0] for line in self._nquads.split("\n"))
        return thing in self._subjects

    @property
    def parents(self) -> Mapping[str, tuple[str, str]]:
        """The first thing that has a thing as a value, and the property."""
        if self._parents is None:
            self._parents = {}
            for subject, values in self.things.items():
                for term, value in values:
                    if value[0] != '"' and value != subject:
                        self._parents.setdefault(value, (subject, term.name))
        return self._parents

    def write_path(self, thing: str, *names: str) -> str:
        """Write the path to a property of a thing, from the outermost thing, or from the nearest one with an IRI."""
        path = list(names)
        for _ in range(_MAX_DEPTH):
            above = self.parents.get(thing) if thing[0] == "_" else None
            if above is None:
                break
            thing, name = above
            path.insert(0, name)
        start = self.find_classes(thing).name
        return ".".join(step[:_NAME_CHARS] for step in ((start, *path) if start or not path else path))


def read_text(literal: str) -> str:
    """Return the text of a literal of N-Quads, cut if it is very long."""
    return unescape(literal[1 : min(literal.rindex('"'), _MAX_CHARS)])


def read_syntaxes(
    statements: Mapping[str, str], terms: PropertyTerms, marks: tuple[str, ...]
) -> Iterator[SyntaxStatements]:
    """Read the statements of a page; syntaxes without any of the marks, which are namespaces, are left out."""
    for syntax, nquads in statements.items():
        if syntax not in _MAPPED and any(mark in nquads for mark in marks):
            yield SyntaxStatements(syntax, nquads, terms)
