# pyright: basic
"""Order of the rows of each query: score descending, then key ascending, then row ascending.

The key decides ties: gains ascending for pessimistic ties, negated for optimistic ones, ranks of
document identifiers, or zeros for the order of the rows.
"""

import numpy as np
from numba import njit

COUNTED = 128  # lists up to this size are sorted by counting, longer ones by merging
WIDTH = 8  # a multiple of the numbers in a vector register


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
def longest_of(start, stop, offsets):
    """The rows of the longest query."""
    longest = 0
    for q in range(start, stop):
        longest = max(longest, offsets[q + 1] - offsets[q])
    return longest


@njit(cache=True, nogil=True)
def count_above(values, size, places):
    """Count for each value how many are greater; return whether all differ. Pads `values`.

    Quadratic and yet the fastest for short lists: the inner loop has no branch and, as it always
    goes through whole vectors, no remainder.
    """
    padded = (size + WIDTH - 1) // WIDTH * WIDTH
    for i in range(size, padded):
        values[i] = -np.inf
    total = 0
    for i in range(size):
        value = values[i]
        above = 0
        for j in range(padded):
            above += values[j] > value
        places[i] = above
        total += above
    return total == size * (size - 1) // 2


@njit(cache=True, nogil=True)
def lanes_for(depth):
    """How many lanes `floor_of` deals the values to: a quarter more than the depth, or more."""
    lanes = 16
    while 4 * lanes < 5 * depth:
        lanes *= 2
    return lanes


@njit(cache=True, nogil=True)
def floor_of(values, first, size, depth, lanes, maxima, places):
    """A value that at least `depth` of the values reach, but few more.

    The values are dealt to lanes, and of the maxima of the lanes the depth-th largest is taken.
    """
    for lane in range(lanes):
        maxima[lane] = values[first + lane]
    for left in range(lanes, size, lanes):
        for lane in range(min(lanes, size - left)):
            maxima[lane] = max(maxima[lane], values[first + left + lane])
    count_above(maxima, lanes, places)
    floor = np.inf
    for lane in range(lanes):
        if places[lane] < depth and maxima[lane] < floor:
            floor = maxima[lane]
    return floor


@njit(cache=True, nogil=True)
def break_ties(places, keys, rows, size, key_at, row_at, taken):
    """Tell equal places apart: the lower key comes first, then the earlier row."""
    for i in range(size):
        taken[i] = 0
        row_at[i] = i  # NaN have no place: without this an empty one would point anywhere
    for i in range(size):
        place, key = places[i], keys[rows[i]]
        p = place + taken[place]
        taken[place] += 1
        while p > place and key_at[p - 1] > key:
            key_at[p], row_at[p] = key_at[p - 1], row_at[p - 1]
            p -= 1
        key_at[p], row_at[p] = key, i
    for p in range(size):
        places[row_at[p]] = p


@njit(cache=True, nogil=True)
def gains_by_rank(start, stop, offsets, scores, keys, gains, rank_offsets, out):
    """Write the gains of the first ``rank_offsets[q + 1] - rank_offsets[q]`` ranks of each query.

    Of a long query only the rows that reach `floor_of` its scores are sorted.
    """
    room = longest_of(start, stop, offsets) + WIDTH
    picked, by_rank = np.empty(room), np.empty(room)
    rows, places = np.empty(room, np.int64), np.empty(room, np.int64)
    row_at, taken = np.empty(room, np.int64), np.empty(room, np.int64)
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        base, depth = rank_offsets[q], rank_offsets[q + 1] - rank_offsets[q]
        lanes = lanes_for(depth)
        kept = 0
        if 2 * lanes <= size and lanes <= COUNTED:
            floor = floor_of(scores, first, size, depth, lanes, by_rank, places)
            for i in range(first, first + size):
                rows[kept] = i
                kept += scores[i] >= floor
            for i in range(kept):
                picked[i] = scores[rows[i]]
        else:
            for i in range(size):
                rows[i] = first + i
                picked[i] = scores[first + i]
            kept = size
        if kept > COUNTED:
            sort_rows(picked[:kept], keys[rows[:kept]], places[:kept])
            for p in range(depth):
                out[base + p] = gains[rows[places[p]]]
            continue
        if not count_above(picked, kept, places):
            break_ties(places, keys, rows, kept, by_rank, row_at, taken)
        for i in range(kept):
            by_rank[places[i]] = gains[rows[i]]
        for p in range(depth):
            out[base + p] = by_rank[p]


@njit(cache=True, nogil=True)
def best_gains(start, stop, offsets, gains, rank_offsets, out):
    """Write the largest ``rank_offsets[q + 1] - rank_offsets[q]`` gains of each query, descending.

    Equal gains share a place when counted; the places after it that stay empty are theirs too.
    """
    room = longest_of(start, stop, offsets) + WIDTH
    picked, by_rank, places = np.empty(room), np.empty(room), np.empty(room, np.int64)
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        base, depth = rank_offsets[q], rank_offsets[q + 1] - rank_offsets[q]
        lanes = lanes_for(depth)
        floor, kept = -np.inf, 0
        if 2 * lanes <= size and lanes <= COUNTED:
            floor = floor_of(gains, first, size, depth, lanes, by_rank, places)
            for i in range(first, first + size):
                picked[kept] = gains[i]
                kept += gains[i] > floor
        else:
            for i in range(size):
                picked[i] = gains[first + i]
            kept = size
        filled = min(kept, depth)
        if kept > COUNTED:
            by_rank[:filled] = np.sort(-picked[:kept])[:filled]
            for p in range(filled):
                out[base + p] = -by_rank[p]
        else:
            count_above(picked, kept, places)
            for p in range(filled):
                by_rank[p] = np.inf
            for i in range(kept):
                by_rank[places[i]] = picked[i]
            gain = floor
            for p in range(filled):
                gain = gain if by_rank[p] == np.inf else by_rank[p]
                out[base + p] = gain
        for p in range(filled, depth):
            out[base + p] = floor


@njit(cache=True, nogil=True)
def tie_blocks(start, stop, offsets, scores, order, out):
    """Write, place by place, the first place of the block of equal scores it belongs to."""
    for q in range(start, stop):
        first = offsets[q]
        for p in range(offsets[q + 1] - first):
            tied = (
                p > 0 and scores[first + order[first + p]] == scores[first + order[first + p - 1]]
            )
            out[first + p] = out[first + p - 1] if tied else p


@njit(cache=True, nogil=True)
def pick(start, stop, offsets, values, order, out):
    """Write `values` in ranked order."""
    for q in range(start, stop):
        first = offsets[q]
        for p in range(first, offsets[q + 1]):
            out[p] = values[first + order[p]]
