"""The scorer of single thresholds on features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats, Ints, Matrix
from rankopt.data.dataset import Dataset
from rankopt.errors import DataError, SpecError
from rankopt.kernels import stumps as kernels
from rankopt.scorers.base import Scorer
from rankopt.threads import over_queries


@dataclass(frozen=True)
class Stumps(Scorer):
    r"""A weighted sum of steps, each on one feature.

    Definition
    ----------
    .. math:: f(x) = \sum_t \alpha_t \, I[x_{k_t} > \theta_t]

    Scores are linear in the parameters :math:`\alpha`. A missing value is above no threshold.

    Parameters
    ----------
    features : :math:`k_t`, counted from 0.
    thresholds : :math:`\theta_t`, as many.

    References
    ----------
    [freund2003efficient]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> data = rankopt.dataset([[1.0, 2.0], [3.0, 4.0]])
    >>> Stumps(features=(0, 1), thresholds=(2.0, 1.0)).scores(np.array([1.0, 0.5]), data).tolist()
    [0.5, 1.5]
    """

    name: ClassVar[str] = "stumps"
    linear: ClassVar[bool] = True
    features: tuple[int, ...] = ()
    thresholds: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if len(self.features) != len(self.thresholds):
            raise SpecError(
                f"stumps: {len(self.features)} features and {len(self.thresholds)} thresholds"
            )
        if any(f < 0 or f != int(f) for f in self.features):
            raise SpecError("stumps: features are whole numbers from 0")
        if not np.isfinite(np.asarray(self.thresholds, dtype=np.float64)).all():
            raise SpecError("stumps: thresholds must be finite")

    def size(self, data: Dataset) -> int:
        return len(self.features)

    def start(self, data: Dataset, rng: np.random.Generator) -> Floats:
        return np.zeros(len(self.features))

    def scores(self, params: Floats, data: Dataset) -> Floats:
        if params.size != len(self.features):
            raise DataError(f"stumps: {params.size} weights for {len(self.features)} steps")
        X, features, thresholds = self._arrays(data)
        out = np.empty(data.n_rows)
        over_queries(
            kernels.scores_of_rows, data.groups.offsets, X, features, thresholds, params, out
        )
        return out

    def pullback(self, params: Floats, data: Dataset, dscores: Floats) -> Floats:
        X, features, thresholds = self._arrays(data)
        out = np.empty(features.size)
        steps = np.arange(features.size + 1) * data.n_rows
        over_queries(kernels.sums_above, steps, X, features, thresholds, dscores, out)
        return out

    def size_for(self, n_features: int, n_query_features: int) -> int | None:
        return len(self.features)

    def _arrays(self, data: Dataset) -> tuple[Matrix, Ints, Floats]:
        """The columns that steps stand on, row by row, and the steps on them."""
        features = np.asarray(self.features, dtype=np.int64)
        if features.size and features.max() >= data.n_features:
            raise DataError(
                f"{data.name}: has {data.n_features} features, but a step stands on number"
                f" {int(features.max()) + 1}"
            )
        if isinstance(data.X, np.ndarray):
            columns = data.X
        else:
            used, features = np.unique(features, return_inverse=True)
            columns = data.X[:, used].toarray()
        return (
            np.require(columns, requirements=["C", "W"]),
            np.ascontiguousarray(features, dtype=np.int64),
            np.asarray(self.thresholds, dtype=np.float64),
        )
