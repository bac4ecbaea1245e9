"""Pages, mentions and counts: what was added is taken back, and readers see the last commit."""

import random
import sqlite3
from pathlib import Path

import pytest
from msgspec.structs import replace

from index.pages import make_outcome, make_removal, person
from rdfspider.archive.outcomes import Outcome
from rdfspider.errors import UsageError
from rdfspider.index.entities.contributions import find_entity, read_page
from rdfspider.index.layout import IndexPaths
from rdfspider.index.ledger import reader as ledger_reader
from rdfspider.index.ledger.reader import LedgerReader
from rdfspider.index.ledger.writer import MAX_MENTIONS, Ledger
from rdfspider.results import NameCount, NameKind

ADA = person("Ada", **{"@id": "http://x.example/ada"})
SUBCLASSES = (
    '<div prefix="rdfs: http://www.w3.org/2000/01/rdf-schema#"><a about="http://x.example/Poet" rel="rdfs:subClassOf"'
    ' href="http://x.example/Writer"></a><a about="http://x.example/Bard" rel="rdfs:subClassOf" href="http://x.example/Poet"></a>'
    '<a about="http://x.example/Writer" rel="rdfs:subClassOf" href="http://x.example/Poet"></a></div>'
)


def put(ledger: Ledger, outcome: Outcome, site: str = "a.example") -> None:
    reading = read_page(outcome.url, site, outcome.statements)
    ledger.put_page(outcome, "", site, site, reading, ledger.find_page(outcome.url))


def commit(ledger: Ledger) -> None:
    ledger.settle_sources()
    ledger.commit()


def dump_counts(folder: Path) -> dict[str, list[NameCount]]:
    reader = LedgerReader(IndexPaths(folder))
    try:
        return {kind: reader.read_names(kind, 10_000) for kind in NameKind}
    finally:
        reader.close()


def dump_rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """All that must be the same however a ledger came to be: everything but the numbers of rows."""
    queries = {
        "pages": "SELECT url, host, site, time, digest, is_live, title, language, quads, facts FROM pages",
        "mentions": "SELECT m.entity, p.url, substr(c.data, m.start, m.size) FROM mentions m JOIN pages p ON p.id = m.page"
        " JOIN contributions c ON c.page = m.page",
        "contributions": "SELECT p.url, c.data FROM contributions c JOIN pages p ON p.id = c.page",
        "entities": "SELECT id, sources, canonical FROM entities",
        "claims": "SELECT c.entity, c.key, c.reason, p.url FROM claims c JOIN pages p ON p.id = c.page AND p.rank = c.rank",
        "names": "SELECT kind, name, uses, pages, sites FROM names",
        "sites": "SELECT n.kind, n.name, s.site, s.pages FROM name_sites s JOIN names n ON n.id = s.name",
        "subclasses": "SELECT s.child, s.parent, p.url FROM subclasses s JOIN pages p ON p.id = s.page",
    }
    db = sqlite3.connect(path)
    try:
        return {name: sorted(db.execute(query)) for name, query in queries.items()}
    finally:
        db.close()


def test_counts_of_uses_pages_and_sites(tmp_path: Path) -> None:
    ledger = Ledger(IndexPaths(tmp_path).ledger)
    two = person("Ada") + person("Bob")
    put(ledger, make_outcome("https://a.example/1", two))
    put(ledger, make_outcome("https://a.example/2", person("Ada")))
    put(ledger, make_outcome("https://b.example/", person("Cleo")), "b.example")
    commit(ledger)
    reader = LedgerReader(IndexPaths(tmp_path))
    assert reader.read_names("class") == [NameCount("http://schema.org/Person", 4, 3, 2)]
    assert NameCount("http://schema.org/name", 4, 3, 2) in reader.read_names("property")
    assert reader.read_names("site") == [NameCount("a.example", 6, 2, 1), NameCount("b.example", 2, 1, 1)]
    assert reader.read_names("language") == [NameCount("en", 8, 3, 2)]
    assert reader.read_names("syntax") == [NameCount("jsonld", 8, 3, 2)]
    totals = reader.read_totals()
    assert (totals.pages, totals.quads, totals.entities, totals.sites, totals.classes) == (3, 8, 3, 2, 1)


def test_a_page_that_is_replaced_or_removed_takes_back_what_it_added(tmp_path: Path) -> None:
    kept, changed = tmp_path / "kept", tmp_path / "changed"
    ledger = Ledger(IndexPaths(kept).ledger)
    put(ledger, make_outcome("https://a.example/1", person("Ada"), time=5.0))
    ledger.remove_page(make_removal("https://b.example/", 9.0), "b.example", "b.example", None)
    commit(ledger)
    ledger.close()

    ledger = Ledger(IndexPaths(changed).ledger)
    put(ledger, make_outcome("https://a.example/1", person("Bob", jobTitle="Poet") + SUBCLASSES, time=1.0))
    put(ledger, make_outcome("https://b.example/", ADA, time=1.0), "b.example")
    commit(ledger)
    put(ledger, make_outcome("https://a.example/1", person("Ada"), time=5.0))
    known = ledger.find_page("https://b.example/")
    ledger.remove_page(make_removal("https://b.example/", 9.0), "b.example", "b.example", known)
    commit(ledger)
    ledger.close()
    assert dump_rows(IndexPaths(changed).ledger) == dump_rows(IndexPaths(kept).ledger)
    assert dump_counts(changed) == dump_counts(kept)


def test_forgotten_pages_leave_no_trace(tmp_path: Path) -> None:
    ledger = Ledger(IndexPaths(tmp_path).ledger)
    put(ledger, make_outcome("https://a.example/1", ADA + SUBCLASSES))
    put(ledger, make_outcome("https://a.example/2", ADA))
    assert list(ledger.forget_pages(lambda url: url.endswith("/1"))) == ["https://a.example/1"]
    commit(ledger)
    rows = dump_rows(IndexPaths(tmp_path).ledger)
    assert [row[0] for row in rows["pages"]] == ["https://a.example/2"]
    assert rows["subclasses"] == []
    assert [row[1] for row in rows["entities"]] == [1]


def test_readers_see_the_last_commit_and_pages_in_steps(tmp_path: Path) -> None:
    ledger = Ledger(IndexPaths(tmp_path).ledger)
    for number in range(1200):
        put(ledger, make_outcome(f"https://a.example/{number}", person("Ada")))
    reader = LedgerReader(IndexPaths(tmp_path))
    assert list(reader.list_pages()) == []
    commit(ledger)
    assert len({page.url for page in reader.list_pages()}) == 1200
    entry = reader.find_page("https://a.example/1")
    assert entry is not None and (entry.title, entry.language, entry.quads) == ("Ada", "en", 2)
    assert reader.find_page("https://a.example/none") is None


def test_members_of_an_entity(tmp_path: Path) -> None:
    ledger = Ledger(IndexPaths(tmp_path).ledger)
    put(ledger, make_outcome("https://a.example/1", person("Ada")))
    put(ledger, make_outcome("https://a.example/2", person("Ada")))
    commit(ledger)
    (entity,) = {row[0] for row in dump_rows(IndexPaths(tmp_path).ledger)["mentions"]}
    assert isinstance(entity, bytes)
    reader = LedgerReader(IndexPaths(tmp_path))
    members = reader.find_members(f"urn:rdfspider:entity:{entity.hex()}")
    assert sorted(url for url, _ in members) == ["https://a.example/1", "https://a.example/2"]
    assert all(node.startswith("genid:") and node.endswith("/n1") for _, node in members)
    assert reader.find_members("urn:rdfspider:entity:nonsense") == []


def test_learned_subclasses_are_followed_and_circles_end(tmp_path: Path) -> None:
    ledger = Ledger(IndexPaths(tmp_path).ledger)
    put(ledger, make_outcome("https://a.example/", SUBCLASSES))
    commit(ledger)
    reader = LedgerReader(IndexPaths(tmp_path))
    assert reader.find_subclasses("http://x.example/Writer") == ["http://x.example/Bard", "http://x.example/Poet"]
    assert reader.find_subclasses("http://x.example/Bard") == []


def test_of_many_pages_those_are_chosen_that_would_be_in_any_order_and_every_site_is_heard(tmp_path: Path) -> None:
    urls = [f"https://a.example/{number}" for number in range(100)]
    pages = [(url, "a.example") for url in urls] + [(f"https://{n}.test/", f"{n}.test") for n in range(5)]
    chosen = []
    for seed in range(2):
        random.Random(seed).shuffle(pages)
        ledger = Ledger(tmp_path / f"{seed}.sqlite")
        for url, site in pages:
            put(ledger, make_outcome(url, ADA), site)
        entity = find_entity("http://x.example/ada")
        assert entity is not None
        mentions, sites = ledger.list_mentions(entity)
        assert len(mentions) == MAX_MENTIONS
        assert sites == [*(f"{n}.test" for n in range(5)), "a.example"]
        assert set(sites) == {mention.site for mention in mentions}
        chosen.append(mentions)
        ledger.close()
    assert chosen[0] == chosen[1]


def test_a_name_is_found_by_itself_and_by_a_part_of_it(tmp_path: Path) -> None:
    ledger = Ledger(IndexPaths(tmp_path).ledger)
    put(ledger, make_outcome("https://a.example/1", person("Ada", jobTitle="Analyst") + person("Bob")))
    put(ledger, make_outcome("https://a.example/2", person("Ada", **{"@type": "PerformingGroup"})))
    put(ledger, make_outcome("https://a.example/3", person("Ada", **{"@type": "https://person.test/#It"})))
    commit(ledger)
    reader = LedgerReader(IndexPaths(tmp_path))
    assert reader.find_name("class", "http://schema.org/Person") == NameCount("http://schema.org/Person", 2, 1, 1)
    assert reader.find_name("property", "http://schema.org/Person") is None
    assert reader.find_name("class", "\udcff") is None

    def search(text: str, kind: str = "class", limit: int = 9) -> list[str]:
        return [count.name.removeprefix("http://schema.org/") for count in reader.search_names(kind, text, limit)]

    assert search("PER") == ["Person", "PerformingGroup", "https://person.test/#It"]
    assert search("group") == ["PerformingGroup"]
    assert search("schema:per") == search("http://schema.org/per") == ["Person", "PerformingGroup"]
    assert search("schema:", limit=1) == ["Person"]
    assert search("job", "property") == ["jobTitle"]
    assert search("%") == search("'; DROP TABLE names") == search("\udcff") == search("x" * 10_000) == []


def test_no_more_names_and_sites_are_looked_at_than_somebody_waits_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(IndexPaths(tmp_path).ledger)
    # Of three sites, the largest uses the name least.
    for site, people, others in (("a.example", 1, 5), ("b.example", 2, 1), ("c.example", 3, 1)):
        for number in range(people):
            put(ledger, make_outcome(f"https://{site}/{number}", person("Ada")), site)
        for number in range(others):
            page = person("Tea", **{"@type": f"Product{number}", "text": ["x", "y", "z"]})
            put(ledger, make_outcome(f"https://{site}/other/{number}", page), site)
    commit(ledger)
    reader = LedgerReader(IndexPaths(tmp_path))
    person_iri, all_sites = "http://schema.org/Person", [("c.example", 3), ("b.example", 2), ("a.example", 1)]
    assert reader.list_name_sites("class", person_iri) == all_sites
    assert reader.list_name_sites("class", person_iri, 1) == all_sites[:1]
    assert reader.list_name_sites("class", "http://schema.org/None") == []
    assert len(reader.search_names("class", "schema:pr")) == 5
    monkeypatch.setattr(ledger_reader, "_SITES_SORTED", 2)
    assert reader.list_name_sites("class", person_iri) == [("c.example", 3), ("a.example", 1)]
    monkeypatch.setattr(ledger_reader, "_NAMES_SEARCHED", 2)
    assert len(reader.search_names("class", "schema:pr")) == 1


def test_pages_of_a_site_are_listed_and_say_where_the_log_has_them(tmp_path: Path) -> None:
    ledger = Ledger(IndexPaths(tmp_path).ledger)
    urls = [f"https://a.example/{number}" for number in range(5)]
    for number, url in enumerate(urls):
        put(ledger, replace(make_outcome(url, person("Ada")), source="000/facts", offset=10 * number))
    put(ledger, make_outcome("https://b.example/", person("Ada")), "b.example")
    newer = replace(make_outcome(urls[1], person("Eve"), time=1.8e9), source="/other.warc", offset=7)
    put(ledger, newer)
    gone = make_removal(urls[2], 1.8e9)
    ledger.remove_page(gone, "a.example", "a.example", ledger.find_page(gone.url))
    commit(ledger)
    reader = LedgerReader(IndexPaths(tmp_path))
    pages = reader.list_site_pages("a.example")
    assert [(page.url, page.source, page.offset) for page in pages] == [
        (urls[0], "000/facts", 0),
        (urls[1], "/other.warc", 7),
        (urls[3], "000/facts", 30),
        (urls[4], "000/facts", 40),
    ]
    assert [page.url for page in reader.list_site_pages("a.example", 2, 1)] == [urls[1], urls[3]]
    assert reader.list_site_pages("c.example") == []


def test_no_ledger_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no index yet"):
        LedgerReader(IndexPaths(tmp_path))


def test_a_closed_ledger_leaves_no_journal_though_others_read(tmp_path: Path) -> None:
    paths = IndexPaths(tmp_path)
    ledger = Ledger(paths.ledger)
    put(ledger, make_outcome("http://a.example/1", ADA))
    commit(ledger)
    journal = paths.ledger.with_name(f"{paths.ledger.name}-wal")
    assert journal.stat().st_size > 0
    reader = LedgerReader(paths)
    ledger.close()
    assert journal.stat().st_size == 0
    assert reader.read_totals().pages == 1
    reader.close()
