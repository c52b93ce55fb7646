"""Approx: a measure at soft ranks (ApproxNDCG, ApproxAP and the like)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.groups import Groups
from rankopt.errors import SpecError
from rankopt.kernels import softforms, softrank
from rankopt.kernels.steps import ARCTAN, ERF, LOGISTIC
from rankopt.measures import MEASURES, NDCG, Measure
from rankopt.measures.forms import CONCORDANCE
from rankopt.objectives.base import Objective, Sloped
from rankopt.objectives.target import Target, by_gain
from rankopt.registry import part
from rankopt.threads import over_queries

Sigmoid = Literal["logistic", "arctangent", "tanh", "erf"]
# The hyperbolic tangent is the logistic function at twice the argument.
_CURVES = {
    "logistic": (LOGISTIC, 1.0),
    "arctangent": (ARCTAN, 1.0),
    "tanh": (LOGISTIC, 2.0),
    "erf": (ERF, 1.0),
}
_SPARE = 8


@dataclass(frozen=True)
class Approx(Objective):
    r"""One minus a measure at soft ranks: differentiable, and as near to the measure as asked for.

    Definition
    ----------
    Ranks, and where the measure needs it the precedence of pairs, are smooth functions of the scores:

    .. math:: \hat r_i = 1 + \sum_{j \ne i} \sigma(\alpha (s_j - s_i)), \qquad
              [r_i < r_j] \approx \sigma(\beta (\hat r_j - \hat r_i)), \qquad
              [r_i \le k] \approx \sigma(\beta (k + \tfrac12 - \hat r_i))

    with :math:`\sigma(z) = 1 / (1 + e^{-z})`. With gains g and discounts D of the measure its value is,
    before it is normalised,

    * positional (NDCG, precision, RBP): :math:`\sum_i g_i D(\hat r_i)`
    * cumulative (AP): :math:`\sum_i g_i D(\hat r_i) (g_i + \sum_{j \ne i} g_j [r_j < r_i])`
    * cascade (ERR, RR): :math:`\sum_i g_i D(\hat r_i) \prod_{j \ne i} (1 - g_j [r_j < r_i])`
    * concordance (Kendall's tau): :math:`\sum_{g_i > g_j} (2 \sigma(\alpha (s_i - s_j)) - 1)`

    and a cut-off multiplies D by the last of the three approximations. It stands half way between the
    ranks k and k + 1, so that the value tends to the measure as alpha and beta grow.

    Parameters
    ----------
    measure : a measure of one of the four forms.
    alpha : steepness of the ranks, by the scale of the scores. The paper tries 10 to 300.
    beta : steepness of precedence and cut-off, by ranks. The paper tries 1 to 100.
    sigmoid : ``logistic``; or ``arctangent``, ``tanh``, ``erf``, each scaled to rise from 0 to 1.

    References
    ----------
    [qin2010general]_

    Examples
    --------
    >>> import rankopt
    >>> loss, gradient = rankopt.value_grad("approx(ndcg, alpha=5)", [0.3, 0.1, 0.2], [0, 0, 1])
    >>> round(loss, 4), gradient.round(4).tolist()
    (0.3691, [0.2249, 0.2249, -0.4499])
    """

    name: ClassVar[str] = "approx"
    measure: Measure = part(NDCG(), MEASURES)
    alpha: float = 10.0
    beta: float = 10.0
    sigmoid: Sigmoid = "logistic"

    def __post_init__(self) -> None:
        for name in ("alpha", "beta"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise SpecError(
                    f"approx: {name} = {getattr(self, name)!r} must be positive and finite"
                )
        if self.sigmoid not in _CURVES:
            raise SpecError(
                f"approx: unknown sigmoid {self.sigmoid!r}; use one of {', '.join(_CURVES)}"
            )
        if self.measure.form is not CONCORDANCE:
            self.measure.form.need("softs")

    def bind(self, y: Floats, groups: Groups, weights: Floats | None = None) -> Sloped:
        target = Target.of(self.measure.bind(y, groups, weights))
        if self.measure.form is CONCORDANCE:
            return BoundConcordance(target, by_gain(target.gains, groups), self)
        return BoundApprox.of(target, self)


@dataclass(frozen=True, eq=False)
class BoundApprox(Sloped):
    """`Approx` on fixed labels.

    Parameters
    ----------
    target : the measure, on rows as stored.
    order : the rows, those of each query in descending order of gain.
    heads : offsets of the rows with a gain, which alone need a rank.
    active : where these stand in `order`.
    gains : their gains.
    spec : the objective.
    by_scores : whether precedence is a step of scores, with steepness beta, and not one of ranks.
    """

    target: Target
    order: Ints
    heads: Ints
    active: Ints
    gains: Floats
    spec: Approx
    by_scores: bool = False

    @classmethod
    def of(cls, target: Target, spec: Approx, by_scores: bool = False) -> BoundApprox:
        """Put the rows with a gain first; queries that no order changes have none."""
        groups = target.groups
        order = by_gain(target.gains, groups)
        counts = groups.total((target.gains > 0.0).astype(np.float64)).astype(np.int64)
        counts[target.scales == 0.0] = 0
        heads = np.concatenate(([0], np.cumsum(counts)))
        active = np.arange(heads[-1]) + np.repeat(groups.offsets[:-1] - heads[:-1], counts)
        return cls(target, order, heads, active, target.gains[order[active]], spec, by_scores)

    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        x = spare(scores[self.order])
        ranks, spreads = self._ranks(x)
        values, by_rank, by_position = self._values(ranks, x)
        factor = np.repeat(-self.target.scales / self.target.scales.size, np.diff(self.heads))
        if not self.by_scores:
            by_rank += by_position
        by_rank *= factor
        curve, steeper = _CURVES[self.spec.sigmoid]
        pulled = np.empty_like(scores)
        over_queries(
            softrank.pullback, self.target.groups.offsets, self.heads, x, steeper * self.spec.alpha,
            curve, spreads, by_rank, pulled,
        )  # fmt: skip
        if self.by_scores:
            pulled[self.active] -= factor * by_position
        grad = np.empty_like(scores)
        grad[self.order] = pulled
        return self.target.loss(values), grad

    def ranks(self, scores: Floats) -> tuple[Floats, Ints]:
        """The soft ranks of the rows with a gain, and which rows they are."""
        return self._ranks(spare(scores[self.order]))[0], self.order[self.active]

    def estimates(self, scores: Floats) -> Floats:
        x = spare(scores[self.order])
        values, _, _ = self._values(self._ranks(x)[0], x)
        return self.target.rest - self.target.scales * values

    def cooled(self, tau: float) -> BoundApprox:
        beta = 1.0 / tau if self.by_scores else max(self.spec.beta, 1.0 / tau)
        return replace(self, spec=replace(self.spec, alpha=1.0 / tau, beta=beta))

    def take(self, queries: Ints) -> BoundApprox:
        return BoundApprox.of(self.target.take(queries)[0], self.spec, self.by_scores)

    def _ranks(self, x: Floats) -> tuple[Floats, Floats]:
        curve, steeper = _CURVES[self.spec.sigmoid]
        ranks, spreads = np.empty(self.active.size), np.empty(self.active.size)
        over_queries(
            softrank.soft_ranks, self.target.groups.offsets, self.heads, x, steeper * self.spec.alpha,
            curve, ranks, spreads,
        )  # fmt: skip
        return ranks, spreads

    def _values(self, ranks: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
        """The raw value of each query, and its derivatives by the soft ranks and by the positions."""
        measure, (curve, steeper) = self.target.measure, _CURVES[self.spec.sigmoid]
        discounts, slopes = measure.discounts(ranks), measure.slopes(ranks)
        beta = steeper * self.spec.beta
        if measure.depth is not None:
            kept, falls = np.empty_like(ranks), np.empty_like(ranks)
            over_queries(
                softforms.cut_off, self.heads, ranks, measure.depth, beta, curve, kept, falls
            )
            slopes = slopes * kept + discounts * falls
            discounts = discounts * kept
        positions = -x[self.active] if self.by_scores else ranks
        values = np.empty(self.heads.size - 1)
        by_discount, by_position = np.empty_like(ranks), np.empty_like(ranks)
        over_queries(
            measure.form.need("softs"), self.heads, positions, self.gains, discounts, beta, curve,
            values, by_discount, by_position,
        )  # fmt: skip
        return values, by_discount * slopes, by_position


@dataclass(frozen=True, eq=False)
class BoundConcordance(Sloped):
    """`Approx` of Kendall's tau on fixed labels: a sum over pairs, without ranks."""

    target: Target
    order: Ints
    spec: Approx

    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        values, pulled = self._values(scores)
        grad = np.empty_like(scores)
        groups = self.target.groups
        grad[self.order] = pulled * groups.spread(-self.target.scales / groups.n_queries)
        return self.target.loss(values), grad

    def estimates(self, scores: Floats) -> Floats:
        return self.target.rest - self.target.scales * self._values(scores)[0]

    def cooled(self, tau: float) -> BoundConcordance:
        return replace(self, spec=replace(self.spec, alpha=1.0 / tau))

    def take(self, queries: Ints) -> BoundConcordance:
        target, _ = self.target.take(queries)
        return BoundConcordance(target, by_gain(target.gains, target.groups), self.spec)

    def _values(self, scores: Floats) -> tuple[Floats, Floats]:
        target, (curve, factor) = self.target, _CURVES[self.spec.sigmoid]
        values, pulled = np.empty(target.groups.n_queries), np.empty_like(scores)
        over_queries(
            softforms.concordance, target.groups.offsets, scores[self.order], target.gains[self.order],
            factor * self.spec.alpha, curve, values, pulled,
        )  # fmt: skip
        return values, pulled


def spare(values: Floats) -> Floats:
    """The values with spare elements at the end: kernels read whole vectors."""
    return np.append(values, np.zeros(_SPARE))
