"""Features of queries and of objects, kept apart and mapped into one space by two matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankopt.arrays import Floats, Ints, without_blank_columns
from rankopt.data.dataset import Dataset
from rankopt.errors import DataError, SpecError
from rankopt.scorers.linear import Linear

_LINEAR = Linear()


@dataclass(frozen=True, eq=False)
class Maps:
    """The matrices A of queries and B of objects, views of one flat vector.

    Parameters
    ----------
    A : (d, n_query_features).
    B : (d, n_features).
    """

    A: Floats
    B: Floats

    @classmethod
    def of(cls, params: Floats, data: Dataset, d: int, owner: str) -> Maps:
        """Cut the flat vector; a `DataError` where it is not of the data's width."""
        width = query_matrix(data, owner).shape[1]
        if params.size != d * (width + data.n_features):
            raise DataError(
                f"{data.name}: {params.size} parameters do not fit {width} query features and"
                f" {data.n_features} object features at d={d}"
            )
        cut = d * width
        return cls(params[:cut].reshape(d, -1), params[cut:].reshape(d, data.n_features))

    def queries(self, data: Dataset) -> Floats:
        """A y of every query."""
        return np.asarray(query_matrix(data, "A") @ self.A.T)

    def objects(self, data: Dataset) -> Floats:
        """B z of every row; equal rows get equal values to the last bit."""
        if not isinstance(data.X, np.ndarray):
            return np.asarray(data.X @ self.B.T)
        return np.column_stack([_LINEAR.scores(weights, data) for weights in self.B])


def query_matrix(data: Dataset, owner: str) -> Any:
    """The features of the queries; a `DataError` where there are none."""
    if data.Q is None:
        raise DataError(
            f"{data.name}: {owner} needs features of the queries apart: text (rankopt.read_pairs),"
            " rankopt.dataset(..., query_features=Q), or the estimator's query_columns="
        )
    return data.Q


def random_maps(
    data: Dataset, d: int, scale: float, owner: str, rng: np.random.Generator
) -> Floats:
    """Normal entries under which the coordinates of queries and of objects are of about this scale."""
    parts: list[Floats] = []
    for matrix in (query_matrix(data, owner), data.X):
        typical = np.sqrt(_mean_square_norm(matrix))
        entries = rng.normal(size=d * matrix.shape[1])  # pyright: ignore[reportOptionalSubscript]
        parts.append(entries * (scale / typical if typical > 0.0 else scale))
    return np.concatenate(parts)


def by_maps(data: Dataset, by_queries: Floats, by_objects: Floats, owner: str) -> Floats:
    """The derivative by A and B, flat, from those by the coordinates."""
    Q = query_matrix(data, owner)
    by_a = np.asarray(Q.T @ by_queries).T
    if isinstance(data.X, np.ndarray):
        by_b = np.stack([_LINEAR.pullback(by_objects, data, column) for column in by_objects.T])
    else:
        by_b = np.asarray(data.X.T @ by_objects).T
    return np.concatenate((by_a.ravel(), by_b.ravel()))


def confined_maps(data: Dataset, d: int, owner: str) -> tuple[Dataset, Ints] | None:
    """`Scorer.confined` of the two matrices, flat."""
    Q = query_matrix(data, owner)
    if isinstance(data.X, np.ndarray) or isinstance(Q, np.ndarray):
        return None
    few_q, of_queries = without_blank_columns(Q)
    few_x, of_objects = without_blank_columns(data.X)
    rows = np.arange(d)[:, None]
    by_a = rows * Q.shape[1] + of_queries
    by_b = d * Q.shape[1] + rows * data.n_features + of_objects
    confined = replace(data, X=few_x, Q=few_q, features=())
    return confined, np.concatenate((by_a.ravel(), by_b.ravel()))


def totals(per_row: Floats, data: Dataset) -> Floats:
    """Sums over the rows of each query."""
    return np.add.reduceat(per_row, data.groups.offsets[:-1], axis=0)


def inner(left: Floats, right: Floats) -> Floats:
    """Products of rows, added up coordinate by coordinate so that equal rows give equal sums."""
    out = np.zeros(left.shape[0])
    for a, b in zip(left.T, right.T, strict=True):
        out += a * b
    return out


def check_dimensions(d: int, scale: float, owner: str) -> None:
    """Refuse a dimension or a scale of the start that is not positive."""
    if d != int(d) or d < 1:
        raise SpecError(f"{owner}: d = {d!r} must be a positive whole number")
    if not 0.0 < scale < np.inf:
        raise SpecError(f"{owner}: scale = {scale!r} must be positive and finite")


def _mean_square_norm(matrix: Any) -> float:
    values = matrix if isinstance(matrix, np.ndarray) else matrix.data
    return float(np.square(values, dtype=np.float64).sum()) / matrix.shape[0]
