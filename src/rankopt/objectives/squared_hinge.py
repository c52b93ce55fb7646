"""SquaredHinge: the squared hinge of all pairs (RankSVM), by sorting."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.groups import Groups
from rankopt.errors import SpecError
from rankopt.kernels import hinges
from rankopt.objectives.base import Objective, Sloped
from rankopt.objectives.target import shares
from rankopt.threads import over_queries


@dataclass(frozen=True)
class SquaredHinge(Objective):
    r"""The mean squared hinge of pairs of rows with different labels: RankSVM in the primal.

    Definition
    ----------
    .. math:: \frac{1}{P} \sum_q c_q \sum_{y_i > y_j} \max(0, 1 - (s_i - s_j))^2, \qquad
              P = \sum_q c_q P_q

    with :math:`P_q` the pairs of a query and :math:`c_q` its weight. ``over=queries`` takes the mean over
    the pairs of each query first, so that all queries count the same.

    Parameters
    ----------
    over : ``pairs`` or ``queries``.

    Notes
    -----
    Rows are sorted once and counted in a tree over labels: O(m log m) for a query of m rows, whatever
    the number of pairs.

    References
    ----------
    [joachims2002optimizing]_; [chapelle2010efficient]_; [airola2011training]_

    Examples
    --------
    >>> import rankopt
    >>> loss, gradient = rankopt.value_grad("squared-hinge", [0.5, 0.0], [0, 1])
    >>> loss, gradient.tolist()
    (2.25, [3.0, -3.0])
    """

    name: ClassVar[str] = "squared-hinge"
    over: Literal["pairs", "queries"] = "pairs"

    def __post_init__(self) -> None:
        if self.over not in ("pairs", "queries"):
            raise SpecError(f"squared-hinge: unknown over {self.over!r}; use pairs or queries")

    def bind(self, y: Floats, groups: Groups, weights: Floats | None = None) -> BoundSquaredHinge:
        share = shares(weights, groups)
        pairs = np.empty(groups.n_queries)
        over_queries(hinges.pairs_of, groups.offsets, y, pairs)
        if self.over == "queries":
            return BoundSquaredHinge(groups, y, share / np.maximum(pairs, 1.0))
        mean = float(np.mean(share * pairs))
        return BoundSquaredHinge(groups, y, share / (mean if mean > 0.0 else 1.0))


@dataclass(frozen=True, eq=False)
class BoundSquaredHinge(Sloped):
    """`SquaredHinge` on fixed labels: factors of the sums of each query."""

    convex: ClassVar[bool] = True
    groups: Groups
    y: Floats
    factors: Floats

    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        values, grad = np.empty(self.groups.n_queries), np.empty_like(scores)
        over_queries(hinges.squared_hinges, self.groups.offsets, scores, self.y, values, grad)
        each = self.factors / self.groups.n_queries
        return float(np.mean(self.factors * values)), self.groups.spread(each) * grad

    def take(self, queries: Ints) -> BoundSquaredHinge:
        groups, rows = self.groups.take(queries)
        return replace(self, groups=groups, y=self.y[rows], factors=self.factors[queries])
