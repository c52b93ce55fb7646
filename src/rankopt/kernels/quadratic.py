# pyright: basic
"""Weighted sums of features and of their products, whose columns are never laid out.

Features f stand for ``x_f - center_f``. The products of feature f with others are
``starts[f]..starts[f + 1] - 1``, and ``rights`` has their other factors. Rows are taken in tiles, feature
by feature, that stay in a core's cache: one entry of a tile serves all products of its feature.

A row is summed in one order wherever it stands: first the features, then the products, each the float64
product of its factors times its weight. These are the bits that the linear kernels give on laid-out columns.
"""

import numpy as np
from numba import config, njit

if config.DISABLE_JIT:

    def load(array, i):
        return array[i : i + 8].copy()

    def spread(x):
        return np.full(8, x)

    def store(array, i, v):
        array[i : i + 8] = v

else:
    from rankopt.kernels.lanes import load, spread, store

_SHORT, _LONG = 32, 64  # rows of a tile: four vectors, eight vectors


@njit(cache=True, nogil=True)
def fill(X, center, first, row, rows, length, tile):
    """Copy the features from ``first`` on to a tile of ``length`` rows, feature-major.

    Rows of the tile that are not filled keep what they have.
    """
    for i in range(rows):
        for f in range(first, center.size):
            tile[f * length + i] = X[row + i, f] - center[f]


@njit(cache=True, nogil=True)
def scores_of_rows(start, stop, offsets, X, center, weights, starts, rights, by_product, out):
    """Write the scores of row-major X; ``by_product`` are the weights of the products."""
    tile, scores = np.zeros(center.size * _SHORT), np.empty(_SHORT)
    last = offsets[stop]
    for row in range(offsets[start], last, _SHORT):
        rows = min(_SHORT, last - row)
        fill(X, center, 0, row, rows, _SHORT, tile)
        a, b, c, d = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
        for f in range(center.size):
            w, at = spread(weights[f]), f * _SHORT
            a = a + w * load(tile, at)
            b = b + w * load(tile, at + 8)
            c = c + w * load(tile, at + 16)
            d = d + w * load(tile, at + 24)
        for f in range(center.size):
            at = f * _SHORT
            e, g = load(tile, at), load(tile, at + 8)
            h, k = load(tile, at + 16), load(tile, at + 24)
            for p in range(starts[f], starts[f + 1]):
                w, at = spread(by_product[p]), rights[p] * _SHORT
                a = a + w * (e * load(tile, at))
                b = b + w * (g * load(tile, at + 8))
                c = c + w * (h * load(tile, at + 16))
                d = d + w * (k * load(tile, at + 24))
        store(scores, 0, a)
        store(scores, 8, b)
        store(scores, 16, c)
        store(scores, 24, d)
        out[row : row + rows] = scores[:rows]


@njit(cache=True, nogil=True)
def pullback_of_rows(start, stop, starts, X, center, dscores, rights, by_weight, by_product):
    """Write the derivatives by the weights of the features ``start..stop - 1`` and of their products.

    Each is summed over all rows in stored order, whichever thread does it.
    """
    tile, slopes, sums = np.zeros(center.size * _LONG), np.zeros(_LONG), np.empty(8)
    first = starts[start]
    features = np.zeros(8 * (stop - start))
    products = np.zeros(8 * (starts[stop] - first))
    for row in range(0, X.shape[0], _LONG):
        rows = min(_LONG, X.shape[0] - row)
        fill(X, center, start, row, rows, _LONG, tile)  # other factors come later
        slopes[:rows] = dscores[row : row + rows]
        slopes[rows:] = 0.0
        for f in range(start, stop):
            at = f * _LONG
            a = load(slopes, 0) * load(tile, at)
            b = load(slopes, 8) * load(tile, at + 8)
            c = load(slopes, 16) * load(tile, at + 16)
            d = load(slopes, 24) * load(tile, at + 24)
            e = load(slopes, 32) * load(tile, at + 32)
            g = load(slopes, 40) * load(tile, at + 40)
            h = load(slopes, 48) * load(tile, at + 48)
            k = load(slopes, 56) * load(tile, at + 56)
            to = 8 * (f - start)
            store(features, to, load(features, to) + (((a + b) + (c + d)) + ((e + g) + (h + k))))
            for p in range(starts[f], starts[f + 1]):
                at, to = rights[p] * _LONG, 8 * (p - first)
                one = a * load(tile, at) + b * load(tile, at + 8)
                two = c * load(tile, at + 16) + d * load(tile, at + 24)
                three = e * load(tile, at + 32) + g * load(tile, at + 40)
                four = h * load(tile, at + 48) + k * load(tile, at + 56)
                store(products, to, load(products, to) + ((one + two) + (three + four)))
    for f in range(start, stop):
        sums[:] = features[8 * (f - start) : 8 * (f - start) + 8]
        by_weight[f] = sums.sum()
        for p in range(starts[f], starts[f + 1]):
            sums[:] = products[8 * (p - first) : 8 * (p - first) + 8]
            by_product[p] = sums.sum()


@njit(cache=True, nogil=True)
def scores_of_sparse(
    start, stop, offsets, indptr, indices, values, weights, starts, rights, by_product, out
):
    """Write the scores of a CSR matrix with sorted indices, whose features are not centred."""
    row = np.zeros(weights.size)
    for i in range(offsets[start], offsets[stop]):
        a = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            a += weights[indices[e]] * values[e]
            row[indices[e]] = values[e]
        for e in range(indptr[i], indptr[i + 1]):
            f = indices[e]
            for p in range(starts[f], starts[f + 1]):
                other = row[rights[p]]
                if other != 0.0:
                    a += by_product[p] * (row[f] * other)
        for e in range(indptr[i], indptr[i + 1]):
            row[indices[e]] = 0.0
        out[i] = a


@njit(cache=True, nogil=True)
def pullback_of_sparse(
    start, stop, starts, indptr, indices, values, dscores, rights, by_weight, by_product
):
    """Write the derivatives by the weights of a CSC matrix; as `pullback_of_rows`."""
    column = np.zeros(dscores.size)
    for f in range(start, stop):
        total = 0.0
        for e in range(indptr[f], indptr[f + 1]):
            column[indices[e]] = dscores[indices[e]] * values[e]
            total += column[indices[e]]
        by_weight[f] = total
        for p in range(starts[f], starts[f + 1]):
            total = 0.0
            for e in range(indptr[rights[p]], indptr[rights[p] + 1]):
                total += column[indices[e]] * values[e]
            by_product[p] = total
        for e in range(indptr[f], indptr[f + 1]):
            column[indices[e]] = 0.0
