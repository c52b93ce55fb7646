"""Annealed: any solver, on a sequence of problems that grow colder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats
from rankopt.errors import SpecError
from rankopt.registry import part
from rankopt.solvers.base import Monitor, Solution, Status
from rankopt.solvers.lbfgs import LBFGS
from rankopt.solvers.problem import SOLVERS, Course, Need, Problem, Solver


@dataclass(frozen=True)
class Annealed(Solver):
    """Minimise at a high temperature, where the loss is smooth, and follow the minimum down.

    Each level starts from the minimum of the one before, as in algorithm 1 of SmoothRank's paper. The
    monitor is called once a level: with validation data it can end the annealing early, and chooses
    among the levels.

    Parameters
    ----------
    solver : what minimises at each level.
    high, low : the first and the last temperature (sigma of `Smooth`, 1 / alpha of `Approx`).
    factor : what the temperature is multiplied by from level to level.

    References
    ----------
    [chapelle2010gradient]_, algorithm 1

    Examples
    --------
    >>> print(Annealed(high=1.0))
    annealed(high=1)
    >>> len(Annealed().schedule)
    13
    """

    name: ClassVar[str] = "annealed"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SLOPE})
    solver: Solver = part(LBFGS(max_iter=30), SOLVERS)
    high: float = 64.0
    low: float = 0.015625
    factor: float = 0.5

    def __post_init__(self) -> None:
        if not (0.0 < self.low <= self.high < np.inf and 0.0 < self.factor < 1.0):
            raise SpecError("annealed: 0 < low <= high and 0 < factor < 1 are needed")

    @property
    def schedule(self) -> tuple[float, ...]:
        """The temperatures, from high to low."""
        levels = int(np.floor(np.log(self.low / self.high) / np.log(self.factor) + 1e-9))
        return tuple(float(self.high * self.factor**level) for level in range(levels + 1))

    def _solve(
        self, problem: Problem, start: Floats, rng: np.random.Generator, monitor: Monitor
    ) -> Solution:
        params, course, iterations = start, None, 0
        status = Status.FINISHED
        for tau in self.schedule:
            level = self.solver.solve(problem.cooled(tau), params, rng)
            params, iterations = level.params, iterations + level.n_iter
            if course is None:
                course = Course(monitor, params, level.value)
            course.params, course.value = params, level.value  # losses of two levels do not compare
            if level.status in (Status.INTERRUPTED, Status.DIVERGED):
                status = level.status
                break
            if course.step(params, level.value, f"temperature {tau:g}"):
                status = Status.STOPPED_EARLY
                break
        assert course is not None
        return Solution(params, course.value, status, tuple(course.history), iterations)
