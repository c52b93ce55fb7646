# pyright: basic
"""Linear scores, with the same bits whatever the layout, the batch or the number of threads.

Each row is summed feature by feature from the first on, in float64. A BLAS product would be quicker
but sums rows at the edge of a block in another order: two equal rows could get unequal scores and a
tie would be broken by rounding.
"""

from numba import njit


@njit(cache=True, nogil=True)
def scores_of_rows(start, stop, offsets, X, weights, out):
    """Write X @ weights for a row-major X, four rows at a time so that their sums overlap."""
    last = offsets[stop]
    row = offsets[start]
    while row + 4 <= last:
        a = b = c = d = 0.0
        for f in range(weights.size):
            w = weights[f]
            a += w * X[row, f]
            b += w * X[row + 1, f]
            c += w * X[row + 2, f]
            d += w * X[row + 3, f]
        out[row], out[row + 1], out[row + 2], out[row + 3] = a, b, c, d
        row += 4
    for i in range(row, last):
        a = 0.0
        for f in range(weights.size):
            a += weights[f] * X[i, f]
        out[i] = a


@njit(cache=True, nogil=True)
def scores_of_columns(start, stop, offsets, columns, weights, out):
    """Write weights @ columns for a feature-major array (n_features, n_rows)."""
    first, last = offsets[start], offsets[stop]
    for i in range(first, last):
        out[i] = 0.0
    for f in range(weights.size):
        w = weights[f]
        for i in range(first, last):
            out[i] += w * columns[f, i]


@njit(cache=True, nogil=True)
def scores_of_sparse(start, stop, offsets, indptr, indices, values, weights, out):
    """Write X @ weights for a CSR matrix with sorted indices."""
    for i in range(offsets[start], offsets[stop]):
        a = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            a += weights[indices[e]] * values[e]
        out[i] = a


@njit(cache=True, nogil=True)
def pullback_of_rows(start, stop, blocks, X, by_scores, out):
    """Write X' d of each block of rows (between two `blocks`) into its line of `out`, two rows at a time."""
    for b in range(start, stop):
        total = out[b]
        total[:] = 0.0
        row, last = blocks[b], blocks[b + 1]
        while row + 2 <= last:
            d, e = by_scores[row], by_scores[row + 1]
            for f in range(total.size):
                total[f] += d * X[row, f] + e * X[row + 1, f]
            row += 2
        if row < last:
            for f in range(total.size):
                total[f] += by_scores[row] * X[row, f]
