"""Epochs: passes over the queries in random order, in batches, for stochastic solvers.

A batch of sparse data knows few of many columns. Its step is then one of the parameters of those columns
alone, and takes with it the penalty of all the steps that left them out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.solvers.base import Monitor, Solution, Status
from rankopt.solvers.problem import L2, Course, Problem

_SPLIT = 20_000  # queries up to which single-query problems are kept from epoch to epoch
_WIDE = 100_000  # parameters from which on a step of those that a batch knows is the cheaper one
_ALL = slice(None)

Places = Ints | slice  # which parameters a step is of
Update = Callable[[Floats, Floats, Places], None]


def run_epochs(
    problem: Problem,
    start: Floats,
    rng: np.random.Generator,
    monitor: Monitor,
    update: Update,
    epochs: int,
    batch: int,
) -> Solution:
    """Update the parameters by the gradient of every batch of shuffled queries, `epochs` times.

    `update` takes the parameters, which it changes, the gradient, and the places that it is of. After each
    epoch the loss of all queries is computed and the monitor is called; the best parameters by that loss
    are returned.
    """
    batches, params = _Batches(problem, batch), start.copy()
    batches.settle(params)
    course = Course(monitor, params, problem.value_grad(params)[0])
    try:
        for _ in range(epochs):
            for part, places in batches.shuffled(rng):
                _, grad = part.resampled(rng).value_grad(params[places])
                update(params, grad, places)
            value = problem.value_grad(params)[0] if np.isfinite(params).all() else np.inf
            if not np.isfinite(value):
                return course.solution(Status.DIVERGED)
            if course.step(params, value):
                return course.solution(Status.STOPPED_EARLY)
    except KeyboardInterrupt:
        return course.solution(Status.INTERRUPTED)
    return course.solution(Status.FINISHED)


@dataclass(frozen=True, eq=False)
class _Part:
    """The problem of a batch and the parameters that it is of; its penalty is left to the caller."""

    problem: Problem
    places: Places

    @classmethod
    def of(cls, problem: Problem, queries: Ints) -> _Part:
        batch = problem.batch(queries)
        narrow = problem.scorer.size(problem.data) < _WIDE
        confined = None if narrow else batch.scorer.confined(batch.data)
        if confined is None:
            return cls(batch, _ALL)
        return cls(replace(batch, data=confined[0]), confined[1])


class _Batches:
    """A problem cut into batches of queries; single queries are cut once and for all."""

    def __init__(self, problem: Problem, size: int) -> None:
        self.problem, self.size = problem, size
        self.known = _Part.of(problem, np.arange(problem.data.groups.n_queries)).places
        n_queries = problem.data.groups.n_queries
        self.steps = 0
        self.last = np.zeros(problem.scorer.size(problem.data), np.int64)  # step of each parameter
        keep = size == 1 and n_queries <= _SPLIT
        self.single = [_Part.of(problem, np.array([q])) for q in range(n_queries)] if keep else None

    def settle(self, params: Floats) -> None:
        """Put parameters of columns that are blank in all rows where the penalty wants them."""
        if isinstance(self.known, slice) or self.problem.penalty.strength == 0.0:
            return
        unknown = np.ones(params.size, bool)
        unknown[self.known] = False
        towards = self.problem.penalty.towards
        params[unknown] = 0.0 if towards is None else towards[unknown]

    def shuffled(self, rng: np.random.Generator) -> Iterator[tuple[Problem, Places]]:
        for part in self._parts(rng.permutation(self.problem.data.groups.n_queries)):
            yield replace(part.problem, penalty=self._owed(part.places)), part.places

    def _parts(self, order: Ints) -> Iterator[_Part]:
        if self.single is not None:
            yield from (self.single[q] for q in order)
            return
        for first in range(0, order.size, self.size):
            yield _Part.of(self.problem, np.sort(order[first : first + self.size]))

    def _owed(self, places: Places) -> L2:
        """The penalty of a step, and of all that the same parameters were no part of since their last."""
        self.steps += 1
        if isinstance(places, slice):
            return self.problem.penalty
        times = (self.steps - self.last[places]).astype(np.float64)
        self.last[places] = self.steps
        return self.problem.penalty.confined(places, times)
