"""Rows of LETOR text as they are read: a dense matrix that grows, and lists of the rest."""

from __future__ import annotations

import os
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats, Ints, Matrix
from rankopt.data.chunks import Chunk, Rules
from rankopt.data.dataset import Dataset
from rankopt.data.files import reading
from rankopt.data.groups import Groups
from rankopt.errors import DataError
from rankopt.kernels.parse import spread_rows


class Rows:
    """Collects the rows of a file; `dataset` closes it."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        rules: Rules,
        first_id: int | None,
        n_features: int | None,
    ) -> None:
        self.path = path
        self.fill = rules.dtype.type(rules.missing)
        self.first = 1 if first_id is None else first_id
        self.first_is_given = first_id is not None
        self.highest = -1
        self.n_features = n_features
        self.n_rows = 0
        self.matrix = cast(Matrix, np.empty((0, n_features or 0), rules.dtype))
        self.labels: list[Floats] = []
        self.lengths: list[Ints] = []
        self.qids: list[bytes] = []
        self.docs: list[NDArray[np.bytes_]] = []
        self.with_docs = False

    def add(self, chunk: Chunk) -> None:
        """Append the rows of a chunk; nothing of its block and its entries is kept."""
        stop = self.n_rows + chunk.labels.size
        first = self.first
        if chunk.lowest is not None and chunk.highest is not None:
            first = first if self.first_is_given else min(first, chunk.lowest)
            self.highest = max(self.highest, chunk.highest)
        width = self.n_features or max(self.highest - first + 1, 0)
        if self.highest - first + 1 > width:
            raise DataError(
                f"{self.path}: feature ids run from {first} to {self.highest}:"
                f" more than n_features={width}"
            )
        if stop > self.matrix.shape[0] or first != self.first or width != self.matrix.shape[1]:
            self._make_room(stop, first, width, chunk.block.progress)
        spread_rows(
            chunk.stops, chunk.entries.columns, chunk.entries.values, first, self.fill,
            self.matrix[self.n_rows : stop],
        )  # fmt: skip
        self.n_rows = stop
        self.labels.append(chunk.labels)
        self.lengths.append(chunk.lengths)
        self.qids += chunk.qids
        self.with_docs = self.with_docs or chunk.docs is not None
        self.docs.append(np.zeros(chunk.labels.size, "S1") if chunk.docs is None else chunk.docs)

    def _make_room(self, rows: int, first: int, width: int, progress: float) -> None:
        """A larger matrix: for all rows, as far as the share of the file read so far tells."""
        capacity = self.matrix.shape[0]
        left = self.first - first
        # where n_features is given, a step to id 0 pushes out the last column: it holds no value
        kept = min(self.matrix.shape[1], width - left)
        if rows > capacity:
            growth = 1.5 if progress == 0.0 else 1.05 / progress
            capacity = rows if progress >= 1.0 else int(rows * growth) + 1
            if left == 0 and kept == width:
                self.matrix.resize((capacity, width), refcheck=False)  # mostly without a copy
                return
        matrix = np.empty((capacity, width), self.matrix.dtype)
        matrix[: self.n_rows, :left] = self.fill
        matrix[: self.n_rows, left : left + kept] = self.matrix[: self.n_rows, :kept]
        matrix[: self.n_rows, left + kept :] = self.fill
        self.matrix, self.first = cast(Matrix, matrix), first

    def dataset(self, group: Any) -> Dataset:
        """All rows, those of one query brought together."""
        # the few rows of room left over were never touched: they take no memory
        kept = self.matrix[: self.n_rows]
        y = np.concatenate(self.labels)
        docs = None
        if self.with_docs:
            docs = decoded(np.concatenate(self.docs), f"{self.path}: document identifier")
        if group is None:
            qids = identifiers(self.qids, f"{self.path}: qid")
            groups, rows = Groups.from_runs(qids, np.concatenate(self.lengths))
        else:
            groups, rows = _sized(group, self.n_rows), None
        X: Matrix = kept if rows is None else kept[rows]
        if rows is not None:
            y = y[rows]
            docs = None if docs is None else docs[rows]
        features = tuple(map(str, range(self.first, self.first + X.shape[1])))
        name = os.fspath(self.path)
        return Dataset(X, y, groups, docs=docs, features=features, rows=rows, name=name)


def _sized(group: Any, n_rows: int) -> Groups:
    """Groups from the sizes of queries, or from a file of them."""
    if not isinstance(group, (str, os.PathLike)):
        return Groups.from_sizes(group, n_rows)
    with reading(cast("str | os.PathLike[str]", group)) as source:
        words = source.stream.read().split()
    sizes: list[int] = []
    for number, word in enumerate(words, 1):
        if not word.isdigit():
            shown = word.decode("utf-8", "replace")[:40]
            raise DataError(f"{group}: entry {number}, {shown!r}, is not the size of a query")
        sizes.append(int(word))
    try:
        return Groups.from_sizes(sizes, n_rows)
    except DataError as error:
        raise DataError(f"{group}: {error}") from None


def identifiers(tokens: list[bytes], name: str) -> NDArray[Any]:
    """Identifiers as int64 where every one is written like an integer, else as text."""
    written = np.array(tokens, dtype=np.bytes_)
    try:
        numbers = written.astype(np.int64)
    except (ValueError, OverflowError):
        return decoded(written, name)
    # "007" and "+7" are text: as numbers they would not be what the caller wrote
    if np.array_equal(numbers.astype(np.bytes_), written):
        return numbers
    return decoded(written, name)


def decoded(written: NDArray[np.bytes_], name: str) -> NDArray[np.str_]:
    """Bytes as text."""
    try:
        return written.astype(np.str_)  # quick, and for ASCII alone
    except UnicodeDecodeError:
        pass
    try:
        return np.char.decode(written, "utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: {error.object[:40]!r} is not UTF-8; convert the file") from None
