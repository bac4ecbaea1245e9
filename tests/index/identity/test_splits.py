"""Rules that keep things apart: written, obeyed at once and on a rebuild, and taken back."""

from pathlib import Path

import pytest
from tests.conftest import Run

from index.identity.test_components import A, B, C, groups, page, thing
from rdfspider.errors import UsageError
from rdfspider.index.identity.splits import SplitRules, add_split, remove_split
from rdfspider.index.layout import IndexPaths
from rdfspider.index.text.view import TextView

WHOLE = [
    page("https://a.example/", thing(A, "Ada", sameAs=B)),
    page("https://b.example/", thing(B, "Ada", sameAs=C)),
    page("https://c.example/", thing(C, "Ada")),
]


def test_things_are_split_at_once_and_on_a_rebuild_until_it_is_taken_back(tmp_path: Path) -> None:
    paths = IndexPaths(tmp_path)
    view = TextView(paths)
    view.apply(WHOLE)
    view.commit({"log": 1})
    assert groups(tmp_path) == {frozenset((A, B, C))}
    add_split(paths.splits, [C, B])
    assert view.has_deferred
    view.commit({"log": 1})
    assert not view.has_deferred
    assert groups(tmp_path) == {frozenset((A, B))}
    add_split(paths.splits, [A])
    view.commit({"log": 1})
    assert groups(tmp_path) == set()
    view.close()

    rebuilt = IndexPaths(tmp_path, "index.new")
    view = TextView(rebuilt)
    view.apply(WHOLE)
    view.commit({"log": 1})
    view.close()
    (tmp_path / "index").rename(tmp_path / "old")
    rebuilt.index.rename(tmp_path / "index")
    assert groups(tmp_path) == set()

    remove_split(paths.splits, [A])
    remove_split(paths.splits, [B, C])
    view = TextView(paths)
    view.commit(view.load_cursors())
    view.close()
    assert groups(tmp_path) == {frozenset((A, B, C))}


def test_merging_is_switched_off_and_on(tmp_path: Path) -> None:
    for is_merging, expected in ((True, {frozenset((A, B, C))}), (False, set()), (True, {frozenset((A, B, C))})):
        view = TextView(IndexPaths(tmp_path), is_merging=is_merging)
        view.apply(WHOLE)
        view.commit({"log": 1})
        view.close()
        assert groups(tmp_path) == expected


def test_what_is_no_rule(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "split.txt"
    for names in (["no iri"], [A, A], ["urn:rdfspider:entity:xyz"]):
        with pytest.raises(UsageError):
            add_split(path, names)
    with pytest.raises(UsageError, match="nothing to undo"):
        remove_split(path, [A])
    add_split(path, [A, B])
    rules = SplitRules(path)
    before = rules.load()
    path.write_text("one two three\n")
    assert rules.load() == before and "no rule" in caplog.text


def test_the_command(run: Run, tmp_path: Path) -> None:
    from indexed import index_pages

    context = {"@context": "https://schema.org"}
    pages = {
        "https://a.example/": context | thing(A, "Ada", sameAs=B),
        "https://b.example/": context | thing(B, "Ada"),
    }
    crawl = index_pages(tmp_path / "crawl", pages)
    assert crawl.entity(A).members == (B, A)
    code, _, told = run("split", A, B, "--dir", crawl.folder)
    assert code == 0 and "kept apart" in told
    assert crawl.entity(A).members == ()
    assert crawl.entity(A).apart[0].refusal == "split"
    assert len(crawl.search("ada", type="Person")) == 2
    code, _, told = run("split", B, A, "--undo", "--dir", crawl.folder)
    assert code == 0 and crawl.entity(B).members == (B, A)
    code, _, told = run("split", "nothing here", "--dir", crawl.folder)
    assert code == 2 and "is no IRI" in told
    code, _, told = run("split", "https://c.example/#nobody", "--dir", crawl.folder)
    assert code == 2 and "no page says anything of 'https://c.example/#nobody'" in told
