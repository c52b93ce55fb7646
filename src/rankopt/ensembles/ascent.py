"""Exact coordinate ascent over the weights of trees, on columns that are made when they are searched."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats, Ints
from rankopt.data.dataset import Dataset
from rankopt.measures import BoundMeasure
from rankopt.progress import Advance
from rankopt.scorers.trees import Trees
from rankopt.search.engine import Engine
from rankopt.search.fixedpoint import FixedPoint
from rankopt.solvers.base import Status, Step

_CHECKS = 20  # looks at the validation data in each round
_NOTHING = 1e-9  # a factor this small is 0


@dataclass(frozen=True, eq=False)
class TreeColumns:
    """The scores of each tree on some rows, held as the leaves in which the rows end.

    That is a byte per tree and row, where scores would take eight.

    Parameters
    ----------
    trees, weights : the trees, and what they are multiplied by besides their factors.
    leaves : (n_trees, n_rows) from the first leaf of each tree.
    """

    trees: Trees
    weights: Floats
    leaves: NDArray[Any]

    @classmethod
    def of(cls, trees: Trees, weights: Floats, data: Dataset) -> TreeColumns:
        return cls(trees, weights, trees.leaves(data))

    def along(self, trees: Sequence[int] | Ints, factors: Floats) -> Floats:
        """The sum of some trees' scores, each times its factor, tree after tree."""
        out = np.zeros(self.leaves.shape[1])
        for t in trees:
            weight = self.weights[t] * factors[t]
            out += (weight * self.trees.tree_values(t))[self.leaves[t]]
        return out


@dataclass(frozen=True, eq=False)
class Point:
    """Factors that the ascent has come by, and what they reach; `values` are those of validation queries."""

    factors: Floats
    train: float
    valid: float | None
    values: Floats

    def above(self, other: Point) -> bool:
        """Whether this point is better, on the validation data where there is such."""
        if self.valid is not None and other.valid is not None:
            return self.valid > other.valid
        if self.train == other.train:
            return bool(np.any(self.factors != other.factors))
        return self.train > other.train


class Ascent:
    """Raises a measure by one unit of trees after the other; the training measure never falls.

    Parameters
    ----------
    columns, bound : the training rows, and the measure on them.
    valid : the same of the validation rows, or None.
    units : trees that share a factor; each is one coordinate.
    bounds : range of the factors.
    shrinkage : how much of each exact step is taken.
    drop : whether trees go whose removal does not lower the training measure.
    guard : how many standard errors, query by query, the validation measure has to rise by.
    bits : of a score that are told apart, see `Document`.
    offset : what is added to all scores.
    """

    def __init__(
        self,
        columns: TreeColumns,
        bound: BoundMeasure,
        valid: tuple[TreeColumns, BoundMeasure] | None,
        units: Sequence[Ints],
        bounds: tuple[float, float],
        shrinkage: float,
        drop: bool,
        guard: float = 0.0,
        bits: int = 42,
        offset: float = 0.0,
    ) -> None:
        self.columns, self.valid, self.units = columns, valid, units
        self.bounds, self.shrinkage, self.drop, self.guard = bounds, shrinkage, drop, guard
        trees = range(columns.trees.n_trees)
        self.ones = np.ones(len(trees))
        self.factors = self.ones.copy()
        self.scores = columns.along(trees, self.ones)
        self.valid_scores = None if valid is None else valid[0].along(trees, self.ones)
        self.grid = _grid_of(self.scores, bits, offset)
        self.engine = Engine(FixedPoint.of(bound), self._rounded(self.scores))
        self.start = self.best = self.peak = self._point()
        self.history: list[Step] = []

    def climb(self, rounds: int, patience: int | None, advance: Advance) -> Status:
        """So many rounds, or fewer; `best` is the point to take, also after Ctrl-C."""
        began = time.perf_counter()
        every = -(-len(self.units) // _CHECKS)
        peak_round = 0
        try:
            for number in range(1, rounds + 1):
                before, peak = self.engine.total, self.peak
                for i, unit in enumerate(self.units, 1):
                    self._take(unit)
                    if i % every == 0 or i == len(self.units):
                        self._look()
                    advance(self._words())
                peak_round = number if self.peak is not peak else peak_round
                self.history.append(
                    Step(number, self.engine.value, time.perf_counter() - began, self.best.valid)
                )
                if self.engine.total == before:
                    return Status.COORDINATEWISE
                if self.valid and patience is not None and number - peak_round >= patience:
                    return Status.STOPPED_EARLY
        except KeyboardInterrupt:
            self._settle()
            self._look()
            return Status.INTERRUPTED
        return Status.FINISHED

    def _take(self, unit: Ints) -> None:
        """Move the factor of a unit into its best interval, if that raises the measure."""
        column = self.columns.along(unit, self.ones)
        if column.min() == column.max():
            return
        factor, before = float(self.factors[unit[0]]), self.engine.total
        if self.drop and factor != 0.0 and self._step(unit, column, -factor, before):
            return
        lo, hi = self.bounds[0] - factor, self.bounds[1] - factor
        steps = self.engine.search(column, lo, hi)
        if steps.total <= before:
            return
        for t in steps.points:
            step = float(np.clip(self.shrinkage * t, lo, hi))
            if self._step(unit, column, step, before + 1):
                return

    def _step(self, unit: Ints, column: Floats, step: float, goal: int) -> bool:
        """Take a step if the measure, evaluated afresh, reaches a total there."""
        factor = float(self.factors[unit[0]]) + step
        if abs(factor) < _NOTHING:
            step, factor = step - factor, 0.0
        scores = self.scores + step * column
        self.engine.restart(self._rounded(scores))
        if self.engine.total < goal:
            self.engine.restart(self._rounded(self.scores))
            return False
        self._moved(unit, factor, step, scores)
        return True

    def _moved(self, unit: Ints, factor: float, step: float, scores: Floats) -> None:
        self.scores, self.factors[unit] = scores, factor
        if self.valid is not None:
            assert self.valid_scores is not None
            self.valid_scores += step * self.valid[0].along(unit, self.ones)

    def _settle(self) -> None:
        """Scores computed afresh, as an interrupt may leave them between two factors."""
        trees = range(self.ones.size)
        self.scores = self.columns.along(trees, self.factors)
        self.engine.restart(self._rounded(self.scores))
        if self.valid is not None:
            self.valid_scores = self.valid[0].along(trees, self.factors)

    def _point(self) -> Point:
        if self.valid is None:
            return Point(self.factors.copy(), self.engine.value, None, np.zeros(0))
        assert self.valid_scores is not None
        bound = self.valid[1]
        values = bound.values(self._rounded(self.valid_scores)) * bound.weights
        return Point(self.factors.copy(), self.engine.value, float(values.mean()), values)

    def _look(self) -> None:
        """Keep the present point if it is better, on the validation data where there is such."""
        point = self._point()
        if point.above(self.peak):
            self.peak = point
            if point.valid is None or _surely(point.values - self.start.values, self.guard):
                self.best = point

    def _rounded(self, scores: Floats) -> Floats:
        """Scores on the grid: what differs by rounding alone, or is lost in the library's sums, ties."""
        return np.rint(scores / self.grid) * self.grid

    def _words(self) -> str:
        valid = "" if self.best.valid is None else f", best valid {self.best.valid:.4f}"
        return f"train {self.engine.value:.4f}{valid}"


def _surely(rises: Floats, errors: float) -> bool:
    """Whether the mean of the queries' rises is more than so many of its standard errors, and than 0."""
    return float(rises.mean()) > errors * float(rises.std()) / np.sqrt(rises.size)


def _grid_of(scores: Floats, bits: int, offset: float) -> float:
    """A power of two, so that rounding to its multiples is exact.

    Sums that end in the same score by different ways differ in their last bits, and a step that parts
    rows by these alone would be worth nothing in another order of summation.
    """
    largest = max(float(np.abs(scores).max(initial=0.0)), abs(offset))
    return float(2.0 ** (np.ceil(np.log2(largest)) - bits)) if largest else 1.0
