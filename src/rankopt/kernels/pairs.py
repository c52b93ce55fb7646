# pyright: basic
"""Losses of pairs of rows of unequal grade, weighted [tran2011learning].

Each kernel has the signature ``(start, stop, offsets, scores, levels, starts, kind, scales, x, z, values,
grad, curvature)``. `scores` come level by level, the best grade first: the levels of query q are
``levels[q]:levels[q + 1]``, the rows of level l are ``starts[l]:starts[l + 1]``. A kernel writes the loss of
each query, its derivative and the diagonal of its second derivative by the scores. A pair of rows has the
weight of its levels, `weight_of`; its margin is the better row's score less the other's.
"""

import numpy as np
from numba import njit

from rankopt.kernels.exponential import LOG2E, exp2_of
from rankopt.kernels.order import longest_of

STEEPEST = 500.0  # the exponential loss goes on along its tangent below margins of -500
_SPAN = 300.0  # scores that far apart still have finite factorised exponentials
_ROOM = 1000.0  # powers of two that a product of factors may reach before its logarithm is taken


@njit(cache=True, nogil=True)
def weight_of(kind, scale, x, z, a, b):
    """The weight of a pair of the better level a and level b."""
    weight = scale
    if kind >= 1:
        weight *= x[a] - x[b]
    if kind >= 2:
        weight *= z[a] - z[b]
    return weight


@njit(cache=True, nogil=True, error_model="numpy")
def quadratic(
    start, stop, offsets, scores, levels, starts, kind, scales, x, z, values, grad, curvature
):
    """``(1 - margin)^2``: of each level the number, the sum and the sum of squares suffice."""
    room = np.empty((3, longest_of(start, stop, levels)))
    for q in range(start, stop):
        low, high = levels[q], levels[q + 1]
        middle = np.mean(scores[offsets[q] : offsets[q + 1]])
        for a in range(low, high):
            total, squares = 0.0, 0.0
            for i in range(starts[a], starts[a + 1]):
                s = scores[i] - middle
                total += s
                squares += s * s
            room[0, a - low] = starts[a + 1] - starts[a]
            room[1, a - low] = total
            room[2, a - low] = squares
        loss = 0.0
        for a in range(low, high):
            below, sum_below, squares_below, above, sum_above = 0.0, 0.0, 0.0, 0.0, 0.0
            for b in range(low, a):
                w = weight_of(kind, scales[q], x, z, b, a)
                above += w * room[0, b - low]
                sum_above += w * room[1, b - low]
            for b in range(a + 1, high):
                w = weight_of(kind, scales[q], x, z, a, b)
                below += w * room[0, b - low]
                sum_below += w * room[1, b - low]
                squares_below += w * room[2, b - low]
            for i in range(starts[a], starts[a + 1]):
                s = scores[i] - middle
                short = 1.0 - s
                loss += short * (below * short + 2.0 * sum_below) + squares_below
                grad[i] = 2.0 * (above * (1.0 + s) - sum_above - below * short - sum_below)
                curvature[i] = 2.0 * (above + below)
        values[q] = loss


@njit(cache=True, nogil=True, error_model="numpy")
def hinge(
    start, stop, offsets, scores, levels, starts, kind, scales, x, z, values, grad, curvature
):
    """``max(0, 1 - margin)``, by one sort: in it, the rows too close to a better row are those from
    some place on, and that place only moves up.
    """
    longest = longest_of(start, stop, offsets)
    level_of, from_place = np.empty(longest, np.int64), np.empty(longest, np.int64)
    most = longest_of(start, stop, levels)
    counts, sums = np.empty(most), np.empty(most)
    for q in range(start, stop):
        first, size, low = offsets[q], offsets[q + 1] - offsets[q], levels[q]
        deep = levels[q + 1] - low
        own = scores[first : first + size]
        order = np.argsort(own)
        middle = np.mean(own)
        for a in range(deep):
            counts[a] = starts[low + a + 1] - starts[low + a]
            sums[a] = 0.0
            for i in range(starts[low + a], starts[low + a + 1]):
                level_of[i - first] = a
                sums[a] += scores[i] - middle
        loss, place = 0.0, 0
        for p in range(size):
            i = order[p]
            while own[order[place]] <= own[i] - 1.0:
                counts[level_of[order[place]]] -= 1.0
                sums[level_of[order[place]]] -= own[order[place]] - middle
                place += 1
            from_place[p] = place
            pull, short = 0.0, 1.0 - (own[i] - middle)
            for b in range(level_of[i] + 1, deep):
                if counts[b] > 0.0:
                    w = weight_of(kind, scales[q], x, z, low + level_of[i], low + b)
                    pull += w * counts[b]
                    loss += w * (counts[b] * short + sums[b])
            grad[first + i] = -pull
            curvature[first + i] = 0.0
        counts[:deep] = 0.0
        p = 0
        for place in range(size):
            j = order[place]
            while p < size and from_place[p] <= place:
                counts[level_of[order[p]]] += 1.0
                p += 1
            for a in range(level_of[j]):
                w = weight_of(kind, scales[q], x, z, low + a, low + level_of[j])
                grad[first + j] += w * counts[a]
        values[q] = loss


@njit(cache=True, nogil=True, error_model="numpy")
def exponential(
    start, stop, offsets, scores, levels, starts, kind, scales, x, z, values, grad, curvature
):
    """``exp(-margin)``: sums of exponentials per level suffice."""
    up, down = (
        np.empty(longest_of(start, stop, offsets)),
        np.empty(longest_of(start, stop, offsets)),
    )
    most = longest_of(start, stop, levels)
    ups, downs = np.empty(most), np.empty(most)
    for q in range(start, stop):
        first, last, low, high = offsets[q], offsets[q + 1], levels[q], levels[q + 1]
        least, greatest = extremes(scores, first, last)
        if not greatest - least <= STEEPEST:
            exponential_by_pairs(
                first, last, scores, low, high, starts, kind, scales[q], x, z, values[q : q + 1], grad,
                curvature,
            )  # fmt: skip
            continue
        middle = 0.5 * (least + greatest)
        for a in range(low, high):
            sum_up, sum_down = 0.0, 0.0
            for i in range(starts[a], starts[a + 1]):
                power = LOG2E * (scores[i] - middle)
                up[i - first], down[i - first] = exp2_of(-power), exp2_of(power)
                sum_up += up[i - first]
                sum_down += down[i - first]
            ups[a - low], downs[a - low] = sum_up, sum_down
        loss = 0.0
        for a in range(low, high):
            above, below = 0.0, 0.0
            for b in range(low, a):
                above += weight_of(kind, scales[q], x, z, b, a) * ups[b - low]
            for b in range(a + 1, high):
                below += weight_of(kind, scales[q], x, z, a, b) * downs[b - low]
            for i in range(starts[a], starts[a + 1]):
                as_better, as_worse = up[i - first] * below, down[i - first] * above
                loss += as_better
                grad[i] = as_worse - as_better
                curvature[i] = as_worse + as_better
        values[q] = loss


@njit(cache=True, nogil=True, error_model="numpy")
def exponential_by_pairs(
    first, last, scores, low, high, starts, kind, scale, x, z, value, grad, curvature
):
    """One query whose scores lie too far apart for factorised exponentials."""
    grad[first:last] = 0.0
    curvature[first:last] = 0.0
    loss = 0.0
    for a in range(low, high):
        for b in range(a + 1, high):
            w = weight_of(kind, scale, x, z, a, b)
            for i in range(starts[a], starts[a + 1]):
                for j in range(starts[b], starts[b + 1]):
                    behind = scores[j] - scores[i]
                    e = w * np.exp(min(behind, STEEPEST))
                    bent = e if behind <= STEEPEST else 0.0
                    loss += e + e * max(0.0, behind - STEEPEST)
                    grad[i] -= e
                    grad[j] += e
                    curvature[i] += bent
                    curvature[j] += bent
    value[0] = loss


@njit(cache=True, nogil=True)
def extremes(scores, first, last):
    """The least and the greatest score."""
    least = greatest = scores[first]
    for i in range(first, last):
        least, greatest = min(least, scores[i]), max(greatest, scores[i])
    return least, greatest


@njit(cache=True, nogil=True, error_model="numpy")
def logistic(
    start, stop, offsets, scores, levels, starts, kind, scales, x, z, values, grad, curvature
):
    """``log(1 + exp(-margin))``, as the logarithm of products of ``1 + e_j / e_i``."""
    powers = np.empty(longest_of(start, stop, offsets))
    for q in range(start, stop):
        first, last, low, high = offsets[q], offsets[q + 1], levels[q], levels[q + 1]
        grad[first:last] = 0.0
        curvature[first:last] = 0.0
        least, greatest = extremes(scores, first, last)
        near = greatest - least <= _SPAN
        middle = 0.5 * (least + greatest)
        # A factor is at most 1 + e^(greatest - least): so many have a finite product.
        many = int(_ROOM / (1.0 + LOG2E * min(greatest - least, _SPAN)))
        if near:
            for i in range(first, last):
                powers[i - first] = exp2_of(LOG2E * (scores[i] - middle))
        loss = 0.0
        for a in range(low, high):
            for b in range(a + 1, high):
                w = weight_of(kind, scales[q], x, z, a, b)
                if w == 0.0:
                    continue
                for i in range(starts[a], starts[a + 1]):
                    if near:
                        part = row_near(
                            powers, i, starts[b], starts[b + 1], first, many, w, grad, curvature
                        )
                    else:
                        part = row_far(scores, i, starts[b], starts[b + 1], w, grad, curvature)
                    loss += w * part
        values[q] = loss


@njit(cache=True, nogil=True, error_model="numpy")
def row_near(powers, i, left, right, first, many, w, grad, curvature):
    """The loss of row i against rows left..right - 1, by factorised exponentials."""
    total, pull, bend = 0.0, 0.0, 0.0
    over = 1.0 / powers[i - first]
    for begin in range(left, right, many):
        product = 1.0
        for j in range(begin, min(begin + many, right)):
            ratio = powers[j - first] * over
            factor = 1.0 + ratio
            product *= factor
            stays = 1.0 / factor
            falls = ratio * stays
            pull += falls
            bend += falls * stays
            grad[j] += w * falls
            curvature[j] += w * (falls * stays)
        total += np.log(product)
    grad[i] -= w * pull
    curvature[i] += w * bend
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def row_far(scores, i, left, right, w, grad, curvature):
    """The same with an exponential per pair, for scores of any distance."""
    total, pull, bend = 0.0, 0.0, 0.0
    for j in range(left, right):
        behind = scores[j] - scores[i]
        e = np.exp(-abs(behind))
        falls = (1.0 if behind > 0.0 else e) / (1.0 + e)
        slope = e / ((1.0 + e) * (1.0 + e))
        total += max(behind, 0.0) + np.log1p(e)
        pull += falls
        bend += slope
        grad[j] += w * falls
        curvature[j] += w * slope
    grad[i] -= w * pull
    curvature[i] += w * bend
    return total
