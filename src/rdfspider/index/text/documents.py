"""What pages say of an entity, or an outcome, in; a document of the text index out, as JSON in the terms of `schema.py`.

The same sayings give the same document, byte for byte, in whatever order they were read.
"""

import base64
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from math import isfinite

import msgspec
from xxhash import xxh3_64_intdigest, xxh3_128_digest

from rdfspider.archive.outcomes import Outcome
from rdfspider.index.entities.contributions import MAX_TYPES, PART_WEIGHT, Contribution, PageReading
from rdfspider.index.entities.nodes import MAX_IRI, Text, decode_references
from rdfspider.index.ledger.writer import Mention
from rdfspider.index.text.fields import (
    BUCKETS,
    CURSOR_ID,
    ENTITY,
    PAGE,
    Card,
    Source,
    list_starts,
    make_rank_fields,
    split_scripts,
)
from rdfspider.index.text.highlights import choose_facts
from rdfspider.vocabulary.classes import list_class_names, list_facet_classes
from rdfspider.vocabulary.dates import bound_date
from rdfspider.vocabulary.labels import is_visible
from rdfspider.vocabulary.names import (
    SCHEMA,
    find_field_name,
    find_ontology,
    find_short_name,
    list_prefixes,
    put_known_first,
)

Fields = dict[str, object]

_MAX_TEXT = 100_000
"""Characters of a page's main text."""
_MAX_VALUES, _MAX_CHARS = 400, 30_000
"""Of one document."""
_MAX_NAMES, _MAX_SITES, _MAX_LABELS = 200, 500, 16
_MAX_OUTLINKS = 5_000
_MAX_DESCRIPTION, _MAX_LABEL = 1_000, 500
_SHOWN_PAGES, _SHOWN = 10, 16
_REPEATED_WEIGHT = 0.3
_MAX_CACHED_CHARS = 4_000
_ADDRESSES = ("http://", "https://")
"""Values that are addresses are found by their property, and not among the words."""
_TIME_MARKS = ("T", "t")
"""What follows the day in a timestamp."""


def encode(fields: Fields) -> str:
    """The document as the index takes it."""
    return msgspec.json.encode(fields).decode()


def make_page_id(url: str) -> str:
    """The id of a page's document."""
    return f"p:{xxh3_128_digest(url.encode('utf-8', 'replace')).hex()}"


def make_entity_id(entity: bytes) -> str:
    """The id of an entity's document."""
    return f"e:{entity.hex()}"


def build_cursor(state: bytes) -> Fields:
    """The document that tells how far the index is."""
    return {"id": CURSOR_ID, "card": base64.b64encode(state).decode()}


def build_entity(entity: bytes, mentions: Sequence[Mention], sites: Sequence[str], sources: int) -> Fields:
    """Put together what pages say of an entity."""
    sayings = [mention.contribution for mention in mentions]
    weight = max(saying.weight for saying in sayings)
    labels = _choose_labels(mentions)
    types = put_known_first(_rank_names(iri for saying in sayings for iri in saying.types))
    languages = _rank_names(language for mention in mentions for language in _languages_of(mention))
    syntaxes = sorted({syntax for saying in sayings for syntax in saying.syntaxes})
    dates = [saying.date for saying in sayings if saying.date]
    best = min((rank for rank, _ in dates), default=0)
    date = max((time for rank, time in dates if rank == best), default=0.0)
    newest = sorted(mentions, key=lambda mention: (-mention.time, mention.url))[:_SHOWN_PAGES]
    card = Card(
        id=min(saying.id for saying in sayings),
        kind=ENTITY,
        label=labels[0],
        description=_choose_text([saying.description for saying in sayings]),
        types=tuple(types[:MAX_TYPES]),
        url=_choose_address(saying.url for saying in sayings),
        image=_choose_address(saying.image for saying in sayings),
        sites=tuple(sites[:_SHOWN]),
        languages=tuple(languages[:_SHOWN]),
        syntaxes=tuple(syntaxes),
        sources=sources,
        pages=tuple(Source(mention.url, mention.time) for mention in newest),
        date=bound_date(date) if dates else 0.0,
        facts=choose_facts(sayings, labels) if weight > PART_WEIGHT else (),
        site_count=max(1, len(sites)),
    )
    names = {iri for saying in sayings for each in (saying.values, saying.links) for iri, _ in each}
    paths = {path.partition(" ")[::2] for saying in sayings for path, _ in saying.parts}
    names.update(outer for outer, _ in paths)
    inner = {inner for _, inner in paths if inner}
    values, fields = _gather_values(sayings, set(labels))
    return {
        "id": make_entity_id(entity),
        **_text_fields(labels, values=values),
        **_name_fields(types[:_MAX_NAMES], sorted(names)[:_MAX_NAMES], sorted(inner)[:_MAX_NAMES]),
        **_place_fields(sites, {mention.host for mention in mentions}, languages, syntaxes),
        "properties": fields,
        "start": list_starts(card.label) if weight > PART_WEIGHT else [],
        **make_rank_fields(weight, sources, entity),
        "bucket": int.from_bytes(entity) % BUCKETS,
        **_card_fields(card),
    }


def build_page(outcome: Outcome, host: str, site: str, reading: PageReading) -> Fields:
    """The document of a page."""
    if not isfinite(outcome.time):
        raise ValueError(f"it was fetched at {outcome.time}, which is no time")
    own, facts = reading.own, reading.facts
    page = xxh3_128_digest(outcome.url.encode("utf-8", "replace"))
    text = decode_references(outcome.text[:_MAX_TEXT])
    title = " ".join(decode_references(outcome.title[:_MAX_LABEL]).split())
    names = [label for _, _, label in own.labels] if own else []
    types = put_known_first(sorted(facts.classes, key=lambda iri: (-facts.classes[iri], iri)))
    languages = [outcome.language] if outcome.language else []
    card = Card(
        id=outcome.url,
        kind=PAGE,
        label=(title if is_visible(title) else "") or _choose_title(reading) or outcome.url,
        description=own.description[2][:_MAX_DESCRIPTION] if own and own.description else "",
        types=tuple(types[:MAX_TYPES]),
        url=outcome.url,
        image=own.image if own else "",
        sites=(site,),
        languages=tuple(languages),
        syntaxes=tuple(sorted(facts.syntaxes)),
        pages=(Source(outcome.url, outcome.time),),
        date=_find_page_date(outcome, reading),
        duplicate_of=outcome.duplicate_of[:MAX_IRI],
    )
    labels = list(dict.fromkeys([card.label, *names]))[:_MAX_LABELS]
    values, fields = _gather_values([own] if own else [], set(labels))
    return {
        "id": make_page_id(outcome.url),
        **_text_fields(labels, text=text, values=values),
        **_name_fields(types[:_MAX_NAMES], sorted(facts.properties)[:_MAX_NAMES], ontologies=sorted(facts.ontologies)),
        **_place_fields([site], {host}, languages, card.syntaxes),
        "properties": fields,
        **make_rank_fields(_REPEATED_WEIGHT if outcome.duplicate_of else 1.0, 1, page),
        "start": [] if outcome.duplicate_of else list_starts(card.label),
        "outlinks": hash_outlinks(outcome.outlinks),
        "bucket": int.from_bytes(page) % BUCKETS,
        **_card_fields(card),
    }


def hash_outlinks(outlinks: Iterable[str]) -> list[int]:
    """The hashes by which a page is found that links to a URL; what is behind a `#` does not matter."""
    pages = "\n".join({link.partition("#")[0] if "#" in link else link for link in outlinks})
    return (
        sorted(map(xxh3_64_intdigest, pages.encode("utf-8", "replace").split(b"\n")))[:_MAX_OUTLINKS] if pages else []
    )


def _text_fields(labels: list[str], **texts: str) -> Fields:
    """Fields of words and of runs without spaces; with the texts as they are, where that is not how they are indexed."""
    label_runs: list[str] = []
    runs: list[str] = []
    fields: Fields = {"label": [_split(label, label_runs) for label in labels]}
    shown: Fields = {} if fields["label"] == labels else {"label": labels}
    for name, text in texts.items():
        fields[name] = _split(text, runs)
        # A space that does not break a line is shown as any other.
        if fields[name] != text.replace("\xa0", " "):
            shown[name] = [text]
    if runs or label_runs:
        fields |= {"label_bigrams": label_runs, "bigrams": runs}
    if shown:
        fields["shown"] = base64.b64encode(msgspec.json.encode(shown)).decode()
    return fields


def _split(text: str, runs: list[str]) -> str:
    if text.isascii():
        return text
    words, found = split_scripts(text)
    runs += found
    return words


def _card_fields(card: Card) -> Fields:
    fields: Fields = {"kind": card.kind, "card": base64.b64encode(msgspec.json.encode(card)).decode()}
    if card.date:
        date = datetime.fromtimestamp(int(card.date), UTC).isoformat()
        fields |= {"date": date, "year": int(date[:4])}
    return fields


def _name_fields(
    types: Sequence[str], names: Sequence[str], inner: Sequence[str] = (), ontologies: Sequence[str] = ()
) -> Fields:
    """Fields of classes, properties, those of nameless parts, and ontologies, which are theirs where none are given."""
    # Things are alike: nine of ten have the classes and properties of one before. What is long is not worth the memory.
    is_short = sum(map(len, names)) + sum(map(len, inner)) < _MAX_CACHED_CHARS
    make = _make_name_fields if is_short else _make_name_fields.__wrapped__
    return make(tuple(types), tuple(names), tuple(inner), tuple(ontologies))


@lru_cache(maxsize=4096)
def _make_name_fields(
    types: tuple[str, ...], names: tuple[str, ...], inner: tuple[str, ...], ontologies: tuple[str, ...]
) -> Fields:
    found = ontologies or {find_ontology(iri) for iri in (*types, *names, *inner)}
    chosen = sorted(iri for iri in found if len(iri) <= MAX_IRI)[:_MAX_NAMES]
    return {
        "type": list(dict.fromkeys(name for iri in types for name in list_facet_classes(iri))),
        "types": list(dict.fromkeys(name for iri in types for name in list_class_names(iri))),
        "property": list(names),
        "property_names": _list_asked_names(names),
        "part_names": _list_asked_names(inner),
        "ontology": chosen,
        "ontologies": list(dict.fromkeys(name for iri in chosen for name in (iri.lower(), *list_prefixes(iri)))),
    }


def _list_asked_names(iris: Iterable[str]) -> list[str]:
    """By what properties are asked for."""
    return list(dict.fromkeys(name for iri in iris for name in (iri.lower(), find_short_name(iri))))


def _place_fields(
    sites: Sequence[str], hosts: Iterable[str], languages: Iterable[str], syntaxes: Iterable[str]
) -> Fields:
    """Fields of sites, languages and syntaxes."""
    sites = [site for site in sites if site][:_MAX_SITES]
    names = dict.fromkeys(sites)
    for host in sorted(hosts):
        names.update(dict.fromkeys(_domains_above(host, names)))
    tags = [tag.lower() for tag in languages]
    primary = sorted({tag.partition("-")[0] for tag in tags})
    return {
        "site": sites,
        "sites": list(names),
        "lang": primary,
        "langs": sorted({*tags, *primary}),
        "syntax": list(syntaxes),
    }


def _domains_above(host: str, known: Iterable[str]) -> list[str]:
    """A host and the domains above it, down to one that is known."""
    domains = []
    while host and host not in known:
        domains.append(host)
        host = host.partition(".")[2]
    return domains if host else domains[:1]


def _choose_labels(mentions: Sequence[Mention]) -> list[str]:
    """All labels, the best first: by rank, then those without a language or in English, by number of sites, by the alphabet."""
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
    """The label of what the page is most about."""
    if reading.own is not None and reading.own.labels:
        return reading.own.labels[0][2]
    candidates = [(-each.weight, *each.labels[0]) for each in reading.contributions.values()]
    return min(candidates)[3] if candidates else ""


def _choose_address(addresses: Iterable[str]) -> str:
    """What most say."""
    found = list(filter(None, addresses))
    if len(found) < 2:
        return found[0] if found else ""
    uses = Counter(found)
    return min(uses, key=lambda address: (-uses[address], len(address), address), default="")


def _rank_names(names: Iterable[str]) -> list[str]:
    """Each once, the most frequent first."""
    found = list(names)
    if len(found) < 2:
        return found
    uses = Counter(found)
    return sorted(uses, key=lambda name: (-uses[name], name))


def _languages_of(mention: Mention) -> tuple[str, ...]:
    return mention.contribution.languages or ((mention.language.lower(),) if mention.language else ())


def _find_page_date(outcome: Outcome, reading: PageReading) -> float:
    """When it was published, or else last changed; 0 where neither is known."""
    if reading.date is not None:
        return bound_date(reading.date[1])
    if outcome.last_modified:
        try:
            changed = parsedate_to_datetime(outcome.last_modified[:100]).timestamp()
        except (ValueError, OverflowError):
            return 0.0
        return bound_date(changed) if 0 < changed < outcome.time else 0.0
    return 0.0


def _gather_values(sayings: Sequence[Contribution], labels: set[str]) -> tuple[str, dict[str, list[str]]]:
    """All texts, a line each, without the labels; and texts and IRIs by the names of their properties."""
    lines: dict[str, None] = {}
    fields: dict[str, dict[str, None]] = {}
    chars = _MAX_CHARS
    for saying in sayings:
        for path, texts in (*saying.values, *saying.parts):
            # What a nameless part says is found by its own property, and by the one that leads to it.
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
        for iri, links in saying.links:
            field = fields.setdefault(find_field_name(iri), {})
            for link in links:
                # Of the terms of a vocabulary people know the names: InStock, Monday.
                text = link.removeprefix(SCHEMA)
                if len(text) <= chars and text not in field:
                    chars -= len(text)
                    field[text] = None
    # A text that is a timestamp would be indexed as a date, in which no words are found; the space keeps it a text.
    shown = {
        name: [
            f" {text}" if text[10:11] in _TIME_MARKS else text if text.isascii() else split_scripts(text)[0]
            for text in field
        ]
        for name, field in fields.items()
        if field
    }
    return "\n".join(lines), shown
