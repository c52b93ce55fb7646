# pyright: basic
"""The changes of a query's value along a direction on one side of t = 0, line by line.

Each row is a line in t, score + t * slope. The share of a row (kernels/shares.py) depends on the other
rows only through its own place and the loads above it, and both change only where another line crosses
this one. So every line is followed by itself: its crossings in ascending order give its places, these
its shares, and every change of share is an event (t, change). Lines of rows whose gain is the most
frequent one of their query (`base`) are left out: measured by how much more a row adds than a base row
in its place would, they add nothing.

No order of simultaneous crossings matters here. Within one line the changes telescope whatever the
order, and lines do not interact; so identical, parallel and concurrent lines need no special case.

Lines come in the order they have at t = 0. Slopes and times are those of the side: both change sign for
the left one. What is returned with the number of events is what the line adds, going out from t = 0,
to the value at the lower end of the bounds.
"""

import numpy as np
from numba import njit

from rankopt.kernels.bare import bare, counted
from rankopt.kernels.shares import share


@counted
def follow(
    side, i, slopes, scores, gains, loads, base, scale, table, k, form, unit, near, far,
    crossings, who, event_t, event_d, n_events,
):  # fmt: skip
    """Follow line i through its crossings with t < far, and write events where t > near."""
    above, n = np.int64(0), 0
    for j in range(slopes.size):
        if j < i:
            above += loads[j]
        rise = slopes[j] - slopes[i]
        if (rise > 0.0) if j > i else (rise < 0.0):
            t = (scores[i] - scores[j]) / rise + 0.0
            if t < far:
                crossings[n], who[n] = t, j
                n += 1
    place, total = i, np.int64(0)
    before = surplus(form, gains[i], loads[i], base, place, above, scale, table, k, unit)
    for e in np.argsort(crossings[:n], kind="mergesort"):
        t, j = crossings[e], who[e]
        step = 1 if j > i else -1
        place += step
        above += step * loads[j]
        after = surplus(form, gains[i], loads[i], base, place, above, scale, table, k, unit)
        inside = t > near
        if side < 0.0 or not inside:
            total += after - before
        if inside and after != before:
            event_t[n_events] = side * t + 0.0
            event_d[n_events] = after - before if side > 0.0 else before - after
            n_events += 1
        before = after
    return n_events, total


@njit(cache=True, nogil=True, error_model="numpy")
def surplus(form, gain, load, base, place, above, scale, table, k, unit):
    """How much more the row adds than a row of gain `base` would in its place."""
    if place >= k:
        return np.int64(0)
    discount = scale * table[place]
    value = share(form, gain, load, above, discount, unit)
    if base != 0.0:  # positional only: elsewhere the base gain is 0
        value -= np.int64(np.rint(base * discount))
    return value


@bare
def pairs(
    side, i, slopes, scores, gains, base, scale, near, far, event_t, event_d, n_events
):  # fmt: skip
    """Concordance: the crossings of line i with lower lines and with those of gain `base`."""
    worth = 2 * np.int64(np.rint(scale))
    total = np.int64(0)
    for j in range(slopes.size):
        if gains[j] == gains[i] or (j < i and gains[j] != base):
            continue
        rise = slopes[j] - slopes[i]
        if (rise > 0.0) if j > i else (rise < 0.0):
            t = (scores[i] - scores[j]) / rise + 0.0
            if t < far:
                change = worth if (j > i) == (gains[j] > gains[i]) else -worth
                inside = t > near
                if side < 0.0 or not inside:
                    total += change
                if inside:
                    event_t[n_events] = side * t + 0.0
                    event_d[n_events] = change if side > 0.0 else -change
                    n_events += 1
    return n_events, total
