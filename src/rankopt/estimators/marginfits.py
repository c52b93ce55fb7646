"""Fits of one margin problem by several objectives and strengths, of which validation keeps the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.estimators.validation import Watch
from rankopt.measures import Measure
from rankopt.objectives import Margin
from rankopt.progress import Advance
from rankopt.scorers import Linear
from rankopt.solvers import L2, Problem, Solver
from rankopt.solvers.base import Solution, Status


@dataclass(frozen=True, eq=False)
class Found:
    """One fit, and its value on the validation data: 0 without any."""

    value: float
    objective: Margin
    strength: float
    solution: Solution
    watch: Watch
    problem: Problem


class Fits:
    """Fits of one problem with several objectives and strengths of the penalty."""

    def __init__(
        self,
        data: Dataset,
        valid: Sequence[Dataset],
        measure: Measure,
        solver: Solver,
        strengths: Sequence[float],
        start: Floats,
        rng: np.random.Generator,
        advance: Advance,
    ) -> None:
        self.data, self.valid, self.measure, self.solver = data, valid, measure, solver
        self.strengths, self.start, self.rng, self.advance = strengths, start, rng, advance
        self.interrupted = False

    def best(self, objective: Margin) -> Found:
        """Of all strengths the fit that is best on the validation data."""
        sloped = objective.bind(self.data.labels, self.data.groups, self.data.weights)
        best: Found | None = None
        for strength in self.strengths:
            penalty = L2(strength, self.start if objective.bound == "tight" else None)
            problem = Problem(self.data, Linear(), sloped, penalty)
            watch = Watch(self.measure, self.valid, Linear().scores, None, self.advance)
            solution = self.solver.solve(problem, self.start, self.rng, watch)
            found = Found(
                self._value(solution.params), objective, strength, solution, watch, problem
            )
            if best is None or found.value > best.value:
                best = found
            if solution.status is Status.INTERRUPTED:
                self.interrupted = True
                break
        assert best is not None
        return best

    def _value(self, params: Floats) -> float:
        """The measure on the first validation set; 0 without one."""
        if not self.valid:
            return 0.0
        part = self.valid[0]
        bound = self.measure.bind(part.labels, part.groups, part.weights, rows=part.rows)
        return bound.mean(Linear().scores(params, part))
