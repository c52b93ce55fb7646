"""Splits of a dataset by query: no query is ever cut."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankopt.arrays import Ints
from rankopt.data.dataset import Dataset
from rankopt.errors import DataError, SpecError
from rankopt.random import as_generator

Seed = int | np.random.Generator


def holdout(data: Dataset, fraction: float = 0.2, rng: Seed = 0) -> tuple[Dataset, Dataset]:
    """Split off a share of the queries: the larger part first, then the part held out.

    Both keep the order of the queries. The same seed gives the same split.

    Parameters
    ----------
    data : at least two queries.
    fraction : the share of the queries to hold out; at least one is held out and one kept.
    rng : a seed or a generator.

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.dataset([[0.0]] * 6, qid=[1, 1, 2, 3, 3, 4])
    >>> kept, held = rankopt.holdout(data, 0.25, rng=0)
    >>> kept.groups.n_queries, held.groups.n_queries
    (3, 1)
    """
    if not 0.0 < fraction < 1.0:
        raise SpecError(f"fraction: {fraction} is not between 0 and 1")
    _require_queries(data, 2, "a holdout")
    shuffled = as_generator(rng).permutation(data.groups.n_queries)
    held = min(max(round(fraction * shuffled.size), 1), shuffled.size - 1)
    return data.take(np.sort(shuffled[held:])), data.take(np.sort(shuffled[:held]))


def folds(data: Dataset, n: int = 5, rng: Seed = 0) -> Iterator[tuple[Dataset, Dataset]]:
    """Split into n folds of equally many queries (to one): each in turn is left out.

    Yields the rest, then the fold. Every query is in exactly one fold.

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.dataset([[0.0]] * 6, qid=[1, 1, 2, 3, 3, 4])
    >>> [(rest.groups.n_queries, fold.groups.n_queries) for rest, fold in rankopt.folds(data, 2)]
    [(2, 2), (2, 2)]
    """
    for rest, fold in fold_queries(data, n, rng):
        yield data.take(rest), data.take(fold)


def fold_queries(data: Dataset, n: int = 5, rng: Seed = 0) -> list[tuple[Ints, Ints]]:
    """`folds` as ascending query numbers: of the rest, and of the fold."""
    if n < 2:
        raise SpecError(f"n: {n} folds are too few; at least 2 are needed")
    _require_queries(data, n, f"{n} folds")
    shuffled = as_generator(rng).permutation(data.groups.n_queries)
    parts = np.array_split(shuffled, n)
    return [
        (np.sort(np.concatenate(parts[:i] + parts[i + 1 :])), np.sort(part))
        for i, part in enumerate(parts)
    ]


def _require_queries(data: Dataset, n: int, what: str) -> None:
    if data.groups.n_queries < n:
        raise DataError(
            f"{data.name}: {data.groups.n_queries} queries are too few for {what}:"
            " the rows of one stay together"
        )
