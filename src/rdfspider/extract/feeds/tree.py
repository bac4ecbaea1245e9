"""The text of a feed enters, a tree of elements leaves; with what every reader of elements needs: the namespaces of feeds
in all their spellings, names, text, addresses.

Trees are lxml's, which joins text around CDATA sections, knows namespaces, limits the depth, and can repair what is not
well formed.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from lxml import etree

from rdfspider.extract.dom import XHTML, canonical_content, expand_entities, parse_lxml, skip_declaration
from rdfspider.extract.statements import Statements
from rdfspider.urls import resolve_iri, valid_iri
from rdfspider.vocabulary.prefixes import DC, DCTERMS
from rdfspider.vocabulary.prefixes import PREFIXES as KNOWN

RSS = KNOWN["rss"]
ATOM = "http://www.w3.org/2005/Atom"
CONTENT = KNOWN["content"]
ENC = "http://purl.oclc.org/net/rss_2.0/enc#"
MEDIA = "http://search.yahoo.com/mrss/"
ITUNES = "http://www.itunes.com/dtds/podcast-1.0.dtd"
GEO = KNOWN["geo"]
GEORSS = "http://www.georss.org/georss/"
GML = "http://www.opengis.net/gml"
CC = KNOWN["cc"]
WFW = "http://wellformedweb.org/CommentAPI/"
FEEDBURNER = "http://rssnamespace.org/feedburner/ext/1.0"
ADMIN = "http://webns.net/mvcb/"
THREAD = "http://purl.org/syndication/thread/1.0"
SLASH = "http://purl.org/rss/1.0/modules/slash/"
SYNDICATION = "http://purl.org/rss/1.0/modules/syndication/"
RELATION = "http://www.iana.org/assignments/relation/"

CORE = frozenset(
    {
        "",
        RSS,
        ATOM,
        "http://purl.org/atom/ns#",
        "http://my.netscape.com/rdf/simple/0.9/",
        "http://channel.netscape.com/rdf/simple/0.9/",
        "http://my.netscape.com/publish/formats/rss-0.91.dtd",
        "http://backend.userland.com/rss",
        "http://backend.userland.com/rss2",
        "http://backend.userland.com/rss091",
        "http://backend.userland.com/rss092",
        "http://blogs.law.harvard.edu/tech/rss",
        "http://cyber.law.harvard.edu/rss/rss.html",
        "http://purl.org/net/rss1.1#",
        "http://purl.org/rss/2.0/",
        "http://purl.org/rss/1.0/modules/rss091#",
        "http://my.theinfo.org/changed/1.0/rss/",
        "http://purl.org/echo/",
        "http://purl.org/pie/",
        "http://purl.org/necho/",
        "uri/of/echo/namespace#",
    }
)
"""The namespaces of RSS and Atom themselves."""

ALIASES = {
    "http://purl.org/dc/elements/1.0/": DC,
    "http://purl.org/dc/elements/1.1": DC,
    "http://search.yahoo.com/mrss": MEDIA,
    "http://video.search.yahoo.com/mrss": MEDIA,
    "http://video.search.yahoo.com/mrss/": MEDIA,
    "http://tools.search.yahoo.com/mrss/": MEDIA,
    "http://www.itunes.com/dtds/podcast-1.0.dtd": ITUNES,
    "http://www.georss.org/georss": GEORSS,
    "http://www.georss.org/georss/10": GEORSS,
    "http://backend.userland.com/creativecommonsrssmodule": CC,
    "http://cyber.law.harvard.edu/rss/creativecommonsrssmodule.html": CC,
    "http://web.resource.org/cc/": CC,
    "http://www.w3.org/2003/01/geo/": GEO,
}
"""Namespaces by their other spellings, in lower case."""

PREFIXES = {
    "atom": ATOM,
    "cc": CC,
    "content": CONTENT,
    "creativecommons": CC,
    "dc": DC,
    "dcterms": DCTERMS,
    "feedburner": FEEDBURNER,
    "geo": GEO,
    "georss": GEORSS,
    "gml": GML,
    "itunes": ITUNES,
    "media": MEDIA,
    "slash": SLASH,
    "sy": SYNDICATION,
    "thr": THREAD,
    "wfw": WFW,
    "xhtml": XHTML,
}
"""The namespaces of prefixes that feeds use without declaring them."""

XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
# Every address in a feed may be resolved against its base, so that a long one costs much.
_MAX_BASE_CHARS = 2048
_BARE_AMPERSAND = re.compile(r"&(?!#[0-9]{1,7};|#x[0-9A-Fa-f]{1,6};|(?:amp|lt|gt|quot|apos);)")
# lxml's names contain the namespace, so that a long one would be read again for each element.
_LONG_NAMESPACE = re.compile(r"""(xmlns(?::[\w.\-]{1,100}+)?+\s*+=\s*+["'])[^"'<]{4096,}+""")
_VOID = re.compile(r"<(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)((?:\s[^<>]*+)?)></\1>")
# Markup in these namespaces is written without prefixes, as in HTML.
_UNNAMED = CORE | {XHTML}
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_CHARACTER = re.compile(r"&#(?:x([0-9A-Fa-f]{1,6})|([0-9]{1,7}));")


class Name(NamedTuple):
    """An element's name; `core` means an element of RSS or Atom itself, whose `local` is in lower case."""

    namespace: str
    local: str
    core: bool


class FeedScope(NamedTuple):
    """What is in scope at an element: the subject of its statements, the base and the language."""

    subject: str
    base: str
    language: str | None
    own_namespace: str
    out: Statements
    depth: int = 0
    """How many groups and sources the element is in."""

    def within(self, element: etree._Element) -> "FeedScope":
        """The same subject with the element's own `xml:base` and `xml:lang`."""
        base, language = element.get(XML_BASE), element.get(XML_LANG)
        if base is None and language is None:
            return self
        resolved = self.base if base is None else resolve_iri(self.base, base.strip())
        return self._replace(
            base=resolved if len(resolved) <= _MAX_BASE_CHARS else self.base,
            language=self.language if language is None else language.strip(),
        )

    def at(self, subject: str) -> "FeedScope":
        """The same scope for another subject."""
        return self._replace(subject=subject)

    def add(self, predicate: str, obj: str | None) -> None:
        """Add a statement about the subject, unless there is no object."""
        if obj is not None:
            self.out.add(self.subject, predicate, obj)

    def add_text(self, predicate: str, text: str | None) -> None:
        """Add a text in the scope's language, unless it is blank."""
        if text and (text := text.strip()):
            self.out.add(self.subject, predicate, self.out.literal(text, self.language))

    def add_plain(self, predicate: str, text: str | None) -> None:
        """Add a text without a language, such as a code, a number or an address, unless it is blank."""
        if text and (text := text.strip()):
            self.out.add(self.subject, predicate, self.out.literal(text))

    def resolve(self, reference: str | None) -> str | None:
        """The term of an address in the feed; None where it is missing or, with a Problem, invalid."""
        reference = (reference or "").strip()
        return self.out.iri(resolve_iri(self.base, reference)) if reference else None

    def add_language(self, element: etree._Element) -> None:
        """Add the language of a channel or item that declares it by `xml:lang` only."""
        if self.language and not any(split_tag(child)[1].lower() == "language" for child in children(element)):
            self.add_plain(term(DC, "language"), self.language.replace("_", "-"))

    def name(self, element: etree._Element) -> Name:
        """The element's name, with the usual spelling of its namespace."""
        return _name(str(element.tag), self.own_namespace)


@lru_cache(maxsize=4096)
def term(namespace: str, local: str) -> str:
    """The term of a property; a namespace without a separator at its end gets one."""
    return f"<{namespace}{'' if namespace.endswith(('/', '#', ':', '=')) else '#'}{local}>"


def parse_feed(text: str, out: Statements) -> etree._Element | None:
    """The root of the feed, repaired with a Problem where it is not well formed; None when nothing can be read."""
    text, problem = expand_entities(text.removeprefix("\ufeff"))
    if problem is not None:
        out.problem(problem.code, problem.message)
    text = skip_declaration(text)
    if _LONG_NAMESPACE.search(text):
        out.problem("iri-too-long", "a namespace that is too long was dropped")
        text = _LONG_NAMESPACE.sub(r"\1urn:x-too-long", text)
    try:
        return parse_lxml(text, only_elements=True)
    except etree.XMLSyntaxError as error:
        out.problem("not-well-formed", str(error.msg))
    text = _CHARACTER.sub(_mend_character, _BARE_AMPERSAND.sub("&amp;", _NOT_XML.sub("", text)))
    try:
        return parse_lxml(text, recover=True, only_elements=True)
    except etree.XMLSyntaxError:
        return None


def _mend_character(reference: re.Match[str]) -> str:
    """The reference to a character; U+FFFD in place of a lone surrogate, of which lxml would make bytes that are no text."""
    number = int(reference[1], 16) if reference[1] else int(reference[2])
    return "\ufffd" if 0xD800 <= number <= 0xDFFF else reference[0]


def children(element: etree._Element) -> Iterator[etree._Element]:
    """The element's child elements."""
    return (child for child in element if isinstance(child.tag, str))


def split_tag(element: etree._Element) -> tuple[str, str]:
    """Namespace and local name of an element."""
    return split_name(str(element.tag))


@lru_cache(maxsize=4096)
def split_name(name: str) -> tuple[str, str]:
    """Namespace, in its usual spelling, and local name of an element or attribute.

    An undeclared prefix has the namespace that it commonly stands for.
    """
    if name[0] == "{":
        namespace, _, local = name[1:].rpartition("}")
        return ALIASES.get(namespace.lower(), namespace), local
    prefix, colon, local = name.partition(":")
    if colon:
        return PREFIXES.get(prefix.lower(), f"urn:x-prefix:{prefix}#"), local
    return "", name


def text_of(element: etree._Element) -> str:
    """The element's text or, where it contains elements, its markup."""
    if len(element) == 0:
        return _decoded(element, (element.text or "").strip())
    body = _only_div(element)
    holder = etree.Element("x")
    holder.text = body.text
    holder.extend(list(body))
    for inner in holder.iter():
        if isinstance(inner.tag, str) and inner.tag[0] == "{" and split_tag(inner)[0] in _UNNAMED:
            local = split_tag(inner)[1]
            # Repaired documents may have invalid names.
            if ":" not in local:
                inner.tag = local
    etree.cleanup_namespaces(holder)
    text = canonical_content(holder)
    return plain_text(holder) if text is None else _VOID.sub(r"<\1\2 />", text).strip()


def plain_text(element: etree._Element) -> str:
    """All text in the element, without markup."""
    return "".join(str(text) for text in element.itertext()).strip()


def address(base: str, reference: str | None) -> str | None:
    """The IRI of a reference; None, without a Problem, where it is invalid."""
    reference = (reference or "").strip()
    found = valid_iri(resolve_iri(base, reference)) if reference and len(reference) < 8192 else None
    return found.value if found else None


@lru_cache(maxsize=4096)
def _name(tag: str, own_namespace: str) -> Name:
    namespace, local = split_name(tag)
    if namespace in CORE or namespace == own_namespace:
        return Name(RSS, local.lower(), True)
    return Name(namespace, local, False)


def _decoded(element: etree._Element, text: str) -> str:
    """The text, decoded where it is base64 of text (in Atom 0.3 by `mode`, in Atom 1.0 by a media type that is not text)."""
    kind = (element.get("type") or "").lower()
    binary = "/" in kind and not kind.startswith("text/") and not kind.endswith(("xml", "/xhtml", "/html"))
    if element.get("mode") != "base64" and not (binary and element.get("mode") is None):
        return text
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode().strip()
    except (binascii.Error, ValueError):
        return text


def _only_div(element: etree._Element) -> etree._Element:
    """The `div` that Atom 1.0 puts around XHTML and that is no part of the text (RFC 4287, section 3.1.1.3)."""
    if element.get("type") == "xhtml" and len(element) == 1 and not (element.text or "").strip():
        child = element[0]
        if child.tag in (f"{{{XHTML}}}div", "div") and not (child.tail or "").strip():
            return child
    return element
