"""The processing sequence of RDFa (RDFa Core 1.1, section 7.5; RDFa in XHTML 1.0, section 5.5) over chosen elements.

Elements enter in document order, triples leave. The evaluation contexts of ancestors are computed when a descendant
first needs them, and are cached, so that elements without RDFa are never visited; an element that changes nothing
shares its parent's context. Docstrings have the numbers of the steps in RDFa Core 1.1.
"""

from rdfspider.extract.dom import Document, Element, Node
from rdfspider.extract.rdfa.evaluation import (
    Attributes,
    EvaluationContext,
    ListMapping,
    LocalElement,
    PageNames,
    ProcessorGraph,
    Roles,
    text_value,
    tokens_of,
)
from rdfspider.extract.rdfa.expansion import COPY
from rdfspider.extract.rdfa.host_languages import HostLanguage, find_pragma_language
from rdfspider.extract.rdfa.literals import Literals
from rdfspider.extract.statements import MAX_LANGUAGE_CHARS, Statements
from rdfspider.records import Content
from rdfspider.urls import resolve_iri
from rdfspider.vocabulary.prefixes import RDFA
from rdfspider.vocabulary.terms import RDF_TYPE_TERM, Triple

_USES_VOCABULARY = f"<{RDFA}usesVocabulary>"

# Attributes that set subjects, predicates and objects; attributes beside which @property and @content need full
# processing; and attributes that hold for a subtree.
_ANNOTATIONS = frozenset({"about", "resource", "href", "src", "typeof", "property", "rel", "rev"})
_BEYOND_CONTENT = _ANNOTATIONS - {"property"} | {"datatype", "inlist"}
_SETTINGS = frozenset({"vocab", "prefix", "lang", "xml:lang", "xml:base"})
_MEANT = ",".join(f"[{name}]" for name in sorted(_ANNOTATIONS | _SETTINGS)).replace(":", "\\:")


class Walk:
    """The processing of one page. `triples` grows in document order; `vocabularies` are those that the page declares."""

    def __init__(
        self,
        tree: Document,
        content: Content,
        out: Statements,
        host_language: HostLanguage,
        processor_graph: ProcessorGraph | None,
    ) -> None:
        self.triples: list[Triple] = []
        self.vocabularies: dict[str, None] = {}
        self.copies = False
        self._root = tree.root
        self._out = out
        self._host_language = host_language
        self._page = PageNames(out, host_language, processor_graph)
        self._literals = Literals(content, out, host_language, self._page)
        base = self._page.find_base(tree)
        self._base_term = out.iri(resolve_iri(base, "")) or out.page
        language = find_pragma_language(tree) if host_language.html else None
        lists = ListMapping(self._base_term)
        context = EvaluationContext(self._base_term, self._base_term, [], lists, self._page.initial, language, base)
        self._initial = context
        self._roles = Roles(self.triples, out, host_language, self._page, context)
        # None is the context inside XML literals, which an RDFa 1.0 processor does not read.
        self._contexts: dict[Node, EvaluationContext | None] = {tree: context}
        self._open_lists = [lists]
        self._lists = False
        self._waiting = 0

    def visit(self, elements: list[Element], incomplete: bool, lists: bool) -> None:
        """Process the elements, which are in document order; whether some have incomplete triples or make lists is given."""
        self._lists = lists
        room = self._out.config.max_quads
        for element in elements:
            role = element.attr("role")
            if role is None or incomplete or not self._roles.add_plain(element, role):
                self._visit(element, role)
            if len(self.triples) + self._waiting > room or self._page.room < 0:
                self._out.problem("too-many-triples", f"reading stopped after {len(self.triples)} triples")
                break
        while self._open_lists:
            self._open_lists.pop().write(self.triples, self._out)

    def _visit(self, element: Element, role: str | None) -> None:
        contexts, parent = self._contexts, element.parent
        context = contexts[parent] if parent in contexts else self._find_context(parent)
        if element.tag == "meta" and context is not None and self._add_meta(element, context):
            return
        attributes = element.attrs.copy()
        inner = contexts[element] = None if context is None else self._process(element, attributes, context)
        if inner is not None and role is not None:
            self._roles.add(role, text_value(attributes.get("id")), inner)

    def _find_context(self, node: Node | None) -> EvaluationContext | None:
        """The context that an ancestor passes on; ancestors without a context yet are processed first."""
        chain = []
        while node is not None and node not in self._contexts:
            chain.append(node)
            node = node.parent
        context = self._contexts[node] if node is not None else self._initial
        for ancestor in reversed(chain):
            if context is not None and isinstance(ancestor, Element) and _may_change_context(ancestor):
                context = self._process(ancestor, ancestor.attrs.copy(), context)
            self._contexts[ancestor] = context
        return context

    def _process(self, node: Element, attributes: Attributes, context: EvaluationContext) -> EvaluationContext | None:
        """Section 7.5 for one element; returns the context for its descendants."""
        annotated = settings = False
        for name in attributes:
            if name in _ANNOTATIONS:
                annotated = True
            elif name in _SETTINGS or name.startswith("xmlns:"):
                settings = True
        if not annotated and not settings:
            return context
        if (
            "content" in attributes
            and _BEYOND_CONTENT.isdisjoint(attributes)
            and not (settings or context.incomplete or self._host_language.rdfa10)
        ):
            self._add_content(text_value(attributes["property"]), text_value(attributes["content"]), context)
            return context
        while self._open_lists[-1] is not context.lists:
            self._open_lists.pop().write(self.triples, self._out)
        element = LocalElement(node, attributes, context)
        if settings:
            self._read_settings(element)
        if annotated:
            return self._annotate(element)
        element.skip = True
        return self._next_context(element)

    def _add_meta(self, element: Element, context: EvaluationContext) -> bool:
        """Add the triples of a `meta` element with @property and @content only; False for any other element."""
        if len(element.attrs) != 2 or context.incomplete or self._host_language.rdfa10:
            return False
        names, content = element.attr("property"), element.attr("content")
        if names is None or content is None:
            return False
        self._add_content(names, content, context)
        return True

    def _add_content(self, names: str, content: str, context: EvaluationContext) -> None:
        """Steps 5.2 and 11 at once for @property and @content alone, which is what most `meta` elements have."""
        predicates = context.names.predicates(names.split())
        if predicates:
            value = self._literals.plain(content, context.language)
            for predicate in predicates:
                self.triples.append((context.object, predicate, value))

    def _annotate(self, element: LocalElement) -> EvaluationContext | None:
        """Steps 5 to 13."""
        attributes = element.attributes
        if self._host_language.ignore_plain_rel and "property" in attributes:
            _drop_plain_relations(element)
        if element.rel is not None or element.rev is not None:
            self._set_related_subject(element)
        elif "property" in attributes and "content" not in attributes and "datatype" not in attributes:
            self._set_property_subject(element)
        else:
            self._set_subject(element)
        self._add_types(element)
        if self._lists and element.subject != element.context.object and not element.skip:
            # Step 8: a new subject has a list mapping of its own.
            element.lists = self._open_lists_of(element.subject)
        self._add_relations(element)
        if "property" in attributes:
            self._add_property(element)
        self._complete_triples(element)
        return self._next_context(element)

    def _read_settings(self, element: LocalElement) -> None:
        """Steps 2, 3 and 4: default vocabulary, prefixes, language; and the base, where XML can set one."""
        attributes = element.attributes
        namespaces = tuple(
            (name[6:].lower(), (text_value(value)).strip())
            for name, value in attributes.items()
            if name.startswith("xmlns:")
        )
        vocab = prefix = None
        if not self._host_language.rdfa10:
            vocab = text_value(attributes["vocab"]).strip() if "vocab" in attributes else None
            prefix = text_value(attributes["prefix"]) if "prefix" in attributes else None
        if vocab is not None or prefix is not None or namespaces:
            element.names = self._page.derive(element.names, vocab, prefix, namespaces)
        if vocab:
            self._use_vocabulary(vocab, element.base)
        foreign = self._host_language.html and element.node.namespace.value != "html"
        if "xml:lang" in attributes and (foreign or not self._host_language.html):
            element.language = self._find_language(attributes["xml:lang"])
        elif "lang" in attributes and self._host_language.lang:
            element.language = self._find_language(attributes["lang"])
        if "xml:base" in attributes and self._host_language.xml_base and element.node is not self._root:
            element.base = self._page.resolve_base(element.base, text_value(attributes["xml:base"]))

    def _find_language(self, value: str | list[str] | None) -> str | None:
        """Step 4: an empty language means none; one that is too long is dropped, since each literal would repeat it."""
        language = text_value(value)
        if len(language) > MAX_LANGUAGE_CHARS:
            self._out.problem("language-dropped", f"not a language tag: {language[:60]!r}")
            return None
        return language or None

    def _use_vocabulary(self, vocab: str, base: str) -> None:
        """Step 2: state that the page uses a vocabulary."""
        term = self._page.reference(vocab, base)
        if term[0] == "<":
            self.vocabularies[term[1:-1]] = None
            self.triples.append((self._base_term, _USES_VOCABULARY, term))

    def _set_property_subject(self, element: LocalElement) -> None:
        """Step 5.1: with @property alone, the subject is the parent object, and the value may be a new, typed resource."""
        about = self._about(element)
        element.subject = about or (self._base_term if element.node is self._root else element.context.object)
        if "typeof" in element.attributes:
            if about or element.node is self._root:
                element.typed = element.subject
            else:
                element.typed = element.object = self._resource(element) or self._out.blank()

    def _set_subject(self, element: LocalElement) -> None:
        """Step 5.2: without @rel and @rev, any resource attribute gives the subject."""
        subject = self._about(element) or self._resource(element)
        if subject is None:
            if element.node is self._root:
                subject = self._base_term
            elif self._is_head_or_body(element.node):
                subject = element.context.object
            elif "typeof" in element.attributes:
                subject = self._out.blank()
            else:
                subject = element.context.object
                element.skip = "property" not in element.attributes
        element.subject = subject
        if "typeof" in element.attributes:
            element.typed = subject

    def _set_related_subject(self, element: LocalElement) -> None:
        """Step 6: with @rel or @rev, @about gives the subject and the other attributes the object."""
        about = self._about(element)
        element.subject = about or (self._base_term if element.node is self._root else element.context.object)
        element.object = self._resource(element)
        if "typeof" in element.attributes:
            if about is None and element.object is None:
                element.object = self._out.blank()
            element.typed = about or element.object

    def _add_types(self, element: LocalElement) -> None:
        """Step 7."""
        if element.typed is not None:
            for token in tokens_of(element.attributes["typeof"]):
                term = element.names.term(token)
                if term is not None:
                    self.triples.append((element.typed, RDF_TYPE_TERM, term))

    def _open_lists_of(self, subject: str) -> ListMapping:
        lists = ListMapping(subject)
        self._open_lists.append(lists)
        return lists

    def _add_relations(self, element: LocalElement) -> None:
        """Steps 9 and 10: triples of @rel and @rev, complete where the object is known here."""
        if element.rel is None and element.rev is None:
            return
        rel = element.names.predicates(element.rel or ())
        rev = element.names.predicates(element.rev or ())
        in_list = "inlist" in element.attributes
        obj = element.object
        if obj is not None:
            for predicate in rel:
                self._add_value(element, predicate, obj, in_list)
            for predicate in rev:
                self.triples.append((obj, predicate, element.subject))
            return
        if in_list:
            items = element.lists.items
            element.incomplete.extend(("list", items.setdefault(predicate, [])) for predicate in rel)
        else:
            element.incomplete.extend(("forward", predicate) for predicate in rel)
        element.incomplete.extend(("reverse", predicate) for predicate in rev)
        element.object = self._out.blank()

    def _add_property(self, element: LocalElement) -> None:
        """Step 11: the triples of @property, which share one value."""
        predicates = element.names.predicates(tokens_of(element.attributes["property"]))
        if not predicates:
            return
        value = self._find_value(element)
        if value is None:
            return
        in_list = "inlist" in element.attributes
        for predicate in predicates:
            self._add_value(element, predicate, value, in_list)
            if predicate == COPY:
                self.copies = True

    def _add_value(self, element: LocalElement, predicate: str, value: str, in_list: bool) -> None:
        if in_list:
            element.lists.items.setdefault(predicate, []).append(value)
        else:
            self.triples.append((element.subject, predicate, value))

    def _find_value(self, element: LocalElement) -> str | None:
        """Step 11, the current property value; with HTML+RDFa 1.1, 3.1, for @datetime, `time` and rdf:HTML."""
        attributes = element.attributes
        literals = self._literals
        content = text_value(attributes["content"]) if "content" in attributes else None
        timed = (
            content is None
            and self._host_language.datetime
            and ("datetime" in attributes or element.node.tag == "time")
        )
        if timed:
            content = text_value(attributes["datetime"]) if "datetime" in attributes else literals.text_of(element.node)
        if "datatype" in attributes:
            token = text_value(attributes["datatype"]).strip()
            datatype = element.names.term(token) if token else None
            if datatype is not None and datatype[0] == "<":
                return literals.typed(element.node, content, datatype)
            return literals.plain(literals.text_of(element.node) if content is None else content, element.language)
        if content is not None:
            return (literals.timed if timed else literals.plain)(content, element.language)
        if element.rel is None and element.rev is None:
            known = element.object if "about" not in attributes else None
            resource = known or self._resource(element)
            if resource is not None:
                return resource
        if element.typed is not None and "about" not in attributes:
            return element.typed
        return literals.plain(literals.text_of(element.node), element.language)

    def _complete_triples(self, element: LocalElement) -> None:
        """Step 12: the incomplete triples of a parent get this subject."""
        context = element.context
        if element.skip or not context.incomplete:
            return
        self._waiting += len(context.incomplete) if self._lists else 0
        for direction, what in context.incomplete:
            if isinstance(what, list):
                what.append(element.subject)
            elif direction == "forward":
                self.triples.append((context.subject, what, element.subject))
            else:
                self.triples.append((element.subject, what, context.subject))

    def _next_context(self, element: LocalElement) -> EvaluationContext:
        """Step 13: the context for the element's descendants; without a change, the parent's context.

        Of an element that is skipped, only the settings are passed on.
        """
        context, subject = element.context, element.subject
        names, language, base = element.names, element.language, element.base
        is_same = names is context.names and language == context.language and base == context.base
        if element.skip:
            if is_same:
                return context
            return EvaluationContext(
                context.subject, context.object, context.incomplete, context.lists, names, language, base
            )
        obj, lists, incomplete = element.object or subject, element.lists, element.incomplete
        if is_same and obj == context.object == subject and lists is context.lists:
            if not incomplete and not context.incomplete:
                return context
        elif self._lists and obj != subject:
            lists = self._open_lists_of(obj)
        return EvaluationContext(subject, obj, incomplete, lists, names, language, base)

    def _about(self, element: LocalElement) -> str | None:
        value = element.attributes.get("about")
        return element.names.resource(value, element.base) if isinstance(value, str) else None

    def _resource(self, element: LocalElement) -> str | None:
        """The resource of the first of @resource, @href and @src that has one."""
        attributes = element.attributes
        value = attributes.get("resource")
        if isinstance(value, str):
            resource = element.names.resource(value, element.base)
            if resource is not None:
                return resource
        for name in ("href", "src"):
            value = attributes.get(name)
            if isinstance(value, str):
                return self._page.reference(value, element.base)
        return None

    def _is_head_or_body(self, node: Element) -> bool:
        return self._host_language.head_body and node.tag.rpartition(":")[2] in ("head", "body")


def _may_change_context(element: Element) -> bool:
    return element.matches(_MEANT) or any(name.startswith("xmlns:") for name in element.attrs)


def _drop_plain_relations(element: LocalElement) -> None:
    """HTML+RDFa 1.1, 3.1: beside @property, only CURIEs and IRIs in @rel and @rev count; without any, both are ignored."""
    element.rel = [token for token in element.rel or () if ":" in token] or None
    element.rev = [token for token in element.rev or () if ":" in token] or None
