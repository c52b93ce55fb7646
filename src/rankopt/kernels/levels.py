# pyright: basic
"""The changes of a positional measure along a direction on one side of t = 0: levels of crossings.

Lines come in the order they have at t = 0. Where a lower line overtakes a higher one, as many lines
run above the point as there are places above the pair, its *level*; so a pair of neighbours changes the
value by drop_lower[level] - drop_upper[level], with drop[p] = share at p less share at p + 1. Levels are
counted for the pairs that need it:

    the lower line climbs faster, the gains differ, and fewer than k lines keep above one or the other
    all the way (they stand higher and climb no less).

Pairs lie in lanes and every line is held against a whole vector of points, so that no step depends on
what the last one found, and no branch on what an exchange is worth: neither could be predicted.

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
    WIDE,
    at,
    bits,
    count,
    load,
    load_set,
    lowest,
    ones,
    put,
    spread,
    spread_like,
    store,
    where,
    whole,
    width,
)  # fmt: skip

MOST_LEVELS = 64  # lines
MOST_PAIRS = MOST_LEVELS * (MOST_LEVELS - 1) // 2
ROUNDING = np.float32(6e-8)  # of one operation
FINE_ROUNDING = 1.2e-16
TINY = np.float32(1e-37)
SIZE = 32  # an int64 of twins: how many precede the line, and from this bit on how many there are


@njit(cache=True, nogil=True)
def level_room():
    """What `levels` works in: lines, points and counts in float32 and float64; times, pairs and sets."""
    room, pairs = (
        MOST_LEVELS + WIDE,
        MOST_PAIRS + 5 * WIDE,
    )  # not 2048: rows would meet in one cache set
    coarse = (
        np.empty((2, room), np.float32),
        np.empty((2, pairs), np.float32),
        np.empty((2, pairs), np.int32),
    )
    fine = np.empty((2, room)), np.empty((2, pairs)), np.empty((2, pairs), np.int64)
    return coarse, fine, np.empty(pairs), np.empty(pairs, np.int64), np.empty((4, room), np.int64)


@njit(cache=True, nogil=True, error_model="numpy")
def levels(side, n, A, B, rows, drops, k, near, far, room, event_t, event_d, n_events):
    """Write the events of n lines with near < t < far; return their number and a total, or -1 and 0
    where lines meet in a point.

    Slopes `A` and times are those of the side: both change sign for the left one. `rows` are the
    positions of the lines' drops in `drops`. The total is what the side adds, going out from t = 0, to
    the value at the lower end of the bounds. `room` is that of `level_room`.
    """
    coarse, fine, times, pairs, sets = room
    if n <= 16:
        n_pairs = crossing_pairs(np.uint16(1), n, A, B, rows, k, sets)
    elif n <= 32:
        n_pairs = crossing_pairs(np.uint32(1), n, A, B, rows, k, sets)
    else:
        n_pairs = crossing_pairs(np.uint64(1), n, A, B, rows, k, sets)
    steep, margin = place(n_pairs, n, A, B, coarse, times, pairs, sets)
    count_levels(n_pairs, n, k, steep * ROUNDING, margin * ROUNDING + TINY, coarse)
    done, total = changes(
        n_pairs, side, rows, drops, near, far, coarse[2], times, pairs, event_t, event_d, n_events
    )
    if done < 0:
        steep, margin = place(n_pairs, n, A, B, fine, times, pairs, sets)
        count_levels(n_pairs, n, k, steep * FINE_ROUNDING, margin * FINE_ROUNDING + TINY, fine)
        done, total = changes(
            n_pairs, side, rows, drops, near, far, fine[2], times, pairs, event_t, event_d, n_events
        )
    return done, total


@njit(cache=True, nogil=True, error_model="numpy")
def crossing_pairs(one, n, A, B, rows, k, sets):
    """Write the pairs whose level is to be counted, as sets of upper lines and their lower lines.

    Returns the number of pairs; two empty sets end the list. Also writes each line's twins.
    """
    keeps, uppers, lowers, twins = sets[0], sets[1], sets[2], sets[3]
    slopes, scores = load_set(A, 0, one), load_set(B, 0, one)
    for j in range(n):
        higher = (np.int64(1) << j) - 1
        put(keeps, j, bits(slopes >= spread_like(slopes, at(A, j))) & higher)
        put(twins, j, np.int64(1) << SIZE)
    everything = (np.int64(2) << (n - 1)) - 1
    if bits(scores == load_set(B, 1, one)) & (everything >> 1) != 0:
        for j in range(n):
            alike = slopes == spread_like(slopes, at(A, j))
            same = bits(alike & (scores == spread_like(scores, at(B, j)))) & everything
            put(twins, j, (ones(same) << SIZE) + ones(same & ((np.int64(1) << j) - 1)))
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
def place(n_pairs, n, A, B, room, times, pairs, sets):
    """Write when and at what height each pair crosses, and what twins add to its counts.

    A pair is written as lower line * MOST_LEVELS + upper line. Returns by how many roundings a line that
    goes through the crossing may seem to miss it: so many per unit of time, and so many at t = 0.
    """
    uppers, lowers, twins = sets[1], sets[2], sets[3]
    a, b = room[0][0], room[0][1]
    x, y = room[1][0], room[1][1]
    above, reaching = room[2][0], room[2][1]
    real = a.dtype.type
    # One line is taken off all: what remains is small where differences are, and rounds less.
    wide, high, alone = 0.0, 0.0, True
    for i in range(n):
        slope, score = at(A, i) - at(A, 0), at(B, i) - at(B, 0)
        put(a, i, real(slope))
        put(b, i, real(score))
        wide, high = max(wide, abs(slope)), max(high, abs(score))
        alone &= at(twins, i) == 1 << SIZE
    r = np.int64(0)
    left, coming = at(uppers, 0), at(uppers, 1)
    for p in range(n_pairs):
        i, j = lowest(left), at(lowers, r)
        left &= left - 1
        through = np.int64(left == 0)
        left |= coming & -through
        r += through
        coming = at(uppers, r + 1)
        t = (at(B, i) - at(B, j)) / (at(A, j) - at(A, i))
        put(times, p, t)
        put(pairs, p, j * MOST_LEVELS + i)
        short = real(t)
        put(x, p, short)
        put(y, p, at(b, i) + at(a, i) * short)
    if alone:
        above[:n_pairs] = 0
        reaching[:n_pairs] = -2
    else:
        for p in range(n_pairs):
            pair = at(pairs, p)
            alike = at(twins, pair & (MOST_LEVELS - 1)) + at(twins, pair >> 6)
            above[p] = alike & 0xFFFF
            reaching[p] = (alike & 0xFFFF) - (alike >> SIZE)
    return real(10.0 * wide), real(6.0 * high)


@njit(cache=True, nogil=True, error_model="numpy")
def count_levels(n_pairs, n, k, steep, margin, room):
    """Count the lines above each crossing, up to k, and those within the margin that are not its own."""
    a, b = room[0][0], room[0][1]
    x, y = room[1][0], room[1][1]
    above, reaching = room[2][0], room[2][1]
    step = width(x)
    for p in range(0, n_pairs, 2 * step):
        s = p + step
        x1, x2 = load(x, p), load(x, s)
        slack1, slack2 = spread(margin) + spread(steep) * x1, spread(margin) + spread(steep) * x2
        most1, least1 = load(y, p) + slack1, load(y, p) - slack1
        most2, least2 = load(y, s) + slack2, load(y, s) - slack2
        above1, reaching1 = load(above, p), load(reaching, p)
        above2, reaching2 = load(above, s), load(reaching, s)
        deepest = whole(above1, k)
        for line in range(n):
            slope, score = spread(at(a, line)), spread(at(b, line))
            v = score + slope * x1
            above1, reaching1 = count(v > most1, above1), count(v >= least1, reaching1)
            v = score + slope * x2
            above2, reaching2 = count(v > most2, above2), count(v >= least2, reaching2)
        store(reaching, p, reaching1 - above1)
        store(reaching, s, reaching2 - above2)
        store(above, p, where(above1 < deepest, above1, deepest))
        store(above, s, where(above2 < deepest, above2, deepest))


@njit(cache=True, nogil=True, error_model="numpy")
def changes(
    n_pairs, side, rows, drops, near, far, counts, times, pairs, event_t, event_d, n_events
):
    """Write the events, from the counted levels; return their number and the side's total, or -1 and 0.

    At level k nothing drops, so that no branch has to ask for it.
    """
    levels_of, close = counts[0], counts[1]
    backwards = -np.int64(side < 0.0)  # all ones where the side runs to the left
    total, meet = np.int64(0), np.int64(0)
    for p in range(n_pairs):
        t, pair, level = at(times, p), at(pairs, p), np.int64(at(levels_of, p))
        i, j = pair & (MOST_LEVELS - 1), pair >> 6
        meet |= np.int64(at(close, p))
        change = at(drops, at(rows, j) + level) - at(drops, at(rows, i) + level)
        change &= -np.int64(t < far)
        inside = np.int64(t > near)
        total += change & (backwards | (inside - 1))
        put(event_t, n_events, side * t + 0.0)
        put(event_d, n_events, (change ^ backwards) - backwards)
        n_events += inside & np.int64(change != 0)
    if meet != 0:
        return np.int64(-1), np.int64(0)
    return n_events, total
