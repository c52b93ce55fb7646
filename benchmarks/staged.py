"""The sets that boosting is measured on, and what an ensemble reaches after each of its trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import vstack
from sets import fold, root

import rankopt
from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.data.split import folds
from rankopt.measures import as_measure
from rankopt.scorers.trees import Trees

FIGURES = ("ndcg@1", "ndcg@10")
WINDOW = 25  # trees that a value by which a number of trees is chosen is averaged over


def parts(name: str, queries: int = 2000) -> list[list[Dataset]]:
    """Train, vali and test of each fold of a set.

    lightgbm_rank has one test set, which stands in all of its folds.
    """
    if name == "mslr-like":
        data = rankopt.simulate("mslr_like", scale=queries / 2000, seed=1)
        cuts = np.split(np.arange(queries), [queries // 2, 3 * queries // 4])
        return [[data.take(cut) for cut in cuts]]
    folder = root()
    assert folder is not None, "RANKOPT_DATA names no folder"
    if name == "lightgbm_rank":
        train, test = (
            rankopt.read_letor(folder / name / f"{part}.letor.txt.gz", n_features=300)
            for part in ("train", "test")
        )
        return [[*split, test] for split in folds(train, 5)]
    return [list(fold(name, number).values()) for number in range(1, 6)]


def joined(one: Dataset, other: Dataset) -> Dataset:
    """The queries of two parts of a fold."""
    sparse = not isinstance(one.X, np.ndarray)
    X = vstack([one.X, other.X]).tocsr() if sparse else np.concatenate((one.X, other.X))
    sizes = np.concatenate((one.groups.sizes, other.groups.sizes))
    y = np.concatenate((one.labels, other.labels))
    return rankopt.dataset(X, y, np.repeat(np.arange(sizes.size), sizes))


def by_test_query(name: str, values: Sequence[Floats]) -> Floats:
    """Values of the test queries of all folds; where these share their queries, the means over the folds."""
    return np.mean(values, axis=0) if name == "lightgbm_rank" else np.concatenate(values)


@dataclass(frozen=True)
class Staged:
    """NDCG@10 of each query after each tree: (tree, query)."""

    values: Floats

    @classmethod
    def of(cls, trees: Trees, weights: Floats, data: Dataset) -> Staged:
        leaves = trees.leaves(data)
        bound = as_measure("ndcg@10").bind(data.labels, data.groups)
        values = np.empty((weights.size, data.groups.n_queries))
        scores = np.zeros(data.n_rows)
        for t, weight in enumerate(weights):
            scores += weight * trees.tree_values(t)[leaves[t]]
            values[t] = bound.values(scores)
        return cls(values)

    def best(self, queries: Any = slice(None)) -> tuple[int, float]:
        """The best number of trees on some queries, and the value there.

        The curve is averaged over a window before its maximum is taken.
        """
        curve = self.values[:, queries].mean(axis=1)
        sums = np.concatenate(([0.0], np.cumsum(curve)))
        at = np.arange(curve.size)
        low, high = np.maximum(at - WINDOW // 2, 0), np.minimum(at + WINDOW // 2 + 1, curve.size)
        means = (sums[high] - sums[low]) / (high - low)
        return int(np.argmax(means)) + 1, float(means.max())

    def crossed(self, repeats: int = 10) -> float:
        """The mean on halves of the queries after so many trees as the other half finds best.

        So the choice of the number is paid for, as it is on queries that no one has seen.
        """
        found: list[float] = []
        for repeat in range(repeats):
            order = np.random.default_rng(repeat).permutation(self.values.shape[1])
            for ours, others in ((order[::2], order[1::2]), (order[1::2], order[::2])):
                found.append(float(self.values[self.best(others)[0] - 1, ours].mean()))
        return float(np.mean(found))


def reached(trees: Trees, weights: Floats, data: Dataset) -> dict[str, Floats]:
    """FIGURES of each query."""
    scores = trees.scores(weights, data)
    return {
        figure: as_measure(figure).bind(data.labels, data.groups).values(scores)
        for figure in FIGURES
    }
