"""CatBoost's JSON models as documents."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np

from rankopt.arrays import Floats
from rankopt.ensembles.ensemble import Document, Ensemble, kept
from rankopt.ensembles.tables import Table, below, nested, packed
from rankopt.errors import ModelError
from rankopt.extras import library
from rankopt.kernels.forest import NAN_LEFT

_DEEPEST = 16  # CatBoost's own limit of an oblivious tree
_KINDS = {
    "OneHotFeature": "splits on categories that CatBoost hashes",
    "OnlineCtr": "splits on target statistics of categories (CTR)",
}


@dataclass(frozen=True, eq=False)
class CatBoostModel(Document):
    """A model as ``save_model(format="json")`` writes it: oblivious trees, or others (Depthwise, Lossguide).

    A row goes right where its value, as float32, exceeds a border; a missing value goes as the feature's
    ``nan_value_treatment`` says. Categorical features are refused where a tree asks for one: their
    hashes and statistics are no trees. Scores are ``predict(prediction_type="RawFormulaVal")`` up to
    the decimals that CatBoost writes, about 1e-9.

    Parameters
    ----------
    content : the parsed JSON.
    """

    library: ClassVar[str] = "CatBoost"
    format: ClassVar[str] = "json"
    content: dict[str, Any]

    @property
    def key(self) -> str:
        return "oblivious_trees" if "oblivious_trees" in self.content else "trees"

    def ensemble(self) -> Ensemble:
        scale, bias = self.content.get("scale_and_bias", [1.0, [0.0]])
        bias = bias if isinstance(bias, list) else [bias]
        if len(bias) > 1:
            raise ModelError(f"has {len(bias)} outputs; a ranking has one")
        base = float(bias[0]) if bias else 0.0
        if not np.isfinite([float(scale), base]).all():
            raise ModelError("scale_and_bias is not finite")
        floats = self.content["features_info"].get("float_features", [])
        read = _oblivious if self.key == "oblivious_trees" else _nested
        trees = packed(
            [_named(read, tree, floats, t) for t, tree in enumerate(self.content[self.key])]
        )
        if trees.n_trees == 0:
            raise ModelError("has no trees")
        kinds = ("float_features", "categorical_features", "text_features", "embedding_features")
        features = [f for kind in kinds for f in self.content["features_info"].get(kind) or []]
        width = max([int(f["flat_feature_index"]) for f in features], default=-1) + 1
        named = {int(f["flat_feature_index"]): str(f.get("feature_id") or "") for f in features}
        names = tuple(named.get(i, "") for i in range(width))
        made_up = any(name in ("", str(i)) for i, name in enumerate(names))
        return Ensemble(
            trees, np.full(trees.n_trees, float(scale)), base, 1.0, max(width, trees.n_features),
            () if made_up else names, self,
        )  # fmt: skip

    def reweighted(self, factors: Floats) -> CatBoostModel:
        trees = [_times(self.content[self.key][t], float(factors[t])) for t in kept(factors)]
        return CatBoostModel({**self.content, self.key: trees})

    def encoded(self, suffix: str) -> bytes:
        return msgspec.json.encode(self.content)

    def live(self) -> Any:
        catboost = library("catboost", "a live model", "catboost")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            path.write_bytes(self.encoded(""))
            return catboost.CatBoost().load_model(str(path), format="json")


def _named(read: Any, tree: Any, floats: Any, t: int) -> Table:
    try:
        return read(tree, floats)
    except ModelError as error:
        raise ModelError(f"tree {t}: {error}") from None
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, OverflowError) as error:
        raise ModelError(f"tree {t}: is damaged ({error!r})") from None


def _oblivious(tree: dict[str, Any], floats: list[Any]) -> Table:
    """Each level asks one question; the answers are the bits of the leaf, the first the lowest."""
    splits = tree.get("splits") or []
    depth = len(splits)
    if depth > _DEEPEST:
        raise ModelError(f"is {depth} levels deep, more than the {_DEEPEST} of CatBoost")
    values = np.array(tree["leaf_values"], np.float64)
    if values.size != 1 << depth:
        raise ModelError(
            f"has {values.size} values for {1 << depth} leaves: several outputs, where a ranking has one"
        )
    rules = [_split(split, floats) for split in splits][::-1]  # the root asks the last question
    inner = (1 << depth) - 1
    node = np.arange(2 * inner + 1)
    level = np.floor(np.log2(node + 1)).astype(np.int64)[:inner]
    feature, threshold, rule = (
        np.append(np.array([r[i] for r in rules])[level] if depth else [], np.zeros(inner + 1))
        for i in range(3)
    )
    # The number of a leaf in the last level reads as the answers from the root on, the highest bit first.
    last = np.append(np.zeros(inner), values)
    left = np.where(node < inner, 2 * node + 1, -1)
    right = np.where(node < inner, 2 * node + 2, -1)
    return Table(left, right, feature.astype(np.int64), threshold, rule.astype(np.int64), last)


def _nested(root: dict[str, Any], floats: list[Any]) -> Table:
    def read(node: dict[str, Any]) -> tuple[Any, ...]:
        if "split" not in node:
            if isinstance(node["value"], list):
                raise ModelError("has several values in a leaf; a ranking has one")
            return None, None, 0, 0.0, 0, float(node["value"]), None
        feature, threshold, rule = _split(node["split"], floats)
        return node["left"], node["right"], feature, threshold, rule, 0.0, None

    return nested(root, read)


def _split(split: dict[str, Any], floats: list[Any]) -> tuple[int, float, int]:
    """The column, the threshold and the rule of a split."""
    kind = split.get("split_type", "FloatFeature")
    if kind != "FloatFeature":
        what = _KINDS.get(kind, f"has a split of the kind {str(kind)[:30]!r}")
        raise ModelError(f"{what}, which packed trees cannot; train on numbers instead")
    number = int(split["float_feature_index"])
    if not 0 <= number < len(floats):
        raise ModelError(f"asks for feature {number}, of {len(floats)}")
    feature = floats[number]
    treatment = feature.get("nan_value_treatment", "AsIs")
    if treatment not in ("AsIs", "AsFalse", "AsTrue"):
        raise ModelError(f"nan_value_treatment {str(treatment)[:20]!r} is unknown")
    border = np.array([split["border"]], np.float32)
    rule = 0 if treatment == "AsTrue" else NAN_LEFT
    return int(feature["flat_feature_index"]), float(below(border, strict=False)[0]), rule


def _times(tree: dict[str, Any], factor: float) -> dict[str, Any]:
    """A tree with its leaves multiplied."""
    if factor == 1.0:
        return tree
    if "leaf_values" in tree:
        return {**tree, "leaf_values": [factor * value for value in tree["leaf_values"]]}
    root: dict[str, Any] = {}
    stack = [(tree, root)]
    while stack:
        old, new = stack.pop()
        for key, value in old.items():
            if key in ("left", "right"):
                new[key] = {}
                stack.append((value, new[key]))
            else:
                new[key] = factor * value if key == "value" else value
    return root
