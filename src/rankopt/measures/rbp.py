"""Rank-biased precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankopt.arrays import Bools, Floats
from rankopt.errors import SpecError
from rankopt.measures.base import Measure, Norm
from rankopt.measures.forms import POSITIONAL, Form


@dataclass(frozen=True)
class RBP(Measure):
    r"""Rank-biased precision: the gain collected by a reader who goes on with chance `p`.

    Definition
    ----------
    .. math:: \mathrm{RBP} = (1 - p) \sum_{r \ge 1} p^{\,r-1} \, g(y_{(r)}), \qquad
              g(y) = y / \mathrm{max\_grade}

    Parameters
    ----------
    k : cut-off, or None.
    p : chance of reading on, 0 < p < 1.
    max_grade : the highest grade of the label scale; 1 for labels that say relevant or not.

    References
    ----------
    [moffat2008rbp]_

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.dataset([[0.0]] * 2, [4, 0])
    >>> round(rankopt.evaluate([2.0, 1.0], data, ["rbp(p=0.8)"]).mean["rbp(p=0.8)"], 4)
    0.2
    """

    name: ClassVar[str] = "rbp"
    form: ClassVar[Form] = POSITIONAL
    k: int | None = None
    p: float = 0.8
    max_grade: float = 4.0

    def gains(self, labels: Floats) -> Floats:
        return labels / self.max_grade

    def discounts(self, ranks: Floats) -> Floats:
        return (1.0 - self.p) * self.p ** (ranks - 1.0)

    def slopes(self, ranks: Floats) -> Floats:
        return np.log(self.p) * self.discounts(ranks)

    def domain(self, labels: Floats) -> tuple[Bools, str]:
        words = f"from 0 to max_grade = {self.max_grade:g} (set max_grade)"
        return (labels >= 0.0) & (labels <= self.max_grade), words

    @property
    def norm(self) -> Norm:
        return Norm.NONE

    def check(self) -> None:
        if not 0.0 < self.p < 1.0:
            raise SpecError(f"rbp: p = {self.p!r} must lie between 0 and 1")
        if not self.max_grade > 0.0:
            raise SpecError(f"rbp: max_grade {self.max_grade!r} must be positive")
