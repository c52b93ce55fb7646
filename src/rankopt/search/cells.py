"""Cells: the parts of a line in which a search that must not keep all events looks for the best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats, Ints
from rankopt.kernels import merge
from rankopt.kernels.cells import join

Flags = NDArray[np.uint8]

PARTS = 1 << 16  # into which the kept cells are divided, all together
_LOWEST = np.iinfo(np.int64).min


@dataclass(frozen=True, eq=False)
class Tally:
    """What is known of the events of each cell, or as far as the sums go, of each bucket.

    Parameters
    ----------
    sums, gains : of all changes, and of the positive ones.
    counts : how many events.
    earliest, latest : the first time and the last.
    """

    sums: Ints
    gains: Floats
    counts: Ints
    earliest: Floats
    latest: Floats

    @classmethod
    def room(cls, buckets: int, cells: int) -> Tally:
        """An empty one, of buckets or of cells."""
        size = max(buckets, cells)
        return cls(
            np.zeros(size, np.int64), np.zeros(size), np.zeros(cells, np.int64),
            np.full(cells, np.inf), np.full(cells, -np.inf),
        )  # fmt: skip

    @classmethod
    def of(cls, parts: Sequence[Tally]) -> Tally:
        """Several as one."""
        return cls(
            np.sum([part.sums for part in parts], axis=0),
            np.sum([part.gains for part in parts], axis=0),
            np.sum([part.counts for part in parts], axis=0),
            np.min([part.earliest for part in parts], axis=0),
            np.max([part.latest for part in parts], axis=0),
        )

    @property
    def arrays(self) -> tuple[Ints, Floats, Ints, Floats, Floats]:
        """As kernels take them."""
        return self.sums, self.gains, self.counts, self.earliest, self.latest

    def prune(self, base: int) -> tuple[Ints, Flags]:
        """The totals at the starts of the cells, and which cells may hold the best."""
        full = np.flatnonzero(self.counts)
        first, last = self.earliest[full], self.latest[full]
        near = np.zeros(full.size + 1, np.bool_)
        near[1:-1] = first[1:] - last[:-1] <= merge.TIED * np.abs(first[1:])
        tied = near[np.searchsorted(full, np.arange(self.counts.size))]
        starts, keep = self.sums.copy(), np.empty(tied.size, np.uint8)
        merge.prune(base, starts, self.gains, tied, keep)
        join(tied, keep)
        keep &= self.counts > 0
        return starts, keep

    def gathered(self, cells: NDArray[np.bool_]) -> tuple[Floats, Ints, NDArray[np.int32]]:
        """Cells whose events count as one as two events each, at its first time and at its last."""
        which = np.flatnonzero(cells)
        t = np.concatenate((self.earliest[which], self.latest[which]))
        d = np.concatenate((self.sums[which], np.zeros(which.size, np.int64)))
        return t, d, np.concatenate((which, which)).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Cells:
    """A division of the line.

    Parameters
    ----------
    buckets : the keys at which buckets begin, each with a cell.
    keys : those at which cells begin, see kernels/cells.py.
    keep : the cells that matter.
    """

    buckets: Ints
    keys: Ints
    keep: Flags

    @classmethod
    def of(cls, origin: int, keep: Flags) -> Cells:
        """The buckets themselves."""
        half = merge.BUCKETS // 2
        edges = origin + (np.arange(1, half) << merge.SHIFT)
        keys = np.concatenate(([-merge.MAGNITUDE], 1 - edges[::-1], [0], edges))
        return cls(keys, keys, keep)

    @property
    def widths(self) -> Ints:
        """How many keys there are in each cell."""
        return np.diff(np.append(self.keys, merge.MAGNITUDE))

    @property
    def solid(self) -> NDArray[np.bool_]:
        """The cells so narrow that all events in them count as one."""
        low, high = _times(self.keys), _times(self.keys + self.widths - 1)
        with np.errstate(invalid="ignore", over="ignore"):
            return high - low <= 0.5 * merge.TIED * np.minimum(np.abs(low), np.abs(high))

    def arrays(self, alive: Flags) -> tuple[Ints, Ints, Flags]:
        """As kernels take them, if the events of some are to be kept."""
        first = np.searchsorted(self.keys, self.buckets)
        return np.append(first, self.keys.size), self.keys, alive

    def divided(self, which: NDArray[np.bool_]) -> Cells:
        """Some of them divided into as many parts as the room allows, neighbours not to keep joined."""
        parts = max(2, PARTS // max(1, int(which.sum())))
        step = np.where(which, -(-self.widths // parts), self.widths)
        pieces = -(-self.widths // step)
        drop = self.keep == 0
        drop[1:] &= drop[:-1].copy()
        drop[0] = False
        pieces[drop & ~np.isin(self.keys, self.buckets)] = 0
        place = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        keys = np.repeat(self.keys, pieces) + place * np.repeat(step, pieces)
        return Cells(self.buckets, keys, np.repeat(self.keep, pieces))


def windows(counts: Ints, keep: NDArray[np.bool_], most: int) -> Iterator[NDArray[np.bool_]]:
    """The cells to keep in turn, as many at a time as have at most so many events, or one alone."""
    which = np.flatnonzero(keep)
    ends = np.cumsum(counts[which])
    start = 0
    while start < which.size:
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + most, "right")))
        chosen = np.zeros(keep.size, np.bool_)
        chosen[which[start:stop]] = True
        yield chosen
        start = stop


def _times(keys: Ints) -> Floats:
    """The times of keys."""
    return np.where(keys >= 0, keys, _LOWEST - keys).view(np.float64)
