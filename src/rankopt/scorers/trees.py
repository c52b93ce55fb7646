"""Trees: an ensemble of decision trees as flat arrays, whatever library has grown them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats, Ints
from rankopt.data.dataset import Dataset
from rankopt.errors import DataError, ModelError
from rankopt.kernels import forest as kernels
from rankopt.threads import over_queries

_STEP = 512  # rows that a thread takes at once
_DENSE = 4_000_000  # values of a sparse matrix that are unpacked at once


@dataclass(frozen=True, eq=False)
class Trees:
    """Packed trees. Nodes, leaves and sets are counted over all trees.

    A row goes left at a node where its value is no larger than the threshold (in float64), else right. The
    rule of a node is a sum: 1, a missing value goes left; 2, zero counts as missing; 4, the threshold
    is the number of a set, and the whole numbers in the set go left; 8, values are first rounded to
    float32 and negative ones are in no set.

    Parameters
    ----------
    roots : (n_trees,) the first node of each tree, or ``~leaf`` where the tree is one leaf.
    leaf_starts : (n_trees + 1,) the first leaf of each tree.
    feature, threshold, rule : (n_nodes,).
    kids : (2 * n_nodes,) left and right child of each node: a node after it, or ``~leaf``.
    set_starts : (n_sets + 1,) the first word of each set.
    sets : the sets, 32 categories to a word.
    values : (n_leaves,) what the leaves give.
    """

    roots: NDArray[np.int32]
    leaf_starts: Ints
    feature: NDArray[np.int32]
    threshold: Floats
    rule: NDArray[np.uint8]
    kids: NDArray[np.int32]
    set_starts: Ints
    sets: NDArray[np.uint32]
    values: Floats

    @classmethod
    def joined(cls, parts: Sequence[Trees]) -> Trees:
        """Several ensembles as one, in order."""
        nodes, leaves, sets, words = 0, 0, 0, 0
        moved: list[Trees] = []
        for part in parts:
            threshold = part.threshold + np.where(part.rule & kernels.CATEGORICAL, sets, 0)
            moved.append(
                cls(
                    _moved(part.roots, nodes, leaves), part.leaf_starts[:-1] + leaves, part.feature,
                    threshold, part.rule, _moved(part.kids, nodes, leaves), part.set_starts[:-1] + words,
                    part.sets, part.values,
                )
            )  # fmt: skip
            nodes, leaves = nodes + part.feature.size, leaves + part.values.size
            sets, words = sets + part.set_starts.size - 1, words + part.sets.size
        empty = empty_arrays()
        joined = {
            name: np.concatenate([empty[name][:0], *(getattr(part, name) for part in moved)])
            for name in empty
        }
        joined["leaf_starts"] = np.append(joined["leaf_starts"], leaves)
        joined["set_starts"] = np.append(joined["set_starts"], words)
        return cls(**joined)

    @classmethod
    def checked(cls, arrays: dict[str, NDArray[Any]]) -> Trees:
        """Trees from arrays of unknown origin; a `ModelError` where a walk could leave them."""
        expected = empty_arrays()
        if set(arrays) != set(expected):
            raise ModelError(f"trees: expected the arrays {', '.join(expected)}")
        for name, like in expected.items():
            if arrays[name].dtype != like.dtype or arrays[name].ndim != 1:
                raise ModelError(f"trees: {name} must hold {like.dtype} values in one dimension")
        trees = cls(**arrays)
        fault = trees._fault()
        if fault:
            raise ModelError(f"trees: {fault}")
        return trees

    @property
    def n_trees(self) -> int:
        return self.roots.size

    @property
    def n_features(self) -> int:
        """The least number of features that the trees can be walked with."""
        return int(self.feature.max(initial=-1)) + 1

    @property
    def sizes(self) -> Ints:
        """Leaves of each tree."""
        return np.diff(self.leaf_starts)

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def scores(self, weights: Floats, data: Dataset) -> Floats:
        """The sum of the trees' values times their weights, tree after tree, in float64."""
        out = np.empty(data.n_rows)
        for rows, X in self._dense(data):
            part = out[rows]
            over_queries(
                kernels.scores, _steps(part.size), X, *self._walk, self.values, weights, part
            )
        return out

    def leaves(self, data: Dataset) -> NDArray[Any]:
        """(n_trees, n_rows) the leaf of each row in each tree; bytes, where they can count the leaves."""
        small = int(self.sizes.max(initial=0)) <= 256
        out = np.empty((self.n_trees, data.n_rows), np.uint8 if small else np.int32)
        used, place = np.unique(self.feature, return_inverse=True)
        walk = replace(self, feature=place.astype(np.int32))._walk
        for rows, X in self._dense(data):
            part = (
                out
                if X.shape[0] == data.n_rows
                else np.empty((self.n_trees, X.shape[0]), out.dtype)
            )
            over_queries(kernels.leaves, _steps(X.shape[0]), X, used, *walk, self.leaf_starts, part)
            if part is not out:
                out[:, rows] = part
        return out

    def tree_values(self, tree: int) -> Floats:
        """The values of a tree's leaves."""
        return self.values[self.leaf_starts[tree] : self.leaf_starts[tree + 1]]

    @property
    def _walk(self) -> tuple[NDArray[Any], ...]:
        return (
            self.roots, self.feature, self.threshold, self.rule, self.kids, self.set_starts, self.sets
        )  # fmt: skip

    def _dense(self, data: Dataset) -> Iterable[tuple[slice, NDArray[Any]]]:
        """Rows as a kernel takes them: all at once, or a sparse matrix block by block."""
        if data.n_features < self.n_features:
            raise DataError(
                f"{data.name}: has {data.n_features} features, but the trees ask for feature"
                f" {self.n_features}"
            )
        if isinstance(data.X, np.ndarray):
            yield slice(0, data.n_rows), np.require(data.X, requirements=["C", "W"])
            return
        step = max(1, _DENSE // max(1, data.n_features))
        for first in range(0, data.n_rows, step):
            rows = slice(first, first + step)
            yield rows, data.X[rows].toarray()

    def _fault(self) -> str | None:
        """What is wrong with the arrays, in a few words."""
        nodes, leaves, sets = self.feature.size, self.values.size, self.set_starts.size - 1
        if self.threshold.size != nodes or self.rule.size != nodes or self.kids.size != 2 * nodes:
            return "the arrays of nodes have different lengths"
        if self.leaf_starts.size != self.n_trees + 1 or not _starts(self.leaf_starts, leaves):
            return "leaf_starts does not cut the leaves into trees"
        if not _starts(self.set_starts, self.sets.size):
            return "set_starts does not cut the sets"
        if self.feature.min(initial=0) < 0 or np.isnan(self.threshold).any():
            return "a node has no feature or no threshold"
        if self.rule.max(initial=0) >= 16 or not np.isfinite(self.values).all():
            return "a rule is unknown or a value is not finite"
        chosen = self.threshold[(self.rule & kernels.CATEGORICAL) > 0]
        if chosen.size and not np.all(
            (chosen >= 0) & (chosen < sets) & (chosen == np.floor(chosen))
        ):
            return "a node asks for a set that is not there"
        inner = self.roots >= 0
        first = np.cumsum(np.where(inner, self.sizes - 1, 0)) - np.where(inner, self.sizes - 1, 0)
        alone = np.where(inner, first, ~self.leaf_starts[:-1])
        if (
            np.any(self.roots != alone)
            or np.any(~inner & (self.sizes != 1))
            or np.any(self.sizes < 1)
        ):
            return "a tree does not begin where the one before it ends"
        return self._fault_of_kids(inner, first, nodes)

    def _fault_of_kids(self, inner: NDArray[Any], first: Ints, nodes: int) -> str | None:
        """Each child is a later node or a leaf of the same tree, and no one else's child."""
        counts = np.where(inner, self.sizes - 1, 0)
        if int(counts.sum()) != nodes:
            return "there are more or fewer nodes than the leaves need"
        tree = np.repeat(np.repeat(np.arange(self.n_trees), counts), 2)
        node, kid = np.repeat(np.arange(nodes), 2), self.kids.astype(np.int64)
        ends = (first + counts)[tree]
        leaf = ~kid
        inside = np.where(
            kid >= 0,
            (kid > node) & (kid < ends),
            (leaf >= self.leaf_starts[tree]) & (leaf < self.leaf_starts[tree + 1]),
        )
        if not inside.all():
            return f"node {int(node[np.argmin(inside)])} has a child outside its tree"
        if np.unique(kid).size != kid.size:
            return "two nodes have the same child"
        return None


def empty_arrays() -> dict[str, NDArray[Any]]:
    """The arrays of an ensemble without trees: names and types."""
    return {
        "roots": np.zeros(0, np.int32),
        "leaf_starts": np.zeros(1, np.int64),
        "feature": np.zeros(0, np.int32),
        "threshold": np.zeros(0),
        "rule": np.zeros(0, np.uint8),
        "kids": np.zeros(0, np.int32),
        "set_starts": np.zeros(1, np.int64),
        "sets": np.zeros(0, np.uint32),
        "values": np.zeros(0),
    }


def _moved(kids: NDArray[np.int32], nodes: int, leaves: int) -> NDArray[np.int32]:
    """Numbers of nodes and of leaves behind those of other trees."""
    return np.where(kids >= 0, kids + nodes, kids - leaves).astype(np.int32)


def _starts(starts: Ints, end: int) -> bool:
    """Whether starts rise from 0 to `end`."""
    return bool(
        starts.size and starts[0] == 0 and starts[-1] == end and np.all(np.diff(starts) >= 0)
    )


def _steps(rows: int) -> Ints:
    """Cuts of rows into steps, which threads take as they take queries."""
    return np.append(np.arange(0, rows, _STEP), rows)
