"""XGBoost's models (JSON and UBJSON) as documents."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats, Ints
from rankopt.ensembles import ubjson
from rankopt.ensembles.ensemble import Document, Ensemble, kept
from rankopt.ensembles.tables import Table, below, packed
from rankopt.errors import ModelError
from rankopt.extras import library
from rankopt.kernels.forest import CATEGORICAL, NAN_LEFT, SINGLE


def _logit(p: float) -> float:
    return -math.log(1.0 / p - 1.0)


# base_score is stored as a prediction; these bring it back to a raw score.
_LINKS: dict[str, Callable[[float], float]] = {
    "binary:logistic": _logit, "reg:logistic": _logit, "binary:logitraw": _logit,
    "count:poisson": math.log, "reg:gamma": math.log, "reg:tweedie": math.log,
    "survival:cox": math.log, "survival:aft": math.log,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class XGBoostModel(Document):
    """A model as ``Booster.save_model`` writes it, gbtree or DART.

    XGBoost rounds features to float32 before it compares them, which the packed thresholds account for:
    every row ends in its leaf. It also sums up in float32, while `Ensemble.scores` sums in float64;
    scores differ by float32's rounding, relatively about 1e-7 times the number of trees at most. Scores
    are ``Booster.predict(output_margin=True)``.

    Parameters
    ----------
    content : the parsed file; typed arrays of UBJSON are NumPy's.
    binary : whether it was UBJSON.
    """

    library: ClassVar[str] = "XGBoost"
    bits: ClassVar[int] = 20
    content: dict[str, Any]
    binary: bool

    @property
    def format(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return "ubj" if self.binary else "json"

    @property
    def learner(self) -> dict[str, Any]:
        return self.content["learner"]

    @property
    def dart(self) -> bool:
        return self.learner["gradient_booster"]["name"] == "dart"

    @property
    def booster(self) -> dict[str, Any]:
        """The part that holds the trees."""
        booster = self.learner["gradient_booster"]
        return booster["gbtree"] if self.dart else booster

    def ensemble(self) -> Ensemble:
        learner, params = self.learner, self.learner["learner_model_param"]
        name = learner["gradient_booster"]["name"]
        if name not in ("gbtree", "dart"):
            raise ModelError(f"its booster is {str(name)[:20]!r}; gbtree and dart have trees")
        classes, targets = int(params.get("num_class", 0)), int(params.get("num_target", 1))
        model = self.booster["model"]
        if classes > 1 or targets > 1 or any(model["tree_info"]):
            raise ModelError(
                f"has several outputs (num_class {classes}, num_target {targets}); a ranking has one"
            )
        trees = model["trees"]
        if not trees:
            raise ModelError("has no trees")
        width = int(params["num_feature"])
        forest = packed([_table(tree, t) for t, tree in enumerate(trees)])
        if forest.n_features > width:
            raise ModelError(f"a tree asks for feature {forest.n_features}, of {width}")
        weights = np.ones(len(trees))
        if self.dart:
            weights = np.asarray(learner["gradient_booster"]["weight_drop"], np.float64)
        if weights.shape != (len(trees),) or not np.isfinite(weights).all():
            raise ModelError(
                f"weight_drop: one finite weight for each of {len(trees)} trees is needed"
            )
        names = tuple(str(n) for n in learner.get("feature_names", []))
        if names == tuple(f"f{i}" for i in range(width)):
            names = ()
        return Ensemble(
            forest, weights, _base(params, learner["objective"]["name"]), 1.0, width, names, self,
            self._notes(),
        )  # fmt: skip

    def _notes(self) -> tuple[str, ...]:
        best = self.learner.get("attributes", {}).get("best_iteration")
        rounds = len(self.booster["model"].get("iteration_indptr", [])) - 1
        notes: list[str] = []
        if best is not None and int(best) + 1 < rounds:
            notes.append(
                f"holds {rounds} iterations, the best of which is number {int(best) + 1}; all count,"
                " as in Booster.predict: ask for fewer by iterations="
            )
        if self.booster["model"].get("cats", {}).get("enc"):
            notes.append(
                "was trained on named categories; their codes are read as they are numbered"
            )
        return tuple(notes)

    def reweighted(self, factors: Floats) -> XGBoostModel:
        keep = kept(factors)
        model = self.booster["model"]
        trees = model["trees"]
        if self.dart:
            kept_trees = [trees[t] for t in keep]
        else:
            kept_trees = [_times(trees[t], float(factors[t])) for t in keep]
        if len(keep) < len(trees):
            kept_trees = [{**tree, "id": i} for i, tree in enumerate(kept_trees)]
            params = {**model["gbtree_model_param"], "num_trees": str(len(keep))}
            model = {**model, "gbtree_model_param": params, "tree_info": [0] * len(keep)}
            if "iteration_indptr" in model:
                edges = np.searchsorted(keep, np.asarray(model["iteration_indptr"], np.int64))
                model["iteration_indptr"] = np.unique(edges).tolist()
        booster = {**self.booster, "model": {**model, "trees": kept_trees}}
        if self.dart:
            dropped = np.asarray(self.learner["gradient_booster"]["weight_drop"], np.float64)
            outer = {**self.learner["gradient_booster"], "gbtree": booster}
            scaled = (dropped[keep] * factors[keep]).astype(np.float32)
            outer["weight_drop"] = list(scaled) if self.binary else _decimals(scaled)
            booster = outer
        learner = {**self.learner, "gradient_booster": booster}
        learner["attributes"] = _attributes(learner.get("attributes", {}), len(kept_trees), model)
        return replace(self, content={**self.content, "learner": learner})

    def encoded(self, suffix: str) -> bytes:
        binary = {".json": False, ".ubj": True}.get(suffix, self.binary)
        if binary == self.binary:
            content = self.content
        else:
            content = _typed(self.content) if binary else _plain(self.content)
        return ubjson.encoded(content) if binary else msgspec.json.encode(content)

    def live(self) -> Any:
        xgboost = library("xgboost", "a live model", "xgboost")
        booster = xgboost.Booster()
        booster.load_model(bytearray(self.encoded("")))
        return booster


def _table(tree: dict[str, Any], t: int) -> Table:
    try:
        if int(tree["tree_param"].get("size_leaf_vector", 1)) > 1:
            raise ModelError("has several outputs in each leaf; a ranking has one")
        left = np.asarray(tree["left_children"], np.int64)
        right = np.asarray(tree["right_children"], np.int64)
        with np.errstate(over="ignore"):  # what becomes infinite is refused as a value
            condition = np.asarray(tree["split_conditions"], np.float32)
        default_left = np.asarray(tree["default_left"], np.int64) > 0
        kinds = np.asarray(tree.get("split_type", np.zeros(left.size)), np.int64)
        feature = np.asarray(tree["split_indices"], np.int64)
        sets = _sets(tree)
        categorical = (kinds == 1) & (left >= 0)
        if not all(part.shape == left.shape for part in (right, condition, default_left, kinds)):
            raise ModelError("its columns of nodes have different lengths")
    except ModelError as error:
        raise ModelError(f"tree {t}: {error}") from None
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError, IndexError) as error:
        raise ModelError(f"tree {t}: is damaged ({error!r})") from None
    # The categories of a node go right in XGBoost and left in packed trees: children change places.
    rule = np.where(categorical, CATEGORICAL + SINGLE + ~default_left * NAN_LEFT, default_left)
    return Table(
        np.where(categorical, right, left), np.where(categorical, left, right), feature,
        below(condition, strict=True), rule, condition.astype(np.float64), sets,
    )  # fmt: skip


def _sets(tree: dict[str, Any]) -> dict[int, Ints]:
    """The categories that go right, by node."""
    nodes = np.asarray(tree.get("categories_nodes", []), np.int64)
    starts = np.asarray(tree.get("categories_segments", []), np.int64)
    sizes = np.asarray(tree.get("categories_sizes", []), np.int64)
    all_of_them = np.asarray(tree.get("categories", []), np.int64)
    if not nodes.size == starts.size == sizes.size or np.any(starts < 0) or np.any(sizes < 0):
        raise ModelError("its sets of categories are damaged")
    if np.any(starts + sizes > all_of_them.size):
        raise ModelError("its sets of categories are damaged")
    return {
        int(node): all_of_them[start : start + size]
        for node, start, size in zip(nodes, starts, sizes, strict=True)
    }


def _base(params: dict[str, Any], objective: str) -> float:
    """The raw score of no trees, from ``0.5``, ``5E-1`` or ``[5E-1]``."""
    text = str(params.get("base_score", "0")).strip().strip("[]")
    try:
        score = float(np.float32(text))
        raw = _LINKS[objective](score) if objective in _LINKS else score
    except (ValueError, ZeroDivisionError):
        raw = math.nan
    if not math.isfinite(raw):
        raise ModelError(f"base_score {text[:40]!r} is no score of {str(objective)[:40]}")
    return raw


def _times(tree: dict[str, Any], factor: float) -> dict[str, Any]:
    """A tree with its leaves multiplied: XGBoost reads them as conditions, others as base weights."""
    if factor == 1.0:
        return tree
    leaf = np.asarray(tree["left_children"], np.int64) < 0
    out = dict(tree)
    for key in ("split_conditions", "base_weights"):
        old = np.asarray(tree[key], np.float32)
        new = np.where(leaf, np.float32(factor * old.astype(np.float64)), old)
        out[key] = new if isinstance(tree[key], np.ndarray) else _decimals(new)
    return out


def _decimals(values: NDArray[np.float32]) -> list[float]:
    """float32 values as the shortest decimals that stand for them."""
    return [float(text) for text in values.astype("U32")]


def _attributes(attributes: dict[str, Any], trees: int, model: dict[str, Any]) -> dict[str, Any]:
    """Attributes without a best iteration that would hide some of the re-weighted trees."""
    if "best_iteration" not in attributes:
        return attributes
    rounds = len(model.get("iteration_indptr", range(trees + 1))) - 1
    known = {k: v for k, v in attributes.items() if k not in ("best_score", "best_ntree_limit")}
    return {**known, "best_iteration": str(rounds - 1)}


_TYPES = {
    "base_weights": "f4", "loss_changes": "f4", "split_conditions": "f4", "sum_hessian": "f4",
    "left_children": "i4", "right_children": "i4", "parents": "i4", "split_indices": "i4",
    "default_left": "u1", "split_type": "u1", "categories": "i4", "categories_nodes": "i4",
    "categories_segments": "i8", "categories_sizes": "i8",
    "feature_segments": "i4", "sorted_idx": "i4",
}  # fmt: skip


def _typed(value: Any, key: str = "") -> Any:
    """The values of a JSON file as UBJSON has them."""
    if isinstance(value, dict):
        return {k: _typed(v, k) for k, v in value.items()}
    if isinstance(value, list):
        if key in _TYPES:
            return np.array(value, _TYPES[key])
        return [_typed(v, key) for v in value]
    return np.float32(value) if isinstance(value, float) else value


def _plain(value: Any) -> Any:
    """The values of a UBJSON file as JSON has them."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            return _decimals(value.astype(np.float32))
        return value.astype(np.int64).tolist()
    return float(str(value)) if isinstance(value, np.floating) else value
