# pyright: basic
"""The changes of a positional measure along a direction on one side of t = 0: levels of crossings.

Lines come in the order they have at t = 0. Where a lower line overtakes a higher one, as many lines
run above the point as there are places above the pair, its *level*; so a pair of neighbours changes the
value by drop_lower[level] - drop_upper[level], with drop[p] = share at p less share at p + 1. Levels are
counted in lanes, all lines against one point, for the pairs that need it:

    the lower line climbs faster, the gains differ, and fewer than k lines keep above one or the other
    all the way (they stand higher and climb no less).

The count is done in float32, with a margin for its rounding. If any other line comes within the margin
(identical lines, lines that meet in one point), the side is left to kernels/places.py, which is exact
whatever meets, and several times slower.
"""

import numpy as np
from numba import njit

from rankopt.kernels.lanes import bits, load, lowest, ones, spread, whole

MOST_LEVELS = 64  # lines: a set of lines is one int64
ROUNDING = np.float32(16 * 6e-8)


@njit(cache=True, nogil=True, error_model="numpy")
def overtakers(n, padded, A, keeps, passes):
    """Write, for each line, the set of lines that keep above it, and of those that overtake it."""
    for i in range(n):
        slope = spread(A[i])
        above, below = np.int64(0), np.int64(0)
        for b in range(0, (i + 8) & ~7, 8):
            above |= bits(load(A, b) >= slope) << b
        for b in range(i & ~7, padded, 8):
            below |= bits(load(A, b) > slope) << b
        higher = (np.int64(1) << i) - 1
        keeps[i] = above & higher
        passes[i] = below & ~higher


@njit(cache=True, nogil=True, error_model="numpy")
def levels(
    side, n, A, B, rows, drops, k, near, far, a, b, keeps, passes, event_t, event_d, n_events
):  # fmt: skip
    """Write the events of n lines with near < t < far; return their number and a total, or -1 and 0
    where lines meet in a point.

    Slopes `A` and times are those of the side: both change sign for the left one. `rows` are the
    positions of the lines' drops in `drops`. The total is what the side adds, going out from t = 0, to
    the value at the lower end of the bounds. `a`, `b`, `keeps` and `passes` are room.
    """
    padded = (n + 7) & ~7
    A[n:padded] = np.nan
    overtakers(n, padded, A, keeps, passes)
    # One line is taken off all: what remains is small where differences are, and float32 keeps them.
    wide, high = 0.0, 0.0
    for i in range(n):
        slope, score = A[i] - A[0], B[i] - B[0]
        a[i], b[i] = slope, score
        wide, high = max(wide, abs(slope)), max(high, abs(score))
    blocks = (n + 15) & ~15
    a[n:blocks], b[n:blocks] = np.float32(0.0), np.float32(-np.inf)
    steep, margin = np.float32(wide) * ROUNDING, np.float32(high) * ROUNDING + np.float32(1e-37)
    total = np.int64(0)
    for i in range(n):
        pairs = np.int64(0)
        keep, row, limit = keeps[i], rows[i], whole(load(rows, 0), k)
        for block in range(i & ~7, padded, 8):
            other = load(rows, block)
            few = ones(load(keeps, block) | whole(other, keep)) < limit
            pairs |= bits((other != whole(other, row)) & few) << block
        pairs &= passes[i]
        while pairs != 0:
            j = lowest(pairs)
            pairs &= pairs - 1
            t = (B[i] - B[j]) / (A[j] - A[i])
            if not t < far:
                continue
            x = np.float32(t)
            y = b[i] + a[i] * x
            slack = margin + steep * x
            above, around = spread(y + slack), spread(y - slack)
            x_lanes = spread(x)
            level, reach = np.int64(0), np.int64(0)
            for block in range(0, blocks, 16):
                v = load(b, block) + load(a, block) * x_lanes
                level += ones(bits(v > above))
                reach += ones(bits(v >= around))
            if reach - level != 2:
                return np.int64(-1), np.int64(0)
            if level < k:
                change = drops[rows[j] + level] - drops[row + level]
                inside = t > near
                if side < 0.0 or not inside:
                    total += change
                event_t[n_events] = side * t + 0.0
                event_d[n_events] = change if side > 0.0 else -change
                n_events += inside & (change != 0)
    return n_events, total
