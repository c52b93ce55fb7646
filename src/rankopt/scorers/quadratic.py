"""The quadratic scorer: features, and the products of two that a filter has chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats, Ints, as_dense
from rankopt.data.dataset import Dataset
from rankopt.data.scale import Scaling
from rankopt.errors import DataError, SpecError
from rankopt.kernels import quadratic as kernels
from rankopt.scorers.base import Scorer
from rankopt.scorers.products import Products
from rankopt.threads import over_queries

_STEP = 4096  # rows that a thread takes at once, at the least
_LARGEST = 4 << 30  # bytes of products laid out
_DENSE = 4_000_000  # values of a sparse matrix that are unpacked at once


@dataclass(frozen=True, eq=False)
class Quadratic(Scorer):
    r"""A weighted sum of the features and of products of two of them; linear in its parameters.

    Definition
    ----------
    .. math:: f(x) = \sum_j w_j x_j + \sum_{(i, j) \in K} c_{ij} \, x_i x_j, \qquad
              K = \{ i \le j : |\mathrm{corr}(x_i x_j, y)| \ge \rho \}

    with Pearson's correlation between a product and the labels y over all training rows
    (`rankopt.scorers.products.Products.chosen`). Features themselves are always kept. The parameters are
    w and then c, in the order of the names.

    The products are neither laid out for the filter nor for training: the memory is that of the features
    and of the parameters. With ``normalize="standard"``, which is the paper's way, products are those of
    the standardised features; their means become a part of the model and their spreads are folded into
    the parameters.

    Parameters
    ----------
    rho : :math:`\rho`, from 0 (every product) to below 1.
    squares : whether products of a feature with itself are candidates.
    products : those that were chosen, stored beside the parameters; estimators choose them.

    References
    ----------
    [tran2011learning]_, equation 4 and table 5

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> data = rankopt.dataset([[1.0, 2.0], [-1.0, 3.0], [2.0, -1.0], [1.0, -1.0]], [1, 0, 0, 1])
    >>> scorer = Quadratic(rho=0.5).fitted(data)
    >>> scorer.products.names(["title_bm25", "pagerank"])
    ['title_bm25 * title_bm25', 'title_bm25 * pagerank']
    >>> scorer.scores(np.array([1.0, 0.0, 0.0, 0.5]), data).tolist()
    [2.0, -2.5, 1.0, 0.5]
    """

    name: ClassVar[str] = "quadratic"
    linear: ClassVar[bool] = True
    foldable: ClassVar[bool] = True
    rho: float = 0.05
    squares: bool = True
    products: Products | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not 0.0 <= self.rho < 1.0:
            raise SpecError(f"quadratic: rho = {self.rho!r} must be from 0 to below 1")
        if not isinstance(self.products, Products | None):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SpecError("quadratic: products are arrays, which no text can give")

    def fitted(self, data: Dataset) -> Self:
        """With the products that the filter chooses on data; those of an earlier choice are kept."""
        if self.products is not None:
            return self
        return replace(self, products=Products.chosen(data, self.rho, self.squares))

    def size(self, data: Dataset) -> int:
        return data.n_features + self._of(data).count

    def start(self, data: Dataset, rng: np.random.Generator) -> Floats:
        return np.zeros(self.size(data))

    def scores(self, params: Floats, data: Dataset) -> Floats:
        products, out = self._of(data), np.empty(data.n_rows)
        weights, by_product = self.parts(_writeable(params))
        shape = products.starts, _writeable(products.right), by_product
        if _sparsely(data, products):
            entries = _entries(_canonical(data.X))
            over_queries(
                kernels.scores_of_sparse, data.groups.offsets, *entries, weights, *shape, out
            )
            return out
        for rows, X in _blocks(data):
            part = out[rows]
            over_queries(
                kernels.scores_of_rows,
                _cuts(part.size),
                X,
                _writeable(products.center),
                weights,
                *shape,
                part,
            )
        return out

    def pullback(self, params: Floats, data: Dataset, dscores: Floats) -> Floats:
        products = self._of(data)
        starts, rights = products.starts, _writeable(products.right)
        total, out = np.zeros(params.size), np.empty(params.size)
        parts = self.parts(out)
        if _sparsely(data, products):
            entries = _entries(_canonical(data.X).tocsc())
            over_queries(kernels.pullback_of_sparse, starts, *entries, dscores, rights, *parts)
            return out
        for rows, X in _blocks(data):
            over_queries(
                kernels.pullback_of_rows, starts, X, _writeable(products.center), dscores[rows], rights,
                *parts,
            )  # fmt: skip
            total += out
        return total

    @property
    def width(self) -> int:
        """The features that the products were chosen of."""
        return self._chosen.n_features

    def parts(self, params: Floats) -> tuple[Floats, Floats]:
        """Weights of the features, and weights of the products."""
        return params[: self.width], params[self.width :]

    def size_for(self, n_features: int, n_query_features: int) -> int:
        return n_features + self._chosen.count

    def folded(self, params: Floats, scaling: Scaling) -> Floats:
        weights, by_product = self.parts(params)
        factors = self._chosen.factors(scaling)
        return np.concatenate((weights / scaling.scale, by_product / factors))

    def unscaled(self, scaling: Scaling) -> Self:
        return replace(self, products=self._chosen.unscaled(scaling))

    def expanded(self, params: Floats) -> tuple[float, Floats, Floats]:
        r"""The same function without centers: constant, weights of features, weights of products.

        .. math:: c (x_i - m_i)(x_j - m_j) = c \, x_i x_j - c \, m_j x_i - c \, m_i x_j + c \, m_i m_j
        """
        products, (weights, by_product) = self._chosen, self.parts(params)
        left, right, center = products.left, products.right, products.center
        away = np.bincount(left, by_product * center[right], minlength=center.size)
        away += np.bincount(right, by_product * center[left], minlength=center.size)
        constant = float(by_product @ (center[left] * center[right]) - weights @ center)
        return constant, weights - away, by_product

    def named(self, params: Floats, features: Sequence[str]) -> dict[str, float]:
        """Of the features as they are given, and of the products, such as ``title_bm25 * pagerank``."""
        _, weights, by_product = self.expanded(params)
        names = [*features, *self._chosen.names(features)]
        return dict(zip(names, [*weights.tolist(), *by_product.tolist()], strict=True))

    def notes(self) -> dict[str, int]:
        """How many products there are, and of how many they were chosen."""
        among = self.width * (self.width + (1 if self.squares else -1)) // 2
        return {"products": self._chosen.count, "products_among": among}

    def laid_out(self, data: Dataset) -> Dataset:
        products = self._of(data)
        size = 8 * data.n_rows * (data.n_features + products.count)
        if size > _LARGEST:
            raise DataError(
                f"{data.name}: {products.count} products of {data.n_rows} rows, laid out, take"
                f" {size / 2**30:.1f} GiB, and {_LARGEST / 2**30:g} are allowed; choose fewer with a higher"
                " rho"
            )
        features = data.features or tuple(str(f + 1) for f in range(data.n_features))
        names = (*features, *products.names(features))
        return replace(data, X=products.columns(data), features=names)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {} if self.products is None else self.products.arrays

    def holding(self, arrays: dict[str, NDArray[Any]]) -> Self:
        return replace(self, products=Products.checked(arrays))

    @property
    def _chosen(self) -> Products:
        if self.products is None:
            raise SpecError(
                f"{self}: no products have been chosen; an estimator chooses them, or fitted(data) does"
            )
        return self.products

    def _of(self, data: Dataset) -> Products:
        """The products, where they are of as many features as the data has."""
        products = self._chosen
        if data.n_features != products.n_features:
            raise DataError(
                f"{data.name}: has {data.n_features} features, but the products were chosen of"
                f" {products.n_features}"
            )
        return products


def _sparsely(data: Dataset, products: Products) -> bool:
    """Whether the data is sparse and no center would fill its zeros."""
    return not isinstance(data.X, np.ndarray) and not products.center.any()


def _canonical(matrix: Any) -> Any:
    """A CSR matrix with sorted columns and one entry each."""
    if matrix.has_canonical_format:
        return matrix
    matrix = matrix.copy()
    matrix.sum_duplicates()
    return matrix


def _writeable(array: NDArray[Any]) -> NDArray[Any]:
    """The array as kernels take it: a read-only one, such as of a mapped file, is copied."""
    return np.require(array, requirements=["C", "W"])


def _entries(matrix: Any) -> tuple[Ints, Ints, NDArray[Any]]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data


def _blocks(data: Dataset) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Rows as a kernel takes them: all at once, or a sparse matrix block by block."""
    if isinstance(data.X, np.ndarray):
        yield slice(0, data.n_rows), _writeable(data.X)
        return
    step = max(1, _DENSE // max(1, data.n_features))
    for first in range(0, data.n_rows, step):
        yield slice(first, first + step), as_dense(data.X[first : first + step])


def _cuts(rows: int) -> Ints:
    """Cuts of rows into steps, which threads take as they take queries."""
    return np.append(np.arange(0, rows, _STEP), rows)
