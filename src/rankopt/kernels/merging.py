# pyright: basic
"""Loss-augmented rankings where rows have one of two gains: the best merge of two sorted lists.

Rows of one gain are interchangeable to the measure, so among themselves they stand by score. What the
kernels write is as in `assignment`.
"""

import numpy as np
from numba import njit

from rankopt.kernels.assignment import share
from rankopt.kernels.codes import CASCADE, CUMULATIVE
from rankopt.kernels.order import sort_rows


@njit(cache=True, nogil=True)
def split(scores, gains):
    """The relevant rows and the others, each in descending order of score; prefix sums of the former."""
    order = np.empty(scores.size, np.int64)
    sort_rows(scores, gains, order)
    relevant = order[gains[order] > 0.0]
    others = order[gains[order] == 0.0]
    sums = np.zeros(relevant.size + 1)
    for i in range(relevant.size):
        sums[i + 1] = sums[i] + scores[relevant[i]]
    return order, relevant, others, sums


@njit(cache=True, nogil=True)
def earned(gain, above, place, table, form):
    """The raw value that a relevant row adds at a place with so many relevant rows above it."""
    if form == CUMULATIVE:
        return gain * gain * (above + 1.0) * table[place]
    if form == CASCADE:
        return gain * (1.0 - gain) ** above * table[place]
    return gain * table[place]


@njit(cache=True, nogil=True)
def merged_worst(
    start, stop, offsets, scores, gains, scales, positions, table, depth, form, pairs, values, out
):
    """Any form: dynamic programming, as what the next row adds depends only on how many of each kind
    stand above it.
    """
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        out[first : first + size] = 0.0
        values[q] = 0.0
        if scales[q] == 0.0:
            continue
        s = scores[first : first + size]
        g = gains[first : first + size]
        order, relevant, others, sums = split(s, g)
        gain = g[relevant[0]]
        places = size if pairs else min(depth, size)
        n, m = min(places, relevant.size), min(places, others.size)
        unit = 1.0 / (relevant.size * others.size)
        best = np.full((n + 1, m + 1), -np.inf)
        took = np.zeros((n + 1, m + 1), np.bool_)  # whether the last row is a relevant one
        best[0, 0] = 0.0
        for i in range(n + 1):
            for j in range(min(m, places - i) + 1):
                p = i + j - 1
                if i > 0:
                    step = -scales[q] * earned(gain, i - 1, p, table, form)
                    step += 0.0 if pairs else positions[p] * s[relevant[i - 1]]
                    best[i, j] = best[i - 1, j] + step
                    took[i, j] = True
                if j > 0:
                    if pairs:
                        step = (
                            2.0 * sums[i] - sums[-1] - (2.0 * i - relevant.size) * s[others[j - 1]]
                        )
                        step *= unit
                    else:
                        step = positions[p] * s[others[j - 1]]
                    if best[i, j - 1] + step > best[i, j]:
                        best[i, j] = best[i, j - 1] + step
                        took[i, j] = False
        i = max(0, places - m)
        for other in range(i + 1, min(n, places) + 1):
            if best[other, places - other] > best[i, places - i]:
                i = other
        j = places - i
        while i + j > 0:
            p = i + j - 1
            if took[i, j]:
                i -= 1
                values[q] += earned(gain, i, p, table, form)
                coefficient = unit * (others.size - 2.0 * j) if pairs else positions[p]
                out[first + relevant[i]] = coefficient
            else:
                j -= 1
                coefficient = unit * (relevant.size - 2.0 * i) if pairs else positions[p]
                out[first + others[j]] = coefficient
        share(order, s, g, out[first : first + size])


@njit(cache=True, nogil=True)
def greedy_worst(start, stop, offsets, scores, gains, scales, table, values, out):
    """Average precision by pairs: each row that is not relevant finds its place by itself.

    The j-th of them, by score, pushes the relevant rows below it down by one place. How much that
    costs does not depend on where the others stand, and the best places come in order.
    """
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        out[first : first + size] = 0.0
        values[q] = 0.0
        if scales[q] == 0.0:
            continue
        s = scores[first : first + size]
        g = gains[first : first + size]
        order, relevant, others, sums = split(s, g)
        n, m = relevant.size, others.size
        gain, unit = g[relevant[0]], 1.0 / (n * m)
        above = np.zeros(n + 1, np.int64)  # how many others stand just above relevant row i
        least = 0
        for j in range(m):
            lost = 0.0
            best, where = -np.inf, n
            for i in range(n, least - 1, -1):
                if i < n:
                    lost += gain * gain * (i + 1.0) * (table[i + j] - table[i + j + 1])
                set_right = 2.0 * sums[i] - sums[n] - (2.0 * i - n) * s[others[j]]
                if scales[q] * lost + unit * set_right > best:
                    best, where = scales[q] * lost + unit * set_right, i
            out[first + others[j]] = unit * (n - 2.0 * where)
            above[where] += 1
            least = where
        passed = 0
        for i in range(n):
            passed += above[i]
            values[q] += earned(gain, i, i + passed, table, CUMULATIVE)
            out[first + relevant[i]] = unit * (m - 2.0 * passed)
        share(order, s, g, out[first : first + size])
