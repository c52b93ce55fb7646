"""Dataset: features, labels and queries of a ranking problem, contiguous by query."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankopt.arrays import Floats, Ints, Matrix, as_floats, require_finite
from rankopt.data.groups import Groups
from rankopt.errors import DataError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_FLOATS = ("float32", "float64")
_STEP = 4096  # rows looked at together


@dataclass(frozen=True, eq=False, slots=True)
class Texts:
    """The wording of queries and objects, such as questions and answers, instead of features.

    Parameters
    ----------
    questions : (n_queries,) text.
    answers : (n_rows,) text.
    """

    questions: NDArray[Any]
    answers: NDArray[Any]


@dataclass(frozen=True, eq=False, slots=True)
class Dataset:
    """A ranking problem. Build one with `dataset`, `read_letor`, `read_parquet`, `from_frame` or
    `read_pairs`.

    Parameters
    ----------
    X : (n_rows, n_features) object features, float32 or float64, dense or CSR. NaN is a missing
        value; infinite values are refused.
    y : (n_rows,) labels, or None where there are none.
    groups : the queries.
    Q : (n_queries, n_query_features) query features, dense or CSR, or None.
    weights : (n_queries,) weights of the queries, or None.
    docs : (n_rows,) document identifiers, or None.
    features : names of the columns of X.
    rows : the caller's row number of each stored row, or None where the order is the caller's.
    name : where the data came from; error messages say it.
    texts : wording that a model turns into features; X then has no columns.
    """

    X: Matrix | csr_array
    y: Floats | None
    groups: Groups
    Q: Matrix | csr_array | None = None
    weights: Floats | None = None
    docs: NDArray[Any] | None = None
    features: tuple[str, ...] = ()
    rows: Ints | None = None
    name: str = "data"
    texts: Texts | None = None

    def __repr__(self) -> str:
        holds = "text" if self.texts is not None else f"{self.n_features} features"
        shape = f"{self.n_rows} rows, {holds}, {self.groups.n_queries} queries"
        return f"<Dataset {self.name}: {shape}>"

    @property
    def n_rows(self) -> int:
        return self.groups.n_rows

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])  # pyright: ignore[reportOptionalSubscript]

    @property
    def n_query_features(self) -> int:
        return 0 if self.Q is None else int(self.Q.shape[1])  # pyright: ignore[reportOptionalSubscript]

    @property
    def labels(self) -> Floats:
        """The labels; a `DataError` where there are none."""
        if self.y is None:
            raise DataError(f"{self.name}: has no labels")
        return self.y

    def stored(self, per_row: NDArray[Any]) -> NDArray[Any]:
        """A per-row array in the caller's order, brought into stored order."""
        return per_row if self.rows is None else per_row[self.rows]

    def restored(self, per_row: NDArray[Any]) -> NDArray[Any]:
        """A per-row array in stored order, brought back into the caller's order."""
        if self.rows is None:
            return per_row
        out = np.empty_like(per_row)
        out[self.rows] = per_row
        return out

    def take(self, queries: Ints) -> Dataset:
        """The part of the data that some queries make up, in the order asked for.

        The part is a problem of its own: its row order counts as the caller's.
        """
        groups, rows = self.groups.take(queries)
        return replace(
            self,
            X=self.X[rows],
            y=None if self.y is None else self.y[rows],
            groups=groups,
            Q=None if self.Q is None else self.Q[queries],
            weights=None if self.weights is None else self.weights[queries],
            docs=None if self.docs is None else self.docs[rows],
            rows=None,
            texts=None
            if self.texts is None
            else Texts(self.texts.questions[queries], self.texts.answers[rows]),
        )


def dataset(
    X: Any,
    y: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    *,
    group: ArrayLike | None = None,
    query_weight: ArrayLike | None = None,
    query_features: Any = None,
    docs: ArrayLike | None = None,
    features: tuple[str, ...] = (),
    name: str = "data",
) -> Dataset:
    """A `Dataset` from arrays, in any row order.

    Parameters
    ----------
    X : dense array or scipy sparse matrix, one row per document.
    y : one label per row.
    qid : one query identifier per row, integers or text; None is one query of all rows.
    group : sizes of consecutive queries, instead of `qid`.
    query_weight : one weight per query, in order of first appearance.
    query_features : dense array or scipy sparse matrix, one row per query, in order of first appearance.
    docs : one document identifier per row.
    features : names of the columns; by default those of a data frame X.

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.dataset([[1.0], [2.0], [3.0]], [0, 1, 2], ["b", "a", "b"])
    >>> data.groups.qids.tolist(), data.y.tolist()
    (['b', 'a'], [0.0, 2.0, 1.0])
    """
    names = getattr(X, "columns", ())
    if not features and all(isinstance(name, str) for name in names):
        features = tuple(names)
    features_of = require_no_infinity(_matrix(X, name), name)
    n_rows = features_of.shape[0]
    labels = None if y is None else require_finite(as_floats(y, "y"), "y")
    if labels is not None and labels.size != n_rows:
        raise DataError(f"y: {labels.size} labels for {n_rows} rows of X")
    if group is not None and qid is not None:
        raise DataError("qid and group say the same thing: give one of them")
    if group is None:
        groups, rows = Groups.from_qid(qid, n_rows)
    else:
        groups, rows = Groups.from_sizes(group, n_rows), None
    weights = None if query_weight is None else query_weights(query_weight, groups)
    Q = None if query_features is None else _query_matrix(query_features, groups, name)
    identifiers = None if docs is None else np.asarray(docs)
    if identifiers is not None and identifiers.shape != (n_rows,):
        raise DataError(f"docs: {identifiers.shape} identifiers for {n_rows} rows")
    if features and len(features) != features_of.shape[1]:
        raise DataError(f"features: {len(features)} names for {features_of.shape[1]} columns")
    if rows is not None:
        features_of = features_of[rows]
        labels = None if labels is None else labels[rows]
        identifiers = None if identifiers is None else identifiers[rows]
    return Dataset(
        features_of, labels, groups, Q, weights, identifiers, tuple(features), rows, name
    )


def require_no_infinity(X: Any, name: str) -> Any:
    """Refuse infinite features, naming the first one's row and column (counted from 1)."""
    dense = isinstance(X, np.ndarray)
    for start in range(0, X.shape[0], _STEP):
        part = X[start : start + _STEP]
        infinite = np.isinf(part if dense else part.data)
        if infinite.any():
            row, column = np.argwhere(np.isinf(part if dense else part.toarray()))[0]
            raise DataError(
                f"{name}: row {start + row + 1}, feature {column + 1} is infinite;"
                " values must be finite, or NaN where they are missing"
            )
    return X


def query_weights(weights: ArrayLike, groups: Groups) -> Floats:
    """Check weights of queries: one per query, finite, not negative, not all zero."""
    values = require_finite(as_floats(weights, "query_weight"), "query_weight", "query")
    if values.size != groups.n_queries:
        raise DataError(
            f"query_weight: {values.size} weights, but there are {groups.n_queries} queries"
            f" ({groups.n_rows} rows); one per query is needed"
        )
    if values.min() < 0.0 or values.max() == 0.0:
        raise DataError("query_weight: weights must not be negative, and not all zero")
    return values


def _query_matrix(Q: Any, groups: Groups, name: str) -> Any:
    """Query features: one row per query, finite."""
    matrix = require_no_infinity(_matrix(Q, f"{name}: query_features"), f"{name}: query_features")
    if matrix.shape[0] != groups.n_queries:
        raise DataError(
            f"{name}: query_features has {matrix.shape[0]} rows for {groups.n_queries} queries;"
            " give one per query, in order of first appearance"
        )
    return matrix


def _matrix(X: Any, name: str) -> Any:
    from scipy.sparse import csr_array, issparse

    if issparse(X):
        sparse = csr_array(X)
        return sparse if sparse.dtype.name in _FLOATS else sparse.astype(np.float64)
    try:
        dense = np.asarray(X)
        if dense.dtype.name not in _FLOATS:
            dense = dense.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: X holds values that are not numbers ({error})") from None
    if dense.ndim != 2:
        raise DataError(f"{name}: X has shape {dense.shape}; one row per document is needed")
    return dense
