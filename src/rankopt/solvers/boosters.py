"""Boosters: those that go side by side while a model is boosted, and how a round moves them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankopt.arrays import Bools, Floats, Ints
from rankopt.errors import IncompatibleError
from rankopt.measures import BoundMeasure
from rankopt.objectives.base import Sloped
from rankopt.scorers.trees import Trees
from rankopt.search.engine import Engine
from rankopt.search.fixedpoint import FixedPoint
from rankopt.solvers.grower import Grower, Grown
from rankopt.solvers.leafsearch import searched_leaves

if TYPE_CHECKING:
    from rankopt.solvers.boost import Boost

_FLAT = (
    1e-6  # slopes of a query below this are none: a cut-off far away, say, leaves 1e-100 of them
)
_PATIENCE = 10  # draws of rows and features without a split after which there is none to find


class Boosters:
    """The moving parts: trees and weights so far, and the scores of every part and of every booster."""

    def __init__(
        self,
        plan: Boost,
        grower: Grower,
        objective: Sloped,
        bound: BoundMeasure,
        scores: Sequence[Floats],
        rng: np.random.Generator,
    ) -> None:
        groups = bound.groups
        if plan.folds > max(1, groups.n_queries):
            raise IncompatibleError(f"folds: {plan.folds} of {groups.n_queries} queries; use fewer")
        self.plan, self.grower, self.objective, self.rng = plan, grower, objective, rng
        self.bound, self.scores = bound, scores
        self.trees: list[Trees] = []
        self.weights: list[float] = []
        self.scale = 0.0
        searched = plan.step.on != "fixed" or plan.leaf_rounds > 0
        self.target = FixedPoint.of(bound) if searched else None
        self.engine: Engine | None = None
        # Which booster never sees a query, and the scores of each booster: a single one's are the model's.
        self.unseen = np.zeros(groups.n_queries, np.int64)
        self.boosters = scores[0][np.newaxis]
        if plan.folds > 1:
            self.unseen[rng.permutation(groups.n_queries)] = (
                np.arange(groups.n_queries) % plan.folds
            )
            self.boosters = np.repeat(self.boosters, plan.folds, axis=0)
        self.unseen_rows = np.repeat(self.unseen, groups.sizes)

    @property
    def held_out(self) -> Floats:
        """The scores of the training rows by the boosters that have not seen them."""
        return self._unseen(self.boosters)

    def next(self) -> float | None:
        """Add a round of trees and return their weight; None where no split is left."""
        for _ in range(_PATIENCE if self.plan.subsample < 1.0 else 1):
            bags = self._draw()
            grown = [self.grower.grow(*self._slopes(k, bag)) for k, bag in enumerate(bags)]
            trees = [one for one in grown if one is not None]
            if len(trees) == len(bags):
                return self._add(trees, bags)
        return None

    def _add(self, trees: list[Grown], bags: list[Bools]) -> float:
        """Weigh the trees of a round and move all scores."""
        if self.plan.leaf_rounds:
            trees = [
                self._improved(k, *pair) for k, pair in enumerate(zip(trees, bags, strict=True))
            ]
        outputs = np.stack([tree.outputs(0) for tree in trees])
        weight = self._weight(outputs, bags)
        share = weight / len(trees)
        moves = [[share * tree.outputs(part) for tree in trees] for part in range(len(self.scores))]
        for scores, of_trees in zip(self.scores, moves, strict=True):
            for move in of_trees:
                np.add(scores, move, out=scores)
        if self.plan.folds > 1:
            self.boosters += weight * outputs
        self.trees += [one.tree for one in trees]
        self.weights += [share] * len(trees)
        return weight

    def _weight(self, outputs: Floats, bags: list[Bools]) -> float:
        """The weight of a round of trees with these outputs of the training rows."""
        if self.plan.step.on == "fixed":
            return self.plan.step.share
        on = np.ones_like(bags[0]) if self.plan.folds > 1 else self._judges(0, bags[0])
        engine, rows = self._searched(on, self.held_out)
        return self.plan.step.weight(engine, self._unseen(outputs)[rows])

    def _improved(self, k: int, grown: Grown, bag: Bools) -> Grown:
        """A tree with its leaves searched."""
        engine, rows = self._searched(self._judges(k, bag), self.boosters[k])
        values = searched_leaves(
            engine, grown.tree.values, grown.leaves[0][rows], self.plan.leaf_rounds,
            self.plan.leaf_rate, self.plan.step.bounds[1],
        )  # fmt: skip
        return grown.valued(values)

    def _judges(self, k: int, bag: Bools) -> Bools:
        """The queries that a tree of booster k is judged on: all, where it has seen all or is to."""
        if self.plan.folds > 1:
            return self.unseen == k
        if self.plan.step.on == "out-of-bag" and not bag.all():
            return ~bag
        return np.ones_like(bag)

    def _unseen(self, values: Floats) -> Floats:
        """Of the boosters' values of the training rows, those by the one that has not seen the row."""
        if self.plan.folds == 1:
            return values[0]
        return np.take_along_axis(values, self.unseen_rows[np.newaxis], axis=0)[0]

    def _searched(self, queries: Bools, scores: Floats) -> tuple[Engine, Ints | slice]:
        """The line search on some queries, and their rows."""
        assert self.target is not None
        if not queries.all():
            target, rows = self.target.take(np.flatnonzero(queries))
            return Engine(target, scores[rows]), rows
        if self.engine is None:
            self.engine = Engine(self.target, scores)
        else:
            self.engine.restart(scores)
        return self.engine, slice(None)

    def _draw(self) -> list[Bools]:
        """Which queries the next tree of each booster is grown on; at least one."""
        bags: list[Bools] = []
        for k in range(self.plan.folds):
            bag = self.unseen != k if self.plan.folds > 1 else np.ones(self.unseen.size, np.bool_)
            if self.plan.subsample < 1.0:
                own = np.flatnonzero(bag)
                most = max(1, round(self.plan.subsample * own.size))
                bag[own[self.rng.permutation(own.size)[most:]]] = False
            bags.append(bag)
        return bags

    def _slopes(self, k: int, seen: Bools) -> tuple[Floats, Floats]:
        """What the next tree of booster k follows; nothing outside of the bag."""
        n = self.bound.groups.n_queries
        inside = self.bound.groups.spread(seen)
        self.objective = self.objective.resampled(self.rng)
        slopes, curvature = self.objective.slopes(self.boosters[k])
        if self.plan.leaves == "newton" and curvature is None:
            raise IncompatibleError(
                f"leaves='newton': {type(self.objective).__name__} has no curvature; use 'gradient'"
            )
        if self.scale == 0.0:
            size = float(np.sqrt(np.mean(slopes**2)))
            if size * n < _FLAT:
                gains = self.bound.gains
                return (gains.mean() - gains) * inside, inside.astype(np.float64)
            self.scale = 1.0 / size
        if self.plan.leaves == "gradient" or curvature is None:
            return slopes * self.scale * inside, inside.astype(np.float64)
        return slopes * n * inside, curvature * n * inside
