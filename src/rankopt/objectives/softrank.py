"""SoftRank: a measure of scores with Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.groups import Groups
from rankopt.errors import IncompatibleError, SpecError
from rankopt.kernels import noisy
from rankopt.measures import MEASURES, NDCG, Measure
from rankopt.measures.forms import POSITIONAL
from rankopt.objectives.approx import Approx
from rankopt.objectives.base import Objective, Sloped
from rankopt.objectives.target import Target
from rankopt.registry import part
from rankopt.threads import over_queries


@dataclass(frozen=True)
class SoftRank(Objective):
    r"""One minus a measure expected under Gaussian noise of the scores.

    Definition
    ----------
    With :math:`s_i \sim N(\bar s_i, \sigma^2)` row i beats row j with probability
    :math:`\pi_{ij} = \Phi((\bar s_i - \bar s_j) / (\sigma \sqrt 2))`. The trials of a row against the others
    are taken to be independent, so that its rank less one is a sum of them (*rank-binomial*), and

    .. math:: 1 - \frac{1}{Z} \sum_j g_j \sum_r P(r_j = r) \, D(r)

    ``by=expectation`` takes the discount at the expected rank, :math:`D(1 + \sum_i \pi_{ij})`, which is
    `Approx` with the error function and alpha :math:`= 1 / (2 \sigma)`.

    Parameters
    ----------
    measure : a positional measure, such as NDCG, DCG, P.
    sigma : the deviation of the noise; towards 0 the value tends to the measure.
    by : ``distribution``: O(m^2) for a row with a gain, O(m k) with a cut-off k, where a query of m rows
        has many such rows O(m^3) in all; ``expectation``: O(m^2).

    References
    ----------
    [taylor2008softrank]_

    Examples
    --------
    >>> import rankopt
    >>> loss, gradient = rankopt.value_grad("softrank(ndcg, sigma=0.1)", [0.3, 0.1, 0.2], [0, 0, 1])
    >>> round(loss, 4), gradient.round(4).tolist()
    (0.3257, [0.6854, 0.4131, -1.0985])
    """

    name: ClassVar[str] = "softrank"
    measure: Measure = part(NDCG(), MEASURES)
    sigma: float = 1.0
    by: Literal["distribution", "expectation"] = "distribution"

    def __post_init__(self) -> None:
        if not 0.0 < self.sigma < np.inf:
            raise SpecError(f"softrank: sigma = {self.sigma!r} must be positive and finite")
        if self.by not in ("distribution", "expectation"):
            raise SpecError(f"softrank: unknown by {self.by!r}; use distribution or expectation")
        if self.measure.form is not POSITIONAL:
            raise IncompatibleError(
                f"softrank: takes positional measures such as ndcg@10, not {self.measure};"
                f" approx({self.measure}) or smooth({self.measure}) do"
            )

    def bind(self, y: Floats, groups: Groups, weights: Floats | None = None) -> Sloped:
        if self.by == "expectation":
            return Approx(self.measure, alpha=0.5 / self.sigma, sigmoid="erf").bind(
                y, groups, weights
            )
        return BoundSoftRank(Target.of(self.measure.bind(y, groups, weights)), self.sigma)


@dataclass(frozen=True, eq=False)
class BoundSoftRank(Sloped):
    """`SoftRank` by distribution, on fixed labels."""

    target: Target
    sigma: float

    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        values, grad = self._values(scores)
        return float(np.mean(self.target.rest - values)), grad

    def estimates(self, scores: Floats) -> Floats:
        return self.target.rest - self._values(scores)[0]

    def cooled(self, tau: float) -> BoundSoftRank:
        return replace(self, sigma=tau)

    def take(self, queries: Ints) -> BoundSoftRank:
        return replace(self, target=self.target.take(queries)[0])

    def _values(self, scores: Floats) -> tuple[Floats, Floats]:
        """The weighted value of each query, and the derivative of the loss."""
        target = self.target
        values, grad = np.empty(target.groups.n_queries), np.empty_like(scores)
        over_queries(
            noisy.value_grads, target.groups.offsets, scores, target.gains, target.scales, target.table,
            target.k, self.sigma, values, grad,
        )  # fmt: skip
        return values, grad / -target.groups.n_queries
