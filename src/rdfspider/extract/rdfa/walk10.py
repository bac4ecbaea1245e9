"""The processing sequence of RDFa in XHTML 1.0, section 5.5, where it differs from that of RDFa Core 1.1.

@src sets the subject, @typeof gives the subject a type, the only terms are link types, and markup in a value makes it
an XML literal, whose content is not processed. Docstrings have the numbers of the steps in RDFa in XHTML 1.0.
"""

from rdfspider.extract.dom import Element
from rdfspider.extract.rdfa.evaluation import EvaluationContext, LocalElement, text_value, tokens_of
from rdfspider.extract.rdfa.literals import XML_LITERAL
from rdfspider.extract.rdfa.walk import Walk
from rdfspider.vocabulary.terms import RDF_TYPE_TERM


class Walk10(Walk):
    """The processing of one page by RDFa 1.0."""

    def _annotate(self, element: LocalElement) -> EvaluationContext | None:
        """Steps 4 to 11; None where the element's descendants are not processed."""
        if element.rel is not None or element.rev is not None:
            self._set_related_subject(element)
        else:
            self._set_subject(element)
        self._add_types(element)
        self._add_relations(element)
        value = self._add_property10(element) if "property" in element.attributes else None
        self._complete_triples(element)
        if value is not None and value.endswith(f"^^{XML_LITERAL}"):
            return None
        return self._next_context(element)

    def _set_subject(self, element: LocalElement) -> None:
        """Step 4: without @rel and @rev, the first of four attributes gives the subject."""
        subject = self._about(element) or self._link(element, "src") or self._object(element)
        if subject is None:
            subject = self._implied_subject(element)
        if subject is None:
            subject = element.context.object
            element.skip = "property" not in element.attributes
        element.subject = subject

    def _set_related_subject(self, element: LocalElement) -> None:
        """Step 5: with @rel or @rev, @about and @src give the subject, @resource and @href the object."""
        subject = self._about(element) or self._link(element, "src") or self._implied_subject(element)
        element.subject = subject or element.context.object
        element.object = self._object(element)

    def _implied_subject(self, element: LocalElement) -> str | None:
        """In both steps: the subject of `head` and `body` is the page, that of an element with @typeof a new blank node."""
        if self._is_head_or_body(element.node):
            return self._base_term
        return self._out.blank() if "typeof" in element.attributes else None

    def _add_types(self, element: LocalElement) -> None:
        """Step 6."""
        if "typeof" in element.attributes:
            for term in element.names.curies(tokens_of(element.attributes["typeof"])):
                self.triples.append((element.subject, RDF_TYPE_TERM, term))

    def _add_property10(self, element: LocalElement) -> str | None:
        """Step 9: add the triples of @property; returns their value."""
        predicates = element.names.curies(tokens_of(element.attributes["property"]))
        value = self._find_value(element) if predicates else None
        if value is not None:
            self.triples.extend((element.subject, predicate, value) for predicate in predicates if predicate[0] == "<")
        return value

    def _find_value(self, element: LocalElement) -> str | None:
        """Step 9, the current object literal: markup makes it XML, unless the datatype says otherwise."""
        attributes, literals = element.attributes, self._literals
        content = text_value(attributes["content"]) if "content" in attributes else None
        datatypes = element.names.curies(tokens_of(attributes.get("datatype")))
        if datatypes and datatypes[0][0] == "<":
            return literals.typed(element.node, content, datatypes[0])
        if content is None and "datatype" not in attributes and _has_markup(element.node):
            return literals.xml(element.node)
        return literals.plain(literals.text_of(element.node) if content is None else content, element.language)

    def _link(self, element: LocalElement, name: str) -> str | None:
        value = element.attributes.get(name)
        return self._page.reference(value, element.base) if isinstance(value, str) else None

    def _object(self, element: LocalElement) -> str | None:
        value = element.attributes.get("resource")
        resource = element.names.resource(value, element.base) if isinstance(value, str) else None
        return resource or self._link(element, "href")


def _has_markup(node: Element) -> bool:
    return any(isinstance(child, Element) for child in node.children)
