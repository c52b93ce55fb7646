"""ListNet: cross-entropy of the probabilities to be ranked first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.groups import Groups
from rankopt.errors import SpecError
from rankopt.measures.gains import graded
from rankopt.objectives.base import Objective, Sloped
from rankopt.objectives.target import shares


@dataclass(frozen=True)
class ListNet(Objective):
    r"""The cross-entropy of two distributions over the row that is ranked first.

    Definition
    ----------
    .. math:: -\sum_i P_i \log \frac{e^{s_i}}{\sum_j e^{s_j}}, \qquad P_i = \frac{e^{y_i}}{\sum_j e^{y_j}}

    or, with ``target=gains``, :math:`P_i = g_i / \sum_j g_j` with :math:`g = 2^y - 1`: the softmax loss.
    Then a query without a gain contributes nothing.

    Parameters
    ----------
    target : ``labels``, as in the paper, or ``gains``.

    References
    ----------
    [cao2007learning]_

    Examples
    --------
    >>> import rankopt
    >>> loss, gradient = rankopt.value_grad("listnet", [0.0, 0.0], [0, 1])
    >>> round(loss, 4), gradient.round(4).tolist()
    (0.6931, [0.2311, -0.2311])
    """

    name: ClassVar[str] = "listnet"
    target: Literal["labels", "gains"] = "labels"

    def __post_init__(self) -> None:
        if self.target not in ("labels", "gains"):
            raise SpecError(f"listnet: unknown target {self.target!r}; use labels or gains")

    def bind(self, y: Floats, groups: Groups, weights: Floats | None = None) -> BoundListNet:
        share = shares(weights, groups)
        if self.target == "labels":
            return BoundListNet(groups, softmax(y, groups)[0], share)
        gains = graded("exponential", y)
        total = groups.total(gains)
        blank = total == 0.0
        return BoundListNet(
            groups, gains / groups.spread(np.where(blank, 1.0, total)), np.where(blank, 0.0, share)
        )


@dataclass(frozen=True, eq=False)
class BoundListNet(Sloped):
    """`ListNet` on fixed labels: the probabilities aimed at, and the share of each query."""

    convex: ClassVar[bool] = True
    groups: Groups
    first: Floats
    share: Floats

    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        chances, logs = softmax(scores, self.groups)
        values = -self.groups.total(self.first * logs)
        spread = self.groups.spread(self.share / self.groups.n_queries)
        return float(np.mean(self.share * values)), spread * (chances - self.first)

    def take(self, queries: Ints) -> BoundListNet:
        groups, rows = self.groups.take(queries)
        return replace(self, groups=groups, first=self.first[rows], share=self.share[queries])


def softmax(scores: Floats, groups: Groups) -> tuple[Floats, Floats]:
    """The softmax of each query's scores, and its logarithm."""
    top = np.maximum.reduceat(scores, groups.offsets[:-1])
    below = scores - groups.spread(top)
    powers = np.exp(below)
    total = groups.total(powers)
    return powers / groups.spread(total), below - groups.spread(np.log(total))
