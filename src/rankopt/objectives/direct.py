"""Direct: the measure itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rankopt.arrays import Floats
from rankopt.data.groups import Groups
from rankopt.measures import MEASURES, NDCG, BoundMeasure, Measure
from rankopt.objectives.base import Objective, Stepped
from rankopt.registry import part


@dataclass(frozen=True)
class Direct(Objective):
    r"""One minus the measure: constant between exchanges of ranks, for the exact line search.

    Definition
    ----------
    .. math:: 1 - \frac{1}{n} \sum_q M(s_q, y_q)

    Parameters
    ----------
    measure : any measure that the line search takes.

    References
    ----------
    [tan2013direct]_

    Examples
    --------
    >>> print(Direct())
    direct
    """

    name: ClassVar[str] = "direct"
    measure: Measure = part(NDCG(), MEASURES)

    def bind(self, y: Floats, groups: Groups, weights: Floats | None = None) -> BoundDirect:
        return BoundDirect(self.measure.bind(y, groups, weights))


@dataclass(frozen=True, eq=False)
class BoundDirect(Stepped):
    """`Direct` on fixed labels."""

    bound: BoundMeasure

    @property
    def target(self) -> BoundMeasure:
        return self.bound

    def value(self, scores: Floats) -> float:
        return 1.0 - self.bound.mean(scores)
