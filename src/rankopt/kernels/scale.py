# pyright: basic
"""Columns of X within each query: their ranges, scaling by them, and filling by them."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _ranges(X, first, last, low, high):
    """The smallest and largest value of each column in some rows; NaN is passed over."""
    low[:] = np.inf
    high[:] = -np.inf
    for row in range(first, last):
        for j in range(X.shape[1]):
            value = X[row, j]
            if value < low[j]:  # a NaN fails both comparisons
                low[j] = value
            if value > high[j]:
                high[j] = value


@njit(cache=True, nogil=True, error_model="numpy")
def scale_to_unit(start, stop, offsets, X, out):
    """Write ``(x - min) / (max - min)`` over each query, 0 where max = min; NaN stays."""
    low, high = np.empty(X.shape[1]), np.empty(X.shape[1])
    for q in range(start, stop):
        _ranges(X, offsets[q], offsets[q + 1], low, high)
        for j in range(X.shape[1]):
            high[j] -= low[j]
        for row in range(offsets[q], offsets[q + 1]):
            for j in range(X.shape[1]):
                offset = X[row, j] - low[j]
                out[row, j] = offset / high[j] if high[j] > 0.0 else offset


@njit(cache=True, nogil=True)
def fill_with_minimum(start, stop, offsets, X):
    """Replace NaN by the smallest value of the column in the query, by 0 where there is none."""
    low, high = np.empty(X.shape[1]), np.empty(X.shape[1])
    for q in range(start, stop):
        _ranges(X, offsets[q], offsets[q + 1], low, high)
        for row in range(offsets[q], offsets[q + 1]):
            for j in range(X.shape[1]):
                if np.isnan(X[row, j]):
                    X[row, j] = low[j] if low[j] < np.inf else 0.0
