"""Kendall's tau."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankopt.arrays import Bools, Floats
from rankopt.measures.base import Cutoff, Measure, Norm
from rankopt.measures.forms import CONCORDANCE, Form


@dataclass(frozen=True)
class Tau(Measure):
    r"""Kendall's tau: concordant less discordant pairs over all pairs of different labels.

    Definition
    ----------
    .. math:: \tau = \frac{\sum_{p<r} \mathrm{sign}(y_{(p)} - y_{(r)})}{|\{p<r : y_{(p)} \ne y_{(r)}\}|}

    From -1 to 1; a query whose labels are all the same counts 0. Labels may be any numbers.

    References
    ----------
    [kendall1938new]_

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.dataset([[0.0]] * 3, [2, 0, 1])
    >>> round(rankopt.evaluate([3.0, 2.0, 1.0], data, ["tau"]).mean["tau"], 4)
    0.3333
    """

    name: ClassVar[str] = "tau"
    form: ClassVar[Form] = CONCORDANCE
    cutoff: ClassVar[Cutoff] = Cutoff.NONE

    def gains(self, labels: Floats) -> Floats:
        return labels.copy()

    def discounts(self, ranks: Floats) -> Floats:
        return np.ones_like(ranks)

    def slopes(self, ranks: Floats) -> Floats:
        return np.zeros_like(ranks)

    def domain(self, labels: Floats) -> tuple[Bools, str]:
        return np.ones(labels.size, dtype=bool), "any number"

    @property
    def norm(self) -> Norm:
        return Norm.IDEAL
