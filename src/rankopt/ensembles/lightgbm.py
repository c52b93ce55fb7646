"""LightGBM's text models: read into packed trees whose scores are LightGBM's to the last bit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.errors import ModelError
from rankopt.kernels.forest import CATEGORICAL, NAN_LEFT, ZERO, ZERO_MISSING
from rankopt.scorers.trees import Trees, empty_arrays

_CATEGORICAL, _DEFAULT_LEFT = 1, 2  # bits of decision_type; missing values are two bits above
_NOTHING, _ZERO, _NAN = 0, 1, 2  # what LightGBM counts as missing at a node


def pack(booster: Any, start_iteration: int = 0, num_iteration: int | None = None) -> Trees:
    """The trees of a ``lightgbm.Booster``, from an iteration on.

    Unless told, up to the best iteration where training has stopped early, as LightGBM predicts.
    """
    text = booster.model_to_string(num_iteration=num_iteration, start_iteration=start_iteration)
    _, blocks, _ = split(text)
    return Trees.joined([tree(block, f"tree {i}") for i, block in enumerate(blocks)])


def split(text: str) -> tuple[str, list[str], str]:
    """The header, the block of each tree, and the rest of a model in text."""
    starts = [found.start() for found in re.finditer(r"^Tree=\d+$", text, re.MULTILINE)]
    end = text.find("\nend of trees")
    if not text.startswith("tree\n") or end < 0:
        raise ModelError("is no LightGBM model in text, or is cut short")
    edges = [*starts, end + 1]
    blocks = [text[a:b] for a, b in pairwise(edges)]
    return text[: edges[0]], blocks, text[end + 1 :]


def settings(block: str) -> dict[str, str]:
    """The ``key=value`` lines of a block."""
    parts = (line.partition("=") for line in block.splitlines())
    return {key: value for key, sign, value in parts if sign}


def tree(block: str, name: str) -> Trees:
    """One tree from its block of text."""
    lines = settings(block)
    try:
        if lines.get("is_linear", "0") != "0":
            raise ModelError(
                f"{name}: has linear models in its leaves, which packed trees do not; train with"
                " linear_tree=false"
            )
        return _packed(lines)
    except (KeyError, ValueError, OverflowError, IndexError) as error:
        raise ModelError(f"{name}: is damaged ({error!r})") from None


def _packed(lines: Mapping[str, str]) -> Trees:
    values = _floats(lines["leaf_value"])
    leaves = int(lines["num_leaves"])
    if leaves == 1:
        alone = {"roots": np.array([~0], np.int32), "leaf_starts": np.array([0, 1])}
        return Trees.checked({**empty_arrays(), **alone, "values": values[:1]})
    decision = _ints(lines["decision_type"])
    threshold = _floats(lines["threshold"])
    categorical = (decision & _CATEGORICAL) > 0
    bounds, words = np.zeros(1, np.int64), np.zeros(0, np.uint32)
    if int(lines["num_cat"]):
        bounds = _ints(lines["cat_boundaries"])
        words = _ints(lines["cat_threshold"]).astype(np.uint32)
    kids = np.stack((_ints(lines["left_child"]), _ints(lines["right_child"])), axis=1)
    return Trees.checked(
        {
            "roots": np.zeros(1, np.int32),
            "leaf_starts": np.array([0, leaves]),
            "feature": _ints(lines["split_feature"]).astype(np.int32),
            "threshold": np.where(categorical, threshold, flushed(threshold)),
            "rule": rules(decision, threshold),
            "kids": kids.astype(np.int32).ravel(),
            "set_starts": bounds,
            "sets": words,
            "values": values,
        }
    )


def rules(decision: Ints, threshold: Floats) -> Any:
    """The rules of nodes, from LightGBM's bits and thresholds.

    Where nothing counts as missing, LightGBM reads NaN as zero: it goes where zero goes. A category
    that is missing goes right.
    """
    missing = (decision >> 2) & 3
    default_left = (decision & _DEFAULT_LEFT) > 0
    left = np.where(missing == _NOTHING, threshold >= 0.0, default_left)
    rule = np.where(left, NAN_LEFT, 0) + np.where(missing == _ZERO, ZERO_MISSING, 0)
    return np.where(decision & _CATEGORICAL, CATEGORICAL, rule).astype(np.uint8)


def flushed(threshold: Floats) -> Floats:
    """Thresholds that give tiny values the way of zero, as LightGBM flushes them before it looks."""
    tiny = np.abs(threshold) <= ZERO
    beside = np.where(threshold >= 0.0, ZERO, np.nextafter(-ZERO, -np.inf))
    return np.where(tiny, beside, threshold)


def _floats(text: str) -> Floats:
    return np.array(text.split(), np.float64)


def _ints(text: str) -> Ints:
    return np.array(text.split(), np.int64)
