"""Epochs: passes over the queries in random order, in batches, for stochastic solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from rankopt.arrays import Floats
from rankopt.solvers.base import Monitor, Solution, Status
from rankopt.solvers.problem import Course, Problem

_SPLIT = 20_000  # queries up to which single-query problems are kept from epoch to epoch


def run_epochs(
    problem: Problem,
    start: Floats,
    rng: np.random.Generator,
    monitor: Monitor,
    update: Callable[[Floats, Floats], Floats],
    epochs: int,
    batch: int,
) -> Solution:
    """Update the parameters by the gradient of every batch of shuffled queries, `epochs` times.

    `update` maps parameters and gradient to new parameters. After each epoch the loss of all queries
    is computed and the monitor is called; the best parameters by that loss are returned.
    """
    course = Course(monitor, start, problem.value_grad(start)[0])
    params = start
    batches = _Batches(problem, batch)
    try:
        for _ in range(epochs):
            for part in batches.shuffled(rng):
                params = update(params, part.resampled(rng).value_grad(params)[1])
            value = problem.value_grad(params)[0] if np.isfinite(params).all() else np.inf
            if not np.isfinite(value):
                return course.solution(Status.DIVERGED)
            if course.step(params, value):
                return course.solution(Status.STOPPED_EARLY)
    except KeyboardInterrupt:
        return course.solution(Status.INTERRUPTED)
    return course.solution(Status.FINISHED)


class _Batches:
    """A problem cut into batches of queries; single queries are cut once and for all."""

    def __init__(self, problem: Problem, size: int) -> None:
        self.problem, self.size = problem, size
        n_queries = problem.data.groups.n_queries
        keep = size == 1 and n_queries <= _SPLIT
        self.single = [problem.batch(np.array([q])) for q in range(n_queries)] if keep else None

    def shuffled(self, rng: np.random.Generator) -> Iterator[Problem]:
        order = rng.permutation(self.problem.data.groups.n_queries)
        if self.single is not None:
            yield from (self.single[q] for q in order)
            return
        for first in range(0, order.size, self.size):
            yield self.problem.batch(np.sort(order[first : first + self.size]))
