from rdfspider.run.peers.lease import LifeLease


class Clock:
    seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def test_a_lease_counts_from_when_the_beat_was_sent() -> None:
    clock = Clock()
    lease = LifeLease(15.0, clock)
    assert not lease.has_begun
    assert not lease.is_over
    lease.note_beat(7.5)
    clock.seconds += 10
    lease.renew(7.5)
    assert lease.has_begun
    assert not lease.is_over
    clock.seconds += 5
    assert lease.is_over


def test_an_answer_that_comes_too_late_does_not_bring_it_back() -> None:
    clock = Clock()
    lease = LifeLease(15.0, clock)
    for beat in (1.0, 2.0):
        lease.note_beat(beat)
    lease.renew(1.0)
    clock.seconds += 20
    lease.note_beat(3.0)
    lease.renew(2.0)
    lease.renew(3.0)
    assert lease.is_over


def test_answers_to_beats_that_were_not_sent_renew_nothing() -> None:
    lease = LifeLease(15.0, Clock())
    lease.renew(1.0)
    lease.note_beat(2.0)
    lease.renew(1.0)
    assert not lease.has_begun
    for beat in range(1000):
        lease.note_beat(beat)
    lease.renew(2.0)
    assert not lease.has_begun


def test_without_a_term_it_lasts() -> None:
    clock = Clock()
    lease = LifeLease(0.0, clock)
    lease.note_beat(1.0)
    clock.seconds += 1e9
    assert lease.has_begun
    assert not lease.is_over
