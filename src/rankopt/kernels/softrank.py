# pyright: basic
"""Soft ranks, ``r_i = 1 + sum_{j != i} step(alpha (s_j - s_i))``, and their pullback [qin2010general].

Only rows with a gain need a rank. So each query's rows come with those first: row i of query q is
*active* where ``i < heads[q + 1] - heads[q]``, and `ranks` hold the active rows alone.
"""

import numpy as np
from numba import config, njit

from rankopt.kernels.exponential import LOG2E
from rankopt.kernels.steps import LOGISTIC, step

_SPAN = 1000.0  # powers of two that factorised exponentials may span: products of two stay finite


@njit(cache=True, nogil=True, error_model="numpy")
def soft_ranks(start, stop, offsets, heads, scores, alpha, curve, ranks, spreads):
    """Write the soft ranks of active rows, and the sum of the steps' derivatives at each.

    `scores` end with 8 spare elements.
    """
    room = np.empty((3, longest(start, stop, offsets) + 16))
    for q in range(start, stop):
        first, size, active = offsets[q], offsets[q + 1] - offsets[q], heads[q + 1] - heads[q]
        if active == 0:
            continue
        rank_of_query(scores, first, size, active, alpha, curve, room)
        for i in range(active):
            ranks[heads[q] + i] = room[1, i]
            spreads[heads[q] + i] = room[2, i]


@njit(cache=True, nogil=True, error_model="numpy")
def pullback(start, stop, offsets, heads, scores, alpha, curve, spreads, by_rank, grad):
    """Write the derivative by the scores, from the one by the soft ranks of active rows."""
    room = np.empty((3, longest(start, stop, offsets) + 16))
    for q in range(start, stop):
        first, size, active = offsets[q], offsets[q + 1] - offsets[q], heads[q + 1] - heads[q]
        if active == 0:
            grad[first : first + size] = 0.0
            continue
        for i in range(active):
            room[1, i] = by_rank[heads[q] + i]
        room[1, active] = 0.0
        pull_of_query(scores, first, size, active, alpha, curve, room)
        for i in range(size):
            grad[first + i] = alpha * room[2, i]
        for i in range(active):
            grad[first + i] -= alpha * by_rank[heads[q] + i] * spreads[heads[q] + i]


@njit(cache=True, nogil=True)
def longest(start, stop, offsets):
    """The most rows of a query."""
    most = 0
    for q in range(start, stop):
        most = max(most, offsets[q + 1] - offsets[q])
    return most


# Per query, any curve. `room` has three lines: work; ranks or their derivatives; sums.


@njit(cache=True, nogil=True, error_model="numpy")
def rank_by_pairs(scores, first, size, active, alpha, curve, room):
    """Write ranks into line 1 and sums of derivatives into line 2."""
    for i in range(active):
        rank, spread = 1.0, 0.0
        for j in range(size):
            if j != i:
                above, _, slope = step(alpha * (scores[first + j] - scores[first + i]), curve)
                rank += above
                spread += slope
        room[1, i], room[2, i] = rank, spread


@njit(cache=True, nogil=True, error_model="numpy")
def pull_by_pairs(scores, first, size, active, alpha, curve, room):
    """Write ``sum_{i != j} by_rank_i slope_ij`` into line 2, by_rank being line 1."""
    room[2, :size] = 0.0
    for i in range(active):
        for j in range(size):
            if j != i:
                slope = step(alpha * (scores[first + j] - scores[first + i]), curve)[2]
                room[2, j] += room[1, i] * slope


if config.DISABLE_JIT:
    rank_of_query, pull_of_query = rank_by_pairs, pull_by_pairs
else:
    from rankopt.kernels.exponential import exp2_lanes
    from rankopt.kernels.lanes import load, ramp, spread, store, where, whole
    from rankopt.kernels.sums import LANES

    @njit(cache=True, nogil=True, error_model="numpy")
    def rank_of_query(scores, first, size, active, alpha, curve, room):
        """Write ranks into line 1 and sums of derivatives into line 2."""
        if curve != LOGISTIC:
            rank_by_pairs(scores, first, size, active, alpha, curve, room)
        elif factorised(scores, first, size, alpha, room[0]):
            rank_factorised(room[0], size, active, room[1], room[2])
        else:
            rank_far(scores, first, size, active, alpha, room[1], room[2])

    @njit(cache=True, nogil=True, error_model="numpy")
    def pull_of_query(scores, first, size, active, alpha, curve, room):
        """Write ``sum_i by_rank_i slope_ij`` into line 2, by_rank being line 1.

        With or without j = i: the same term stands in the sums of derivatives, and they cancel.
        """
        if curve != LOGISTIC:
            pull_by_pairs(scores, first, size, active, alpha, curve, room)
        elif factorised(scores, first, size, alpha, room[0]):
            pull_factorised(room[0], size, active, room[1], room[2])
        else:
            pull_far(scores, first, size, active, alpha, room[1], room[2])

    @njit(cache=True, nogil=True)
    def factorised(scores, first, size, alpha, e):
        """Write ``e = exp(alpha (s - middle))``, zero past the end; false where the span is too wide.

        Then ``step(alpha (s_j - s_i)) = e_j / (e_i + e_j)``: m exponentials serve all pairs.
        """
        low = high = scores[first]
        for i in range(size):
            low, high = min(low, scores[first + i]), max(high, scores[first + i])
        if not alpha * LOG2E * (high - low) <= _SPAN:
            return False
        middle, rate, nothing = spread(0.5 * (low + high)), spread(alpha * LOG2E), spread(0.0)
        place = ramp(middle)
        for i in range(0, size, LANES):
            power = exp2_lanes((load(scores, first + i) - middle) * rate)
            store(e, i, where(place < whole(middle, size - i), power, nothing))
        return True

    @njit(cache=True, nogil=True, error_model="numpy")
    def rank_factorised(e, size, active, ranks, spreads):
        """Eight active rows against two rows at a time, which share one division."""
        one = spread(1.0)
        for i in range(0, active, LANES):
            own = load(e, i)
            rank, slope = spread(0.5), spread(0.0)  # each row against itself adds the other half
            for j in range(0, size, 2):
                a, b = spread(e[j]), spread(e[j + 1])
                sum_a, sum_b = own + a, own + b
                both = one / (sum_a * sum_b)
                over_a, over_b = sum_b * both, sum_a * both
                up_a, up_b = a * over_a, b * over_b
                rank = rank + (up_a + up_b)
                slope = slope + (up_a * over_a + up_b * over_b)
            store(ranks, i, rank)
            store(spreads, i, slope * own)

    @njit(cache=True, nogil=True, error_model="numpy")
    def pull_factorised(e, size, active, by_rank, out):
        """Eight rows against two active rows at a time, which share one division."""
        one = spread(1.0)
        for j in range(0, size, LANES):
            own = load(e, j)
            total = spread(0.0)
            for i in range(0, active, 2):
                a, b = spread(e[i]), spread(e[i + 1])
                sum_a, sum_b = own + a, own + b
                both = one / (sum_a * sum_b)
                over_a, over_b = sum_b * both, sum_a * both
                pull_a, pull_b = spread(by_rank[i] * e[i]), spread(by_rank[i + 1] * e[i + 1])
                total = total + (pull_a * over_a * over_a + pull_b * over_b * over_b)
            store(out, j, total * own)

    @njit(cache=True, nogil=True, error_model="numpy")
    def rank_far(scores, first, size, active, alpha, ranks, spreads):
        """Eight active rows against one row at a time, with an exponential per pair."""
        one, nothing, rate = spread(1.0), spread(0.0), spread(alpha * LOG2E)
        for i in range(0, active, LANES):
            own = load(scores, first + i)
            rank, slope = spread(0.5), spread(0.0)
            for j in range(size):
                ahead = (spread(scores[first + j]) - own) * rate
                e = exp2_lanes(where(ahead < nothing, ahead, nothing - ahead))
                high = one / (one + e)
                low = e * high
                rank = rank + where(ahead < nothing, low, high)
                slope = slope + high * low
            store(ranks, i, rank)
            store(spreads, i, slope)

    @njit(cache=True, nogil=True, error_model="numpy")
    def pull_far(scores, first, size, active, alpha, by_rank, out):
        """Eight rows against one active row at a time, with an exponential per pair."""
        one, nothing, rate = spread(1.0), spread(0.0), spread(alpha * LOG2E)
        for j in range(0, size, LANES):
            own = load(scores, first + j)
            total = spread(0.0)
            for i in range(active):
                ahead = (own - spread(scores[first + i])) * rate
                e = exp2_lanes(where(ahead < nothing, ahead, nothing - ahead))
                high = one / (one + e)
                total = total + spread(by_rank[i]) * high * (e * high)
            store(out, j, total)
