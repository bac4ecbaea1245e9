import io
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, strategies
from tests.search.graph_export.bv_reader import Bits, to_signed

from rdfspider.search.graph_export.bit_codes import (
    BitStream,
    Codes,
    encode_gamma,
    encode_unary,
    encode_zeta,
    fold_sign,
    measure_gamma,
    measure_zeta,
)

# The codes of 0 to 7, as they are in Boldi and Vigna, "Codes for the World Wide Web", who count from 1.
GAMMA = "1 010 011 00100 00101 00110 00111 0001000"
ZETA_3 = "100 1010 1011 1100 1101 1110 1111 0100000"
ZETA_2 = "10 110 111 01000 01001 01010 01011 011000"


def write(*parts: Codes) -> bytes:
    stream = io.BytesIO()
    bits = BitStream(stream)
    for part in parts:
        bits.write(part)
    bits.finish()
    assert len(stream.getvalue()) == (bits.bits + 7) // 8
    return stream.getvalue()


def show(codes: Codes) -> str:
    return " ".join(f"{code:0{width}b}" for code, width in zip(*map(list, codes), strict=True))


def test_codes_are_those_of_the_papers() -> None:
    numbers = np.arange(8)
    assert show(encode_gamma(numbers)) == GAMMA
    assert show(encode_zeta(numbers, 3)) == ZETA_3
    assert show(encode_zeta(numbers, 2)) == ZETA_2
    assert show(encode_unary(numbers[:3])) == "1 01 001"
    assert fold_sign(np.array([0, -1, 1, -2, 2])).tolist() == [0, 1, 2, 3, 4]


@given(
    strategies.lists(
        strategies.lists(strategies.integers(0, 2**31) | strategies.integers(0, 20), max_size=30), max_size=5
    )
)
def test_numbers_are_read_back(parts: list[list[int]]) -> None:
    arrays = [np.array(part, np.int64) for part in parts]
    gamma = Bits(write(*map(encode_gamma, arrays)))
    zeta = Bits(write(*(encode_zeta(array, 3) for array in arrays)))
    for number in chain(*parts):
        assert gamma.read_gamma() == number
        assert zeta.read_zeta(3) == number


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_widths_are_those_of_the_codes(k: int) -> None:
    numbers = np.unique(np.concatenate([np.arange(2000), 2 ** np.arange(32), 2 ** np.arange(32) - 1]))
    assert measure_zeta(numbers, k).tolist() == encode_zeta(numbers, k).widths.tolist()
    assert measure_gamma(numbers).tolist() == encode_gamma(numbers).widths.tolist()
    assert [int(code).bit_length() <= width for code, width in zip(*encode_zeta(numbers, k), strict=True)].count(
        False
    ) == 0


@given(strategies.integers(-(2**31), 2**31))
def test_signs_are_read_back(number: int) -> None:
    assert to_signed(int(fold_sign(np.array([number]))[0])) == number
