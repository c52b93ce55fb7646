"""Features to LETOR text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Ints
from rankopt.data.dataset import Dataset
from rankopt.errors import DataError
from rankopt.kernels import format as kernels


def feature_ids(data: Dataset) -> Ints:
    """The names of the features where these are ascending integers, else 1, 2, 3, ..."""
    if data.features and all(name.isascii() and name.isdigit() for name in data.features):
        ids = np.array([int(name) for name in data.features])
        if ids[-1] < 2**31 and np.all(np.diff(ids) > 0):
            return ids
    return np.arange(1, data.n_features + 1)


def feature_texts(data: Dataset, ids: Ints, start: int, stop: int) -> Iterator[str]:
    """`` <id>:<value> <id>:<value> ...`` for each of some rows."""
    stops, columns, values = _entries(data, start, stop)
    mantissas, decimals = np.empty(values.size, np.int64), np.empty(values.size, np.int64)
    kernels.count_decimals(values, mantissas, decimals)
    infinite = np.flatnonzero(decimals == kernels.INFINITE)
    if infinite.size:
        row = int(np.searchsorted(stops, infinite[0], side="right"))
        raise DataError(f"{data.name}: row {start + row + 1} has an infinite feature")
    left = np.flatnonzero(decimals < 0)
    words = ["NaN" if value != value else str(value) for value in values[left]]
    texts = np.array(words or [""], dtype="S32")
    out = np.empty(values.size * kernels.WIDEST, np.uint8)
    ends = np.empty(stops.size, np.int64)
    kernels.write_features(
        stops, ids[columns], values, mantissas, decimals,
        texts.view(np.uint8).reshape(-1, 32), np.char.str_len(texts), out, ends,
    )  # fmt: skip
    text = out[: ends[-1]].tobytes().decode("ascii")
    begin = 0
    for end in ends.tolist():
        yield text[begin:end]
        begin = end


def _entries(data: Dataset, start: int, stop: int) -> tuple[Ints, Ints, NDArray[Any]]:
    """End of the entries of each row, and column and value of each entry."""
    if isinstance(data.X, np.ndarray):
        rows = np.ascontiguousarray(data.X[start:stop])
        width = rows.shape[1]
        columns = np.tile(np.arange(width), rows.shape[0])
        return np.arange(1, rows.shape[0] + 1) * width, columns, rows.reshape(-1)
    sparse = cast(Any, data.X)[start:stop]
    return sparse.indptr[1:].astype(np.int64), sparse.indices.astype(np.int64), sparse.data
