# pyright: basic
"""The changes of a query's value along a direction, line by line.

Each row is a line in t, score + t * slope. The share of a row (kernels/shares.py) depends on the other
rows only through its own place and the loads above it, and both change only where another line crosses
this one. So every line is followed by itself: its crossings in ascending order give its places, these
its shares, and every change of share is an event (t, change). Lines of rows whose gain is the most
frequent one of their query (`base`) are left out: measured by how much more a row adds than a base row
in its place would, they add nothing.

No order of simultaneous crossings matters here. Within one line the changes telescope whatever the
order, and lines do not interact; so identical, parallel and concurrent lines need no special case.
"""

import numpy as np
from numba import njit

from rankopt.kernels.shares import share


@njit(cache=True, nogil=True, error_model="numpy")
def follow(
    i, slopes, scores, gains, loads, base, scale, table, k, form, unit, lo, hi,
    crossings, who, event_t, event_d, n_events,
):  # fmt: skip
    """Follow line i through the others; return its share just above lo, and the number of events."""
    place, above, count = 0, np.int64(0), 0
    for j in range(slopes.size):
        if j == i:
            continue
        t = (scores[i] - scores[j]) / (slopes[j] - slopes[i]) + 0.0
        crosses = np.isfinite(t) and slopes[i] != slopes[j]
        if slopes[j] < slopes[i] if crosses else j < i:
            place += 1
            above += loads[j]
        if crosses:
            crossings[count] = t
            who[count] = j
            count += 1
    order = np.argsort(crossings[:count], kind="mergesort")
    value = relative_share(form, gains[i], loads[i], base, place, above, scale, table, k, unit)
    start = value
    for e in order:
        t, j = crossings[e], who[e]
        if t >= hi:
            break
        step = 1 if slopes[j] > slopes[i] else -1
        place += step
        above += step * loads[j]
        after = relative_share(form, gains[i], loads[i], base, place, above, scale, table, k, unit)
        if t <= lo:
            start = after
        elif after != value:
            event_t[n_events] = t
            event_d[n_events] = after - value
            n_events += 1
        value = after
    return start, n_events


@njit(cache=True, nogil=True, error_model="numpy")
def relative_share(form, gain, load, base, place, above, scale, table, k, unit):
    """How much more the row adds than a row of gain `base` would in its place."""
    if place >= k:
        return np.int64(0)
    discount = scale * table[max(place, 0)]
    value = share(form, gain, load, above, discount, unit)
    if base != 0.0:  # positional only: elsewhere the base gain is 0
        value -= np.int64(np.rint(base * discount))
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def pairs(i, slopes, scores, gains, base, scale, lo, hi, event_t, event_d, n_events):
    """Concordance: the pairs of row i with later rows and with rows of gain `base`, just above lo."""
    worth = np.int64(np.rint(scale))
    total = np.int64(0)
    for j in range(slopes.size):
        if gains[j] == gains[i] or (j < i and gains[j] != base):
            continue
        t = (scores[i] - scores[j]) / (slopes[j] - slopes[i]) + 0.0
        crosses = np.isfinite(t) and slopes[i] != slopes[j]
        above = slopes[j] < slopes[i] if crosses else j < i
        change = worth if above == (gains[j] > gains[i]) else -worth
        if crosses and t <= lo:
            change = -change
        total += change
        if crosses and lo < t < hi:
            event_t[n_events] = t
            event_d[n_events] = -2 * change
            n_events += 1
    return total, n_events
