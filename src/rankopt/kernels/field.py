# pyright: basic
"""The random field of grades, ``P(r) ~ exp(gamma sum_{i<j} sign(r_i - r_j) (s_i - s_j))``."""

import numpy as np
from numba import njit

from rankopt.kernels.exponential import LOG2E, decay, exp2_of
from rankopt.kernels.order import longest_of
from rankopt.kernels.pairs import extremes, weight_of

_SPAN = 300.0  # coupled scores that far apart still have finite factorised exponentials
_ROOM = 1000.0  # powers of two that a product of factors may reach before its logarithm is taken


@njit(cache=True, nogil=True, error_model="numpy")
def pseudo_likelihood(
    start,
    stop,
    offsets,
    scores,
    grades,
    n_grades,
    weights,
    couplings,
    shares,
    values,
    grad,
    curvature,
):
    """``-sum_i w_i log P(r_i | the other grades)``, in O(m n_grades).

    Given the others, row i has grade a with a probability in proportion to the exponential of
    ``gamma sum_j sign(a - r_j) (s_i - s_j)``, and that is ``gamma (s_i lead[a] - tilt[a])`` with two sums
    over the query.
    """
    counts, sums = np.empty(n_grades), np.empty(n_grades)
    lead, tilt, powers = np.empty(n_grades), np.empty(n_grades), np.empty(n_grades)
    pulls, spreads = np.empty(n_grades), np.empty(n_grades)
    for q in range(start, stop):
        first, last, gamma = offsets[q], offsets[q + 1], couplings[q]
        middle = np.mean(scores[first:last])
        counts[:], sums[:], pulls[:], spreads[:] = 0.0, 0.0, 0.0, 0.0
        for j in range(first, last):
            counts[grades[j]] += 1.0
            sums[grades[j]] += scores[j] - middle
        signed(counts, lead)
        signed(sums, tilt)
        loss = 0.0
        for i in range(first, last):
            s, own, w = scores[i] - middle, grades[i], shares[q] * weights[i]
            top = -np.inf
            for a in range(n_grades):
                powers[a] = gamma * (s * lead[a] - tilt[a])
                top = max(top, powers[a])
            total = 0.0
            mine = powers[own]
            for a in range(n_grades):
                powers[a] = decay(top - powers[a])
                total += powers[a]
            loss += w * (top + np.log(total) - mine)
            share, strength = 1.0 / total, w * gamma
            slope, mean, square, below = 0.0, 0.0, 0.0, 0.0
            for a in range(n_grades):
                p = powers[a] * share
                change = strength * (p - (a == own))
                slope += change * lead[a]
                pulls[a] += change
                free = lead[a] - ((a > own) - 1.0 * (a < own))
                mean += p * free
                square += p * free * free
                powers[a] = p
            grad[i] = slope
            # As one of the others a row of grade b varies with sign(a - b), whose law has three values.
            curvature[i] = square - mean * mean
            for b in range(n_grades):
                above = 1.0 - below - powers[b]
                spread = above + below - (above - below) * (above - below)
                spreads[b] += w * spread
                if b == own:
                    curvature[i] -= spread
                below += powers[b]
            curvature[i] *= w
        signed(pulls, tilt)
        for j in range(first, last):
            grad[j] += tilt[grades[j]]
            curvature[j] = gamma * gamma * (curvature[j] + spreads[grades[j]])
        values[q] = loss


@njit(cache=True, nogil=True)
def signed(values, out):
    """Write what is below each place less what is above it: ``sum_b sign(a - b) values[b]``."""
    total = values.sum()
    below = 0.0
    for a in range(values.size):
        out[a] = below - (total - below - values[a])
        below += values[a]


@njit(cache=True, nogil=True, error_model="numpy")
def pair_upper_bound(
    start, stop, offsets, scores, levels, starts, kind, scales, x, z, couplings, n_grades, values, grad,
    curvature,
):  # fmt: skip
    """``-sum_{i<j} w_ij log Q(r_i, r_j)``, pairs of equal grade included where they have a weight.

    ``log Q = gamma (s_i - s_j) - log(L + c (e^d + e^-d))`` with ``d = gamma (s_i - s_j)`` and
    ``c = L (L - 1) / 2``; a pair of equal grade lacks the first term. `scores` come level by level.
    """
    powers = np.empty(longest_of(start, stop, offsets))
    flat, steep = float(n_grades), 0.5 * n_grades * (n_grades - 1)
    for q in range(start, stop):
        first, last, gamma = offsets[q], offsets[q + 1], couplings[q]
        grad[first:last] = 0.0
        curvature[first:last] = 0.0
        least, greatest = extremes(scores, first, last)
        span = gamma * (greatest - least)
        near = span <= _SPAN
        middle = 0.5 * (least + greatest)
        # A factor is at most L^2 e^span.
        many = int(_ROOM / (2.0 * np.log2(flat) + 1.0 + LOG2E * min(span, _SPAN)))
        if near:
            for i in range(first, last):
                powers[i - first] = exp2_of(LOG2E * gamma * (scores[i] - middle))
        loss = 0.0
        for a in range(levels[q], levels[q + 1]):
            for b in range(a, levels[q + 1]):
                w = weight_of(kind, scales[q], x, z, a, b)
                if w == 0.0:
                    continue
                sign = 0.0 if a == b else 1.0
                for i in range(starts[a], starts[a + 1]):
                    left = i + 1 if a == b else starts[b]
                    loss += w * bound_of_row(
                        scores, powers, i, left, starts[b + 1], first, near, many, gamma, sign, flat,
                        steep, w, grad, curvature,
                    )  # fmt: skip
        values[q] = loss


@njit(cache=True, nogil=True, error_model="numpy")
def bound_of_row(
    scores, powers, i, left, right, first, near, many, gamma, sign, flat, steep, w, grad, curvature
):
    """The unweighted loss of row i with rows left..right - 1."""
    total, pull, bend = 0.0, 0.0, 0.0
    for begin in range(left, right, many):
        product = 1.0
        for j in range(begin, min(begin + many, right)):
            if near:
                up = powers[i - first] / powers[j - first]
                down = 1.0 / up
                mass = flat + steep * (up + down)
                product *= mass
            else:  # all by the greater of the two exponentials, whose logarithm is added apart
                d = gamma * (scores[i] - scores[j])
                far = np.exp(-abs(d))
                up = 1.0 if d > 0.0 else far * far
                down = far * far if d > 0.0 else 1.0
                mass = flat * far + steep * (up + down)
                product *= mass
                total += abs(d)
            slope = steep * (up - down) / mass
            curve = steep * (up + down) / mass - slope * slope
            total -= sign * gamma * (scores[i] - scores[j])
            step = gamma * (slope - sign)
            pull += step
            bend += gamma * gamma * curve
            grad[j] -= w * step
            curvature[j] += w * gamma * gamma * curve
        total += np.log(product)
    grad[i] += w * pull
    curvature[i] += w * bend
    return total
