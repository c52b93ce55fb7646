"""Bagged: the mean of exact climbs, each on a random part of the queries."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from rankopt.arrays import Floats
from rankopt.errors import SpecError
from rankopt.measures import BoundMeasure
from rankopt.solvers.base import Monitor, Solution, Status, Step, silent
from rankopt.solvers.coordinate import Coordinate
from rankopt.solvers.lines import Lines


@dataclass(frozen=True)
class Bagged:
    r"""The mean of the weights of several climbs, each on queries drawn without replacement.

    Definition
    ----------
    .. math:: w = \frac{1}{B} \sum_{b=1}^{B} \frac{w_b}{\lVert S w_b \rVert}, \qquad
              w_b \approx \arg\max_w \sum_{q \in Q_b} M(X_q w, y_q)

    with S the spread of each feature. An exact climb takes every step that its queries ask for, be it
    for a single exchange; what only a few of them ask for differs from bag to bag and goes in the mean.
    Queries outside of a bag get weight 0, so no rows are copied. Where weights have ranges other than
    signs they are averaged as they are, which stays in the ranges.

    Parameters
    ----------
    solver : the climb; a cyclic one takes the features of each round in random order.
    bags : how many.
    subsample : the share of the queries in each.

    References
    ----------
    [breiman1996bagging]_; [tan2013direct]_
    """

    solver: Coordinate
    bags: int = 20
    subsample: float = 0.5

    def __post_init__(self) -> None:
        if self.bags < 1:
            raise SpecError("bags: must be positive")
        if not 0.0 < self.subsample <= 1.0:
            raise SpecError(f"subsample: {self.subsample!r} is no share (0 to 1]")

    def climb(
        self,
        lines: Lines,
        start: Floats,
        rng: np.random.Generator,
        monitor: Monitor = silent,
        given: Floats | None = None,
    ) -> Solution:
        """Climb from `start` in each bag. `monitor` hears of the mean after each.

        Ctrl-C keeps the mean so far.
        """
        spread = lines.columns.std(axis=1, dtype=np.float64)
        solver = self.solver
        if solver.order == "cyclic":  # climbs in one order have too much in common
            solver = replace(solver, order="random")
        began = time.perf_counter()
        mean, history, status = np.zeros_like(start), list[Step](), Status.FINISHED
        try:
            for bag in range(1, self.bags + 1):
                part = replace(lines, bound=self._drawn(lines.bound, rng))
                found = solver.climb(part, start, rng, given=given)
                broken = found.status is Status.INTERRUPTED
                if broken and history:
                    status = Status.INTERRUPTED
                    break
                size = float(np.linalg.norm(found.params * spread)) if lines.free else 1.0
                mean = mean + (found.params / (size or 1.0) - mean) / bag
                value = lines.bound.mean(lines.scores(mean))
                history.append(Step(bag, value, time.perf_counter() - began))
                if monitor(history[-1], mean.copy()) or broken:
                    status = Status.INTERRUPTED if broken else Status.STOPPED_EARLY
                    break
        except KeyboardInterrupt:  # between two climbs; a climb keeps what it has by itself
            status = Status.INTERRUPTED
        params = mean if history else start
        value = lines.bound.mean(lines.scores(params))
        return Solution(params, value, status, tuple(history), len(history))

    def _drawn(self, bound: BoundMeasure, rng: np.random.Generator) -> BoundMeasure:
        """The measure as the mean over some of the queries."""
        weights = np.zeros_like(bound.weights)
        bag = rng.permutation(weights.size)[: max(1, round(self.subsample * weights.size))]
        weights[bag] = bound.weights[bag]
        return replace(bound, weights=weights / (weights.mean() or 1.0))
