"""Bundle: minimise a convex loss through the planes that touch it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats
from rankopt.errors import SpecError
from rankopt.solvers.base import Monitor, Solution, Status
from rankopt.solvers.planes import Model, Plane, closed, record, strength_of
from rankopt.solvers.problem import Course, Need, Problem, Solver


@dataclass(frozen=True)
class Bundle(Solver):
    r"""The bundle method for any convex objective with a penalty.

    Definition
    ----------
    Planes touch the loss at the parameters tried so far. Their maximum plus the penalty lies below the
    problem; its minimum is a lower bound and the next parameters to try (equation 13):

    .. math:: w_{t+1} = \arg\min_w \; \lambda \lVert w - w_0 \rVert^2
              + \max_{s \le t} \, [ f_s + g_s \cdot (w - w_s) ]

    A second plane per iteration touches near the best parameters so far, on the way to the minimum:
    far from them the planes say little where it matters.

    Parameters
    ----------
    max_iter : iterations, each of at most two evaluations of the loss.
    tol : the search ends when the best value and the lower bound differ by at most this share of the
        value.
    near : how far on the way from the best parameters to the minimum the second plane touches; 0 leaves
        it out.

    References
    ----------
    [chapelle2007large]_, section 3.3.2; [teo2010bundle]_

    Examples
    --------
    >>> print(Bundle(max_iter=50))
    bundle(max_iter=50)
    """

    name: ClassVar[str] = "bundle"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SLOPE, Need.CONVEX})
    max_iter: int = 2000
    tol: float = 1e-3
    near: float = 0.1

    def __post_init__(self) -> None:
        if self.max_iter < 0 or not self.tol >= 0.0 or not 0.0 <= self.near < 1.0:
            raise SpecError(
                "bundle: max_iter and tol must not be negative, near is from 0 to below 1"
            )

    def _solve(
        self, problem: Problem, start: Floats, rng: np.random.Generator, monitor: Monitor
    ) -> Solution:
        model = Model(problem, strength_of(problem, self.name))
        plane = Plane.touching(problem, start)
        course = Course(monitor, start, plane.at(problem, start))
        try:
            model.add(plane)
            for _ in range(self.max_iter):
                params = model.minimum()
                if closed(course.value, model.bound, self.tol):
                    record(course, model.bound)
                    return course.solution(Status.CONVERGED)
                best = course.params
                _touch(problem, model, course, params)
                if self.near > 0.0 and course.params is best:
                    _touch(problem, model, course, best + self.near * (params - best))
                if record(course, model.bound):
                    return course.solution(Status.STOPPED_EARLY)
        except KeyboardInterrupt:
            return course.solution(Status.INTERRUPTED)
        return course.solution(Status.OUT_OF_STEPS)


def _touch(problem: Problem, model: Model, course: Course, params: Floats) -> None:
    """One more plane, and the parameters where it touches if they are the best."""
    plane = Plane.touching(problem, params)
    model.add(plane)
    course.keep(params, plane.at(problem, params))
