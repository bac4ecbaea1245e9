"""RDFa 1.1 and 1.0: a tree enters, the statements of its attributes leave.

Native selectors find the elements that can make statements, and `walk` (`walk10` for RDFa 1.0) computes the evaluation
contexts of these elements only. `evaluation` has names and contexts, `literals` values, `host_languages` what differs
between HTML, XHTML and XML. Property copying and vocabulary expansion (`expansion`) follow where the page or the
settings ask for them.
"""

from typing import NamedTuple

from rdfspider.config import ExtractConfig
from rdfspider.extract.dom import Document, Element, parse_html
from rdfspider.extract.rdfa.evaluation import ProcessorGraph
from rdfspider.extract.rdfa.expansion import copy_patterns, expand_vocabularies
from rdfspider.extract.rdfa.host_languages import CORE_TERMS, HostLanguage, find_host_language
from rdfspider.extract.rdfa.walk import Walk
from rdfspider.extract.rdfa.walk10 import Walk10
from rdfspider.extract.statements import Problems, Statements
from rdfspider.records import Content, ContentKind
from rdfspider.vocabulary.terms import Triple

# Elements that make statements where no vocabulary is declared: only few link types are terms then. The parser takes two
# thirds of the time for one `:is` that it takes for a list of selectors.
_LINK_TYPES = "".join(f',[rel~="{term}" i]' for term in CORE_TERMS)
_STATING = f':is([property],[typeof],[vocab],[role],[rev],[rel]:is([rel*=":"]{_LINK_TYPES}))'
# Elements that may make statements where any link type may be a term.
_ANNOTATED = "[property],[typeof],[vocab],[role],[rel],[rev]"
# Elements that may complete the incomplete triples of an ancestor with @rel or @rev and no object.
_RESOURCES = "[about],[resource],[href],[src],[rel],[rev]"
_EVERYTHING = f"{_ANNOTATED},{_RESOURCES}"
_WITHOUT_TARGET = "[rel]:not([href]),[rev]:not([href])"


class _Selection(NamedTuple):
    """The elements to visit, in document order; whether triples may be incomplete; whether there are lists."""

    elements: list[Element]
    incomplete: bool
    lists: bool


def extract_rdfa(tree: Document, content: Content, out: Statements, version: str | None = None) -> None:
    """Add the page's statements in RDFa; `version` ("1.0", "1.1") overrides the version that the page declares."""
    processor_graph = ProcessorGraph() if out.config.processor_graph else None
    for triple in _read_triples(tree, content, out, version, processor_graph):
        out.add(*triple)
        if out.full:
            break
    if processor_graph is not None:
        processor_graph.write(out)


def extract_processor_graph(tree: Document | str, content: Content, out: Statements) -> None:
    """Add the processor graph only; for XML that is not well-formed, `tree` is the error message."""
    processor_graph = ProcessorGraph()
    if isinstance(tree, str):
        processor_graph.report("Error", "DocumentError", tree)
    else:
        _read_triples(tree, content, out, None, processor_graph)
    processor_graph.write(out)


def _read_triples(
    tree: Document, content: Content, out: Statements, version: str | None, processor_graph: ProcessorGraph | None
) -> list[Triple]:
    host_language = find_host_language(tree, content, version)
    selection = _select_elements(tree, host_language, everything=processor_graph is not None)
    if not selection.elements:
        return []
    walk = (Walk10 if host_language.rdfa10 else Walk)(tree, content, out, host_language, processor_graph)
    walk.visit(*selection)
    triples = walk.triples
    if host_language.patterns and walk.copies:
        triples = copy_patterns(triples, out.config.max_quads)
    if out.config.vocabulary_expansion and walk.vocabularies:
        triples = triples + expand_vocabularies(triples, walk.vocabularies, out, _read_vocabulary)
    return triples


def _select_elements(tree: Document, host_language: HostLanguage, everything: bool) -> _Selection:
    """The elements that can make statements: as few as the page allows."""
    if everything:
        return _Selection(tree.select(_EVERYTHING), True, True)
    if host_language.terms is CORE_TERMS:
        elements = tree.select(_STATING)
        vocabularies = [element for element in elements if element.matches("[vocab]")]
        if vocabularies:
            elements = _widen(tree, elements, vocabularies, "[rel],[vocab]")
    else:
        elements = tree.select(_ANNOTATED)
    incomplete = [element for element in elements if _may_be_incomplete(element)]
    if incomplete:
        elements = _widen(tree, elements, incomplete, _RESOURCES)
    return _Selection(elements, bool(incomplete), any(element.matches("[inlist]") for element in elements))


def _may_be_incomplete(element: Element) -> bool:
    if not element.matches(_WITHOUT_TARGET):
        return False
    resource = element.attr("resource")
    return resource is None or "[" in resource


def _widen(tree: Document, elements: list[Element], roots: list[Element], selector: str) -> list[Element]:
    """The elements, and the descendants of the roots that match the selector, in document order. Roots must match it
    too.

    A selector with a combinator would do the same, but checks the attributes of every ancestor for each element.
    """
    chosen = set(elements)
    searched: set[Element] = set()
    for root in roots:
        if root not in searched:
            searched.update(root.select(selector))
    chosen |= searched
    return [element for element in tree.select(_EVERYTHING) if element in chosen]


def _read_vocabulary(text: str, url: str) -> list[Triple]:
    """The triples of a vocabulary in HTML; the vocabularies that it uses itself are not expanded."""
    out = Statements(url, url, "rdfa", ExtractConfig(), Problems())
    return _read_triples(parse_html(text), Content("text/html", ContentKind.HTML, "utf-8", text), out, None, None)
