"""StepFunction: the value of a measure along a direction, constant between breakpoints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankopt.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class StepFunction:
    """The best open interval of t in ``scores + t * direction``, and on request every interval.

    The value is that inside the interval. At a breakpoint itself scores tie and the pessimistic
    convention may give less, which is why intervals are open.

    Among intervals with the best value the one that holds t = 0 is chosen (no step is better than a
    step without gain); if none does, the widest, where a half-infinite interval counts as wide as
    twice the way from its edge to `point`; then the one nearest to 0, then the lower one.

    Parameters
    ----------
    lo, hi : the interval; infinite, or equal to a bound, where no breakpoint ends it.
    value : the measure there.
    total : the same as an exact integer, see `FixedPoint`.
    breakpoints : with ``full=True`` every t inside the bounds where the value changes, ascending;
        points closer than a relative 1e-12 are one.
    values : with ``full=True`` the value on each of the n + 1 open intervals between them.
    """

    lo: float
    hi: float
    value: float
    total: int
    breakpoints: Floats | None = None
    values: Floats | None = None
    totals: Ints | None = None

    @property
    def point(self) -> float:
        """A t inside the interval: its middle, or for a half-infinite one a little past its edge.

        >>> StepFunction(0.5, 1.5, 1.0, 1).point, round(StepFunction(-np.inf, -2.0, 1.0, 1).point, 6)
        (1.0, -4.001)
        """
        return inner_points(self.lo, self.hi)[0]

    @property
    def points(self) -> tuple[float, ...]:
        """Points to try in turn. The first may fall on a tie that no breakpoint marks, as ties between
        equals in value do not change it outside of that one t."""
        return inner_points(self.lo, self.hi)


def inner_points(lo: float, hi: float) -> tuple[float, ...]:
    """A few points inside an open interval, the most central first."""
    if np.isinf(lo) and np.isinf(hi):
        return (0.0, 0.4837, -0.5163)
    if np.isinf(lo):
        return tuple(hi - share * 2.0 * (1e-3 + abs(hi)) for share in (0.5, 0.4837, 0.3719))
    if np.isinf(hi):
        return tuple(lo + share * 2.0 * (1e-3 + abs(lo)) for share in (0.5, 0.4837, 0.3719))
    return tuple(lo + share * (hi - lo) for share in (0.5, 0.4837, 0.3719))
