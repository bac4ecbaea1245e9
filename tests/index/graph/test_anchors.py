"""What other sites call pages: one vote a site, whatever is repeated, and the same however the graph is spread."""

import random
from pathlib import Path

import numpy as np
import pytest
from tests.index.graph.pages import make_history, make_page, remove_page
from tests.index.graph.rated import add_pages, list_ranks, make_paths, rate

from rdfspider.archive.outcomes import Outcome
from rdfspider.errors import UnreadableError
from rdfspider.index.analysis import list_pairs, stem_word
from rdfspider.index.graph import anchor_terms, anchor_votes
from rdfspider.index.graph.anchor_terms import AskedWord, list_terms
from rdfspider.index.graph.anchor_votes import fold_text
from rdfspider.index.graph.fame import NAME, FameReader
from rdfspider.index.graph.generic_texts import GENERIC_TEXTS
from rdfspider.index.graph.mirrors import MIN_SHARED
from rdfspider.index.graph.rating import rate_graph

TEA, SHOP = "http://tea.test/leaves", "http://shop.test/"
READ = [make_page(TEA, 1.0), make_page(SHOP, 1.0)]


def ask(text: str) -> AskedWord:
    return AskedWord((text,), lambda other: stem_word(other, "en") == stem_word(text, "en"))


def find(reader: FameReader, *words: str, limit: int = 50) -> dict[str, tuple[float, ...]]:
    found = reader.find_called([ask(word) for word in words], limit, 0.5)
    return {page.url: page.scores for page in found}


def say(source: str, text: str, target: str = TEA, **fields: object) -> Outcome:
    return make_page(source, 1.0, [target], anchors={target: text}, **fields)


def test_each_site_has_one_vote(tmp_path: Path) -> None:
    loud = [say(f"http://www{number % 3}.loud.test/{number}", "Cheap watches") for number in range(200)]
    others = [say(f"http://fan{number}.test/", "green  Tea") for number in range(6)]
    reader = rate(tmp_path, [*READ, *loud, *others])
    (tea,), (watches,) = find(reader, "tea")[TEA], find(reader, "watches")[TEA]
    assert tea == pytest.approx(6 / 8 * (6 / 7) ** 0.25, abs=0.001)
    assert watches == pytest.approx(1 / 3 * (1 / 7) ** 0.25, abs=0.001)


def test_several_sites_of_many_count_more_than_one_that_is_alone(tmp_path: Path) -> None:
    texts = [f"Tea {number}" for number in range(27)] + ["brew"] * 3
    fans = [say(f"http://fan{number}.test/", text) for number, text in enumerate(texts)]
    found = find(rate(tmp_path, [*READ, *fans, say("http://lone.test/", "brew", SHOP)]), "brew")
    assert [*found] == [TEA, SHOP]


def test_a_site_votes_for_the_text_that_it_uses_most(tmp_path: Path) -> None:
    texts = ["black tea", "green tea", "green tea", "white tea"]
    reader = rate(tmp_path, [*READ, *(say(f"http://fan.test/{text}{n}", text) for n, text in enumerate(texts))])
    assert find(reader, "green").keys() == find(reader, "tea").keys() == {TEA}
    assert find(reader, "black") == find(reader, "white") == {}


def test_its_own_site_and_links_that_nobody_vouches_for_have_no_vote(tmp_path: Path) -> None:
    unvouched = [
        say(f"http://{word.split()[0]}.test/", word, relations={TEA: word})
        for word in ("nofollow", "ugc", "sponsored links")
    ]
    shown = say("http://framing.test/", "frame", relations={TEA: "iframe"})
    said = say("http://said.test/", "unsaid", directives="nofollow")
    reader = rate(tmp_path, [*READ, say("http://www.tea.test/", "leaves"), *unvouched, shown, said])
    assert not find(reader, "leaves", "nofollow", "ugc", "sponsored", "frame", "unsaid")


def test_hosts_that_repeat_each_other_have_one_vote_together(tmp_path: Path) -> None:
    praised = [f"http://praised{number}.test/" for number in range(2 * MIN_SHARED)]
    farm = [
        make_page(f"http://farm{number}.test/", 1.0, [*praised, TEA], anchors={TEA: "watches"}) for number in range(9)
    ]
    reader = rate(tmp_path, [*READ, *farm, say("http://fan.test/", "tea")])
    assert [len(each.hosts) for each in reader.list_farms()] == [9]
    assert find(reader, "watches") == find(reader, "tea")


def test_texts_that_would_do_for_any_page_say_nothing(tmp_path: Path) -> None:
    texts = [
        "Click here!",
        "Aquí",
        "https://tea.test/leaves",
        "www.tea.test",
        "»",
        "En savoir plus…",
        "Подробнее…",
        "続きを読む",
        "leaflets",
    ]
    reader = rate(tmp_path, [*READ, *(say(f"http://fan{n}.test/", text) for n, text in enumerate(texts))])
    assert not find(reader, "click", "here", "aqui", "https", "leaves", "test", "savoir", "подробнее", "続き")
    assert find(reader, "leaflets")[TEA] == (pytest.approx(1 / 3, abs=0.001),)
    assert all(fold_text(text) == text for text in GENERIC_TEXTS)


def test_a_page_that_stands_for_another_hands_its_names_on(tmp_path: Path) -> None:
    old, copy, elsewhere = "http://tea.test/old", "http://tea.test/copy", "http://copies.test/tea"
    moved = [remove_page(old, 1.0, TEA), make_page(copy, 1.0, canonical=TEA), make_page(elsewhere, 1.0, canonical=TEA)]
    names = [
        say("http://a.test/", "oldest", old),
        say("http://b.test/", "copied", copy),
        say("http://c.test/", "stolen", elsewhere),
    ]
    reader = rate(tmp_path, [*READ, *moved, *names])
    assert {word: [*find(reader, word)] for word in ("oldest", "copied", "stolen")} == {
        "oldest": [TEA],
        "copied": [TEA],
        "stolen": [elsewhere],
    }


def test_pages_that_were_not_read_or_are_gone_are_not_found(tmp_path: Path) -> None:
    gone = "http://gone.test/"
    reader = rate(
        tmp_path, [say("http://fan.test/", "unread"), say("http://fan2.test/", "gone", gone), remove_page(gone, 1.0)]
    )
    assert find(reader, "unread", "gone") == {}


def test_words_are_found_in_other_forms_and_the_page_that_has_all_first(tmp_path: Path) -> None:
    names = [
        say("http://a.test/", "brownies"),
        say("http://b.test/", "brownie shops", SHOP),
        say("http://c.test/", "browser"),
    ]
    reader = rate(tmp_path, [*READ, *names])
    found = find(reader, "brownies", "shop")
    assert [*found] == [SHOP, TEA]
    assert found[TEA] == (pytest.approx(1 / 3 / 2**0.25, abs=0.001), 0.0)
    assert found[SHOP] == tuple(pytest.approx(score / 2, abs=0.001) for score in (1 / 3, 1 / 3))
    assert find(reader, "brownies", "shop", limit=1).keys() == {SHOP}
    assert find(reader) == find(reader, "nothing") == {}


def test_another_form_is_found_among_many_words_that_begin_as_it_does(tmp_path: Path) -> None:
    others = [f"cata{number}{letter}" for number in range(30) for letter in "abcdefghijklmnopqrstuvwxyz"]
    pages = [f"http://page{number}.test/" for number in range(0, len(others), 20)]
    crowd = [say(f"http://fan{number}.test/", other, pages[number // 20]) for number, other in enumerate(others)]
    reader = rate(tmp_path, [*READ, *(make_page(page, 1.0) for page in pages), *crowd, say("http://a.test/", "cats")])
    assert find(reader, "cat").keys() == {TEA}


def test_the_best_pages_for_many_words_are_those_with_the_highest_sums(tmp_path: Path) -> None:
    pages = [f"http://page{number}.test/" for number in range(12)]
    links = [
        say(f"http://fan{fan}.test/{page}", " ".join(f"w{n}" for n in range(24) if (n + page + fan) % 5 < 3), url)
        for page, url in enumerate(pages)
        for fan in range(page % 4 + 1)
    ]
    reader = rate(tmp_path, [*(make_page(page, 1.0) for page in pages), *links])
    words = [f"w{number}" for number in range(24)]
    all_found = find(reader, *words, "unknown")
    assert all_found.keys() == {*pages}
    alone = {word: find(reader, word) for word in words}
    assert all(
        scores == (*(alone[word].get(url, (0.0,))[0] for word in words), 0.0) for url, scores in all_found.items()
    )
    assert all([*find(reader, *words, limit=limit)] == [*all_found][:limit] for limit in range(1, 13))


def test_runs_without_spaces_are_found_by_their_pairs(tmp_path: Path) -> None:
    reader = rate(tmp_path, [*READ, say("http://a.test/", "東京大学 Tokyo"), say("http://b.test/", "大学生活", SHOP)])

    def find_run(run: str) -> set[str]:
        found = reader.find_called([AskedWord(tuple(list_pairs(run)), lambda _: False)], 9, 0.5)
        return {page.url for page in found}

    assert find_run("大学") == {TEA, SHOP}
    assert find_run("京") == {TEA}
    assert find_run("東京大学") == {TEA}
    assert find_run("東京大学生") == set()
    assert find_run("大学大学") == set()
    assert find_run("大学" * 400) == set()
    assert list_terms(fold_text("東京大学 Tokyo")) == ["tokyo", *"東京大学", "東京", "京大", "大学"]


def test_what_is_kept_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anchor_terms, "MAX_PAGES", 2)
    monkeypatch.setattr(anchor_votes, "MAX_TEXTS", 3)
    pages = [f"http://tea{number}.test/" for number in range(5)]
    votes = [
        say(f"http://fan{fan}.test/{number}", "tea", page)
        for number, page in enumerate(pages)
        for fan in range(number + 1)
    ]
    names = [
        say(f"http://namer{number}{time}.test/", f"word{number}") for number in range(6) for time in range(number + 1)
    ]
    reader = rate(tmp_path, [*READ, *(make_page(page, 1.0) for page in pages), *votes, *names])
    assert find(reader, "tea").keys() == {pages[3], pages[4]}
    assert [bool(find(reader, f"word{number}")) for number in range(6)] == [False] * 3 + [True] * 3


def test_no_site_takes_the_room_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anchor_votes, "MAX_OF_SITE", 3)
    pages = [make_page(f"http://tea{number}.test/", 1.0) for number in range(20)]
    loud = [say(f"http://loud.test/{n}", f"word{n}", page.url) for n, page in enumerate(pages)]
    reader = rate(tmp_path, [*pages, *loud, say("http://quiet.test/", "tea", pages[0].url)])
    assert sum(len(find(reader, f"word{number}")) for number in range(20)) == 3
    assert find(reader, "tea").keys() == {pages[0].url}


def test_pages_with_high_ids_keep_their_names() -> None:
    names = [f"word{number}" for number in range(9)]
    pages = np.array([2**31 - 2, 7], np.int32)
    votes = anchor_votes._elect(pages, np.zeros(2, np.int32), np.array([8, 3], np.int32), names)
    found, terms, _, sorted_names = anchor_terms._score_terms(votes)
    assert [(page, sorted_names[term]) for page, term in zip(found.tolist(), terms.tolist(), strict=True)] == [
        (7, "word3"),
        (2**31 - 2, "word8"),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_same_however_the_graph_is_spread_over_generations(tmp_path: Path, seed: int) -> None:
    history = make_history(seed, 400)
    whole = rate(tmp_path / "whole", history)
    paths = make_paths(tmp_path / "spread")
    chance = random.Random(seed)
    while history:
        size = chance.randrange(1, 80)
        add_pages(paths, history[:size])
        history = history[size:]
    assert rate_graph(paths)
    spread = FameReader(paths.graph)
    assert list_ranks(spread) == list_ranks(whole)
    assert find(whole, "page") == find(spread, "page")
    assert find(whole, "page")


def test_damage_is_told(tmp_path: Path) -> None:
    reader = rate(tmp_path, [*READ, say("http://fan.test/", "tea")])
    path = make_paths(tmp_path).graph / NAME
    data = path.read_bytes()
    place = data.index(b"tea", data.index(b"[]"))
    path.unlink()
    path.write_bytes(data[:place] + b"coa" + data[place + 3 :])
    for _ in range(2):
        with pytest.raises(UnreadableError, match="another checksum"):
            find(reader, "tea")
