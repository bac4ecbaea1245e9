import re
from pathlib import Path

import pyoxigraph
from msgspec.structs import replace
from pyoxigraph import RdfFormat

from rdfspider.archive.outcomes import NEVER, Effect, Outcome, make_stamp, parse_stamp
from rdfspider.archive.segments import Position
from rdfspider.index.quads.provenance import describe_content, describe_visit, is_of_visit, read_content
from rdfspider.records import Problem

OUTCOME = Outcome(
    url="https://a.example/page",
    time=1_750_000_000.25,
    source="000/shard-000-facts-000001.warc.gz",
    offset=100,
    end=200,
    effect=Effect.REPLACE,
    status=200,
    media_type="text/html",
    language="en",
    title='A "title"\nof two lines',
    canonical="https://a.example/",
    digest="sha1:ABC",
    payload=Position("shard-000-pages-000001.warc.gz", 5678),
    redirected_from=("http://a.example/page", "no URL"),
    duplicate_of="https://b.example/ä b",
    problems=(Problem("iri-dropped", "x", "jsonld", 2), Problem("iri-dropped", "y", "rdfa"), Problem("odd code", "z")),
    statements={"jsonld": "a\nb\n", "rdfa": "c\n"},
)


def describe_fetch(outcome: Outcome) -> list[str]:
    """All facts of an outcome."""
    stamp = make_stamp(outcome)
    if outcome.effect == Effect.TOUCH:
        return describe_visit(outcome, stamp, NEVER)
    return describe_content(outcome, stamp, 0, "0f") + describe_visit(outcome, stamp, stamp)


def read(outcome: Outcome) -> dict[str, list[str]]:
    """The values of each fact, by the last part of its name."""
    facts: dict[str, list[str]] = {}
    for quad in pyoxigraph.parse("".join(f"{fact} .\n" for fact in describe_fetch(outcome)), RdfFormat.N_TRIPLES):
        assert quad.subject.value == "https://a.example/page"
        facts.setdefault(re.split("[#/]", quad.predicate.value)[-1], []).append(quad.object.value)
    return facts


def test_facts_of_a_page():
    facts = read(OUTCOME)
    assert facts["generatedAtTime"] == facts["visited"] == ["2025-06-15T15:06:40.25Z"]
    assert facts["statusCodeValue"] == ["200"]
    assert facts["format"] == ["text/html"]
    assert facts["title"] == [OUTCOME.title]
    assert facts["redirectedFrom"] == ["http://a.example/page"]
    assert facts["duplicateOf"] == ["https://b.example/ä%20b"]
    assert (facts["warc"], facts["warcOffset"]) == (["shard-000-pages-000001.warc.gz"], ["5678"])
    assert facts["syntax"] == ["jsonld", "rdfa"]
    assert facts["problem"] == ["iri-dropped", "odd code"]
    assert (facts["problem-iri-dropped"], facts["problem-odd%20code"]) == (["3"], ["1"])


def test_what_is_not_known_is_left_out():
    facts = read(Outcome(OUTCOME.url, 0.0, "s", 0, 1, Effect.REPLACE))
    assert facts.keys() == {"content", "generatedAtTime", "visited"}
    assert facts["visited"] == ["1970-01-01T00:00:00Z"]


def test_a_touch_tells_of_the_visit_alone():
    touch = replace(OUTCOME, effect=Effect.TOUCH, status=503, error="server-error")
    assert all(map(is_of_visit, describe_fetch(touch)))
    assert read(touch)["error"] == ["server-error"]


def test_only_what_is_unusual_of_a_visit_is_told():
    assert not read(OUTCOME).keys() & {"visit", "verdict", "reason"}
    gone = read(replace(OUTCOME, effect=Effect.TOUCH, verdict="failed", reason="timeout"))
    assert (gone["verdict"], gone["reason"]) == (["failed"], ["timeout"])
    assert parse_stamp(gone["visit"][0]).effect == Effect.TOUCH


def test_the_stamp_of_the_content_has_the_digest_of_the_statements():
    for effect, digest in ((Effect.REPLACE, "0f1e"), (Effect.REMOVE, "")):
        outcome = replace(OUTCOME, effect=effect, digest="a: b")
        stamp = make_stamp(outcome)
        (fact,) = [fact for fact in describe_content(outcome, stamp, 1, "0f1e") if "#content>" in fact]
        assert read_content(fact.split(" ", 2)[2].strip('"')) == (stamp, digest)


def test_what_is_gone_leaves_when():
    facts = read(replace(OUTCOME, effect=Effect.REMOVE, status=410))
    assert facts["invalidatedAtTime"] == ["2025-06-15T15:06:40.25Z"]
    assert "title" not in facts


def test_the_url_is_told_where_it_is_no_iri():
    url = "https://a.example/a b"
    facts = describe_fetch(replace(OUTCOME, url=url))
    assert f'<https://a.example/a%20b> <urn:rdfspider:vocab#url> "{url}"' in facts


def test_times_that_no_calendar_has_are_no_exception():
    for time in (-5.0, 1e18):
        assert read(replace(OUTCOME, time=time))["visited"]


def test_stamps_order_by_time_then_digest():
    stamp = make_stamp(OUTCOME)
    assert parse_stamp(str(stamp)) == stamp
    assert parse_stamp(str(make_stamp(replace(OUTCOME, digest="a b  c")))).digest == "a b  c"
    assert make_stamp(replace(OUTCOME, time=OUTCOME.time + 1e-6, digest="")) > stamp
    assert make_stamp(replace(OUTCOME, digest="sha1:ABD")) > stamp


def test_the_table_lists_every_fact():
    table = (Path(__file__).parents[3] / "docs" / "provenance.md").read_text("utf-8")
    facts = [
        *describe_fetch(replace(OUTCOME, url="https://a.example/a b", verdict="failed", reason="timeout", error="x")),
        *describe_fetch(replace(OUTCOME, effect=Effect.TOUCH)),
        *describe_fetch(replace(OUTCOME, effect=Effect.REMOVE)),
    ]
    names = {re.split("[#/]", fact.split(" ", 2)[1][1:-1])[-1].split("-")[0] for fact in facts}
    assert not [name for name in names if f":{name}" not in table]
