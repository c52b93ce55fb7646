# pyright: basic
"""The rows at the first ranks of a query, without a sort of all of them."""

import numpy as np
from numba import config, njit

_COUNTED = 512  # rows up to here are ranked by counting those above each; a sort is quicker beyond


def _leaders_plain(scores, first, size, depth, order, rows, above, found):
    order[:depth] = np.argsort(-scores[first : first + size], kind="mergesort")[:depth]
    return True


if config.DISABLE_JIT:
    leaders = _leaders_plain
else:
    from rankopt.kernels.lanes import bits, count, load, lowest, ramp, spread, store, where, whole
    from rankopt.kernels.sums import LANES

    @njit(cache=True, nogil=True)
    def leaders(scores, first, size, depth, order, rows, above, found):
        """Write the rows at the first `depth` ranks into `order`, those that tie in any order.

        False where it is certain that none of them ties with any row.

        `scores` end with 8 spare elements; the other lists have room for 8 more than the query has rows.
        """
        groups = (8 * depth // 5 + LANES) // LANES * LANES
        if size >= 3 * groups:
            least = lower_bound(scores, first, size, depth, groups, found)
            kept = at_least(least, scores, first, size, rows, found)
            if kept <= _COUNTED:
                tied = place(found, kept, above, order)
                for r in range(depth):
                    order[r] = rows[order[r]]
                return tied
        if size <= _COUNTED:
            lane, nothing = ramp(spread(0.0)), spread(-np.inf)
            for i in range(0, size, LANES):
                v = load(scores, first + i)
                store(found, i, where(lane < whole(v, size - i), v, nothing))
            return place(found, size, above, order)
        order[:depth] = np.argsort(-scores[first : first + size], kind="mergesort")[:depth]
        return True

    @njit(cache=True, nogil=True)
    def lower_bound(scores, first, size, depth, groups, found):
        """A score that `depth` rows have or are above: the one at that rank among the heads of groups."""
        for g in range(0, groups, LANES):
            highest = load(scores, first + g)
            for i in range(g + groups, size - LANES + 1, groups):
                other = load(scores, first + i)
                highest = where(other > highest, other, highest)
            store(found, g, highest)
        least = np.inf
        for g in range(groups):
            if found[g] < least:
                above = 0
                for h in range(groups):
                    above += found[h] > found[g]
                if above < depth:
                    least = found[g]
        return least

    @njit(cache=True, nogil=True)
    def at_least(least, scores, first, size, rows, found):
        """Write the rows with at least that score and their scores; return how many there are.

        Scores that are no numbers count as such: there are never less than `depth` rows.
        """
        limit = spread(least)
        kept = 0
        for i in range(0, size, LANES):
            there = ~bits(load(scores, first + i) < limit) & ((1 << min(LANES, size - i)) - 1)
            while there:
                row = i + lowest(there)
                rows[kept], found[kept] = row, scores[first + row]
                kept += 1
                there &= there - 1
        store(found, kept, spread(-np.inf))
        return kept

    @njit(cache=True, nogil=True)
    def place(scores, size, above, order):
        """Write the order of a list by counting for every element those above it; true where any tie.

        The list goes on with minus infinity to the end of the vector.
        """
        for c in range(0, size, LANES):
            own = load(scores, c)
            higher = whole(own, 0)
            for j in range(0, size, LANES):
                for lane in range(LANES):
                    higher = count(spread(scores[j + lane]) > own, higher)
            store(above, c, higher)
        for i in range(size):
            order[i] = -1
        tied = False
        for i in range(size):
            rank = above[i]
            while order[rank] >= 0:
                rank += 1
                tied = True
            order[rank] = i
        return tied
