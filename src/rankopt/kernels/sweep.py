# pyright: basic
"""Exact line search, first half: the events of all queries along one direction.

For each query: gather the direction into the order of the scores, keep the rows that can reach the
first k places (kernels/skyband.py), and write where and by how much the query's value changes.
"""

import numpy as np
from numba import njit

from rankopt.kernels.codes import CONCORDANCE
from rankopt.kernels.lines import follow, pairs
from rankopt.kernels.shares import share
from rankopt.kernels.skyband import candidates


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(
    start, stop, offsets, direction, order, score_at, gain_at, load_at, standing, bases, scales,
    table, k, form, unit, lo, hi, event_t, event_d, out,
):  # fmt: skip
    """Write the events inside (lo, hi); `out` takes the total just above lo, the number of events and
    the query at which the room for events ran out (`stop` if it did not)."""
    longest = 0
    for q in range(start, stop):
        longest = max(longest, offsets[q + 1] - offsets[q])
    slopes = np.empty(longest, direction.dtype)
    best = np.empty(k + 1, np.float64)
    keep, side = np.empty(longest, np.bool_), np.empty(longest, np.bool_)
    places = np.empty(longest, np.int64)
    A, B, G, L = np.empty(longest), np.empty(longest), np.empty(longest), np.empty(longest, np.int64)
    crossings, who = np.empty(longest), np.empty(longest, np.int64)
    total, n_events = out[0], out[1]
    for q in range(start, stop):
        scale = scales[q]
        if scale == 0.0:
            continue
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        base = bases[q]
        for p in range(size):
            slopes[p] = direction[first + order[first + p]]
        if slopes[:size].min() == slopes[:size].max():
            total += standing[q]
            continue
        if size > k:
            count = candidates(
                slopes[:size], score_at[first : first + size], k, lo, hi, best, keep, side, places
            )
        else:
            count = size
            places[:size] = np.arange(size)
        active = 0
        for c in range(count):
            p = places[c]
            A[c], B[c] = slopes[p], score_at[first + p]
            G[c], L[c] = gain_at[first + p], load_at[first + p]
            active += G[c] != base
        if n_events + active * count > event_t.size:
            out[0], out[1], out[2] = total, n_events, q
            return
        if form == CONCORDANCE:
            for i in range(count):
                if G[i] != base:
                    value, n_events = pairs(
                        i, A[:count], B[:count], G[:count], base, scale, lo, hi,
                        event_t, event_d, n_events,
                    )  # fmt: skip
                    total += value
            continue
        if base != 0.0:
            for p in range(min(k, size)):
                total += np.int64(np.rint(base * (scale * table[p])))
        for i in range(count):
            if G[i] != base:
                value, n_events = follow(
                    i, A[:count], B[:count], G[:count], L[:count], base, scale, table, k, form,
                    unit, lo, hi, crossings, who, event_t, event_d, n_events,
                )  # fmt: skip
                total += value
    out[0], out[1], out[2] = total, n_events, stop
