"""FixedPoint: a bound measure as int64 arithmetic, which is what the exact line search adds up."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.groups import Groups
from rankopt.errors import IncompatibleError
from rankopt.kernels import codes
from rankopt.kernels.shares import totals
from rankopt.measures.base import BoundMeasure
from rankopt.threads import over_queries

_STOPS = 128.0  # -log2(1 - g) of a row at which everyone stops: 2^-128 is nothing in fixed point
_LOAD_BITS = 36
_ROOM = 64


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """A measure on fixed labels as integers; kernels/shares.py says what they mean.

    Parameters
    ----------
    offsets : of the queries.
    gains, loads : per row.
    bases : per query, the gain of the rows that the search may leave out: the most frequent one.
    scales : per query, 2^bits * weight / norm; 0 where no order changes the value.
    table, k : discounts by place, and how many places matter.
    unit : what a load of 1 stands for.
    one : the total that stands for a mean of 1.
    """

    form: int
    offsets: Ints
    gains: Floats
    loads: Ints
    bases: Floats
    scales: Floats
    table: Floats
    k: int
    unit: float
    one: float
    base_rows: Ints
    drops: Ints

    @classmethod
    def of(cls, bound: BoundMeasure) -> FixedPoint:
        """The fixed point of a bound measure of one of the four forms."""
        if bound.form.code > codes.CONCORDANCE:
            raise IncompatibleError(
                f"{bound.measure} is a measure of the {bound.form.name} form, along which no exact"
                " search is known; positional, cascade, cumulative and concordance measures have one"
            )
        return cls.build(
            bound.form.code, bound.groups.offsets, bound.gains, bound.table, bound.k, bound.scales
        )

    @classmethod
    def build(
        cls, form: int, offsets: Ints, gains: Floats, table: Floats, k: int, scales: Floats
    ) -> FixedPoint:
        """The fixed point of a measure given as arrays; `scales` are weights divided by norms."""
        loads, unit = _loads(form, offsets, gains)
        bound = _bound(form, offsets, gains, table, k, scales)
        most = 60 if form == codes.CONCORDANCE else 52
        bits = most if bound == 0.0 else min(most, int(np.floor(60.0 - np.log2(bound))))
        counted = form in (codes.CASCADE, codes.CUMULATIVE)
        bases = np.zeros(offsets.size - 1) if counted else _most_frequent(offsets, gains)
        one = 2.0**bits * (offsets.size - 1)
        fixed = scales * 2.0**bits
        base_rows, drops = np.zeros(bases.size, np.int64), np.zeros(0, np.int64)
        if form == codes.POSITIONAL:
            loads, base_rows, drops = _drops(offsets, gains, bases, fixed, table, k)
        return cls(form, offsets, gains, loads, bases, fixed, table, k, unit, one, base_rows, drops)

    @property
    def rules(self) -> tuple[Floats, Floats, int, int, float]:
        """The arguments that kernels take together: scales, table, k, form, unit."""
        return self.scales, self.table, self.k, self.form, self.unit

    def take(self, queries: Ints) -> tuple[FixedPoint, Ints]:
        """The measure as the mean over some queries, and the rows they hold."""
        every = Groups(self.offsets, np.arange(self.offsets.size - 1))
        groups, rows = every.take(queries)
        part = replace(
            self,
            offsets=groups.offsets,
            gains=self.gains[rows],
            loads=self.loads[rows],
            bases=self.bases[queries],
            scales=self.scales[queries],
            one=self.one / (self.offsets.size - 1) * queries.size,
            base_rows=self.base_rows[queries],
        )
        return part, rows

    def total(self, scores: Floats) -> int:
        """The exact total of a scoring: score descending, among equal scores gain ascending."""
        out = np.empty(self.offsets.size - 1, np.int64)
        over_queries(totals, self.offsets, scores, self.gains, self.loads, *self.rules, out)
        return int(out.sum())

    def value(self, total: int) -> float:
        """The mean over queries that a total stands for."""
        return float(total / self.one)


def _loads(form: int, offsets: Ints, gains: Floats) -> tuple[Ints, float]:
    if form == codes.CASCADE:
        with np.errstate(divide="ignore"):
            loads = np.minimum(-np.log2(np.maximum(1.0 - gains, 0.0)), _STOPS)
    elif form == codes.CUMULATIVE:
        loads = gains
        if np.all(gains == np.floor(gains)):
            return gains.astype(np.int64), 1.0
    else:
        return np.zeros(gains.size, np.int64), 1.0
    most = float(np.add.reduceat(np.abs(loads), offsets[:-1]).max())
    bits = _LOAD_BITS if most == 0.0 else min(_LOAD_BITS, int(np.floor(61.0 - np.log2(most))))
    return np.rint(loads * 2.0**bits).astype(np.int64), 2.0**-bits


def _bound(form: int, offsets: Ints, gains: Floats, table: Floats, k: int, scales: Floats) -> float:
    """More than the absolute total can ever be, for scales without the factor 2^bits."""
    sizes = np.diff(offsets)
    if form == codes.CONCORDANCE:
        return float(np.sum(scales * sizes * (sizes - 1)) / 2.0)
    size = np.abs(gains)
    largest = np.maximum.reduceat(size, offsets[:-1])
    if form == codes.CUMULATIVE:
        largest = largest * np.add.reduceat(size, offsets[:-1])
    discounts = np.concatenate(([0.0], np.cumsum(np.abs(table[:k]))))
    return float(np.sum(scales * largest * discounts[np.minimum(sizes, k)]))


def _most_frequent(offsets: Ints, gains: Floats) -> Floats:
    """The most frequent gain of each query; the lowest of several."""
    query = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    order = np.lexsort((gains, query))
    q, g = query[order], gains[order]
    heads = np.flatnonzero(np.concatenate(([True], (q[1:] != q[:-1]) | (g[1:] != g[:-1]))))
    counts = np.diff(np.append(heads, q.size))
    first = np.lexsort((g[heads], -counts, q[heads]))
    return g[heads][first][np.concatenate(([True], np.diff(q[heads][first]) > 0))]


def _drops(
    offsets: Ints, gains: Floats, bases: Floats, scales: Floats, table: Floats, k: int
) -> tuple[Ints, Ints, Ints]:
    """For each gain of each query, what a row loses from place to place, less what a base row loses.

    Returns the position of each row's drops, of each query's base row's, and the drops. There are none
    where real-valued gains over long lists would make them too many.
    """
    sizes = np.diff(offsets)
    query = np.repeat(np.arange(sizes.size), sizes)
    order = np.lexsort((gains, query))
    q, g = query[order], gains[order]
    head = np.concatenate(([True], (q[1:] != q[:-1]) | (g[1:] != g[:-1])))
    q, g = q[head], g[head]
    depths = np.minimum(sizes, k)
    lengths = depths[q] + 1
    if lengths.sum() > _ROOM * gains.size:
        nothing = np.zeros(0, np.int64)
        return np.zeros(gains.size, np.int64), np.zeros(sizes.size, np.int64), nothing
    starts = np.cumsum(lengths) - lengths
    rows = np.empty(gains.size, np.int64)
    rows[order] = starts[np.cumsum(head) - 1]
    place = np.arange(lengths.sum()) - np.repeat(starts, lengths)
    discounts = np.repeat(scales[q], lengths) * np.append(table[:k], 0.0)[place]
    discounts[starts + lengths - 1] = 0.0
    shares = np.rint(np.repeat(g, lengths) * discounts).astype(np.int64)
    shares -= np.rint(np.repeat(bases[q], lengths) * discounts).astype(np.int64)
    drops = shares - np.append(shares[1:], 0)
    drops[starts + lengths - 1] = 0
    return rows, starts[g == bases[q]], drops
