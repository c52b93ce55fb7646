"""Adam: stochastic gradient descent with a step size per parameter."""

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
class Adam(Solver):
    r"""Stochastic gradient descent whose steps are scaled by running moments of the gradient.

    .. math:: w \leftarrow w - \eta \, \hat m / (\sqrt{\hat v} + \epsilon)

    with :math:`\hat m, \hat v` the bias-corrected means of the gradient and of its square. On sparse data
    with many columns a step moves the parameters of those that its queries know, and counts for them alone.

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
        mean, square, of_ones, of_squared_ones = (np.zeros_like(start) for _ in range(4))

        def update(params: Floats, grad: Floats, places: Places) -> None:
            follow(mean, places, grad, self.decay)
            follow(square, places, grad**2, self.decay_squares)
            follow(
                of_ones, places, 1.0, self.decay
            )  # what the means fall short by, which began at 0
            follow(of_squared_ones, places, 1.0, self.decay_squares)
            spread = np.sqrt(square[places] / of_squared_ones[places])
            step = mean[places] / of_ones[places] / (spread + self.epsilon)
            params[places] -= self.learning_rate * step

        return run_epochs(problem, start, rng, monitor, update, self.max_iter, self.batch)


def follow(mean: Floats, places: Places, value: Floats | float, decay: float) -> None:
    """Let running means take in a value."""
    mean[places] = decay * mean[places] + (1.0 - decay) * value
