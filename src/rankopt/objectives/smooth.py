"""Smooth: a measure of a soft permutation (SmoothNDCG, SmoothAP and the like)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.groups import Groups
from rankopt.errors import IncompatibleError, SpecError
from rankopt.kernels import softperm
from rankopt.measures import MEASURES, NDCG, Measure
from rankopt.measures.forms import CUMULATIVE
from rankopt.objectives.approx import Approx, BoundApprox, spare
from rankopt.objectives.base import Objective, Sloped
from rankopt.objectives.target import Target
from rankopt.registry import part
from rankopt.threads import over_queries


@dataclass(frozen=True)
class Smooth(Objective):
    r"""One minus a measure of a soft permutation.

    Definition
    ----------
    With :math:`c_j` the score ranked at j, row i stands there to the degree

    .. math:: h_{ij} = e^{-(s_i - c_j)^2 / \sigma} \Big/ \sum_l e^{-(s_l - c_j)^2 / \sigma}

    and the measure is taken of the expected gains :math:`p_j = \sum_i g_i h_{ij}` in place of the gains
    at the ranks: :math:`\sum_j D_j p_j` for positional measures, :math:`\sum_j D_j p_j \sum_{l \le j} p_l`
    for AP, :math:`\sum_j D_j p_j \prod_{l<j} (1 - p_l)` for cascades. The value is continuous; where rows
    tie it has a kink, and their derivatives are the means that hold when they move together.

    ``by=pairs`` is the other form of average precision, equation 9: the soft ranks of `Approx` with
    alpha :math:`= 1 / \sigma`, and precedence by scores. A row counts itself once, as in equation 4.

    Parameters
    ----------
    measure : a positional, cascade or cumulative measure. With a cut-off k the work is O(m k), else
        O(m^2).
    sigma : the smoothing, by the squared scale of the scores. Its solver brings it down from
        2^6 to 2^-6.
    by : ``ranks``; ``pairs`` for average precision without a cut-off.

    References
    ----------
    [chapelle2010gradient]_

    Examples
    --------
    >>> import rankopt
    >>> loss, gradient = rankopt.value_grad("smooth(ndcg@2, sigma=0.1)", [0.3, 0.1, 0.2], [0, 0, 1])
    >>> round(loss, 4), gradient.round(4).tolist()
    (0.4241, [-0.0547, 0.5105, -0.4558])
    """

    name: ClassVar[str] = "smooth"
    measure: Measure = part(NDCG(), MEASURES)
    sigma: float = 1.0
    by: Literal["ranks", "pairs"] = "ranks"

    def __post_init__(self) -> None:
        if not 0.0 < self.sigma < np.inf:
            raise SpecError(f"smooth: sigma = {self.sigma!r} must be positive and finite")
        if self.by not in ("ranks", "pairs"):
            raise SpecError(f"smooth: unknown by {self.by!r}; use ranks or pairs")
        self.measure.form.need("slopes")
        if self.by == "pairs" and (
            self.measure.form is not CUMULATIVE or self.measure.depth is not None
        ):
            raise IncompatibleError(
                f"smooth: by=pairs is for average precision without a cut-off, not {self.measure};"
                f" use smooth({self.measure}) or approx({self.measure})"
            )

    def bind(self, y: Floats, groups: Groups, weights: Floats | None = None) -> Sloped:
        target = Target.of(self.measure.bind(y, groups, weights))
        if self.by == "pairs":
            soft = Approx(self.measure, alpha=1.0 / self.sigma, beta=1.0 / self.sigma)
            return BoundApprox.of(target, soft, by_scores=True)
        return BoundSmooth(target, spare(target.gains), self.sigma)


@dataclass(frozen=True, eq=False)
class BoundSmooth(Sloped):
    """`Smooth` by ranks, on fixed labels; `gains` end with spare elements."""

    target: Target
    gains: Floats
    sigma: float

    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        values, grad = self._values(scores)
        return float(np.mean(self.target.rest - values)), grad

    def estimates(self, scores: Floats) -> Floats:
        return self.target.rest - self._values(scores)[0]

    def cooled(self, tau: float) -> BoundSmooth:
        return replace(self, sigma=tau)

    def take(self, queries: Ints) -> BoundSmooth:
        target, _ = self.target.take(queries)
        return replace(self, target=target, gains=spare(target.gains))

    def _values(self, scores: Floats) -> tuple[Floats, Floats]:
        """The weighted value of each query, and the derivative of the loss."""
        target = self.target
        values, grad = np.empty(target.groups.n_queries), np.empty_like(scores)
        over_queries(
            softperm.value_grads, target.groups.offsets, spare(scores), self.gains, target.scales,
            target.table, target.k, target.measure.form.code, self.sigma, values, grad,
        )  # fmt: skip
        grad /= -target.groups.n_queries
        return values, grad
