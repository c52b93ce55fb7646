# pyright: basic
"""Positional measures of noisy scores: expected discounts under rank-binomial distributions.

Row j is beaten by row i with probability ``p_ij = Phi((s_i - s_j) / (sigma sqrt(2)))``. Its rank is
taken to be 1 plus the number of successes of independent trials, and the distribution of that is built
trial by trial:

    after trial i:   P(r) <- p_ij P(r - 1) + (1 - p_ij) P(r)

The expected discount is ``sum_r P(r) D(r)``. Its derivative by p_ij needs the distribution without trial i:
forward distributions over the trials before i meet expected discounts over the trials after it.
"""

import math

import numpy as np
from numba import njit

from rankopt.kernels.order import longest_of


@njit(cache=True, nogil=True, error_model="numpy")
def value_grads(start, stop, offsets, scores, gains, scales, table, k, sigma, values, grad):
    """Write the weighted expected value of each query, and its derivative by the scores.

    `table` are the discounts of ranks, zero from place k on: later places are not followed.
    """
    room = longest_of(start, stop, offsets)
    depth = min(k, room) + 1
    forward = np.empty((room + 1, depth))
    after = np.empty(depth)
    chances, slopes = np.empty(room), np.empty(room)
    rate = 0.5 / sigma
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        grad[first : first + size] = 0.0
        values[q] = 0.0
        if scales[q] == 0.0:
            continue
        ranks = min(k, size)
        for j in range(size):
            gain = gains[first + j]
            if gain == 0.0:
                continue
            for i in range(size):
                z = rate * (scores[first + i] - scores[first + j])
                chances[i] = 0.5 * math.erfc(-z)
                slopes[i] = rate / math.sqrt(math.pi) * math.exp(-z * z)
            expected = forwards(chances, j, size, ranks, table, forward)
            values[q] += scales[q] * gain * expected
            backwards(
                chances, slopes, j, size, ranks, table, forward, after, scales[q] * gain,
                grad[first : first + size],
            )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def forwards(chances, j, size, ranks, table, forward):
    """Write the distribution of the rank of row j before each trial; return the expected discount."""
    for r in range(ranks):
        forward[0, r] = 0.0
    forward[0, 0] = 1.0
    for i in range(size):
        p = 0.0 if i == j else chances[i]
        previous = 0.0
        for r in range(ranks):
            here = forward[i, r]
            forward[i + 1, r] = p * previous + (1.0 - p) * here
            previous = here
    expected = 0.0
    for r in range(ranks):
        expected += forward[size, r] * table[r]
    return expected


@njit(cache=True, nogil=True, error_model="numpy")
def backwards(chances, slopes, j, size, ranks, table, forward, after, factor, grad):
    """Add the derivative of ``factor`` times the expected discount of row j to `grad`."""
    for r in range(ranks):
        after[r] = table[r]
    after[ranks] = 0.0  # past the cut-off
    for i in range(size - 1, -1, -1):
        if i == j:
            continue
        by_chance = 0.0
        p = chances[i]
        for r in range(ranks):
            step = after[r + 1] - after[r]
            by_chance += forward[i, r] * step
            after[r] += p * step
        change = factor * by_chance * slopes[i]
        grad[i] += change
        grad[j] -= change
