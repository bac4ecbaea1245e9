"""The dictionary: keys get the numbers of their order, and both ways lead back."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rdfspider.index.graph.dictionary import Dictionary, DictionaryWriter, choose_samples
from rdfspider.index.graph.keys import find_host, make_key
from rdfspider.index.graph.sections import Sections, SectionWriter


def write(folder: Path, keys: list[bytes]) -> Dictionary:
    file = SectionWriter(folder / "keys")
    writer = DictionaryWriter(file, choose_samples(keys))
    for start in range(0, len(keys), 37):
        writer.add(keys[start : start + 37])
    writer.finish()
    file.finish({"keys": len(keys)})
    return Dictionary(Sections(folder / "keys"))


KEYS = st.sets(st.text(alphabet="ab,)/\xff", min_size=1, max_size=12).map(str.encode), max_size=200).map(sorted)


@settings(max_examples=60, deadline=None)
@given(keys=KEYS, others=KEYS)
def test_keys_and_numbers_lead_to_each_other(
    tmp_path_factory: pytest.TempPathFactory, keys: list[bytes], others: list[bytes]
) -> None:
    dictionary = write(tmp_path_factory.mktemp("keys"), keys)
    assert [dictionary.find(key) for key in keys] == list(range(len(keys)))
    assert dictionary.read_all(range(len(keys))) == keys
    assert [dictionary.read(number) for number in range(len(keys))] == keys
    assert [key for block in dictionary.list_keys() for key in block] == keys
    for other in others:
        assert dictionary.find(other) == (keys.index(other) if other in keys else None)


def test_real_keys_are_small_and_hosts_are_found_by_blocks(tmp_path: Path) -> None:
    urls = [
        f"https://www{host}.example.org/{path}/{page}" for host in range(40) for path in "ab" for page in range(500)
    ]
    urls += [f"ftp://odd{number}.test/" for number in range(3)] + [f"http://x.test/{'y' * 600}{n}" for n in range(40)]
    keys = sorted(map(make_key, urls))
    dictionary = write(tmp_path, keys)
    assert (tmp_path / "keys").stat().st_size < 8 * len(keys)
    runs = list(dictionary.list_hosts())
    assert sum(length for _, length in runs) == len(keys)
    assert [find_host(key) for key, _ in runs] == list(dict.fromkeys(map(find_host, keys)))
    assert dictionary.find(keys[-1]) == len(keys) - 1
