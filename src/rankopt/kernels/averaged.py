# pyright: basic
"""The averaged form: the mean over cut-offs 1..m of the positional value divided by its ideal.

LETOR's MeanNDCG. The ideal at each cut-off is that of the same gains in descending order.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def values(start, stop, offsets, by_rank, table, out):
    """Write the value of each query."""
    for q in range(start, stop):
        gains = by_rank[offsets[q] : offsets[q + 1]]
        ideal = np.sort(gains)[::-1]
        total, reached, best = 0.0, 0.0, 0.0
        for p in range(gains.size):
            reached += gains[p] * table[p]
            best += ideal[p] * table[p]
            if best > 0.0:
                total += reached / best
        out[q] = total / gains.size


@njit(cache=True, nogil=True)
def averages(start, stop, offsets, by_rank, blocks, table, out):
    """Write the mean value over all orders of tied rows: a tied row earns its block's mean gain."""
    for q in range(start, stop):
        gains = by_rank[offsets[q] : offsets[q + 1]]
        block = blocks[offsets[q] : offsets[q + 1]]
        ideal = np.sort(gains)[::-1]
        mean = np.empty(gains.size)
        left = 0
        while left < gains.size:
            right = left
            while right < gains.size and block[right] == left:
                right += 1
            mean[left:right] = gains[left:right].mean()
            left = right
        total, reached, best = 0.0, 0.0, 0.0
        for p in range(gains.size):
            reached += mean[p] * table[p]
            best += ideal[p] * table[p]
            if best > 0.0:
                total += reached / best
        out[q] = total / gains.size
