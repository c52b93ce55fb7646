"""Average precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rankopt.arrays import Bools, Floats
from rankopt.errors import SpecError
from rankopt.measures.base import Measure, Norm
from rankopt.measures.forms import CUMULATIVE, Form
from rankopt.measures.gains import relevant


@dataclass(frozen=True)
class AveragePrecision(Measure):
    r"""Average precision: the mean of the precision at the ranks of the relevant rows.

    Definition
    ----------
    .. math:: \mathrm{AP} = \frac{1}{R} \sum_{r=1}^{k} [y_{(r)} \ge t] \;
              \frac{1}{r} \sum_{s \le r} [y_{(s)} \ge t]

    Parameters
    ----------
    k : cut-off, or None.
    relevant_from : t, the lowest relevant label.
    denominator : R. ``min``: the number of relevant rows of the query, at most k; ``relevant``: their
        number whatever k.

    References
    ----------
    [buckley2000evaluating]_

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.dataset([[0.0]] * 3, [0, 2, 1])
    >>> round(rankopt.evaluate([3.0, 2.0, 1.0], data, ["map"]).mean["map"], 4)
    0.5833
    """

    name: ClassVar[str] = "ap"
    form: ClassVar[Form] = CUMULATIVE
    k: int | None = None
    relevant_from: float = 1.0
    denominator: Literal["min", "relevant"] = "min"

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
        return Norm.IDEAL if self.denominator == "min" else Norm.TOTAL

    def check(self) -> None:
        if self.denominator not in ("min", "relevant"):
            raise SpecError(f"ap: unknown denominator {self.denominator!r}; use min or relevant")
