"""Margin: the structured hinge losses of a measure, upper bounds of one minus it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rankopt.arrays import Floats
from rankopt.data.groups import Groups
from rankopt.errors import IncompatibleError, SpecError
from rankopt.measures import MEASURES, NDCG, BoundMeasure, Measure
from rankopt.measures.forms import CASCADE, CUMULATIVE, POSITIONAL
from rankopt.objectives.base import Objective
from rankopt.objectives.structured import BoundMargin, BoundRescaled, BoundTight, Positions
from rankopt.objectives.target import Target
from rankopt.registry import part

POSITIONS = ("linear", "root", "discount", "pairs")


@dataclass(frozen=True)
class Margin(Objective):
    r"""The structured hinge loss of a measure: an upper bound of one minus it.

    Definition
    ----------
    An order y puts row i at rank :math:`y_i` and is itself scored by
    :math:`F(y) = \sum_i A(y_i) \, s_i` with a function A of ranks that never grows; the order by score
    has the greatest F. With :math:`\Delta(y) = 1 - M(y)` the loss of a query is

    .. math:: \max_y \, [\Delta(y) + F(y)] - F^*

    ``convex``: :math:`F^*` is F of the ideal order. Where rows of equal gain leave several ideal orders,
    it is their mean: the expectation of the paper's random choice, convex and free of chance.
    ``tight``: :math:`F^* = \max_y F(y)`, equation 14. It is smaller and no longer convex, and still

    .. math:: 1 - M \le \text{tight} \le \text{convex}

    The greatest order is found exactly: by a sort where A equals the discount of the measure, by an
    assignment of places to rows for other positional measures, and by dynamic programming for the other
    forms, which must have two gains (AP, RR).

    Parameters
    ----------
    measure : a positional measure, or average precision, reciprocal rank, success.
    bound : ``convex`` or ``tight``.
    positions : A. ``linear``, :math:`\max(k + 1 - r, 0)`; ``root``, :math:`1 / \sqrt r` up to k;
        ``discount``, that of the measure; a table of its values at ranks 1, 2, ..., 0 after them.
        ``pairs``, for measures of two gains: :math:`F(y)` is the mean of :math:`\pm (s_i - s_j)` over
        all pairs of a relevant row i and another row j, plus where y puts i first (SVM-MAP).

    rescale : ``margin``, as above; ``slack``, for the convex bound of a measure from 0 to 1:
        :math:`\max_y \Delta(y) (1 + F(y) - F^*)`, in which a very bad order need not be beaten by a
        very large margin. Its greatest order is found by a heuristic (see `BoundRescaled`).

    References
    ----------
    [chapelle2007large]_; pairs: [yue2007support]_

    Examples
    --------
    >>> import rankopt
    >>> loss, gradient = rankopt.value_grad("margin(ndcg@2)", [0.3, 0.1, 0.2], [0, 0, 1])
    >>> round(loss, 4), gradient.tolist()
    (1.1, [1.5, 0.5, -2.0])
    """

    name: ClassVar[str] = "margin"
    measure: Measure = part(NDCG(), MEASURES)
    bound: Literal["convex", "tight"] = "convex"
    positions: Positions = "linear"
    rescale: Literal["margin", "slack"] = "margin"

    def __post_init__(self) -> None:
        if self.rescale not in ("margin", "slack"):
            raise SpecError(f"margin: unknown rescale {self.rescale!r}; use margin or slack")
        if self.rescale == "slack" and self.bound != "convex":
            raise SpecError("margin: rescale=slack needs bound=convex")
        if self.bound not in ("convex", "tight"):
            raise SpecError(f"margin: unknown bound {self.bound!r}; use convex or tight")
        _check_positions(self.positions)
        if self.measure.form is POSITIONAL and self.positions != "pairs":
            return
        if self.measure.form not in (POSITIONAL, CASCADE, CUMULATIVE):
            raise IncompatibleError(
                f"margin: the worst order of {self.measure} is not known; positional measures such as"
                " ndcg@10, and ap, rr and success have one"
            )
        labels = np.arange(32.0)
        if (
            np.unique(_positive(self.measure.gains(labels[self.measure.domain(labels)[0]]))).size
            > 1
        ):
            way = "positions=linear" if self.measure.form is POSITIONAL else "ndcg@10, ap or rr"
            raise IncompatibleError(
                f"margin: the worst order of {self.measure} is known for two gains only, and it has"
                f" more; use {way}"
            )

    def bind(
        self, y: Floats, groups: Groups, weights: Floats | None = None
    ) -> BoundMargin | BoundTight | BoundRescaled:
        bound = self.measure.bind(y, groups)
        target = Target.of(bound)
        share = np.ones(groups.n_queries) if weights is None else weights / weights.mean()
        table, depth = self._table(bound)
        wanted = np.empty(groups.n_rows)
        convex = BoundMargin(target, share, table, depth, self.positions, wanted)
        convex.standing(target.gains, wanted)
        if self.rescale == "slack":
            return BoundRescaled(convex)
        return convex if self.bound == "convex" else BoundTight(convex)

    def _table(self, bound: BoundMeasure) -> tuple[Floats, int]:
        """A at all ranks, and how many ranks matter to it or to the measure."""
        longest, k = bound.groups.longest, bound.k
        ranks = np.arange(1.0, longest + 1.0)
        if self.positions == "discount":
            table = bound.table[:longest].copy()
        elif isinstance(self.positions, tuple):
            given = np.asarray(self.positions, np.float64)[:longest]
            table = np.concatenate((given, np.zeros(longest - given.size)))
        elif self.positions == "root":
            table = np.where(ranks <= k, 1.0 / np.sqrt(ranks), 0.0)
        else:
            table = np.maximum(k + 1.0 - ranks, 0.0)
        used = np.flatnonzero((table != 0.0) | (bound.table[:longest] != 0.0))
        return table, int(used[-1]) + 1 if used.size else 1


def _positive(gains: Floats) -> Floats:
    return gains[gains != 0.0]


def _check_positions(positions: Positions) -> None:
    if isinstance(positions, str):
        if positions not in POSITIONS:
            words = ", ".join(POSITIONS)
            raise SpecError(
                f"margin: unknown positions {positions!r}; use {words} or a table as [3, 2, 1]"
            )
        return
    table = np.asarray(positions, np.float64)
    if table.ndim != 1 or not table.size or not np.isfinite(table).all():
        raise SpecError("margin: positions are a list of finite numbers, such as [3, 2, 1]")
    if table.min() < 0.0 or table.max() == 0.0 or np.any(np.diff(table) > 0.0):
        raise SpecError(
            f"margin: positions {positions} must not be negative, all zero, or grow with rank"
        )
