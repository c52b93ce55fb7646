"""ConcaveConvex: the tight margin bound as a sequence of convex problems."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats
from rankopt.errors import SpecError
from rankopt.registry import part
from rankopt.solvers.base import Monitor, Solution, Status, Step
from rankopt.solvers.bundle import Bundle
from rankopt.solvers.planes import strength_of
from rankopt.solvers.problem import SOLVERS, Course, Need, Problem, Solver


@dataclass(frozen=True)
class ConcaveConvex(Solver):
    r"""The concave-convex procedure for the tight margin bound.

    Definition
    ----------
    The tight bound is a convex function less :math:`\max_y F(y)`, which is convex too. With the order
    by the present scores in place of that maximum it becomes a convex problem that is nowhere below the
    tight one and touches it at the present parameters. The best of all parameters met while it is solved
    is where the next round begins, so that the value never rises.

    Parameters
    ----------
    solver : for the convex problems, such as ``bundle`` or ``cutting-plane``.
    max_iter : rounds.
    tol : a round that lowers the value by no more than this share of it ends the search.

    References
    ----------
    [chapelle2007large]_, section 4; [yuille2003concave]_

    Examples
    --------
    >>> print(ConcaveConvex(max_iter=5))
    concave-convex(max_iter=5)
    """

    name: ClassVar[str] = "concave-convex"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SLOPE, Need.SPLIT})
    solver: Solver = part(Bundle(), SOLVERS)
    max_iter: int = 50
    tol: float = 1e-4

    def __post_init__(self) -> None:
        if self.max_iter < 0 or not self.tol >= 0.0:
            raise SpecError("concave-convex: max_iter and tol must not be negative")

    def _solve(
        self, problem: Problem, start: Floats, rng: np.random.Generator, monitor: Monitor
    ) -> Solution:
        strength_of(problem, self.name)
        value, _ = problem.value_grad(start)
        course = Course(monitor, start, value)

        def keep(_step: Step, params: Floats) -> bool:
            # a round may be long: what it has met so far must outlive an interrupt
            course.keep(params, problem.value_grad(params)[0])
            return False

        try:
            for _ in range(self.max_iter):
                before, params = course.value, course.params
                convex = problem.sloped.convex_at(problem.scorer.scores(params, problem.data))
                inner = self.solver.solve(replace(problem, objective=convex), params, rng, keep)
                if course.step(course.params, course.value):
                    return course.solution(Status.STOPPED_EARLY)
                if inner.status is Status.INTERRUPTED:
                    return course.solution(Status.INTERRUPTED)
                if before - course.value <= self.tol * abs(before):
                    return course.solution(Status.CONVERGED)
        except KeyboardInterrupt:
            return course.solution(Status.INTERRUPTED)
        return course.solution(Status.OUT_OF_STEPS)
