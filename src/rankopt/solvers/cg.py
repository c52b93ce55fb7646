"""CG: nonlinear conjugate gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats
from rankopt.errors import SpecError
from rankopt.solvers.base import Monitor, Solution, Status
from rankopt.solvers.problem import Course, Need, Problem, Solver
from rankopt.solvers.wolfe import Line, Point, wolfe


@dataclass(frozen=True)
class CG(Solver):
    r"""Nonlinear conjugate gradients with the update of Polak and Ribiere, as SmoothRank uses them.

    The next direction is the negative gradient plus :math:`\beta` times the last direction, with
    :math:`\beta = \max(0, g_{t+1} \cdot (g_{t+1} - g_t) / g_t \cdot g_t)`, so that it starts anew by itself
    where it has ceased to be conjugate. Steps fulfil the strong Wolfe conditions.

    Parameters
    ----------
    max_iter : iterations.
    tol : the largest partial derivative at which the search counts as converged. A relative decrease
        of the loss by less than a thousandth of it ends the search as well.

    References
    ----------
    [shewchuk1994introduction]_

    Examples
    --------
    >>> print(CG(max_iter=30))
    cg(max_iter=30)
    """

    name: ClassVar[str] = "cg"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SLOPE})
    max_iter: int = 200
    tol: float = 1e-6

    def __post_init__(self) -> None:
        if self.max_iter < 0 or not self.tol >= 0.0:
            raise SpecError("cg: max_iter and tol must not be negative")

    def _solve(
        self, problem: Problem, start: Floats, rng: np.random.Generator, monitor: Monitor
    ) -> Solution:
        value, grad = problem.value_grad(start)
        course = Course(monitor, start, value)
        try:
            return course.solution(self._descend(problem, start, value, grad, course))
        except KeyboardInterrupt:
            return course.solution(Status.INTERRUPTED)

    def _descend(
        self, problem: Problem, params: Floats, value: float, grad: Floats, course: Course
    ) -> Status:
        direction, fall = -grad, 0.0
        for _ in range(self.max_iter):
            if np.abs(grad).max(initial=0.0) <= self.tol:
                return Status.CONVERGED
            slope = float(grad @ direction)
            if slope >= 0.0:
                direction, slope = -grad, -float(grad @ grad)
            here = Point(0.0, params, value, grad, slope)
            # The loss should fall about as much as last time; at first by a step of length 1 at most.
            guess = (
                2.0 * fall / -slope if fall > 0.0 else 1.0 / max(1.0, float(np.linalg.norm(grad)))
            )
            found = wolfe(_line(problem, params, direction), here, guess, flattens=0.1)
            if found.step == 0.0:
                return Status.STALLED
            fall = value - found.value
            beta = max(0.0, float(found.grad @ (found.grad - grad)) / float(grad @ grad))
            direction = beta * direction - found.grad
            params, value, grad = found.params, found.value, found.grad
            if course.step(params, value):
                return Status.STOPPED_EARLY
            if fall <= 1e-3 * self.tol * max(1.0, abs(value)):
                return Status.CONVERGED
        return Status.OUT_OF_STEPS


def _line(problem: Problem, params: Floats, direction: Floats) -> Line:
    def at(step: float) -> Point:
        there = params + step * direction
        value, grad = problem.value_grad(there)
        return Point(step, there, value, grad, float(grad @ direction))

    return at
