"""Problem: an objective of a scorer's scores on one dataset, plus a penalty; Solver: what minimises it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from enum import Enum
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.dataset import Dataset
from rankopt.errors import DataError, IncompatibleError
from rankopt.objectives.base import Sloped, Stepped
from rankopt.registry import Registry
from rankopt.scorers.base import Scorer
from rankopt.solvers.base import Monitor, Solution, Status, Step, silent
from rankopt.spec import format_spec


class Need(Enum):
    """What a solver may need of a problem; the values are the words of error messages."""

    SLOPE = "an objective with gradients"
    CONVEX = "a convex objective"
    SPLIT = "an objective that is a difference of convex ones, such as margin(bound=tight)"
    STEPS = "a piecewise-constant objective"
    LINES = "a scorer linear in its parameters"


@dataclass(frozen=True, eq=False)
class L2:
    r"""The penalty that pulls towards given parameters.

    Definition
    ----------
    .. math:: \lambda \, \lVert w - w_0 \rVert^2

    Parameters
    ----------
    strength : :math:`\lambda`; 0 is no penalty.
    towards : :math:`w_0`; None is the origin.
    times : how often the square of each parameter counts; None is once.
    """

    strength: float = 0.0
    towards: Floats | None = None
    times: Floats | None = None

    def value_grad(self, params: Floats) -> tuple[float, Floats]:
        """The penalty and its derivative."""
        away = params if self.towards is None else params - self.towards
        counted = away if self.times is None else self.times * away
        return self.strength * float(counted @ away), 2.0 * self.strength * counted

    def confined(self, places: Ints, times: Floats) -> L2:
        """The penalty of some parameters, each so many times."""
        towards = None if self.towards is None else self.towards[places]
        return L2(self.strength, towards, times)


NO_PENALTY = L2()


@dataclass(frozen=True, eq=False)
class Problem:
    """All that a solver may ask: the loss of parameters, its derivative, and parts of the problem.

    Parameters
    ----------
    data : features and queries.
    scorer : from parameters and features to scores.
    objective : the loss of the scores, bound to the labels of `data`.
    penalty : added to the loss.
    """

    data: Dataset
    scorer: Scorer
    objective: Sloped | Stepped
    penalty: L2 = NO_PENALTY

    @property
    def provides(self) -> frozenset[Need]:
        """What this problem offers to solvers."""
        offers = {
            Need.SLOPE: isinstance(self.objective, Sloped),
            Need.CONVEX: isinstance(self.objective, Sloped)
            and self.objective.convex
            and self.scorer.linear,
            Need.SPLIT: isinstance(self.objective, Sloped)
            and (self.objective.convex or self.objective.split)
            and self.scorer.linear,
            Need.STEPS: isinstance(self.objective, Stepped),
            Need.LINES: self.scorer.linear,
        }
        return frozenset(need for need, offered in offers.items() if offered)

    @property
    def sloped(self) -> Sloped:
        """The objective, where it has gradients."""
        if not isinstance(self.objective, Sloped):
            raise IncompatibleError(
                f"{type(self.objective).__name__} is piecewise constant and has no gradient"
            )
        return self.objective

    def value_grad(self, params: Floats) -> tuple[float, Floats]:
        """Loss plus penalty, and the derivative by the parameters."""
        value, by_scores = self.sloped.value_grad(self.scorer.scores(params, self.data))
        grad = self.scorer.pullback(params, self.data, by_scores)
        if self.penalty.strength == 0.0:
            return value, grad
        extra, pull = self.penalty.value_grad(params)
        return value + extra, grad + pull

    def cooled(self, tau: float) -> Problem:
        """The problem at another temperature of its objective."""
        return replace(self, objective=self.sloped.cooled(tau))

    def resampled(self, rng: np.random.Generator) -> Problem:
        """The problem with fresh random draws of its objective."""
        return replace(self, objective=self.sloped.resampled(rng))

    def batch(self, queries: Ints) -> Problem:
        """The problem of some queries: their mean loss, and the whole penalty."""
        return replace(self, data=self.data.take(queries), objective=self.sloped.take(queries))


class Solver(ABC):
    """A way to minimise a problem. Final subclasses are frozen dataclasses."""

    name: ClassVar[str]
    needs: ClassVar[frozenset[Need]]

    def solve(
        self,
        problem: Problem,
        start: Floats,
        rng: np.random.Generator,
        monitor: Monitor = silent,
    ) -> Solution:
        """Minimise from `start`; an `IncompatibleError` before any work where the parts do not fit.

        `monitor` is called after each iteration with a copy of the parameters; True ends the search.
        Ctrl-C ends it with the best parameters so far.
        """
        missing = [need.value for need in Need if need in self.needs - problem.provides]
        if missing:
            raise IncompatibleError(f"{self.name} needs {' and '.join(missing)}")
        if not np.isfinite(start).all():
            raise DataError("start: parameters must be finite")
        return self._solve(problem, np.array(start, dtype=np.float64), rng, monitor)

    @abstractmethod
    def _solve(
        self, problem: Problem, start: Floats, rng: np.random.Generator, monitor: Monitor
    ) -> Solution: ...

    def __str__(self) -> str:
        return format_spec(self)


# Filled by the package's namespace; stands here because solvers that wrap solvers name it in a field.
SOLVERS: Registry[Solver] = Registry("solver", Solver)


class Course:
    """One run of a solver: its steps, the best parameters so far, and the monitor that hears of both."""

    def __init__(self, monitor: Monitor, params: Floats, value: float) -> None:
        self.began = time.perf_counter()
        self.monitor = monitor
        self.params, self.value = params.copy(), value
        self.history: list[Step] = []

    def keep(self, params: Floats, value: float) -> None:
        """Remember parameters if they are the best so far."""
        if value < self.value:
            self.params, self.value = params.copy(), value

    def step(
        self, params: Floats, value: float, note: str = "", bound: float | None = None
    ) -> bool:
        """Record an iteration; True where the monitor asks to stop."""
        self.keep(params, value)
        seconds = time.perf_counter() - self.began
        self.history.append(Step(len(self.history) + 1, value, seconds, None, note, bound))
        return self.monitor(self.history[-1], params.copy())

    def solution(self, status: Status) -> Solution:
        """The best parameters of the run."""
        return Solution(self.params, self.value, status, tuple(self.history), len(self.history))
