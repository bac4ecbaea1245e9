"""The evaluation context of RDFa Core 1.1 (sections 7.2 to 7.5): prefixes, terms and vocabularies in scope, incomplete
triples, lists.

Attributes of elements enter, terms leave. Contexts are what an element passes on to its descendants; a `LocalElement`
exists while its element is processed. Also here are the statements of @role, and the processor graph (section 7.6),
which the resolution of names reports to.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rdfspider.extract.dom import Document, Element
from rdfspider.extract.rdfa.host_languages import HostLanguage
from rdfspider.extract.statements import MAX_STATEMENT_CHARS, Statements
from rdfspider.urls import resolve_iri, valid_iri
from rdfspider.vocabulary.prefixes import DCTERMS, RDFA, RDFA_INITIAL_CONTEXT, XHV
from rdfspider.vocabulary.terms import RDF_FIRST, RDF_NIL, RDF_REST, RDF_TYPE_TERM, Triple

_DESCRIPTION = f"<{DCTERMS}description>"
_CONTEXT = f"<{RDFA}context>"
_ROLE = f"<{XHV}role>"
# Reports are for people; nobody reads more about one page.
_MAX_REPORTS = 1000
_BESIDE_ROLE = "[property],[typeof],[rel],[rev],[vocab]"
_PLAIN_ID = re.compile(r"[A-Za-z0-9_\-]{1,200}")
_TERM = re.compile(r"[^\W\d][\w.\-/\u00b7]*")
_PREFIX = re.compile(r"[^\W\d][\w.\-\u00b7]*")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
# Prefix mappings that are made for one page in all: nested declarations multiply them.
_MAX_MAPPINGS = 500_000
# Names of properties and classes are shorter, and are cached across pages.
_USUAL_CHARS = 200

Attributes = dict[str, str | list[str] | None]
"""Attributes as the tree has them: link types are lists, and attributes without a value may be None."""

IncompleteTriple = tuple[str, str | list[str]]
"""An incomplete triple: `forward` or `reverse` with its predicate, or `list` with the list to add members to."""


class ProcessorGraph:
    """The reports on one page, each once, in order of appearance. They have no time, so that equal pages give equal graphs."""

    def __init__(self) -> None:
        self._reports: dict[tuple[str, str, str], None] = {}

    def report(self, kind: str, subclass: str, message: str) -> None:
        """Record an `Error` or a `Warning`; `subclass` is the more specific class that RDFa defines, or empty."""
        if len(self._reports) < _MAX_REPORTS:
            self._reports[kind, subclass, message] = None

    def write(self, out: Statements) -> None:
        """Add the processor graph to the statements."""
        for kind, subclass, message in self._reports:
            node = out.blank()
            out.add(node, RDF_TYPE_TERM, f"<{RDFA}{kind}>")
            if subclass:
                out.add(node, RDF_TYPE_TERM, f"<{RDFA}{subclass}>")
            out.add(node, _DESCRIPTION, out.literal(message))
            out.add(node, _CONTEXT, out.page)


class Names:
    """The prefixes and the default vocabulary in scope at an element."""

    __slots__ = ("_page", "_terms", "prefixes", "vocabulary")

    def __init__(self, page: "PageNames", prefixes: dict[str, str], vocabulary: str | None) -> None:
        self._page = page
        self._terms: dict[str, str | None] = {}
        self.prefixes = prefixes
        self.vocabulary = vocabulary

    def term(self, token: str) -> str | None:
        """TERMorCURIEorAbsIRI as a term, which may be a blank node; None where the token has no meaning."""
        try:
            return self._terms[token]
        except KeyError:
            found = self._terms[token] = self._page.find_term(token, self)
            return found

    def predicates(self, tokens: Sequence[str]) -> list[str]:
        """The IRIs of a list of TERMorCURIEorAbsIRIs, as terms; blank nodes cannot be predicates."""
        return [term for token in tokens if (term := self.term(token)) is not None and term[0] == "<"]

    def curies(self, tokens: Sequence[str]) -> list[str]:
        """RDFa 1.0: the terms of a list of CURIEs; @property and @typeof allow nothing else."""
        found = [self._page.find_curie(token, self) for token in tokens]
        return [term for term in found if term is not None]

    def role(self, token: str) -> str | None:
        """A value of @role, whose default vocabulary is XHTML's."""
        roles = self._page.roles
        if token not in roles:
            roles[token] = f"<{XHV}{token}>" if _TERM.fullmatch(token) and "/" not in token else None
        return roles[token] or self.term(token)

    def resource(self, value: str, base: str) -> str | None:
        """SafeCURIEorCURIEorIRI as a term; None where the attribute is to be ignored."""
        page = self._page
        value = value.strip()
        if value.startswith("[") and value.endswith("]"):
            curie = value[1:-1].strip()
            found = page.find_curie(curie, self)
            if found is None and curie:
                page.report_curie(curie)
            return found
        if page.host_language.rdfa10:
            return page.reference(value, base)
        return page.find_curie(value, self) or page.reference(value, base)


class PageNames:
    """Resolves the names of a page, and makes the `Names` in scope at its elements."""

    __slots__ = ("_children", "_mappings", "_out", "_processor_graph", "host_language", "initial", "roles", "room")

    def __init__(self, out: Statements, host_language: HostLanguage, processor_graph: ProcessorGraph | None) -> None:
        self._out = out
        self._processor_graph = processor_graph
        self._mappings = 0
        self.room = MAX_STATEMENT_CHARS
        """Characters of terms that may still be made: a page can repeat one long prefix or base a million times."""
        self._children: dict[tuple[Names, str | None, str | None, tuple[tuple[str, str], ...]], Names] = {}
        self.roles: dict[str, str | None] = {}
        self.host_language = host_language
        self.initial = Names(self, {}, None)

    def derive(
        self, parent: Names, vocab: str | None, prefix: str | None, namespaces: tuple[tuple[str, str], ...]
    ) -> Names:
        """The names in scope at an element with these declarations; equal ones share one object."""
        key = (parent, vocab, prefix, namespaces)
        names = self._children.get(key)
        if names is None:
            vocabulary = parent.vocabulary if vocab is None else self._shortened(vocab) or None
            names = self._children[key] = Names(self, self._declared(parent, prefix, namespaces), vocabulary)
        return names

    def _declared(self, parent: Names, prefix: str | None, namespaces: tuple[tuple[str, str], ...]) -> dict[str, str]:
        """Step 3: @xmlns:* first, then @prefix, which overrides it; the underscore is not allowed as a prefix."""
        pairs = [*namespaces, *_prefix_pairs(prefix or "")]
        if not pairs:
            return parent.prefixes
        self._mappings += len(parent.prefixes) + len(pairs)
        if self._mappings > _MAX_MAPPINGS:
            self._out.problem("too-many-prefixes", "further declarations of prefixes were ignored")
            return parent.prefixes
        prefixes = dict(parent.prefixes)
        for name, iri in pairs:
            if name == "_" or not _PREFIX.fullmatch(name):
                self._report("Warning", "", f"not a prefix that can be declared: {name[:100]!r}")
                continue
            prefixes[name] = self._shortened(iri)
            if RDFA_INITIAL_CONTEXT.get(name, iri) != iri:
                self._report("Warning", "PrefixRedefinition", f"the prefix {name!r} is declared as {iri[:200]}")
        return prefixes

    def _shortened(self, iri: str) -> str:
        """The start of IRIs, cut where it is too long itself, so that refusing each IRI made of it stays cheap."""
        return iri[: self._out.config.max_iri_chars + 1]

    def find_term(self, token: str, names: Names) -> str | None:
        """7.4.3: a term by the default vocabulary or the initial context, else a CURIE, else an absolute IRI."""
        if self.room < 0:
            return None
        if _TERM.fullmatch(token):
            if names.vocabulary is not None:
                return self._iri(names.vocabulary + token)
            iri = self.host_language.terms.get(token) or self.host_language.terms.get(token.lower())
            if iri is None:
                self._report("Warning", "UnresolvedTerm", f"not a known term: {token[:200]!r}")
                return None
            return f"<{iri}>"
        found = self.find_curie(token, names)
        if found is None and not self.host_language.rdfa10 and _ABSOLUTE.match(token):
            return self._iri(token)
        if found is None:
            self.report_curie(token)
        return found

    def find_curie(self, text: str, names: Names) -> str | None:
        """7.4.2: the term of a CURIE whose prefix is known."""
        prefix, colon, reference = text.partition(":")
        if not colon or self.room < 0:
            return None
        if prefix == "_":
            return self._out.named_blank(reference)
        prefix = prefix.lower()
        iri = names.prefixes.get(prefix)
        if iri is None and (not prefix or not self.host_language.rdfa10):
            iri = RDFA_INITIAL_CONTEXT.get(prefix)
        return None if iri is None else self._iri(iri + reference)

    def reference(self, value: str, base: str) -> str:
        """The term of an IRI reference; for an invalid one a blank node, so that its statements get no wrong subject."""
        return self._make_iri(resolve_iri(base, value.strip())) or self._out.blank()

    def find_base(self, tree: Document) -> str:
        """The page's base: by its root's @xml:base, or by its `base` element where `page` has not read that already."""
        out = self._out
        if self.host_language.xml_base and tree.root is not None:
            return self.resolve_base(out.base, tree.root.attr("xml:base") or "")
        if self.host_language.base_element and out.base == out.page[1:-1]:
            element = tree.select_one("base[href]")
            if element is not None:
                return self.resolve_base(out.base, element.attr("href") or "")
        return self.resolve_base(out.base, "")

    def resolve_base(self, base: str, reference: str) -> str:
        """A new base; the page's URL in place of one that is too long, since every IRI would be resolved against it."""
        found = resolve_iri(base, reference.strip())
        return found if len(found) <= self._out.config.max_iri_chars else self._out.page[1:-1]

    def report_curie(self, curie: str) -> None:
        """Report a CURIE that cannot be resolved to the processor graph."""
        self._report("Warning", "UnresolvedCURIE", f"not a CURIE with a known prefix: {curie[:200]!r}")

    def _iri(self, text: str) -> str | None:
        """The term of an IRI. Prefixes and vocabularies may be relative: to the page's URL, not to its base."""
        if len(text) < _USUAL_CHARS and (usual := _usual_iri(text)) is not None:
            self.room -= len(text)
            return usual
        return self._make_iri(text if _ABSOLUTE.match(text) else resolve_iri(self._out.page[1:-1], text))

    def _make_iri(self, text: str) -> str | None:
        self.room -= len(text)
        return self._out.iri(text) if self.room > 0 else None

    def _report(self, kind: str, subclass: str, message: str) -> None:
        if self._processor_graph is not None:
            self._processor_graph.report(kind, subclass, message)


class ListMapping:
    """The lists of one subject, by predicate, as far as they are collected."""

    __slots__ = ("items", "subject")

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self.items: dict[str, list[str]] = {}

    def write(self, triples: list[Triple], out: Statements) -> None:
        """Step 14: the triples of the lists, which are complete where the subject's element ends."""
        for predicate, members in self.items.items():
            node = out.blank() if members else RDF_NIL
            triples.append((self.subject, predicate, node))
            for number, member in enumerate(members, start=1):
                rest = out.blank() if number < len(members) else RDF_NIL
                triples.append((node, RDF_FIRST, member))
                triples.append((node, RDF_REST, rest))
                node = rest


@dataclass(slots=True, eq=False)
class EvaluationContext:
    """What an element passes on to its descendants."""

    subject: str
    object: str
    incomplete: list[IncompleteTriple]
    lists: ListMapping
    names: Names
    language: str | None
    base: str


class LocalElement:
    """An element being processed: its attributes, and the local values of step 1."""

    __slots__ = (
        "attributes",
        "base",
        "context",
        "incomplete",
        "language",
        "lists",
        "names",
        "node",
        "object",
        "rel",
        "rev",
        "skip",
        "subject",
        "typed",
    )

    def __init__(self, node: Element, attributes: Attributes, context: EvaluationContext) -> None:
        # Step 1.
        self.node = node
        self.attributes = attributes
        self.context = context
        self.names = context.names
        self.language = context.language
        self.base = context.base
        self.lists = context.lists
        self.rel = tokens_of(attributes["rel"]) if "rel" in attributes else None
        self.rev = tokens_of(attributes["rev"]) if "rev" in attributes else None
        self.skip = False
        self.subject: str = ""
        self.object: str | None = None
        self.typed: str | None = None
        self.incomplete: list[IncompleteTriple] = []


def tokens_of(value: str | list[str] | None) -> list[str]:
    """The tokens of an attribute that holds a list."""
    return value if isinstance(value, list) else (value or "").split()


def text_value(value: str | list[str] | None) -> str:
    """An attribute as one text."""
    return " ".join(value) if isinstance(value, list) else value or ""


class Roles:
    """The statements of @role (Role Attribute 1.0, section 4); `initial` is the page's initial evaluation context.

    Nearly all roles of real pages are plain words of ARIA, which need no other context.
    """

    def __init__(
        self,
        triples: list[Triple],
        out: Statements,
        host_language: HostLanguage,
        page: PageNames,
        initial: EvaluationContext,
    ) -> None:
        self._triples = triples
        self._out = out
        self._host_language = host_language
        self._page = page
        self._initial = initial

    def add_plain(self, element: Element, role: str) -> bool:
        """Add the roles of an element without other RDFa, which needs no context; False for any other element."""
        if ":" in role or self._host_language.xml_base or element.matches(_BESIDE_ROLE):
            return False
        self.add(role, element.attr("id") or "", self._initial)
        return True

    def add(self, role: str, name: str, context: EvaluationContext) -> None:
        """Add the roles of the element with this @id, or of a blank node."""
        tokens = role.split()
        if self._host_language.rdfa10 or not tokens:
            return
        if not name:
            subject = self._out.blank()
        elif context is self._initial and _PLAIN_ID.fullmatch(name):
            subject = f"{context.object[:-1]}#{name}>"
        else:
            subject = self._page.reference(f"#{name}", context.base)
        for token in tokens:
            term = context.names.role(token)
            if term is not None:
                self._triples.append((subject, _ROLE, term))


@lru_cache(maxsize=8192)
def _usual_iri(text: str) -> str | None:
    """The term of an absolute IRI that needs no repair; cached, since many pages use the same properties."""
    found = valid_iri(text)
    return f"<{text}>" if found is not None and not found.repaired else None


def _prefix_pairs(text: str) -> list[tuple[str, str]]:
    """The pairs in @prefix; a name without a colon is skipped."""
    pairs = []
    tokens = iter(text.split())
    for token in tokens:
        if token.endswith(":"):
            iri = next(tokens, None)
            if iri is not None:
                pairs.append((token[:-1].lower(), iri))
    return pairs
