# pyright: basic
"""The Plackett-Luce family: along a line of scores, and the weighted losses of choices."""

import numpy as np
from numba import njit

from rankopt.kernels.exponential import LOG2E, exp2_of

_SPAN = 300.0  # scores that far apart still have finite exponentials, and squares of them


@njit(cache=True, nogil=True)
def slopes_along(start, stop, offsets, order, tops, scores, direction, t, out):
    """Write, per query, the derivative by t of its log-likelihood at ``scores + t * direction``.

    `order` lists the query's rows in the objective order, `tops` how many of its first places count:
    ``sum_j [s_j - log sum_{l >= j} exp s_l]``. Its derivative is the direction at each of those places
    less the direction's mean over the rows still to choose from.
    """
    for q in range(start, stop):
        first, size, top = offsets[q], offsets[q + 1] - offsets[q], tops[q]
        out[q] = 0.0
        if top == 0:
            continue
        highest = -np.inf
        for p in range(size):
            i = first + order[first + p]
            highest = max(highest, scores[i] + t * direction[i])
        mass = 0.0
        moment = 0.0
        total = 0.0
        for p in range(size - 1, -1, -1):
            i = first + order[first + p]
            weight = np.exp(scores[i] + t * direction[i] - highest)
            mass += weight
            moment += weight * direction[i]
            if p < top and mass > 0.0:
                total += direction[i] - moment / mass
        out[q] = total


@njit(cache=True, nogil=True)
def likelihoods(start, stop, offsets, order, tops, scores, out):
    """Write, per query, the log-likelihood whose slope along a line is that of `slopes_along`."""
    for q in range(start, stop):
        first, size, top = offsets[q], offsets[q + 1] - offsets[q], tops[q]
        out[q] = 0.0
        if top == 0:
            continue
        highest, mass = -np.inf, 0.0
        for p in range(size - 1, -1, -1):
            score = scores[first + order[first + p]]
            above = max(highest, score)
            mass = mass * np.exp(highest - above) + np.exp(score - above)
            highest = above
            if p < top:
                out[q] += score - highest - np.log(mass)


@njit(cache=True, nogil=True, error_model="numpy")
def choices(start, stop, offsets, scores, levels, starts, weights, shares, values, grad, curvature):
    """The weighted loss of choosing rows, each from those of its own level and of the levels after it.

    ``sum_i w_i (log sum_j exp s_j - s_i)`` over j in the level of i or later. `scores` come level by
    level: the levels of query q are ``levels[q]:levels[q + 1]``, the rows of level l are
    ``starts[l]:starts[l + 1]``. Writes loss, derivative and diagonal of the second derivative, times
    the query's share.
    """
    most = 0
    for q in range(start, stop):
        most = max(most, levels[q + 1] - levels[q])
    masses = np.empty(most)
    for q in range(start, stop):
        first, last, low, high = offsets[q], offsets[q + 1], levels[q], levels[q + 1]
        top = bottom = scores[first]
        for i in range(first, last):
            top, bottom = max(top, scores[i]), min(bottom, scores[i])
        if not top - bottom <= _SPAN:
            values[q] = choices_far(
                first, last, scores, low, high, starts, weights, shares[q], masses, grad, curvature
            )
            continue
        for i in range(first, last):
            grad[i] = exp2_of(LOG2E * (scores[i] - top))
        mass = 0.0
        for a in range(high - 1, low - 1, -1):
            for i in range(starts[a], starts[a + 1]):
                mass += grad[i]
            masses[a - low] = mass
        loss, pull, square = 0.0, 0.0, 0.0
        for a in range(low, high):
            weight = 0.0
            for i in range(starts[a], starts[a + 1]):
                weight += weights[i]
                loss -= weights[i] * (scores[i] - top)
            if weight > 0.0:
                loss += weight * np.log(masses[a - low])
                pull += weight / masses[a - low]
                square += weight / (masses[a - low] * masses[a - low])
            for i in range(starts[a], starts[a + 1]):
                e = grad[i]
                grad[i] = shares[q] * (e * pull - weights[i])
                curvature[i] = shares[q] * (e * pull - e * e * square)
        values[q] = shares[q] * loss


@njit(cache=True, nogil=True, error_model="numpy")
def choices_far(first, last, scores, low, high, starts, weights, share, logs, grad, curvature):
    """One query with scores of any distance: logarithms of sums, and ratios of sums."""
    top, mass = -np.inf, 0.0
    for a in range(high - 1, low - 1, -1):
        above = top
        for i in range(starts[a], starts[a + 1]):
            above = max(above, scores[i])
        mass *= np.exp(top - above)
        top = above
        for i in range(starts[a], starts[a + 1]):
            mass += np.exp(scores[i] - top)
        logs[a - low] = top + np.log(mass)
    loss, pull, square = 0.0, 0.0, 0.0
    for a in range(low, high):
        if a > low:
            shrink = np.exp(logs[a - low] - logs[a - 1 - low])
            pull *= shrink
            square *= shrink * shrink
        for i in range(starts[a], starts[a + 1]):
            pull += weights[i]
            square += weights[i]
            loss += weights[i] * (logs[a - low] - scores[i])
        for i in range(starts[a], starts[a + 1]):
            p = np.exp(scores[i] - logs[a - low])
            grad[i] = share * (p * pull - weights[i])
            curvature[i] = share * (p * pull - p * p * square)
    return share * loss
