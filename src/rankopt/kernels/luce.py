# pyright: basic
"""The Plackett-Luce likelihood of the ideal order along a line of scores."""

import numpy as np
from numba import njit


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
