"""Tables of nodes, as other libraries store trees, packed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats, Ints
from rankopt.errors import ModelError
from rankopt.kernels.forest import CATEGORICAL
from rankopt.scorers.trees import Trees, empty_arrays

_MOST_WORDS = 1 << 24  # of all sets of categories together


@dataclass(frozen=True, eq=False)
class Table:
    """One tree, node by node, the first of which is the root; nodes that nothing leads to are left out.

    Parameters
    ----------
    left, right : the children of each node; -1 at a leaf.
    feature, threshold, rule : as in `Trees`, save for the number of a set.
    value : of leaves.
    sets : the categories that go left, of nodes with the rule ``CATEGORICAL``.
    """

    left: Ints
    right: Ints
    feature: Ints
    threshold: Floats
    rule: Ints
    value: Floats
    sets: Mapping[int, Ints] = field(default_factory=dict[int, Ints])


def packed(tables: Sequence[Table]) -> Trees:
    """Trees from their tables; a `ModelError` names the tree where one is damaged."""
    empty = empty_arrays()
    parts: dict[str, list[NDArray[Any]]] = {name: [array[:0]] for name, array in empty.items()}
    nodes = leaves = sets = words = 0
    for t, table in enumerate(tables):
        order = _reached(table, t)
        leaf = table.left[order] < 0
        inner, ends = order[~leaf], order[leaf]
        number = np.empty(table.left.size, np.int64)
        number[inner] = nodes + np.arange(inner.size)
        number[ends] = ~(leaves + np.arange(ends.size))
        threshold = table.threshold[inner].copy()
        chosen = np.flatnonzero(table.rule[inner] & CATEGORICAL)
        packed_sets = [_words(table.sets.get(int(inner[i]), _NONE), t) for i in chosen]
        threshold[chosen] = sets + np.arange(chosen.size)
        starts = words + np.cumsum([0, *(part.size for part in packed_sets)])
        kids = np.stack((number[table.left[inner]], number[table.right[inner]]), axis=1)
        for name, array in (
            ("roots", number[:1]), ("leaf_starts", np.array([leaves])), ("feature", table.feature[inner]),
            ("threshold", threshold), ("rule", table.rule[inner]), ("kids", kids.ravel()),
            ("set_starts", starts[:-1]), ("values", table.value[ends]),
        ):  # fmt: skip
            parts[name].append(array.astype(empty[name].dtype))
        parts["sets"] += packed_sets
        nodes, leaves = nodes + inner.size, leaves + ends.size
        sets, words = sets + chosen.size, int(starts[-1])
        if words > _MOST_WORDS:
            raise ModelError(f"tree {t}: its sets of categories are too large")
    parts["leaf_starts"].append(np.array([leaves]))
    parts["set_starts"].append(np.array([words]))
    return Trees.checked({name: np.concatenate(part) for name, part in parts.items()})


_NONE = np.zeros(0, np.int64)


def _reached(table: Table, t: int) -> Ints:
    """The nodes that the root leads to, level by level."""
    size = table.left.size
    if size == 0 or any(
        part.size != size
        for part in (table.right, table.feature, table.threshold, table.rule, table.value)
    ):
        raise ModelError(f"tree {t}: its columns of nodes have different lengths, or none")
    level, levels, seen = np.zeros(1, np.int64), [_NONE], 0
    while level.size:
        levels.append(level)
        seen += level.size
        inner = level[table.left[level] >= 0]
        level = np.stack((table.left[inner], table.right[inner]), axis=1).ravel()
        if seen + level.size > size or level.min(initial=0) < 0 or level.max(initial=0) >= size:
            raise ModelError(f"tree {t}: a node has a child that is not there, or is no tree's")
    order = np.concatenate(levels)
    if np.unique(order).size != order.size:
        raise ModelError(f"tree {t}: two nodes have the same child")
    return order


def _words(categories: Ints, t: int) -> NDArray[np.uint32]:
    """A set of whole numbers as bits, 32 to a word."""
    if categories.size and (categories.min() < 0 or categories.max() >= 32 * _MOST_WORDS):
        raise ModelError(f"tree {t}: a category is negative or too large")
    out = np.zeros(int(categories.max(initial=-1)) // 32 + 1, np.uint32)
    np.bitwise_or.at(out, categories // 32, np.uint32(1) << (categories % 32).astype(np.uint32))
    return out


def nested(root: Any, read: Any) -> Table:
    """A tree whose nodes hold their children, as a table.

    `read` takes a node and its number and returns ``(left, right, feature, threshold, rule, value,
    categories)``, the children being nodes or None at a leaf, the categories None where there are none.
    """
    rows: list[list[Any]] = []
    sets: dict[int, Ints] = {}
    stack: list[tuple[Any, int, int]] = [(root, -1, 0)]
    while stack:
        node, parent, side = stack.pop()
        number = len(rows)
        left, right, feature, threshold, rule, value, categories = read(node)
        rows.append([-1, -1, feature, threshold, rule, value])
        if parent >= 0:
            rows[parent][side] = number
        if categories is not None:
            sets[number] = categories
        if left is not None:
            stack += [(right, number, 1), (left, number, 0)]
    left, right, feature, threshold, rule, value = zip(*rows, strict=True)
    ints, floats = np.int64, np.float64
    return Table(
        np.array(left, ints), np.array(right, ints), np.array(feature, ints),
        np.array(threshold, floats), np.array(rule, ints), np.array(value, floats), sets,
    )  # fmt: skip


def below(thresholds: NDArray[np.float32], strict: bool) -> Floats:
    """The largest float64 whose rounding to float32 is below a threshold (or equal to it, if not `strict`).

    A library that rounds features to float32 and compares them there, and a walk that compares in
    float64 with these, send every number the same way.
    """
    infinite = np.float32(np.inf)
    with np.errstate(over="ignore"):
        last = np.nextafter(thresholds, -infinite) if strict else thresholds
        after = thresholds if strict else np.nextafter(thresholds, infinite)
        middle = 0.5 * (last.astype(np.float64) + after.astype(np.float64))
        rounded = middle.astype(np.float32)
    edge = np.where(rounded <= last, middle, np.nextafter(middle, -np.inf))
    return np.where(np.isfinite(middle), edge, middle)
