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

A set of lines is an int64, or two where there are many lines.
"""

import numpy as np
from numba import njit

from rankopt.kernels.bare import bare
from rankopt.kernels.lanes import (
    WIDE,
    at,
    bits,
    count,
    load,
    load_set,
    ones,
    put,
    ramp,
    spread,
    spread_like,
    store,
    where,
    whole,
    width,
)  # fmt: skip
from rankopt.kernels.shuffles import chosen, gather, load_like, most_of, squeeze, sum_of

MOST_LEVELS = 128  # lines: as many as two words have bits
MOST_PAIRS = MOST_LEVELS * (MOST_LEVELS - 1) // 2
ROUNDING = np.float32(6e-8)  # of one operation
FINE_ROUNDING = 1.2e-16
TINY = np.float32(1e-37)
SIZE = 16  # a number of twins: how many precede the line, and from this bit on how many there are


@njit(cache=True, nogil=True)
def level_room():
    """What `levels` works in: lines and counts in float32 and in float64; pairs; sets of lines."""
    room = MOST_LEVELS + WIDE
    most = MOST_PAIRS + 5 * WIDE  # not 2048: arrays would meet in one cache set
    coarse = np.empty(room, np.float32), np.empty(room, np.float32), np.empty(most, np.int32)
    fine = np.empty(room), np.empty(room), np.empty(most, np.int64)
    points = np.empty(most), np.empty(most)
    pairs = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    sets = (
        np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64),
        np.empty(room, np.int64), np.empty(room, np.int64),
    )  # fmt: skip
    return coarse, fine, points, pairs, sets


@bare
def levels(side, n, A, B, rows, drops, k, near, far, room, event_t, event_d, n_events):
    """Write the events of n lines with near < t < far; return their number and a total, or -1 and 0
    where lines meet in a point.

    Slopes `A` and times are those of the side: both change sign for the left one. `rows` are the
    positions of the lines' drops in `drops`. The total is what the side adds, going out from t = 0, to
    the value at the lower end of the bounds. `room` is that of `level_room`.
    """
    coarse, fine, points, pairs, sets = room
    wide, high = shifted(n, A, B, coarse, fine)
    if n <= 16:
        alone = exchanges(np.uint16(1), n, A, B, rows, k, sets)
    elif n <= 32:
        alone = exchanges(np.uint32(1), n, A, B, rows, k, sets)
    elif n <= 64:
        alone = exchanges(np.uint64(1), n, A, B, rows, k, sets)
    else:
        alone = many_exchanges(n, A, B, rows, k, sets)
    m = crossing_pairs(n, (A, B, rows, fine), far, alone, sets, points, pairs)
    steep, margin = np.float32(10.0 * wide) * ROUNDING, np.float32(6.0 * high) * ROUNDING + TINY
    if count_levels(m, n, k, alone, steep, margin, coarse, points, pairs[2]):
        return changes(
            m, side, drops, near, coarse[2], points[0], pairs, event_t, event_d, n_events
        )
    steep, margin = 10.0 * wide * FINE_ROUNDING, 6.0 * high * FINE_ROUNDING + np.float64(TINY)
    if count_levels(m, n, k, alone, steep, margin, fine, points, pairs[2]):
        return changes(m, side, drops, near, fine[2], points[0], pairs, event_t, event_d, n_events)
    return np.int64(-1), np.int64(0)


@bare
def shifted(n, A, B, coarse, fine):
    """Write the lines less the first one; return the largest slope and score of what remains.

    What remains is small where differences are, and rounds less.
    """
    slope, score = spread(at(A, 0)), spread(at(B, 0))
    none = spread(0.0)
    wide, high = none, none
    for i in range(0, n, width(A)):
        inside = ramp(slope) < whole(slope, n - i)
        a = where(inside, load(A, i) - slope, none)
        b = where(inside, load(B, i) - score, none)
        store(fine[0], i, a)
        store(fine[1], i, b)
        a, b = where(a < none, none - a, a), where(b < none, none - b, b)
        wide, high = where(a > wide, a, wide), where(b > high, b, high)
    short = spread(np.float32(0.0))
    for i in range(0, n, width(coarse[0])):
        store(coarse[0], i, load_like(fine[0], i, short))
        store(coarse[1], i, load_like(fine[1], i, short))
    return most_of(wide), most_of(high)


@bare
def exchanges(one, n, A, B, rows, k, sets):
    """Write, for each line, which higher ones it overtakes where it counts, and its twins.

    Returns whether no two lines are identical; twins are written only where some are. `one` is an integer
    with a bit for each line: it says how wide the lanes are.
    """
    found, keeps, twins = sets[0], sets[2], sets[4]
    slopes, scores = load_set(A, 0, one), load_set(B, 0, one)
    for j in range(n):
        higher = (np.int64(1) << j) - 1
        put(keeps, j, bits(slopes >= spread_like(slopes, at(A, j))) & higher)
    kept, gains = load_set(keeps, 0, one), load_set(rows, 0, one)
    limit = whole(kept, k)
    for j in range(n):
        keep, higher = at(keeps, j), (np.int64(1) << j) - 1
        few = ones(kept | whole(kept, keep)) < limit
        put(found, j, bits(few & (gains != whole(gains, at(rows, j)))) & higher & ~keep)
    everything = (np.int64(2) << (n - 1)) - 1
    if bits(scores == load_set(B, 1, one)) & (everything >> 1) == 0:
        return True
    for j in range(n):
        equal = slopes == spread_like(slopes, at(A, j))
        same = bits(equal & (scores == spread_like(scores, at(B, j)))) & everything
        put(twins, j, (ones(same) << SIZE) + ones(same & ((np.int64(1) << j) - 1)))
    return False


@bare
def many_exchanges(n, A, B, rows, k, sets):
    """`exchanges` of more lines than a word has bits: their sets are two words."""
    keeps, twins = sets[2], sets[4]
    alone = True
    for j in range(n):
        slope, score = spread(at(A, j)), spread(at(B, j))
        size, precede = np.int64(0), np.int64(0)
        for w in range(2):
            keep = np.int64(0)
            for i in range(64 * w, min(n, 64 * w + 64), width(A)):
                lane = ramp(slope) + whole(slope, i)
                earlier, a, b = lane < whole(slope, j), load(A, i), load(B, i)
                keep |= bits((a >= slope) & earlier) << (i & 63)
                same = (a == slope) & (b == score) & (lane < whole(slope, n))
                size, precede = size + ones(bits(same)), precede + ones(bits(same & earlier))
            put(sets[2 + w], j, keep)
        alone &= size == 1
        put(twins, j, (size << SIZE) + precede)
    limit = whole(spread(at(A, 0)), k)
    for j in range(n):
        keep, more, row = (
            whole(limit, at(keeps, j)),
            whole(limit, at(sets[3], j)),
            whole(limit, at(rows, j)),
        )
        slope = spread(at(A, j))
        for w in range(2):
            found = np.int64(0)
            for i in range(64 * w, min(j, 64 * w + 64), width(A)):
                few = ones(load(keeps, i) | keep) + ones(load(sets[3], i) | more) < limit
                few = few & (load(A, i) < slope) & (load(rows, i) != row)
                found |= bits(few & (ramp(slope) < whole(slope, j - i))) << (i & 63)
            put(sets[w], j, found)
    return alone


@bare
def crossing_pairs(n, lines, far, alone, sets, points, pairs):
    """Write the pairs whose level is to be counted: when and how high they cross, and their rows.

    Returns their number. Where lines are identical, also writes what each pair's twins add to its counts.
    """
    A, B, rows, fine = lines
    a, b = fine[0], fine[1]
    twins = sets[4]
    times, heights = points
    uppers, lowers, alike = pairs
    last = spread(far)
    m = np.int64(0)
    for j in range(1, n):
        slope, score, row = spread(at(A, j)), spread(at(B, j)), whole(last, at(rows, j))
        for i in range(0, j, width(A)):
            t = (load(B, i) - score) / (slope - load(A, i))
            found = chosen(t, at(sets[i >> 6], j) >> (i & 63)) & (t < last)
            store(times, m, squeeze(found, t))
            store(heights, m, squeeze(found, load(b, i) + load(a, i) * t))
            store(uppers, m, squeeze(found, load(rows, i)))
            store(lowers, m, row)
            if not alone:
                store(alike, m, squeeze(found, load(twins, i) + whole(t, at(twins, j))))
            m += ones(bits(found))
    store(uppers, m, whole(last, 0))
    store(lowers, m, whole(last, 0))
    return m


@bare
def count_levels(n_pairs, n, k, alone, steep, margin, lines, points, alike):
    """Count the lines above each crossing, up to k; whether none but its own come within the margin."""
    a, b, levels_of = lines
    times, heights = points
    slack, rising = spread(margin), spread(steep)
    lane, deepest, shift = ramp(slack), whole(slack, k), whole(slack, SIZE)
    precede = whole(slack, (1 << SIZE) - 1)
    twins1 = twins2 = whole(slack, 2 << SIZE)
    step = width(a)
    meet = np.int64(0)
    for p in range(0, n_pairs, 2 * step):
        s = p + step
        x1, x2 = load_like(times, p, slack), load_like(times, s, slack)
        y1, y2 = load_like(heights, p, slack), load_like(heights, s, slack)
        slack1, slack2 = slack + rising * x1, slack + rising * x2
        most1, least1, most2, least2 = y1 + slack1, y1 - slack1, y2 + slack2, y2 - slack2
        if not alone:
            twins1, twins2 = load_like(alike, p, lane), load_like(alike, s, lane)
        above1, above2 = twins1 & precede, twins2 & precede
        reaching1, reaching2 = above1, above2
        for line in range(n):
            slope, score = spread(at(a, line)), spread(at(b, line))
            v = score + slope * x1
            above1, reaching1 = count(v > most1, above1), count(v >= least1, reaching1)
            v = score + slope * x2
            above2, reaching2 = count(v > most2, above2), count(v >= least2, reaching2)
        others1, others2 = (
            reaching1 - above1 != twins1 >> shift,
            reaching2 - above2 != twins2 >> shift,
        )
        meet |= bits(others1 & (lane < whole(slack, n_pairs - p)))
        meet |= bits(others2 & (lane < whole(slack, n_pairs - s)))
        store(levels_of, p, where(above1 < deepest, above1, deepest))
        store(levels_of, s, where(above2 < deepest, above2, deepest))
    return meet == 0


@bare
def changes(n_pairs, side, drops, near, levels_of, times, pairs, event_t, event_d, n_events):
    """Write the events, from the counted levels; return their number and the side's total.

    At level k nothing drops, so that no branch has to ask for it. Whole vectors are written.
    """
    uppers, lowers = pairs[0], pairs[1]
    way, first = spread(side), spread(near)
    none = whole(way, 0)
    zero, total = way - way, none
    backwards = whole(way, -np.int64(side < 0.0))  # all ones where the side runs to the left
    for p in range(0, n_pairs, width(times)):
        t, level = load(times, p), load_like(levels_of, p, none)
        change = gather(drops, load(lowers, p) + level) - gather(drops, load(uppers, p) + level)
        change = where(ramp(t) < whole(t, n_pairs - p), change, none)
        inside = t > first
        total = total + where(inside, change & backwards, change)
        found = inside & (change != none)
        store(event_t, n_events, squeeze(found, way * t + zero))
        store(event_d, n_events, squeeze(found, (change ^ backwards) - backwards))
        n_events += ones(bits(found))
    return n_events, sum_of(total)
