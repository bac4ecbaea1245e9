"""Rows: what was written is read, one or many, whole or in slices, short and long."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rdfspider.index.graph import rows as rows_module
from rdfspider.index.graph import varints
from rdfspider.index.graph.rows import Rows, RowsReader, RowsWriter
from rdfspider.index.graph.sections import Sections, SectionWriter


def write(folder: Path, rows: list[list[int]], pieces: int = 1) -> RowsReader:
    path = folder / "rows"
    file = SectionWriter(path)
    writer = RowsWriter(file, "rows")
    size = max(1, -(-len(rows) // pieces))
    for start in range(0, len(rows), size):
        some = rows[start : start + size]
        counts = np.array([len(row) for row in some], np.int64)
        numbers = np.array([number for row in some for number in row], np.int64)
        writer.add(np.arange(start, start + len(some)), Rows(counts, numbers))
    writer.finish()
    file.finish({})
    return RowsReader(Sections(path), "rows", len(rows))


ROW = st.one_of(
    st.lists(st.integers(0, 300), unique=True, max_size=20),
    st.lists(st.integers(0, 2**32 - 1), unique=True, max_size=100),
    st.tuples(st.integers(0, 10**6), st.integers(0, 400)).map(lambda pair: list(range(pair[0], sum(pair)))),
).map(sorted)


@settings(max_examples=80, deadline=None)
@given(rows=st.lists(ROW, max_size=300), pieces=st.integers(1, 9), most=st.sampled_from([20, 4096]), data=st.data())
def test_rows_come_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[int]], pieces: int, most: int, data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_module, "LONG_BYTES", most)
        patch.setattr(rows_module, "CHUNK", 16)
        reader = write(tmp_path_factory.mktemp("rows"), rows, pieces)
        for number, row in enumerate(rows):
            assert reader.read(number).tolist() == row
            assert reader.count_numbers(number) == len(row)
        start, stop = sorted(data.draw(st.tuples(st.integers(0, len(rows)), st.integers(0, len(rows)))))
        some = reader.list_rows(start, stop)
        assert some.counts.tolist() == [len(row) for row in rows[start:stop]]
        assert some.numbers.tolist() == [number for row in rows[start:stop] for number in row]
        for number, row in list(enumerate(rows))[:20]:
            first, last = sorted(data.draw(st.tuples(st.integers(0, 60), st.integers(0, 60))))
            assert reader.read_slice(number, first, last).tolist() == row[first:last]
            for each in row[:3] + row[-3:]:
                assert reader.find_place(number, each) == row.index(each)
                assert each + 1 in row or reader.find_place(number, each + 1) is None


def test_a_row_of_a_million_is_read_in_slices(tmp_path: Path) -> None:
    hub = list(range(5, 4_000_005, 4))
    reader = write(tmp_path, [[1], hub, [], [7, 9]])
    decoded = []
    read = reader._read_chunk
    reader._read_chunk = lambda chunk: decoded.append(chunk) or read(chunk)  # type: ignore[method-assign,func-returns-value]
    assert reader.read_slice(1, 500_000, 500_050).tolist() == hub[500_000:500_050]
    assert len(decoded) == 1
    assert reader.count_numbers(1) == len(hub)
    assert reader.find_place(1, hub[777_777]) == 777_777
    assert len(decoded) == 2
    assert reader.read(1).tolist() == hub
    assert [reader.read(row).tolist() for row in (0, 2, 3)] == [[1], [], [7, 9]]


@given(st.lists(st.integers(0, 2**62)))
def test_varints_come_back(numbers: list[int]) -> None:
    encoded, lengths = varints.encode(np.array(numbers, np.int64))
    decoded, ends = varints.decode(encoded)
    assert decoded.tolist() == numbers
    assert ends.tolist() == np.cumsum(lengths).tolist()


@given(st.binary(max_size=40))
def test_bytes_that_are_no_varints_are_refused_or_read(data: bytes) -> None:
    try:
        numbers, _ = varints.decode(np.frombuffer(data, np.uint8))
    except ValueError:
        return
    assert len(numbers) <= len(data)
