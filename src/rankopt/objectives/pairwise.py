"""Pairwise: weighted losses of the difference of two scores (RankNet, RankSVM and the like)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.groups import Groups
from rankopt.errors import SpecError
from rankopt.kernels import pairs
from rankopt.objectives.base import Objective, Sloped
from rankopt.objectives.levels import Levels, mean_one
from rankopt.objectives.weighting import PAIRS, PairWeights, check_max_grade, check_weight
from rankopt.threads import over_queries

Loss = Literal["logistic", "hinge", "quadratic", "exponential"]
_KERNELS: dict[str, Any] = {
    "logistic": pairs.logistic,
    "hinge": pairs.hinge,
    "quadratic": pairs.quadratic,
    "exponential": pairs.exponential,
}


@dataclass(frozen=True)
class Pairwise(Objective):
    r"""A sum of weighted losses over the pairs of rows of unequal grade.

    Definition
    ----------
    .. math:: \ell = \sum_{r_i > r_j} V_{ij} \, \varphi(s_i - s_j)

    with, of a margin u, :math:`\varphi(u)` one of

    * ``logistic``: :math:`\log(1 + e^{-u})`
    * ``hinge``: :math:`\max(0, 1 - u)`
    * ``quadratic``: :math:`(1 - u)^2`
    * ``exponential``: :math:`e^{-u}`, and its tangent at -500 for margins below that

    The value is the mean over queries of these sums; pairs are not counted. The logistic loss takes
    O(m^2), the others O(m log m + m g) with g different grades in the query.

    Parameters
    ----------
    loss : :math:`\varphi`.
    weight : :math:`V_{ij}`, by `rankopt.objectives.weighting.PairWeights`: ``none``, ``inverse-size``,
        ``grade-difference``, ``gain-difference``, ``gain-discount-difference``, ``max-ndcg``, each also with
        ``-normalised``.
    max_grade : the highest grade of the scale of labels, which only scales the gains.

    References
    ----------
    [tran2011learning]_, equation 9, tables 3 and 9

    Examples
    --------
    >>> import rankopt
    >>> loss, gradient = rankopt.value_grad("pairwise(hinge)", [0.5, 0.0, 0.25], [0, 0, 1])
    >>> loss, gradient.tolist()
    (2.0, [1.0, 1.0, -2.0])
    """

    name: ClassVar[str] = "pairwise"
    loss: Loss = "logistic"
    weight: str | None = None
    max_grade: float = 4.0

    def __post_init__(self) -> None:
        if self.loss not in _KERNELS:
            raise SpecError(
                f"pairwise: unknown loss {self.loss!r}; use one of {', '.join(_KERNELS)}"
            )
        check_weight(self.weight, PAIRS, "pairwise")
        check_max_grade(self.max_grade, "pairwise")

    def bind(self, y: Floats, groups: Groups, weights: Floats | None = None) -> BoundPairwise:
        levels = Levels.of(y, groups)
        pair_weights = PairWeights.of(self.weight, levels, self.max_grade)
        return BoundPairwise(self, levels, pair_weights, mean_one(weights, groups))


@dataclass(frozen=True, eq=False)
class BoundPairwise(Sloped):
    """`Pairwise` on fixed labels.

    Parameters
    ----------
    levels : the rows by grade.
    pair_weights : of pairs of levels.
    weights : (n_queries,) weights of the queries, with mean 1 over all of them.
    """

    convex: ClassVar[bool] = True
    spec: Pairwise
    levels: Levels
    pair_weights: PairWeights
    weights: Floats

    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        values, slopes, _ = self._run(scores)
        return float(values.sum()), slopes

    def curvature(self, scores: Floats) -> Floats | None:
        """None for the hinge, which has none."""
        return None if self.spec.loss == "hinge" else self._run(scores)[2]

    def take(self, queries: Ints) -> BoundPairwise:
        levels = self.levels.take(queries)
        pair_weights = PairWeights.of(self.spec.weight, levels, self.spec.max_grade)
        return replace(
            self, levels=levels, pair_weights=pair_weights, weights=self.weights[queries]
        )

    def _run(self, scores: Floats) -> tuple[Floats, Floats, Floats]:
        """Losses of the queries, and first and second derivatives by the scores."""
        levels, by = self.levels, self.pair_weights
        scales = by.scales * self.weights / levels.groups.n_queries
        values = np.empty(levels.groups.n_queries)
        slopes, curvature = np.empty_like(scores), np.empty_like(scores)
        over_queries(
            _KERNELS[self.spec.loss], levels.groups.offsets, scores[levels.order], levels.offsets,
            levels.starts, by.kind, scales, by.x, by.z, values, slopes, curvature,
        )  # fmt: skip
        out = np.empty((2, scores.size))
        out[:, levels.order] = slopes, curvature
        return values, out[0], out[1]
