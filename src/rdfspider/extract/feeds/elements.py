"""Readers of feed elements: an element of RSS, Atom or a common extension enters, statements leave.

Two tables at the end name the reader and the property of each element. A reader gets the element, its scope and the
property. Elements that are in no table become properties in their own namespace. docs/feeds.md has the mapping in
words.
"""

import re
from collections.abc import Callable

from lxml import etree

from rdfspider.extract.datatypes import to_xsd_date
from rdfspider.extract.dom import XHTML
from rdfspider.extract.feeds.tree import (
    ADMIN,
    CC,
    CONTENT,
    ENC,
    FEEDBURNER,
    GEO,
    GEORSS,
    GML,
    ITUNES,
    MEDIA,
    RELATION,
    RSS,
    WFW,
    FeedScope,
    address,
    children,
    plain_text,
    split_name,
    split_tag,
    term,
    text_of,
)
from rdfspider.vocabulary.prefixes import DC, DCTERMS, FOAF, RDF, SCHEMA, SKOS
from rdfspider.vocabulary.terms import RDF_TYPE_TERM

ElementReader = Callable[[etree._Element, FeedScope, str], None]

_MAX_DEPTH = 30
_RELATION_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.\-]{0,60}")
_MAIL = re.compile(r"[^\s()<>\[\]\"',;:@]{1,64}@[^\s()<>\[\]\"',;:@]{1,255}")
_NOT_IN_NAME = " \t\r\n()<>[]\"'-,;:"
# lxml's search for an attribute takes time by their number.
_MAX_ATTRIBUTES = 1000
# Attributes whose value is an address, in any namespace.
_ADDRESSES = frozenset({"href", "url", "src", "resource", "uri"})
_RESOURCE = f"{{{RDF}}}resource"
_SKIPPED = frozenset({"http://www.w3.org/XML/1998/namespace", RDF})
_LOCAL = re.compile(r"[^\s<>\"{}|\\^`]{1,200}")
_DEGREES = re.compile(r"[+-]?\d{1,3}(?:\.\d{1,20})?")
_SHAPES = {"Point": "point", "LineString": "line", "Polygon": "polygon", "Envelope": "box"}


def add_element(element: etree._Element, scope: FeedScope) -> None:
    """Add the statements of one child of a channel, feed, item or entry."""
    if scope.depth > _MAX_DEPTH:
        scope.out.problem("too-deep", f"elements in more than {_MAX_DEPTH} groups were left out")
        return
    reader, predicate = reader_of(element, scope)
    reader(element, scope.within(element)._replace(depth=scope.depth + 1), predicate)


def reader_of(element: etree._Element, scope: FeedScope) -> tuple[ElementReader, str]:
    """The reader and the property of an element."""
    name = scope.name(element)
    if name.core:
        return CORE_READERS.get(name.local) or (_add_extension, term(RSS, split_tag(element)[1]))
    return EXTENSION_READERS.get((name.namespace, name.local)) or (_add_extension, term(name.namespace, name.local))


def add_date(element: etree._Element, scope: FeedScope, predicate: str) -> None:
    """A date with its datatype; one in an unknown notation is kept as text."""
    text = plain_text(element)
    found = to_xsd_date(text)
    if found is None:
        scope.add_plain(predicate, text)
    else:
        scope.add(predicate, scope.out.literal(found[0], datatype=found[1]))


def _add_children(element: etree._Element, scope: FeedScope, _: str) -> None:
    """Read the children of an element that only groups them, with the same subject."""
    for child in children(element):
        add_element(child, scope)


def _add_text(element: etree._Element, scope: FeedScope, predicate: str) -> None:
    """A text in the feed's language; markup is kept."""
    scope.add_text(predicate, text_of(element))


def _add_plain(element: etree._Element, scope: FeedScope, predicate: str) -> None:
    """A text without a language."""
    scope.add_plain(predicate, plain_text(element))


def _add_content(element: etree._Element, scope: FeedScope, predicate: str) -> None:
    """The full text, or the address that Atom has in place of it (RFC 4287, section 4.1.3.2)."""
    target = scope.resolve(element.get("src"))
    if target is not None:
        scope.add(term(DCTERMS, "hasFormat"), target)
        scope.at(target).add_plain(term(DC, "format"), element.get("type"))
    scope.add_text(predicate, text_of(element))


def _add_reference(element: etree._Element, scope: FeedScope, predicate: str) -> None:
    """An address in the element's text or in an attribute."""
    scope.add(predicate, scope.resolve(plain_text(element) or element.get("href") or _resource(element)))


def _add_link(element: etree._Element, scope: FeedScope, _: str) -> None:
    """Atom's `link` with its relation, or RSS's, whose text is the address."""
    href = element.get("href")
    if href is None:
        reference, relation = plain_text(element) or _resource(element), "alternate"
    else:
        reference, relation = href, (element.get("rel") or "alternate").strip()
    if relation == "enclosure":
        _add_enclosure(element, scope, term(ENC, "enclosure"))
        return
    # An empty address means the document itself, which is useful for a feed, but not as the address of an item.
    target = scope.resolve(reference or (scope.base if href is not None and relation != "alternate" else None))
    if target is None:
        if relation == "alternate":
            scope.add_plain(term(RSS, "link"), reference)
        return
    if relation.removeprefix(RELATION) == "alternate":
        scope.add(term(RSS, "link"), scope.out.literal(target[1:-1]))
    predicate = term(RELATION, relation.lower()) if _RELATION_NAME.fullmatch(relation) else scope.out.iri(relation)
    if predicate and target != scope.subject:
        scope.add(predicate, target)
    target_scope = scope.at(target)
    target_scope.add_plain(term(DC, "format"), element.get("type"))
    target_scope.add_plain(term(DC, "language"), element.get("hreflang"))
    target_scope.add_text(term(DC, "title"), element.get("title"))
    target_scope.add_plain(term(ENC, "length"), element.get("length"))


def _add_identifier(element: etree._Element, scope: FeedScope, _: str) -> None:
    """`guid` or `id`; a relative permanent link is resolved."""
    text = plain_text(element)
    permanent = (element.get("isPermaLink") or "").strip().lower() != "false"
    if text and ":" not in text and "/" in text and permanent:
        text = address(scope.base, text) or text
    scope.add_plain(term(DCTERMS, "identifier"), text)


def _add_person(element: etree._Element, scope: FeedScope, predicate: str) -> None:
    """A person's name; with a mail address or a page also the person as a resource, by the property of Dublin Core terms."""
    parts = {split_tag(child)[1].lower(): child for child in children(element)}
    if parts:
        texts = {name: plain_text(child) for name, child in parts.items()}
        name, mail = texts.get("name", ""), texts.get("email", "")
        page = texts.get("uri") or texts.get("url") or texts.get("homepage") or ""
    else:
        name, mail = _split_person(plain_text(element))
        page = _resource(element) or ""
    scope.add_text(predicate, name or mail or page)
    if not mail and not page:
        return
    person = scope.at(scope.out.blank())
    scope.add(predicate.replace(DC, DCTERMS), person.subject)
    person.add(RDF_TYPE_TERM, term(FOAF, "Agent"))
    person.add_text(term(FOAF, "name"), name)
    if mail:
        person.add(term(FOAF, "mbox"), scope.out.iri("mailto:" + mail.removeprefix("mailto:")))
    person.add(term(FOAF, "homepage"), scope.resolve(page))


def _split_person(text: str) -> tuple[str, str]:
    """Name and mail address of `mail (name)`, `name <mail>` and the like."""
    mail = _MAIL.search(text) if "@" in text and len(text) < 1000 else None
    if mail is None:
        return text, ""
    name = (
        f"{text[: mail.start()].removesuffix('mailto:').strip(_NOT_IN_NAME)} {text[mail.end() :].strip(_NOT_IN_NAME)}"
    )
    return name.strip(), mail[0]


def _add_category(element: etree._Element, scope: FeedScope, _: str) -> None:
    """A category as text; with a scheme or a label also as a concept."""
    label = element.get("label")
    word = (element.get("term") or plain_text(element) or element.get("text") or label or "").strip()
    scheme = (element.get("scheme") or element.get("domain") or "").strip()
    scope.add_text(term(DC, "subject"), word)
    if scheme or label:
        concept = scope.at(scope.out.blank())
        scope.add(term(DCTERMS, "subject"), concept.subject)
        concept.add(RDF_TYPE_TERM, term(SKOS, "Concept"))
        concept.add_plain(term(SKOS, "notation"), word)
        concept.add_text(term(SKOS, "prefLabel"), label)
        if ":" in scheme:
            concept.add(term(SKOS, "inScheme"), scope.resolve(scheme))
        else:
            concept.add_plain(term(DC, "source"), scheme)
    for child in children(element):
        _add_category(child, scope.within(child), "")


def _add_enclosure(element: etree._Element, scope: FeedScope, predicate: str) -> None:
    """A file that comes with an item."""
    file = scope.at(scope.out.blank())
    scope.add(predicate, file.subject)
    file.add(RDF_TYPE_TERM, term(ENC, "Enclosure"))
    file.add(term(ENC, "url"), file.resolve(element.get("url") or element.get("href") or _resource(element)))
    file.add_plain(term(ENC, "type"), element.get("type"))
    file.add_plain(term(ENC, "length"), element.get("length"))
    file.add_text(term(DC, "title"), element.get("title"))
    file.add_plain(term(DC, "language"), element.get("hreflang"))


def _add_image(element: etree._Element, scope: FeedScope, predicate: str) -> None:
    """A channel's image: its address is the subject of the other parts."""
    parts = {split_tag(child)[1].lower(): child for child in children(element)}
    url = parts.get("url")
    target = scope.resolve(plain_text(url if url is not None else element) or element.get("href") or _resource(element))
    image = scope.at(target or scope.out.blank())
    if target is None and not parts:
        return
    scope.add(predicate, image.subject)
    image.add(RDF_TYPE_TERM, term(RSS, "image"))
    for name, child in parts.items():
        if name != "link":
            add_element(child, image)
        else:
            image.add_plain(term(RSS, "link"), (image.resolve(plain_text(child)) or "")[1:-1])


def _add_generator(element: etree._Element, scope: FeedScope, predicate: str) -> None:
    """The program that made the feed; with an address or a version also as a resource."""
    scope.add_text(predicate, plain_text(element))
    target = scope.resolve(element.get("uri") or element.get("url") or _resource(element))
    version = element.get("version")
    if target or version:
        program = scope.at(target or scope.out.blank())
        scope.add(term(ADMIN, "generatorAgent"), program.subject)
        program.add_text(term(FOAF, "name"), plain_text(element))
        program.add_plain(term(SCHEMA, "softwareVersion"), version)


def _add_source(element: etree._Element, scope: FeedScope, predicate: str) -> None:
    """The feed that an item comes from: RSS has its address and title, Atom its own elements."""
    source = scope.at(scope.resolve(element.get("url") or element.get("href")) or scope.out.blank())
    scope.add(predicate, source.subject)
    if len(element):
        _add_children(element, source, "")
    else:
        source.add_text(term(RSS, "title"), plain_text(element))


def _add_extension(element: etree._Element, scope: FeedScope, predicate: str) -> None:
    """An element in no table: text becomes a literal, a single address a resource, anything else a blank node with properties."""
    if not _LOCAL.fullmatch(split_tag(element)[1]) or (predicate := scope.out.iri(predicate[1:-1]) or "") == "":
        return
    attributes = _attributes(element, scope)
    resource = _resource(element)
    if resource is not None and not attributes:
        scope.add(predicate, scope.resolve(resource))
    elif _is_markup(element):
        scope.add_text(predicate, text_of(element))
    elif not len(element) and not attributes:
        scope.add_text(predicate, element.text)
    elif len(attributes) == 1 and attributes[0][1] in _ADDRESSES and not len(element) and not plain_text(element):
        scope.add(predicate, scope.resolve(attributes[0][2]))
    else:
        _add_node(element, attributes, scope, predicate)


def _add_keywords(element: etree._Element, scope: FeedScope, predicate: str) -> None:
    """Every keyword of a list with commas."""
    for word in plain_text(element).split(","):
        scope.add_text(predicate, word)


def _add_position(element: etree._Element, scope: FeedScope, predicate: str) -> None:
    """A GeoRSS shape as its numbers; a point also by latitude and longitude."""
    numbers = plain_text(element).replace(",", " ").split()
    scope.add_plain(predicate, " ".join(numbers))
    if predicate == term(GEORSS, "point") and len(numbers) == 2 and all(map(_DEGREES.fullmatch, numbers)):
        scope.add_plain(term(GEO, "lat"), numbers[0])
        scope.add_plain(term(GEO, "long"), numbers[1])


def _add_gml(element: etree._Element, scope: FeedScope, predicate: str) -> None:
    """A GML shape as GeoRSS Simple writes it; one in another reference system than WGS 84 is read as an extension."""
    shape = next(children(element), None)
    name = split_tag(shape) if shape is not None else ("", "")
    if shape is None or name[0] != GML or name[1] not in _SHAPES or shape.get("srsName") is not None:
        _add_extension(element, scope, predicate)
    else:
        _add_position(shape, scope, term(GEORSS, _SHAPES[name[1]]))


def _resource(element: etree._Element) -> str | None:
    return element.get(_RESOURCE)


def _attributes(element: etree._Element, scope: FeedScope) -> list[tuple[str, str, str]]:
    """Namespace, local name and value of an element's attributes, without those of XML and RDF."""
    if len(element.attrib) > _MAX_ATTRIBUTES:
        scope.out.problem("too-many-attributes", f"those of an element with more than {_MAX_ATTRIBUTES} were left out")
        return []
    found = []
    for name, value in element.attrib.items():
        namespace, local = split_name(str(name))
        if namespace not in _SKIPPED and not namespace.startswith("urn:x-prefix:xml") and _LOCAL.fullmatch(local):
            found.append((namespace, local, str(value)))
    return found


def _is_markup(element: etree._Element) -> bool:
    return any(split_tag(child)[0] == XHTML for child in children(element))


def _add_node(
    element: etree._Element, attributes: list[tuple[str, str, str]], scope: FeedScope, predicate: str
) -> None:
    node = scope.at(scope.out.blank())
    scope.add(predicate, node.subject)
    own = predicate[1 : -len(split_tag(element)[1]) - 1]
    for namespace, local, value in attributes:
        named = scope.out.iri(term(namespace or own, local)[1:-1])
        if named is not None and local in _ADDRESSES:
            node.add(named, node.resolve(value))
        elif named is not None:
            node.add_plain(named, value)
    node.add_text(f"<{RDF}value>", element.text)
    for child in children(element):
        namespace, local = split_tag(child)
        _add_extension(child, node.within(child), term(namespace or own, local))


def _rows(reader: ElementReader, namespace: str, words: str) -> dict[str, tuple[ElementReader, str]]:
    """Rows of a table for one reader: `name`, or `name=property` where the property in the namespace has another name."""
    pairs = (word.partition("=") for word in words.split())
    return {name: (reader, term(namespace, other or name)) for name, _, other in pairs}


# By local name in lower case, since feeds differ in case; RSS and Atom share one table, so that their results are alike.
CORE_READERS: dict[str, tuple[ElementReader, str]] = {
    **_rows(_add_text, RSS, "title description subtitle=description tagline=description summary=description"),
    **_rows(_add_text, DC, "info=description copyright=rights rights"),
    **_rows(_add_content, CONTENT, "content=encoded fullitem=encoded body=encoded"),
    **_rows(_add_link, RSS, "link"),
    **_rows(_add_identifier, DCTERMS, "guid=identifier id=identifier"),
    **_rows(_add_person, DC, "author=creator managingeditor=creator contributor webmaster=publisher"),
    **_rows(add_date, DCTERMS, "pubdate=issued published=issued issued updated=modified modified"),
    **_rows(add_date, DCTERMS, "lastbuilddate=modified created expirationdate=valid"),
    **_rows(_add_category, DC, "category=subject"),
    **_rows(_add_plain, DC, "language"),
    **_rows(_add_generator, RSS, "generator"),
    **_rows(_add_image, RSS, "image logo=image"),
    **_rows(_add_reference, RELATION, "icon"),
    **_rows(_add_reference, RSS, "comments docs"),
    **_rows(_add_enclosure, ENC, "enclosure"),
    **_rows(_add_source, DCTERMS, "source"),
}

EXTENSION_READERS: dict[tuple[str, str], tuple[ElementReader, str]] = {
    (namespace, name): row
    for namespace, rows in (
        (DC, _rows(_add_person, DC, "creator author=creator contributor publisher")),
        (DC, _rows(add_date, DC, "date")),
        (DC, _rows(_add_plain, DC, "language")),
        (DCTERMS, _rows(add_date, DCTERMS, "created issued modified")),
        (CONTENT, _rows(_add_text, CONTENT, "encoded")),
        (XHTML, _rows(_add_text, CONTENT, "body=encoded div=encoded")),
        (ITUNES, _rows(_add_person, DC, "author=creator owner=publisher")),
        (ITUNES, _rows(_add_category, DC, "category=subject")),
        (ITUNES, _rows(_add_keywords, DC, "keywords=subject")),
        (ITUNES, _rows(_add_reference, ITUNES, "new-feed-url")),
        (MEDIA, _rows(_add_children, MEDIA, "group")),
        (MEDIA, _rows(_add_category, DC, "category=subject")),
        (MEDIA, _rows(_add_keywords, DC, "keywords=subject")),
        (MEDIA, _rows(_add_text, MEDIA, "title description")),
        (GEO, _rows(_add_children, GEO, "Point")),
        (GEORSS, _rows(_add_position, GEORSS, "point line box polygon")),
        (GEORSS, _rows(_add_gml, GEORSS, "where")),
        (CC, _rows(_add_reference, CC, "license")),
        (WFW, _rows(_add_reference, WFW, "comment commentRss commentRSS=commentRss")),
        (FEEDBURNER, _rows(_add_reference, FEEDBURNER, "origLink")),
        (ADMIN, _rows(_add_generator, RSS, "generatorAgent=generator")),
        (ADMIN, _rows(_add_reference, ADMIN, "errorReportsTo")),
    )
    for name, row in rows.items()
}
