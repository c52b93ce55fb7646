"""Expected reciprocal rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rankopt.arrays import Bools, Floats
from rankopt.errors import SpecError
from rankopt.measures.base import Measure, Norm
from rankopt.measures.forms import CASCADE, Form


@dataclass(frozen=True)
class ERR(Measure):
    r"""Expected reciprocal rank of the place at which a user stops.

    Definition
    ----------
    .. math:: \mathrm{ERR} = \sum_{r=1}^{k} \frac{1}{r} \, g(y_{(r)}) \prod_{s<r} (1 - g(y_{(s)})),
              \qquad g(y) = (2^y - 1) / 2^{\mathrm{max\_grade}}

    Parameters
    ----------
    k : cut-off, or None.
    max_grade : the highest grade of the label scale. It belongs to the scale and not to the data at
        hand: train and test must share it.
    gain : ``exponential``; or ``linear``, g(y) = y / max_grade, for labels that are chances to stop.

    References
    ----------
    [chapelle2009expected]_

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.dataset([[0.0]] * 2, [4, 0])
    >>> rankopt.evaluate([2.0, 1.0], data, ["err"]).mean
    {'err': 0.9375}
    """

    name: ClassVar[str] = "err"
    form: ClassVar[Form] = CASCADE
    k: int | None = None
    max_grade: float = 4.0
    gain: Literal["exponential", "linear"] = "exponential"

    def gains(self, labels: Floats) -> Floats:
        if self.gain == "linear":
            return labels / self.max_grade
        return (np.exp2(labels) - 1.0) / 2.0**self.max_grade

    def discounts(self, ranks: Floats) -> Floats:
        return 1.0 / ranks

    def slopes(self, ranks: Floats) -> Floats:
        return -1.0 / ranks**2

    def domain(self, labels: Floats) -> tuple[Bools, str]:
        words = f"from 0 to max_grade = {self.max_grade:g} (set max_grade)"
        return (labels >= 0.0) & (labels <= self.max_grade), words

    @property
    def norm(self) -> Norm:
        return Norm.NONE

    def check(self) -> None:
        if not 0.0 < self.max_grade <= 31.0:
            raise SpecError(f"err: max_grade {self.max_grade!r} must lie between 0 and 31")
        if self.gain not in ("exponential", "linear"):
            raise SpecError(f"err: unknown gain {self.gain!r}; use exponential or linear")
