import threading
from pathlib import Path

from rdfspider.frontier.store import Store, StoreReader


def test_what_is_staged_is_seen_after_the_write_only(tmp_path: Path) -> None:
    store = Store(tmp_path / "db")
    table = store.tables["meta"]
    table.put(b"key", b"value")
    assert store.has_staged
    assert table.get(b"key") is None
    store.write()
    assert not store.has_staged
    assert table.get(b"key") == b"value"
    table.delete(b"key")
    store.discard()
    store.write()
    assert table.get_many([b"key", b"other"]) == [b"value", None]
    store.close()


def test_scans_keep_to_their_bounds(tmp_path: Path) -> None:
    store = Store(tmp_path / "db")
    table = store.tables["queue"]
    for number in range(1000):
        table.put(number.to_bytes(4, "big"), b"")
    store.write()
    lower, upper = (100).to_bytes(4, "big"), (400).to_bytes(4, "big")
    for _ in range(200):
        rows = table.iterate(lower, upper)
        scribble = [bytes(4) for _ in range(50)]
        assert sum(1 for _ in rows) == 300
        del scribble
    assert [key for key, _ in table.scan(lower, upper, 2)] == [lower, (101).to_bytes(4, "big")]
    store.close()


def test_a_store_can_be_opened_again(tmp_path: Path) -> None:
    for number in range(3):
        store = Store(tmp_path / "db")
        table = store.tables["ledger"]
        assert len(table.scan(b"", b"\xff")) == number
        table.put(bytes([number]), b"x")
        store.write()
        store.sync()
        store.close()


def test_a_view_is_whole_while_another_thread_writes(tmp_path: Path) -> None:
    store = Store(tmp_path / "db")
    is_over = threading.Event()

    def write() -> None:
        number = 0
        while not is_over.is_set():
            for _ in range(2000):
                store.tables["ledger"].put(number.to_bytes(4, "big"), bytes(100))
                store.tables["queue"].put(number.to_bytes(4, "big"), b"")
                if number >= 100:
                    store.tables["queue"].delete((number - 100).to_bytes(4, "big"))
                number += 1
            store.tables["meta"].put(b"rows", number.to_bytes(4, "big"))
            store.write()

    writer = threading.Thread(target=write)
    writer.start()
    seen = []
    try:
        for number in range(6):
            notes = tmp_path / str(number)
            notes.mkdir()
            view = StoreReader(tmp_path / "db", notes, ("ledger", "queue", "meta"))
            rows = int.from_bytes(view.tables["meta"].get(b"rows") or b"", "big")
            assert sum(1 for _ in view.tables["ledger"].iterate(b"", b"\xff")) == rows
            assert len(view.tables["queue"].scan(b"", b"\xff")) == min(rows, 100)
            view.close()
            seen.append(rows)
    finally:
        is_over.set()
        writer.join()
        store.close()
    assert seen == sorted(seen)
    assert seen[-1] > 0


def test_an_overlay_shows_what_is_staged_until_it_is_written_or_discarded(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    rows, table = store.overlay("digests"), store.tables["digests"]
    rows.put(b"a", b"1")
    assert (rows.get(b"a"), table.get(b"a")) == (b"1", None)
    store.write()
    assert (rows.get(b"a"), table.get(b"a"), rows.staged) == (b"1", b"1", {})
    rows.delete(b"a")
    rows.put(b"b", b"2")
    assert (rows.get(b"a"), rows.get_many([b"a", b"b", b"c"])) == (None, [None, b"2", None])
    store.discard()
    assert rows.get_many([b"a", b"b"]) == [b"1", None]
    store.close()
