"""Texts that are alike have simhashes that are: by a plain count of bits, on long texts, in any script, and not by chance."""

import random

import pytest
from xxhash import xxh3_64_digest

from rdfspider import extract
from rdfspider.judge.simhash import MIN_WORDS, compute_simhash, digest_statements
from rdfspider.records import Extraction

CHANCE = random.Random(4)
WORDS = ["".join(CHANCE.choices("abcdefghijklmnopqrstuvwxyz", k=CHANCE.randint(2, 9))) for _ in range(4000)]


def make_text(words: int, chance: random.Random) -> str:
    return "\n".join(" ".join(chance.choices(WORDS, k=10)) for _ in range(words // 10))


def distance(text: str, other: str) -> int:
    return (compute_simhash(text) ^ compute_simhash(other)).bit_count()


def test_it_is_what_most_words_have_bit_by_bit() -> None:
    for count in (60, 151, 256):
        words = CHANCE.sample(WORDS, count)
        hashes = [int.from_bytes(xxh3_64_digest(word.encode()), "little") for word in set(words)]
        expected = sum(1 << place for place in range(64) if sum(key >> place & 1 for key in hashes) > len(hashes) // 2)
        assert compute_simhash(" ".join(words)) == expected
        CHANCE.shuffle(words)
        assert compute_simhash("\n".join([*words, *words[:20]])) == expected


def test_a_short_text_has_none() -> None:
    assert compute_simhash("") == 0
    assert compute_simhash("word " * (MIN_WORDS - 1)) == 0
    assert compute_simhash(" ".join(WORDS[:MIN_WORDS])) != 0


@pytest.mark.parametrize("words", [500, 2_000, 50_000])
def test_one_word_more_changes_little_and_other_words_much(words: int) -> None:
    chance = random.Random(words)
    distances = []
    for _ in range(20):
        lines = make_text(words, chance).split("\n")
        changed = list(lines)
        changed[chance.randrange(len(lines))] += " changed"
        distances.append(distance("\n".join(lines), "\n".join(changed)))
        assert distance("\n".join(lines), make_text(words, chance)) > 10
    assert sorted(distances)[len(distances) // 2] <= 3


def test_scripts_without_spaces_are_compared_by_their_characters() -> None:
    chance = random.Random(7)
    text = "".join(chr(chance.randrange(0x4E00, 0x9FA5)) for _ in range(400))
    other = "".join(chr(chance.randrange(0x4E00, 0x9FA5)) for _ in range(400))
    assert compute_simhash("短い文") == 0
    assert distance(text, text[:200] + "中" + text[200:]) <= 6
    assert distance(text, other) > 10


def test_hostile_texts_are_taken() -> None:
    assert compute_simhash("\ud800 " * 100)
    assert compute_simhash("x" * 1_000_000)
    compute_simhash("\n" * 1_000_000)


def make_product(url: str, price: str, title: str = "A kettle") -> Extraction:
    data = (
        f'{{"@context": "https://schema.org", "@type": "Product", "url": "{url}", "offers": '
        f'{{"@type": "Offer", "price": "{price}"}}}}'
    )
    return extract(f"<title>{title}</title><script type='application/ld+json'>{data}</script>", url)


def test_facts_are_the_same_whatever_the_address_of_the_page() -> None:
    facts = digest_statements(make_product("http://a.test/kettle", "10"))
    assert facts == digest_statements(make_product("http://a.test/kettle?session=1", "10"))
    assert facts != digest_statements(make_product("http://a.test/kettle", "11"))
    assert facts != digest_statements(make_product("http://a.test/kettle", "10", "Another kettle"))
