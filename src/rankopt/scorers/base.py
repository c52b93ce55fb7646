"""Scorer: features and parameters to scores. It describes structure; parameters live outside."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats, Ints
from rankopt.data.dataset import Dataset
from rankopt.data.scale import Scaling
from rankopt.errors import IncompatibleError, ModelError
from rankopt.spec import format_spec


class Scorer(ABC):
    """A family of scoring functions with one flat float64 parameter vector.

    Final subclasses are frozen dataclasses. `linear` says that scores are linear in the parameters
    (not necessarily in the features): then the exact line search and convex solvers apply.
    """

    name: ClassVar[str]
    linear: ClassVar[bool] = False
    separate: ClassVar[bool] = False  # needs features of queries apart from those of objects
    foldable: ClassVar[bool] = False  # `folded` can take a standardisation of the features in

    @abstractmethod
    def size(self, data: Dataset) -> int:
        """The number of parameters on this data."""

    @abstractmethod
    def start(self, data: Dataset, rng: np.random.Generator) -> Floats:
        """Parameters to start from."""

    @abstractmethod
    def scores(self, params: Floats, data: Dataset) -> Floats:
        """One score per row, in stored order."""

    @abstractmethod
    def pullback(self, params: Floats, data: Dataset, dscores: Floats) -> Floats:
        """The derivative by the parameters, from the derivative by the scores."""

    def size_for(self, n_features: int, n_query_features: int) -> int | None:
        """The number of parameters on data of this width; None where the width does not tell."""
        return None

    def fitted(self, data: Dataset) -> Self:
        """The scorer with what it takes from training data beside parameters; most take nothing."""
        return self

    def folded(self, params: Floats, scaling: Scaling) -> Floats:
        """Parameters on the features as they were before `scaling`.

        They order the rows of a query as `params` do on the scaled features.
        """
        raise IncompatibleError(f"{self} cannot take the standardisation of features in")

    def unscaled(self, scaling: Scaling) -> Self:
        """The scorer that goes with `folded` parameters; most are the same on any scale."""
        return self

    def laid_out(self, data: Dataset) -> Dataset:
        """The data with one column per parameter, on which a linear scorer gives the same bits."""
        raise IncompatibleError(f"{self} has no column for each of its parameters")

    def confined(self, data: Dataset) -> tuple[Dataset, Ints] | None:
        """Sparse data without the columns that are blank in it, and which parameters are of the others.

        The scorer gives the same scores on it by these parameters alone. None where it is the whole that
        counts: on dense data, and where parameters do not belong to columns.
        """
        return None

    def named(self, params: Floats, features: Sequence[str]) -> dict[str, float]:
        """Weights by the names of what they weigh, where parameters are such; else nothing."""
        return {}

    def notes(self) -> dict[str, int]:
        """What there is to tell of a fitted scorer beside its weights; of most nothing."""
        return {}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a model file must keep beside the text spec and the parameters; most have nothing."""
        return {}

    def holding(self, arrays: dict[str, NDArray[Any]]) -> Self:
        """The scorer with arrays from a file of unknown origin; a `ModelError` where they do not fit."""
        if arrays:
            raise ModelError(f"{self.name} holds no arrays, but there are {', '.join(arrays)}")
        return self

    def __str__(self) -> str:
        return format_spec(self)
