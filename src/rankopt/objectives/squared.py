"""Squared: regression of the gains, row by row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.groups import Groups
from rankopt.errors import SpecError
from rankopt.measures.gains import graded
from rankopt.objectives.base import Objective, Sloped
from rankopt.objectives.target import shares


@dataclass(frozen=True)
class Squared(Objective):
    r"""The squared error of scores that should be gains.

    Definition
    ----------
    .. math:: \frac{1}{N} \sum_q c_q \min_o \sum_i b_i \, (s_i - g_i - o)^2, \qquad N = \sum_q c_q m_q

    with :math:`c_q` the weight of the query, :math:`m_q` its rows and :math:`b_i` = 1, or what `balanced`
    asks for. The offset o is 0, or free in each query where `centred` says so. The mean is over rows: long
    queries count more.

    Parameters
    ----------
    balanced : rows with a gain, and rows without, get the same weight in total, as in section 7 of
        [chapelle2010gradient]_.
    gain : ``exponential``, :math:`g = 2^y - 1`, or ``linear``, the labels.
    centred : scores and gains are compared after their means within the query have been taken off, as only
        differences within a query matter to its order.

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
    gain: str = "exponential"
    centred: bool = False

    def __post_init__(self) -> None:
        if self.gain not in ("exponential", "linear"):
            raise SpecError(f"squared: unknown gain {self.gain!r}; use exponential or linear")

    def bind(self, y: Floats, groups: Groups, weights: Floats | None = None) -> BoundSquared:
        gains = graded("exponential" if self.gain == "exponential" else "linear", y)
        rows = groups.spread(shares(weights, groups))
        if self.balanced:
            rows = rows * balance(gains, rows)
        rows = rows * (groups.n_queries / rows.sum())
        return BoundSquared(groups, gains, rows, self.centred)


@dataclass(frozen=True, eq=False)
class BoundSquared(Sloped):
    """`Squared` on fixed labels; `rows` are weights with which the mean over queries is that over rows."""

    convex: ClassVar[bool] = True
    groups: Groups
    gains: Floats
    rows: Floats
    centred: bool

    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        away = scores - self.gains
        if self.centred:
            away -= self.groups.spread(self.groups.total(self.rows * away) / self._mass)
        pull = self.rows * away
        n = self.groups.n_queries
        return float(self.groups.total(pull * away).mean()), pull * (2.0 / n)

    def curvature(self, scores: Floats) -> Floats:
        share = 1.0
        if self.centred:
            share = 1.0 - self.rows / self.groups.spread(self._mass)
        return 2.0 * self.rows * share / self.groups.n_queries

    @property
    def _mass(self) -> Floats:
        mass = self.groups.total(self.rows)
        return np.where(mass > 0.0, mass, 1.0)

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
