"""Levels: the rows of each query by grade, as the losses of graded pairs and choices use them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.groups import Groups


@dataclass(frozen=True, eq=False)
class Levels:
    """Rows in descending order of grade within each query; rows of one grade make a level.

    Parameters
    ----------
    y, groups : the grades and the queries, rows as stored.
    order : the rows, level after level.
    offsets : (n_queries + 1,) the levels of query q are ``offsets[q]:offsets[q + 1]``.
    starts : (n_levels + 1,) the rows of level l are ``order[starts[l]:starts[l + 1]]``.
    """

    y: Floats
    groups: Groups
    order: Ints
    offsets: Ints
    starts: Ints

    @classmethod
    def of(cls, y: Floats, groups: Groups) -> Levels:
        query = np.repeat(np.arange(groups.n_queries), groups.sizes)
        order = np.lexsort((-y, query))
        grades = y[order]
        new = np.ones(y.size, bool)
        new[1:] = (grades[1:] != grades[:-1]) | (query[1:] != query[:-1])
        starts = np.append(np.flatnonzero(new), y.size)
        return cls(y, groups, order, np.searchsorted(starts, groups.offsets), starts)

    @property
    def grades(self) -> Floats:
        """The grade of each level."""
        return self.y[self.order[self.starts[:-1]]]

    @property
    def sizes(self) -> Ints:
        """The rows of each level."""
        return np.diff(self.starts)

    def spread(self, per_query: Floats) -> Floats:
        """One value per query to one per level."""
        return np.repeat(per_query, np.diff(self.offsets))

    def rows(self, per_level: Floats) -> Floats:
        """One value per level to one per row, as stored."""
        out = np.empty(self.y.size)
        out[self.order] = np.repeat(per_level, self.sizes)
        return out

    def mean_at_ranks(self, by_rank: Floats) -> Floats:
        """The mean, over the ranks that a level takes in the order by grade, of a value per rank.

        It is what a row of the level gets on average if its ties are broken at random.
        """
        sums = np.concatenate(([0.0], np.cumsum(by_rank)))
        first = self.starts[:-1] - np.repeat(self.groups.offsets[:-1], np.diff(self.offsets))
        return (sums[first + self.sizes] - sums[first]) / self.sizes

    def take(self, queries: Ints) -> Levels:
        """The levels of some queries, on the rows that `Groups.take` gives."""
        groups, rows = self.groups.take(queries)
        return Levels.of(self.y[rows], groups)


def mean_one(weights: Floats | None, groups: Groups) -> Floats:
    """Weights of queries, brought to mean 1; None weights all the same."""
    return np.ones(groups.n_queries) if weights is None else weights / weights.mean()
