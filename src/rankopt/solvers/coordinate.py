"""Coordinate: exact coordinate ascent of a measure through all its jumping points (DirectRank)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats
from rankopt.errors import DataError, SpecError
from rankopt.search.engine import Engine
from rankopt.search.fixedpoint import FixedPoint
from rankopt.search.interior import Likelihood
from rankopt.search.stepfunction import StepFunction
from rankopt.solvers.base import Monitor, Solution, Status, Step, silent
from rankopt.solvers.lines import Lines as Lines

ORDERS = ("cyclic", "greedy", "random", "powell")
POINTS = ("auto", "middle", "likelihood")
_SMALL = 50_000  # rows up to which "auto" maximises the likelihood, as the paper does on small data


@dataclass(frozen=True)
class Coordinate:
    r"""Exact coordinate ascent.

    Along a coordinate the measure of ``scores + t * column`` is a step function of t. Its best open
    interval is found exactly, the weight moves to a point inside it, and the step is kept only if the
    measure, evaluated afresh, has risen. When no coordinate raises it any more, the weights are a
    coordinate-wise maximum (theorem 2).

    Parameters
    ----------
    order : ``cyclic``, one coordinate after the other; ``random``, in a fresh order each round;
        ``greedy``, all are tried and the best is taken; ``powell``, cyclic over a set of directions in
        which the one that gained most is replaced by the way of the whole round.
    point : ``middle`` of the best interval; ``likelihood``, the most likely point of it under the
        Plackett-Luce model of the ideal order; ``auto``, likelihood up to 50,000 rows.
    directions : how many random directions are searched after each round.
    max_iter : rounds; with ``greedy`` steps.
    tol : a round that raises the measure by no more than this ends the search. At 0 the search goes on
        to the coordinate-wise maximum.

    References
    ----------
    [tan2013direct]_, algorithm 1; [powell1964efficient]_
    """

    name: ClassVar[str] = "coordinate"
    order: str = "cyclic"
    point: str = "auto"
    directions: int = 0
    max_iter: int = 100
    tol: float = 0.0

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise SpecError(f"order: unknown {self.order!r}; use one of {', '.join(ORDERS)}")
        if self.point not in POINTS:
            raise SpecError(f"point: unknown {self.point!r}; use one of {', '.join(POINTS)}")
        if self.max_iter < 0 or self.directions < 0 or not self.tol >= 0.0:
            raise SpecError("max_iter, directions and tol must not be negative")

    def climb(
        self,
        lines: Lines,
        start: Floats,
        rng: np.random.Generator,
        monitor: Monitor = silent,
        given: Floats | None = None,
    ) -> Solution:
        """Raise the measure from `start`. `given` are further directions, one per row, searched each round.

        Ctrl-C ends the search with the best weights so far.
        """
        if not np.isfinite(start).all():
            raise DataError("start: weights must be finite")
        ascent = _Ascent(self, lines, start, rng, given)
        began = time.perf_counter()
        history: list[Step] = [Step(0, ascent.engine.value, 0.0)]
        status = Status.OUT_OF_STEPS
        try:
            if monitor(history[0], ascent.weights.copy()):
                return ascent.solution(Status.STOPPED_EARLY, history)
            for iteration in range(1, self.max_iter + 1):
                before = ascent.official
                rose = ascent.round()
                history.append(Step(iteration, ascent.value, time.perf_counter() - began))
                if monitor(history[-1], ascent.weights.copy()):
                    status = Status.STOPPED_EARLY
                    break
                if not rose:
                    status = Status.COORDINATEWISE
                    break
                if ascent.target.value(ascent.official - before) <= self.tol and self.tol > 0.0:
                    status = Status.CONVERGED
                    break
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
            ascent.settle()  # the steps of the round that it broke into count
        return ascent.solution(status, history)


class _Ascent:
    """The moving parts of one climb: weights, the engine at their scores, and the directions."""

    def __init__(
        self,
        solver: Coordinate,
        lines: Lines,
        start: Floats,
        rng: np.random.Generator,
        given: Floats | None,
    ) -> None:
        self.solver, self.lines, self.rng = solver, lines, rng
        self.given = np.empty((0, start.size)) if given is None else given
        self.target = FixedPoint.of(lines.bound)
        self.weights = np.clip(start, lines.lower, lines.upper)
        self.engine = Engine(self.target, lines.scores(self.weights))
        self.official = self.engine.total  # at scores computed afresh from `best`
        self.best = self.weights.copy()
        small = lines.columns.shape[1] <= _SMALL
        likely = solver.point == "likelihood" or (solver.point == "auto" and small)
        self.likelihood = Likelihood.of(lines.bound) if likely else None
        self.beta = 1.0
        width = start.size
        self.moving = [f for f in range(width) if lines.columns[f].min() < lines.columns[f].max()]
        self.powell: dict[int, Floats] = {}

    @property
    def value(self) -> float:
        return self.target.value(self.official)

    def solution(self, status: Status, history: list[Step]) -> Solution:
        return Solution(self.best, self.value, status, tuple(history), len(history) - 1)

    def round(self) -> bool:
        """One round; whether the measure rose. Ends with weights scaled and scores computed afresh."""
        if self.likelihood is not None:
            self.beta = self.likelihood.scale(self.engine.scores)
        if self.solver.order == "greedy":
            self._greedy()
        elif self.solver.order == "powell":
            self._powell()
        else:
            shuffled = self.solver.order == "random"
            for f in self.rng.permutation(self.moving) if shuffled else self.moving:
                self._take_coordinate(int(f))
        for direction in self._extra():
            self._take(direction, self.lines.along(direction))
        return self.settle()

    def settle(self) -> bool:
        """Bring the weights to a common scale and compute the scores afresh, so that drift ends here.

        The scale is a power of two: it changes no order, to the last bit.
        """
        largest = float(np.abs(self.weights).max(initial=0.0))
        if largest > 0.0 and self.lines.free:
            self.weights *= 2.0 ** -np.floor(np.log2(largest))
        self.engine.restart(self.lines.scores(self.weights))
        rose = self.engine.total > self.official
        if rose:
            self.official = self.engine.total
            self.best = self.weights.copy()
        elif self.engine.total < self.official:  # drift had made up the gain
            self.weights = self.best.copy()
            self.engine.restart(self.lines.scores(self.weights))
        return rose

    def _extra(self) -> Iterator[Floats]:
        yield from self.given
        for _ in range(self.solver.directions):
            spread = self.lines.columns.std(axis=1, dtype=np.float64)
            draw = self.rng.normal(size=spread.size)
            yield np.divide(draw, spread, out=np.zeros_like(draw), where=spread > 0.0)

    def _take_coordinate(self, f: int) -> int:
        column, (lo, hi) = self.lines.columns[f], self._reach(f)
        return self._accept(f, column, self.engine.search(column, lo, hi), lo, hi)

    def _reach(self, f: int) -> tuple[float, float]:
        """The steps along a coordinate that keep its weight in its range."""
        weight = self.weights[f]
        return float(self.lines.lower[f] - weight), float(self.lines.upper[f] - weight)

    def _take(self, direction: Floats, column: NDArray[Any]) -> int:
        lo, hi = self.lines.room(self.weights, direction)
        if not lo < hi:
            return 0
        return self._accept(direction, column, self.engine.search(column, lo, hi), lo, hi)

    def _accept(
        self,
        direction: int | Floats,
        column: NDArray[Any],
        steps: StepFunction,
        lo: float,
        hi: float,
    ) -> int:
        """Step into the best interval; the gain in the total, 0 where no point of it holds it up."""
        before = self.engine.total
        if steps.total <= before:
            return 0
        points = [t for t in self._points(column, steps) if lo <= t <= hi]
        for t, goal in [*((t, steps.total) for t in points), *((t, None) for t in points)]:
            if self.engine.step(column, t, goal):
                if isinstance(direction, int):
                    self.weights[direction] += t
                else:
                    self.weights += t * direction
                np.clip(self.weights, self.lines.lower, self.lines.upper, out=self.weights)
                return self.engine.total - before
        return 0

    def _points(self, column: NDArray[Any], steps: StepFunction) -> Iterator[float]:
        if self.likelihood is not None:
            along = column.astype(np.float64)
            point = self.likelihood.point(self.engine.scores, along, steps.lo, steps.hi, self.beta)
            if point is not None:
                yield point
        yield from steps.points

    def _greedy(self) -> None:
        """Step along the coordinate with the highest best value, the more likely one of equals."""
        found = [
            (self.engine.search(self.lines.columns[f], *self._reach(f)), f) for f in self.moving
        ]
        most = max((steps.total for steps, _ in found), default=0)
        equals = [(steps, f) for steps, f in found if steps.total == most > self.engine.total]
        if len(equals) > 1:
            equals.sort(key=lambda pair: -self._likelihood(*pair))
        for steps, f in equals:
            if self._accept(f, self.lines.columns[f], steps, *self._reach(f)):
                break

    def _likelihood(self, steps: StepFunction, f: int) -> float:
        """That of the ideal order, at the point of the interval that would be taken."""
        if self.likelihood is None:
            return 0.0
        column = self.lines.columns[f]
        t = next(self._points(column, steps))
        moved = self.engine.scores + t * column.astype(np.float64)
        return self.likelihood.value(self.beta * moved)

    def _powell(self) -> None:
        """One round of Powell's method over the present directions, one place per coordinate."""
        before = self.weights.copy()
        most, where = 0, -1
        for f in self.moving:
            direction = self.powell.get(f)
            if direction is None:
                gain = self._take_coordinate(f)
            else:
                gain = self._take(direction, self.lines.along(direction))
            if gain > most:
                most, where = gain, f
        way = self.weights - before
        if where >= 0 and np.count_nonzero(way) > 1:
            self._take(way, self.lines.along(way))
            self.powell[where] = way / np.abs(way).max()
