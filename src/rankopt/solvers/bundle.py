"""Bundle: minimise a convex loss through the planes that touch it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from rankopt.arrays import Floats
from rankopt.errors import SpecError
from rankopt.solvers.base import Monitor, Solution, Status
from rankopt.solvers.planes import Model, Plane, closed, record, strength_of
from rankopt.solvers.problem import Course, Need, Problem, Solver

_LOOKS = 6  # inside a line, or more until one of them is lower than where the line starts
_MOST = 50
_FLAT = 1e-3  # share of the slope at the start of a line that counts as none


@dataclass(frozen=True)
class Bundle(Solver):
    r"""The bundle method for any convex objective with a penalty.

    Definition
    ----------
    Planes touch the loss at the parameters tried so far. Their maximum plus the penalty lies below the
    problem; its minimum is a lower bound and the next parameters to try (equation 13):

    .. math:: w_{t+1} = \arg\min_w \; \lambda \lVert w - w_0 \rVert^2
              + \max_{s \le t} \, [ f_s + g_s \cdot (w - w_s) ]

    Early on that minimum is far from where the loss is low, and its planes say little there. So the
    best parameters are those of a line search from the best so far towards the minimum, and the next
    plane touches `near` them. The scores of a linear scorer are linear along the line: no
    features are read for it.

    Parameters
    ----------
    max_iter : iterations.
    tol : the search ends when the best value and the lower bound differ by at most this share of the
        value.
    near : how far on the way from the best parameters to the minimum the next plane touches; 1 is the
        minimum itself.

    References
    ----------
    [chapelle2007large]_, section 3.3.2; [teo2010bundle]_; line search: [franc2009optimized]_

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
        if self.max_iter < 0 or not self.tol >= 0.0 or not 0.0 < self.near <= 1.0:
            raise SpecError(
                "bundle: max_iter and tol must not be negative, near is above 0 and at most 1"
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
                params = model.minimum(course.value)
                if not closed(course.value, model.bound, self.tol):
                    course.keep(*downhill(problem, course.params, params))
                stopped = record(course, model.bound)
                if closed(course.value, model.bound, self.tol):
                    return course.solution(Status.CONVERGED)
                if stopped:
                    return course.solution(Status.STOPPED_EARLY)
                ahead = course.params + self.near * (params - course.params)
                model.add(Plane.touching(problem, ahead))
        except KeyboardInterrupt:
            return course.solution(Status.INTERRUPTED)
        return course.solution(Status.OUT_OF_STEPS)


def downhill(problem: Problem, near: Floats, far: Floats) -> tuple[Floats, float]:
    """The lowest parameters met on the way from one point to another, and the value there.

    Steps go in turn to where the slope would be 0 if it grew evenly, which is the minimum of a parabola,
    and where the tangents at the two ends of the bracket meet, with the penalty added, which is that of a
    loss with one kink.
    """
    line = _Line(problem, near, far - near)
    first = left = line.at(0.0)
    right = line.at(1.0)
    best = min(left, right, key=lambda end: end.value)
    for look in range(_MOST):
        enough = look >= _LOOKS and best.value < first.value
        if enough or left.slope >= 0.0 or right.slope <= 0.0:
            break
        middle = line.at(line.meeting(left, right) if look % 2 else line.level(left, right))
        best = min(best, middle, key=lambda end: end.value)
        if abs(middle.slope) <= -_FLAT * first.slope:
            break
        if middle.slope < 0.0:
            left = middle
        else:
            right = middle
    return near + best.t * (far - near), best.value


class _Point(NamedTuple):
    """Value and slope of the problem at one step along a line."""

    t: float
    value: float
    slope: float


class _Line:
    """A problem along a line, by the scores alone."""

    def __init__(self, problem: Problem, start: Floats, direction: Floats) -> None:
        self.problem, self.start, self.direction = problem, start, direction
        self.scores = problem.scorer.scores(start, problem.data)
        self.change = problem.scorer.scores(direction, problem.data)
        self.bend = 2.0 * problem.penalty.strength * float(direction @ direction)

    def at(self, t: float) -> _Point:
        loss, by_scores = self.problem.sloped.value_grad(self.scores + t * self.change)
        penalty, pull = self.problem.penalty.value_grad(self.start + t * self.direction)
        return _Point(t, loss + penalty, float(by_scores @ self.change + pull @ self.direction))

    def meeting(self, left: _Point, right: _Point) -> float:
        """Where the two tangents of the loss plus the penalty are least at their maximum."""
        lefts, rights = left.slope - self.bend * left.t, right.slope - self.bend * right.t
        base = left.value - left.slope * left.t + 0.5 * self.bend * left.t**2
        other = right.value - right.slope * right.t + 0.5 * self.bend * right.t**2
        t = (base - other) / (rights - lefts) if rights > lefts else 0.5 * (left.t + right.t)
        if self.bend > 0.0:  # the least of one of the two parabolas, where the other is below
            t = max(min(t, -lefts / self.bend), -rights / self.bend)
        return _inside(t, left, right)

    def level(self, left: _Point, right: _Point) -> float:
        """Where the slope is 0 on the straight line between the slopes at the two ends."""
        width = right.t - left.t
        return _inside(left.t - left.slope * width / (right.slope - left.slope), left, right)


def _inside(t: float, left: _Point, right: _Point) -> float:
    """A step well inside the bracket, so that its width falls."""
    width = right.t - left.t
    return min(max(t, left.t + 0.05 * width), right.t - 0.05 * width)
