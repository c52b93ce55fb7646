# pyright: basic
"""The cumulative form, ``sum_p D[p] g[p] sum_{r<=p} g[r]``: average precision and graded variants."""

from numba import njit


@njit(cache=True, nogil=True)
def values(start, stop, offsets, by_rank, table, out):
    """Write the value of each query."""
    for q in range(start, stop):
        first = offsets[q]
        total = 0.0
        seen = 0.0
        for p in range(offsets[q + 1] - first):
            gain = by_rank[first + p]
            if gain != 0.0:
                seen += gain
                total += gain * seen * table[p]
        out[q] = total


@njit(cache=True, nogil=True)
def averages(start, stop, offsets, by_rank, blocks, table, out):
    """Write the mean value over all orders of tied rows.

    At the block's place j, counted from 0, a row has mean gain S/n, mean squared gain Q/n, and each
    of the j rows of the block above it a mean product of gains (S^2 - Q) / (n (n - 1)).
    """
    for q in range(start, stop):
        first, stop_row = offsets[q], offsets[q + 1]
        total = 0.0
        seen = 0.0
        begin = first
        while begin < stop_row:
            end = begin
            linear = 0.0
            squares = 0.0
            while end < stop_row and blocks[end] == blocks[begin]:
                linear += by_rank[end]
                squares += by_rank[end] ** 2
                end += 1
            n = end - begin
            product = (linear * linear - squares) / (n * (n - 1.0)) if n > 1 else 0.0
            for j in range(n):
                mean = (linear * seen + squares) / n + j * product
                total += table[begin - first + j] * mean
            seen += linear
            begin = end
        out[q] = total


@njit(cache=True, nogil=True)
def slopes(start, stop, offsets, by_rank, table, out):
    """Write the derivative of each query's value by the gain at each place.

    A gain counts at its own place (with all gains so far, itself twice) and in every sum below.
    """
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        below = 0.0
        for p in range(size - 1, -1, -1):
            out[first + p] = below
            below += table[p] * by_rank[first + p]
        seen = 0.0
        for p in range(size):
            seen += by_rank[first + p]
            out[first + p] += table[p] * (seen + by_rank[first + p])


@njit(cache=True, nogil=True)
def swaps(start, stop, offsets, by_rank, table, pair_offsets, out):
    """Write the change of value when the rows at places i < j trade places, (0,1), (0,2), ...

    All sums from i to j - 1 grow by the same ``lower - upper``; those from j on stay.
    """
    for q in range(start, stop):
        first, size, e = offsets[q], offsets[q + 1] - offsets[q], pair_offsets[q]
        seen = 0.0
        for i in range(size):
            upper = by_rank[first + i]
            middle = 0.0
            seen_j = seen + upper
            for j in range(i + 1, size):
                lower = by_rank[first + j]
                more = lower - upper
                seen_j += lower
                here = lower * (seen + lower) - upper * (seen + upper)
                out[e] = table[i] * here + more * middle - table[j] * more * seen_j
                e += 1
                middle += table[j] * lower
            seen += upper
