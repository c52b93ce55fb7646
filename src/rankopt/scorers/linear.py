"""The linear scorer, one weight per feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats, Ints, without_blank_columns
from rankopt.data.dataset import Dataset
from rankopt.data.scale import Scaling
from rankopt.kernels import linear as kernels
from rankopt.scorers.base import Scorer
from rankopt.threads import over_queries

_BLOCK = 2048  # rows whose pullback is added up by itself


@dataclass(frozen=True)
class Linear(Scorer):
    r"""A weighted sum of the features.

    Definition
    ----------
    .. math:: f(x) = \sum_j w_j x_j

    References
    ----------
    [tan2013direct]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> data = rankopt.dataset([[1.0, 2.0], [3.0, 4.0]])
    >>> Linear().scores(np.array([1.0, 0.5]), data).tolist()
    [2.0, 5.0]
    """

    name: ClassVar[str] = "linear"
    linear: ClassVar[bool] = True
    foldable: ClassVar[bool] = True

    def size(self, data: Dataset) -> int:
        return data.n_features

    def start(self, data: Dataset, rng: np.random.Generator) -> Floats:
        return np.zeros(data.n_features)

    def scores(self, params: Floats, data: Dataset) -> Floats:
        X, offsets = data.X, data.groups.offsets
        out = np.empty(data.n_rows)
        if isinstance(X, np.ndarray):
            rows = np.require(X, requirements=["C", "W"])
            over_queries(kernels.scores_of_rows, offsets, rows, params, out)
        else:
            X.sort_indices()
            indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int64)
            over_queries(kernels.scores_of_sparse, offsets, indptr, indices, X.data, params, out)
        return out

    def pullback(self, params: Floats, data: Dataset, dscores: Floats) -> Floats:
        X = data.X
        if isinstance(X, np.ndarray):
            return _blockwise(X, dscores)
        return np.asarray(X.T @ dscores)

    def size_for(self, n_features: int, n_query_features: int) -> int | None:
        return n_features

    def folded(self, params: Floats, scaling: Scaling) -> Floats:
        return scaling.fold(params)[0]

    def confined(self, data: Dataset) -> tuple[Dataset, Ints] | None:
        if isinstance(data.X, np.ndarray):
            return None
        X, columns = without_blank_columns(data.X)
        return replace(data, X=X, features=()), columns

    def laid_out(self, data: Dataset) -> Dataset:
        return data

    def named(self, params: Floats, features: Sequence[str]) -> dict[str, float]:
        return dict(zip(features, params.tolist(), strict=True))


def _blockwise(X: np.ndarray, by_scores: Floats) -> Floats:
    """X' d in float64 without a float64 copy of X, with the same bits for any number of threads."""
    rows = np.require(X, requirements=["C", "W"])
    blocks = np.append(np.arange(0, len(rows), _BLOCK), len(rows))
    out = np.empty((blocks.size - 1, rows.shape[1]))
    over_queries(kernels.pullback_of_rows, blocks, rows, by_scores, out)
    return out.sum(axis=0)
