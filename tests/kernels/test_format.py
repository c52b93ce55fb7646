"""Numbers to text: the decimals give the value back, and no fewer would."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankopt.kernels import format as kernels


def decimals_of(values):
    mantissas, decimals = np.empty(values.size, np.int64), np.empty(values.size, np.int64)
    kernels.count_decimals(values, mantissas, decimals)
    return mantissas.tolist(), decimals.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_decimals_give_the_value_back_and_no_fewer_would(dtype, data):
    width = 32 if dtype is np.float32 else 64
    value = data.draw(st.floats(allow_nan=False, allow_infinity=False, width=width))
    (mantissa,), (decimals,) = decimals_of(np.array([value], dtype))
    if decimals < 0:
        assert decimals == kernels.AS_TEXT
        return
    assert dtype(float(Fraction(mantissa, 10**decimals))) == abs(value)
    if decimals:
        nearest = round(Fraction(abs(value)) * 10 ** (decimals - 1))
        assert dtype(float(Fraction(nearest, 10 ** (decimals - 1)))) != abs(value)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_usual_values_need_no_help(dtype):
    rng = np.random.default_rng(0)
    values = np.round(rng.standard_normal(5000) * 10.0 ** rng.integers(-3, 6, 5000), 6)
    _, decimals = decimals_of(values.astype(dtype))
    assert min(decimals) >= 0


def test_what_has_no_digits():
    _, decimals = decimals_of(np.array([np.nan, np.inf, -np.inf, 1e300, 1e-300]))
    assert decimals == [
        kernels.AS_NAN, kernels.INFINITE, kernels.INFINITE, kernels.AS_TEXT, kernels.AS_TEXT
    ]  # fmt: skip


def test_entries_are_written_row_by_row():
    values = np.array([0.5, -12.0, 0.0, -0.0, 1e300, 0.001])
    mantissas, decimals = np.empty(6, np.int64), np.empty(6, np.int64)
    kernels.count_decimals(values, mantissas, decimals)
    texts = np.array(["1e+300"], "S8")
    out, ends = np.empty(6 * kernels.WIDEST, np.uint8), np.empty(3, np.int64)
    kernels.write_features(
        np.array([2, 2, 6]), np.array([1, 20, 3, 4, 5, 66]), values, mantissas, decimals,
        texts.view(np.uint8).reshape(1, 8), np.array([6]), out, ends,
    )  # fmt: skip
    text = out.tobytes().decode("latin-1")
    assert text[: ends[0]] == " 1:0.5 20:-12"
    assert text[ends[1] : ends[2]] == " 3:0 4:-0 5:1e+300 66:0.001"
