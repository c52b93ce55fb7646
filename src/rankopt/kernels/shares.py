# pyright: basic
"""What each row of a ranked list adds to the value of its query, in int64 fixed point.

A measure of the first three forms is a sum over rows, and the share of a row follows from its gain,
its place and one sum over the rows above it:

    positional   g D[p]
    cascade      g D[p] exp2(-above)      `above` sums the loads -log2(1 - g) of the rows above
    cumulative   g D[p] (above + g)       `above` sums the gains of the rows above

Loads are int64 multiples of `unit`, and a share is rounded to an int64 once. So shares are a function
of integers: sums are associative, changes telescope without drift, and a value that a line search
predicts equals the value of a fresh evaluation bit for bit.

Concordance is a sum over pairs: an int64 per query times a count.
"""

import numpy as np
from numba import njit

from rankopt.kernels.codes import CASCADE, CONCORDANCE, POSITIONAL
from rankopt.kernels.concordance import agreement
from rankopt.kernels.order import sort_rows

SHORT = 64  # cut-offs up to here are filled by insertion while the rows pass by


@njit(cache=True, nogil=True, error_model="numpy")
def share(form, gain, load, above, discount, unit):
    """The share of one row; `discount` is that of its place times the scale of its query."""
    if form == POSITIONAL:
        return np.int64(np.rint(gain * discount))
    if form == CASCADE:
        return np.int64(np.rint(gain * discount * np.exp2(-unit * above)))
    return np.int64(np.rint(gain * discount * (unit * (above + load))))


@njit(cache=True, nogil=True, error_model="numpy")
def ranked_total(gains, loads, scale, table, k, form, unit):
    """The total of one list whose first ranks are given in order (all of them for concordance)."""
    if form == CONCORDANCE:
        return np.int64(np.rint(scale)) * agreement(gains)
    total = np.int64(0)
    above = np.int64(0)
    for p in range(min(k, gains.size)):
        total += share(form, gains[p], loads[p], above, scale * table[p], unit)
        above += loads[p]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def totals(start, stop, offsets, scores, gains, loads, scales, table, k, form, unit, out):
    """Write the total of each query: score descending, among equal scores gain ascending."""
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        out[q] = 0
        if scales[q] == 0.0:
            continue
        rows = slice(first, first + size)
        depth = size if form == CONCORDANCE else min(k, size)
        if depth <= SHORT:
            chosen = top_rows(scores[rows], gains[rows], depth)
        else:
            chosen = np.empty(size, np.int64)
            sort_rows(scores[rows], gains[rows], chosen)
            chosen = chosen[:depth]
        out[q] = ranked_total(
            gains[rows][chosen], loads[rows][chosen], scales[q], table, k, form, unit
        )


@njit(cache=True, nogil=True)
def top_rows(scores, gains, depth):
    """The first `depth` rows in order, by insertion: most rows fail one comparison with the last."""
    best = np.empty(depth, np.int64)
    filled = 0
    for i in range(scores.size):
        if filled == depth:
            last = best[depth - 1]
            if scores[i] < scores[last] or (scores[i] == scores[last] and gains[i] >= gains[last]):
                continue
            p = depth - 1
        else:
            p = filled
            filled += 1
        while p > 0:
            j = best[p - 1]
            if scores[j] > scores[i] or (scores[j] == scores[i] and gains[j] <= gains[i]):
                break
            best[p] = j
            p -= 1
        best[p] = i
    return best
