"""Places for questions: no client has all that others wait for."""

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from rdfspider.index.quads.sparql.engine import FairQueue
from waiting import PATIENCE_S, wait_until


class Queue:
    """Clients that wait in threads, and in which order they got a place."""

    def __init__(self, turns: FairQueue) -> None:
        self.turns = turns
        self.served: list[str] = []
        self._threads = ThreadPoolExecutor(10)

    def wait(self, client: str) -> Future[None]:
        before = len(self.turns._waiting)
        waiting = self._threads.submit(self._take, client)
        wait_until(lambda: len(self.turns._waiting) > before or waiting.done())
        return waiting

    def _take(self, client: str) -> None:
        end = time.monotonic() + PATIENCE_S
        self.turns.take(client, lambda: 0.1 if time.monotonic() < end else refuse())
        self.served.append(client)


def refuse() -> float:
    raise TimeoutError


def test_a_place_is_left_for_others() -> None:
    turns = FairQueue(3, 2)
    for _ in range(2):
        turns.take("greedy", refuse)
    with pytest.raises(TimeoutError):
        turns.take("greedy", refuse)
    turns.take("other", refuse)
    with pytest.raises(TimeoutError):
        turns.take("third", refuse)
    turns.give_back("other")
    turns.take("third", refuse)


def test_who_has_the_fewest_places_comes_first_and_of_equals_who_came_first() -> None:
    queue = Queue(FairQueue(2, 2))
    for _ in range(2):
        queue.turns.take("greedy", refuse)
    waiting = [queue.wait(client) for client in ("greedy", "greedy", "one", "two")]
    # Who leaves, and who comes then.
    for leaving, following in (("greedy", "one"), ("greedy", "greedy"), ("one", "two"), ("two", "greedy")):
        count = len(queue.served)
        queue.turns.give_back(leaving)
        wait_until(lambda count=count: len(queue.served) > count)
        assert queue.served[count:] == [following]
    for each in waiting:
        each.result(PATIENCE_S)


def test_who_gives_up_is_not_waited_for() -> None:
    turns = FairQueue(1, 1)
    turns.take("one", refuse)
    given_up = threading.Event()

    def look() -> float:
        if given_up.is_set():
            raise TimeoutError
        return 0.05

    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(turns.take, "two", look)
        wait_until(lambda: turns._waiting)
        given_up.set()
        with pytest.raises(TimeoutError):
            waiting.result(PATIENCE_S)
    turns.give_back("one")
    turns.take("three", refuse)
