# pyright: basic
"""The positional form, ``sum_p g[p] D[p]``: DCG, NDCG, precision, recall, RBP."""

from numba import njit


@njit(cache=True, nogil=True)
def values(start, stop, offsets, by_rank, table, out):
    """Write the value of each query."""
    for q in range(start, stop):
        first = offsets[q]
        total = 0.0
        for p in range(offsets[q + 1] - first):
            total += by_rank[first + p] * table[p]
        out[q] = total


@njit(cache=True, nogil=True)
def averages(start, stop, offsets, by_rank, blocks, table, out):
    """Write the mean value over all orders of tied rows: a tied row earns its block's mean gain."""
    for q in range(start, stop):
        first, stop_row = offsets[q], offsets[q + 1]
        total = 0.0
        left = first
        while left < stop_row:
            right = left
            gain = 0.0
            discount = 0.0
            while right < stop_row and blocks[right] == blocks[left]:
                gain += by_rank[right]
                discount += table[right - first]
                right += 1
            total += gain * discount / (right - left)
            left = right
        out[q] = total


@njit(cache=True, nogil=True)
def slopes(start, stop, offsets, by_rank, table, out):
    """Write the derivative of each query's value by the gain at each place."""
    for q in range(start, stop):
        for p in range(offsets[q + 1] - offsets[q]):
            out[offsets[q] + p] = table[p]


@njit(cache=True, nogil=True)
def swaps(start, stop, offsets, by_rank, table, pair_offsets, out):
    """Write the change of value when the rows at places i < j trade places, (0,1), (0,2), ..."""
    for q in range(start, stop):
        first, size, e = offsets[q], offsets[q + 1] - offsets[q], pair_offsets[q]
        for i in range(size):
            for j in range(i + 1, size):
                out[e] = (by_rank[first + j] - by_rank[first + i]) * (table[i] - table[j])
                e += 1
