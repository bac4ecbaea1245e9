"""Roles, link types and notes of vocabularies are conformant RDFa, and no data."""

import rdfspider
from rdfspider.vocabulary.mechanics import count_data, drop_mechanics, has_data

URL = "https://a.example/page"
ROLES = '<html lang="en"><body><nav role="navigation">Menu</nav><main role="main" id="m">Text</main>'


def extract(html: str, url: str = URL) -> dict[str, str]:
    return dict(rdfspider.extract(html.encode(), url=url).statements)


def test_a_page_of_roles_states_nothing():
    statements = extract(ROLES)
    assert "xhtml/vocab#role" in statements["rdfa"]
    assert drop_mechanics(statements) == {}
    assert not has_data(statements)
    assert count_data(statements) == 0


def test_link_types_go_and_the_license_stays():
    html = (
        '<html xmlns="http://www.w3.org/1999/xhtml" version="XHTML+RDFa 1.0"><head><title>t</title>'
        '<link rel="stylesheet" href="a.css" /><link rel="next" href="2" /><link rel="license" href="https://l.example/" />'
        '<link rel="https://api.w.org/" href="/wp-json/" /></head><body></body></html>'
    )
    assert all(word in extract(html)["rdfa"] for word in ("vocab#stylesheet", "vocab#next"))
    assert drop_mechanics(extract(html)) == {
        "rdfa": f"<{URL}> <http://www.w3.org/1999/xhtml/vocab#license> <https://l.example/> <{URL}> .\n"
    }


def test_notes_of_vocabularies_go_and_the_data_stays():
    html = '<body role="main" vocab="http://schema.org/" typeof="Person"><p property="name">Ada</p></body>'
    statements = extract(html)
    assert all(word in statements["rdfa"] for word in ("vocab#role", "usesVocabulary"))
    kept = drop_mechanics(statements)["rdfa"]
    assert kept.count("\n") == count_data(statements) == 2
    assert all(word in kept for word in ("schema.org/Person", '"Ada"'))


def test_only_the_predicate_decides():
    line = '<http://a.example/> <http://schema.org/text> "x <http://www.w3.org/1999/xhtml/vocab#role> y" <http://a.example/> .\n'
    assert drop_mechanics({"rdfa": line}) == {"rdfa": line}


def test_other_syntaxes_mean_what_they_say():
    line = f"<{URL}> <http://www.w3.org/1999/xhtml/vocab#next> <{URL}2> <{URL}> .\n"
    assert drop_mechanics({"rdf": line}) == {"rdf": line}


def test_nonsense_passes():
    assert drop_mechanics({"rdfa": "nonsense\n\n  <"}) == {"rdfa": "nonsense\n\n  <"}
    assert drop_mechanics({"rdfa": ""}) == {}
