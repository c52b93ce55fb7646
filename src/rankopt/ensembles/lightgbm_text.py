"""LightGBM's text models as documents: read whole, and written back with other weights."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankopt.arrays import Floats
from rankopt.ensembles.ensemble import Document, Ensemble, kept
from rankopt.ensembles.lightgbm import settings, split, tree
from rankopt.errors import ModelError
from rankopt.scorers.trees import Trees

_SCALED = (
    "leaf_value",
    "internal_value",
    "leaf_const",
    "shrinkage",
)  # what a tree is multiplied in


@dataclass(frozen=True, eq=False)
class LightGBMText(Document):
    """A model as ``Booster.save_model`` writes it.

    Scores are those of ``Booster.predict(raw_score=True)`` to the last bit.

    Parameters
    ----------
    header : what stands before the trees.
    blocks : the text of each tree.
    footer : what stands behind them: importances, parameters, categories of data frames.
    """

    library: ClassVar[str] = "LightGBM"
    format: ClassVar[str] = "text"
    header: str
    blocks: tuple[str, ...]
    footer: str

    @classmethod
    def parsed(cls, text: str) -> LightGBMText:
        header, blocks, footer = split(text.replace("\r\n", "\n"))
        return cls(header, tuple(blocks), footer)

    def ensemble(self) -> Ensemble:
        lines = settings(self.header)
        per_iteration = lines.get("num_tree_per_iteration", lines.get("num_class", "1"))
        refuse_classes(lines.get("num_class", "1"), per_iteration)
        if not self.blocks:
            raise ModelError("has no trees")
        names = tuple(lines.get("feature_names", "").split())
        highest = lines.get("max_feature_idx", "")
        if not highest.isdigit() or len(names) not in (0, int(highest) + 1):
            raise ModelError("its header is damaged: max_feature_idx and feature_names disagree")
        trees = Trees.joined([tree(block, f"tree {t}") for t, block in enumerate(self.blocks)])
        return forest(self, trees, names, int(highest) + 1, "average_output" in self.header.split())

    def reweighted(self, factors: Floats) -> LightGBMText:
        keep = kept(factors)
        blocks = tuple(
            re.sub(r"^Tree=\d+", f"Tree={i}", _times(self.blocks[t], float(factors[t])))
            for i, t in enumerate(keep)
        )
        sizes = " ".join(str(len(block.encode())) for block in blocks)
        header = re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", self.header, flags=re.MULTILINE)
        footer = self.footer
        if len(keep) < len(self.blocks):  # importances of trees that are gone
            footer = re.sub(r"(feature_importances:\n)(?:[^\n]+\n)*", r"\1", footer, count=1)
        return LightGBMText(header, blocks, footer)

    def encoded(self, suffix: str) -> bytes:
        return (self.header + "".join(self.blocks) + self.footer).encode()

    def live(self) -> Any:
        import lightgbm

        return lightgbm.Booster(model_str=self.encoded("").decode())


def refuse_classes(classes: object, per_iteration: object) -> None:
    """Refuse a model with several outputs."""
    if str(classes) != "1" or str(per_iteration) != "1":
        raise ModelError(
            f"has {per_iteration} trees per iteration (num_class {classes}), one for each of several"
            " outputs; a ranking has one"
        )


def forest(
    document: Document, trees: Trees, names: Sequence[str], width: int, average: bool
) -> Ensemble:
    """LightGBM's way to add up: plainly, or as the mean of the trees of a random forest."""
    made_up = list(names) == [f"Column_{i}" for i in range(len(names))]
    divisor = float(trees.n_trees) if average else 1.0
    ones = np.ones(trees.n_trees)
    if trees.n_features > width:
        raise ModelError(f"a tree asks for feature {trees.n_features}, of {width}")
    features = () if made_up else tuple(names)
    return Ensemble(trees, ones, 0.0, divisor, width, features, document)


def _times(block: str, factor: float) -> str:
    """The block of a tree with all its values multiplied; a factor of 1 leaves every byte as it is."""
    if factor == 1.0:
        return block

    def scaled(found: re.Match[str]) -> str:
        values = (repr(factor * float(value)) for value in found[2].split())
        return f"{found[1]}={' '.join(values)}"

    return re.sub(rf"^({'|'.join(_SCALED)})=(.*)$", scaled, block, flags=re.MULTILINE)
