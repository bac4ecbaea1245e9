"""What a crawl of the demo must find, and must not find: derived from the same tables as the sites, not from the sites."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rdfspider.demo.answers import DemoAddresses
from rdfspider.demo.sites.catalogues import FORMS, SITES, WITH_JSON, identify
from rdfspider.demo.sites.daily_life import VENUES
from rdfspider.demo.world import (
    ARTICLES,
    AUTHORS,
    BOOKS,
    CITIZENS,
    COOKS,
    COURSES,
    DATASETS,
    DISPUTED_YEARS,
    EVENTS,
    EXHIBITS,
    MAKERS,
    PLACES,
    POSTS,
    PRODUCTS,
    RECIPES,
    SCHOLARS,
    SECRETS,
    make_key,
)

RESULTS_SHOWN = 2
"""Per search."""
_REASONS = {
    "robots": "behind robots.txt",
    "noindex": "marked noindex",
    "nofollow": "behind nofollow links",
    "expired": "out of date",
    "trap": "at the bottom of traps",
}
_SHOWN_OF_A_KIND = 3
_MISSING_SHOWN = 5
# Kind, records, site, path by the record's key, and the attribute that is the literal: of the record, or of the entity that it
# refers to. The first literal of an entity is its name.
_STATED: tuple[tuple[str, Sequence[Any], str, str, str], ...] = (
    ("product", PRODUCTS, "shop", "/products/{}", "name"),
    ("exhibit", EXHIBITS, "museum", "/objects/{}", "name"),
    ("book", BOOKS, "library", "/books/{}", "title"),
    ("course", COURSES, "university", "/courses/{}", "name"),
    ("book", COURSES, "university", "/courses/{}", "textbook.title"),
    ("post", POSTS, "blog", "/posts/{}", "title"),
    ("post", POSTS, "blog", "/feed.atom", "title"),
    ("event", EVENTS, "events", "/events/{}", "name"),
    ("recipe", RECIPES, "recipes", "/recipes/{}", "name"),
    ("article", ARTICLES, "town", "/articles/{}", "title"),
    ("dataset", DATASETS, "portal", "/dataset/{}", "title"),
    ("person", AUTHORS, "library", "/authors/{}", "name"),
    ("person", AUTHORS, "library", "/authors/{}.rdf", "born"),
    ("person", SCHOLARS, "university", "/people/{}", "name"),
    ("person", MAKERS, "museum", "/makers/{}", "name"),
    ("person", COOKS, "recipes", "/cooks/{}", "name"),
    ("person", CITIZENS, "town", "/people/{}", "name"),
    ("person", POSTS, "blog", "/posts/{}", "author.name"),
    ("person", EVENTS, "events", "/events/{}", "host.name"),
    ("person", ARTICLES, "town", "/articles/{}", "person.name"),
    ("place", PLACES, "data", "/page/{}", "name"),
    ("place", PLACES, "data", "/data/{}.ttl", "name"),
    ("place", PLACES, "data", "/dump.nt", "name"),
    ("place", VENUES, "events", "/venues/{}", "name"),
    ("place", EVENTS, "events", "/events/{}", "place.name"),
    ("place", EXHIBITS, "museum", "/objects/{}", "origin.name"),
    ("place", DATASETS, "portal", "/dataset/{}", "place.name"),
)


class Published(NamedTuple):
    """One entity on one page: `literal` is in the graph named by the page's URL."""

    entity: str
    """Such as `book/eels`; an entity has the same name on all sites."""
    url: str
    literal: str


class Hidden(NamedTuple):
    """An entity that must appear nowhere in the crawl's records: only this page names it."""

    url: str
    literal: str
    reason: str


class DemoQuestion(NamedTuple):
    """An example question, by words or in SPARQL, and its purpose."""

    why: str
    words: str = ""
    type: str = ""
    ontology: str = ""
    sparql: str = ""

    @property
    def arguments(self) -> list[str]:
        """The command line arguments after `rdfspider`, without the folder."""
        if self.sparql:
            return ["query", self.sparql]
        flags = {"--type": self.type, "--ontology": self.ontology}
        given = (part for pair in flags.items() if pair[1] for part in pair)
        return ["search", self.words, *given, "--limit", str(RESULTS_SHOWN)]


QUESTIONS = (
    DemoQuestion("By words; what several pages say of a thing is one result", "echoes"),
    DemoQuestion("Only people", "corridane", type="Person"),
    DemoQuestion("Only one ontology, and a word in one property", "author:corridane", ontology="bibo"),
    DemoQuestion(
        "In SPARQL, over the merge of all pages",
        sparql="SELECT DISTINCT (STR(?name) AS ?book) (STR(?by) AS ?author) "
        "{ ?b a bibo:Book ; schema:name ?name ; schema:author/schema:name ?by } ORDER BY ?book LIMIT 3",
    ),
    DemoQuestion(
        "Words within SPARQL: the books of an author whose name is like this, and which page says so",
        sparql="SELECT DISTINCT (STR(?name) AS ?title) ?page "
        "{ SERVICE <urn:rdfspider:text> { ?author text:query 'corridane type:person' } "
        "GRAPH ?page { ?book schema:author ?author ; schema:name ?name } } ORDER BY ?title LIMIT 3",
    ),
)


def list_published(at: DemoAddresses) -> list[Published]:
    """Everything that the sites publish, once for each page that states it."""
    return [Published(entity, at.url(site, path), literal) for entity, site, path, literal in _list_stated()]


def list_hidden(at: DemoAddresses) -> list[Hidden]:
    """Everything that robots.txt, the pages themselves or trap detection keep out of a crawl."""
    return [Hidden(at.url(secret.site, secret.path), secret.name, secret.reason) for secret in SECRETS]


def tell_findings(
    statements: Mapping[str, str], everything: str, published: Sequence[Published], hidden: Sequence[Hidden]
) -> list[str]:
    """Report what was found, what several sites describe, and what was correctly left out.

    `statements` are N-Quads by page, `everything` is all records as one text.
    """
    missing = []
    sites: dict[str, set[str]] = defaultdict(set)
    for row in published:
        if f'"{row.literal}"' in statements.get(row.url, ""):
            sites[row.entity].add(row.url.split("/")[2].partition(".")[0])
        else:
            missing.append(row)
    kinds = Counter(entity.partition("/")[0] for entity in sites)
    names = {row.entity: row.literal for row in reversed(published)}
    counts = ", ".join(_count(kind, count) for kind, count in kinds.most_common())
    lines = ["", f"Found {len(sites):,} of {len(names):,} things that the sites publish: {counts}."]
    shared = [f"  {names[entity]:<24} {', '.join(sorted(sites[entity]))}" for entity in _choose_shared(sites)]
    lines += ["Known from several sites, among others:", *shared] if shared else []
    leaked = find_names(everything, hidden)
    reasons = Counter(thing.reason for thing in hidden if thing not in leaked)
    parts = (f"{count} {_REASONS[reason]}" for reason, count in reasons.most_common())
    lines += [f"Left out, as it should be: {', '.join(parts)}."] if reasons else []
    lines += [f"Not found: {row.literal} ({row.url})" for row in missing[:_MISSING_SHOWN]]
    if len(missing) > _MISSING_SHOWN:
        lines.append(f"Not found either: {len(missing) - _MISSING_SHOWN:,} of {len(published):,} things on pages")
    return lines + [f"Found, but it is {_REASONS[thing.reason]}: {thing.literal} ({thing.url})" for thing in leaked]


def find_names(text: str, hidden: Sequence[Hidden]) -> list[Hidden]:
    """The hidden entities that a text names, however the words are spelled or joined, as in URLs."""
    words = make_key(text)
    return [thing for thing in hidden if make_key(thing.literal) in words]


def _list_stated() -> Iterator[tuple[str, str, str, str]]:
    """Entities, sites, paths and literals."""
    for name, title in SITES.items():
        yield f"site/{name}", "www", "/", title
    for kind, records, site, path, literal in _STATED:
        reference, _, attribute = literal.rpartition(".")
        for record in records:
            entity = getattr(record, reference) if reference else record
            yield f"{kind}/{entity.key}", site, path.format(record.key), str(getattr(entity, attribute))
    for course in COURSES:
        book = course.textbook
        year = DISPUTED_YEARS.get(book.key, book.year)
        yield f"book/{book.key}", "university", f"/courses/{course.key}", str(year)
    for number, dataset in enumerate(DATASETS):
        ending, _ = FORMS[number % len(FORMS)]
        yield f"dataset/{dataset.key}", "portal", f"/dataset/{dataset.key}.{ending}", identify(dataset)
    for person in SCHOLARS:
        nick = person.key.partition("-")[0]
        yield f"person/{person.key}", "university", f"/people/{person.key}/foaf.ttl", nick
    for place in WITH_JSON:
        yield f"place/{place.key}", "data", f"/data/{place.key}.jsonld", f"NORTH-{place.key}"


def _choose_shared(sites: dict[str, set[str]]) -> list[str]:
    """For each kind, some of the entities that most sites describe."""
    shared = sorted(
        (entity for entity in sites if len(sites[entity]) > 1), key=lambda entity: (-len(sites[entity]), entity)
    )
    kinds = sorted({entity.partition("/")[0] for entity in shared})
    return [entity for kind in kinds for entity in [one for one in shared if one.startswith(kind)][:_SHOWN_OF_A_KIND]]


def _count(kind: str, count: int) -> str:
    plural = {"person": "people"}.get(kind, f"{kind}s")
    return f"{count:,} {kind if count == 1 else plural}"
