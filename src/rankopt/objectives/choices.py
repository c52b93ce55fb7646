"""Losses of choices, bound to labels: of single rows, and of all rows of a grade as one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.groups import Groups
from rankopt.errors import SpecError
from rankopt.kernels import luce, pools
from rankopt.objectives.base import Sloped
from rankopt.objectives.levels import Levels, mean_one
from rankopt.threads import over_queries

Weigh = Callable[[Floats, Groups], Floats]  # from grades to weights of rows
GROUPS = {
    "min": pools.LEAST,
    "max": pools.GREATEST,
    "arithmetic": pools.ARITHMETIC,
    "geometric": pools.GEOMETRIC,
}


def check_group(group: str | None, owner: str) -> None:
    """Refuse an unknown group functional."""
    if group is not None and group not in GROUPS:
        raise SpecError(f"{owner}: unknown group {group!r}; use none, {', '.join(GROUPS)}")


def bind_choices(
    y: Floats,
    groups: Groups,
    weights: Floats | None,
    weigh: Weigh,
    group: str | None,
    *,
    reverse: bool = False,
) -> BoundChoices | BoundGrouped:
    """The loss of choosing rows, or groups of rows, from the best grade down (`reverse`: from the
    worst up, by the inverse of their worth).
    """
    if group is None:
        return BoundChoices.of(y, groups, weigh(y, groups), mean_one(weights, groups), reverse)
    levels = Levels.of(y, groups)
    of_levels = Groups(levels.offsets, groups.qids)
    over = BoundChoices.of(
        levels.grades,
        of_levels,
        weigh(levels.grades, of_levels),
        mean_one(weights, groups),
        reverse,
    )
    return BoundGrouped(levels, GROUPS[group], over)


@dataclass(frozen=True, eq=False)
class BoundChoices(Sloped):
    r"""Weighted choices: :math:`\sum_i W_i (\log \sum_{j : r_j \le r_i} e^{s_j} - s_i)`.

    Rows of the last level are not chosen: one alone is left over, and of several the grades do not say
    which comes first.

    Parameters
    ----------
    levels : the rows, those to choose first first.
    row_weights : (n_rows,) of the rows as stored.
    in_order : the same level by level, 0 in the last level of each query.
    weights : (n_queries,) weights of the queries, with mean 1 over all of them.
    sign : -1 where scores count inversely.
    """

    convex: ClassVar[bool] = True
    levels: Levels
    row_weights: Floats
    in_order: Floats
    weights: Floats
    sign: float

    @classmethod
    def of(
        cls, y: Floats, groups: Groups, row_weights: Floats, weights: Floats, reverse: bool = False
    ) -> BoundChoices:
        sign = -1.0 if reverse else 1.0
        levels = Levels.of(sign * y, groups)
        in_order = row_weights[levels.order]
        last = levels.starts[levels.offsets[1:] - 1]
        in_order[np.arange(y.size) >= groups.spread(last)] = 0.0
        return cls(levels, row_weights, in_order, weights, sign)

    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        value, slopes, _ = self._run(scores)
        return value, slopes

    def curvature(self, scores: Floats) -> Floats | None:
        return self._run(scores)[2]

    def take(self, queries: Ints) -> BoundChoices:
        groups, rows = self.levels.groups.take(queries)
        y = self.sign * self.levels.y[rows]
        return BoundChoices.of(
            y, groups, self.row_weights[rows], self.weights[queries], self.sign < 0.0
        )

    def _run(self, scores: Floats) -> tuple[float, Floats, Floats]:
        """The loss, its derivative and its curvature."""
        levels = self.levels
        values = np.empty(levels.groups.n_queries)
        slopes, curvature = np.empty_like(scores), np.empty_like(scores)
        over_queries(
            luce.choices, levels.groups.offsets, self.sign * scores[levels.order], levels.offsets,
            levels.starts, self.in_order, self.weights / values.size, values, slopes, curvature,
        )  # fmt: skip
        out = np.empty((2, scores.size))
        out[:, levels.order] = self.sign * slopes, curvature
        return float(values.sum()), out[0], out[1]


@dataclass(frozen=True, eq=False)
class BoundGrouped(Sloped):
    """Choices among grades: the rows of a grade count as one row, with a score made of theirs.

    Parameters
    ----------
    levels : the rows by grade.
    how : the group functional, a number of `rankopt.kernels.pools`.
    over : the choices among the levels.
    """

    levels: Levels
    how: int
    over: BoundChoices

    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        levels = self.levels
        pooled, shares = np.empty(levels.starts.size - 1), np.empty_like(scores)
        over_queries(
            pools.pool, levels.groups.offsets, levels.offsets, levels.starts, scores[levels.order],
            self.how, pooled, shares,
        )  # fmt: skip
        value, by_level = self.over.value_grad(pooled)
        grad = np.empty_like(scores)
        grad[levels.order] = shares * np.repeat(by_level, levels.sizes)
        return value, grad

    def take(self, queries: Ints) -> BoundGrouped:
        return replace(self, levels=self.levels.take(queries), over=self.over.take(queries))
