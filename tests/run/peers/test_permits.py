import random

import pytest

from rdfspider.run.peers.permits import PermitBook, PermitPool


def test_without_a_limit_there_is_always_a_permit() -> None:
    pool = PermitPool(False, lambda count: pytest.fail("asked"), lambda count: pytest.fail("returned"))
    for _ in range(100):
        assert pool.has_one()
        pool.reserve()
    pool.return_free()


def test_a_shard_asks_once_and_uses_what_it_gets() -> None:
    asked: list[int] = []
    pool = PermitPool(True, asked.append, lambda count: None)
    assert not pool.has_one()
    assert not pool.has_one()
    assert len(asked) == 1
    pool.receive(2)
    assert pool.has_one()
    pool.reserve()
    assert pool.has_one()
    pool.reserve()
    assert not pool.has_one()
    assert len(asked) == 2


def test_what_was_no_page_can_be_used_again_and_what_is_free_goes_back() -> None:
    returned: list[int] = []
    pool = PermitPool(True, lambda count: None, returned.append)
    pool.receive(3)
    for _ in range(3):
        pool.reserve()
    pool.spend(1)
    pool.give_back()
    pool.return_free()
    pool.return_free()
    assert returned == [1]
    assert pool.reserved == 1


def test_with_another_coordinator_the_limit_stays_exact() -> None:
    asked: list[int] = []
    pool = PermitPool(True, asked.append, lambda count: None)
    assert not pool.has_one()
    pool.receive(5)
    for _ in range(4):
        pool.reserve()
    pool.spend(1)
    pool.begin_again()
    book = PermitBook(8, 1)
    book.arrive(0, 1 + pool.reserved)
    assert not pool.has_one(), "a permit of the coordinator before"
    assert len(asked) == 2
    given = 0
    while book.rest:
        book.want(0, asked[-1])
        given += book.give_out()[0]
    assert given == 8 - 1 - 3


def test_nothing_is_given_before_all_shards_have_said_what_they_have() -> None:
    book = PermitBook(100, 2)
    book.arrive(0, 10)
    book.want(0, 64)
    assert book.give_out() == {}
    book.arrive(1, 30)
    assert book.give_out() == {0: 15}


def test_chunks_shrink_to_one() -> None:
    book = PermitBook(20, 2)
    book.arrive(0, 0)
    book.arrive(1, 0)
    chunks = []
    while book.rest:
        book.want(0, 64)
        chunks.append(book.give_out()[0])
    assert chunks == [5, 3, 3, 2, 1, 1, 1, 1, 1, 1, 1]
    book.want(1, 64)
    assert book.give_out() == {}
    assert book.waiting == {1}
    book.take_back(0, 1)
    assert book.give_out() == {1: 1}
    assert not book.waiting


def test_permits_of_a_dead_shard_come_back_when_it_has_said_what_it_committed() -> None:
    book = PermitBook(8, 2)
    book.arrive(0, 0)
    book.arrive(1, 0)
    book.want(0, 64)
    assert book.give_out() == {0: 2}
    book.arrive(0, 1)
    assert book.rest == 7


@pytest.mark.parametrize("seed", range(10))
def test_the_limit_is_exact_whatever_happens(seed: int) -> None:
    """Shards fetch, fail, commit, die and return permits at random; in the end exactly the limit is committed."""
    chance = random.Random(seed)
    limit, shards = 200, 3
    book = PermitBook(limit, shards)
    committed = [0] * shards

    def make_pool(shard: int) -> PermitPool:
        book.arrive(shard, committed[shard])
        return PermitPool(True, lambda count: book.want(shard, count), lambda count: book.take_back(shard, count))

    pools = [make_pool(shard) for shard in range(shards)]
    for _ in range(20_000):
        shard = chance.randrange(shards)
        pool = pools[shard]
        what = chance.random()
        if what < 0.01:
            pools[shard] = make_pool(shard)
        elif what < 0.05 or (what < 0.2 and book.waiting - {shard}):
            pool.return_free()
        elif what < 0.6 and pool.has_one():
            pool.reserve()
        elif what < 0.7 and pool.reserved:
            pool.give_back()
        elif pool.reserved:
            committed[shard] += 1
            pool.spend(1)
        for lucky, count in book.give_out().items():
            pools[lucky].receive(count)
        assert sum(committed) <= limit
    assert sum(committed) == limit
