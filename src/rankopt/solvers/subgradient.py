"""Subgradient: descent with backtracking, for objectives with kinks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats
from rankopt.errors import SpecError
from rankopt.solvers.base import Monitor, Solution, Status
from rankopt.solvers.bundle import downhill
from rankopt.solvers.planes import Model, Plane, closed, record
from rankopt.solvers.problem import Course, Need, Problem, Solver

_HALVINGS = 20
_ENOUGH = 1e-4  # of the decrease that the slope promises
_WORTH = 0.1  # of the gap that a step must close to do without the planes
_NEAR = 0.1  # how far on the way to the minimum of the planes the next one touches


@dataclass(frozen=True)
class Subgradient(Solver):
    r"""Steepest subgradient descent with a backtracking line search.

    Definition
    ----------
    A step along the negative subgradient is halved until it lowers the value; the next one starts at
    twice the length that did.

    At a kink no step may do, and near one steps are short. A convex objective with a penalty then goes on
    towards the minimum of the maximum of the planes met on the way, as `Bundle` does in every iteration;
    that minimum is a lower bound of the problem, and the search ends on the gap. Without convexity, a kink
    ends the search.

    Parameters
    ----------
    max_iter : iterations.
    tol : the search ends when the best value and the lower bound differ by at most this share of the
        value; without a bound, when a step lowers the value by no more than a thousandth of this share.

    References
    ----------
    [chapelle2007large]_, section 3.3.1

    Examples
    --------
    >>> print(Subgradient(tol=0.01))
    subgradient(tol=0.01)
    """

    name: ClassVar[str] = "subgradient"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SLOPE})
    max_iter: int = 10_000
    tol: float = 1e-3

    def __post_init__(self) -> None:
        if self.max_iter < 0 or not self.tol >= 0.0:
            raise SpecError("subgradient: max_iter and tol must not be negative")

    def _solve(
        self, problem: Problem, start: Floats, rng: np.random.Generator, monitor: Monitor
    ) -> Solution:
        certified = Need.CONVEX in problem.provides and problem.penalty.strength > 0.0
        descent = _Descent(problem, start, monitor, certified)
        try:
            for _ in range(self.max_iter):
                before = descent.course.value
                moved = descent.step()
                if certified:
                    if record(descent.course, descent.bound):
                        return descent.course.solution(Status.STOPPED_EARLY)
                    if closed(descent.course.value, descent.bound, self.tol):
                        return descent.course.solution(Status.CONVERGED)
                    continue
                if descent.course.step(descent.course.params, descent.course.value):
                    return descent.course.solution(Status.STOPPED_EARLY)
                if not moved:
                    return descent.course.solution(Status.STALLED)
                if before - descent.course.value <= 1e-3 * self.tol * abs(before):
                    return descent.course.solution(Status.CONVERGED)
        except KeyboardInterrupt:
            return descent.course.solution(Status.INTERRUPTED)
        return descent.course.solution(Status.OUT_OF_STEPS)


class _Descent:
    """Where a descent stands: the best parameters, the length of a step, and the planes met."""

    def __init__(self, problem: Problem, start: Floats, monitor: Monitor, certified: bool) -> None:
        self.problem = problem
        self.plane = Plane.touching(problem, start)
        self.course = Course(monitor, start, self.plane.at(problem, start))
        self.model = Model(problem, problem.penalty.strength) if certified else None
        self.length = 1.0
        self.kinked = False  # whether no step led down from the best parameters
        self._meet(self.plane)

    @property
    def bound(self) -> float:
        """The best lower bound so far."""
        return -np.inf if self.model is None else self.model.bound

    def step(self) -> bool:
        """One step down and, where that closes little of the gap, one on by the planes; whether it fell."""
        before = self.course.value
        if not self.kinked:
            self._meet(self._down())
        value = self.course.value
        if self.model is not None and before - value < _WORTH * (value - self.bound):
            self._towards(self.model.minimum(value))
        self.kinked = self.course.value >= before
        return not self.kinked

    def _towards(self, minimum: Floats) -> None:
        """On to the lowest point on the way to the minimum of the planes, and a plane from near it."""
        params, value = downhill(self.problem, self.course.params, minimum)
        if value < self.course.value:
            self.plane = Plane.touching(self.problem, params)
            self.course.keep(params, value)
        here = self.course.params
        self._meet(Plane.touching(self.problem, here + _NEAR * (minimum - here)))

    def _meet(self, plane: Plane) -> None:
        if self.model is not None:
            self.model.add(plane)

    def _down(self) -> Plane:
        """The plane where the line search ended."""
        params, value = self.course.params, self.course.value
        grad = self.plane.slope + self.problem.penalty.value_grad(params)[1]
        square = float(grad @ grad)
        length, plane = self.length, self.plane
        for _ in range(_HALVINGS if square > 0.0 else 0):
            plane = self._look(params - length * grad)
            if self.course.value <= value - _ENOUGH * length * square:
                self.length = 2.0 * length
                break
            length *= 0.5
        return plane

    def _look(self, params: Floats) -> Plane:
        """The plane that touches at some parameters; where the value is the best, they are kept."""
        plane = Plane.touching(self.problem, params)
        value = plane.at(self.problem, params)
        if value < self.course.value:
            self.plane = plane
            self.course.keep(params, value)
        return plane
