"""Documents of the text index: an entity's contributions or a page's outcome enter, a document as JSON leaves.

This module chooses labels, descriptions, dates and values among what pages state, and bounds them; `fields.py` makes the
fields. The same input gives the same document, byte for byte, whatever its order.
"""

import base64
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from email.utils import parsedate_to_datetime
from functools import lru_cache
from math import isfinite
from operator import attrgetter

import msgspec
import tantivy
from xxhash import xxh3_128_digest

from rdfspider.archive.outcomes import Outcome
from rdfspider.codes import DuplicateKind
from rdfspider.index.analysis import split_scripts
from rdfspider.index.entities.contributions import Contribution, PageReading
from rdfspider.index.entities.nodes import MAX_IRI, Text
from rdfspider.index.identity.components import list_iris
from rdfspider.index.ledger.writer import MAX_TEXT, Mention, SplitText
from rdfspider.index.text.fields import CURSOR_ID, Subject, Terms, Texts, fill_fields, make_id
from rdfspider.index.text.highlights import choose_facts
from rdfspider.results import MAX_TYPES, RESULTS, Card, HitKind, Role, SourcePage
from rdfspider.vocabulary.class_kinds import ClassKind, find_kind, sort_types
from rdfspider.vocabulary.classes import list_class_names, list_facet_classes
from rdfspider.vocabulary.dates import bound_date
from rdfspider.vocabulary.labels import clean_label, cut_label, decode_references, is_visible
from rdfspider.vocabulary.names import find_field_name, find_ontology, find_short_name, list_prefixes, put_known_first
from rdfspider.vocabulary.prefixes import SCHEMA

Fields = dict[str, object]

_MAX_TEXTS = 3
"""Pages whose text is found with the entity that they are about."""
_MAX_VALUES, _MAX_CHARS = 400, 30_000
"""Values, and their characters, per document."""
_MAX_NAMES, _MAX_SITES, _MAX_LABELS = 200, 500, 16
_MAX_ADDRESSES = 100
_ROLES = tuple(Role)
_MAX_DESCRIPTION, _MAX_LABEL = 1_000, 500
_SHOWN_PAGES, _SHOWN = 10, 16
_REPEATED_WEIGHT = 0.3
_MAX_CACHED_CHARS = 4_000
_ADDRESSES = ("http://", "https://")
"""Values that are web addresses are found by their property, not by words."""
_TIME_MARKS = ("T", "t")
"""The character after the date in a timestamp."""


def encode(fields: Fields) -> str:
    """Encode a document as the JSON that tantivy accepts."""
    return msgspec.json.encode(fields).decode()


def make_page_id(url: str) -> str:
    """Return the id of a page's document."""
    return make_id(HitKind.PAGE, xxh3_128_digest(url.encode("utf-8", "replace")))


def make_entity_id(entity: bytes) -> str:
    """Return the id of an entity's document."""
    return make_id(HitKind.ENTITY, entity)


def read_card(document: tantivy.Document) -> Card:
    """Return what a result shows of a page's or an entity's document."""
    return msgspec.json.decode(document.get_first("card") or b"", type=Card)


def build_cursor(state: bytes) -> Fields:
    """Build the document that holds the index's cursors."""
    return {"id": CURSOR_ID, "card": base64.b64encode(state).decode()}


def build_entity(
    entity: bytes, mentions: Sequence[Mention], sites: Sequence[str], sources: int, members: Sequence[str] = ()
) -> Fields:
    """Build the document of an entity from what pages state about it; `members` are the IDs of all that are one, if there are
    several, the canonical one first."""
    contributions = [mention.contribution for mention in mentions]
    weight = max(contribution.weight for contribution in contributions)
    labels = _choose_labels(mentions)
    types = _rank_types(contributions)
    languages = _rank_names(language for mention in mentions for language in _languages_of(mention))
    syntaxes = sorted({syntax for contribution in contributions for syntax in contribution.syntaxes})
    dates = [contribution.date for contribution in contributions if contribution.date]
    best = min((rank for rank, _ in dates), default=0)
    date = max((time for rank, time in dates if rank == best), default=0.0)
    role = min((contribution.role for contribution in contributions), key=_ROLES.index)
    # What is a part of two things, such as a logo, is shown without either.
    wholes = {contribution.whole for contribution in contributions} if role == Role.PART else set()
    whole = wholes.pop() if len(wholes) == 1 else ("", "")
    abouts = sorted(
        (mention for mention in mentions if mention.contribution.role == Role.MAIN), key=attrgetter("url", "text")
    )
    newest = sorted(mentions, key=lambda mention: (-mention.time, mention.url))[:_SHOWN_PAGES]
    card = Card(
        id=members[0] if members else min(contribution.id for contribution in contributions),
        kind=HitKind.ENTITY,
        label=cut_label(labels[0]),
        description=_choose_text([contribution.description for contribution in contributions]),
        types=tuple(types[:MAX_TYPES]),
        url=_choose_address(contribution.url for contribution in contributions),
        image=_choose_address(contribution.image for contribution in contributions),
        sites=tuple(sites[:_SHOWN]),
        languages=tuple(languages[:_SHOWN]),
        syntaxes=tuple(syntaxes),
        sources=sources,
        pages=tuple(dict.fromkeys(SourcePage(mention.url, mention.time) for mention in newest)),
        date=bound_date(date) if dates else 0.0,
        facts=choose_facts(contributions, labels) if role != Role.PART else (),
        site_count=max(1, len(sites)),
        same=list_iris(members)[:_SHOWN],
        role=role,
        whole_id=whole[0],
        whole_label=cut_label(whole[1]),
    )
    names: set[str] = set()
    inner: set[str] = set()
    properties: dict[str, list[str]] = {}
    if role == Role.PART:
        # Its properties, and their values by name, are found with the thing that it belongs to.
        values = _gather_lines(contributions, set(labels))
    else:
        names = {iri for each in contributions for pairs in (each.values, each.links) for iri, _ in pairs}
        paths = {path.partition(" ")[::2] for contribution in contributions for path, _ in contribution.parts}
        names.update(outer for outer, _ in paths)
        inner = {inner for _, inner in paths if inner}
        values, properties = _gather_values(contributions, set(labels))
    return fill_fields(
        Subject(
            digest=entity,
            card=card,
            texts=_split_texts(labels, values, _gather_texts(abouts[:_MAX_TEXTS])),
            terms=_list_terms(types[:_MAX_NAMES], sorted(names)[:_MAX_NAMES], sorted(inner)[:_MAX_NAMES]),
            properties=properties,
            sites=_choose_sites(sites),
            hosts={mention.host for mention in mentions},
            languages=tuple(languages),
            weight=weight,
            is_suggested=role in RESULTS,
            addresses=_list_addresses(contributions, [mention.url for mention in abouts]),
        )
    )


def is_found_alone(contributions: Iterable[Contribution]) -> bool:
    """Return whether an entity has a document, as what pages state about it: a part of something that has no class, or that is
    a person or an organisation, is found with its whole only. Nobody can ask for the one, and who asks for people does not mean
    those who comment."""
    return any(
        each.role != Role.PART or not each.whole[0] or not all(find_kind(iri) == ClassKind.AGENT for iri in each.types)
        for each in contributions
    )


def _gather_texts(abouts: Sequence[Mention]) -> SplitText | None:
    """Return the texts of pages that are about an entity, as one; None if they have none."""
    if len(abouts) == 1 and abouts[0].split:
        return abouts[0].split
    text = "\n".join(mention.text for mention in abouts if mention.text)
    return split_page_text(text) if text else None


def split_page_text(text: str) -> SplitText:
    """Make of a page's text what its document has, and that of its main thing."""
    shown = decode_references(text[:MAX_TEXT])
    runs: list[str] = []
    return SplitText(shown, _split(shown, runs), runs)


def build_page(outcome: Outcome, host: str, site: str, reading: PageReading, text: SplitText | None = None) -> Fields:
    """Build the document of a page; `text` is its text if that was split before."""
    if not isfinite(outcome.time):
        raise ValueError(f"it was fetched at {outcome.time}, which is no time")
    own, facts = reading.own, reading.facts
    title = clean_label(outcome.title[:_MAX_LABEL])
    names = [label for _, _, label in own.labels] if own else []
    types = sort_types(put_known_first(sorted(facts.classes, key=lambda iri: (-facts.classes[iri], iri))))
    languages = [outcome.language] if outcome.language else []
    card = Card(
        id=outcome.url,
        kind=HitKind.PAGE,
        label=cut_label((title if is_visible(title) else "") or _choose_title(reading) or outcome.url),
        description=own.description[2][:_MAX_DESCRIPTION] if own and own.description else "",
        types=tuple(_sort_page_types(own.types if own else (), types)[:MAX_TYPES]),
        url=outcome.url,
        image=own.image if own else "",
        sites=(site,),
        languages=tuple(languages),
        syntaxes=tuple(sorted(facts.syntaxes)),
        pages=(SourcePage(outcome.url, outcome.time),),
        date=_find_page_date(outcome, reading),
        duplicate_of=outcome.duplicate_of[:MAX_IRI],
        role=Role.COVERED if reading.main or is_copy(outcome) else Role.PAGE,
    )
    labels = list(dict.fromkeys([card.label, *names]))[:_MAX_LABELS]
    contributions = [own] if own else []
    values, properties = _gather_values(contributions, set(labels))
    return fill_fields(
        Subject(
            digest=xxh3_128_digest(outcome.url.encode("utf-8", "replace")),
            card=card,
            texts=_split_texts(labels, values, text or split_page_text(outcome.text)),
            terms=_list_terms(
                types[:_MAX_NAMES], sorted(facts.properties)[:_MAX_NAMES], ontologies=sorted(facts.ontologies)
            ),
            properties=properties,
            sites=_choose_sites([site]),
            hosts=(host,),
            languages=tuple(languages),
            weight=_REPEATED_WEIGHT if outcome.duplicate_of else 1.0,
            is_suggested=card.role in RESULTS and not outcome.duplicate_of,
        )
    )


def _sort_page_types(own: Iterable[str], types: Iterable[str]) -> list[str]:
    """List the types of a page: its own, then those of what is on it, whoever is named there last."""
    others = [iri for iri in types if find_kind(iri) != ClassKind.PART]
    return list(dict.fromkeys((*own, *sorted(others, key=lambda iri: find_kind(iri) == ClassKind.AGENT))))


def is_copy(outcome: Outcome) -> bool:
    """Return whether a page repeats another one that was fetched; a canonical URL may never have been."""
    return bool(outcome.duplicate_of) and outcome.duplicate in (DuplicateKind.EXACT, DuplicateKind.NEAR)


def _list_addresses(contributions: Sequence[Contribution], urls: Sequence[str]) -> list[str]:
    """List the IRIs of an entity, and the URLs of pages that are about it."""
    iris = (node for contribution in contributions for node in contribution.nodes if node.startswith(_ADDRESSES))
    return list(dict.fromkeys((*iris, *urls)))[:_MAX_ADDRESSES]


def _split_texts(labels: list[str], values: str, text: SplitText | None) -> Texts:
    """Split texts into words and runs of scripts without spaces; keep the original where the indexed form differs."""
    label_runs: list[str] = []
    runs = list(text.runs) if text else []
    spaced = [_split(label, label_runs) for label in labels]
    shown: dict[str, Sequence[str]] = {} if spaced == labels else {"label": labels}
    value_words = _split(values, runs)
    if text and text.words != text.shown:
        shown["text"] = [text.shown]
    if value_words != values:
        shown["values"] = [values]
    return Texts(spaced, value_words, text.words if text else None, label_runs, runs, shown)


def _split(text: str, runs: list[str]) -> str:
    if text.isascii():
        return text
    words, found = split_scripts(text)
    runs += found
    return words


def _list_terms(
    types: Sequence[str], names: Sequence[str], inner: Sequence[str] = (), ontologies: Sequence[str] = ()
) -> Terms:
    """Make the terms of classes, properties (also of nameless parts) and ontologies; by default the ontologies of those."""
    # Nine of ten entities have the same classes and properties as an earlier one. Long lists are not worth the memory.
    is_short = sum(map(len, names)) + sum(map(len, inner)) < _MAX_CACHED_CHARS
    make = _make_terms if is_short else _make_terms.__wrapped__
    return make(tuple(types), tuple(names), tuple(inner), tuple(ontologies))


@lru_cache(maxsize=4096)
def _make_terms(
    types: tuple[str, ...], names: tuple[str, ...], inner: tuple[str, ...], ontologies: tuple[str, ...]
) -> Terms:
    found = ontologies or {find_ontology(iri) for iri in (*types, *names, *inner)} - {""}
    chosen = sorted(iri for iri in found if len(iri) <= MAX_IRI)[:_MAX_NAMES]
    return Terms(
        classes=list(dict.fromkeys(name for iri in types for name in list_facet_classes(iri))),
        class_names=list(dict.fromkeys(name for iri in types for name in list_class_names(iri))),
        properties=names,
        property_names=_list_asked_names(names),
        part_names=_list_asked_names(inner),
        ontologies=chosen,
        ontology_names=list(dict.fromkeys(name for iri in chosen for name in (iri.lower(), *list_prefixes(iri)))),
    )


def _list_asked_names(iris: Iterable[str]) -> list[str]:
    """List the names by which a query can refer to properties."""
    return list(dict.fromkeys(name for iri in iris for name in (iri.lower(), find_short_name(iri))))


def _choose_sites(sites: Iterable[str]) -> list[str]:
    return [site for site in sites if site][:_MAX_SITES]


def _choose_labels(mentions: Sequence[Mention]) -> list[str]:
    """List labels, the best first: by rank, then no language or English, then number of sites, then alphabetically."""
    if len(mentions) == 1 and len(mentions[0].contribution.labels) == 1:
        return [mentions[0].contribution.labels[0][2]]
    sites: dict[str, set[str]] = {}
    best: dict[str, tuple[int, bool]] = {}
    for mention in mentions:
        for rank, language, text in mention.contribution.labels:
            order = (rank, bool(language) and language[:2] != "en")
            sites.setdefault(text, set()).add(mention.site)
            best[text] = min(best.get(text, order), order)
    return sorted(best, key=lambda text: (*best[text], -len(sites[text]), text))[:_MAX_LABELS]


def _choose_text(texts: Iterable[Text | None]) -> str:
    found = [text for text in texts if text]
    if len(found) < 2:
        return found[0][2][:_MAX_DESCRIPTION] if found else ""
    uses = Counter(found)
    return min(uses, key=lambda text: (text[0], text[1][:2] not in ("", "en"), -uses[text], text))[2][:_MAX_DESCRIPTION]


def _choose_title(reading: PageReading) -> str:
    """Return the label of the page's main entity."""
    if reading.own is not None and reading.own.labels:
        return reading.own.labels[0][2]
    if reading.main is not None:
        return reading.contributions[reading.main].labels[0][2]
    candidates = [(-each.weight, *each.labels[0]) for each in reading.contributions.values()]
    return min(candidates)[3] if candidates else ""


def _choose_address(addresses: Iterable[str]) -> str:
    """Return the most frequent address."""
    found = list(filter(None, addresses))
    if len(found) < 2:
        return found[0] if found else ""
    uses = Counter(found)
    return min(uses, key=lambda address: (-uses[address], len(address), address), default="")


def _rank_types(contributions: Sequence[Contribution]) -> list[str]:
    """Return the classes of an entity, the most informative and the most frequent first."""
    if len(contributions) == 1:
        return list(contributions[0].types)
    return sort_types(put_known_first(_rank_names(iri for contribution in contributions for iri in contribution.types)))


def _rank_names(names: Iterable[str]) -> list[str]:
    """Return distinct names, the most frequent first."""
    found = list(names)
    if len(found) < 2:
        return found
    uses = Counter(found)
    return sorted(uses, key=lambda name: (-uses[name], name))


def _languages_of(mention: Mention) -> tuple[str, ...]:
    return mention.contribution.languages or ((mention.language.lower(),) if mention.language else ())


def _find_page_date(outcome: Outcome, reading: PageReading) -> float:
    """Return when a page was published, or else last changed; 0 if neither is known."""
    if reading.date is not None:
        return bound_date(reading.date[1])
    if outcome.last_modified:
        try:
            changed = parsedate_to_datetime(outcome.last_modified[:100]).timestamp()
        except (ValueError, OverflowError):
            return 0.0
        return bound_date(changed) if 0 < changed < outcome.time else 0.0
    return 0.0


def _gather_lines(contributions: Sequence[Contribution], labels: Container[str]) -> str:
    """Return all texts except labels, one per line."""
    stated = (pair for contribution in contributions for pair in (*contribution.values, *contribution.parts))
    texts = (
        text for _, found in stated for text in found if text and text not in labels and not text.startswith(_ADDRESSES)
    )
    return "\n".join(dict.fromkeys(" ".join(text.split()) for text in texts))[:_MAX_CHARS]


def _gather_values(contributions: Sequence[Contribution], labels: set[str]) -> tuple[str, dict[str, list[str]]]:
    """Return all texts except labels, one per line; and texts and IRIs by the names of their properties."""
    lines: dict[str, None] = {}
    fields: dict[str, dict[str, None]] = {}
    chars = _MAX_CHARS
    for contribution in contributions:
        for path, texts in (*contribution.values, *contribution.parts):
            # A nameless part's value is found by its own property and by the one that leads to the part.
            outer, _, inner = path.partition(" ")
            field = fields.setdefault(find_field_name(inner or outer), {})
            above = fields.setdefault(find_field_name(outer), {}) if inner else field
            for text in texts:
                if not text or (text in field and text in above) or len(text) > chars or len(lines) >= _MAX_VALUES:
                    continue
                chars -= len(text)
                field[text] = above[text] = None
                if text not in labels and not text.startswith(_ADDRESSES):
                    lines[" ".join(text.split())] = None
        for iri, links in contribution.links:
            field = fields.setdefault(find_field_name(iri), {})
            for link in links:
                # People know schema.org's terms by their names: InStock, Monday.
                text = link.removeprefix(SCHEMA)
                if len(text) <= chars and text not in field:
                    chars -= len(text)
                    field[text] = None
    # tantivy would index a timestamp as a date, in which no words are found; the leading space keeps it a text.
    shown = {
        name: [
            f" {text}" if text[10:11] in _TIME_MARKS else text if text.isascii() else split_scripts(text)[0]
            for text in field
        ]
        for name, field in fields.items()
        if field
    }
    return "\n".join(lines), shown
