"""Ensemble: trees that another library has grown, and the document that they are written back to."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.data.files import replacing
from rankopt.errors import SpecError
from rankopt.models.model import Model, Recipe
from rankopt.scorers import Forest
from rankopt.scorers.trees import Trees, empty_arrays


class Document(ABC):
    """A model in the format of its own library. It is a value: re-weighting gives another one.

    `bits` are those of a score that the sums of its library leave right.
    """

    library: ClassVar[str]
    format: ClassVar[str]
    bits: ClassVar[int] = 42

    @abstractmethod
    def ensemble(self) -> Ensemble:
        """The trees, packed."""

    @abstractmethod
    def reweighted(self, factors: Floats) -> Document:
        """The document with each tree's values multiplied by its factor; trees of factor 0 are left out."""

    @abstractmethod
    def encoded(self, suffix: str) -> bytes:
        """The content of a file whose name ends in `suffix`."""

    @abstractmethod
    def live(self) -> Any:
        """The model as an object of its own library."""


@dataclass(frozen=True, eq=False)
class Ensemble:
    r"""A tree ensemble of another library.

    Definition
    ----------
    .. math:: f(x) = b + \frac{1}{d} \sum_t w_t \, v_{t, \ell_t(x)}

    with the leaf :math:`\ell_t(x)` in which a row ends in tree t. These are the raw scores of the
    library, before any sigmoid: its ranking.

    Parameters
    ----------
    trees : the packed trees.
    weights : of each tree: what DART has left of it, or the scale of a CatBoost model; else 1.
    base : b, the score of no trees.
    divisor : d; the number of trees of a random forest, else 1.
    n_features, features : of the data that it was trained on; no names where the library made them up.
    document : what the trees were read from.
    notes : what a user should know about how they were read.
    """

    trees: Trees
    weights: Floats
    base: float
    divisor: float
    n_features: int
    features: tuple[str, ...]
    document: Document
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        counts = f"{self.n_trees} trees, {self.n_features} features"
        return f"<Ensemble {self.document.library} {self.document.format}: {counts}>"

    @property
    def n_trees(self) -> int:
        return self.trees.n_trees

    def scores(self, data: Dataset) -> Floats:
        """One score per row, in stored order."""
        self.check(data)
        out = self.trees.scores(self.weights, data)
        if self.divisor != 1.0:
            out /= self.divisor
        if self.base != 0.0:
            out += self.base
        return out

    def check(self, data: Dataset) -> None:
        """Refuse data whose features are not those that the trees were grown on."""
        none = np.zeros(0)
        recipe = Recipe(self.document.library.lower())
        Model(Forest(), none, self.n_features, self.features, None, recipe).check_features(data)

    def predict(self, data: Dataset) -> Floats:
        """One score per row, in the caller's order."""
        return data.restored(self.scores(data))

    def reweighted(self, factors: Floats) -> Ensemble:
        """The ensemble with each tree multiplied by a factor, as its own format then has it.

        Values are rounded as the format rounds them. A tree of factor 0 is left out; where all are 0,
        the first one stays, without values.
        """
        if factors.shape != (self.n_trees,) or not np.isfinite(factors).all():
            raise SpecError(
                f"factors: one finite number for each of {self.n_trees} trees is needed"
            )
        return self.document.reweighted(factors).ensemble()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model in its own format; the file is complete or absent."""
        content = self.document.encoded(Path(path).suffix.lower())
        with replacing(path) as partial:
            partial.write_bytes(content)

    def to_model(self) -> Model:
        """A model of rankopt with the same scores, up to the rounding of the base and the divisor."""
        trees, weights = self.trees, self.weights / self.divisor
        if self.base != 0.0:
            alone: dict[str, Any] = {
                "roots": np.array([~0], np.int32),
                "leaf_starts": np.array([0, 1]),
                "values": np.array([self.base]),
            }
            constant = Trees(**{**empty_arrays(), **alone})
            trees, weights = Trees.joined([constant, trees]), np.append(1.0, weights)
        recipe = Recipe(self.document.library.lower(), {}, {"trees": self.n_trees})
        return Model(Forest(trees), weights, self.n_features, self.features, None, recipe)


def kept(factors: Floats) -> list[int]:
    """The trees that stay: those with a factor other than 0, and at least one."""
    return [int(t) for t in np.flatnonzero(factors)] or [0]
