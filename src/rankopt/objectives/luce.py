"""Plackett-Luce and its kin: orders made by choosing rows one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from rankopt.arrays import Floats
from rankopt.data.groups import Groups
from rankopt.objectives.base import Objective, Sloped
from rankopt.objectives.choices import bind_choices, check_group
from rankopt.objectives.levels import Levels
from rankopt.objectives.weighting import ELEMENTS, check_max_grade, check_weight, element_weights

Group = Literal["min", "max", "arithmetic", "geometric"]


@dataclass(frozen=True)
class PlackettLuce(Objective):
    r"""The weighted Plackett-Luce loss: the best row is chosen first, then the best of the rest.

    Definition
    ----------
    .. math:: \ell = - \sum_i W_i \log \frac{e^{s_i}}{\sum_{j : r_j \le r_i} e^{s_j}}

    With distinct grades and unit weights this is minus the log-likelihood of the order by grade, and the
    probabilities of all orders add up to 1. *Ties*: each of the rows of a grade is chosen from all rows of
    its grade and of lower ones (Breslow's choice in survival analysis), so that no order among them is
    made up. The rows of the lowest grade are never chosen: one alone is left over anyway, and of several
    the grades do not say which comes first. A query of equal grades adds nothing. O(m log m).

    With ``group`` all rows of a grade are one mega-object with the score :math:`\bar f`: the ``min`` or the
    ``max`` of theirs, their ``arithmetic`` mean, or :math:`\log \frac{1}{K} \sum_j e^{s_j}`
    (``geometric``). Its rank, where the weight asks for it, is counted in grades.

    Parameters
    ----------
    weight : :math:`W_i`: ``none``, ``grade``, ``root-grade``, ``gain``, ``inverse-rank``,
        ``inverse-log-rank`` (`rankopt.objectives.weighting.element_weights`).
    group : None, ``min``, ``max``, ``arithmetic`` or ``geometric``.
    max_grade : the highest grade of the scale of labels, which only scales the gains.

    References
    ----------
    [tran2011learning]_, equation 11 and table 2; [plackett1975analysis]_; ties: [breslow1974covariance]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> loss, gradient = rankopt.value_grad("plackett-luce", np.log([1.0, 2.0, 5.0]), [0, 1, 2])
    >>> round(float(np.exp(-loss)), 4)  # 5/8 * 2/3
    0.4167
    """

    name: ClassVar[str] = "plackett-luce"
    weight: str | None = None
    group: Group | None = None
    max_grade: float = 4.0

    def __post_init__(self) -> None:
        check_weight(self.weight, ELEMENTS, self.name)
        check_group(self.group, self.name)
        check_max_grade(self.max_grade, self.name)

    def bind(self, y: Floats, groups: Groups, weights: Floats | None = None) -> Sloped:
        weigh = partial(_weigh, weight=self.weight, max_grade=self.max_grade)
        return bind_choices(y, groups, weights, weigh, self.group)


@dataclass(frozen=True)
class ReversePlackettLuce(Objective):
    r"""The weighted reverse Plackett-Luce loss: the worst row is eliminated first, then the next.

    Definition
    ----------
    .. math:: \ell = - \sum_i W_i \log \frac{e^{-s_i}}{\sum_{j : r_j \ge r_i} e^{-s_j}}

    A row is eliminated with a chance inverse to its worth :math:`e^{s_i}`, from the rows that are left:
    those of its grade and of higher ones. (The sums after equation 12 of the paper run over the rows from
    i on; for Q to be a distribution over orders they must run over those not yet eliminated.) *Ties* are as
    in `PlackettLuce`, the other way round: the rows of the highest grade are never eliminated.

    Parameters
    ----------
    weight, group, max_grade : as in `PlackettLuce`; ranks count from the best row.

    References
    ----------
    [tran2011learning]_, equations 12 and 13

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> loss, _ = rankopt.value_grad("reverse-plackett-luce", np.log([1.0, 2.0, 5.0]), [0, 1, 2])
    >>> round(float(np.exp(-loss)), 4)  # (1/1) / (1/1 + 1/2 + 1/5) * (1/2) / (1/2 + 1/5)
    0.4202
    """

    name: ClassVar[str] = "reverse-plackett-luce"
    weight: str | None = None
    group: Group | None = None
    max_grade: float = 4.0

    def __post_init__(self) -> None:
        check_weight(self.weight, ELEMENTS, self.name)
        check_group(self.group, self.name)
        check_max_grade(self.max_grade, self.name)

    def bind(self, y: Floats, groups: Groups, weights: Floats | None = None) -> Sloped:
        weigh = partial(_weigh, weight=self.weight, max_grade=self.max_grade)
        return bind_choices(y, groups, weights, weigh, self.group, reverse=True)


@dataclass(frozen=True)
class Multiclass(Objective):
    r"""The multiclass logistic loss: the best row is chosen first, and the rest does not matter.

    Definition
    ----------
    .. math:: \ell = - \frac{1}{|B|} \sum_{i \in B} \log \frac{e^{s_i}}{\sum_j e^{s_j}}

    with B the rows of the query's highest grade, of which the paper has one. A query of equal grades adds
    nothing. With ``group`` the rows of a grade are one mega-object, as in `PlackettLuce`, and the loss is
    that of choosing the highest grade first. O(m).

    Parameters
    ----------
    group : None, ``min``, ``max``, ``arithmetic`` or ``geometric``.

    References
    ----------
    [tran2011learning]_, equation 5

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> loss, _ = rankopt.value_grad("multiclass", np.log([1.0, 2.0, 5.0]), [0, 0, 1])
    >>> round(float(np.exp(-loss)), 4)
    0.625
    """

    name: ClassVar[str] = "multiclass"
    group: Group | None = None

    def __post_init__(self) -> None:
        check_group(self.group, self.name)

    def bind(self, y: Floats, groups: Groups, weights: Floats | None = None) -> Sloped:
        return bind_choices(y, groups, weights, _best_alone, self.group)


def _weigh(y: Floats, groups: Groups, weight: str | None, max_grade: float) -> Floats:
    return element_weights(weight, y, groups, max_grade)


def _best_alone(y: Floats, groups: Groups) -> Floats:
    """Equal weights of the rows of the highest grade, adding up to 1; 0 for the others."""
    levels = Levels.of(y, groups)
    share = np.zeros(levels.sizes.size)
    first = levels.offsets[:-1]
    share[first] = 1.0 / levels.sizes[first]
    return levels.rows(share)
