"""Scaling of features: to [0, 1] within each query, or to mean 0 and deviation 1 over all rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from rankopt.arrays import Floats, Matrix
from rankopt.data.dataset import Dataset
from rankopt.errors import DataError, IncompatibleError
from rankopt.threads import over_queries

_STEP = 4096  # rows brought to float64 at a time: a whole copy would double the memory


@dataclass(frozen=True, eq=False, slots=True)
class Scaling:
    """The affine map ``(x - center) / scale`` of each feature, which a linear model can absorb.

    Parameters
    ----------
    center, scale : one value per feature; no scale is zero.
    """

    center: Floats
    scale: Floats

    def apply(self, X: Any) -> Matrix:
        """Scaled features, in the dtype of X; NaN stays NaN."""
        dense = _dense(X, "scaling")
        if dense.shape[1] != self.center.size:
            raise DataError(
                f"scaling: X has {dense.shape[1]} features, but the scaling {self.center.size}"
            )
        out = cast(Matrix, np.empty(dense.shape, dense.dtype))
        for rows in _blocks(dense):
            out[rows] = (dense[rows].astype(np.float64) - self.center) / self.scale
        return out

    def fold(self, weights: Floats) -> tuple[Floats, float]:
        """The weights on unscaled features, and the constant that scores then lack.

        ``apply(X) @ weights == X @ folded + shift``. A constant moves no row past another.

        >>> scaling = Scaling(np.array([1.0, 0.0]), np.array([2.0, 4.0]))
        >>> folded, shift = scaling.fold(np.array([3.0, 2.0]))
        >>> folded.tolist(), shift
        ([1.5, 0.5], -1.5)
        """
        folded = weights / self.scale
        return folded, -float(folded @ self.center)


def scale_per_query(data: Dataset) -> Dataset:
    """Scale each feature to [0, 1] within each query, as LETOR's QueryLevelNorm files.

    *Definition.* ``(x - min) / (max - min)`` over the rows of the query, 0 where max = min. NaN is
    passed over and stays NaN. The map depends on all rows of the query, so that a linear model
    cannot absorb it: whoever scores one query must have all of its rows.

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.dataset([[1.0, 5.0], [3.0, 5.0], [2.0, 5.0]])
    >>> scale_per_query(data).X.tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.5, 0.0]]
    """
    from rankopt.kernels.scale import scale_to_unit

    X = _dense(data.X, data.name)
    out = cast(Matrix, np.empty(X.shape, X.dtype))
    over_queries(scale_to_unit, data.groups.offsets, np.ascontiguousarray(X), out)
    return replace(data, X=out)


def scale_standard(data: Dataset) -> tuple[Dataset, Scaling]:
    """Scale each feature to mean 0 and standard deviation 1 over all rows.

    Constant features become 0. NaN is passed over and stays NaN. The second result scales other
    data alike, and takes a linear model back to unscaled features.

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.dataset([[1.0, 5.0], [3.0, 5.0]])
    >>> scaled, scaling = scale_standard(data)
    >>> scaled.X.tolist(), scaling.center.tolist(), scaling.scale.tolist()
    ([[-1.0, 0.0], [1.0, 0.0]], [2.0, 5.0], [1.0, 1.0])
    """
    scaling = standard_scaling(data)
    return replace(data, X=scaling.apply(data.X)), scaling


def standard_scaling(data: Dataset) -> Scaling:
    """The mean and the standard deviation (of the population) of each feature."""
    X = _dense(data.X, data.name)
    counts, sums = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    low, high = np.full(X.shape[1], np.nan), np.full(X.shape[1], np.nan)
    for rows in _blocks(X):
        block = X[rows].astype(np.float64)
        counts += np.count_nonzero(~np.isnan(block), axis=0)
        sums += np.nansum(block, axis=0)
        low, high = np.fmin(low, np.fmin.reduce(block)), np.fmax(high, np.fmax.reduce(block))
    counts = np.maximum(counts, 1.0)
    # the rounded mean of equal values may miss them, and that is no deviation to scale by
    center = np.where(low == high, low, sums / counts)
    squares = np.zeros(X.shape[1])
    for rows in _blocks(X):
        squares += np.nansum((X[rows].astype(np.float64) - center) ** 2, axis=0)
    deviation = np.sqrt(squares / counts)
    return Scaling(center, np.where(deviation > 0.0, deviation, 1.0))


def _dense(X: Any, name: str) -> Matrix:
    if not isinstance(X, np.ndarray):
        raise IncompatibleError(
            f"{name}: sparse features cannot be centred without filling them; pass X.toarray()"
        )
    return cast(Matrix, X)


def _blocks(X: Matrix) -> Iterator[slice]:
    return (slice(start, start + _STEP) for start in range(0, X.shape[0], _STEP))
