"""LightGBM's JSON dumps as documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec
import numpy as np

from rankopt.arrays import Floats
from rankopt.ensembles.ensemble import Document, Ensemble, kept
from rankopt.ensembles.lightgbm import flushed, rules
from rankopt.ensembles.lightgbm_text import forest, refuse_classes
from rankopt.ensembles.tables import Table, nested, packed
from rankopt.errors import ModelError

_MISSING = {"None": 0, "Zero": 1, "NaN": 2}
_SCALED = ("leaf_value", "internal_value")


@dataclass(frozen=True, eq=False)
class LightGBMDump(Document):
    """A model as ``Booster.dump_model`` gives it, which Vespa reads and LightGBM itself does not.

    Parameters
    ----------
    content : the parsed JSON.
    """

    library: ClassVar[str] = "LightGBM"
    format: ClassVar[str] = "json"
    content: dict[str, Any]

    def ensemble(self) -> Ensemble:
        content = self.content
        refuse_classes(content.get("num_class", 1), content.get("num_tree_per_iteration", 1))
        tables = [_table(item, t) for t, item in enumerate(content["tree_info"])]
        if not tables:
            raise ModelError("has no trees")
        names = [str(name) for name in content.get("feature_names", [])]
        width = int(content.get("max_feature_idx", len(names) - 1)) + 1
        return forest(self, packed(tables), names, width, bool(content.get("average_output")))

    def reweighted(self, factors: Floats) -> LightGBMDump:
        trees = [
            {**_times(self.content["tree_info"][t], float(factors[t])), "tree_index": i}
            for i, t in enumerate(kept(factors))
        ]
        return LightGBMDump({**self.content, "tree_info": trees})

    def encoded(self, suffix: str) -> bytes:
        return msgspec.json.encode(self.content)

    def live(self) -> Any:
        raise ModelError(
            "LightGBM cannot load a JSON dump; re-weight the model in text (save_model)"
        )


def _table(item: dict[str, Any], t: int) -> Table:
    try:
        table = nested(item["tree_structure"], _node)
    except ModelError as error:
        raise ModelError(f"tree {t}: {error}") from None
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise ModelError(f"tree {t}: is damaged ({error!r})") from None
    return table


def _node(node: dict[str, Any]) -> tuple[Any, ...]:
    if "leaf_coeff" in node or "leaf_const" in node:
        raise ModelError(
            "has linear models in its leaves, which packed trees do not; train with linear_tree=false"
        )
    if "split_feature" not in node:
        return None, None, 0, 0.0, 0, float(node["leaf_value"]), None
    categories = None
    threshold = 0.0
    bits = 2 * bool(node["default_left"]) + 4 * _MISSING[node["missing_type"]]
    if node["decision_type"] == "==":
        categories = np.array(str(node["threshold"]).split("||"), np.int64)
        bits += 1
    elif node["decision_type"] == "<=":
        threshold = float(node["threshold"])
    else:
        raise ModelError(f"has a split of the unknown kind {str(node['decision_type'])[:20]!r}")
    rule = rules(np.array([bits]), np.array([threshold]))[0]
    threshold = threshold if categories is not None else flushed(np.array([threshold]))[0]
    return (
        node["left_child"], node["right_child"], int(node["split_feature"]), threshold, rule, 0.0,
        categories,
    )  # fmt: skip


def _times(item: dict[str, Any], factor: float) -> dict[str, Any]:
    """A tree with all its values multiplied."""
    if factor == 1.0:
        return item
    root: dict[str, Any] = {}
    stack: list[tuple[dict[str, Any], dict[str, Any]]] = [(item["tree_structure"], root)]
    while stack:
        old, new = stack.pop()
        for key, value in old.items():
            if key in ("left_child", "right_child"):
                new[key] = {}
                stack.append((value, new[key]))
            else:
                new[key] = factor * value if key in _SCALED else value
    return {**item, "tree_structure": root, "shrinkage": factor * item.get("shrinkage", 1.0)}
