"""Squared: regression of the gains, row by row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.groups import Groups
from rankopt.measures.gains import graded
from rankopt.objectives.base import Objective, Sloped
from rankopt.objectives.target import shares


@dataclass(frozen=True)
class Squared(Objective):
    r"""The squared error of scores that should be gains.

    Definition
    ----------
    .. math:: \frac{1}{N} \sum_q c_q \sum_i b_i \, (s_i - g_i)^2, \qquad g = 2^y - 1, \quad
              N = \sum_q c_q m_q

    with :math:`c_q` the weight of the query, :math:`m_q` its rows and :math:`b_i` = 1, or what `balanced`
    asks for. The mean is over rows: long queries count more.

    Parameters
    ----------
    balanced : rows with a gain, and rows without, get the same weight in total, as in section 7 of
        [chapelle2010gradient]_.

    References
    ----------
    [cossock2006subset]_; [chapelle2010gradient]_

    Examples
    --------
    >>> import rankopt
    >>> rankopt.value_grad("squared", [0.0, 1.0], [0, 2])[0]
    2.0
    """

    name: ClassVar[str] = "squared"
    balanced: bool = False

    def bind(self, y: Floats, groups: Groups, weights: Floats | None = None) -> BoundSquared:
        gains = graded("exponential", y)
        rows = groups.spread(shares(weights, groups))
        if self.balanced:
            rows = rows * balance(gains, rows)
        return BoundSquared(groups, gains, rows * (groups.n_queries / rows.sum()))


@dataclass(frozen=True, eq=False)
class BoundSquared(Sloped):
    """`Squared` on fixed labels; `rows` are weights with which the mean over queries is that over rows."""

    convex: ClassVar[bool] = True
    groups: Groups
    gains: Floats
    rows: Floats

    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        away = scores - self.gains
        pull = self.rows * away
        n = self.groups.n_queries
        return float(self.groups.total(pull * away).mean()), pull * (2.0 / n)

    def curvature(self, scores: Floats) -> Floats:
        return 2.0 * self.rows / self.groups.n_queries

    def take(self, queries: Ints) -> BoundSquared:
        groups, rows = self.groups.take(queries)
        return replace(self, groups=groups, gains=self.gains[rows], rows=self.rows[rows])


def balance(gains: Floats, rows: Floats) -> Floats:
    """Factors that give rows with a gain and rows without the same total; 1 where there is one kind."""
    useful = gains > 0.0
    mine, others = float(rows[useful].sum()), float(rows[~useful].sum())
    if mine == 0.0 or others == 0.0:
        return np.ones_like(rows)
    half = 0.5 * (mine + others)
    return np.where(useful, half / mine, half / others)
