"""SGD: stochastic gradient descent over shuffled queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats
from rankopt.errors import SpecError
from rankopt.solvers.base import Monitor, Solution
from rankopt.solvers.epochs import Places, run_epochs
from rankopt.solvers.problem import Need, Problem, Solver


@dataclass(frozen=True)
class SGD(Solver):
    r"""Gradient descent, one query at a time in random order: algorithm 1 of ApproxRank's paper.

    Each query moves the parameters by :math:`-\eta` times the gradient of its own loss (plus the whole
    penalty). Among the models after each pass the monitor, or else the loss, chooses. On sparse data with
    many columns a step moves the parameters of those that its queries know, and takes with it the penalty
    of all steps since their last.

    Parameters
    ----------
    max_iter : passes over the queries, T in the paper.
    learning_rate : :math:`\eta`.
    batch : queries per step; their mean gradient is taken.

    References
    ----------
    [qin2010general]_, algorithm 1

    Examples
    --------
    >>> print(SGD(max_iter=50, batch=8))
    sgd(max_iter=50, batch=8)
    """

    name: ClassVar[str] = "sgd"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SLOPE})
    max_iter: int = 200
    learning_rate: float = 0.01
    batch: int = 1

    def __post_init__(self) -> None:
        if self.max_iter < 0 or not 0.0 < self.learning_rate < np.inf or self.batch < 1:
            raise SpecError(
                "sgd: max_iter must not be negative, learning_rate and batch must be positive"
            )

    def _solve(
        self, problem: Problem, start: Floats, rng: np.random.Generator, monitor: Monitor
    ) -> Solution:
        def update(params: Floats, grad: Floats, places: Places) -> None:
            params[places] -= self.learning_rate * grad

        return run_epochs(problem, start, rng, monitor, update, self.max_iter, self.batch)
