# pyright: basic
"""The changes of a positional measure along a direction on one side of t = 0, by counting in lanes.

Lines come in the order they have at t = 0. Line i is crossed by a lower line that climbs faster and
itself crosses a higher one that climbs more slowly; in the order of its crossings its place goes up
and down by one. So its place at the crossing with line j is

    i + |{lower l : t_il <= t_ij}| - |{higher l : t_il <= t_ij}|

and no sweep is needed to find it: all crossings of a line are compared with one another. Crossings at
equal t are told apart by the number of the other line. Any rule serves, as explained in lines.py: each
line's own changes telescope. A pair that crosses changes the value by

    drop_j[place of j] - drop_i[place of i],      drop[p] = share at p less share at p + 1

where the two places are the upper of the two that the line moves between. Both lines count their own:
where several lines meet in a point the places differ. Rows of the base gain have a zero drop, and
need not be followed.
"""

import numpy as np

from rankopt.kernels.bare import bare
from rankopt.kernels.lanes import (
    at,
    bits,
    count,
    load,
    lowest,
    ramp,
    spread,
    store,
    tag,
    where,
    whole,
)  # fmt: skip

MOST = 256  # lines; kernels/lines.py takes over beyond


@bare
def cross(i, n, padded, A, B, far, times, keys, marks):
    """Write the crossings of line i with t < far, the rest NaN; mark, 64 to a word, which there are."""
    slope, score = spread(A[i]), spread(B[i])
    none, zero = spread(np.nan), spread(0.0)
    limit = spread(far)
    for w in range((padded + 63) // 64):
        marks[w] = 0
    for b in range(0, padded, 8):
        rise = load(A, b) - slope
        t = (score - load(B, b)) / rise + zero
        lane = ramp(t) + whole(t, b)
        meets = (where(lane > whole(t, i), rise, zero - rise) > zero) & (t < limit)
        t = where(meets, t, none)
        store(times, i * padded + b, t)
        store(keys, b, tag(t, lane))
        marks[b >> 6] |= bits(meets) << (b & 63)


@bare
def count_places(i, n, padded, k, keys, marks, places):
    """Write the upper place of every crossing of line i, at most k; mark those above k."""
    for w in range((padded + 63) // 64):
        marks[w + 4] = 0
    for b in range(0, padded, 8):
        if (marks[b >> 6] >> (b & 63)) & 255 == 0:
            continue
        t = load(keys, b)
        up, down = whole(t, i), whole(t, 0)
        for j in range(i):
            down = count(spread(at(keys, j)) <= t, down)
        for j in range(i + 1, n):
            up = count(spread(at(keys, j)) <= t, up)
        lower = ramp(t) + whole(t, b) > whole(t, i)
        p = up - count(lower, down)
        deepest = whole(t, k)
        store(places, i * padded + b, where(p < deepest, p, deepest))
        marks[(b >> 6) + 4] |= bits(p < deepest) << (b & 63)


@bare
def places_of_lines(
    side, n, A, B, rows, base, drops, k, near, far, times, keys, places, marks, live, seen,
    event_t, event_d, n_events,
):  # fmt: skip
    """Write the events of n lines with near < t < far; return their number and a total.

    Slopes `A` and times are those of the side: both change sign for the left one. `rows` are the
    positions of the lines' drops in `drops`; lines with that of `base` are not followed. The total is
    what the side adds to the value at the lower end of the bounds, if the search starts from t = 0.
    """
    padded = (n + 7) & ~7
    words = (padded + 63) // 64
    A[n:padded] = np.nan
    total = np.int64(0)
    plain = marks[8:12]
    plain[:] = 0
    for i in range(n):
        live[i] = -np.int64(rows[i] != base)
        plain[i >> 6] |= (1 + live[i]) << (i & 63)
        for w in range(words):
            seen[i, w] = 0
    for i in range(n):
        if live[i]:
            cross(i, n, padded, A, B, far, times, keys, marks)
            count_places(i, n, padded, k, keys, marks, places)
            for w in range(words):
                seen[i, w + 4] = marks[w] & marks[w + 4]
    for i in range(n):
        if not live[i]:
            continue
        for w in range(words):
            reach = seen[i, w + 4]
            later = (
                np.int64(-1)
                if i < 64 * w
                else (np.int64(-2) << (i & 63) if i < 64 * w + 64 else np.int64(0))
            )
            # A pair of followed lines is met at its upper line. Only where lines meet in a point may the
            # lower one alone have it among the first k.
            go = reach & (plain[w] | later | ~seen[i, w])
            while go != 0:
                j = 64 * w + lowest(go)
                go &= go - 1
                seen[j, i >> 6] |= np.int64(1) << (i & 63)
                u, v = min(i, j), max(i, j)
                t = times[i * padded + j]
                change = drops[rows[v] + (places[v * padded + u] & live[v])]
                change -= drops[rows[u] + (places[u * padded + v] & live[u])]
                inside = t > near
                if side < 0.0 or not inside:
                    total += change
                event_t[n_events] = side * t + 0.0
                event_d[n_events] = change if side > 0.0 else -change
                n_events += inside & (change != 0)
    return n_events, total
