"""Engine: exact line searches from one scoring after another, on state that is kept sorted."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from itertools import count

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats, Ints
from rankopt.kernels import merge
from rankopt.kernels.standing import stand
from rankopt.kernels.sweep import sweep
from rankopt.search.fixedpoint import FixedPoint
from rankopt.search.stepfunction import StepFunction
from rankopt.threads import available_threads, over_queries, query_blocks

# Below about this many nanoseconds of work a second thread costs more than it saves. What a search takes is
# told by the rows and by the events of the search before it.
_SMALL, _ROW, _EVENT = 500_000, 8, 25
_MOST_EVENTS = 1 << 22  # that a thread remembers, in 72 MB; more only where all are asked for
_ROOM = 4096  # for events, besides that for one per row
_BLOCKS = 4  # per thread, so that an uneven load evens out


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
        starts, gains = workers[0].sums.copy(), workers[0].gains.copy()
        for worker in workers[1:]:
            starts += worker.sums
            gains += worker.gains
        keep = np.empty(starts.size, np.uint8)
        merge.prune(base, starts, gains, keep)
        if any(worker.spilled for worker in workers):
            workers = self._sweep(direction, lo, hi, keep=keep)
        t, d, b = self._kept(workers, keep)
        edges = np.empty(2)
        order = np.argsort(t)  # NumPy's is several times faster than Numba's
        total = merge.best_interval(base, lo, hi, t, d, b, order, starts, edges)
        return StepFunction(float(edges[0]), float(edges[1]), self.target.value(total), int(total))

    def _sweep(
        self,
        direction: NDArray[np.float32] | Floats,
        lo: float,
        hi: float,
        full: bool = False,
        keep: NDArray[np.uint8] | None = None,
    ) -> list[_Worker]:
        """The workers with all events; or, where these are too many, with those in buckets to keep."""
        target = self.target
        offsets = target.offsets
        work_ahead = _ROW * self.scores.size + _EVENT * self._events
        threads = available_threads() if work_ahead >= _SMALL else 1
        while len(self._workers) < threads:
            self._workers.append(_Worker(min(self.scores.size // threads, _MOST_EVENTS) + _ROOM))
        workers = self._workers[:threads]
        origin = merge.bucket_origin(self._spread, direction)
        for worker in workers:
            worker.clear()
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
                        worker.sums, worker.gains, worker.out,
                    )  # fmt: skip
                    start = int(worker.out[2])
                    if start < stop:
                        worker.make_room(full, keep)

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

    def _kept(
        self, workers: list[_Worker], keep: NDArray[np.uint8]
    ) -> tuple[Floats, Ints, NDArray[np.int16]]:
        """The times, changes and buckets of the events in the buckets to keep."""
        others = [self._pool.submit(w.sift, keep) for w in workers[1:]] if self._pool else []
        try:
            workers[0].sift(keep)
        finally:
            wait(others)
        t, d, b = zip(*(worker.events for worker in workers), strict=True)
        return np.concatenate(t), np.concatenate(d), np.concatenate(b)

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
        edges = np.empty(2)
        best = merge.best_interval(
            base,
            lo,
            hi,
            t,
            d,
            np.zeros(t.size, np.int16),
            np.arange(t.size),
            np.array([base]),
            edges,
        )
        value = self.target.value
        return StepFunction(
            float(edges[0]), float(edges[1]), value(int(best)), int(best), points,
            totals / self.target.one, totals,
        )  # fmt: skip

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
        self.event_b = np.empty(room, np.int16)
        self.sums, self.gains = np.empty(merge.BUCKETS, np.int64), np.empty(merge.BUCKETS)
        self.out = np.zeros(6, np.int64)
        self.spilled = False

    def clear(self) -> None:
        self.sums[:], self.gains[:], self.out[:] = 0, 0.0, 0
        self.spilled = False

    def make_room(self, full: bool, keep: NDArray[np.uint8] | None) -> None:
        """Room to go on: what is not to be kept is dropped; else there is more, up to a limit.

        At the limit all events are dropped. They stand in the sums of their buckets, and once these tell
        which buckets matter a second sweep brings their events again.
        """
        size, need = self.event_t.size, int(self.out[5])
        if keep is not None:
            self.sift(keep)
        elif size >= _MOST_EVENTS and not full:
            self.spilled, self.out[1] = True, 0
        wanted = int(self.out[1]) + need
        if wanted > size // 2 or not (self.spilled or keep is not None):
            more = max(size, wanted)
            self.event_t = np.concatenate((self.event_t, np.empty(more)))
            self.event_d = np.concatenate((self.event_d, np.empty(more, np.int64)))
            self.event_b = np.concatenate((self.event_b, np.empty(more, np.int16)))

    def sift(self, keep: NDArray[np.uint8]) -> None:
        """Drop the events outside the buckets to keep."""
        self.out[1] = merge.sift(self.out[1], self.event_t, self.event_d, self.event_b, keep)

    @property
    def events(self) -> tuple[Floats, Ints, NDArray[np.int16]]:
        """Their times, changes and buckets."""
        n = self.out[1]
        return self.event_t[:n], self.event_d[:n], self.event_b[:n]
