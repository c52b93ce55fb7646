# pyright: basic
"""The changes of a positional measure along a direction on one side of t = 0: levels of crossings.

Lines come in the order they have at t = 0. Where a lower line overtakes a higher one, as many lines
run above the point as there are places above the pair, its *level*; so a pair of neighbours changes the
value by drop_lower[level] - drop_upper[level], with drop[p] = share at p less share at p + 1. Levels are
counted in lanes, all lines against one point, for the pairs that need it:

    the lower line climbs faster, the gains differ, and fewer than k lines keep above one or the other
    all the way (they stand higher and climb no less).

Where sets of identical lines, *twins*, cross, each line of the lower set overtakes the whole upper set
before the next one does: twins that precede either line of a pair count as above the pair.

Levels are counted in float32, with a margin for rounding. If any other line comes within the margin, the
side is counted again in float64; and if that does not tell the lines apart either, as where lines meet
in one point, it is left to kernels/places.py, which is exact whatever meets, and several times slower.

A set of lines is an int64. `one` is an integer with a bit for each line: it says how wide the lanes are.
"""

import numpy as np
from numba import njit

from rankopt.kernels.lanes import (
    at,
    bits,
    load_set,
    lowest,
    ones,
    put,
    spread_like,
    whole,
    width_of,
)  # fmt: skip

MOST_LEVELS = 64  # lines
ROUNDING = np.float32(6e-8)  # of one operation
FINE_ROUNDING = 1.2e-16


@njit(cache=True, nogil=True, error_model="numpy")
def levels(
    side, n, A, B, rows, drops, k, near, far, room, fine_room, sets, event_t, event_d, n_events
):  # fmt: skip
    """Write the events of n lines with near < t < far; return their number and a total, or -1 and 0
    where lines meet in a point.

    Slopes `A` and times are those of the side: both change sign for the left one. `rows` are the
    positions of the lines' drops in `drops`. The total is what the side adds, going out from t = 0, to
    the value at the lower end of the bounds. `room`, `fine_room` and `sets` are (2, MOST_LEVELS)
    float32 and float64 and (5, MOST_LEVELS + 2) int64.
    """
    if n <= 16:
        one = np.uint16(1)
        n_pairs = crossing_pairs(one, n, A, B, rows, k, sets)
        done, total = count_levels(
            one, n_pairs, side, n, A, B, rows, drops, k, near, far, room, ROUNDING, sets,
            event_t, event_d, n_events,
        )  # fmt: skip
    elif n <= 32:
        two = np.uint32(1)
        n_pairs = crossing_pairs(two, n, A, B, rows, k, sets)
        done, total = count_levels(
            two, n_pairs, side, n, A, B, rows, drops, k, near, far, room, ROUNDING, sets,
            event_t, event_d, n_events,
        )  # fmt: skip
    else:
        four = np.uint64(1)
        n_pairs = crossing_pairs(four, n, A, B, rows, k, sets)
        done, total = count_levels(
            four, n_pairs, side, n, A, B, rows, drops, k, near, far, room, ROUNDING, sets,
            event_t, event_d, n_events,
        )  # fmt: skip
    if done < 0:
        done, total = count_levels(
            np.uint64(1), n_pairs, side, n, A, B, rows, drops, k, near, far, fine_room,
            FINE_ROUNDING, sets, event_t, event_d, n_events,
        )  # fmt: skip
    return done, total


@njit(cache=True, nogil=True, error_model="numpy")
def crossing_pairs(one, n, A, B, rows, k, sets):
    """Write the pairs whose level is to be counted, as sets of upper lines and their lower lines.

    Returns the number of pairs; two empty sets end the list. Also writes each line's set of twins, and
    how many of them precede it.
    """
    keeps, uppers, lowers, twins, before = sets[0], sets[1], sets[2], sets[3], sets[4]
    slopes, scores = load_set(A, 0, one), load_set(B, 0, one)
    for j in range(n):
        higher = (np.int64(1) << j) - 1
        put(keeps, j, bits(slopes >= spread_like(slopes, at(A, j))) & higher)
        put(twins, j, higher + 1)
        put(before, j, np.int64(0))
    everything = (np.int64(2) << (n - 1)) - 1
    if bits(scores == load_set(B, 1, one)) & (everything >> 1) != 0:
        for j in range(n):
            alike = slopes == spread_like(slopes, at(A, j))
            same = bits(alike & (scores == spread_like(scores, at(B, j)))) & everything
            put(twins, j, same)
            put(before, j, ones(same & ((np.int64(1) << j) - 1)))
    kept, gains = load_set(keeps, 0, one), load_set(rows, 0, one)
    limit = whole(kept, k)
    n_pairs, m = np.int64(0), np.int64(0)
    for j in range(n):
        keep, higher = at(keeps, j), (np.int64(1) << j) - 1
        few = ones(kept | whole(kept, keep)) < limit
        pairs = bits(few & (gains != whole(gains, at(rows, j)))) & higher & ~keep
        put(uppers, m, pairs)
        put(lowers, m, np.int64(j))
        m += pairs != 0
        n_pairs += ones(pairs)
    put(uppers, m, np.int64(0))
    put(uppers, m + 1, np.int64(0))
    return n_pairs


@njit(cache=True, nogil=True, error_model="numpy")
def count_levels(
    one, n_pairs, side, n, A, B, rows, drops, k, near, far, room, rounding, sets,
    event_t, event_d, n_events,
):  # fmt: skip
    """`levels` at one precision. The loop over pairs has no branches: none would be predictable."""
    uppers, lowers, twins, before = sets[1], sets[2], sets[3], sets[4]
    a, b = room[0], room[1]
    real = a.dtype.type
    # One line is taken off all: what remains is small where differences are, and rounds less.
    wide, high = 0.0, 0.0
    for i in range(n):
        slope, score = A[i] - A[0], B[i] - B[0]
        a[i], b[i] = slope, score
        wide, high = max(wide, abs(slope)), max(high, abs(score))
    for i in range(n, width_of(one)):
        a[i], b[i] = 0.0, -np.inf
    steep, margin = real(10.0 * wide) * rounding, real(6.0 * high) * rounding + real(1e-37)
    slopes, scores = load_set(a, 0, one), load_set(b, 0, one)
    backwards = -np.int64(side < 0.0)  # all ones where the side runs to the left
    total, meet, r = np.int64(0), np.int64(0), np.int64(0)
    pairs, coming = uppers[0], uppers[1]
    for _ in range(n_pairs):
        i, j = lowest(pairs), at(lowers, r)
        pairs &= pairs - 1
        through = np.int64(pairs == 0)
        pairs |= coming & -through
        r += through
        coming = at(uppers, r + 1)
        t = (at(B, i) - at(B, j)) / (at(A, j) - at(A, i))
        x = real(t)
        y, slack = at(b, i) + at(a, i) * x, margin + steep * x
        v = scores + slopes * spread_like(slopes, x)
        above = bits(v > spread_like(v, y + slack))
        meet |= above ^ bits(v >= spread_like(v, y - slack)) ^ (at(twins, i) | at(twins, j))
        level = ones(above) + at(before, i) + at(before, j)
        counts = (level - k) >> 63  # all ones where the level is less than k
        level &= counts
        change = at(drops, at(rows, j) + level) - at(drops, at(rows, i) + level)
        change &= counts & -np.int64(t < far)
        inside = np.int64(t > near)
        total += change & (backwards | (inside - 1))
        put(event_t, n_events, side * t + 0.0)
        put(event_d, n_events, (change ^ backwards) - backwards)
        n_events += inside & np.int64(change != 0)
    if meet != 0:
        return np.int64(-1), np.int64(0)
    return n_events, total
