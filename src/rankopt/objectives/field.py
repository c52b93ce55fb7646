"""Losses of the random field of grades: its pseudo-likelihood, and an upper bound made of pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.groups import Groups
from rankopt.errors import DataError, SpecError
from rankopt.kernels import field
from rankopt.objectives.base import Objective, Sloped
from rankopt.objectives.levels import Levels, mean_one
from rankopt.objectives.weighting import (
    ELEMENTS,
    PAIRS,
    PairWeights,
    check_weight,
    element_weights,
)
from rankopt.threads import over_queries


@dataclass(frozen=True)
class PseudoLikelihood(Objective):
    r"""The weighted pseudo-likelihood of a random field of grades.

    Definition
    ----------
    Every two rows of a query agree with their scores to the degree of a coupling :math:`\gamma`:

    .. math:: P(r) = \frac{1}{Z} \prod_{i<j} \psi(r_i, r_j), \qquad
              \psi(r_i, r_j) = e^{\gamma \operatorname{sign}(r_i - r_j) (s_i - s_j)}

    over all grades :math:`r_i \in L = \{0, 1, \dots, \mathrm{max\_grade}\}`. Z is a sum over
    :math:`|L|^m` of them; the grade of one row given those of the others is not:

    .. math:: \ell = - \sum_i W_i \log P(r_i \mid r_{\neg i}), \qquad
              P(r_i \mid r_{\neg i}) = \frac{\prod_{j \ne i} \psi(r_i, r_j)}
              {\sum_{a \in L} \prod_{j \ne i} \psi(a, r_j)}

    Equal grades couple with 1. :math:`O(m |L|)`. (In equation 15 of the paper the sum over all pairs stands
    within :math:`\psi` by mistake.)

    Parameters
    ----------
    weight : :math:`W_i`, as in `PlackettLuce`.
    coupling : :math:`\gamma`; None is :math:`2 / (m (m - 1))` with m the rows of the query.
    max_grade : the highest grade of the scale. Labels are whole numbers up to it.

    References
    ----------
    [tran2011learning]_, equation 16; [besag1975statistical]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> text = "pseudo-likelihood(coupling=1, max_grade=1)"
    >>> loss, _ = rankopt.value_grad(text, np.log([4.0, 1.0]), [1, 0])
    >>> round(loss, 4), round(float(2 * np.log(5 / 4)), 4)  # odds of 4 to 1, twice
    (0.4463, 0.4463)
    """

    name: ClassVar[str] = "pseudo-likelihood"
    weight: str | None = None
    coupling: float | None = None
    max_grade: int = 4

    def __post_init__(self) -> None:
        check_weight(self.weight, ELEMENTS, self.name)
        _check_field(self.coupling, self.max_grade, self.name)

    def bind(
        self, y: Floats, groups: Groups, weights: Floats | None = None
    ) -> BoundPseudoLikelihood:
        grades = _grades(y, groups, self.max_grade, self.name)
        row_weights = element_weights(self.weight, y, groups, self.max_grade)
        return BoundPseudoLikelihood(self, groups, grades, row_weights, mean_one(weights, groups))


@dataclass(frozen=True, eq=False)
class BoundPseudoLikelihood(Sloped):
    """`PseudoLikelihood` on fixed grades, with weights of rows and of queries (of mean 1)."""

    convex: ClassVar[bool] = True
    spec: PseudoLikelihood
    groups: Groups
    grades: Ints
    row_weights: Floats
    weights: Floats

    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        value, slopes, _ = self._run(scores)
        return value, slopes

    def curvature(self, scores: Floats) -> Floats | None:
        return self._run(scores)[2]

    def take(self, queries: Ints) -> BoundPseudoLikelihood:
        groups, rows = self.groups.take(queries)
        return replace(
            self,
            groups=groups,
            grades=self.grades[rows],
            row_weights=self.row_weights[rows],
            weights=self.weights[queries],
        )

    def _run(self, scores: Floats) -> tuple[float, Floats, Floats]:
        groups, values = self.groups, np.empty(self.groups.n_queries)
        slopes, curvature = np.empty_like(scores), np.empty_like(scores)
        over_queries(
            field.pseudo_likelihood, groups.offsets, scores, self.grades, self.spec.max_grade + 1,
            self.row_weights, couplings(self.spec.coupling, groups), self.weights / values.size, values,
            slopes, curvature,
        )  # fmt: skip
        return float(values.sum()), slopes, curvature


@dataclass(frozen=True)
class PairUpperBound(Objective):
    r"""The weighted upper bound of the random field's loss, made of pairs.

    Definition
    ----------
    With the field of `PseudoLikelihood`,

    .. math:: \ell = - \sum_{i<j} W_{ij} \log Q(r_i, r_j), \qquad
              Q(r_i, r_j) = \frac{\psi(r_i, r_j)}{\sum_{a, b \in L} \psi(a, b)}

    and with unit weights :math:`- \log P(r) \le \ell + C`, where :math:`C = (m - 2) \log |L|`. Pairs of equal
    grade pull their scores together, save under weights that are differences of grades: those of equal grades
    are 0. O(m^2).

    Parameters
    ----------
    weight : :math:`W_{ij}`, as in `Pairwise`. The paper advises against those made of grades, which the
        field already accounts for, and uses them nonetheless with success.
    coupling : :math:`\gamma`; None is :math:`2 / (m (m - 1))` with m the rows of the query.
    max_grade : the highest grade of the scale.

    References
    ----------
    [tran2011learning]_, equation 18 and appendix A

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> text = "pair-upper-bound(coupling=1, max_grade=1)"
    >>> loss, _ = rankopt.value_grad(text, np.log([4.0, 1.0]), [1, 0])
    >>> round(float(np.exp(-loss)), 4)  # 4 / (1 + 1 + 4 + 1/4)
    0.64
    """

    name: ClassVar[str] = "pair-upper-bound"
    weight: str | None = None
    coupling: float | None = None
    max_grade: int = 4

    def __post_init__(self) -> None:
        check_weight(self.weight, PAIRS, self.name)
        _check_field(self.coupling, self.max_grade, self.name)

    def bind(self, y: Floats, groups: Groups, weights: Floats | None = None) -> BoundPairUpperBound:
        _grades(y, groups, self.max_grade, self.name)
        levels = Levels.of(y, groups)
        pair_weights = PairWeights.of(self.weight, levels, self.max_grade)
        return BoundPairUpperBound(self, levels, pair_weights, mean_one(weights, groups))


@dataclass(frozen=True, eq=False)
class BoundPairUpperBound(Sloped):
    """`PairUpperBound` on fixed grades, with weights of pairs and of queries (of mean 1)."""

    convex: ClassVar[bool] = True
    spec: PairUpperBound
    levels: Levels
    pair_weights: PairWeights
    weights: Floats

    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        value, slopes, _ = self._run(scores)
        return value, slopes

    def curvature(self, scores: Floats) -> Floats | None:
        return self._run(scores)[2]

    def take(self, queries: Ints) -> BoundPairUpperBound:
        levels = self.levels.take(queries)
        pair_weights = PairWeights.of(self.spec.weight, levels, self.spec.max_grade)
        return replace(
            self, levels=levels, pair_weights=pair_weights, weights=self.weights[queries]
        )

    def _run(self, scores: Floats) -> tuple[float, Floats, Floats]:
        levels, by = self.levels, self.pair_weights
        values = np.empty(levels.groups.n_queries)
        slopes, curvature = np.empty_like(scores), np.empty_like(scores)
        over_queries(
            field.pair_upper_bound, levels.groups.offsets, scores[levels.order], levels.offsets,
            levels.starts, by.kind, by.scales * self.weights / values.size, by.x, by.z,
            couplings(self.spec.coupling, levels.groups), self.spec.max_grade + 1, values, slopes,
            curvature,
        )  # fmt: skip
        out = np.empty((2, scores.size))
        out[:, levels.order] = slopes, curvature
        return float(values.sum()), out[0], out[1]


def couplings(coupling: float | None, groups: Groups) -> Floats:
    """The coupling of each query; None is one over its number of pairs."""
    if coupling is not None:
        return np.full(groups.n_queries, float(coupling))
    pairs = 0.5 * groups.sizes * (groups.sizes - 1.0)
    return 1.0 / np.maximum(pairs, 1.0)


def _check_field(coupling: float | None, max_grade: int, owner: str) -> None:
    if coupling is not None and not 0.0 < coupling < np.inf:
        raise SpecError(f"{owner}: coupling = {coupling!r} must be positive and finite, or none")
    if max_grade != int(max_grade) or not 1 <= max_grade <= 31:
        raise SpecError(f"{owner}: max_grade = {max_grade!r} must be a whole number from 1 to 31")


def _grades(y: Floats, groups: Groups, max_grade: int, owner: str) -> Ints:
    """The labels as whole numbers; a `DataError` where one is none, or is above the highest grade."""
    fits = (y >= 0.0) & (y <= max_grade) & (y == np.floor(y))
    if not fits.all():
        row = int(np.argmin(fits))
        query = groups.qids[np.searchsorted(groups.offsets, row, side="right") - 1]
        raise DataError(
            f"labels: a row of query {query} has label {y[row]:g}; {owner} needs grades 0, 1, ..."
            f" {max_grade}: say max_grade="
        )
    return y.astype(np.int64)
