"""Inputs: what becomes of data as the caller gives it before a scorer sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankopt.data.dataset import Dataset
from rankopt.data.text import Vocabulary
from rankopt.errors import DataError, SpecError


@dataclass(frozen=True, eq=False)
class Inputs:
    """How features of queries and of objects come about; by default they are as given.

    Parameters
    ----------
    query_columns : columns of X, ascending, that describe the query and become Q.
    vocabulary : what turns text into features, or None.
    """

    query_columns: tuple[int, ...] = ()
    vocabulary: Vocabulary | None = None

    def apply(self, data: Dataset) -> Dataset:
        """The data as a scorer takes it."""
        if self.vocabulary is not None:
            return self.vocabulary.apply(data)
        if data.texts is not None:
            raise DataError(
                f"{data.name}: holds text, but the model takes features; text is for FunctionalRank:"
                " `rankopt train functional FILE --text`"
            )
        return separated(data, self.query_columns) if self.query_columns else data

    def notes(self) -> dict[str, int]:
        """What there is to tell of the vocabularies."""
        if self.vocabulary is None:
            return {}
        answers, questions = self.vocabulary.widths
        return {"words_of_questions": questions, "words_of_answers": answers}

    def widths(self, n_features: int, n_query_features: int) -> tuple[int, int]:
        """Numbers of features of objects and queries that a scorer sees, from those given."""
        if self.vocabulary is not None:
            return self.vocabulary.widths
        if self.query_columns:
            return n_features - len(self.query_columns), len(self.query_columns)
        return n_features, n_query_features


def separated(data: Dataset, columns: tuple[int, ...]) -> Dataset:
    """The data with some columns of X as features of the queries.

    A column that differs between rows of a query is no feature of the query: a `DataError`.
    """
    if data.Q is not None:
        raise DataError(f"{data.name}: has query features already; leave query_columns out")
    taken = np.array(columns)
    if taken[-1] >= data.n_features:
        raise DataError(
            f"{data.name}: query_columns: there is no column {taken[-1]} among {data.n_features}"
        )
    kept = np.setdiff1d(np.arange(data.n_features), taken)
    X: Any = data.X
    first, part = data.groups.offsets[:-1], X[:, taken]
    Q = part[first]
    for number, column in enumerate(columns):
        values = _column(part, number)
        differs = values != data.groups.spread(values[first])
        if differs.any():
            row = int(np.argmax(differs))
            query = data.groups.qids[np.searchsorted(data.groups.offsets, row, side="right") - 1]
            name = data.features[column] if data.features else str(column)
            raise DataError(
                f"{data.name}: query column {name} varies within query {query}; columns of a query are"
                " the same in all of its rows"
            )
    names = tuple(data.features[c] for c in kept) if data.features else ()
    return replace(data, X=X[:, kept], Q=Q, features=names)


def resolved(columns: Sequence[int | str] | None, data: Dataset) -> tuple[int, ...]:
    """Columns by number, from 0, or by name, as ascending numbers."""
    if columns is None:
        return ()
    if isinstance(columns, str):
        columns = (columns,)
    places = {name: number for number, name in enumerate(data.features)}
    out: set[int] = set()
    for column in columns:
        if isinstance(column, str):
            if column not in places:
                raise SpecError(f"query_columns: no feature is named {column!r}")
            out.add(places[column])
        elif 0 <= int(column) < data.n_features and column == int(column):
            out.add(int(column))
        else:
            raise SpecError(
                f"query_columns: there is no column {column!r}; X has 0 .. {data.n_features - 1}"
            )
    if not out or len(out) == data.n_features:
        raise SpecError("query_columns: some columns must be of the query, and some of the object")
    return tuple(sorted(out))


def _column(part: Any, number: int) -> Any:
    column = part[:, [number]]
    return (column if isinstance(column, np.ndarray) else column.toarray()).ravel()
