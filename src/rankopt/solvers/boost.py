"""Boost: trees grown on the slopes of an objective, each weighted by the measure (DirectBoost)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rankopt.arrays import Floats
from rankopt.errors import IncompatibleError, SpecError
from rankopt.measures import BoundMeasure
from rankopt.objectives.base import Sloped
from rankopt.scorers.trees import Trees
from rankopt.solvers.base import Monitor, Status, Step, silent
from rankopt.solvers.boosters import Boosters
from rankopt.solvers.grower import Grower
from rankopt.solvers.treestep import TreeStep

LEAVES = ("auto", "newton", "gradient")


@dataclass(frozen=True)
class Boost:
    r"""Stage-wise boosting of an objective by trees whose weights are searched on the measure.

    Definition
    ----------
    .. math:: s \leftarrow s + w_t \, h_t, \qquad h_t \approx -H^{-1} \nabla L(s)

    with H the curvature of the objective (1 for ``leaves="gradient"``) and :math:`w_t` by `TreeStep`.
    Where an objective has no slope at the start, as cosines and measures smoothed by queries have none
    where all scores are equal, trees follow the gains instead until it has.

    With K folds the queries are dealt into K parts and K boosters go side by side, each on all parts but
    its own. A round adds a tree to each; they get one weight, and the model is the mean of the boosters:

    .. math:: w_t = \eta \, \arg\max_w \sum_k \sum_{q \in Q_k} M\big(s^{(k)}_q + w \, h^{(k)}_{t,q}\big),
              \qquad f = \frac{1}{K} \sum_k \sum_t w_t \, h^{(k)}_t

    so that the weight is searched on all training queries, each scored by the one booster that never saw it.

    Parameters
    ----------
    n_estimators : the most rounds, of a tree in each fold.
    step : how the trees of a round get their weight.
    subsample : the share of its queries that each tree is grown on, drawn anew without replacement.
    folds : K; 1 is one booster that sees all queries.
    leaves : ``newton``, a leaf is the sum of slopes by that of curvatures; ``gradient``, the mean of
        slopes, whose root mean square is 1 at first; ``auto``, newton where the objective has a
        curvature.
    leaf_rounds : rounds of exact line searches of the measure, leaf by leaf, that improve a new tree.
    leaf_rate : the share of the way to the values so found.

    References
    ----------
    [friedman2001greedy]_; [friedman2002stochastic]_; [tan2013direct]_, section 2.4; folds as the
    cross-validated committees of [parmanto1996improving]_
    """

    n_estimators: int = 100
    step: TreeStep = field(default_factory=TreeStep)
    subsample: float = 1.0
    folds: int = 1
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
        if self.folds < 1:
            raise SpecError(f"folds: {self.folds!r} must be positive")
        if self.step.on == "out-of-bag" and self.subsample == 1.0 and self.folds == 1:
            raise IncompatibleError(
                "step='out-of-bag' needs queries that a tree has not seen: subsample below 1, or folds"
            )
        if self.step.on == "training" and self.folds > 1:
            raise IncompatibleError(
                "step='training' searches on queries that trees have seen, folds on those that they have"
                " not; use folds=1, or step='out-of-bag'"
            )

    def run(
        self,
        grower: Grower,
        objective: Sloped,
        bound: BoundMeasure,
        scores: Sequence[Floats],
        rng: np.random.Generator,
        monitor: Monitor = silent,
        held_out: Floats | None = None,
    ) -> Boosted:
        """Boost from `scores`, which are brought up to date part by part, the training rows first.

        `monitor` hears of each round with the weights so far; True ends the boosting, as does Ctrl-C.
        `held_out`, where it is given, is kept at the training rows' scores by the boosters that have not
        seen them.
        """
        rounds = Boosters(self, grower, objective, bound, scores, rng)
        history: list[Step] = []
        began = time.perf_counter()
        status = Status.FINISHED
        try:
            for iteration in range(1, self.n_estimators + 1):
                weight = rounds.next()
                if weight is None:
                    status = Status.CONVERGED
                    break
                if held_out is not None:
                    held_out[:] = rounds.held_out
                value = bound.mean(scores[0])
                step = Step(iteration, value, time.perf_counter() - began, weight)
                history.append(step)
                if monitor(step, np.array(rounds.weights)):
                    status = Status.STOPPED_EARLY
                    break
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        whole = min(len(rounds.trees), len(rounds.weights))
        weights = np.array(rounds.weights[:whole])
        return Boosted(tuple(rounds.trees[:whole]), weights, status, tuple(history))


@dataclass(frozen=True, eq=False)
class Boosted:
    """Trees round by round, their weights, how boosting ended, and its steps; `watched` of a step is
    the weight that the trees of the round share.
    """

    trees: tuple[Trees, ...]
    weights: Floats
    status: Status
    history: tuple[Step, ...]
