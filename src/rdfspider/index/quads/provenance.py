"""An Outcome enters, triples about the fetch of its page leave: time, status, syntaxes, and the position in the archive.

They have two parts, because a page's content and its last visit may come from different outcomes: a 304 answer is a visit
without content. `docs/provenance.md` lists the triples. Each is in six indexes of the store, so what only the archive is asked
for, what the others imply, and what is usual is left out.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from rdfspider.archive.outcomes import Effect, Outcome, OutcomeStamp, parse_stamp
from rdfspider.codes import Reason, VerdictState
from rdfspider.urls import valid_iri
from rdfspider.vocabulary.prefixes import DCTERMS, PROV, VOID, XSD
from rdfspider.vocabulary.terms import VOCABULARY, make_graph_iri, quoted

URL = f"{VOCABULARY}url"
CONTENT, VISIT = f"{VOCABULARY}content", f"{VOCABULARY}visit"
"""The stamps of the outcomes that the two parts come from. That of the visit is left out where it is the same; that of the
content has a digest of what the page states before it."""
VISITED = f"{VOCABULARY}visited"
"""When the page was last requested; every page has it."""
DUE = f"{VOCABULARY}unavailableAfter"
"""When the page is due for removal. It belongs to both parts: a visit without new content may still set it."""

_HTTP = "http://www.w3.org/2011/http#"
_STATUS = f"{_HTTP}statusCodeValue"
_VERDICT, _REASON, _ERROR = f"{VOCABULARY}verdict", f"{VOCABULARY}reason", f"{VOCABULARY}error"
_OF_VISIT = frozenset((VISIT, VISITED, _STATUS, _VERDICT, _REASON, _ERROR))
# Titles can be as long as pages.
_MAX_TEXT_CHARS = 1000
_DIGEST_END = ": "
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_of_visit(fact: str) -> bool:
    """Whether a fact, as a triple, is about the last visit and not about the page's content."""
    return fact.split(" ", 2)[1][1:-1] in _OF_VISIT


def describe_visit(outcome: Outcome, stamp: OutcomeStamp, content: OutcomeStamp) -> list[str]:
    """When the page was last requested, and the result, as triples without graph and dot. `content` is the stamp of what the
    page's content comes from."""
    facts = _Facts(outcome.url)
    if stamp != content:
        facts.add(VISIT, quoted(str(stamp)))
    facts.add(VISITED, _write_time(outcome.time))
    facts.add_number(_STATUS, outcome.status)
    if outcome.verdict != VerdictState.DONE:
        facts.add_text(_VERDICT, outcome.verdict)
    if outcome.reason != Reason.FETCHED:
        facts.add_text(_REASON, outcome.reason)
    facts.add_text(_ERROR, outcome.error)
    return facts.triples


def describe_due(url: str, due: float) -> list[str]:
    """When the page is due for removal; empty for never."""
    facts = _Facts(url)
    if due:
        facts.add(DUE, _write_time(due))
    return facts.triples


def read_due(literal: str) -> float:
    """The time of a literal that `describe_due` wrote."""
    return datetime.fromisoformat(literal).timestamp()


def read_content(literal: str) -> tuple[OutcomeStamp, str]:
    """The stamp of a page's content, and the digest of what it states, which a page that is gone has not, of a literal that
    `describe_content` wrote."""
    digest, end, stamp = literal.partition(_DIGEST_END)
    return (parse_stamp(stamp), digest) if end and " " not in digest else (parse_stamp(literal), "")


def end_visit(graph: str, facts: Iterable[str]) -> list[str]:
    """The facts of the visit that brought a page, changed as if the page had been `noindex` then."""
    kept = [fact for fact in facts if fact.split(" ", 2)[1][1:-1] not in (VISIT, _REASON)]
    return [*kept, f"<{graph}> <{_REASON}> {quoted(Reason.NOINDEX)}"]


def describe_content(outcome: Outcome, stamp: OutcomeStamp, triples: int, statements_digest: str) -> list[str]:
    """What the page was when it was last read, or that it was gone."""
    facts = _Facts(outcome.url)
    if outcome.effect != Effect.REPLACE:
        facts.add(CONTENT, quoted(str(stamp)))
        facts.add(f"{PROV}invalidatedAtTime", _write_time(outcome.time))
        return facts.triples
    facts.add(CONTENT, quoted(f"{statements_digest}{_DIGEST_END}{stamp}"))
    facts.add(f"{PROV}generatedAtTime", _write_time(outcome.time))
    facts.add_text(f"{DCTERMS}format", outcome.media_type)
    facts.add_text(f"{DCTERMS}language", outcome.language)
    facts.add_text(f"{DCTERMS}title", outcome.title)
    facts.add_iris(f"{VOCABULARY}canonical", (outcome.canonical,))
    facts.add_iris(f"{VOCABULARY}redirectedFrom", outcome.redirected_from)
    facts.add_iris(f"{VOCABULARY}duplicateOf", (outcome.duplicate_of,))
    if outcome.payload:
        facts.add_text(f"{VOCABULARY}warc", outcome.payload.segment)
        facts.add(f"{VOCABULARY}warcOffset", _write_number(outcome.payload.offset))
    facts.add_number(f"{VOID}triples", triples)
    for syntax in outcome.statements:
        facts.add_text(f"{VOCABULARY}syntax", syntax)
    facts.add_counts("problem", ((problem.code, problem.count) for problem in outcome.problems))
    return facts.triples


class _Facts:
    """Triples about one page; facts without a value are left out."""

    def __init__(self, url: str) -> None:
        graph = make_graph_iri(url)
        self._page = f"<{graph}>"
        self.triples: list[str] = []
        if graph != url:
            self.add(URL, quoted(url))

    def add(self, predicate: str, term: str) -> None:
        """Add a term that is already serialised."""
        self.triples.append(f"{self._page} <{predicate}> {term}")

    def add_text(self, predicate: str, text: str) -> None:
        """Add a text, unless it is empty."""
        if text:
            self.add(predicate, quoted(text[:_MAX_TEXT_CHARS]))

    def add_number(self, predicate: str, number: int) -> None:
        """Add a number, unless it is 0, which means unknown."""
        if number:
            self.add(predicate, _write_number(number))

    def add_iris(self, predicate: str, urls: Iterable[str]) -> None:
        """Add URLs, except those that give no valid IRI."""
        for url in dict.fromkeys(urls):
            if url and (found := valid_iri(url)):
                self.add(predicate, f"<{found.value}>")

    def add_counts(self, kind: str, counts: Iterable[tuple[str, int]]) -> None:
        """Add names and how often each occurred: `vocab#problem "iri-dropped"` and `vocab#problem-iri-dropped 12`."""
        sums: dict[str, int] = {}
        for name, count in counts:
            sums[name] = sums.get(name, 0) + count
        for name, count in sums.items():
            self.add_text(f"{VOCABULARY}{kind}", name)
            self.add(f"{VOCABULARY}{kind}-{quote(name[:_MAX_TEXT_CHARS], safe='')}", _write_number(count))


def _write_number(number: int) -> str:
    return f'"{number}"^^<{XSD}integer>'


def _write_time(time_s: float) -> str:
    """A time as the store writes it too: in UTC, without trailing zeros."""
    moment = _EPOCH + timedelta(microseconds=min(max(round(time_s * 1e6), 0), 253402300799_999999))
    text = moment.replace(tzinfo=None).isoformat()
    return f'"{text.rstrip("0") if "." in text else text}Z"^^<{XSD}dateTime>'
