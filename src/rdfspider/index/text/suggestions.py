"""What somebody has typed so far in, how it may go on out: things and pages whose label begins so, names of classes, and behind
`site:` and the other fields of the language the values that they have.

Every step is bounded, whatever was typed and however many labels begin so: one list of the index is read by weight, or, where it
is short, the labels in its range.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec
from tantivy import Occur, Query

from rdfspider.index.ledger.reader import NameCount
from rdfspider.index.text.analysis import MAX_START, START_SIZES, write_start
from rdfspider.index.text.facets import list_values
from rdfspider.index.text.fields import ASKED, ENTITY, PAGE
from rdfspider.index.text.query_language import KINDS, VALUE, WORDS, Clause, parse_question
from rdfspider.index.text.query_plan import Index, build_plan, has_property
from rdfspider.index.text.results import Card
from rdfspider.vocabulary.names import find_short_name, list_prefixes, shorten_iri, split_iri

MAX_LIMIT = 50
_MAX_TYPED = 200
# Where more labels than this begin so, those that weigh most are looked at; else all of them count.
_MAX_EXPANDED = 20_000
_CANDIDATES_A_SUGGESTION, _MIN_CANDIDATES = 4, 100
# Words inside labels are looked for from so many characters on.
_MIN_INSIDE = 3
_CLASSES = 3
# A field of the language at the end, and what of its value is there; the quotation mark may be open.
_LAST_FIELD = re.compile(rf"""(?i)(?:^|(?<=\s))-?(?P<field>{"|".join(ASKED)}):(?P<value>"[^"]*|[^\s"]*)$""")
_VALUES_COMPARED = 1_000

FindNames = Callable[[str, str, int], Sequence[NameCount]]
"""A kind of names, a text and a number in; so many names out that have the text, those that begin so first."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One way to go on."""

    text: str
    """What to put in the place of what was typed."""
    kind: str
    """entity, page, type for the name of a class, or the field whose value it is."""
    about: str
    """What it is, in short: the type of a thing, the site of a page, the IRI of a name."""


def suggest(
    index: Index, classes: Sequence[NameCount], find_names: FindNames, typed: str, limit: int
) -> list[Suggestion]:
    """The best ways to go on, none twice; `classes` are those that pages use most. Only the end of the text is completed."""
    typed = typed[:_MAX_TYPED].encode("utf-8", "replace").decode()
    limit = max(1, min(limit, MAX_LIMIT))
    if match := _LAST_FIELD.search(typed):
        return _suggest_values(index, find_names, match, limit)
    before, clauses, words = _split_end(typed)
    has_type = any(clause.field == "type" for clause in clauses)
    of_classes = [] if has_type else list(_suggest_classes(typed, classes))[:_CLASSES]
    # Some room is left for classes.
    of_labels = _suggest_labels(index, before, write_start(words), max(1, limit - len(of_classes)))
    return [*of_labels, *of_classes][:limit]


def _split_end(typed: str) -> tuple[str, list[Clause], str]:
    """What stays as it is with its clauses, and the plain words at the end that are completed."""
    question = parse_question(typed)
    clauses = [] if question.note else [clause for group in question.groups for clause in group]
    special = [one for one in clauses if one.field != WORDS or one.is_phrase or one.is_prefix or one.is_excluded]
    while special:
        end = typed.find(" ", special[-1].start + len(special[-1].text)) + 1
        if end or special[-1].field != VALUE:
            return (typed[:end], special, typed[end:]) if end else (typed, special, "")
        # Labels have colons, too: Re:Zero.
        special.pop()
    return "", [], typed


def _suggest_values(index: Index, find_names: FindNames, match: re.Match[str], limit: int) -> list[Suggestion]:
    """Values of the field that begin as what stands behind it, the most frequent first; what stands before it stays."""
    field = match["field"].lower()
    start = match["value"].lstrip('"').lower()
    before = match.string[: match.start("value")]
    found: dict[str, Suggestion] = {}
    for forms, about in _list_values(index, find_names, field, start):
        value = next((form for form in forms if form.lower().startswith(start)), "")
        if value and not any(sign.isspace() or sign == '"' for sign in value):
            found.setdefault(value.lower(), Suggestion(f"{before}{value}", field, about))
        if len(found) == limit:
            break
    return list(found.values())


def _list_values(index: Index, find_names: FindNames, field: str, start: str) -> Iterator[tuple[Sequence[str], str]]:
    """The values of a field, each as people may write it, and what it is."""
    if field == "kind":
        yield from (((kind,), "") for kind in KINDS)
    elif counted := ASKED[field].suggests_values:
        yield from (((value,), "") for value in list_values(index, counted))
    else:
        # The prefix of an ontology is no part of its IRI.
        asked = "" if field == "ontology" else start
        for count in find_names(ASKED[field].suggests_names, asked, _VALUES_COMPARED):
            if field == "site":
                yield (count.name,), f"{count.pages:,} {'page' if count.pages == 1 else 'pages'}"
            elif field == "ontology":
                yield (*list_prefixes(count.name), count.name), count.name
            else:
                yield (split_iri(count.name)[1], shorten_iri(count.name), count.name), count.name


def _suggest_labels(index: Index, before: str, start: str, limit: int) -> list[Suggestion]:
    """Things whose labels begin so, the best first; then such pages, then what has it inside its label. They fit what stands
    before."""
    found: dict[str, Suggestion] = {}
    kept = [(Occur.Must, build_plan(parse_question(before), index).query)] if before.strip() else []
    for query, kind in _list_queries(index, start) if start else ():
        of_kind = Query.term_query(index.schema, "kind", kind, "basic")
        both = Query.boolean_query([(Occur.Must, query), (Occur.Must, of_kind), *kept])
        for card in _read_best(index, both, limit):
            label = write_start(card.label)
            # A page about a thing is mostly called as that is, and then by its site.
            if start in label and not (kind == PAGE and any(label.startswith(f"{known} ") for known in found)):
                found.setdefault(label, _describe(index, before, card))
            if len(found) == limit:
                return list(found.values())
    return list(found.values())


def _list_queries(index: Index, start: str) -> Iterator[tuple[Query, str]]:
    size = max(size for size in START_SIZES if size <= len(start))
    count = index.searcher.doc_freq("start", start[:size])
    if count:
        if size == len(start) or count > _MAX_EXPANDED:
            begins = Query.term_query(index.schema, "start", start[:size], "basic")
        else:
            begins = Query.fuzzy_term_query(index.schema, "start", start, 0, True, True)
        yield begins, ENTITY
        yield begins, PAGE
    words = start.split(" ")
    if len(start) < MAX_START and (len(words) > 1 or len(start) >= _MIN_INSIDE):
        # It takes the first fifty words that begin as the last one does, and no more.
        inside = Query.phrase_prefix_query(index.schema, "label", list[str | tuple[int, str]](words))
        yield inside, ENTITY
        yield inside, PAGE


def _read_best(index: Index, query: Query, limit: int) -> Iterator[Card]:
    """The cards of what a query finds, by weight: things of which many speak first, parts of others last."""
    # Some have the same label, or begin otherwise.
    wanted = max(_MIN_CANDIDATES, _CANDIDATES_A_SUGGESTION * limit)
    found = index.searcher.search(Query.const_score_query(query, 1.0), wanted, count=False, weight_by_field="weight")
    for _, address in found.hits:
        yield msgspec.json.decode(index.searcher.doc(address).get_first("card") or b"", type=Card)


def _describe(index: Index, before: str, card: Card) -> Suggestion:
    label = " ".join(card.label.split())
    if not _is_plain(index, label, is_alone=not before):
        # As it is it would break the question, or ask for something else.
        label = f'"{" ".join(label.replace(chr(34), " ").split())}"'
    about = card.sites[0] if card.kind == PAGE and card.sites else ", ".join(map(shorten_iri, card.types[:1]))
    return Suggestion(f"{before}{label}", card.kind, about)


def _is_plain(index: Index, label: str, *, is_alone: bool) -> bool:
    """Whether all of a label is searched for as words. Alone, what breaks a rule of the language is, too, and so are phrases, and
    what stands before a colon and is no property."""
    question = parse_question(label)
    if question.note and not is_alone:
        return False
    for clause in (clause for group in question.groups for clause in group):
        is_words = clause.field == WORDS or (
            is_alone and clause.field == VALUE and not has_property(index, clause.name)
        )
        if not is_words or clause.is_prefix or clause.is_excluded or (clause.is_phrase and not is_alone):
            return False
    return True


def _suggest_classes(typed: str, classes: Iterable[NameCount]) -> Iterator[Suggestion]:
    """`type:Product` for the last word, where it begins as a class does; the words before it stay."""
    before, space, last = typed.rpartition(" ")
    name = last.lower()
    if not name:
        return
    seen = set()
    for count in classes:
        short = find_short_name(count.name)
        if short.startswith(name) and short not in seen and short.isidentifier():
            seen.add(short)
            yield Suggestion(f"{before}{space}type:{split_iri(count.name)[1]}", "type", count.name)
