"""The point inside the best interval: its middle, or where the ideal order is most likely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.kernels.luce import likelihoods, slopes_along
from rankopt.measures import BoundMeasure
from rankopt.measures.base import ordered
from rankopt.threads import over_queries

_HALVINGS = 40
_MARGIN = 0.1  # of the interval's width; its ends are exchanges, where rounding decides


@dataclass(frozen=True, eq=False)
class Likelihood:
    r"""Plackett-Luce likelihood of the ideal top rows, for choosing a point of an interval.

    Definition
    ----------
    .. math:: \sum_q \sum_{j=1}^{\tau_q} \log
              \frac{\exp(\beta f_{\mu(j)})}{\sum_{l \ge j} \exp(\beta f_{\mu(l)})}

    :math:`\mu` orders a query's rows by gain; rows of equal gain keep the order of their present
    scores, so the order of the rows in a file does not matter. :math:`\tau_q` counts the ranks within
    the cut-off that hold a gain. Rankings do not see the scale of the scores but this likelihood
    does, so :math:`\beta` is first set to its most likely value.

    References
    ----------
    [tan2013direct]_, section 2.3
    """

    offsets: Ints
    gains: Floats
    tops: Ints

    @classmethod
    def of(cls, bound: BoundMeasure) -> Likelihood:
        groups = bound.groups
        gainful = groups.total((bound.gains > 0.0).astype(np.float64)).astype(np.int64)
        tops = np.where(bound.scales > 0.0, np.minimum(gainful, bound.k), 0)
        return cls(groups.offsets, bound.gains, tops)

    def ideal(self, scores: Floats) -> Ints:
        """The objective order of the rows of each query."""
        return ordered(self.offsets, self.gains, -scores)

    def slope(self, order: Ints, scores: Floats, direction: Floats, t: float) -> float:
        """The derivative of the log-likelihood at ``scores + t * direction``."""
        out = np.empty(self.tops.size)
        over_queries(slopes_along, self.offsets, order, self.tops, scores, direction, t, out)
        return float(out.sum())

    def value(self, scores: Floats) -> float:
        """The log-likelihood of the objective order."""
        out = np.empty(self.tops.size)
        over_queries(likelihoods, self.offsets, self.ideal(scores), self.tops, scores, out)
        return float(out.sum())

    def scale(self, scores: Floats) -> float:
        """The most likely factor on the scores, within 2**-20 .. 2**20 of one over their spread."""
        spread = float(np.abs(scores - scores.mean()).max())
        if spread == 0.0:
            return 1.0
        order = self.ideal(scores)
        low, high = -20.0, 20.0
        zeros = np.zeros_like(scores)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if self.slope(order, zeros, scores / spread, 2.0**middle) > 0.0:
                low = middle
            else:
                high = middle
        return float(2.0**low / spread)

    def point(
        self, scores: Floats, direction: Floats, lo: float, hi: float, beta: float
    ) -> float | None:
        """The most likely t of the open interval, a margin off its ends; None on the whole line."""
        if not (np.isfinite(lo) or np.isfinite(hi)):
            return None
        if not np.isfinite(hi):
            hi = lo + 2.0 * (1e-3 + abs(lo))
        elif not np.isfinite(lo):
            lo = hi - 2.0 * (1e-3 + abs(hi))
        margin = _MARGIN * (hi - lo)
        low, high = lo + margin, hi - margin
        order = self.ideal(scores)
        scaled, along = beta * scores, beta * direction
        if self.slope(order, scaled, along, low) <= 0.0:
            return low
        if self.slope(order, scaled, along, high) >= 0.0:
            return high
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            if self.slope(order, scaled, along, middle) > 0.0:
                low = middle
            else:
                high = middle
        return 0.5 * (low + high)
