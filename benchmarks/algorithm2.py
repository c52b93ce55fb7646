"""The line search of the DirectRank paper, its Algorithm 2, as a baseline in the same language.

Lines 1-25 of the paper for NDCG cut at k: start at t = -inf with the k lines of smallest slope in
order and the rest unsorted; again and again take the nearest crossing of neighbours in the first k, or
of the k-th with any line of the rest, and trade the two. All events are then sorted.

As printed it fails where lines cross in one point: it looks for crossings strictly beyond the present
one. The tie-safe form used here asks instead whether the lower line climbs faster, counts a crossing
that rounding puts behind the present point as at the present point, and decides equal crossings of the
rest by slope and then by gain.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def jumping_points(offsets, slopes, scores, gains, discounts, k, event_t, event_d):
    """Write the events (t, change) of all queries; return the total at t = -inf and their number.

    `gains` are int64 and `discounts` (n_queries, k + 1) int64 with a zero in the last column.
    """
    longest = 0
    for q in range(offsets.size - 1):
        longest = max(longest, offsets[q + 1] - offsets[q])
    a, b, g = np.empty(longest), np.empty(longest), np.empty(longest, np.int64)
    total = np.int64(0)
    n_events = 0
    for q in range(offsets.size - 1):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        if discounts[q, 0] == 0:
            continue
        for i in range(size):
            a[i], b[i], g[i] = slopes[first + i], scores[first + i], gains[first + i]
        top = min(k, size)
        for r in range(top):  # selection sort of the first k at t = -inf
            s = r
            for j in range(r + 1, size):
                if a[j] < a[s] or (
                    a[j] == a[s] and (b[j] > b[s] or (b[j] == b[s] and g[j] < g[s]))
                ):
                    s = j
            a[r], a[s], b[r], b[s], g[r], g[s] = a[s], a[r], b[s], b[r], g[s], g[r]
            total += g[r] * discounts[q, r]
        now = -np.inf
        while True:
            t, upper, lower = np.inf, -1, -1
            for r in range(top - 1):
                if a[r + 1] > a[r]:
                    crossing = (b[r] - b[r + 1]) / (a[r + 1] - a[r])
                    if crossing < now:
                        crossing = now
                    if crossing < t:
                        t, upper, lower = crossing, r, r + 1
            last = top - 1
            for j in range(top, size):
                if a[j] > a[last]:
                    crossing = (b[last] - b[j]) / (a[j] - a[last])
                    if crossing < now:
                        crossing = now
                    if crossing < t or (
                        crossing == t
                        and upper == last
                        and (a[j] > a[lower] or (a[j] == a[lower] and g[j] < g[lower]))
                    ):
                        t, upper, lower = crossing, last, j
            if upper < 0:
                break
            now = t
            change = (g[lower] - g[upper]) * (discounts[q, upper] - discounts[q, upper + 1])
            if change != 0:
                event_t[n_events], event_d[n_events] = t, change
                n_events += 1
            a[upper], a[lower] = a[lower], a[upper]
            b[upper], b[lower] = b[lower], b[upper]
            g[upper], g[lower] = g[lower], g[upper]
    return total, n_events


def best_interval(total, event_t, event_d):
    """The best total, and the first open interval that has it, after a sort of all events."""
    order = np.argsort(event_t)
    t, d = event_t[order], event_d[order]
    last = np.ones(t.size, np.bool_)
    last[:-1] = np.diff(t) > 1e-12 * np.abs(t[1:])
    ends = np.flatnonzero(last)
    totals = total + np.concatenate(([0], np.cumsum(d)[ends]))
    edges = np.concatenate(([-np.inf], t[ends], [np.inf]))
    i = int(np.argmax(totals))
    return int(totals[i]), edges[i], edges[i + 1]
