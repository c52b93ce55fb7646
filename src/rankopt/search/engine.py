"""Engine: exact line searches from one scoring after another, on state that is kept sorted."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats, Ints
from rankopt.kernels import merge
from rankopt.kernels.standing import stand
from rankopt.kernels.sweep import sweep
from rankopt.search.cells import PARTS, Cells, Flags, Tally, windows
from rankopt.search.fixedpoint import FixedPoint
from rankopt.search.stepfunction import StepFunction
from rankopt.threads import available_threads, over_queries, query_blocks

# Below about this many nanoseconds of work a second thread costs more than it saves. What a search takes is
# told by the rows and by the events of the search before it.
_SMALL, _ROW, _EVENT = 500_000, 8, 25
_MOST_EVENTS = 1 << 22  # that a thread has room for, in 80 MB; more only where all are asked for
_ROOM = 4096  # for events, besides that for one per row
_BLOCKS = 4  # per thread, so that an uneven load evens out
_NO_CELLS = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8)
_UNTIED = np.zeros(merge.BUCKETS, np.bool_)

_Events = tuple[Floats, Ints, NDArray[np.int32]]
_NOTHING = np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int32)


class Engine:
    """The state of a sequence of exact line searches.

    Parameters
    ----------
    target : the measure to raise.
    scores : the scoring to start from.
    """

    def __init__(self, target: FixedPoint, scores: Floats) -> None:
        sizes = np.diff(target.offsets)
        rows, queries = int(target.offsets[-1]), sizes.size
        self.target = target
        self.scores = scores.copy()
        self._order = np.arange(rows) - np.repeat(target.offsets[:-1], sizes)
        self._score_at, self._gain_at = np.empty(rows), np.empty(rows)
        self._load_at = np.zeros(rows, np.int64)
        self._standing = np.empty(queries, np.int64)
        self._workers: list[_Worker] = []
        self._pool: ThreadPoolExecutor | None = None  # its threads end with the engine
        self._events = rows
        self._stand()

    @property
    def total(self) -> int:
        """The exact total of the present scores."""
        return self._total

    @property
    def value(self) -> float:
        """The measure at the present scores."""
        return self.target.value(self.total)

    def restart(self, scores: Floats) -> None:
        """Go on from other scores, or from the same ones computed afresh."""
        self.scores[:] = scores
        self._stand()

    def step(
        self, direction: NDArray[np.float32] | Floats, t: float, goal: int | None = None
    ) -> bool:
        """Move to ``scores + t * direction`` if the measure, evaluated afresh, is better there.

        With a `goal` it must also reach that total: a point inside the best interval misses it only
        where rows tie at just this point.
        """
        before, scores = self.total, self.scores.copy()
        self.scores += t * direction.astype(np.float64, copy=False)
        self._stand()
        if self.total > before and (goal is None or self.total >= goal):
            return True
        self.scores[:] = scores
        self._stand()
        return False

    def search(
        self,
        direction: NDArray[np.float32] | Floats,
        lo: float = -np.inf,
        hi: float = np.inf,
        full: bool = False,
    ) -> StepFunction:
        """The measure along ``scores + t * direction``, t inside (lo, hi)."""
        lo, hi = float(lo), float(hi)
        workers = self._sweep(direction, lo, hi, full)
        base = self.total + sum(int(worker.out[0]) for worker in workers)
        self._events = sum(int(worker.out[1]) for worker in workers)
        if full:
            return self._everything(base, lo, hi, workers)
        starts, gains = workers[0].tally.sums.copy(), workers[0].tally.gains.copy()
        for worker in workers[1:]:
            starts += worker.tally.sums
            gains += worker.tally.gains
        keep = np.empty(starts.size, np.uint8)
        merge.prune(base, starts, gains, _UNTIED, keep)
        if any(worker.spilled for worker in workers):
            return self._narrowed(base, direction, lo, hi, keep)
        return self._best(base, lo, hi, starts, [self._kept(workers, keep)])

    def _narrowed(
        self,
        base: int,
        direction: NDArray[np.float32] | Floats,
        lo: float,
        hi: float,
        keep: Flags,
    ) -> StepFunction:
        """The search where there is no room for all events: sweeps with ever finer cells, until what
        they keep fits; and where dividing them rules out no more, as many at a time as fit.
        """
        cells = Cells.of(int(merge.bucket_origin(self._spread, direction)), keep)
        which, before, half = keep != 0, np.inf, _MOST_EVENTS // 2
        while True:
            cells = cells.divided(which)
            loose = (cells.keep != 0) & ~cells.solid
            workers = self._sweep(direction, lo, hi, cells=cells.arrays(loose.astype(np.uint8)))
            tally = Tally.of([worker.tally for worker in workers])
            starts, keep = tally.prune(base)
            keep &= cells.keep  # what is ruled out may be one wide cell by now, with a loose bound
            cells = replace(cells, keep=keep)
            kept, loose = keep != 0, (keep != 0) & ~cells.solid
            narrow = tally.gathered(kept & cells.solid)
            if not any(worker.spilled for worker in workers):
                parts = [_joined([self._kept(workers, keep), narrow])]
                return self._best(base, lo, hi, starts, parts)
            counts = np.where(loose, tally.counts, 0)
            heavy, number = counts > half, int(counts.sum())
            if half < number < before / 2 and 2 * int(loose.sum()) < PARTS:
                which, before = loose, number
            elif heavy.any():
                which = heavy
            else:
                break

        def part(chosen: NDArray[np.bool_]) -> _Events:
            alive = chosen & loose
            arrays = cells.arrays(alive.astype(np.uint8))
            found = self._sweep(direction, lo, hi, full=True, cells=arrays) if alive.any() else []
            return _joined([*(w.events for w in found), tally.gathered(chosen & ~loose)])

        parts = (part(chosen) for chosen in windows(tally.counts, kept, half))
        return self._best(base, lo, hi, starts, parts)

    def _best(
        self, base: int, lo: float, hi: float, starts: Ints, parts: Iterable[_Events]
    ) -> StepFunction:
        """The best interval, from events that come in parts, one after the other along the line."""
        totals = np.array([base, base, 0, -1, 1, 0, 0])
        times = np.array([lo, hi, lo, 0.0, 0.0])
        for t, d, b in parts:
            order = np.argsort(t)  # NumPy's is several times faster than Numba's
            merge.best_interval(hi, t, d, b, order, starts, False, totals, times)
        t, d, b = _NOTHING
        merge.best_interval(hi, t, d, b, d, starts, True, totals, times)
        total = int(totals[0])
        return StepFunction(float(times[0]), float(times[1]), self.target.value(total), total)

    def _sweep(
        self,
        direction: NDArray[np.float32] | Floats,
        lo: float,
        hi: float,
        full: bool = False,
        cells: tuple[Ints, Ints, Flags] = _NO_CELLS,
    ) -> list[_Worker]:
        """The workers with all events, or those of some cells; unless they are too many, and not `full`."""
        target = self.target
        offsets = target.offsets
        work_ahead = _ROW * self.scores.size + _EVENT * self._events
        threads = available_threads() if work_ahead >= _SMALL else 1
        while len(self._workers) < threads:
            self._workers.append(_Worker(min(self.scores.size // threads, _MOST_EVENTS) + _ROOM))
        workers = self._workers[:threads]
        origin = merge.bucket_origin(self._spread, direction)
        for worker in workers:
            worker.clear(cells[1].size)
        blocks = (
            query_blocks(offsets, _BLOCKS * threads) if threads > 1 else [(0, offsets.size - 1)]
        )
        ticket = count()

        def work(worker: _Worker) -> None:
            while (turn := next(ticket)) < len(blocks):
                start, stop = blocks[turn]
                while start < stop:
                    sweep(
                        start, stop, offsets, direction, self._order, self._score_at, self._gain_at,
                        self._load_at, target.bases, target.base_rows, target.drops, *target.rules,
                        lo, hi, worker.event_t, worker.event_d, worker.event_b, origin,
                        cells, worker.tally.arrays, worker.out,
                    )  # fmt: skip
                    start = int(worker.out[2])
                    if start < stop:
                        worker.make_room(full)

        if threads > 1 and self._pool is None:
            self._pool = ThreadPoolExecutor()
        tasks = [self._pool.submit(work, worker) for worker in workers[1:]] if self._pool else []
        try:
            work(workers[0])
        finally:
            wait(tasks)  # none goes on to write after an interrupt
        for task in tasks:
            task.result()
        return workers

    def _kept(self, workers: list[_Worker], keep: Flags) -> _Events:
        """The times, changes and buckets of the events in the buckets to keep."""
        others = [self._pool.submit(w.sift, keep) for w in workers[1:]] if self._pool else []
        try:
            workers[0].sift(keep)
        finally:
            wait(others)
        return _joined([worker.events for worker in workers])

    def _everything(self, base: int, lo: float, hi: float, workers: list[_Worker]) -> StepFunction:
        t = np.concatenate([worker.event_t[: worker.out[1]] for worker in workers])
        d = np.concatenate([worker.event_d[: worker.out[1]] for worker in workers])
        order = np.argsort(t, kind="stable")
        t, d = t[order], d[order]
        heads = np.ones(t.size, np.bool_)
        heads[1:] = np.diff(t) > merge.TIED * np.abs(t[1:])
        starts = np.flatnonzero(heads)
        changes = np.add.reduceat(d, starts) if starts.size else np.zeros(0, np.int64)
        points, changes = t[starts][changes != 0], changes[changes != 0]
        totals: Ints = base + np.concatenate(([0], np.cumsum(changes)))
        events = t, d, np.zeros(t.size, np.int32)
        best = self._best(base, lo, hi, np.array([base]), [events])
        return replace(best, breakpoints=points, values=totals / self.target.one, totals=totals)

    def _stand(self) -> None:
        target = self.target
        over_queries(
            stand, target.offsets, self.scores, target.gains, target.loads, *target.rules,
            self._order, self._score_at, self._gain_at, self._load_at, self._standing,
        )  # fmt: skip
        self._total = int(self._standing.sum())
        self._spread = float(np.ptp(self.scores[:: self.scores.size // 512 + 1]))


class _Worker:
    """The room for events that one thread fills."""

    def __init__(self, room: int) -> None:
        self.event_t, self.event_d = np.empty(room), np.empty(room, np.int64)
        self.event_b = np.empty(room, np.int32)
        self.tally = Tally.room(merge.BUCKETS, 0)
        self.out = np.zeros(6, np.int64)
        self.spilled = False

    def clear(self, cells: int) -> None:
        """Begin a sweep into so many cells; none for the buckets."""
        if cells or self.tally.counts.size:
            self.tally = Tally.room(merge.BUCKETS, cells)
        else:
            self.tally.sums[:], self.tally.gains[:] = 0, 0.0
        self.out[:] = 0
        self.spilled = False

    def make_room(self, full: bool) -> None:
        """Room to go on: there is more, up to a limit; at the limit all events are dropped.

        They stand in the sums of their cells, and once these tell which cells matter another sweep
        brings their events again.
        """
        size, need = self.event_t.size, int(self.out[5])
        wanted = size
        if self.out[1] > size // 2:
            if full or size < _MOST_EVENTS:
                wanted = min(2 * size, _MOST_EVENTS) if size < _MOST_EVENTS else size + size // 4
            else:
                self.spilled, self.out[1] = True, 0
        wanted = max(wanted, int(self.out[1]) + need)
        if wanted > size:
            more = wanted - size
            self.event_t = np.concatenate((self.event_t, np.empty(more)))
            self.event_d = np.concatenate((self.event_d, np.empty(more, np.int64)))
            self.event_b = np.concatenate((self.event_b, np.empty(more, np.int32)))

    def sift(self, keep: Flags) -> None:
        """Drop the events outside the buckets to keep."""
        self.out[1] = merge.sift(self.out[1], self.event_t, self.event_d, self.event_b, keep)

    @property
    def events(self) -> _Events:
        """Their times, changes and buckets."""
        n = self.out[1]
        return self.event_t[:n], self.event_d[:n], self.event_b[:n]


def _joined(parts: list[_Events]) -> _Events:
    t, d, b = zip(*parts, strict=True)
    return np.concatenate(t), np.concatenate(d), np.concatenate(b)
