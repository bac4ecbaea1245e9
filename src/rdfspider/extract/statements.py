"""Statements: what one syntax states on one page, collected as lines of N-Quads; and the problems of a page.

`Statements` makes terms as N-Triples writes them (`<iri>`, `_:label`, `"literal"@en`) and takes triples of such terms,
so every line is valid. Terms are text, not objects: a line costs a fraction of a microsecond, and quads are made only
when somebody asks for them.
"""

import re
from collections.abc import Callable, Iterable
from itertools import islice

import pyoxigraph
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, RdfFormat

from rdfspider.config import ExtractConfig
from rdfspider.records import Problem
from rdfspider.urls import resolve_iri, valid_iri
from rdfspider.vocabulary.prefixes import XSD
from rdfspider.vocabulary.terms import blank_prefix, graph_term, is_language, quoted

MAX_STATEMENT_CHARS = 128 * 1024 * 1024
"""Characters of N-Quads kept of one page and syntax: a short page can use one long prefix a million times."""

MAX_LANGUAGE_CHARS = 100
"""Characters of a language tag; no registered one is half as long, and that of an element is repeated with every text in it."""


_STRING = f"<{XSD}string>"
# A line of N-Quads in the default graph that is certainly valid; the terms of all others are checked one by one.
_PART = r"[A-Za-z0-9\-._~!$&'()*+,;=:@/]*+(?:%[0-9A-Fa-f]{2}[A-Za-z0-9\-._~!$&'()*+,;=:@/]*+)*+"
_IRI = rf"<https?://[A-Za-z0-9.\-]++(?:/{_PART})?+(?:\?{_PART})?+(?:\#{_PART})?+>"
_TEXT = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_PLAIN_LINE = re.compile(
    rf"(_:[A-Za-z0-9]++|{_IRI}) {_IRI} (_:[A-Za-z0-9]++|{_IRI}|{_TEXT}(?:\^\^{_IRI}|@[a-z]{{2,3}}(?:-[A-Za-z]{{2}})?+)?+) \."
)
# Few, because each may be as long as the longest IRI, and several copies are in memory at once.
_CHUNK_QUADS = 64

Report = Callable[[str, str], None]
"""Takes the code and the message of a problem."""


class Problems:
    """The problems of one page; those of the same code and syntax are counted as one, so they stay few."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str | None], tuple[str, int]] = {}

    def add(self, code: str, message: str, syntax: str | None = None) -> None:
        """Record a problem; only the first message of each code and syntax is kept."""
        first, count = self._found.get((code, syntax), (message, 0))
        self._found[code, syntax] = (first, count + 1)

    def listed(self) -> tuple[Problem, ...]:
        """The problems in order of their first appearance."""
        return tuple(
            Problem(code, message[:300], syntax, count) for (code, syntax), (message, count) in self._found.items()
        )


class Statements:
    """The statements of one syntax on one page: makes terms, takes triples, gives N-Quads.

    `full` becomes true when the page's limit of quads or characters is reached. What is added later is dropped, so a
    syntax with much left to read may stop.
    """

    __slots__ = (
        "_blanks",
        "_count",
        "_end",
        "_max_quads",
        "_prefix",
        "_room",
        "_url",
        "base",
        "config",
        "full",
        "lines",
        "missing_documents",
        "page",
        "problems",
        "spent_ns",
        "syntax",
    )

    def __init__(self, url: str, base: str, syntax: str, config: ExtractConfig, problems: Problems) -> None:
        self.base = base
        self.syntax = syntax
        self.config = config
        self.problems = problems
        self.full = False
        self.spent_ns = 0
        """Nanoseconds estimated so far for work that grows faster than the page; JSON-LD keeps a budget of them."""
        self.missing_documents: list[str] = []
        """URLs of documents that the page refers to and that `config.documents` does not have."""
        self.lines: list[str] = []
        self._room = MAX_STATEMENT_CHARS
        self.page = graph_term(url)
        """The page as a term: the subject of statements about it, and the name of its graph."""
        self._end = f" {self.page} ."
        self._max_quads = config.max_quads
        self._url = url
        self._prefix = ""
        self._blanks: dict[str, str] = {}
        self._count = 0

    def add(self, subject: str, predicate: str, obj: str) -> None:
        """Add one triple of finished terms."""
        # As `_append`, without a call for each of a page's hundred lines.
        line = f"{subject} {predicate} {obj}{self._end}"
        self._room -= len(line)
        if self._room >= 0 and len(self.lines) < self._max_quads:
            self.lines.append(line)
        else:
            self._refuse()

    def add_parsed(self, quads: Iterable[Quad], scope: str = "") -> None:
        """Add the quads of an RDF parser, which may be a lenient one: terms are checked, blank nodes are renamed.

        Equal labels are the same blank node only within one `scope`. Errors of the iterator are not caught.
        """
        iterator = iter(quads)
        while not self.full and (chunk := list(islice(iterator, _CHUNK_QUADS))):
            lines = (pyoxigraph.serialize(chunk, format=RdfFormat.N_QUADS) or b"").decode().split("\n")
            aligned = len(lines) == len(chunk) + 1
            for number, quad in enumerate(chunk):
                plain = _PLAIN_LINE.fullmatch(lines[number]) if aligned else None
                if plain is None or len(lines[number]) > self.config.max_iri_chars:
                    self._add_checked(quad, scope)
                    continue
                start, end = plain[1], plain[2]
                line = lines[number][:-1]
                if start[0] == "_":
                    line = self.named_blank(scope + start[2:]) + line[len(start) :]
                if end[0] == "_":
                    line = f"{line[: -len(end) - 1]}{self.named_blank(scope + end[2:])} "
                self._append(f"{line}{self.page} .")

    def blank(self) -> str:
        """A new blank node, named after the page's URL, the syntax and the order of appearance."""
        self._count += 1
        if not self._prefix:
            self._prefix = blank_prefix(self._url, self.syntax)
        return f"{self._prefix}{self._count}"

    def named_blank(self, label: str) -> str:
        """The blank node that has this label in the source."""
        node = self._blanks.get(label)
        if node is None:
            node = self._blanks[label] = self.blank()
        return node

    def forget_labels(self) -> None:
        """Let labels name new blank nodes from here on: another document of the same page begins."""
        self._blanks.clear()

    def iri(self, text: str) -> str | None:
        """The term for an absolute IRI, repaired where possible; None, with a Problem, where there is no valid one."""
        if len(text) > self.config.max_iri_chars:
            self.problem("iri-too-long", f"an IRI of {len(text)} characters was dropped: {text[:60]}…")
            return None
        found = valid_iri(text)
        if found is None:
            self.problem("iri-dropped", f"not a valid IRI: {text[:200]!r}")
            return None
        if found.repaired:
            self.problem("iri-repaired", f"{text[:200]!r} was read as {found.value[:200]}")
        return f"<{found.value}>"

    def resolve(self, reference: str) -> str | None:
        """The term for a reference, resolved against the page's base by RFC 3986."""
        return self.iri(resolve_iri(self.base, reference.strip(" \t\n\r\f")))

    def literal(self, text: str, language: str | None = None, datatype: str | None = None) -> str:
        """The term of a literal; `datatype` is the term of an IRI. An invalid language tag is dropped with a Problem."""
        if len(text) > self.config.max_literal_chars:
            self.problem(
                "literal-cut", f"a literal of {len(text)} characters was cut to {self.config.max_literal_chars}"
            )
            text = text[: self.config.max_literal_chars]
        term = quoted(text)
        if datatype:
            return term if datatype == _STRING else f"{term}^^{datatype}"
        if language:
            tag = language.strip().replace("_", "-")
            if len(tag) <= MAX_LANGUAGE_CHARS and is_language(tag):
                return f"{term}@{tag}"
            self.problem("language-dropped", f"not a language tag: {language[:60]!r}")
        return term

    def problem(self, code: str, message: str) -> None:
        """Record a problem of this syntax."""
        self.problems.add(code, message, self.syntax)

    def to_nquads(self) -> str:
        """The statements in order, without repetitions."""
        return "\n".join(dict.fromkeys(self.lines)) + "\n" if self.lines else ""

    def _append(self, line: str) -> None:
        self._room -= len(line)
        if self._room >= 0 and len(self.lines) < self._max_quads:
            self.lines.append(line)
        else:
            self._refuse()

    def _refuse(self) -> None:
        if not self.full:
            self.full = True
            self.problem("too-many-quads", f"only the first {len(self.lines)} quads were kept")

    def _add_checked(self, quad: Quad, scope: str) -> None:
        """Add a quad if all of its terms are valid; the graph that a source names is kept only with `keep_graphs`."""
        subject, predicate, obj = (self._term(term, scope) for term in (quad.subject, quad.predicate, quad.object))
        is_named = self.config.keep_graphs and not isinstance(quad.graph_name, DefaultGraph)
        graph = self._term(quad.graph_name, scope) if is_named else self.page
        if subject and predicate and obj and graph:
            self._append(f"{subject} {predicate} {obj} {graph} .")

    def _term(self, term: object, scope: str) -> str | None:
        if isinstance(term, NamedNode):
            return self.iri(term.value)
        if isinstance(term, BlankNode):
            return self.named_blank(scope + term.value)
        if isinstance(term, Literal):
            if term.language:
                if getattr(term, "direction", None):
                    self.problem("not-rdf-1.1", "the direction of a text was dropped")
                return self.literal(term.value, language=term.language)
            datatype = self.iri(term.datatype.value)
            return datatype and self.literal(term.value, datatype=datatype)
        self.problem("not-rdf-1.1", f"a term that RDF 1.1 does not have was dropped: {str(term)[:100]}")
        return None
