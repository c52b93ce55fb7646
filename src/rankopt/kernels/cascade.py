# pyright: basic
"""The cascade form, ``sum_p D[p] g[p] prod_{r<p} (1 - g[r])``: ERR, reciprocal rank, success.

A user walks down the list and stops at place p with chance ``g[p]``; `reach` is the chance to arrive.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def values(start, stop, offsets, by_rank, table, out):
    """Write the value of each query."""
    for q in range(start, stop):
        first = offsets[q]
        total = 0.0
        reach = 1.0
        for p in range(offsets[q + 1] - first):
            total += reach * by_rank[first + p] * table[p]
            reach *= 1.0 - by_rank[first + p]
            if reach == 0.0:
                break
        out[q] = total


@njit(cache=True, nogil=True)
def averages(start, stop, offsets, by_rank, blocks, table, out):
    """Write the mean value over all orders of tied rows.

    In a block of n tied rows, ``left[j]`` is the mean over all j-subsets of the chance to pass them,
    built up row by row; the stop at the block's place j has chance ``left[j] - left[j + 1]``.
    """
    for q in range(start, stop):
        first, stop_row = offsets[q], offsets[q + 1]
        total = 0.0
        reach = 1.0
        begin = first
        while begin < stop_row and reach > 0.0:
            end = begin
            while end < stop_row and blocks[end] == blocks[begin]:
                end += 1
            n = end - begin
            left = np.zeros(n + 1)
            left[0] = 1.0
            for i in range(1, n + 1):
                through = 1.0 - by_rank[begin + i - 1]
                for j in range(i, 0, -1):
                    left[j] = (left[j] * (i - j) + left[j - 1] * through * j) / i
            for j in range(n):
                total += reach * (left[j] - left[j + 1]) * table[begin - first + j]
            reach *= left[n]
            begin = end
        out[q] = total


@njit(cache=True, nogil=True)
def slopes(start, stop, offsets, by_rank, table, out):
    """Write the derivative of each query's value by the gain at each place.

    A larger gain at p earns more there and starves the places below: ``reach[p] (D[p] - rest)``,
    where ``rest`` is the value of the list below p for a user who has just arrived there.
    """
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        rest = 0.0
        for p in range(size - 1, -1, -1):
            out[first + p] = table[p] - rest
            rest = by_rank[first + p] * table[p] + (1.0 - by_rank[first + p]) * rest
        reach = 1.0
        for p in range(size):
            out[first + p] *= reach
            reach *= 1.0 - by_rank[first + p]


@njit(cache=True, nogil=True)
def swaps(start, stop, offsets, by_rank, table, pair_offsets, out):
    """Write the change of value when the rows at places i < j trade places, (0,1), (0,2), ...

    `middle` is the value of the places between for a user who enters them, `through` the chance to
    pass them. Below j nothing changes, as the product of all chances up to there stays.
    """
    for q in range(start, stop):
        first, size, e = offsets[q], offsets[q + 1] - offsets[q], pair_offsets[q]
        reach = 1.0
        for i in range(size):
            upper = by_rank[first + i]
            middle = 0.0
            through = 1.0
            for j in range(i + 1, size):
                lower = by_rank[first + j]
                before = table[i] * upper + (1.0 - upper) * (middle + through * table[j] * lower)
                after = table[i] * lower + (1.0 - lower) * (middle + through * table[j] * upper)
                out[e] = reach * (after - before)
                e += 1
                middle += through * table[j] * lower
                through *= 1.0 - lower
            reach *= 1.0 - upper
