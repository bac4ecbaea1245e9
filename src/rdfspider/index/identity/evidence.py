"""What one page states about a thing enters; what may join it with other things leaves: keys, each with its reason.

Things with a key in common may be one (`components.py` decides). The key of a `sameAs` is the entity of its target, so that it
also joins the target itself if pages describe it. Everything is bounded, and depends on one page alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from typing import NamedTuple

from rdfspider.index.entities.contributions import Contribution, hash_entity
from rdfspider.index.identity.addresses import find_home, list_spellings
from rdfspider.index.identity.identifiers import (
    read_doi,
    read_gtin,
    read_isbn,
    read_mailbox,
    read_mailbox_sum,
    read_orcid,
)
from rdfspider.index.identity.likeness import ANY, find_kind
from rdfspider.results import Role
from rdfspider.vocabulary.labels import TITLE_RANK
from rdfspider.vocabulary.prefixes import DC, DCTERMS, FOAF, OWL, PREFIXES, SCHEMA, VCARD

MAX_EVIDENCE = 24
"""Per thing and page."""
_MAX_CLAIMS = 500
"""Per page."""
_MAX_TEXT = 500
_SEPARATOR = "\0"


class Reason(IntEnum):
    """Why things may be one, the surest first."""

    ORCID = 1
    DOI = 2
    GTIN = 3
    """GTIN, EAN, UPC or ISBN."""
    WIKIDATA = 4
    OWL_SAME_AS = 5
    SAME_AS = 6
    MAILBOX = 7
    HOME_PAGE = 8


SINGLE = frozenset((Reason.ORCID, Reason.DOI, Reason.GTIN, Reason.WIKIDATA))
"""A thing has only one of these; things with different ones are different."""


class Evidence(NamedTuple):
    """What may join a thing with others."""

    key: bytes
    reason: Reason
    value: str
    """The identifier or the address, for people."""


Claim = tuple[bytes, bytes, int]
"""Entity, key and reason."""
FindDomain = Callable[[str], str]
"""Returns the registrable domain of a host."""

_Reader = Callable[[str], Iterable[tuple[Reason, str]]]


def list_claims(contributions: Mapping[bytes, Contribution], find_domain: FindDomain) -> list[Claim]:
    """What one page claims of its things."""
    claims: list[Claim] = []
    for entity, contribution in contributions.items():
        claims += [(entity, found.key, found.reason) for found in list_evidence(entity, contribution, find_domain)]
        if len(claims) >= _MAX_CLAIMS:
            break
    return claims[:_MAX_CLAIMS]


def list_evidence(entity: bytes, contribution: Contribution, find_domain: FindDomain) -> list[Evidence]:
    """What may join a thing with others, according to one page; parts of things are joined with nothing."""
    if contribution.role == Role.PART:
        return []
    found = list(_read_stated(contribution))
    if "orcid.org/" in contribution.id or "doi.org/" in contribution.id or "wikidata.org/" in contribution.id:
        found += _read_identifier(contribution.id)
    if contribution.url and (home := _read_home(contribution, find_domain)):
        found.append((Reason.HOME_PAGE, home))
    if not found:
        return []
    evidence: dict[bytes, Evidence] = {}
    for reason, value in dict.fromkeys(found):
        is_same = reason in (Reason.OWL_SAME_AS, Reason.SAME_AS)
        for spelling in list_spellings(value) if is_same else (f"{_SEPARATOR}{reason.name}{_SEPARATOR}{value}",):
            key = hash_entity(spelling)
            if key != entity and (key not in evidence or evidence[key].reason > reason):
                evidence[key] = Evidence(key, reason, value.partition(_SEPARATOR)[0])
    return sorted(evidence.values(), key=lambda each: (each.reason, each.key))[:MAX_EVIDENCE]


def list_keys(iri: str) -> list[bytes]:
    """The keys of an IRI that things may claim to be, whether or not pages describe it."""
    known = [f"{_SEPARATOR}{reason.name}{_SEPARATOR}{value}" for reason, value in _read_identifier(iri)]
    return [hash_entity(spelling) for spelling in known or (iri, *list_spellings(iri))]


def _read_stated(contribution: Contribution) -> Iterator[tuple[Reason, str]]:
    for part in (contribution.links, contribution.values):
        for predicate, values in part:
            if (read := _READERS.get(predicate)) is not None:
                for value in values[:MAX_EVIDENCE]:
                    if len(value) <= _MAX_TEXT:
                        yield from read(value)
    for path, values in contribution.parts:
        if path == _PART_IDENTIFIER:
            for value in values[:MAX_EVIDENCE]:
                yield from _read_identifier(value)


def _read_home(contribution: Contribution, find_domain: FindDomain) -> str:
    """The official home page of a person or an organisation, together with its name: either alone says too little."""
    host = find_home(contribution.url)
    rank, _, label = contribution.labels[0]
    kind = find_kind(contribution.types)
    if not host or rank >= TITLE_RANK or kind == ANY or not kind & _OWNERS or find_domain(host) != host:
        return ""
    return f"https://{host}/{_SEPARATOR}{' '.join(label.casefold().split())}"


def _read_same(reason: Reason) -> _Reader:
    def read(value: str) -> Iterator[tuple[Reason, str]]:
        known = _read_identifier(value)
        return iter(known or [(reason, value)])

    return read


def _read_by(reason: Reason, read_one: Callable[[str], str]) -> _Reader:
    return lambda value: [(reason, found)] if (found := read_one(value)) else []


def _read_identifier(value: str) -> list[tuple[Reason, str]]:
    """An identifier that says itself what it is: an address of Wikidata, ORCID or a DOI, `doi:…` or `urn:isbn:…`."""
    start = value[:_MAX_TEXT].strip().lower()
    if "orcid" in start:
        return [(Reason.ORCID, orcid)] if (orcid := read_orcid(start)) else []
    if "doi.org/" in start or start.startswith(("doi:", "10.")):
        return [(Reason.DOI, doi)] if (doi := read_doi(start)) else []
    if start.startswith(("isbn", "urn:isbn")):
        return [(Reason.GTIN, isbn)] if (isbn := read_isbn(start)) else []
    if "wikidata.org/" in start:
        item = start.rpartition("/")[2].partition("#")[0].rpartition(":")[2]
        if item[:1] == "q" and item[1:].isascii() and item[1:].isdigit():
            return [(Reason.WIKIDATA, item.upper())]
    return []


_OWNERS = find_kind((SCHEMA + "Person", SCHEMA + "Organization"))
_PART_IDENTIFIER = f"{SCHEMA}identifier {SCHEMA}value"
_GR, _BIBO, _BOOK, _PRODUCT = (PREFIXES[name] for name in ("gr", "bibo", "book", "product"))
_READERS: dict[str, _Reader] = {
    OWL + "sameAs": _read_same(Reason.OWL_SAME_AS),
    SCHEMA + "sameAs": _read_same(Reason.SAME_AS),
    **dict.fromkeys(
        [
            *(SCHEMA + name for name in ("gtin", "gtin8", "gtin12", "gtin13", "gtin14")),
            *(_GR + name for name in ("hasEAN_UCC-13", "hasGTIN-14", "hasGTIN-8")),
            *(_PRODUCT + name for name in ("ean", "upc")),
        ],
        _read_by(Reason.GTIN, read_gtin),
    ),
    **dict.fromkeys(
        [SCHEMA + "isbn", _BOOK + "isbn", _PRODUCT + "isbn", *(_BIBO + name for name in ("isbn", "isbn10", "isbn13"))],
        _read_by(Reason.GTIN, read_isbn),
    ),
    **dict.fromkeys([_BIBO + "doi", SCHEMA + "doi"], _read_by(Reason.DOI, read_doi)),
    **dict.fromkeys([SCHEMA + "identifier", DCTERMS + "identifier", DC + "identifier"], _read_identifier),
    **dict.fromkeys(
        [SCHEMA + "email", FOAF + "mbox", VCARD + "hasEmail", VCARD + "email"], _read_by(Reason.MAILBOX, read_mailbox)
    ),
    FOAF + "mbox_sha1sum": _read_by(Reason.MAILBOX, read_mailbox_sum),
}
"""How the values of each property that identifies things are read."""
