"""Elements that extend feeds: anything that no table knows as properties of its own namespace, and places on Earth."""

import re

from lxml import etree

from rdfspider.extract.feeds.mapping import GEO, GEORSS, GML, XHTML, term
from rdfspider.extract.feeds.tree import Place, children, plain_text, split_name, split_tag, text_of
from rdfspider.vocabulary.ntriples import RDF

# lxml searches all attributes of an element for each.
_MAX_ATTRIBUTES = 1000
# Attributes that hold an address, whatever the namespace.
_ADDRESSES = frozenset({"href", "url", "src", "resource", "uri"})
_SKIPPED = frozenset({"http://www.w3.org/XML/1998/namespace", RDF})
_LOCAL = re.compile(r"[^\s<>\"{}|\\^`]{1,200}")
_DEGREES = re.compile(r"[+-]?\d{1,3}(?:\.\d{1,20})?")
_SHAPES = {"Point": "point", "LineString": "line", "Polygon": "polygon", "Envelope": "box"}


def add_extension(element: etree._Element, place: Place, predicate: str) -> None:
    """Text becomes a literal, one address a resource, and anything richer a node with properties of its own."""
    if not _LOCAL.fullmatch(split_tag(element)[1]) or (predicate := place.out.iri(predicate[1:-1]) or "") == "":
        return
    attributes = _attributes(element, place)
    resource = element.get(f"{{{RDF}}}resource")
    if resource is not None and not attributes:
        place.add(predicate, place.resolve(resource))
    elif _is_markup(element):
        place.add_text(predicate, text_of(element))
    elif not len(element) and not attributes:
        place.add_text(predicate, element.text)
    elif len(attributes) == 1 and attributes[0][1] in _ADDRESSES and not len(element) and not plain_text(element):
        place.add(predicate, place.resolve(attributes[0][2]))
    else:
        _add_node(element, attributes, place, predicate)


def add_keywords(element: etree._Element, place: Place, predicate: str) -> None:
    """Every word of a list with commas."""
    for word in plain_text(element).split(","):
        place.add_text(predicate, word)


def add_position(element: etree._Element, place: Place, predicate: str) -> None:
    """A GeoRSS shape as its numbers; a point also by latitude and longitude."""
    numbers = plain_text(element).replace(",", " ").split()
    place.add_plain(predicate, " ".join(numbers))
    if predicate == term(GEORSS, "point") and len(numbers) == 2 and all(map(_DEGREES.fullmatch, numbers)):
        place.add_plain(term(GEO, "lat"), numbers[0])
        place.add_plain(term(GEO, "long"), numbers[1])


def add_gml(element: etree._Element, place: Place, predicate: str) -> None:
    """A GML shape as GeoRSS writes it simply; in another reference system than WGS 84 it stays as it is."""
    shape = next(children(element), None)
    name = split_tag(shape) if shape is not None else ("", "")
    if shape is None or name[0] != GML or name[1] not in _SHAPES or shape.get("srsName") is not None:
        add_extension(element, place, term(GEORSS, "where"))
    else:
        add_position(shape, place, term(GEORSS, _SHAPES[name[1]]))


def _attributes(element: etree._Element, place: Place) -> list[tuple[str, str, str]]:
    """Namespace, local name and value of what an element's attributes say; those of XML and RDF themselves do not count."""
    if len(element.attrib) > _MAX_ATTRIBUTES:
        place.out.problem("too-many-attributes", f"those of an element with more than {_MAX_ATTRIBUTES} were left out")
        return []
    found = []
    for name, value in element.attrib.items():
        namespace, local = split_name(str(name))
        if namespace not in _SKIPPED and not namespace.startswith("urn:x-prefix:xml") and _LOCAL.fullmatch(local):
            found.append((namespace, local, str(value)))
    return found


def _is_markup(element: etree._Element) -> bool:
    return any(split_tag(child)[0] == XHTML for child in children(element))


def _add_node(element: etree._Element, attributes: list[tuple[str, str, str]], place: Place, predicate: str) -> None:
    node = place.at(place.out.blank())
    place.add(predicate, node.subject)
    own = predicate[1 : -len(split_tag(element)[1]) - 1]
    for namespace, local, value in attributes:
        named = place.out.iri(term(namespace or own, local)[1:-1])
        if named is not None and local in _ADDRESSES:
            node.add(named, node.resolve(value))
        elif named is not None:
            node.add_plain(named, value)
    node.add_text(f"<{RDF}value>", element.text)
    for child in children(element):
        namespace, local = split_tag(child)
        add_extension(child, node.within(child), term(namespace or own, local))
