import pytest

from rdfspider.frontier.keys import MAX_HOSTS, MAX_SHARDS, UrlIds


@pytest.mark.parametrize("shards", [1, 999, 1024])
def test_ids_of_crawls_with_few_shards_are_as_they_always_were(shards: int) -> None:
    assert UrlIds(shards).pack(3, 5, 7) == 3 << 54 | 5 << 26 | 7


@pytest.mark.parametrize("shards", [1, 1024, 1025, MAX_SHARDS])
def test_each_shard_host_and_sequence_has_an_id_of_its_own(shards: int) -> None:
    ids = UrlIds(shards)
    places = [
        (shard, host, sequence)
        for shard in (0, shards - 1)
        for host in (1, 99)
        for sequence in (0, ids.max_sequence - 1)
    ]
    packed = [ids.pack(*place) for place in places]
    assert [ids.unpack(url_id) for url_id in packed] == places
    assert max(packed) < 1 << 64
    assert ids.unpack(ids.pack(0, MAX_HOSTS // 2 - 1, 0)) == (0, MAX_HOSTS // 2 - 1, 0)


def test_there_are_4096_shards_at_most() -> None:
    assert MAX_SHARDS == 4096
