# pyright: basic
"""The concordance form, ``sum_{p<r} sign(g[p] - g[r])``: Kendall's tau.

Counted in O(m log m) by a merge sort, so that queries of any size work.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def agreement(gains):
    """Pairs in descending order less pairs in ascending order of one list."""
    size = gains.size
    work = gains.copy()
    spare = np.empty(size)
    total = 0
    width = 1
    while width < size:
        for left in range(0, size, 2 * width):
            middle = min(left + width, size)
            right = min(left + 2 * width, size)
            below, equal_or_below = middle, middle
            for i in range(left, middle):  # both halves ascend
                while below < right and work[below] < work[i]:
                    below += 1
                while equal_or_below < right and work[equal_or_below] <= work[i]:
                    equal_or_below += 1
                total += (below - middle) - (right - equal_or_below)
            i, j = left, middle
            for p in range(left, right):
                if j >= right or (i < middle and work[i] <= work[j]):
                    spare[p] = work[i]
                    i += 1
                else:
                    spare[p] = work[j]
                    j += 1
        work, spare = spare, work
        width *= 2
    return total


@njit(cache=True, nogil=True)
def values(start, stop, offsets, by_rank, table, out):
    """Write the value of each query; `table` is not used."""
    for q in range(start, stop):
        out[q] = agreement(by_rank[offsets[q] : offsets[q + 1]])


@njit(cache=True, nogil=True)
def averages(start, stop, offsets, by_rank, blocks, table, out):
    """Write the mean value over all orders of tied rows: a tied pair counts nothing."""
    for q in range(start, stop):
        begin, stop_row = offsets[q], offsets[q + 1]
        total = agreement(by_rank[begin:stop_row])
        while begin < stop_row:
            end = begin
            while end < stop_row and blocks[end] == blocks[begin]:
                end += 1
            total -= agreement(by_rank[begin:end])
            begin = end
        out[q] = total


@njit(cache=True, nogil=True)
def sign(x):
    return int(x > 0.0) - int(x < 0.0)


@njit(cache=True, nogil=True)
def swaps(start, stop, offsets, by_rank, table, pair_offsets, out):
    """Write the change of value when the rows at places i < j trade places, (0,1), (0,2), ...

    The pair itself turns round, and so do both rows' pairs with every row between them. The sums over
    the rows between are carried along: once with i fixed and j falling, once with j fixed.
    """
    for q in range(start, stop):
        first, size, base = offsets[q], offsets[q + 1] - offsets[q], pair_offsets[q]
        for i in range(size):
            between = 0
            e = base + i * size - i * (i + 1) // 2
            for j in range(i + 1, size):
                pair = sign(by_rank[first + i] - by_rank[first + j])
                out[e] = -2.0 * (pair + between)
                between += pair
                e += 1
        for j in range(size):
            between = 0
            for i in range(j - 1, -1, -1):
                e = base + i * size - i * (i + 1) // 2 + (j - i - 1)
                out[e] -= 2.0 * between
                between += sign(by_rank[first + i] - by_rank[first + j])
