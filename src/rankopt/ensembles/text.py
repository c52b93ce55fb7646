"""Packed trees written as a LightGBM model in text, which LightGBM reads and scores to the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats
from rankopt.errors import IncompatibleError
from rankopt.kernels.forest import CATEGORICAL, NAN_LEFT, SINGLE, ZERO_MISSING
from rankopt.scorers.trees import Trees

_CATEGORICAL, _DEFAULT_LEFT, _ZERO, _NAN = 1, 2, 1 << 2, 2 << 2  # LightGBM's decision_type


def to_text(trees: Trees, weights: Floats, n_features: int, features: Sequence[str] = ()) -> str:
    """A LightGBM model in text whose leaves are the trees' values times their weights.

    Trees of weight 0 are left out. Names with spaces get underscores, which LightGBM asks for.
    """
    chosen = (trees.rule & CATEGORICAL) > 0
    if np.any(trees.rule & SINGLE) or np.any(trees.rule[chosen] & NAN_LEFT):
        raise IncompatibleError(
            "lightgbm: the trees have splits on categories as XGBoost makes them, which no LightGBM tree"
            " does: rounded to float32, or with missing values going left"
        )
    names = [name.replace(" ", "_") for name in features] or [
        f"Column_{i}" for i in range(n_features)
    ]
    kept = [t for t in range(trees.n_trees) if weights[t] != 0.0]
    blocks = [
        f"Tree={number}\n{_block(trees, t, float(weights[t]))}\n\n" for number, t in enumerate(kept)
    ]
    header = {
        "version": "v4", "num_class": 1, "num_tree_per_iteration": 1, "label_index": 0,
        "max_feature_idx": n_features - 1, "feature_names": " ".join(names),
        "feature_infos": " ".join(["[-inf:inf]"] * n_features),
        "tree_sizes": " ".join(str(len(block.encode())) for block in blocks),
    }  # fmt: skip
    lines = "\n".join(f"{key}={value}" for key, value in header.items())
    return f"tree\n{lines}\n\n{''.join(blocks)}end of trees\n\nparameters:\nend of parameters\n"


def _block(trees: Trees, tree: int, weight: float) -> str:
    first, last = trees.leaf_starts[tree], trees.leaf_starts[tree + 1]
    lines: dict[str, Any] = {"num_leaves": last - first, "num_cat": 0}
    if trees.roots[tree] >= 0:
        nodes = slice(int(trees.roots[tree]), int(trees.roots[tree] + last - first - 1))
        rule, threshold = trees.rule[nodes], trees.threshold[nodes].copy()
        chosen = (rule & CATEGORICAL) > 0
        sets = threshold[chosen].astype(np.int64)
        threshold[chosen] = np.arange(sets.size)
        kids = trees.kids[2 * nodes.start : 2 * nodes.stop].astype(np.int64)
        kids = np.where(kids >= 0, kids - nodes.start, kids + first)
        lines |= {
            "num_cat": sets.size,
            "split_feature": _joined(trees.feature[nodes]),
            "threshold": _joined(threshold),
            "decision_type": _joined(_decisions(rule)),
            "left_child": _joined(kids[0::2]),
            "right_child": _joined(kids[1::2]),
        }
        if sets.size:
            words = [trees.sets[trees.set_starts[s] : trees.set_starts[s + 1]] for s in sets]
            sizes = [word.size for word in words]
            lines["cat_boundaries"] = _joined(np.concatenate(([0], np.cumsum(sizes))))
            lines["cat_threshold"] = _joined(np.concatenate(words))
    lines["leaf_value"] = _joined(weight * trees.values[first:last])
    lines |= {"is_linear": 0, "shrinkage": 1}
    return "\n".join(f"{key}={value}" for key, value in lines.items())


def _decisions(rule: NDArray[np.uint8]) -> NDArray[np.int64]:
    bits = rule.astype(np.int64)
    left = np.where(bits & NAN_LEFT, _DEFAULT_LEFT, 0)
    missing = np.where(bits & ZERO_MISSING, _ZERO, _NAN)
    return np.where(bits & CATEGORICAL, _CATEGORICAL, left + missing)


def _joined(values: NDArray[Any]) -> str:
    """Numbers as text that reads back to the same bits."""
    return " ".join(repr(value) for value in values.tolist())
