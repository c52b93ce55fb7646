"""Restarts: any solver, from several starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats
from rankopt.errors import SpecError
from rankopt.registry import part
from rankopt.solvers.base import Monitor, Solution, Status, Step
from rankopt.solvers.lbfgs import LBFGS
from rankopt.solvers.problem import SOLVERS, Need, Problem, Solver


@dataclass(frozen=True)
class Restarts(Solver):
    """Minimise from the start and from random points about it; the best minimum wins.

    Parameters
    ----------
    solver : what minimises from each start.
    n : further starts.
    spread : their distance from the first one, by its root mean square (by 1 where it is zero).

    References
    ----------
    [nocedal2006numerical]_

    Examples
    --------
    >>> print(Restarts(n=3))
    restarts(n=3)
    """

    name: ClassVar[str] = "restarts"
    needs: ClassVar[frozenset[Need]] = frozenset()
    solver: Solver = part(LBFGS(), SOLVERS)
    n: int = 5
    spread: float = 1.0

    def __post_init__(self) -> None:
        if self.n < 0 or not 0.0 <= self.spread < np.inf:
            raise SpecError("restarts: n and spread must not be negative")

    def _solve(
        self, problem: Problem, start: Floats, rng: np.random.Generator, monitor: Monitor
    ) -> Solution:
        size = float(np.sqrt(np.mean(start**2))) if start.any() else 1.0
        best = self.solver.solve(problem, start, rng, monitor)
        history: list[Step] = list(best.history)
        iterations = best.n_iter
        for _ in range(self.n):
            if best.status is Status.INTERRUPTED:
                break
            point = start + self.spread * size * rng.normal(size=start.size)
            found = self.solver.solve(problem, point, rng, monitor)
            history.extend(found.history)
            iterations += found.n_iter
            if found.value < best.value:
                best = found
            elif found.status is Status.INTERRUPTED:
                best = replace(best, status=found.status)
        return replace(best, history=tuple(history), n_iter=iterations)
