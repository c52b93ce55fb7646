# pyright: basic
"""Soft permutations: each rank shared out among the rows by their distance to the score ranked there.

With c_j the score at rank j, ``h_ij = exp(-(s_i - c_j)^2 / sigma) / sum_l exp(-(s_l - c_j)^2 / sigma)``
says how much row i stands at rank j; ``p_j = sum_i g_i h_ij`` is the gain expected there, and any
form of measures can be taken of p_1, p_2, ... in place of the ranked gains [chapelle2010gradient].
"""

import numpy as np
from numba import njit

from rankopt.kernels import cascade, cumulative
from rankopt.kernels.codes import CASCADE, POSITIONAL
from rankopt.kernels.exponential import LOG2E
from rankopt.kernels.gauss import pull, weigh
from rankopt.kernels.leaders import leaders
from rankopt.kernels.sums import LANES

_KEPT = 1 << 17  # exponentials of a query that are kept rather than computed a second time


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
    near = np.empty((deepest if whole else 1) * widest)
    order, candidates, above = np.empty((3, longest + 8), np.int64)
    found = np.empty(longest + 8)
    out, mass, by_rank = np.empty(widest), np.empty(deepest), np.empty(deepest)
    centre, slopes, by_centre = np.empty((3, deepest))
    one, value = np.array([0, deepest]), np.zeros(1)
    rate = LOG2E / sigma
    if form == POSITIONAL:  # the derivative by the gain at a rank is the discount there
        slopes[:] = table[:deepest]
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        if scales[q] == 0.0:
            values[q] = 0.0
            for i in range(size):
                grad[first + i] = 0.0
            continue
        depth, stride = min(k, size), (widest if whole else 0)
        tied = leaders(scores, first, size, depth, order, candidates, above, found)
        for j in range(depth):
            centre[j] = scores[first + order[j]]
            mass[j], by_rank[j] = weigh(
                scores, gains, first, size, centre[j], rate, near, j * stride
            )
        if form == POSITIONAL:
            total = 0.0
            for j in range(depth):
                total += table[j] * by_rank[j]
            values[q] = scales[q] * total
        else:
            one[1] = depth
            value_slopes(form, one, by_rank, table, value, slopes)
            values[q] = scales[q] * value[0]
        for i in range(size):
            out[i] = 0.0
        factor = -2.0 * scales[q] / sigma
        for j in range(depth):
            if not whole:
                weigh(scores, gains, first, size, centre[j], rate, near, 0)
            times = factor * slopes[j] / mass[j]
            by_centre[j] = -pull(
                scores, gains, first, size, centre[j], by_rank[j], times, near, j * stride, out
            )
        if tied:
            share_ties(scores, first, size, depth, order, centre, by_centre, out)
        else:
            for j in range(depth):
                out[order[j]] += by_centre[j]
        for i in range(size):
            grad[first + i] = out[i]


@njit(cache=True, nogil=True, error_model="numpy")
def share_ties(scores, first, size, depth, order, centre, by_centre, out):
    """Add the derivatives by the scores at ranks to the rows that stand there.

    Where rows tie, the score at a rank belongs to all of them and each gets the mean: the derivative
    along every direction that moves tied rows together.
    """
    j = 0
    while j < depth:
        end = j + 1
        change = by_centre[j]
        while end < depth and centre[end] == centre[j]:
            change += by_centre[end]
            end += 1
        if end == j + 1 and (end < depth or end == size):
            out[order[j]] += change
        else:
            tied = 0
            for i in range(size):
                tied += scores[first + i] == centre[j]
            for i in range(size):
                if scores[first + i] == centre[j]:
                    out[i] += change / tied
        j = end


@njit(cache=True, nogil=True)
def value_slopes(form, one, by_rank, table, value, slopes):
    """Write the value of one list of a form, and its derivative by the gain at each place."""
    if form == CASCADE:
        cascade.values(0, 1, one, by_rank, table, value)
        cascade.slopes(0, 1, one, by_rank, table, slopes)
    else:
        cumulative.values(0, 1, one, by_rank, table, value)
        cumulative.slopes(0, 1, one, by_rank, table, slopes)
