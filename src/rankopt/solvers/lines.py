"""Lines: a linear problem, feature by feature, along whose directions a measure is searched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats, Ints
from rankopt.data.dataset import Dataset
from rankopt.kernels.linear import scores_of_columns
from rankopt.measures import BoundMeasure
from rankopt.threads import over_queries


@dataclass(frozen=True, eq=False)
class Lines:
    """A linear problem along whose directions the measure is searched.

    Parameters
    ----------
    columns : (n_features, n_rows) features, feature by feature; the one copy that training holds.
    bound : the measure on the labels.
    lower, upper : the range of each weight.
    """

    columns: NDArray[Any]
    bound: BoundMeasure
    lower: Floats
    upper: Floats

    @classmethod
    def of(
        cls,
        data: Dataset,
        bound: BoundMeasure,
        lower: Floats | None = None,
        upper: Floats | None = None,
    ) -> Lines:
        """Bring a dataset into feature-major order; no copy where it already is."""
        X = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
        width = data.n_features
        lower = np.full(width, -np.inf) if lower is None else lower
        upper = np.full(width, np.inf) if upper is None else upper
        return cls(np.ascontiguousarray(X.T), bound, lower, upper)

    def scores(self, weights: Floats) -> Floats:
        """Scores, with the bits that `Linear` gives them."""
        out = np.empty(self.columns.shape[1])
        over_queries(scores_of_columns, self.bound.groups.offsets, self.columns, weights, out)
        return out

    def along(self, direction: Ints | Floats) -> NDArray[Any]:
        """The change of the scores by a step of 1 along a direction of weights."""
        return self.scores(np.asarray(direction, np.float64))

    @property
    def free(self) -> bool:
        """Whether weights may be scaled: their ranges say nothing but signs."""
        low, high = np.isin(self.lower, (-np.inf, 0.0)), np.isin(self.upper, (0.0, np.inf))
        return bool(np.all(low & high))

    def room(self, weights: Floats, direction: Floats) -> tuple[float, float]:
        """The steps along a direction that keep every weight in its range."""
        moving = direction != 0.0
        if not moving.any():
            return 0.0, 0.0
        a = (self.lower[moving] - weights[moving]) / direction[moving]
        b = (self.upper[moving] - weights[moving]) / direction[moving]
        return float(np.minimum(a, b).max()), float(np.maximum(a, b).min())
