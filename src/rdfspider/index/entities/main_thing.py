"""What a page is about: its nodes, URL and title enter; the nodes that describe its one main thing leave.

Evidence: the page names it (`mainEntity`) or it names the page (`mainEntityOfPage`, its URL), its label is the page's title, it
is of the page's `og:type`, or it is the only thing of its kind. Documents that tell of it at the same URL (WebPage, Article,
h-entry) and descriptions of it in other syntaxes belong to it. A page that lists things is about itself, and so is one where two
things have the same claim.
"""

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from rdfspider.index.entities.nodes import Graph, Node
from rdfspider.vocabulary.class_kinds import ClassKind, find_kind, is_comment, is_list, is_main_class
from rdfspider.vocabulary.classes import list_facet_classes
from rdfspider.vocabulary.labels import normalise_label
from rdfspider.vocabulary.prefixes import FOAF, OG, SCHEMA

MAX_NODES = 8
"""Nodes of a page that are joined into one thing."""
_MAIN = frozenset((SCHEMA + "mainEntity", FOAF + "primaryTopic"))
_MAIN_OF = frozenset((SCHEMA + "mainEntityOfPage", FOAF + "isPrimaryTopicOf"))
_SEPARATORS = "-|:·•»«/(,"
_MIN_INSIDE_CHARS = 12
"""A shorter label inside a title may be any word of it."""
_ALIKE = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\xad": None, "…": "..."})
_EXACT, _INSIDE = 2, 1
_WORD = re.compile(r"\w{3,}")
_START_CHARS, _SHORT_START_CHARS = 5, 3
"""Characters of a word that are compared; scripts without spaces have long runs instead of words."""
_MANY = 3
"""More articles than this that all claim to be the page are a list of others."""
_OG_TYPE = OG + "type"
_OF_TYPE = {
    name: frozenset(SCHEMA + each for each in classes.split())
    for names, classes in (
        ("article blog", "Article SocialMediaPosting"),
        ("product product.item product.group og:product", "Product"),
        ("book books.book", "Book"),
        ("profile", "Person"),
        ("video video.other video.movie video.tv_show video.episode", "Movie TVSeries TVEpisode VideoObject"),
        ("music.song music.album music.playlist", "MusicRecording MusicAlbum MusicPlaylist"),
        ("event", "Event"),
        ("business.business restaurant.restaurant place", "LocalBusiness Place"),
        ("recipe", "Recipe"),
    )
    for name in names.split()
}
"""The classes that values of `og:type` stand for."""
_NOTHING_SAID = frozenset((SCHEMA + "CreativeWork", SCHEMA + "Intangible", SCHEMA + "MediaObject"))


@dataclass(slots=True)
class _Candidate:
    """A node that may be the page's main thing, with the evidence."""

    name: str
    node: Node
    kind: ClassKind
    label: str
    """Normalised."""
    is_here: bool
    """Whether its IRI or its address is the page's."""
    has_own_iri: bool
    """Whether it is here by its IRI: `URL#article`."""
    is_elsewhere: bool
    """Whether it has an address, and it is another page's."""
    is_main: bool
    """Whether it is stated to be the main thing."""
    is_title: bool
    """Whether its label is the whole title, and nothing points to it."""
    title: int
    """How well its label fits the page's title."""
    is_nested: bool
    """Whether something other than a document points to it."""
    is_of_type: bool
    """Whether the page's `og:type` names its class."""

    def rank(self) -> tuple[int, bool, int, str]:
        """The strength of the claim; then whether it has an IRI, how much it says, and its name."""
        score = 8 * self.is_main + 4 * self.is_here + 3 * self.title + 2 * self.is_of_type
        score -= 4 * self.is_nested + self.kind
        says = min(len(self.node.texts) + len(self.node.links), 100)
        return score, not self.name.startswith("<genid:"), says, self.name


def find_kind_of(node: Node) -> ClassKind | None:
    """The most informative kind of a node's classes; None if it has none. A comment is a part, whatever else it is."""
    if len(node.types) > 1 and any(map(is_comment, node.types)):
        return ClassKind.PART
    return min(map(find_kind, node.types)) if node.types else None


def find_main_nodes(graph: Graph, urls: Sequence[str], title: str) -> list[str]:
    """The names of the nodes that describe a page's main thing, the thing itself first; empty if the page is about itself.

    The page's own URL is the first of `urls`, followed by others of the same page."""
    addresses = fold_addresses(urls)
    page = graph.nodes.get(f"<{urls[0]}>")
    titles = [text for text in (_fold_label(title), _fold_label(page.label) if page else "") if text]
    candidates = _list_candidates(graph, addresses, titles, _read_types(page))
    main = _choose(candidates, titles, is_of_list=_is_list(page, candidates))
    if main is None:
        return []
    same = [one for one in candidates if one is not main and _is_same(one, main, titles)]
    articles = {one.label for one in same if one.kind == ClassKind.ARTICLE and one.is_here and not one.title}
    if len(articles) > _MANY:
        same = [one for one in same if one.kind != ClassKind.ARTICLE or one.title or one.label == main.label]
    return [main.name, *(one.name for one in same)]


def fold_addresses(urls: Iterable[str]) -> set[str]:
    """The URLs of a page, for `is_of_page`."""
    return {_fold_address(url) for url in urls if url}


def is_of_page(name: str, addresses: Container[str]) -> bool:
    """Whether a node's name is a page's URL, in whatever spelling, with or without a fragment."""
    return _fold_address(name[1:-1].partition("#")[0]) in addresses


def _read_types(page: Node | None) -> frozenset[str]:
    """The classes that the page's `og:type` names."""
    texts = page.texts if page is not None else ()
    return _OF_TYPE.get(next((text.lower() for predicate, text in texts if predicate == _OG_TYPE), ""), frozenset())


def _list_candidates(
    graph: Graph, addresses: set[str], titles: Sequence[str], types: frozenset[str]
) -> list[_Candidate]:
    stated = _find_stated(graph, addresses)
    found = []
    for name, node in graph.nodes.items():
        kind = find_kind_of(node)
        if kind == ClassKind.PART and name not in stated:
            continue
        label = _fold_label(node.label)
        has_iri = not name.startswith("<genid:")
        is_here = has_own_iri = has_iri and is_of_page(name, addresses)
        is_elsewhere = False
        if node.addresses and not is_here:
            is_here = any(_fold_address(address) in addresses for _, address in node.addresses)
            is_elsewhere = not is_here
        if not (label or is_here):
            continue
        if kind is None:
            # Statements about the page under another spelling of its URL.
            if not is_here:
                continue
            kind = ClassKind.DOCUMENT
        is_nested = any(_is_thing(graph.nodes.get(owner)) for owner in node.owners)
        fits = _fit_title(label, titles) if label else 0
        found.append(
            _Candidate(
                name,
                node,
                kind,
                label,
                is_here,
                has_own_iri,
                is_elsewhere,
                name in stated,
                label in titles and not is_elsewhere and not node.owners,
                fits,
                is_nested,
                bool(types) and not types.isdisjoint(_list_families(node)),
            )
        )
    return found


def _find_stated(graph: Graph, addresses: set[str]) -> set[str]:
    """The nodes that are stated to be the main thing of the page or of a document with its URL."""
    stated: set[str] = set()
    used = graph.facts.properties.keys()
    if _MAIN.isdisjoint(used) and _MAIN_OF.isdisjoint(used):
        return stated
    for name, node in graph.nodes.items():
        for predicate, target in node.links:
            if predicate in _MAIN and _is_document_of(name, node, addresses):
                stated.add(target)
            elif predicate in _MAIN_OF:
                other = graph.nodes.get(target)
                if is_of_page(target, addresses) or (other is not None and _is_document_of(target, other, addresses)):
                    stated.add(name)
        for predicate, text in node.texts:
            if predicate in _MAIN_OF and _fold_address(text) in addresses:
                stated.add(name)
    return stated


def _is_document_of(name: str, node: Node, addresses: set[str]) -> bool:
    """Whether a node is the page, or a document with its URL."""
    if is_of_page(name, addresses):
        return True
    kind = find_kind_of(node)
    return kind in (ClassKind.DOCUMENT, ClassKind.ARTICLE) and (
        not node.addresses or any(_fold_address(address) in addresses for _, address in node.addresses)
    )


def _is_thing(node: Node | None) -> bool:
    kind = find_kind_of(node) if node is not None else None
    return kind is not None and kind != ClassKind.DOCUMENT


def _is_list(page: Node | None, candidates: Iterable[_Candidate]) -> bool:
    """Whether the page says that it lists things."""
    if page is not None and any(map(is_list, page.types)):
        return True
    return any(one.is_here and any(map(is_list, one.node.types)) for one in candidates)


def _choose(candidates: Sequence[_Candidate], titles: Sequence[str], *, is_of_list: bool) -> _Candidate | None:
    """The main thing: a thing of its own rather than the article about it, and an article rather than a video in it."""
    least = _EXACT if is_of_list else _INSIDE
    alone = {kind: [one for one in candidates if one.kind == kind and not one.is_nested] for kind in ClassKind}
    has_article = any(one.title or one.is_here for one in alone[ClassKind.ARTICLE])
    claims: dict[ClassKind, list[_Candidate]] = {}
    for one in candidates:
        is_only = alone[one.kind] == [one]
        # A thing with the page's title is the page's, whatever address it gives.
        is_free = not one.is_elsewhere or (not one.is_nested and (one.title == _EXACT or is_only))
        fits = one.title >= (_EXACT if one.is_nested else least) and is_free
        if one.kind == ClassKind.AGENT:
            is_claimed = (one.title == _EXACT and one.is_here) or (one.is_main and one.title > 0) or one.is_title
            is_claimed |= one.is_of_type and one.title > 0 and not one.is_nested
        elif one.kind in (ClassKind.DOCUMENT, ClassKind.VAGUE, ClassKind.PART):
            # Of a thing without a telling class, only an IRI on the page says that the page is its own.
            is_own = one.kind == ClassKind.VAGUE and one.has_own_iri and is_only and not one.is_nested
            is_claimed = (fits and one.is_main) or is_own
        elif is_of_list:
            is_claimed = fits
        elif one.is_nested or (one.kind == ClassKind.TOPIC and has_article):
            # On the page of an article, a product without its title is not what the page is about.
            is_claimed = fits or ((one.is_main or (one.is_here and not one.is_nested)) and _is_made_for_pages(one.node))
        else:
            is_likely = is_only and not one.is_elsewhere and one.kind != ClassKind.MEDIA and _shares_word(one, titles)
            is_claimed = fits or one.is_main or one.is_here or is_likely
        if is_claimed and one.label:
            claims.setdefault(one.kind, []).append(one)
    for kind in (ClassKind.TOPIC, ClassKind.AGENT, ClassKind.ARTICLE, ClassKind.MEDIA, ClassKind.VAGUE, ClassKind.PART):
        ranked = sorted(claims.get(kind, ()), key=_Candidate.rank, reverse=True)
        if not ranked:
            continue
        best = ranked[0]
        rivals = {one.label for one in ranked if one.label != best.label and one.rank()[0] == best.rank()[0]}
        # Two articles at the page's own URL are the page, under two headlines.
        if best.title or len(rivals) < (_MANY if kind == ClassKind.ARTICLE and best.is_here else 1):
            return best
    return None


def _is_made_for_pages(node: Node) -> bool:
    """Whether pages are made for things of its classes."""
    return any(map(is_main_class, node.types))


def _is_same(one: _Candidate, main: _Candidate, titles: Sequence[str]) -> bool:
    """Whether a node describes the main thing, or is a document that tells of it at the same URL."""
    if one.kind == ClassKind.DOCUMENT:
        return one.is_here
    if one.kind == main.kind == ClassKind.TOPIC and one.label == main.label and one.has_own_iri:
        return True
    if one.kind == main.kind and one.label == main.label and one.kind != ClassKind.ARTICLE:
        return not _list_families(one.node).isdisjoint(_list_families(main.node))
    is_named_so = one.label == main.label or (one.title == _EXACT and one.label in titles)
    if one.is_elsewhere:
        # Posts in microformats have the addresses of whatever they link to.
        return one.kind == ClassKind.ARTICLE and is_named_so and not one.is_nested
    if one.kind == ClassKind.ARTICLE:
        return is_named_so or one.has_own_iri or (not one.is_nested and (one.is_here or one.title > 0))
    return is_named_so and one.kind in (ClassKind.MEDIA, ClassKind.VAGUE)


def _list_families(node: Node) -> set[str]:
    """The classes that two descriptions of one thing share, in whatever syntax."""
    return {each for iri in node.types for each in list_facet_classes(iri) if each not in _NOTHING_SAID}


def _fit_title(label: str, titles: Sequence[str]) -> int:
    """How well a label fits a title: it is all of it or its beginning up to a separator, it is inside, or not at all."""
    best = 0
    for title in titles:
        if label == title:
            return _EXACT
        at = title.find(label)
        if at == 0 and title[len(label) :].lstrip()[:1] in _SEPARATORS:
            return _EXACT
        is_long = len(label) >= _MIN_INSIDE_CHARS or 2 * len(label) >= len(title)
        is_inside = at >= 0 and is_long and _is_whole(title, at, at + len(label))
        if is_inside or (
            len(title) >= _MIN_INSIDE_CHARS and label.startswith(title) and _is_whole(label, 0, len(title))
        ):
            best = _INSIDE
    return best


def _shares_word(one: _Candidate, titles: Sequence[str]) -> bool:
    """Whether the beginning of a word of its label is in a title; where there is no title, nothing speaks against it."""
    starts = {word[:_START_CHARS] if word.isascii() else word[:_SHORT_START_CHARS] for word in _WORD.findall(one.label)}
    return not titles or any(start in title for title in titles for start in starts)


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether a part of a text begins and ends with its words."""
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())


def _fold_label(label: str) -> str:
    """A label for comparison; syntaxes differ in quotation marks and dashes."""
    return normalise_label(label.translate(_ALIKE) if not label.isascii() else label)


def _fold_address(address: str) -> str:
    """An address without what differs between links to one page: the scheme, `www.`, a slash at the end."""
    return address.partition("://")[2].removeprefix("www.").rstrip("/")
