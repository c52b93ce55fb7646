"""Data frames (pandas, polars, pyarrow, through narwhals) and Parquet files."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats, Matrix
from rankopt.data.dataset import Dataset, dataset, query_weights
from rankopt.data.groups import Groups
from rankopt.errors import DataError
from rankopt.extras import library

_NUMERIC_ROLES = ("label", "weight")
_TEXTS = (nw.String, nw.Categorical, nw.Enum, nw.Object)
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")  # what pandas writes besides the columns
_STEP = 1 << 15  # rows copied at a time
_NARROW = {
    "Float16",
    "Float32",
    "Int8",
    "Int16",
    "UInt8",
    "UInt16",
    "Boolean",
}  # float32 holds them


def from_frame(
    frame: Any,
    *,
    label: str | None,
    qid: str | None,
    features: Sequence[str] | None = None,
    docs: str | None = None,
    weight: str | None = None,
    name: str = "frame",
) -> Dataset:
    """A `Dataset` from a pandas or polars frame or a pyarrow table, in any row order.

    X is float32 where float32 holds every feature exactly (float32, booleans, integers of up to
    16 bits), else float64. Missing values of features become NaN; every row needs its label and
    its query.

    Parameters
    ----------
    frame : one row per document.
    label : the column of labels, or None where there are none.
    qid : the column of query identifiers, integers or text, or None where all rows are one query.
    features : the feature columns; by default all that no other parameter names.
    docs : the column of document identifiers.
    weight : a column of query weights; all rows of a query must have the same.
    name : what error messages call the data.

    Examples
    --------
    >>> import rankopt, pandas
    >>> frame = pandas.DataFrame({"grade": [1, 0], "q": ["a", "a"], "bm25": [2.5, 1.0]})
    >>> data = rankopt.from_frame(frame, label="grade", qid="q")
    >>> data.X.tolist(), data.y.tolist(), data.features
    ([[2.5], [1.0]], [1.0, 0.0], ('bm25',))
    """
    try:
        table = nw.from_native(frame, eager_only=True)
        schema = dict(table.schema)
    except nw.exceptions.DuplicateError:
        raise DataError(f"{name}: two columns have the same name") from None
    except TypeError:
        raise DataError(
            f"{name}: {type(frame).__name__} is not a pandas or polars frame or a pyarrow table;"
            " pass arrays to rankopt.dataset, and collect a lazy frame first"
        ) from None
    columns = _Columns.of(schema, label, qid, features, docs, weight, name)
    parts = (table[start : start + _STEP] for start in range(0, table.shape[0], _STEP))
    return _build(parts, table.shape[0], columns, name)


def read_parquet(
    path: str | os.PathLike[str],
    *,
    label: str | None,
    qid: str | None,
    features: Sequence[str] | None = None,
    docs: str | None = None,
    weight: str | None = None,
) -> Dataset:
    """Read a Parquet file, or all ``*.parquet`` files of a folder in the order of their names.

    Only the columns asked for are read, a few thousand rows at a time. The parameters are those of
    `from_frame`. Needs pyarrow (``pip install 'rankopt[parquet]'``).

    Examples
    --------
    >>> import rankopt, pandas, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "train.parquet"
    >>> pandas.DataFrame({"grade": [1, 0], "q": [7, 7], "bm25": [2.5, 1.0]}).to_parquet(path)
    >>> rankopt.read_parquet(path, label="grade", qid="q").groups.qids.tolist()
    [7]
    """
    library("pyarrow", "reading Parquet", "rankopt[parquet]")
    import pyarrow
    from pyarrow import parquet

    name = os.fspath(path)
    folder = Path(path)
    paths = sorted(folder.glob("*.parquet")) if folder.is_dir() else [folder]
    if not paths:
        raise DataError(f"{name}: the folder has no *.parquet file")
    try:
        files = [parquet.ParquetFile(one) for one in paths]
        empty = nw.from_native(files[0].schema_arrow.empty_table(), eager_only=True)
        columns = _Columns.of(dict(empty.schema), label, qid, features, docs, weight, name)
        n_rows = sum(file.metadata.num_rows for file in files)
        return _build(_batches(files, columns), n_rows, columns, name)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{name}: cannot be read as Parquet ({error})") from None


def _batches(files: Iterable[Any], columns: _Columns) -> Iterator[Any]:
    import pyarrow

    for file in files:
        for batch in file.iter_batches(_STEP, columns=columns.all):
            yield nw.from_native(pyarrow.Table.from_batches([batch]), eager_only=True)


@dataclass(frozen=True, slots=True)
class _Columns:
    """Which column is what."""

    label: str | None
    qid: str | None
    docs: str | None
    weight: str | None
    features: list[str]
    dtype: type[np.floating[Any]]

    @property
    def all(self) -> list[str]:
        others = (self.label, self.qid, self.docs, self.weight)
        return [*self.features, *(column for column in others if column is not None)]

    @classmethod
    def of(
        cls,
        schema: dict[str, Any],
        label: str | None,
        qid: str | None,
        features: Sequence[str] | None,
        docs: str | None,
        weight: str | None,
        name: str,
    ) -> _Columns:
        roles = {"label": label, "qid": qid, "docs": docs, "weight": weight}
        named = {role: column for role, column in roles.items() if column is not None}
        taken = set(named.values())
        free = [c for c in schema if c not in taken and not _PANDAS_INDEX.fullmatch(str(c))]
        chosen = free if features is None else list(features)
        for role, column in [*named.items(), *(("features", column) for column in chosen)]:
            if column not in schema:
                present = list(map(str, schema))  # pandas names columns by anything
                near = difflib.get_close_matches(str(column), present, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"it has {_some(present)}"
                raise DataError(f"{name}: no column {column!r} ({role}=); {hint}")
        repeated = sorted({c for c in chosen if chosen.count(c) > 1 or c in taken})
        if repeated:
            raise DataError(f"{name}: column {repeated[0]!r} is named twice")
        for column in chosen:
            if not _is_numeric(schema[column]):
                raise DataError(
                    f"{name}: feature {column!r} is of type {schema[column]}, not numbers;"
                    " encode it, or name the feature columns by features="
                )
        for role, column in named.items():
            kind = schema[column]
            numbers = role in _NUMERIC_ROLES
            if not _is_numeric(kind) and (numbers or kind not in _TEXTS):
                needed = "numbers" if numbers else "integers or text"
                raise DataError(f"{name}: {column!r} is of type {kind}, but {role}= needs {needed}")
        narrow = bool(chosen) and all(str(schema[column]) in _NARROW for column in chosen)
        return cls(label, qid, docs, weight, chosen, np.float32 if narrow else np.float64)


def _some(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:8]))
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"


def _build(parts: Iterable[Any], n_rows: int, columns: _Columns, name: str) -> Dataset:
    if n_rows == 0:
        raise DataError(f"{name}: no rows")
    X = cast(Matrix, np.empty((n_rows, len(columns.features)), columns.dtype))
    pieces: dict[str, list[NDArray[Any]]] = {"label": [], "qid": [], "docs": [], "weight": []}
    start = 0
    for part in parts:
        stop = start + part.shape[0]
        for j, column in enumerate(columns.features):
            X[start:stop, j] = _numbers(part[column])
        for role, piece in pieces.items():
            column = getattr(columns, role)
            if column is not None:
                values = _numbers if role in _NUMERIC_ROLES else _words
                piece.append(values(_present(part[column], start, f"{name}: {column}", role)))
        start = stop
    whole = {role: np.concatenate(piece) for role, piece in pieces.items() if piece}
    data = dataset(
        X, whole.get("label"), whole.get("qid"), docs=whole.get("docs"),
        features=tuple(map(str, columns.features)), name=name,
    )  # fmt: skip
    if "weight" not in whole:
        return data
    return replace(data, weights=_per_query(data.stored(whole["weight"]), data.groups, name))


def _present(series: Any, start: int, name: str, role: str) -> Any:
    """The column itself; a `DataError` where a row has nothing there."""
    missing = series.is_null()
    if series.dtype.is_float():
        missing = missing | series.is_nan().fill_null(True)
    if missing.any():
        row = start + int(np.argmax(missing.to_numpy())) + 1
        raise DataError(f"{name}: row {row} has no value; {role}= needs one in every row")
    return series


def _numbers(series: Any) -> NDArray[Any]:
    if series.dtype in (nw.Float32, nw.Float64) and not series.is_null().any():
        return series.to_numpy()
    return series.cast(nw.Float64).fill_null(np.nan).to_numpy()


def _words(series: Any) -> NDArray[Any]:
    return series.to_numpy() if _is_numeric(series.dtype) else np.array(series.to_list())


def _is_numeric(kind: Any) -> bool:
    return kind.is_numeric() or kind == nw.Boolean


def _per_query(per_row: Floats, groups: Groups, name: str) -> Floats:
    per_query = per_row[groups.offsets[:-1]]
    differs = groups.spread(per_query) != per_row
    if differs.any():
        query = int(np.searchsorted(groups.offsets, np.argmax(differs), side="right")) - 1
        raise DataError(f"{name}: query {groups.qids[query]} has rows of different weights")
    return query_weights(per_query, groups)
