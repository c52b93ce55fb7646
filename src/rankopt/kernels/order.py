# pyright: basic
"""Order of the rows of each query: score descending, then key ascending, then row ascending.

The key decides ties: gains ascending for pessimistic ties, negated for optimistic ones, ranks of
document identifiers, or zeros for the order of the rows.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def sort_rows(scores, keys, order):
    """Write the order of one query's rows into `order`."""
    order[:] = np.argsort(-scores, kind="mergesort")
    left = 0
    size = scores.size
    while left < size:
        right = left + 1
        while right < size and scores[order[right]] == scores[order[left]]:
            right += 1
        if right - left > 1:
            block = order[left:right].copy()
            order[left:right] = block[np.argsort(keys[block], kind="mergesort")]
        left = right


@njit(cache=True, nogil=True)
def orders(start, stop, offsets, scores, keys, out):
    """Write, place by place, the row (counted within its query) that stands there."""
    for q in range(start, stop):
        rows = slice(offsets[q], offsets[q + 1])
        sort_rows(scores[rows], keys[rows], out[rows])


@njit(cache=True, nogil=True)
def gains_by_rank(start, stop, offsets, scores, keys, gains, rank_offsets, out):
    """Write the gains of the first ``rank_offsets[q + 1] - rank_offsets[q]`` ranks of each query.

    Short prefixes are kept sorted by insertion while the rows pass by; most rows fail the one
    comparison with the last of them. Long prefixes are cut from a full sort.
    """
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        base, depth = rank_offsets[q], rank_offsets[q + 1] - rank_offsets[q]
        if depth > 64:
            order = np.empty(size, np.int64)
            rows = slice(first, first + size)
            sort_rows(scores[rows], keys[rows], order)
            for p in range(depth):
                out[base + p] = gains[first + order[p]]
            continue
        best = np.empty(depth)
        best_keys = np.empty(depth)
        filled = 0
        for i in range(first, first + size):
            score = scores[i]
            if filled == depth:
                if score < best[depth - 1]:
                    continue
                if score == best[depth - 1] and keys[i] >= best_keys[depth - 1]:
                    continue
                p = depth - 1
            else:
                p = filled
                filled += 1
            key = keys[i]
            while p > 0 and (best[p - 1] < score or (best[p - 1] == score and best_keys[p - 1] > key)):
                best[p] = best[p - 1]
                best_keys[p] = best_keys[p - 1]
                out[base + p] = out[base + p - 1]
                p -= 1
            best[p] = score
            best_keys[p] = key
            out[base + p] = gains[i]


@njit(cache=True, nogil=True)
def tie_blocks(start, stop, offsets, scores, order, out):
    """Write, place by place, the first place of the block of equal scores it belongs to."""
    for q in range(start, stop):
        first = offsets[q]
        for p in range(offsets[q + 1] - first):
            tied = p > 0 and scores[first + order[first + p]] == scores[first + order[first + p - 1]]
            out[first + p] = out[first + p - 1] if tied else p


@njit(cache=True, nogil=True)
def pick(start, stop, offsets, values, order, out):
    """Write `values` in ranked order."""
    for q in range(start, stop):
        first = offsets[q]
        for p in range(first, offsets[q + 1]):
            out[p] = values[first + order[p]]
