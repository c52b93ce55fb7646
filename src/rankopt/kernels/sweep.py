# pyright: basic
"""Exact line search, first half: the events of all queries along one direction.

For each query: gather the direction into the order of the scores, keep the rows that can reach the
first k places (kernels/skyband.py), and write where and by how much the query's value changes, going
out from t = 0 to the right and to the left.
"""

import numpy as np
from numba import njit

from rankopt.kernels.bare import bare
from rankopt.kernels.cells import settle
from rankopt.kernels.codes import CONCORDANCE
from rankopt.kernels.lanes import WIDE
from rankopt.kernels.levels import MOST_LEVELS, level_room, levels
from rankopt.kernels.lines import follow, pairs
from rankopt.kernels.merge import tally
from rankopt.kernels.places import MOST, places_of_lines
from rankopt.kernels.skyband import climbers, within


@njit(cache=True, nogil=True)
def sweep(
    start, stop, offsets, direction, order, score_at, gain_at, load_at, bases, base_rows, drops, scales,
    table, k, form, unit, lo, hi, event_t, event_d, event_b, origin, cells, tallies, out,
):  # fmt: skip
    """Write the events inside (lo, hi): all, or those of the cells that are asked for (kernels/cells.py).

    `out` takes the total just above lo less that at t = 0, the number of events, and where the room for
    events ran out: query (`stop` if it did not), side and line, from which the next call goes on, and how
    much room is needed there.
    """
    longest = 0
    for q in range(start, stop):
        longest = max(longest, offsets[q + 1] - offsets[q])
    room = longest + MOST_LEVELS
    most = min(MOST, longest + 8)
    candidates = (
        np.empty(room, direction.dtype), np.empty((2, k), direction.dtype), np.empty(k),
        np.empty((2, room), np.int64),
    )  # fmt: skip
    lines = np.empty(room), np.empty(room), np.empty(room), np.empty(room, np.int64)
    followed = np.empty(room), np.empty(room, np.int64)
    met = (
        np.empty(most * most), np.empty(most), np.zeros(most * most, np.int64), np.empty(12, np.int64),
        np.empty(most, np.int64), np.empty((most, 8), np.int64),
    )  # fmt: skip
    through(
        start, stop, offsets, direction, order, score_at, gain_at, load_at, bases, base_rows, drops, scales,
        table, k, form, unit, lo, hi, event_t, event_d, event_b, origin, cells, tallies, out,
        candidates, lines, followed, met, level_room(),
    )  # fmt: skip


@bare
def through(
    start, stop, offsets, direction, order, score_at, gain_at, load_at, bases, base_rows, drops, scales,
    table, k, form, unit, lo, hi, event_t, event_d, event_b, origin, cells, tallies, out,
    candidates, lines, followed, met, pair_room,
):  # fmt: skip
    """`sweep`, in room that has been made."""
    slopes, best, exact_best, sides = candidates
    A, B, G, L = lines
    crossings, who = followed
    total, n_events = out[0], out[1]
    event_bits = event_t.view(np.int64)
    in_buckets, sums, gains = cells[1].size == 0, tallies[0], tallies[1]
    for q in range(start, stop):
        scale = scales[q]
        if scale == 0.0:
            continue
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        least = most_slope = direction[first]
        for p in range(size):
            x = direction[first + order[first + p]]
            slopes[p] = x
            least, most_slope = min(least, x), max(most_slope, x)
        if least == most_slope:
            continue
        settled = n_events
        resumed = q == start
        n_right, n_left = climbers(slopes, size, k, sides[0], sides[1], best)
        for s in range(out[3] if resumed else 0, 2):
            n = n_right if s == 0 else n_left
            side = 1.0 - 2.0 * s
            far = hi if s == 0 else -lo
            near = lo if s == 0 else -hi
            if far <= 0.0:
                continue
            chosen = sides[s]
            if np.isfinite(far) and size > k:
                n = within(
                    slopes, score_at[first : first + size], side * far, k, chosen, n, exact_best
                )
            active = 0
            for c in range(n):
                p = chosen[c]
                A[c], B[c] = side * slopes[p], score_at[first + p]
                G[c], L[c] = gain_at[first + p], load_at[first + p]
                active += G[c] != bases[q]
            if active == 0:
                continue
            few = drops.size > 0 and n <= MOST
            need = (active * n if few else n) + WIDE  # whole vectors are written
            i = out[4] if resumed and s == out[3] else 0
            while i < n and n_events + need <= event_t.size:
                if few:
                    n_events, value = together(
                        side, n, lines, base_rows[q], drops, min(k, size), near, far, met, pair_room,
                        event_t, event_d, n_events,
                    )  # fmt: skip
                    total += value
                    i = n
                    continue
                if G[i] != bases[q]:
                    if form == CONCORDANCE:
                        n_events, value = pairs(
                            side, i, A[:n], B[:n], G[:n], bases[q], scale, near, far,
                            event_t, event_d, n_events,
                        )  # fmt: skip
                    else:
                        n_events, value = follow(
                            side, i, A[:n], B[:n], G[:n], L[:n], bases[q], scale, table, k, form,
                            unit, near, far, crossings, who, event_t, event_d, n_events,
                        )  # fmt: skip
                    total += value
                i += 1
            if i < n:
                if in_buckets:
                    tally(settled, n_events, event_bits, event_d, event_b, origin, sums, gains)
                else:
                    n_events = settle(
                        settled, n_events, event_t, event_bits, event_d, event_b, origin, cells, tallies
                    )  # fmt: skip
                out[0], out[1], out[2], out[3], out[4], out[5] = total, n_events, q, s, i, need
                return
        if in_buckets:
            tally(settled, n_events, event_bits, event_d, event_b, origin, sums, gains)
        else:
            n_events = settle(
                settled, n_events, event_t, event_bits, event_d, event_b, origin, cells, tallies
            )
    out[0], out[1], out[2], out[3], out[4] = total, n_events, stop, 0, 0


@bare
def together(
    side, n, lines, base, drops, k, near, far, met, pair_room, event_t, event_d, n_events
):  # fmt: skip
    """All lines of a side in lanes: by levels, or where lines meet in a point or are many, by places."""
    A, B, _, L = lines
    if n <= MOST_LEVELS:
        done, value = levels(
            side, n, A, B, L, drops, k, near, far, pair_room, event_t, event_d, n_events
        )
        if done >= 0:
            return done, value
    times, keys, places, marks, live, seen = met
    return places_of_lines(
        side, n, A, B, L, base, drops, k, near, far, times, keys, places, marks, live, seen,
        event_t, event_d, n_events,
    )  # fmt: skip
