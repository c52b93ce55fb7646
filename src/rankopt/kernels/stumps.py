# pyright: basic
"""Sums of steps ``weight * (x > threshold)`` over a row's features, and what a step would earn."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def scores_of_rows(start, stop, offsets, X, features, thresholds, weights, out):
    """Write the sum of the steps of each row; a missing value is above no threshold."""
    for i in range(offsets[start], offsets[stop]):
        total = 0.0
        for t in range(weights.size):
            if X[i, features[t]] > thresholds[t]:
                total += weights[t]
        out[i] = total


@njit(cache=True, nogil=True)
def sums_above(start, stop, offsets, X, features, thresholds, values, out):
    """Write for each step, counted by `start` and `stop`, the sum of `values` over rows above it."""
    for t in range(start, stop):
        total = 0.0
        for i in range(values.size):
            if X[i, features[t]] > thresholds[t]:
                total += values[i]
        out[t] = total


@njit(cache=True, nogil=True)
def bins_of(start, stop, offsets, columns, edges, counts, out):
    """Write how many of a feature's thresholds each value is above, for features `start..stop - 1`."""
    for f in range(start, stop):
        row = edges[f, : counts[f]]
        for i in range(columns.shape[1]):
            value = columns[f, i]
            below, above = 0, row.size
            while below < above:
                middle = (below + above) // 2
                if value > row[middle]:
                    below = middle + 1
                else:
                    above = middle
            out[f, i] = below


@njit(cache=True, nogil=True)
def best_steps(start, stop, offsets, bins, counts, pulls, gains, places):
    """Write for each feature the largest absolute sum of `pulls` above one of its thresholds, signed.

    Of sums that differ by rounding alone, that of the highest threshold.
    """
    sums = np.empty(counts.max() + 1)
    for f in range(start, stop):
        sums[: counts[f] + 1] = 0.0
        for i in range(bins.shape[1]):
            sums[bins[f, i]] += pulls[i]
        gains[f], places[f] = 0.0, -1
        above = 0.0
        for b in range(counts[f], 0, -1):
            above += sums[b]
            if abs(above) > abs(gains[f]) + 1e-12:
                gains[f], places[f] = above, b - 1


@njit(cache=True, nogil=True)
def pair_pulls(start, stop, offsets, scores, labels, order, pulls, mass):
    """Write for each row the weight of its pairs as the better one less that as the worse one.

    A pair (i, j) with a higher label of i weighs ``exp(s_j - s_i)``; `order` holds the rows of each query
    by ascending label. `mass` is the sum over the pairs of each query.
    """
    for q in range(start, stop):
        first, last = offsets[q], offsets[q + 1]
        middle = scores[first:last].mean()
        lower = 0.0  # sum of exp(s) of rows with a lower label
        total = 0.0
        left = first
        while left < last:
            label = labels[order[left]]
            right, same = left, 0.0
            while right < last and labels[order[right]] == label:
                i = order[right]
                pulls[i] = np.exp(middle - scores[i]) * lower
                total += pulls[i]
                same += np.exp(scores[i] - middle)
                right += 1
            lower += same
            left = right
        mass[q] = total
        higher = 0.0  # sum of exp(-s) of rows with a higher label
        right = last
        while right > first:
            label = labels[order[right - 1]]
            left, same = right, 0.0
            while left > first and labels[order[left - 1]] == label:
                i = order[left - 1]
                pulls[i] -= np.exp(scores[i] - middle) * higher
                same += np.exp(middle - scores[i])
                left -= 1
            higher += same
            right = left
