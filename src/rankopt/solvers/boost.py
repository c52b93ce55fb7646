"""Boost: trees grown on the slopes of an objective, each weighted by the measure (DirectBoost)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rankopt.arrays import Bools, Floats, Ints
from rankopt.errors import IncompatibleError, SpecError
from rankopt.measures import BoundMeasure
from rankopt.objectives.base import Sloped
from rankopt.scorers.trees import Trees
from rankopt.search.engine import Engine
from rankopt.search.fixedpoint import FixedPoint
from rankopt.solvers.base import Monitor, Status, Step, silent
from rankopt.solvers.grower import Grower, Grown
from rankopt.solvers.leafsearch import searched_leaves
from rankopt.solvers.treestep import TreeStep

LEAVES = ("auto", "newton", "gradient")
_FLAT = (
    1e-6  # slopes of a query below this are none: a cut-off far away, say, leaves 1e-100 of them
)
_PATIENCE = 10  # draws of rows and features without a split after which there is none to find


@dataclass(frozen=True)
class Boost:
    r"""Stage-wise boosting of an objective by trees whose weights are searched on the measure.

    Definition
    ----------
    .. math:: s \leftarrow s + w_t \, h_t, \qquad h_t \approx -H^{-1} \nabla L(s)

    with H the curvature of the objective (1 for ``leaves="gradient"``) and :math:`w_t` by `TreeStep`.
    Where an objective has no slope at the start, as cosines and measures smoothed by queries have none
    where all scores are equal, trees follow the gains instead until it has.

    Parameters
    ----------
    n_estimators : the most trees.
    step : how a tree gets its weight.
    subsample : the share of the queries that each tree is grown on, drawn anew without replacement.
    leaves : ``newton``, a leaf is the sum of slopes by that of curvatures; ``gradient``, the mean of
        slopes, whose root mean square is 1 at first; ``auto``, newton where the objective has a
        curvature.
    leaf_rounds : rounds of exact line searches of the measure, leaf by leaf, that improve a new tree.
    leaf_rate : the share of the way to the values so found.

    References
    ----------
    [friedman2001greedy]_; [friedman2002stochastic]_; [tan2013direct]_, section 2.4
    """

    n_estimators: int = 100
    step: TreeStep = field(default_factory=TreeStep)
    subsample: float = 1.0
    leaves: str = "auto"
    leaf_rounds: int = 0
    leaf_rate: float = 0.3

    def __post_init__(self) -> None:
        if self.n_estimators < 1 or self.leaf_rounds < 0:
            raise SpecError("n_estimators must be positive, leaf_rounds not negative")
        if not 0.0 < self.subsample <= 1.0:
            raise SpecError(f"subsample: {self.subsample!r} is no share (0 to 1]")
        if self.leaves not in LEAVES:
            raise SpecError(f"leaves: unknown {self.leaves!r}; use one of {', '.join(LEAVES)}")
        if not 0.0 < self.leaf_rate <= 1.0:
            raise SpecError(f"leaf_rate: {self.leaf_rate!r} is no share (0 to 1]")
        if self.step.on == "out-of-bag" and self.subsample == 1.0:
            raise IncompatibleError(
                "step='out-of-bag' needs queries that a tree has not seen: subsample below 1"
            )

    def run(
        self,
        grower: Grower,
        objective: Sloped,
        bound: BoundMeasure,
        scores: Sequence[Floats],
        rng: np.random.Generator,
        monitor: Monitor = silent,
    ) -> Boosted:
        """Boost from `scores`, which are brought up to date part by part, the training rows first.

        `monitor` hears of each tree with the weights so far; True ends the boosting, as does Ctrl-C.
        """
        rounds = _Rounds(self, grower, objective, bound, scores, rng)
        began = time.perf_counter()
        status = Status.FINISHED
        try:
            for iteration in range(1, self.n_estimators + 1):
                if not rounds.next():
                    status = Status.CONVERGED
                    break
                value = bound.mean(scores[0])
                step = Step(iteration, value, time.perf_counter() - began, rounds.weights[-1])
                rounds.history.append(step)
                if monitor(step, np.array(rounds.weights)):
                    status = Status.STOPPED_EARLY
                    break
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        whole = min(len(rounds.trees), len(rounds.weights))
        weights = np.array(rounds.weights[:whole])
        return Boosted(tuple(rounds.trees[:whole]), weights, status, tuple(rounds.history))


@dataclass(frozen=True, eq=False)
class Boosted:
    """Trees, their weights, how boosting ended, and its steps; `watched` of a step is the weight."""

    trees: tuple[Trees, ...]
    weights: Floats
    status: Status
    history: tuple[Step, ...]


class _Rounds:
    """The moving parts: trees and weights so far, and the scores of every part."""

    def __init__(
        self,
        plan: Boost,
        grower: Grower,
        objective: Sloped,
        bound: BoundMeasure,
        scores: Sequence[Floats],
        rng: np.random.Generator,
    ) -> None:
        self.plan, self.grower, self.objective, self.rng = plan, grower, objective, rng
        self.bound, self.scores = bound, scores
        self.trees: list[Trees] = []
        self.weights: list[float] = []
        self.history: list[Step] = []
        self.scale = 0.0
        searched = plan.step.on != "fixed" or plan.leaf_rounds > 0
        self.target = FixedPoint.of(bound) if searched else None
        self.engine: Engine | None = None

    def next(self) -> bool:
        """Add a tree; False where no split is left."""
        for _ in range(_PATIENCE if self.plan.subsample < 1.0 else 1):
            bag = self._draw()
            grown = self.grower.grow(*self._slopes(self.bound.groups.spread(bag)))
            if grown is not None:
                self._add(grown, bag)
                return True
        return False

    def _add(self, grown: Grown, bag: Bools) -> None:
        """Weigh a tree and move every part's scores."""
        outputs, weight = grown.outputs(0), self.plan.step.share
        if self.target is not None:
            engine, rows = self._searched(bag)
            if self.plan.leaf_rounds:
                values = searched_leaves(
                    engine, grown.tree.values, grown.leaves[0][rows], self.plan.leaf_rounds,
                    self.plan.leaf_rate, self.plan.step.bounds[1],
                )  # fmt: skip
                grown = grown.valued(values)
                outputs = grown.outputs(0)
            weight = self.plan.step.weight(engine, outputs[rows])
        moves = [weight * grown.outputs(part) for part in range(len(self.scores))]
        for part, move in enumerate(moves):
            np.add(self.scores[part], move, out=self.scores[part])
        self.trees.append(grown.tree)
        self.weights.append(weight)

    def _searched(self, bag: Bools) -> tuple[Engine, Ints | slice]:
        """The line search on the queries outside of the bag, where they are asked for, else on all."""
        assert self.target is not None
        if self.plan.step.on == "out-of-bag" and not bag.all():
            target, rows = self.target.take(np.flatnonzero(~bag))
            return Engine(target, self.scores[0][rows]), rows
        if self.engine is None:
            self.engine = Engine(self.target, self.scores[0])
        else:
            self.engine.restart(self.scores[0])
        return self.engine, slice(None)

    def _draw(self) -> Bools:
        """Which queries the next tree is grown on; at least one."""
        n = self.bound.groups.n_queries
        bag = np.ones(n, np.bool_)
        if self.plan.subsample < 1.0:
            bag[self.rng.permutation(n)[max(1, round(self.plan.subsample * n)) :]] = False
        return bag

    def _slopes(self, seen: Bools) -> tuple[Floats, Floats]:
        """What the next tree follows; nothing outside of the bag."""
        n = self.bound.groups.n_queries
        self.objective = self.objective.resampled(self.rng)
        slopes, curvature = self.objective.slopes(self.scores[0])
        if self.plan.leaves == "newton" and curvature is None:
            raise IncompatibleError(
                f"leaves='newton': {type(self.objective).__name__} has no curvature; use 'gradient'"
            )
        if self.scale == 0.0:
            size = float(np.sqrt(np.mean(slopes**2)))
            if size * n < _FLAT:
                return (self.bound.gains.mean() - self.bound.gains) * seen, seen.astype(np.float64)
            self.scale = 1.0 / size
        if self.plan.leaves == "gradient" or curvature is None:
            return slopes * self.scale * seen, seen.astype(np.float64)
        return slopes * n * seen, curvature * n * seen
