"""Weights of rows and of pairs, by the names that losses take as ``weight=`` [tran2011learning]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankopt.arrays import Bools, Floats
from rankopt.data.groups import Groups
from rankopt.errors import DataError, SpecError
from rankopt.measures.gains import HIGHEST
from rankopt.objectives.levels import Levels

ELEMENTS = ("none", "grade", "root-grade", "gain", "inverse-rank", "inverse-log-rank")
_PAIRS = (
    "none", "inverse-size", "grade-difference", "gain-difference", "gain-discount-difference",
    "max-ndcg",
)  # fmt: skip
_DIVIDED = "-normalised"
PAIRS = tuple(name + end for name in _PAIRS for end in ("", _DIVIDED))


def check_weight(weight: str | None, known: tuple[str, ...], owner: str) -> None:
    """Refuse an unknown name; None, which text specs make of ``none``, is no weight."""
    if weight is not None and weight not in known:
        raise SpecError(f"{owner}: unknown weight {weight!r}; use one of {', '.join(known)}")


def check_max_grade(max_grade: float, owner: str) -> None:
    """Refuse a highest grade that is not between 0 and 31."""
    if not 0.0 < max_grade <= HIGHEST:
        raise SpecError(
            f"{owner}: max_grade = {max_grade!r} must be positive and at most {HIGHEST:g}"
        )


def gains(grades: Floats, max_grade: float) -> Floats:
    r""":math:`R = (2^r - 1) / (2^{|L|} - 1)` with the grades L = 0, 1, ..., max_grade."""
    return (np.exp2(grades) - 1.0) / (2.0 ** (max_grade + 1.0) - 1.0)


def element_weights(weight: str | None, y: Floats, groups: Groups, max_grade: float) -> Floats:
    r"""Weights of rows: table 8.

    ``none`` 1; ``grade`` :math:`r_i`; ``root-grade`` :math:`\sqrt{r_i}`; ``gain`` :math:`R_i`;
    ``inverse-rank`` :math:`1 / \pi_i`; ``inverse-log-rank`` :math:`1 / \log_2(1 + \pi_i)`. The rank
    :math:`\pi_i` is that in the order by grade; rows of one grade share the mean over their ranks.
    """
    if weight is None or weight == "none":
        return np.ones(y.size)
    if weight in ("grade", "root-grade", "gain"):
        check_grades(weight, y, groups)
        if weight == "gain":
            return gains(y, max_grade)
        return y.copy() if weight == "grade" else np.sqrt(y)
    levels = Levels.of(y, groups)
    ranks = np.arange(1.0, groups.longest + 1.0)
    by_rank = 1.0 / ranks if weight == "inverse-rank" else 1.0 / np.log2(1.0 + ranks)
    return levels.rows(levels.mean_at_ranks(by_rank))


@dataclass(frozen=True, eq=False)
class PairWeights:
    r"""Weights of pairs: table 9. That of levels a and b of a query is

    .. math:: V_{ab} = \mathrm{scale}_q \quad\text{times}\quad x_a - x_b \;\text{where kind} \ge 1, \quad
              \text{and}\; z_a - z_b \;\text{where kind} = 2

    ``none`` 1; ``inverse-size`` :math:`1 / N_q`; ``grade-difference`` :math:`r_i - r_j`;
    ``gain-difference`` :math:`R_i - R_j`; ``gain-discount-difference``
    :math:`(R_i - R_j)(\eta_i - \eta_j)` with :math:`\eta = 1 / \log_2(1 + \pi)`; ``max-ndcg`` the same
    divided by the ideal :math:`\sum_i R_i \eta_i`, which is what NDCG loses when the two trade places in the
    ideal order. Each with ``-normalised`` is divided by :math:`N_q`, the rows of the query.

    Parameters
    ----------
    kind : how many differences there are.
    scales : (n_queries,).
    x, z : (n_levels,).
    """

    kind: int
    scales: Floats
    x: Floats
    z: Floats

    @classmethod
    def of(cls, weight: str | None, levels: Levels, max_grade: float) -> PairWeights:
        name = "none" if weight is None else weight.removesuffix(_DIVIDED)
        sizes = levels.groups.sizes.astype(np.float64)
        scales = (
            1.0 / sizes if weight is not None and weight.endswith(_DIVIDED) else np.ones(sizes.size)
        )
        grades = levels.grades
        blank = np.zeros(grades.size)
        if name == "none":
            return cls(0, scales, blank, blank)
        if name == "inverse-size":
            return cls(0, scales / sizes, blank, blank)
        if name == "grade-difference":
            return cls(1, scales, grades, blank)
        check_grades(name, levels.y, levels.groups)
        worth = gains(grades, max_grade)
        if name == "gain-difference":
            return cls(1, scales, worth, blank)
        ranks = np.arange(1.0, levels.groups.longest + 1.0)
        discounts = levels.mean_at_ranks(1.0 / np.log2(1.0 + ranks))
        if name == "max-ndcg":
            ideal = np.add.reduceat(levels.sizes * worth * discounts, levels.offsets[:-1])
            scales = scales / np.where(ideal > 0.0, ideal, 1.0)
        return cls(2, scales, worth, discounts)


def check_grades(weight: str, y: Floats, groups: Groups) -> None:
    """Refuse grades that have no weight, naming the first row."""
    fits: Bools = (y >= 0.0) & ((y <= HIGHEST) | (weight in ("grade", "root-grade")))
    if not fits.all():
        row = int(np.argmin(fits))
        query = groups.qids[np.searchsorted(groups.offsets, row, side="right") - 1]
        raise DataError(
            f"labels: a row of query {query} has label {y[row]:g}; weight={weight} needs grades from 0"
            + ("" if weight in ("grade", "root-grade") else f" to {HIGHEST:g}")
        )
