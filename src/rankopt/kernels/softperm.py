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
from rankopt.kernels.exponential import LOG2E
from rankopt.kernels.gauss import pull, weigh
from rankopt.kernels.sums import LANES

_KEPT = 1 << 17  # exponentials of a query that are kept rather than computed a second time
_SHORT = 64  # cut-offs up to here are filled by insertion while the rows pass by


@njit(cache=True, nogil=True, error_model="numpy")
def value_grads(start, stop, offsets, scores, gains, scales, table, k, form, sigma, values, grad):
    """Write the smooth value of each query and its derivative by the scores, both times its scale.

    Queries with scale 0 are left out. `scores` and `gains` end with 8 spare elements. O(m k) for a
    cut-off k, else O(m^2).
    """
    longest = 0
    for q in range(start, stop):
        longest = max(longest, offsets[q + 1] - offsets[q])
    deepest, widest = min(k, longest), (longest + LANES - 1) // LANES * LANES
    whole = deepest * widest <= _KEPT
    near, order = np.empty((deepest if whole else 1) * widest), np.empty(longest, np.int64)
    out, mass, by_rank = np.empty(widest), np.empty(deepest), np.empty(deepest)
    slopes, by_centre = np.empty(deepest), np.empty(deepest)
    one, value = np.zeros(2, np.int64), np.empty(1)
    rate = LOG2E / sigma
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        rows = slice(first, first + size)
        values[q] = 0.0
        if scales[q] == 0.0:
            grad[rows] = 0.0
            continue
        depth, stride = min(k, size), (widest if whole else 0)
        x = scores[rows]
        lead(x, depth, order, slopes)
        for j in range(depth):
            mass[j], by_rank[j] = weigh(
                scores, gains, first, size, x[order[j]], rate, near, j * stride
            )
        one[1] = depth
        value_slopes(form, one, by_rank, table, value, slopes)
        values[q] = scales[q] * value[0]
        out[:] = 0.0
        factor = -2.0 * scales[q] / sigma
        for j in range(depth):
            centre = x[order[j]]
            if not whole:
                weigh(scores, gains, first, size, centre, rate, near, 0)
            times = factor * slopes[j] / mass[j]
            by_centre[j] = -pull(
                scores, gains, first, size, centre, by_rank[j], times, near, j * stride, out
            )
        share_ties(x, depth, order, by_centre, out)
        grad[rows] = out[:size]


@njit(cache=True, nogil=True)
def lead(x, depth, order, best):
    """Write the rows at the first ranks. Ties in any order: they share what the ranks get."""
    size = x.size
    if size <= (64 if depth <= _SHORT else 512):  # counting those above is quicker than a sort
        order[:size] = -1
        for i in range(size):
            p = 0
            for j in range(size):
                p += x[j] > x[i]
            while order[p] >= 0:
                p += 1
            order[p] = i
    elif depth <= _SHORT:
        filled = 0
        for i in range(size):
            if filled < depth:
                p = filled
                filled += 1
            elif x[i] > best[depth - 1]:
                p = depth - 1
            else:
                continue
            while p > 0 and best[p - 1] < x[i]:
                best[p], order[p] = best[p - 1], order[p - 1]
                p -= 1
            best[p], order[p] = x[i], i
    else:
        order[:depth] = np.argsort(-x, kind="mergesort")[:depth]


@njit(cache=True, nogil=True, error_model="numpy")
def share_ties(x, depth, order, by_centre, out):
    """Add the derivatives by the scores at ranks to the rows that stand there.

    Where rows tie, the score at a rank belongs to all of them and each gets the mean: the derivative
    along every direction that moves tied rows together.
    """
    size = x.size
    j = 0
    while j < depth:
        centre = x[order[j]]
        end = j + 1
        change = by_centre[j]
        while end < depth and x[order[end]] == centre:
            change += by_centre[end]
            end += 1
        if end == j + 1 and (end < depth or end == size):
            out[order[j]] += change
        else:
            tied = 0
            for i in range(size):
                tied += x[i] == centre
            for i in range(size):
                if x[i] == centre:
                    out[i] += change / tied
        j = end


@njit(cache=True, nogil=True)
def value_slopes(form, one, by_rank, table, value, slopes):
    """Write the value of one list of a form, and its derivative by the gain at each place."""
    if form == POSITIONAL:
        positional.values(0, 1, one, by_rank, table, value)
        positional.slopes(0, 1, one, by_rank, table, slopes)
    elif form == CASCADE:
        cascade.values(0, 1, one, by_rank, table, value)
        cascade.slopes(0, 1, one, by_rank, table, slopes)
    else:
        cumulative.values(0, 1, one, by_rank, table, value)
        cumulative.slopes(0, 1, one, by_rank, table, slopes)
