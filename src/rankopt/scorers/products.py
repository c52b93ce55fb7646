"""Products of two features: which ones a quadratic scorer has, and the filter that chooses them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats, Ints, as_dense
from rankopt.data.dataset import Dataset
from rankopt.data.scale import Scaling, standard_scaling
from rankopt.errors import DataError, ModelError

_VALUES = 4_000_000  # numbers of a block: features by features, or rows by features
_CONSTANT = 1e-12  # a variance below this share of what it is made of is rounding


@dataclass(frozen=True, eq=False)
class Products:
    r"""Products :math:`(x_i - m_i)(x_j - m_j)` with :math:`i \le j`, in ascending order of (i, j).

    Parameters
    ----------
    left, right : (n_products,) the features i and j, counted from 0.
    center : (n_features,) m: zero, or the means of training data that was standardised. Taking the
        mean off before multiplying keeps the precision that it would cost afterwards.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    center: Floats

    @classmethod
    def chosen(cls, data: Dataset, rho: float, squares: bool = True) -> Products:
        r"""The products whose correlation with the labels of data is at least rho in size.

        *Definition.* Pearson's correlation over all rows of all queries,

        .. math:: c(u, y) = \frac{\sum_r (u_r - \bar u)(y_r - \bar y)}
                  {\sqrt{\sum_r (u_r - \bar u)^2} \sqrt{\sum_r (y_r - \bar y)^2}}, \qquad u_r = x_{ri} x_{rj}

        It is computed from sums over rows of powers of two features, all by matrix products, block by
        block; no product is laid out. Products that are constant, or have a constant factor, are left
        out: they add nothing to the features themselves.
        """
        lefts, rights = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
        for first, correlations in block_correlations(data):
            size = np.abs(correlations)
            kept = size >= rho  # false for NaN, which stands where there is no correlation
            rows, columns = np.nonzero(kept)
            rows, columns = rows + first, columns + first
            wanted = rows <= columns if squares else rows < columns
            lefts.append(rows[wanted].astype(np.int32))
            rights.append(columns[wanted].astype(np.int32))
        return cls(np.concatenate(lefts), np.concatenate(rights), np.zeros(data.n_features))

    @classmethod
    def checked(cls, arrays: dict[str, NDArray[Any]]) -> Products:
        """Products from arrays of unknown origin; a `ModelError` where they name no features."""
        expected = {"left": np.int32, "right": np.int32, "center": np.float64}
        if set(arrays) != set(expected):
            raise ModelError(f"products: expected the arrays {', '.join(expected)}")
        for name, kind in expected.items():
            if arrays[name].dtype != kind or arrays[name].ndim != 1:
                raise ModelError(
                    f"products: {name} must hold {np.dtype(kind)} values in one dimension"
                )
        self = cls(**arrays)
        place = self.left.astype(np.int64) * max(1, self.center.size) + self.right
        if self.left.size != self.right.size:
            raise ModelError("products: left and right have different lengths")
        if not np.isfinite(self.center).all():
            raise ModelError("products: a center is not finite")
        if np.any(self.left < 0) or np.any(self.right >= self.center.size):
            raise ModelError(f"products: a factor is none of the {self.center.size} features")
        if np.any(self.left > self.right) or np.any(np.diff(place) <= 0):
            raise ModelError("products: are not in ascending order")
        return self

    @property
    def n_features(self) -> int:
        return self.center.size

    @property
    def count(self) -> int:
        return self.left.size

    @property
    def starts(self) -> Ints:
        """The products whose first factor is f are ``starts[f]..starts[f + 1] - 1``."""
        return np.searchsorted(self.left, np.arange(self.n_features + 1)).astype(np.int64)

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def names(self, features: Sequence[str]) -> list[str]:
        """``title_bm25 * pagerank``; a square is ``pagerank * pagerank``."""
        pairs = zip(self.left.tolist(), self.right.tolist(), strict=True)
        return [f"{features[i]} * {features[j]}" for i, j in pairs]

    def factors(self, scaling: Scaling) -> Floats:
        """What each product is divided by when its features are."""
        return scaling.scale[self.left] * scaling.scale[self.right]

    def unscaled(self, scaling: Scaling) -> Products:
        """The products on features as they were before scaling, but for `factors`."""
        return replace(self, center=scaling.center + scaling.scale * self.center)

    def columns(self, data: Dataset) -> Floats:
        """(n_rows, n_features + n_products) features less their center, and the products, laid out."""
        if data.n_features != self.n_features:
            raise DataError(
                f"{data.name}: has {data.n_features} features, but the products are of {self.n_features}"
            )
        out = np.empty((data.n_rows, self.n_features + self.count))
        for rows in _steps(data.n_rows, out.shape[1]):
            from_center = as_dense(data.X[rows]) - self.center
            out[rows, : self.n_features] = from_center
            left, right = from_center[:, self.left], from_center[:, self.right]
            np.multiply(left, right, out=out[rows, self.n_features :])
        return out


def block_correlations(data: Dataset) -> Iterator[tuple[int, Floats]]:
    """Correlations of products with the labels, in blocks: the first feature f, and an array C.

    ``C[a, b]`` is that of the features f + a and f + b, NaN where there is none.
    """
    moments = (_Dense if isinstance(data.X, np.ndarray) else _Sparse).of(data)
    spread = float(np.sqrt(np.mean((data.labels - data.labels.mean()) ** 2)))
    block = max(1, _VALUES // max(1, data.n_features))
    for first in range(0, data.n_features, block):
        covariance, variance = moments.block(slice(first, min(first + block, data.n_features)))
        divisor = np.sqrt(variance) * spread
        # Equal labels correlate with nothing: 0, so that rho = 0 still keeps every product.
        blank = np.where(variance > 0.0, 0.0, np.nan)
        yield first, np.divide(covariance, divisor, out=blank, where=divisor > 0.0)


@dataclass(frozen=True, eq=False)
class _Dense:
    """Moments of products of dense features, through their standardised values z.

    With :math:`x = s (a + z)`, a product is :math:`s_i s_j (a_i a_j + a_i z_j + a_j z_i + z_i z_j)`. Sums
    of z cancel no leading digits, however far the mean is from 0.
    """

    X: NDArray[np.floating]
    away: Floats  # labels less their mean
    mean: Floats
    scale: Floats
    shift: Floats  # a
    constant: NDArray[np.bool_]

    @classmethod
    def of(cls, data: Dataset) -> _Dense:
        X: Any = data.X
        scaling = standard_scaling(data)
        constant = np.ones(data.n_features, bool)
        for rows in _steps(data.n_rows, data.n_features):
            constant &= np.all(X[rows] == X[:1], axis=0)
        away, shift = data.labels - data.labels.mean(), scaling.center / scaling.scale
        return cls(X, away, scaling.center, scaling.scale, shift, constant)

    def block(self, lefts: slice) -> tuple[Floats, Floats]:
        """Covariances with the labels, and variances, of the products of block and later features."""
        rest, count = slice(lefts.start, None), lefts.stop - lefts.start
        sums = np.zeros((5, count, self.mean.size - lefts.start))
        with_y = np.zeros(sums.shape[2])
        for rows in _steps(*self.X.shape):
            z = (as_dense(self.X[rows, rest]) - self.mean[rest]) / self.scale[rest]
            squares, away = z**2, self.away[rows]
            left, left_squares = z[:, :count], squares[:, :count]
            with_y += away @ z
            sums[0] += left.T @ z
            sums[1] += left.T @ squares
            sums[2] += left_squares.T @ z
            sums[3] += left_squares.T @ squares
            sums[4] += (left * away[:, None]).T @ z
        with_y /= self.away.size
        both, right_twice, left_twice, all_twice, both_y = sums / self.away.size
        a, b = self.shift[lefts][:, None], self.shift[rest]
        covariance = a * with_y + b * with_y[:count, None] + both_y
        sizes = a**2 + b**2 + all_twice
        variance = sizes - both**2 + 2.0 * (a * b * both + a * right_twice + b * left_twice)
        variance[self.constant[lefts]] = 0.0
        variance[:, self.constant[rest]] = 0.0
        return covariance, np.where(variance > _CONSTANT * sizes, variance, 0.0)


@dataclass(frozen=True, eq=False)
class _Sparse:
    """As `_Dense`, by sums of the entries themselves: to centre them would fill the zeros."""

    X: Any
    squares: Any
    with_y: Any  # each row times its label less their mean
    constant: NDArray[np.bool_]

    @classmethod
    def of(cls, data: Dataset) -> _Sparse:
        given: Any = data.X
        matrix = given.astype(np.float64).tocsc()
        matrix.sum_duplicates()
        with_y = matrix.multiply((data.labels - data.labels.mean())[:, None]).tocsc()
        constant = (matrix.max(axis=0).toarray() == matrix.min(axis=0).toarray()).ravel()
        return cls(matrix, matrix * matrix, with_y, constant)

    def block(self, lefts: slice) -> tuple[Floats, Floats]:
        rest, rows = slice(lefts.start, None), self.X.shape[0]
        mean = (self.X[:, lefts].T @ self.X[:, rest]).toarray() / rows
        square = (self.squares[:, lefts].T @ self.squares[:, rest]).toarray() / rows
        covariance = (self.X[:, lefts].T @ self.with_y[:, rest]).toarray() / rows
        variance = square - mean**2
        variance[self.constant[lefts]] = 0.0
        variance[:, self.constant[rest]] = 0.0
        return covariance, np.where(variance > _CONSTANT * square, variance, 0.0)


def _steps(rows: int, width: int) -> Iterator[slice]:
    step = max(1, _VALUES // max(1, width))
    return (slice(first, min(first + step, rows)) for first in range(0, rows, step))
