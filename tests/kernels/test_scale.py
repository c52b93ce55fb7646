"""Columns within queries, against NumPy query by query."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rankopt.kernels import scale as kernels

values = st.one_of(st.integers(-3, 3).map(float), st.just(np.nan))
problems = st.tuples(
    hnp.arrays(np.float64, st.tuples(st.integers(1, 12), st.integers(1, 4)), elements=values),
    st.sets(st.integers(1, 11)),
)


def cut(rows, cuts):
    return np.array([0, *sorted(c for c in cuts if c < rows), rows])


def brute(X, offsets, fill):
    """Minimum, width and the matrix with NaN as `fill` tells, query by query."""
    scaled, filled = X.copy(), X.copy()
    for start, stop in pairwise(offsets):
        for j in range(X.shape[1]):
            column = X[start:stop, j]
            known = column[~np.isnan(column)]
            low = known.min() if known.size else 0.0
            width = np.ptp(known) if known.size else 0.0
            scaled[start:stop, j] = (column - low) / (width or 1.0)
            filled[start:stop, j] = np.where(np.isnan(column), low, column)
    return filled if fill else scaled


@given(problems)
def test_scaling_and_filling(problem):
    X, cuts = problem
    offsets = cut(X.shape[0], cuts)
    out = np.full(X.shape, -1.0)
    kernels.scale_to_unit(0, offsets.size - 1, offsets, X, out)
    np.testing.assert_array_equal(out, brute(X, offsets, fill=False))
    expected = brute(X, offsets, fill=True)
    kernels.fill_with_minimum(0, offsets.size - 1, offsets, X)
    np.testing.assert_array_equal(X, expected)


@pytest.mark.parametrize(("start", "stop"), [(0, 1), (1, 3), (2, 2)])
def test_only_the_queries_asked_for_are_written(start, stop):
    offsets = np.array([0, 2, 3, 6])
    X = np.arange(6.0)[:, None]
    out = np.full(X.shape, -1.0)
    kernels.scale_to_unit(start, stop, offsets, X, out)
    written = slice(offsets[start], offsets[stop])
    assert (out[written] >= 0.0).all()
    out[written] = -1.0
    assert (out == -1.0).all()
