# pyright: basic
"""Soft permutations: each rank shared out among the rows by their distance to the score ranked there.

With c_j the score at rank j, ``h_ij = exp(-(s_i - c_j)^2 / sigma) / sum_l exp(-(s_l - c_j)^2 / sigma)``
says how much row i stands at rank j; ``p_j = sum_i g_i h_ij`` is the gain expected there, and any
form of measures can be taken of p_1, p_2, ... in place of the ranked gains [chapelle2010gradient].
"""

import numpy as np
from numba import njit

from rankopt.kernels import cascade, cumulative, positional
from rankopt.kernels.codes import CASCADE, POSITIONAL
from rankopt.kernels.exponential import LOG2E, LOWEST, exp2_of
from rankopt.kernels.order import sort_rows
from rankopt.kernels.shares import SHORT, top_rows

_KEPT = 1 << 17  # exponentials of a query that are kept rather than computed a second time
_LANES = 8  # lists are padded to whole vectors, whose remainders would be slow


@njit(cache=True, nogil=True)
def value_grads(start, stop, offsets, scores, gains, scales, table, k, form, sigma, values, grad):
    """Write the smooth value of each query and its derivative by the scores, both times its scale.

    Queries with scale 0 are left out. O(m k) for a cut-off k, else O(m^2).
    """
    rate = LOG2E / sigma
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        rows = slice(first, first + size)
        values[q] = 0.0
        grad[rows] = 0.0
        if scales[q] == 0.0:
            continue
        depth = min(k, size)
        padded = (size + _LANES - 1) // _LANES * _LANES
        x, g, out = np.zeros(padded), np.zeros(padded), np.zeros(padded)
        x[:size] = scores[rows]
        g[:size] = gains[rows]
        top = ranked(scores[rows], gains[rows], depth)
        by_rank, mass, slopes, pull = np.empty(depth), np.empty(depth), np.empty(depth), np.empty(depth)
        whole = depth * padded <= _KEPT
        near = np.empty((depth if whole else 1, padded))
        for j in range(depth):
            line = near[j if whole else 0]
            mass[j], by_rank[j] = shares_of(x, g, size, x[top[j]], rate, line)
        values[q] = scales[q] * value_slopes(form, by_rank, table, slopes)
        for j in range(depth):
            line = near[j if whole else 0]
            if not whole:
                shares_of(x, g, size, x[top[j]], rate, line)
            factor = -2.0 / sigma * scales[q] * slopes[j] / mass[j]
            pull[j] = spread_slope(x, g, x[top[j]], by_rank[j], factor, line, out)
        spread_ties(x, size, top, pull, out)
        grad[rows] = out[:size]


@njit(cache=True, nogil=True)
def ranked(scores, gains, depth):
    """The rows at the first `depth` ranks."""
    if depth <= SHORT:
        return top_rows(scores, gains, depth)
    order = np.empty(scores.size, np.int64)
    sort_rows(scores, gains, order)
    return order[:depth]


@njit(cache=True, nogil=True)
def shares_of(x, g, size, centre, rate, near):
    """Write exp(-(x - centre)^2 / sigma); return their sum, and the mean of g under them."""
    half = near.size // 2
    total, gain = np.empty(half), np.empty(half)
    for i in range(near.size):
        away = x[i] - centre
        near[i] = exp2_of(max(-(away * away) * rate, LOWEST))
    near[size:] = 0.0
    for i in range(half):
        a, b = near[i], near[i + half]
        total[i] = a + b
        gain[i] = a * g[i] + b * g[i + half]
    mass, earned = 0.0, 0.0
    for i in range(0, half, 4):
        mass += (total[i] + total[i + 1]) + (total[i + 2] + total[i + 3])
        earned += (gain[i] + gain[i + 1]) + (gain[i + 2] + gain[i + 3])
    return mass, earned / mass


@njit(cache=True, nogil=True)
def spread_slope(x, g, centre, mean, factor, near, out):
    """Add the derivative by the rows' own scores; return the one by the score at the rank.

    Moving all scores together changes nothing, so the latter is minus the sum of the former.
    """
    moved = np.empty(near.size)
    for i in range(near.size):
        w = factor * near[i] * (x[i] - centre) * (g[i] - mean)
        out[i] += w
        moved[i] = w
    total = 0.0
    for i in range(0, near.size, 4):
        total += (moved[i] + moved[i + 1]) + (moved[i + 2] + moved[i + 3])
    return -total


@njit(cache=True, nogil=True)
def spread_ties(x, size, top, pull, out):
    """Add the derivatives by the scores at ranks to the rows that stand there.

    Where rows tie, the score at a rank belongs to all of them: each gets the mean. It is the
    derivative along every direction that moves them together.
    """
    j = 0
    while j < top.size:
        centre = x[top[j]]
        end = j + 1
        total = pull[j]
        while end < top.size and x[top[end]] == centre:
            total += pull[end]
            end += 1
        if end == j + 1 and (end < top.size or end == size):
            out[top[j]] += total
        else:
            tied = 0
            for i in range(size):
                tied += x[i] == centre
            for i in range(size):
                if x[i] == centre:
                    out[i] += total / tied
        j = end


@njit(cache=True, nogil=True)
def value_slopes(form, by_rank, table, slopes):
    """The value of one list of a form; write its derivative by the gain at each place."""
    one = np.array([0, by_rank.size])
    value = np.empty(1)
    if form == POSITIONAL:
        positional.values(0, 1, one, by_rank, table, value)
        positional.slopes(0, 1, one, by_rank, table, slopes)
    elif form == CASCADE:
        cascade.values(0, 1, one, by_rank, table, value)
        cascade.slopes(0, 1, one, by_rank, table, slopes)
    else:
        cumulative.values(0, 1, one, by_rank, table, value)
        cumulative.slopes(0, 1, one, by_rank, table, slopes)
    return value[0]
