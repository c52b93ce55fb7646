"""LBFGS: limited-memory BFGS, through SciPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankopt.arrays import Floats
from rankopt.errors import SpecError
from rankopt.solvers.base import Monitor, Solution, Status, Step
from rankopt.solvers.problem import Course, Need, Problem, Solver
from rankopt.threads import one_blas_thread


@dataclass(frozen=True)
class LBFGS(Solver):
    """Limited-memory BFGS: the default for smooth objectives.

    Parameters
    ----------
    max_iter : iterations.
    tol : the largest partial derivative at which the search counts as converged. A relative decrease
        of the loss by less than a thousandth of it ends the search as well.
    memory : how many past steps model the curvature.

    References
    ----------
    [liu1989limited]_

    Examples
    --------
    >>> print(LBFGS(max_iter=30))
    lbfgs(max_iter=30)
    """

    name: ClassVar[str] = "lbfgs"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SLOPE})
    max_iter: int = 200
    tol: float = 1e-6
    memory: int = 10

    def __post_init__(self) -> None:
        if self.max_iter < 0 or not self.tol >= 0.0 or self.memory < 1:
            raise SpecError("lbfgs: max_iter and tol must not be negative, memory must be positive")

    def _solve(
        self, problem: Problem, start: Floats, rng: np.random.Generator, monitor: Monitor
    ) -> Solution:
        from scipy.optimize import minimize

        value, _ = problem.value_grad(start)
        course = Course(monitor, start, value)

        def watched(params: Floats) -> tuple[float, Floats]:
            value, grad = problem.value_grad(params)
            course.keep(params, value)
            return value, grad

        def after(intermediate_result: Any) -> None:
            if course.step(intermediate_result.x, float(intermediate_result.fun)):
                raise _EndError

        if self.max_iter == 0:
            return course.solution(Status.OUT_OF_STEPS)
        while True:
            before = course.value
            options = self._options(self.max_iter - len(course.history))
            try:
                with one_blas_thread():
                    found: Any = minimize(
                        watched,
                        course.params,
                        method="L-BFGS-B",
                        jac=True,
                        callback=after,
                        options=options,
                    )
            except _EndError:
                return course.solution(Status.STOPPED_EARLY)
            except KeyboardInterrupt:
                return course.solution(Status.INTERRUPTED)
            # Where the loss overflows on a line, SciPy takes no step and calls that convergence.
            stuck = found.status == 0 and np.abs(found.jac).max(initial=0.0) > self.tol
            if not (stuck and course.value < before and _at_rest(course.history)):
                break
            if len(course.history) >= self.max_iter:
                return course.solution(Status.OUT_OF_STEPS)
        status = {0: Status.CONVERGED, 1: Status.OUT_OF_STEPS}.get(found.status, Status.STALLED)
        return course.solution(status)

    def _options(self, iterations: int) -> dict[str, Any]:
        """What SciPy is told."""
        return {
            "maxiter": iterations,
            "maxfun": 20 * iterations + 20,
            "maxcor": self.memory,
            "gtol": self.tol,
            "ftol": 1e-3 * self.tol,
        }


def _at_rest(history: Sequence[Step]) -> bool:
    """Whether the last step has changed nothing: the model of the curvature is then begun anew."""
    return len(history) > 1 and history[-1].value == history[-2].value


class _EndError(Exception):
    """Raised by the callback to end SciPy's loop."""
