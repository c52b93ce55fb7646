"""Simulated ranking problems with the troubles of real ones: ties, duplicates, constant columns."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Bools, Floats, Ints
from rankopt.data.dataset import Dataset
from rankopt.data.groups import Groups
from rankopt.errors import SpecError
from rankopt.random import as_generator

_STEP = 2048  # rows made together: they stay in a core's cache


@dataclass(frozen=True, slots=True)
class Shape:
    """What a simulated problem looks like.

    Parameters
    ----------
    n_queries, n_features : how many.
    smallest, largest : bounds of the rows per query.
    typical, spread : with a positive spread, the rows per query are log-normal with this median and
        this deviation of the logarithm, within the bounds; else they are uniform between them.
    grades : the shares of rows with the labels 0, 1, 2, ...
    relevant : bounds of the number of rows with label 1 in each query; all others have label 0.
        Replaces `grades`.
    blank : the share of queries whose labels are all 0, besides those that turn out so.
    constant : the share of features that are constant within a query, drawn for each query anew.
    discrete : the share of features with few different values.
    duplicates : the share of rows whose features repeat those of the row before.
    noise : the deviation of what features cannot explain, where that of what they explain is 1.
    interactions : the share of pairs of features in what features explain, as a variance.
    """

    n_queries: int = 200
    n_features: int = 20
    smallest: int = 1
    largest: int = 1000
    typical: float = 20.0
    spread: float = 1.0
    grades: tuple[float, ...] = (0.52, 0.28, 0.13, 0.05, 0.02)
    relevant: tuple[int, int] | None = None
    blank: float = 0.05
    constant: float = 0.1
    discrete: float = 0.2
    duplicates: float = 0.05
    noise: float = 0.5
    interactions: float = 0.2


SHAPES = {
    "mslr_like": Shape(
        2000, 136, smallest=72, largest=120, spread=0.0,
        grades=(0.52, 0.32, 0.13, 0.02, 0.01), blank=0.03, constant=0.14, duplicates=0.01,
    ),
    "yahoo_like": Shape(
        5000, 519, smallest=16, largest=30, spread=0.0,
        grades=(0.26, 0.36, 0.28, 0.08, 0.02), blank=0.02, constant=0.1, duplicates=0.01,
    ),
    "gov_like": Shape(
        50, 64, smallest=1000, largest=1000, spread=0.0,
        relevant=(1, 10), blank=0.0, constant=0.0, duplicates=0.02,
    ),
}  # fmt: skip


def simulate(
    shape: Shape | str | None = None,
    *,
    seed: int | np.random.Generator = 0,
    scale: float = 1.0,
    **changes: Any,
) -> Dataset:
    """Simulate a ranking problem; the same seed gives the same bits.

    A row's usefulness is linear in the features (before some of them are bent or rounded) plus some
    products of two, plus an effect of the query, plus noise. Labels cut it at the quantiles that
    `Shape.grades` asks for.

    Parameters
    ----------
    shape : a `Shape` or the name of one: ``mslr_like``, ``yahoo_like``, ``gov_like``.
    seed : a seed or a generator.
    scale : factor of the number of queries.
    changes : fields of `Shape` to change.

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.simulate(n_queries=50, n_features=8, seed=1)
    >>> data.groups.n_queries, data.n_features, sorted(set(data.y.tolist()))
    (50, 8, [0.0, 1.0, 2.0, 3.0, 4.0])
    """
    shape = _shape(shape, scale, changes)
    rng = as_generator(seed)
    groups = _groups(shape, rng)
    X, signal = _features(shape, groups, rng)
    repeats = rng.random(groups.n_rows) < shape.duplicates
    repeats[groups.offsets[:-1]] = False
    source = np.maximum.accumulate(np.where(repeats, 0, np.arange(groups.n_rows)))
    X[repeats] = X[source[repeats]]
    signal = signal[source]
    deviation = signal.std()
    useful = signal / (deviation if deviation > 0.0 else 1.0)
    useful += shape.noise * rng.standard_normal(groups.n_rows)
    useful += 0.5 * groups.spread(rng.standard_normal(groups.n_queries))
    y = (
        _graded(shape, useful)
        if shape.relevant is None
        else _few(shape.relevant, useful, groups, rng)
    )
    y[groups.spread(rng.random(groups.n_queries) < shape.blank)] = 0.0
    names = tuple(map(str, range(1, shape.n_features + 1)))
    return Dataset(X, y, groups, features=names, name="simulated data")


def _shape(shape: Shape | str | None, scale: float, changes: dict[str, Any]) -> Shape:
    if isinstance(shape, str):
        if shape not in SHAPES:
            raise SpecError(f"shape: {shape!r} is none of {', '.join(SHAPES)}")
        shape = SHAPES[shape]
    known = [field.name for field in fields(Shape)]
    for name in changes:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}"
            raise SpecError(f"simulate: a shape has no {name!r}; {hint}")
    shape = replace(shape or Shape(), **changes)
    n_queries = max(1, round(scale * shape.n_queries))
    if shape.n_features < 1 or not 1 <= shape.smallest <= shape.largest:
        raise SpecError("simulate: at least one feature and 1 <= smallest <= largest are needed")
    return replace(shape, n_queries=n_queries)


def _groups(shape: Shape, rng: np.random.Generator) -> Groups:
    if shape.spread > 0.0:
        drawn = shape.typical * np.exp(shape.spread * rng.standard_normal(shape.n_queries))
        sizes = np.clip(np.rint(drawn), shape.smallest, shape.largest).astype(np.int64)
    else:
        sizes = rng.integers(shape.smallest, shape.largest + 1, shape.n_queries)
    return Groups(np.concatenate(([0], np.cumsum(sizes))), np.arange(1, shape.n_queries + 1))


def _features(
    shape: Shape, groups: Groups, rng: np.random.Generator
) -> tuple[NDArray[np.float32], Floats]:
    """Features, and what they say about the usefulness of each row."""
    width = shape.n_features
    # most features share something with each other, as scores of one text by many formulas do
    loading = rng.uniform(0.0, 0.7, width).astype(np.float32)
    weights = rng.standard_normal(width) * rng.exponential(1.0, width)
    pairs = rng.integers(0, width, (max(1, width // 4), 2))
    pair_weights = rng.standard_normal(len(pairs))
    pair_weights *= np.sqrt(
        shape.interactions / max(1e-9, 1.0 - shape.interactions)
        * (weights**2).sum() / (pair_weights**2).sum()
    )  # fmt: skip
    is_constant: Bools = rng.random((groups.n_queries, width)) < shape.constant
    levels = rng.standard_normal((groups.n_queries, width), dtype=np.float32)
    query = np.repeat(np.arange(groups.n_queries), groups.sizes)
    X = np.empty((groups.n_rows, width), np.float32)
    signal = np.zeros(groups.n_rows)
    for start in range(0, groups.n_rows, _STEP):
        rows = slice(start, start + _STEP)
        common = rng.standard_normal((query[rows].size, 1), dtype=np.float32)
        X[rows] = rng.standard_normal((common.size, width), dtype=np.float32) + common * loading
        np.copyto(X[rows], levels[query[rows]], where=is_constant[query[rows]])
        # column by column: a matrix product would round as its threads split it
        for j, weight in enumerate(weights):
            signal[rows] += weight * X[rows, j]
        for (a, b), weight in zip(pairs.tolist(), pair_weights, strict=True):
            signal[rows] += weight * (X[rows, a] * X[rows, b])
        _bend(X[rows], round(shape.discrete * width))
    return X, signal


def _bend(X: NDArray[np.float32], discrete: int) -> None:
    """Counts in the first columns; of the others, a third heavy-tailed, a third in [0, 1]."""
    counts, rest = X[:, :discrete], X[:, discrete:]
    np.floor(np.exp(np.clip(counts, -5.0, 5.0)), out=counts)
    tail, share = rest[:, ::3], rest[:, 1::3]
    np.exp(tail, out=tail)
    np.divide(1.0, 1.0 + np.exp(-share), out=share)


def _graded(shape: Shape, useful: Floats) -> Floats:
    shares = np.asarray(shape.grades, np.float64)
    if shares.size == 0 or shares.min() < 0.0 or shares.sum() <= 0.0:
        raise SpecError(f"grades: {shape.grades} are no shares of rows")
    cuts = np.quantile(useful, np.cumsum(shares / shares.sum())[:-1])
    return np.searchsorted(cuts, useful, side="left").astype(np.float64)


def _few(
    bounds: tuple[int, int], useful: Floats, groups: Groups, rng: np.random.Generator
) -> Floats:
    """Label 1 for a few rows of each query, the most useful ones."""
    query = np.repeat(np.arange(groups.n_queries), groups.sizes)
    order: Ints = np.lexsort((-useful, query))
    places = np.arange(groups.n_rows) - groups.spread(groups.offsets[:-1])
    few = rng.integers(bounds[0], bounds[1] + 1, groups.n_queries)
    y = np.zeros(groups.n_rows)
    y[order] = places < groups.spread(few)
    return y
