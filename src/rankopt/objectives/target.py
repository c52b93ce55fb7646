"""Target: a measure on fixed labels, as the losses made of it use it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankopt.arrays import Bools, Floats, Ints
from rankopt.data.groups import Groups
from rankopt.measures import BoundMeasure, Measure
from rankopt.measures.forms import CONCORDANCE


@dataclass(frozen=True, eq=False)
class Target:
    r"""What a loss is made of: :math:`\frac{1}{n} \sum_q (\mathrm{rest}_q - \mathrm{scale}_q \, v_q)`.

    Parameters
    ----------
    measure : the measure.
    groups, gains, table, k : as in `BoundMeasure`.
    scales : (n_queries,) from raw value :math:`v_q` to weighted value; 0 where no order changes it.
    rest : (n_queries,) weight of the query, less its weighted value where that is constant.
    """

    measure: Measure
    groups: Groups
    gains: Floats
    table: Floats
    k: int
    scales: Floats
    rest: Floats

    @classmethod
    def of(cls, bound: BoundMeasure) -> Target:
        """The target of one minus the measure."""
        settled = constant_queries(bound)
        scales = np.where(settled, 0.0, bound.scales)
        rest = bound.weights - np.where(settled, bound.scales * bound.ideal, 0.0)
        return cls(bound.measure, bound.groups, bound.gains, bound.table, bound.k, scales, rest)

    def loss(self, raw: Floats) -> float:
        """The mean loss, from the raw value of each query."""
        return float(np.mean(self.rest - self.scales * raw))

    def take(self, queries: Ints) -> tuple[Target, Ints]:
        """The target on some queries, and the rows they hold."""
        groups, rows = self.groups.take(queries)
        part = replace(
            self,
            groups=groups,
            gains=self.gains[rows],
            scales=self.scales[queries],
            rest=self.rest[queries],
        )
        return part, rows


def constant_queries(bound: BoundMeasure) -> Bools:
    """Queries whose value no order changes: equal gains, or equal discounts of all their ranks.

    One row and no relevant row are cases of the first; precision at a rank past the end, of the second.
    An objective made of the measure has no gradient there.
    """
    heads, sizes = bound.groups.offsets[:-1], bound.groups.sizes
    flat = np.minimum.reduceat(bound.gains, heads) == np.maximum.reduceat(bound.gains, heads)
    if bound.form is not CONCORDANCE:
        changes = np.flatnonzero(np.diff(bound.table) != 0.0)
        level = int(changes[0]) + 1 if changes.size else bound.table.size
        flat |= sizes <= level
    return flat | (bound.scales == 0.0)


def shares(weights: Floats | None, groups: Groups) -> Floats:
    """What each query counts in a mean: its weight, by weights with mean 1."""
    return np.ones(groups.n_queries) if weights is None else weights / weights.mean()


def by_gain(gains: Floats, groups: Groups) -> Ints:
    """All rows, those of each query in descending order of gain."""
    query = np.repeat(np.arange(groups.n_queries), groups.sizes)
    return np.lexsort((-gains, query))
