"""Lambda: pairwise logistic losses weighted by what exchanges change (LambdaRank, LambdaMART)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.groups import Groups
from rankopt.errors import SpecError
from rankopt.kernels.lambdas import lambdas
from rankopt.measures import MEASURES, NDCG, Measure
from rankopt.measures.base import ordered
from rankopt.objectives.base import Objective, Sloped
from rankopt.objectives.target import Target
from rankopt.registry import part
from rankopt.threads import over_queries


@dataclass(frozen=True)
class Lambda(Objective):
    r"""LambdaRank's loss: each pair counts by what its exchange would change in the measure.

    Definition
    ----------
    .. math:: 1 - M^*_q + \sum_{(i, j)} |\Delta_{ij}| \log \big( 1 + e^{-\sigma (s_i - s_j)} \big)

    over the pairs of a query of which row i should be ranked above row j: exchanging the two in the
    present order changes the measure by :math:`\Delta_{ij}`. The order changes with the scores, and so do
    the weights; between two exchanges of ranks they are constant, and there the gradients (the
    lambdas) are those of the value. At an exchange the value jumps: it is a guide for boosting and for
    stochastic gradients, not for a line search. :math:`M^*_q` is the best value the query can have.
    Among equal scores the lower gain comes first.

    Parameters
    ----------
    measure : a measure whose form has the changes by exchanges.
    sigma : steepness of the logistic function, by the scale of the scores.

    References
    ----------
    [burges2006learning]_; [burges2010overview]_

    Examples
    --------
    >>> import rankopt
    >>> loss, gradient = rankopt.value_grad("lambda(ndcg@2)", [0.3, 0.1, 0.2], [0, 0, 1])
    >>> round(loss, 4), gradient.round(4).tolist()
    (0.6813, [0.1938, 0.2997, -0.4935])
    """

    name: ClassVar[str] = "lambda"
    measure: Measure = part(NDCG(), MEASURES)
    sigma: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.sigma < np.inf:
            raise SpecError(f"lambda: sigma = {self.sigma!r} must be positive and finite")
        self.measure.form.need("swaps")

    def bind(self, y: Floats, groups: Groups, weights: Floats | None = None) -> BoundLambda:
        bound = self.measure.bind(y, groups, weights)
        target = Target.of(bound)
        least = bound.weights - bound.scales * bound.ideal
        return BoundLambda(target, least, self.sigma)


@dataclass(frozen=True, eq=False)
class BoundLambda(Sloped):
    """`Lambda` on fixed labels; `least` is the loss of each query without its pairs."""

    target: Target
    least: Floats
    sigma: float

    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        values, grad, _ = self._lambdas(scores, True)
        return float(np.mean(self.least + self.target.scales * values)), grad

    def curvature(self, scores: Floats) -> Floats:
        return self._lambdas(scores, False)[2]

    def slopes(self, scores: Floats) -> tuple[Floats, Floats | None]:
        _, grad, curve = self._lambdas(scores, False)
        return grad, curve

    def take(self, queries: Ints) -> BoundLambda:
        return replace(self, target=self.target.take(queries)[0], least=self.least[queries])

    def _lambdas(self, scores: Floats, valued: bool) -> tuple[Floats, Floats, Floats]:
        target, offsets = self.target, self.target.groups.offsets
        order = ordered(offsets, scores, target.gains)
        values, grad, curve = (
            np.empty(offsets.size - 1),
            np.empty_like(scores),
            np.empty_like(scores),
        )
        over_queries(
            lambdas, offsets, order, scores, target.gains, target.table, target.k, target.scales,
            target.measure.form.code, self.sigma, valued, values, grad, curve,
        )  # fmt: skip
        queries = target.groups.n_queries
        return values, grad / queries, curve / queries
