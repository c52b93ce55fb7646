# pyright: basic
"""One rank's Gaussian weights over the rows of a query, and their pullback, in vector code.

A query's rows start at `first` of the arrays of all rows. Whole vectors are read, so these arrays end
with a spare vector; lanes past the query's `size` have weight 0.
"""

import numpy as np
from numba import config, njit

from rankopt.kernels.exponential import LOWEST


def _weigh_plain(scores, gains, first, size, centre, rate, room, base):
    rows = slice(first, first + size)
    near = np.exp2(np.maximum(-rate * (scores[rows] - centre) ** 2, LOWEST))
    room[base : base + size] = near
    mass = near.sum()
    return mass, (near * gains[rows]).sum() / mass


def _pull_plain(scores, gains, first, size, centre, mean, factor, room, base, out):
    rows = slice(first, first + size)
    near = room[base : base + size]
    change = factor * near * (scores[rows] - centre) * (gains[rows] - mean)
    out[:size] += change
    return change.sum()


if config.DISABLE_JIT:
    weigh, pull = _weigh_plain, _pull_plain
else:
    from rankopt.kernels.exponential import exp2_lanes
    from rankopt.kernels.lanes import load, ramp, spread, store, where, whole
    from rankopt.kernels.sums import LANES, across

    @njit(cache=True, nogil=True, error_model="numpy")
    def weigh(scores, gains, first, size, centre, rate, room, base):
        """Write 2^(-rate (score - centre)^2) into `room` from `base` on; return their sum, and the
        mean of the gains under them.
        """
        middle, slope, nothing = spread(centre), spread(-rate), spread(0.0)
        mass = earned = nothing
        place = ramp(middle)
        for i in range(0, size, LANES):
            away = load(scores, first + i) - middle
            inside = place < whole(middle, size - i)
            weight = where(inside, exp2_lanes(away * away * slope), nothing)
            store(room, base + i, weight)
            mass = mass + weight
            earned = earned + weight * load(gains, first + i)
        total = across(mass)
        return total, across(earned) / total

    @njit(cache=True, nogil=True, error_model="numpy")
    def pull(scores, gains, first, size, centre, mean, factor, room, base, out):
        """Add ``factor * weight * (score - centre) * (gain - mean)`` with the weights written by
        `weigh`, and return its sum.
        """
        middle, expected, times = spread(centre), spread(mean), spread(factor)
        moved = spread(0.0)
        for i in range(0, size, LANES):
            away = load(scores, first + i) - middle
            change = away * (load(gains, first + i) - expected) * load(room, base + i) * times
            store(out, i, load(out, i) + change)
            moved = moved + change
        return across(moved)
