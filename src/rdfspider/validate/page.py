"""A page's statements and problems enter, Findings leave: which terms, values and references are wrong, and what is missing.

Nothing in a page makes it raise. `terms.py` and `values.py` have the facts, `requirements.py` what a profile requires,
`page_conflicts.py` finds contradictions between syntaxes, `faults.py` says what problems of extraction mean.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from rdfspider.records import Problem
from rdfspider.validate.faults import explain_code
from rdfspider.validate.findings import Finding, Severity, merge_findings
from rdfspider.validate.page_conflicts import find_page_conflicts
from rdfspider.validate.profiles import Profile
from rdfspider.validate.requirements import find_missing
from rdfspider.validate.statements import MAX_STATEMENTS, SyntaxStatements, read_syntaxes, read_text
from rdfspider.validate.terms import ClassTerms, PropertyTerm, PropertyTerms
from rdfspider.validate.values import Verdict, check_member_iri, quote_value, write_choice
from rdfspider.vocabulary.labels import decode_references
from rdfspider.vocabulary.names import shorten_iri
from rdfspider.vocabulary.prefixes import RDF
from rdfspider.vocabulary.schema_terms import (
    DATA_TYPES,
    find_lineage,
    load_properties,
    load_superseded_classes,
    suggest_class,
    suggest_property,
    suggest_term,
)
from rdfspider.vocabulary.terms import graph_term

MAX_FINDINGS = 1_000
"""The most findings of a page and of one severity, before equal ones are counted together; hints never crowd out errors."""
_VALUE_CHARS, _MESSAGE_CHARS = 200, 500
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_BARE_HOST = re.compile(r"www\.[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?:[/?#>]|$)", re.IGNORECASE)
_TEMPLATE = re.compile(r"\{[\w?&, ]+\}")
"""A URL template, as schema.org's actions have it."""
_MARKUP = (f"^^<{RDF}HTML>", f"^^<{RDF}XMLLiteral>")
_LINK_TYPES = frozenset(
    "alternate author bookmark canonical contents copyright dns-prefetch external help home icon index last license "
    "manifest modulepreload next nofollow noopener noreferrer opener pingback preconnect prefetch preload prev previous "
    "privacy-policy role search section shortlink sponsored start stylesheet subsection tag terms-of-service top ugc up".split()
)
"""What links of HTML say in `rel`, which RDFa takes for properties of the page's vocabulary."""


class Validator:
    """Finds what is wrong with pages, by one profile. It remembers terms, so one is used for many pages."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._terms = PropertyTerms(profile.vocabularies)
        self._marks = ("//schema.org/", "//www.schema.org/", *profile.vocabularies)

    def check(self, url: str, statements: Mapping[str, str], problems: Iterable[Problem] = ()) -> list[Finding]:
        """Return the findings of a page, the worst first."""
        page = _PageCheck(url, self.profile)
        syntaxes = list(read_syntaxes(statements, self._terms, self._marks))
        for one in syntaxes:
            page.check_syntax(one, syntaxes)
        page.check_requirements(syntaxes)
        page.check_conflicts(syntaxes)
        cut = f"only the first {MAX_STATEMENTS:,} statements of it were checked"
        page.check_problems(
            [*problems, *(Problem("statements-cut", cut, one.syntax) for one in syntaxes if one.is_cut)]
        )
        return merge_findings(page.findings)


class _PageCheck:
    """The check of one page."""

    def __init__(self, url: str, profile: Profile) -> None:
        self.findings: list[Finding] = []
        self._room = dict.fromkeys(Severity, MAX_FINDINGS)
        self._url = url
        own = graph_term(url)[:-1].partition("#")[0]
        self._own_start = f"{own}#"
        # Where a relative address can begin: in the folder of the page, or at the root of its host.
        self._folders = {own[: own.rfind("/") + 1], own[: own.find("/", own.find("//") + 2) + 1]}
        self._profile = profile

    def add(self, verdict: Verdict, one: SyntaxStatements, thing: str, name: str = "", value: str = "") -> None:
        """Add a finding, unless the rule does not hold."""
        severity = self._profile.find_severity(verdict.rule)
        if severity is None or self._room[severity] == 0:
            return
        self._room[severity] -= 1
        path = one.write_path(thing, name) if name else one.write_path(thing)
        self.findings.append(
            Finding(
                severity,
                verdict.rule,
                verdict.message[:_MESSAGE_CHARS],
                self._url,
                one.syntax,
                path,
                one.find_classes(thing).name[:_VALUE_CHARS],
                value[:_VALUE_CHARS],
                thing,
            )
        )

    def check_syntax(self, one: SyntaxStatements, syntaxes: Sequence[SyntaxStatements]) -> None:
        """Check classes, properties and values."""
        find_classes = one.find_classes
        for thing in one.types:
            classes = find_classes(thing)
            if classes.unknown or classes.superseded:
                self._check_classes(classes, one, thing)
        types = one.types
        for thing, values in one.things.items():
            properties = find_classes(thing).properties if thing in types else None
            for term, value in values:
                if (properties is not None and term.name not in properties) or not term.is_known or term.superseded_by:
                    self._check_property(term, value, one, thing)
                if value[0] == '"':
                    if term.check is not None or value[1:2] in '"\\ ' or "&" in value:
                        self._check_literal(term, value, one, thing)
                elif (
                    value in types
                    or value[0] == "_"
                    or term.is_enumeration
                    or not term.has_url
                    or "#" in value
                    or "/www." in value
                ):
                    self._check_resource(term, value, one, thing, syntaxes)

    def check_requirements(self, syntaxes: Sequence[SyntaxStatements]) -> None:
        """Check what the profile requires and recommends."""
        if self._profile.classes:
            for one, thing, name, verdict in find_missing(syntaxes, self._profile):
                self.add(verdict, one, thing, name)

    def check_conflicts(self, syntaxes: Sequence[SyntaxStatements]) -> None:
        """Check that syntaxes do not contradict each other."""
        for one, thing, name, verdict in find_page_conflicts(syntaxes):
            self.add(verdict, one, thing, name)

    def check_problems(self, problems: Iterable[Problem]) -> None:
        """Report what was repaired, dropped or cut when the page was read."""
        if self._profile.find_severity("markup") is None:
            return
        for problem in problems:
            if problem.code == "iri-repaired" and _TEMPLATE.search(problem.message):
                continue
            fault = explain_code(problem.code)
            message = f"{fault.meaning} {fault.advice} ({problem.message})"
            self.findings.append(
                Finding(
                    fault.severity,
                    "markup",
                    message,
                    self._url,
                    problem.syntax or "",
                    value=problem.code,
                    count=problem.count,
                )
            )

    def _check_classes(self, classes: ClassTerms, one: SyntaxStatements, thing: str) -> None:
        for name in classes.unknown:
            if not name:
                self.add(
                    Verdict("unknown-class", "a thing is of no class: https://schema.org/ alone names none"), one, thing
                )
                continue
            meant = suggest_class(name)
            if meant.lower() == name.lower():
                self.add(Verdict("class-case", f"{name}: schema.org writes {meant}"), one, thing, value=name)
            else:
                advice = f"; did you mean {meant}?" if meant else ""
                self.add(
                    Verdict("unknown-class", f"schema.org has no class {quote_value(name)}{advice}"),
                    one,
                    thing,
                    value=name,
                )
        for name in classes.superseded:
            successor = load_superseded_classes()[name]
            self.add(Verdict("superseded", f"{name} is superseded by {successor}"), one, thing, value=name)

    def _check_property(self, term: PropertyTerm, value: str, one: SyntaxStatements, thing: str) -> None:
        name = term.name
        if term.vocabulary:
            meant = suggest_term(name, self._profile.vocabularies[term.vocabulary])
            advice = f"; did you mean {meant}?" if meant else ""
            message = f"{shorten_iri(term.vocabulary + name)}: its vocabulary has no such term{advice}"
            self.add(Verdict("unknown-term", message), one, thing, name)
        elif not term.is_known:
            is_link = one.syntax == "rdfa" and name.lower() in _LINK_TYPES
            if not is_link and not one.find_classes(thing).is_extended:
                self._refuse_property(name, one, thing)
        elif term.superseded_by:
            self.add(Verdict("superseded", f"{name} is superseded by {term.superseded_by}"), one, thing, name)
        elif one.syntax != "rdfa" or name not in _LINK_TYPES or value[0] != "<":
            classes = one.find_classes(thing)
            owners = load_properties()[name].domains
            message = f"{' and '.join(classes.names)} has no property {name}; {write_choice(owners)} has it"
            self.add(Verdict("property-of-class", message), one, thing, name)

    def _refuse_property(self, name: str, one: SyntaxStatements, thing: str) -> None:
        meant = suggest_property(name)
        if name and meant.lower() == name.lower():
            self.add(Verdict("property-case", f"{name}: schema.org writes {meant}"), one, thing, name)
        else:
            advice = f"; did you mean {meant}?" if meant else ""
            self.add(
                Verdict("unknown-property", f"schema.org has no property {quote_value(name)}{advice}"), one, thing, name
            )

    def _check_literal(self, term: PropertyTerm, value: str, one: SyntaxStatements, thing: str) -> None:
        text = read_text(value)
        if not text.strip():
            self.add(Verdict("empty-value", f"{term.name} has no text"), one, thing, term.name)
            return
        if term.check is not None and (verdict := term.check(text)):
            self.add(verdict, one, thing, term.name, text)
        if is_escaped_twice(text) and not value.endswith(_MARKUP):
            where = (
                "JSON-LD does not decode"
                if one.syntax == "jsonld"
                else "are still there after decoding: they are escaped twice"
            )
            message = f"{quote_value(text)} has character references, which {where}"
            self.add(Verdict("escaped-twice", message), one, thing, term.name, text)

    def _check_resource(
        self, term: PropertyTerm, value: str, one: SyntaxStatements, thing: str, syntaxes: Sequence[SyntaxStatements]
    ) -> None:
        if value in one.types:
            self._check_value_class(term, value, one, thing)
        elif value[0] == "_":
            if not one.is_described(value):
                self.add(
                    Verdict("empty-thing", f"{term.name} is a thing that nothing is said about"), one, thing, term.name
                )
        elif term.is_enumeration:
            if verdict := check_member_iri(value[1:-1], term.ranges):
                self.add(verdict, one, thing, term.name, value[1:-1])
        elif not term.has_url and term.is_known:
            message = (
                f"{term.name} is the URL {quote_value(value[1:-1])}, where schema.org has {write_choice(term.ranges)}"
            )
            self.add(Verdict("url-for-text", message), one, thing, term.name, value[1:-1])
        elif any(value.startswith(folder) and _BARE_HOST.match(value, len(folder)) for folder in self._folders):
            message = f"{quote_value(value[1:-1])} is an address without https:// before it, so it was read as part of this site"
            self.add(Verdict("url-form", message), one, thing, term.name, value[1:-1])
        elif (
            value.startswith(self._own_start)
            and term.is_known
            and "URL" not in term.ranges
            and len(value) > len(self._own_start) + 1
        ):
            self._check_reference(term, value, one, thing, syntaxes)

    def _check_value_class(self, term: PropertyTerm, value: str, one: SyntaxStatements, thing: str) -> None:
        ranges = term.ranges
        lineage = one.find_classes(value).lineage
        if not ranges or "Thing" in ranges or not lineage.isdisjoint(ranges) or not term.is_known:
            return
        if value[0] == "<" and "URL" in ranges:
            return
        classes = one.find_classes(value)
        if classes.properties is None or any(name in find_lineage(each) for each in ranges for name in classes.names):
            # Of another vocabulary, unknown, a role; or of a class that is only too general.
            return
        if not ranges <= DATA_TYPES:
            message = (
                f"{term.name} is of class {' and '.join(classes.names)}, where schema.org has {write_choice(ranges)}"
            )
            self.add(Verdict("value-class", message), one, thing, term.name)
        elif value[0] == "_" or not term.has_url:
            message = f"{term.name} is a thing of class {classes.name}, where schema.org has {write_choice(ranges)}"
            self.add(Verdict("thing-for-text", message), one, thing, term.name)

    def _check_reference(
        self, term: PropertyTerm, value: str, one: SyntaxStatements, thing: str, syntaxes: Sequence[SyntaxStatements]
    ) -> None:
        if one.syntax in ("jsonld", "rdfa", "rdf") and not any(each.is_described(value) for each in syntaxes):
            message = f"{term.name} refers to {quote_value(value[1:-1])}, which nothing on the page describes"
            self.add(Verdict("dangling-reference", message), one, thing, term.name, value[1:-1])


def is_escaped_twice(text: str) -> bool:
    """Return whether a text has character references without being a piece of HTML, where they belong."""
    return decode_references(text) != text and not _TAG.search(text)
