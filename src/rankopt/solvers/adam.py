"""Adam: stochastic gradient descent with a step size per parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats
from rankopt.errors import SpecError
from rankopt.solvers.base import Monitor, Solution
from rankopt.solvers.epochs import run_epochs
from rankopt.solvers.problem import Need, Problem, Solver


@dataclass(frozen=True)
class Adam(Solver):
    r"""Stochastic gradient descent whose steps are scaled by running moments of the gradient.

    .. math:: w \leftarrow w - \eta \, \hat m / (\sqrt{\hat v} + \epsilon)

    with :math:`\hat m, \hat v` the bias-corrected means of the gradient and of its square.

    Parameters
    ----------
    max_iter : passes over the queries.
    learning_rate : :math:`\eta`.
    batch : queries per step.
    decay, decay_squares : what a step leaves of the two means.
    epsilon : keeps steps finite where the gradient vanishes.

    References
    ----------
    [kingma2015adam]_

    Examples
    --------
    >>> print(Adam(learning_rate=0.1))
    adam(learning_rate=0.1)
    """

    name: ClassVar[str] = "adam"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SLOPE})
    max_iter: int = 100
    learning_rate: float = 0.01
    batch: int = 16
    decay: float = 0.9
    decay_squares: float = 0.999
    epsilon: float = 1e-8

    def __post_init__(self) -> None:
        if self.max_iter < 0 or not 0.0 < self.learning_rate < np.inf or self.batch < 1:
            raise SpecError(
                "adam: max_iter must not be negative, learning_rate and batch must be positive"
            )
        if not (0.0 <= self.decay < 1.0 and 0.0 <= self.decay_squares < 1.0 and self.epsilon > 0.0):
            raise SpecError("adam: decays must lie in [0, 1) and epsilon must be positive")

    def _solve(
        self, problem: Problem, start: Floats, rng: np.random.Generator, monitor: Monitor
    ) -> Solution:
        mean, square = np.zeros_like(start), np.zeros_like(start)
        steps = 0

        def update(params: Floats, grad: Floats) -> Floats:
            nonlocal mean, square, steps
            steps += 1
            mean = self.decay * mean + (1.0 - self.decay) * grad
            square = self.decay_squares * square + (1.0 - self.decay_squares) * grad**2
            unbiased = mean / (1.0 - self.decay**steps)
            spread = np.sqrt(square / (1.0 - self.decay_squares**steps))
            return params - self.learning_rate * unbiased / (spread + self.epsilon)

        return run_epochs(problem, start, rng, monitor, update, self.max_iter, self.batch)
