"""Groups: which rows belong to which query, as offsets into contiguous rows."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankopt.arrays import Floats, Ints, as_ints
from rankopt.errors import DataError


@dataclass(frozen=True, eq=False, slots=True)
class Groups:
    """Rows of query q are ``offsets[q]:offsets[q + 1]``; the rows of one query are contiguous.

    Parameters
    ----------
    offsets : int64, n_queries + 1 values from 0, strictly increasing.
    qids : one identifier per query, as the caller wrote it.
    """

    offsets: Ints
    qids: NDArray[Any]

    @classmethod
    def from_qid(cls, qid: ArrayLike | None, n_rows: int) -> tuple[Groups, Ints | None]:
        """Groups in order of first appearance, and the stable row permutation that makes them
        contiguous (None where the rows already are). ``qid=None`` is one query of all rows.

        >>> groups, rows = Groups.from_qid(["b", "a", "b"], 3)
        >>> groups.qids.tolist(), groups.sizes.tolist(), rows.tolist()
        (['b', 'a'], [2, 1], [0, 2, 1])
        """
        if n_rows == 0:
            raise DataError("no rows: a ranking problem needs at least one")
        if qid is None:
            return cls(np.array([0, n_rows]), np.array([0])), None
        ids = np.asarray(qid)
        if ids.ndim != 1 or ids.size != n_rows:
            raise DataError(f"qid: {ids.shape} values for {n_rows} rows; one per row is needed")
        ids = _plain(ids)
        heads = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
        return cls.from_runs(ids[heads], np.diff(np.append(heads, n_rows)))

    @classmethod
    def from_runs(cls, ids: ArrayLike, lengths: Ints) -> tuple[Groups, Ints | None]:
        """As `from_qid`, from runs of consecutive rows of one query: its identifier and its rows.

        >>> groups, rows = Groups.from_runs(["b", "a", "b"], [1, 2, 1])
        >>> groups.qids.tolist(), groups.sizes.tolist(), rows.tolist()
        (['b', 'a'], [2, 2], [0, 3, 1, 2])
        """
        ids = _plain(np.asarray(ids))
        lengths = np.asarray(lengths, dtype=np.int64)
        _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
        if first.size == ids.size:
            return cls(np.concatenate(([0], np.cumsum(lengths))), ids), None
        appearance = np.empty(first.size, np.int64)  # rank of each distinct id by first appearance
        appearance[np.argsort(first)] = np.arange(first.size)
        query = np.repeat(appearance[inverse], lengths)
        offsets = np.concatenate(([0], np.cumsum(np.bincount(query)))).astype(np.int64)
        groups = cls(offsets, ids[np.sort(first)])
        if np.all(query[1:] >= query[:-1]):
            return groups, None
        return groups, np.argsort(query, kind="stable").astype(np.int64)

    @classmethod
    def from_sizes(cls, sizes: ArrayLike, n_rows: int | None = None) -> Groups:
        """Groups of consecutive rows of the given sizes, as LightGBM's and XGBoost's ``group``."""
        counts = as_ints(sizes, "group")
        if counts.size == 0 or counts.min() < 1:
            raise DataError("group: sizes must be positive")
        if n_rows is not None and counts.sum() != n_rows:
            raise DataError(f"group: sizes add up to {counts.sum()}, but there are {n_rows} rows")
        return cls(np.concatenate(([0], np.cumsum(counts))), np.arange(counts.size))

    @property
    def n_queries(self) -> int:
        return self.offsets.size - 1

    @property
    def n_rows(self) -> int:
        return int(self.offsets[-1])

    @property
    def sizes(self) -> Ints:
        return np.diff(self.offsets)

    @property
    def longest(self) -> int:
        return int(self.sizes.max())

    def spread(self, per_query: NDArray[Any]) -> NDArray[Any]:
        """One value per query to one per row; several, as rows of a matrix."""
        return np.repeat(per_query, self.sizes, axis=0)

    def total(self, per_row: Floats) -> Floats:
        """Sums of a per-row value over each query."""
        return np.add.reduceat(per_row, self.offsets[:-1])

    def take(self, queries: Ints) -> tuple[Groups, Ints]:
        """The groups of some queries, in the order asked for, and the rows they hold."""
        sizes = self.sizes[queries]
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[queries] - offsets[:-1], sizes)
        return Groups(offsets, self.qids[queries]), rows


def _plain(ids: NDArray[Any]) -> NDArray[Any]:
    """Identifiers as integers or text; anything else is refused."""
    if ids.dtype.kind == "f":
        if not np.all(np.isfinite(ids)) or not np.all(ids == np.floor(ids)):
            raise DataError(
                "qid: identifiers must be whole numbers or text, without missing values"
            )
        return ids.astype(np.int64)
    if ids.dtype.kind == "O":
        values = ids.tolist()
        for row, value in enumerate(values, 1):
            if not isinstance(value, (str, bytes, Real)) or value != value:
                raise DataError(
                    f"qid: row {row} is {value!r}; identifiers must be integers or text"
                )
        some_text = any(isinstance(value, str) for value in values)
        return _plain(np.array(list(map(str, values)) if some_text else values))
    if ids.dtype.kind not in "iubUST":
        raise DataError(
            f"qid: identifiers of type {ids.dtype} are not supported; use integers or text"
        )
    return ids
