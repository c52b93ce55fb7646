"""Reciprocal rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankopt.arrays import Bools, Floats
from rankopt.measures.base import Measure, Norm
from rankopt.measures.forms import CASCADE, Form
from rankopt.measures.gains import relevant


@dataclass(frozen=True)
class ReciprocalRank(Measure):
    r"""Reciprocal rank of the first relevant row; its mean over queries is the MRR.

    Definition
    ----------
    .. math:: \mathrm{RR} = 1 / \min \{ r \le k : y_{(r)} \ge t \}, \quad 0 \text{ if there is none}

    Parameters
    ----------
    k : cut-off, or None.
    relevant_from : t, the lowest relevant label.

    References
    ----------
    [voorhees1999trec8]_

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.dataset([[0.0]] * 3, [0, 2, 1])
    >>> rankopt.evaluate([3.0, 2.0, 1.0], data, ["mrr"]).mean
    {'mrr': 0.5}
    """

    name: ClassVar[str] = "rr"
    form: ClassVar[Form] = CASCADE
    k: int | None = None
    relevant_from: float = 1.0

    def gains(self, labels: Floats) -> Floats:
        return relevant(labels, self.relevant_from)

    def discounts(self, ranks: Floats) -> Floats:
        return 1.0 / ranks

    def slopes(self, ranks: Floats) -> Floats:
        return -1.0 / ranks**2

    def domain(self, labels: Floats) -> tuple[Bools, str]:
        return np.ones(labels.size, dtype=bool), "any number"

    @property
    def norm(self) -> Norm:
        return Norm.NONE
