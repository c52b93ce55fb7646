# pyright: basic
"""Which rows of a query can reach the first k places anywhere along a direction.

Rows stand in order of score. To the right of t = 0 a row that stands lower and does not climb faster
never passes: a row with k such rows above it (its k-skyband does not hold it) never reaches the first
k places there. To the left the same holds with the direction turned round. With a bound on the step
the test is repeated with the scores at the bound in place of the slopes. Rows that survive on either
side are kept; the others cannot matter to a measure cut at k, nor to the places of the kept ones.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def keep_climbers(lower, upper, sign, k, best, keep):
    """Mark in `keep` the rows with fewer than k rows before them for which sign * lower >= sign * upper.

    `best` holds the k largest values seen so far, ascending.
    """
    best[:k] = -np.inf
    for p in range(upper.size):
        value = sign * upper[p]
        if value > best[0]:
            keep[p] = True
        low = sign * lower[p]
        if low > best[0]:
            r = 0
            while r + 1 < k and best[r + 1] < low:
                best[r] = best[r + 1]
                r += 1
            best[r] = low
    

@njit(cache=True, nogil=True, error_model="numpy")
def candidates(slopes, scores, k, lo, hi, best, keep, side, places):
    """Write the places of the rows to keep, ascending, and return their number."""
    size = slopes.size
    keep[:size] = False
    low, high = np.empty(size), np.empty(size)
    for sign in (1.0, -1.0):
        bound = hi if sign > 0.0 else lo
        if sign * bound <= 0.0:
            continue
        side[:size] = False
        keep_climbers(slopes, slopes, sign, k, best, side)
        if np.isfinite(bound):
            slack = 0.0
            for p in range(size):
                slack = max(slack, abs(scores[p]) + abs(bound * slopes[p]))
            slack *= 4.5e-16 * 4
            for p in range(size):
                at_bound = scores[p] + bound * slopes[p]
                low[p], high[p] = at_bound - slack, at_bound + slack
            near = np.zeros(size, np.bool_)
            keep_climbers(low, high, 1.0, k, best, near)
            side[:size] &= near
        keep[:size] |= side[:size]
    count = 0
    for p in range(size):
        if keep[p]:
            places[count] = p
            count += 1
    return count
