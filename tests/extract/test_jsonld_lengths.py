"""Short documents that become long: refused before they are expanded, within bounds of time and memory.

All are read in one process of their own, since memory is measured by the most that a process ever had.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import rdfspider
from rdfspider.config import ExtractConfig
from rdfspider.extract.jsonld import extract_document
from rdfspider.extract.jsonld.features import (
    ContextError,
    DocumentFeatures,
    analyse_contexts,
    count_repeated,
    measure_iris,
)
from rdfspider.extract.statements import Problems, Statements

URL = "http://example.org/page"
IRI = "http://l.example/"
LONG = IRI + "x" * 100_000 + "/"
ALLOWED = IRI + "x" * 16_000 + "/"
SEGMENTS = IRI + "x/" * 8_000
VOCAB = {"@vocab": IRI}
LTR = {"@vocab": IRI, "@direction": "ltr"}
TAG = "x" + "-aaaaaaaa" * 11_000
NAMED: dict[str, Any] = {
    "http://c.example/long": {"a": LONG},
    "http://c.example/many": [f"http://c.example/more{n % 2}" for n in range(2000)],
    "http://c.example/more0": ["http://c.example/most"] * 2000,
    "http://c.example/more1": ["http://c.example/most"] * 2000,
    "http://c.example/most": [{}] * 2000,
}


class Figures(NamedTuple):
    seconds: float
    grown_mb: int
    codes: list[str]


def nodes(number: int) -> list[dict[str, Any]]:
    return [{"@id": f"a:{n}", "a:p": {"@id": f"a:{n}"}} for n in range(number)]


def relative_nodes(number: int) -> list[dict[str, Any]]:
    return [{"@id": f"../{n}", "http://p.example/": {"@id": f"{n}"}} for n in range(number)]


def nest(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {"a": 1}
    for _ in range(levels):
        found = {"@context": {}, "a": found}
    return found


DOCUMENTS: dict[str, Callable[[], Any]] = {
    "a long prefix": lambda: {"@context": {"a": LONG}, "@graph": nodes(2000)},
    "a prefix as long as it may be": lambda: {"@context": {"a": ALLOWED}, "@graph": nodes(20_000)},
    "many prefixes": lambda: {
        "@context": {f"a{n}": ALLOWED for n in range(50)} | {"a": ALLOWED},
        "@graph": nodes(5000),
    },
    "a prefix of prefixes": lambda: {
        "@context": {"a": "a99:", "a0": IRI} | {f"a{n}": f"a{n - 1}:{'x' * 5000}/" for n in range(1, 100)},
        "@graph": nodes(5000),
    },
    "a prefix of prefixes of other contexts": lambda: {
        "@context": [{"a": IRI}, *({"ba"[n % 2]: f"{'ab'[n % 2]}:{'x' * 1000}/"} for n in range(500))],
        "@graph": nodes(5000),
    },
    "vocabularies that grow": lambda: {"@context": [VOCAB, *([{"@vocab": "x" * 80}] * 9000)], "p": "x"},
    "bases that grow": lambda: {
        "@context": [{"@base": IRI}, *([{"@base": "x" * 80 + "/"}] * 9000)],
        "@id": "a",
        "a:p": 1,
    },
    "a vocabulary that grows with each type": lambda: {
        "@context": {"@vocab": IRI, "A": {"@id": IRI + "A", "@context": {"@vocab": "x" * 1000}}},
        "@type": ["A"] * 50_000,
        "p": 1,
    },
    "a long base": lambda: {"@context": {"@base": LONG}, "@graph": relative_nodes(20_000)},
    "a base of many segments": lambda: {"@context": {"@base": SEGMENTS}, "@graph": relative_nodes(20_000)},
    "a base of many segments, by PyLD": lambda: {"@context": {"@base": SEGMENTS + "./"}, "@graph": relative_nodes(300)},
    "a long vocabulary": lambda: {"@context": {"@vocab": LONG}, "@graph": [{"p": n} for n in range(20_000)]},
    "a long key": lambda: {"@context": VOCAB, "x" * 100_000: [1] * 200_000},
    "a long key of schema.org": lambda: {"@context": "https://schema.org", "x" * 100_000: [1] * 200_000},
    "a long identifier": lambda: {"@context": VOCAB, "@id": LONG, "p": [1] * 100_000},
    "a long identifier under another name": lambda: {
        "@context": {"@vocab": IRI, "id": "@id", "key": "id"},
        "key": LONG,
        "p": [1] * 100_000,
    },
    "a long identifier, by PyLD": lambda: [{"@context": LTR, "@id": LONG, "p": [str(n) for n in range(1400)]}],
    "an identifier as long as it may be": lambda: {"@context": VOCAB, "@id": ALLOWED, "p": [1] * 100_000},
    "the same of schema.org": lambda: {"@context": "https://schema.org", "@id": ALLOWED, "p": list(range(90_000))},
    "a long label": lambda: {"@context": VOCAB, "@id": "_:" + "x" * 500_000, "p": [1] * 100_000},
    "a long graph name": lambda: {"@context": VOCAB, "@id": LONG, "@graph": [{"p": n} for n in range(20_000)]},
    "a long object": lambda: {
        "@context": VOCAB,
        "@id": LONG,
        "@reverse": {"p": [{"@id": f"e:{n}"} for n in range(20_000)]},
    },
    "a long datatype": lambda: {"@context": {"p": {"@id": IRI, "@type": LONG}}, "p": ["b"] * 100_000},
    "references of a long prefix": lambda: {
        "@context": {"a": LONG, "p": {"@id": IRI, "@type": "@id"}},
        "p": [f"a:{n}" for n in range(50_000)],
    },
    "a long language": lambda: {"@context": {"@language": TAG, "@vocab": IRI}, "p": ["b"] * 100_000},
    "a map of a long language": lambda: {
        "@context": {"p": {"@id": IRI, "@container": "@language"}},
        "p": {TAG: ["b"] * 100_000},
    },
    "a long index property": lambda: {
        "@context": {"p": {"@id": IRI, "@container": "@index", "@index": LONG}},
        "p": {str(n): {"@id": f"e:{n}"} for n in range(20_000)},
    },
    "a long prefix in a term": lambda: {"@context": {"p": {"@id": IRI, "@context": {"a": LONG}}}, "p": nodes(10_000)},
    "a long prefix of a named context": lambda: {"@context": "http://c.example/long", "@graph": nodes(2000)},
    "the same, by PyLD": lambda: {
        "@context": {"p": {"@id": IRI, "@context": "http://c.example/long"}},
        "p": nodes(200),
    },
    "named contexts that multiply": lambda: {"@context": "http://c.example/many", "a:p": 1},
    "large contexts within each other": lambda: {
        "@context": {f"a{n}": f"b:{n}" for n in range(38_000)} | {"b": IRI, "a": IRI},
        "a": nest(240),
    },
    "large contexts beside each other": lambda: {
        "@context": {f"a{n}": f"b:{n}" for n in range(4000)} | {"b": IRI},
        "@graph": [{"@context": {}}] * 4000,
    },
}
SCHEMAORG = {"@context": "https://schema.org"}
PAGES: dict[str, Callable[[], str]] = {
    "a base as long as it may be": lambda: with_base(ALLOWED, SCHEMAORG | {"url": [f"{n}" for n in range(90_000)]}),
    "a base that makes all too long": lambda: with_base(ALLOWED, SCHEMAORG | {"url": ["u" * 400] * 2200}),
    "a base of many segments": lambda: with_base(SEGMENTS, SCHEMAORG | {"url": ["../a"] * 100_000}),
    "a base for contexts": lambda: with_base(ALLOWED, [{"@context": "/a", "a:p": 1}] * 30_000),
    "many scripts": lambda: script({"@context": {"a": ALLOWED}, "@graph": nodes(30)}) * 50,
    "many scripts of large contexts": lambda: script(DOCUMENTS["large contexts beside each other"]()) * 5,
    "many scripts for PyLD": lambda: script(DOCUMENTS["a base of many segments, by PyLD"]()) * 20,
}


def script(document: Any) -> str:
    return f'<script type="application/ld+json">{json.dumps(document)}</script>'


def with_base(base: str, document: Any) -> str:
    return f'<base href="{base}">{script(document)}'


@pytest.fixture(scope="module")
def figures() -> dict[str, Figures]:
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, timeout=300)
    return {name: Figures(*rest) for name, *rest in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", [*DOCUMENTS, *(f"page: {name}" for name in PAGES)])
def test_what_becomes_long_is_refused_fast(name: str, figures: dict[str, Figures]) -> None:
    found = figures[name]
    # Of the processor, of which a busy machine gives less for the same time: four times what it takes on a quiet one.
    assert found.seconds < 12
    assert found.grown_mb < 120
    assert {"iri-too-long", "jsonld-too-large", "context-too-large", "context-invalid"} & set(found.codes)
    assert "internal-error" not in found.codes


def test_a_refused_script_costs_its_own_statements_only() -> None:
    page = script(DOCUMENTS["a prefix as long as it may be"]()) + script({"@context": VOCAB, "p": "x"})
    found = rdfspider.extract(page, URL)
    assert f'<{IRI}p> "x"' in found.to_nquads()
    assert [problem.code for problem in found.problems] == ["jsonld-too-large"]


@pytest.mark.parametrize(
    "document",
    [
        {"@context": {"@vocab": IRI, "a": ALLOWED}, "@id": "a:b", "p": "x"},
        {"@context": VOCAB, "p": ["t" * 600_000] * 2, "q": [{"r": n} for n in range(2000)]},
        {"@context": VOCAB, "@graph": [{"@id": f"{IRI}{'i' * 600}{n}", "p": n} for n in range(3000)]},
        [{"@context": {"ex": f"{IRI}{n}/", "@vocab": f"v{n}#"}, "@type": "a", "ex:p": "x" * 50} for n in range(1000)],
        {"@context": {f"t{n}": f"{IRI}{n}" for n in range(3000)}, "@graph": [{f"t{n}": n} for n in range(3000)]},
        {"@context": [{"a": IRI}, {"b": "a:b/"}, {"c": {"@id": "b:c"}}], "c": ["x"] * 2000},
    ],
)
def test_large_documents_of_usual_names_are_read(document: Any) -> None:
    problems = Problems()
    out = Statements(URL, URL, "jsonld", ExtractConfig(), problems)
    extract_document(json.dumps(document), out)
    assert out.lines
    assert problems.listed() == ()


@pytest.mark.parametrize(
    ("contexts", "longest"),
    [
        ([{"a": "http://a.example/"}], 17),
        ([{"a": "http://a.example/", "b": "a:b/", "c": {"@id": "b:c"}}], 24),
        ([{"c": {"@id": "b:c"}, "b": "a:b/", "a": "http://a.example/"}], 24),
        ([{"a": "http://a.example/"}, {"b": {"@reverse": "a:b/"}}], 21),
        ([{"@vocab": "http://a.example/", "name": {"@type": "@id"}}], 21),
        ([{"@vocab": "http://a.example/", "a": "b", "c": "a"}], 19),
        ([{"@vocab": "http://a.example/"}, {"@vocab": "b/"}], 19),
        ([{"id": "@id", "type": {"@id": "@type", "@container": "@set"}, "a:b": {"@id": "a:b", "@type": "@id"}}], 5),
    ],
)
def test_terms_are_followed_to_the_longest_iri(contexts: list[Any], longest: int) -> None:
    used, features = analyse_contexts([contexts]), DocumentFeatures(depth=1)
    assert measure_iris(used, features, longest) == longest
    with pytest.raises(ContextError, match=f"up to {longest} "):
        measure_iris(used, features, longest - 1)


def test_terms_that_go_round_are_refused() -> None:
    contexts = [{"a": f"b:{'x' * 20}"}, {"b": f"a:{'x' * 20}"}]
    with pytest.raises(ContextError):
        measure_iris(analyse_contexts([contexts]), DocumentFeatures(), 40)


@pytest.mark.parametrize(
    ("document", "chars"),
    [
        ({"@id": "i" * 600, "p": [1, 2, 3]}, 600 * 5),
        ({"p": ["t" * 600, "t" * 600]}, 0),
        ({"k" * 600: [1, 2, 3], "q": [4, 5]}, 600 * 3),
        ({"q": {'i"\\': '"\\' * 300, "p": 1}}, 600 * 2),
        ({"n": [1] * 600, "k" * 600: 1}, 600 * 602),
    ],
)
def test_long_names_count_with_each_value_below_them(document: Any, chars: int) -> None:
    used = analyse_contexts([{'i"\\': "@id"}])
    assert count_repeated(document, used, json.dumps(document, separators=(",", ":")).encode()) == chars


def measure_all() -> None:
    """What the child process does: print the figures of each, a line as soon as it is known."""
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    bodies = {name: json.dumps(url) for name, url in NAMED.items()}
    config = ExtractConfig(documents=lambda url: f'{{"@context":{bodies[url]}}}'.encode() if url in bodies else None)
    pages = {name: script(make()) for name, make in DOCUMENTS.items()}
    pages |= {f"page: {name}": make() for name, make in PAGES.items()}
    rdfspider.extract(script({"@context": LTR, "p": "a"}), URL)  # loads PyLD
    for name, page in pages.items():
        assert len(page) < 1_500_000, name
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.process_time()
        found = rdfspider.extract(page, URL, "text/html", config=config)
        seconds = time.process_time() - start
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        codes = [problem.code for problem in found.problems]
        sys.stdout.write(json.dumps([name, seconds, grown // 1024, codes]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    measure_all()
