"""Spelling corrections and completions: unknown words give similar words of the index, the beginning of a query its endings.

Words at one edit (a letter added, missing, replaced, or two swapped) are looked up directly, in some hundred look-ups; for two
edits, tantivy finds labels with such a word. Completions are labels, names of classes, and values of fields such as `site:`.
Every step is bounded, whatever was typed and however many labels there are.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import sqrt
from typing import Any

from tantivy import Occur, Query

from rdfspider.index.analysis import MAX_START, START_SIZES, split_text, write_start
from rdfspider.index.text.called import add_called
from rdfspider.index.text.documents import read_card
from rdfspider.index.text.facets import list_values
from rdfspider.index.text.fields import ASKED, WORD_FIELDS
from rdfspider.index.text.query_language import KINDS, VALUE, WORD, WORDS, Clause, Question, parse_question
from rdfspider.index.text.query_plan import Index, build_plan, has_property
from rdfspider.index.text.ranking import is_frequent
from rdfspider.index.text.words import find_word
from rdfspider.results import Card, HitKind, NameCount, NameKind, Role, Suggestion
from rdfspider.vocabulary.names import find_short_name, list_prefixes, shorten_iri, split_iri
from rdfspider.vocabulary.terms import replace_surrogates

MAX_LIMIT = 50
FindNames = Callable[[NameKind, str, int], Sequence[NameCount]]
"""A kind of names, a text and a limit enter; names that contain the text leave, those that begin with it first."""

# A word in at most so many documents may be a mistake if a neighbour is in so many times more.
_RARE = 3
_RATIO = 50
_MIN_CHARS = 3
_MAX_CHARS = 24
# Shorter words have too many unrelated neighbours at two edits.
_MIN_CHARS_FOR_TWO = 5
_MAX_WORDS = 4
# Similar words of which those that most labels have are compared by the other words of a query, and how many these are.
_MAX_COMPARED, _MAX_SIMILAR = 50, 6
# What a word counts beside others that no label has; one that is only in labels counts one more.
_ANYWHERE = 0.1
_LABELS = 50
_DIGITS = "0123456789"
_MAX_TYPED = 200
# If more labels than this have the beginning, only those with the highest weights are considered.
_MAX_EXPANDED = 20_000
_CANDIDATES_A_SUGGESTION, _MIN_CANDIDATES = 4, 100
# Words inside labels are searched from this many characters on.
_MIN_INSIDE = 3
_CLASSES = 3
# A field of the query language at the end, with the beginning of its value; a quotation mark may be open.
_LAST_FIELD = re.compile(rf"""(?i)(?:^|(?<=\s))-?(?P<field>{"|".join(ASKED)}):(?P<value>"[^"]*|[^\s"]*)$""")
_VALUES_COMPARED = 1_000


def suggest_question(question: Question, index: Index) -> str:
    """Return the question's text with misspelt words corrected; empty if there are none."""
    rare = [
        (start, word, fields)
        for group in question.groups
        for clause in group
        for start, word, fields in _list_words(clause)
        if count_documents(word, index, fields) <= _RARE
    ]
    text = question.text
    # From the end, so that earlier positions stay valid.
    for start, word, fields in sorted(rare[:_MAX_WORDS], reverse=True):
        if better := suggest_word(word, index, fields):
            text = text[:start] + better + text[start + len(word) :]
    return text if text != question.text else ""


def correct_question(question: Question, index: Index) -> str:
    """Return the question's text with its unknown plain words corrected; empty if there is nothing to correct.

    A word is unknown if no document has it in any form, and nothing is called so. Of the similar words that one is taken that
    goes best with the other words of the question, or else the most frequent one in labels. Words that decide nothing are never
    taken."""
    words = [
        (clause.start + match.start(), match[0], found[0])
        for group in question.groups
        for clause in group
        if clause.field == WORDS and not (clause.is_phrase or clause.is_prefix or clause.is_excluded)
        if "://" not in clause.text and clause.start >= 0
        # What was searched as plain words instead of a field is no word that was misspelt.
        if question.text[clause.start - 1 : clause.start] != ":"
        for match in WORD.finditer(clause.text)
        if len(found := split_text(match[0])[0]) == 1
    ]
    known = [find_word(index.words, word) for _, _, word in words]
    if not all(word.count for word in known):
        known = add_called(index.words, known, index.find_called, is_of_few=False)
    beside = [word.query for word in known if word.count]
    text = question.text
    unknown = [one for one, word in zip(words, known, strict=True) if not word.count]
    # From the end, so that earlier positions stay valid.
    for start, typed, word in reversed(unknown[:_MAX_WORDS]):
        if better := _choose_word(_list_similar(word, index, WORD_FIELDS, _MAX_COMPARED), index, beside):
            text = text[:start] + better + text[start + len(typed) :]
    return text if text != question.text else ""


def _choose_word(similar: Sequence[str], index: Index, beside: Sequence[Query]) -> str:
    """Choose of similar words the one that goes best with other words: a large share of its documents have them, and
    many of these have it in their labels. Very short and very frequent words are beside everything."""
    counts = {word: count_documents(word, index, WORD_FIELDS) for word in similar if len(word) >= _MIN_CHARS}
    in_labels = {word: index.searcher.doc_freq("label", word) for word in counts}
    chosen = [word for word in counts if not is_frequent(counts[word], index.searcher.num_docs)]
    chosen = sorted(chosen, key=lambda word: (-in_labels[word], -counts[word], word))[:_MAX_SIMILAR]
    if not beside or len(chosen) < 2:
        return chosen[0] if chosen else ""
    some = Query.boolean_query([(Occur.Should, query) for query in beside])

    def rate(word: str) -> float:
        both = [(Occur.Must, find_word(index.words, word).query), (Occur.Must, some)]
        found: Any = index.searcher.search(Query.const_score_query(Query.boolean_query(both), 0.0), 1)
        return float(found.count) / sqrt(counts[word]) * (_ANYWHERE + in_labels[word] / counts[word])

    return max(chosen, key=rate)


def _list_words(clause: Clause) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Yield the position of each word of a clause, the word, and the fields that may have it."""
    if clause.is_excluded or clause.is_prefix or clause.start < 0 or "://" in clause.text:
        return
    if clause.field in ASKED and ASKED[clause.field].is_spelled:
        yield clause.start, clause.text.lower(), (ASKED[clause.field].name,)
    elif clause.field in (WORDS, VALUE):
        for match in WORD.finditer(clause.text):
            # A word can be replaced only if its indexed form is as long as what was typed.
            words = split_text(match[0])[0]
            if len(words) == 1 and len(words[0]) == len(match[0]):
                yield clause.start + match.start(), words[0], WORD_FIELDS


def suggest_word(word: str, index: Index, fields: Sequence[str] = WORD_FIELDS) -> str:
    """Return the most frequent neighbour of a word that is rare or missing in these fields; empty if there is none."""
    return next(iter(_list_similar(word, index, fields)), "")


def _list_similar(word: str, index: Index, fields: Sequence[str], most: int = 1) -> list[str]:
    """List up to `most` neighbours of a word that is rare or missing in these fields, the most frequent first."""
    if not _MIN_CHARS <= len(word) <= _MAX_CHARS or word.isdigit():
        return []
    count = count_documents(word, index, fields)
    if count > _RARE:
        return []
    for neighbours in (_list_neighbours(word), _find_near_labels(word, index)):
        counts = {neighbour: count_documents(neighbour, index, fields) for neighbour in neighbours}
        found = [one for one in counts if counts[one] >= max(1, count * _RATIO)]
        if found:
            return sorted(found, key=lambda one: (-counts[one], one))[:most]
    return []


def count_documents(word: str, index: Index, fields: Sequence[str]) -> int:
    """Count the documents with a word, in the field where most have it."""
    return max(index.searcher.doc_freq(field, word) for field in fields)


def _list_neighbours(word: str) -> Iterable[str]:
    """List all strings at one edit."""
    letters = _list_letters(word)
    splits = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    found = {left + right[1:] for left, right in splits if right}
    found |= {left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1}
    found |= {left + letter + right[1:] for left, right in splits if right for letter in letters}
    found |= {left + letter + right for left, right in splits for letter in letters}
    return sorted(found - {word, ""})


def _list_letters(word: str) -> str:
    """Return letters of the word's scripts: those in the same Unicode blocks."""
    if word.isascii():
        return "abcdefghijklmnopqrstuvwxyz" + (_DIGITS if any(map(str.isdigit, word)) else "")
    blocks = {ord(letter) & ~0x7F for letter in word if letter.isalpha()}
    near = (chr(code) for block in sorted(blocks)[:3] for code in range(block, block + 0x80))
    return "".join(letter for letter in near if unicodedata.category(letter) in ("Ll", "Lo"))[:150]


def _find_near_labels(word: str, index: Index) -> Iterator[str]:
    """Yield words at two edits from the labels with the most sources."""
    if len(word) < _MIN_CHARS_FOR_TWO:
        return
    query = Query.fuzzy_term_query(index.schema, "label", word, 2)
    found = index.searcher.search(query, _LABELS, count=False, order_by_field="order")
    seen = {word}
    for _, address in found.hits:
        label = str(index.searcher.doc(address).get_first("label") or "")
        for other in split_text(label[:1_000])[0]:
            if other not in seen:
                seen.add(other)
                if abs(len(other) - len(word)) <= 2 and measure_distance(word, other) <= 2:
                    yield other


def measure_distance(one: str, other: str) -> int:
    """Return the edit distance of two words; swapped letters count as one edit."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, letter_there in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != letter_there))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == letter_there:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]


def suggest(
    index: Index, classes: Sequence[NameCount], find_names: FindNames, typed: str, limit: int
) -> list[Suggestion]:
    """Return the best completions of the end of a text, without duplicates; `classes` are those that pages use most."""
    typed = replace_surrogates(typed[:_MAX_TYPED])
    limit = max(1, min(limit, MAX_LIMIT))
    if match := _LAST_FIELD.search(typed):
        return _suggest_values(index, find_names, match, limit)
    before, clauses, words = _split_end(typed)
    has_type = any(clause.field == "type" for clause in clauses)
    of_classes = [] if has_type else list(_suggest_classes(typed, classes))[:_CLASSES]
    # Labels leave some room for classes.
    of_labels = _suggest_labels(index, before, write_start(words), max(1, limit - len(of_classes)))
    return [*of_labels, *of_classes][:limit]


def _split_end(typed: str) -> tuple[str, list[Clause], str]:
    """Split typed text into the part that stays, its clauses, and the plain words at the end to complete."""
    question = parse_question(typed)
    clauses = [] if question.note else [clause for group in question.groups for clause in group]
    special = [one for one in clauses if one.field != WORDS or one.is_phrase or one.is_prefix or one.is_excluded]
    while special:
        end = typed.find(" ", special[-1].start + len(special[-1].text)) + 1
        if end or special[-1].field != VALUE:
            return (typed[:end], special, typed[end:]) if end else (typed, special, "")
        # Labels may have colons: Re:Zero.
        special.pop()
    return "", [], typed


def _suggest_values(index: Index, find_names: FindNames, match: re.Match[str], limit: int) -> list[Suggestion]:
    """Complete the value after a field, with the most frequent first; the text before it stays."""
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
    """Yield the values of a field, each in the forms that people may type, with a short description."""
    if values := {"kind": KINDS, "role": tuple(Role)}.get(field):
        yield from (((value,), "") for value in values)
    elif counted := ASKED[field].suggests_values:
        yield from (((value,), "") for value in list_values(index, counted))
    elif kind := ASKED[field].suggests_names:
        # An ontology's prefix is not part of its IRI, so all are compared.
        asked = "" if field == "ontology" else start
        for count in find_names(kind, asked, _VALUES_COMPARED):
            if field == "site":
                yield (count.name,), f"{count.pages:,} {'page' if count.pages == 1 else 'pages'}"
            elif field == "ontology":
                yield (*list_prefixes(count.name), count.name), count.name
            else:
                yield (split_iri(count.name)[1], shorten_iri(count.name), count.name), count.name


def _suggest_labels(index: Index, before: str, start: str, limit: int) -> list[Suggestion]:
    """Complete labels: entities whose labels have the beginning, then pages, then labels that have it inside.

    All match the clauses in `before`."""
    found: dict[str, Suggestion] = {}
    kept = [(Occur.Must, build_plan(parse_question(before), index).query)] if before.strip() else []
    for query, kind in _list_queries(index, start) if start else ():
        of_kind = Query.term_query(index.schema, "kind", kind, "basic")
        both = Query.boolean_query([(Occur.Must, query), (Occur.Must, of_kind), *kept])
        for card in _read_best(index, both, limit):
            label = write_start(card.label)
            # The title of a page about an entity is mostly the entity's label followed by the site's name.
            if start in label and not (kind == HitKind.PAGE and any(label.startswith(f"{known} ") for known in found)):
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
        yield begins, HitKind.ENTITY
        yield begins, HitKind.PAGE
    words = start.split(" ")
    if len(start) < MAX_START and (len(words) > 1 or len(start) >= _MIN_INSIDE):
        # This expands the last word to fifty words at most.
        inside = Query.phrase_prefix_query(index.schema, "label", list[str | tuple[int, str]](words))
        yield inside, HitKind.ENTITY
        yield inside, HitKind.PAGE


def _read_best(index: Index, query: Query, limit: int) -> Iterator[Card]:
    """Yield the cards of a query's results by weight: entities with many sources first, parts of others last."""
    # Some have the same label, or another beginning.
    wanted = max(_MIN_CANDIDATES, _CANDIDATES_A_SUGGESTION * limit)
    found = index.searcher.search(Query.const_score_query(query, 1.0), wanted, count=False, weight_by_field="weight")
    for _, address in found.hits:
        yield read_card(index.searcher.doc(address))


def _describe(index: Index, before: str, card: Card) -> Suggestion:
    label = " ".join(card.label.split())
    if not _is_plain(index, label, is_alone=not before):
        # Unquoted it would break the query or mean something else.
        label = f'"{" ".join(label.replace(chr(34), " ").split())}"'
    about = card.sites[0] if card.kind == HitKind.PAGE and card.sites else ", ".join(map(shorten_iri, card.types[:1]))
    return Suggestion(f"{before}{label}", card.kind, about)


def _is_plain(index: Index, label: str, *, is_alone: bool) -> bool:
    """Return whether a label is searched for as words throughout.

    Alone, so is a label that breaks a rule of the query language, and so are phrases and names before a colon that are no
    property's."""
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
    """Complete the last word to the name of a class, as `type:Product`; the words before it stay."""
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
