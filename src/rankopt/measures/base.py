"""Measure: gains per label and discounts per rank of one form. BoundMeasure: it on fixed labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Bools, Floats, Ints
from rankopt.data.groups import Groups
from rankopt.errors import DataError, IncompatibleError, SpecError
from rankopt.kernels import order as order_kernels
from rankopt.measures.forms import AVERAGED, Form
from rankopt.measures.gains import finite_number
from rankopt.spec import format_spec
from rankopt.threads import over_queries

Ties = Literal["pessimistic", "optimistic", "average", "stable", "docid"]
TIES: tuple[Ties, ...] = ("pessimistic", "optimistic", "average", "stable", "docid")


class Norm(Enum):
    """What the raw value of a query is divided by."""

    NONE = "nothing"
    IDEAL = "the value of the rows in order of gain"
    TOTAL = "the sum of the gains"


class Cutoff(Enum):
    """Whether a measure takes a cut-off."""

    NONE = "no"
    OPTIONAL = "may be given"
    REQUIRED = "must be given"


class Measure(ABC):
    """A ranking measure; higher is better. Final subclasses are frozen dataclasses.

    A subclass states its `form`, the gains of labels, the discounts of ranks and their derivative.
    """

    name: ClassVar[str]
    form: ClassVar[Form]
    cutoff: ClassVar[Cutoff] = Cutoff.OPTIONAL

    @abstractmethod
    def gains(self, labels: Floats) -> Floats:
        """The gain of each label."""

    @abstractmethod
    def discounts(self, ranks: Floats) -> Floats:
        """The discount of each rank; ranks count from 1 and may be fractions."""

    @abstractmethod
    def slopes(self, ranks: Floats) -> Floats:
        """The derivative of `discounts`."""

    @abstractmethod
    def domain(self, labels: Floats) -> tuple[Bools, str]:
        """Whether each label has a gain, and in words which labels do."""

    @property
    @abstractmethod
    def norm(self) -> Norm:
        """What the raw value is divided by."""

    @property
    def depth(self) -> int | None:
        """The cut-off, or None."""
        return getattr(self, "k", None)

    @property
    def short_queries(self) -> Literal["keep", "zero", "rows"]:
        """What becomes of a query with fewer rows than the cut-off.

        ``zero``: it counts 0, as in LETOR's NDCG. ``rows``: its value is divided by its share of the
        cut-off, as in XGBoost's precision.
        """
        return "keep"

    def __str__(self) -> str:
        return format_spec(self)

    def __post_init__(self) -> None:
        k = self.depth
        if k is not None and (type(k) is not int or k < 1):
            raise SpecError(f"{self.name}: a cut-off is a whole number from 1, not {k!r}")
        if k is None and self.cutoff is Cutoff.REQUIRED:
            raise SpecError(f"{self.name} needs a cut-off, as in {self.name}@10")
        for field in fields(self):  # pyright: ignore[reportArgumentType]
            value = getattr(self, field.name)
            if isinstance(field.default, float) and not finite_number(value):
                raise SpecError(f"{self.name}: {field.name} is a finite number, not {value!r}")
        self.check()

    def check(self) -> None:
        """Refuse parameters without sense; measures with parameters of their own say how."""

    def bind(
        self,
        y: Floats,
        groups: Groups,
        weights: Floats | None = None,
        *,
        ideal: tuple[Ints, Floats] | None = None,
        rows: Ints | None = None,
    ) -> BoundMeasure:
        """The measure on fixed labels.

        Parameters
        ----------
        weights : one weight per query; None weights all the same.
        ideal : offsets and labels of rows that count in the ideal order of their query although they
            are not ranked, such as judged documents that a run does not list.
        rows : the caller's number of each row, for error messages.
        """
        self.admit(y, groups, rows)
        gains = self.gains(y)
        k = groups.longest if self.depth is None else min(self.depth, groups.longest)
        pool_offsets, pool = groups.offsets, gains
        if ideal is not None and ideal[1].size:
            pool_offsets, pool = self._pool(groups, gains, *ideal)
        longest = int(np.diff(pool_offsets).max())
        table = self.discounts(np.arange(1.0, longest + 1.0))
        if self.depth is not None:
            table[self.depth :] = 0.0
        best = self._ideal(pool_offsets, pool, table)
        if self.norm is Norm.TOTAL:
            norms = np.add.reduceat(pool, pool_offsets[:-1])
        else:
            norms = best.copy() if self.norm is Norm.IDEAL else np.ones_like(best)
        norms[norms == 0.0] = 1.0
        if self.depth is not None and self.short_queries != "keep":
            filled = np.minimum(groups.sizes / self.depth, 1.0)
            norms *= filled if self.short_queries == "rows" else np.where(filled < 1.0, np.inf, 1.0)
        share = np.ones(groups.n_queries) if weights is None else weights / weights.mean()
        return BoundMeasure(self, groups, gains, table, norms, best, share, k)

    def admit(
        self, y: Floats, groups: Groups, rows: Ints | None = None, source: str = "labels"
    ) -> None:
        """Refuse labels outside the domain; `source` is what the error calls the data."""
        fits, words = self.domain(y)
        if fits.all():
            return
        first = int(np.argmin(fits))
        number = (first if rows is None else int(rows[first])) + 1
        query = groups.qids[np.searchsorted(groups.offsets, first, side="right") - 1]
        raise DataError(
            f"{source}: row {number} (query {query}) has label {y[first]:g},"
            f" outside the domain of {self}: {words}"
        )

    def _pool(
        self, groups: Groups, gains: Floats, offsets: Ints, labels: Floats
    ) -> tuple[Ints, Floats]:
        """The gains that count in the ideal: of the ranked rows and of those only judged."""
        if self.form is AVERAGED:
            raise IncompatibleError(f"{self}: cannot count judged rows that are not ranked")
        fits, words = self.domain(labels)
        if not fits.all():
            first = int(np.argmin(fits))
            query = groups.qids[np.searchsorted(offsets, first, side="right") - 1]
            raise DataError(
                f"labels: a judged row of query {query} that is not ranked has label"
                f" {labels[first]:g}, outside the domain of {self}: {words}"
            )
        return _joined(groups.offsets, gains, offsets, self.gains(labels))

    def _ideal(self, offsets: Ints, gains: Floats, table: Floats) -> Floats:
        """The raw value of each query in order of gain: in every form no order is better."""
        rank_offsets = first_ranks(offsets, self.depth if self.form.prefix else None)
        by_rank, out = np.empty(rank_offsets[-1]), np.empty(offsets.size - 1)
        over_queries(order_kernels.best_gains, offsets, gains, rank_offsets, by_rank)
        over_queries(self.form.values, rank_offsets, by_rank, table, out)
        return out


def first_ranks(offsets: Ints, depth: int | None) -> Ints:
    """Offsets of the first `depth` ranks of each query; None takes all."""
    sizes = np.diff(offsets)
    if depth is None or depth >= sizes.max():
        return offsets
    return np.concatenate(([0], np.cumsum(np.minimum(sizes, depth))))


def ranked(
    offsets: Ints, scores: Floats, keys: Floats, gains: Floats, depth: int | None
) -> tuple[Floats, Ints]:
    """Gains of each query in order of (score descending, key ascending), cut at `depth`; offsets."""
    rank_offsets = first_ranks(offsets, depth)
    by_rank = np.empty(rank_offsets[-1])
    over_queries(order_kernels.gains_by_rank, offsets, scores, keys, gains, rank_offsets, by_rank)
    return by_rank, rank_offsets


def ordered(offsets: Ints, scores: Floats, keys: Floats) -> Ints:
    """The rows of each query, counted within it, in order of (score descending, key ascending)."""
    out = np.empty(scores.size, np.int64)
    over_queries(order_kernels.orders, offsets, scores, keys, out)
    return out


@dataclass(frozen=True, eq=False)
class BoundMeasure:
    """A measure on fixed labels: everything a kernel needs, as arrays.

    Parameters
    ----------
    gains : (n_rows,) gains.
    table : discounts of ranks 1, 2, ..., zero past the cut-off.
    norms : (n_queries,) what raw values are divided by; 1 where that is zero, infinite where the
        query counts 0 whatever its order.
    ideal : (n_queries,) raw value in order of gain; a query with 0 is *blank*.
    weights : (n_queries,) weights with mean 1.
    k : how many ranks matter.
    """

    measure: Measure
    groups: Groups
    gains: Floats
    table: Floats
    norms: Floats
    ideal: Floats
    weights: Floats
    k: int

    @property
    def form(self) -> Form:
        return self.measure.form

    @property
    def scales(self) -> Floats:
        """(n_queries,) factor from raw value to weighted value; 0 where no order changes it."""
        return np.where(self.blank, 0.0, self.weights / self.norms)

    @property
    def blank(self) -> Bools:
        """Queries without anything to gain."""
        return self.ideal == 0.0

    def values(
        self, scores: Floats, ties: Ties = "pessimistic", docs: NDArray[Any] | None = None
    ) -> Floats:
        """The value of each query. `docs` are needed for ``ties="docid"``."""
        offsets, out = self.groups.offsets, np.empty(self.groups.n_queries)
        keys = self.tie_keys(ties, docs)
        if ties == "average":
            order = ordered(offsets, scores, keys)
            blocks, by_rank = np.empty_like(order), np.empty_like(scores)
            over_queries(order_kernels.tie_blocks, offsets, scores, order, blocks)
            over_queries(order_kernels.pick, offsets, self.gains, order, by_rank)
            over_queries(self.form.averages, offsets, by_rank, blocks, self.table, out)
        else:
            depth = self.k if self.form.prefix else None
            by_rank, rank_offsets = ranked(offsets, scores, keys, self.gains, depth)
            over_queries(self.form.values, rank_offsets, by_rank, self.table, out)
        return out / self.norms

    def mean(self, scores: Floats, ties: Ties = "pessimistic") -> float:
        """The weighted mean over queries."""
        return float(np.mean(self.weights * self.values(scores, ties)))

    def swaps(self, order: Ints) -> tuple[Floats, Ints]:
        """The change of each query's value by every exchange of two places, and the offsets of pairs."""
        kernel = self.form.need("swaps")
        offsets, by_rank = self.groups.offsets, np.empty_like(self.gains)
        over_queries(order_kernels.pick, offsets, self.gains, order, by_rank)
        pairs = self.groups.sizes * (self.groups.sizes - 1) // 2
        pair_offsets = np.concatenate(([0], np.cumsum(pairs)))
        out = np.empty(pair_offsets[-1])
        over_queries(kernel, offsets, by_rank, self.table, pair_offsets, out)
        return out / np.repeat(self.norms, pairs), pair_offsets

    def slopes(self, order: Ints) -> Floats:
        """The derivative of each query's value by the gain at each place of an order."""
        kernel = self.form.need("slopes")
        offsets, by_rank, out = (
            self.groups.offsets,
            np.empty_like(self.gains),
            np.empty_like(self.gains),
        )
        over_queries(order_kernels.pick, offsets, self.gains, order, by_rank)
        over_queries(kernel, offsets, by_rank, self.table, out)
        return out / self.groups.spread(self.norms)

    def tie_keys(self, ties: Ties, docs: NDArray[Any] | None = None) -> Floats:
        """Per row: among equal scores the lower key comes first."""
        if ties in ("pessimistic", "average"):
            return self.gains
        if ties == "optimistic":
            return -self.gains
        if ties == "stable":
            return np.zeros_like(self.gains)
        if ties != "docid":
            raise SpecError(f"unknown ties {ties!r}; use one of {', '.join(TIES)}")
        if docs is None:
            raise DataError("ties by document identifier need identifiers, and the data has none")
        _, places = np.unique(np.asarray(docs).astype(str), return_inverse=True)
        return -places.astype(np.float64)


def _joined(offsets: Ints, gains: Floats, more: Ints, more_gains: Floats) -> tuple[Ints, Floats]:
    """Two ragged arrays joined query by query."""
    sizes, extra = np.diff(offsets), np.diff(more)
    joined = np.concatenate(([0], np.cumsum(sizes + extra)))
    out = np.empty(joined[-1])
    out[np.arange(gains.size) + np.repeat(joined[:-1] - offsets[:-1], sizes)] = gains
    at = np.arange(more_gains.size) + np.repeat(joined[:-1] + sizes - more[:-1], extra)
    out[at] = more_gains
    return joined, out
