"""Engine: exact line searches from one scoring after another, on state that is kept sorted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats
from rankopt.kernels.standing import stand
from rankopt.kernels.sweep import sweep
from rankopt.search.fixedpoint import FixedPoint
from rankopt.search.stepfunction import StepFunction, inner_points
from rankopt.threads import over_queries

_TIED = 1e-12


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
        self._stand()

    @property
    def total(self) -> int:
        """The exact total of the present scores."""
        return int(self._standing.sum())

    @property
    def value(self) -> float:
        """The measure at the present scores."""
        return self.target.value(self.total)

    def restart(self, scores: Floats) -> None:
        """Go on from other scores, or from the same ones computed afresh."""
        self.scores[:] = scores
        self._stand()

    def search(
        self,
        direction: NDArray[np.float32] | Floats,
        lo: float = -np.inf,
        hi: float = np.inf,
        full: bool = False,
    ) -> StepFunction:
        """The measure along ``scores + t * direction``, t inside (lo, hi)."""
        room = 16 * direction.size + 1024
        event_t, event_d = np.empty(room), np.empty(room, np.int64)
        out = np.zeros(3, np.int64)
        target = self.target
        queries = target.offsets.size - 1
        while out[2] < queries:
            sweep(
                int(out[2]), queries, target.offsets, direction, self._order, self._score_at,
                self._gain_at, self._load_at, self._standing, target.bases, *target.rules, lo, hi,
                event_t, event_d, out,
            )  # fmt: skip
            if out[2] < queries:
                event_t = np.concatenate((event_t, np.empty(event_t.size)))
                event_d = np.concatenate((event_d, np.empty(event_d.size, np.int64)))
        return self._merge(int(out[0]), event_t[: out[1]], event_d[: out[1]], lo, hi, full)

    def _merge(self, base, t, d, lo, hi, full):
        order = np.argsort(t, kind="stable")
        t, d = t[order], d[order]
        heads = np.ones(t.size, bool)
        heads[1:] = np.diff(t) > _TIED * np.abs(t[1:])
        heads = np.flatnonzero(heads)
        changes = np.add.reduceat(d, heads) if heads.size else np.zeros(0, np.int64)
        points, changes = t[heads][changes != 0], changes[changes != 0]
        totals = base + np.concatenate(([0], np.cumsum(changes)))
        edges = np.concatenate(([lo], points, [hi]))
        best = np.flatnonzero(totals == totals.max())
        def key(i):
            a, b = edges[i], edges[i + 1]
            p = inner_points(a, b)[0]
            width = 2 * abs(p - (a if np.isfinite(a) else b)) if np.isfinite(a) or np.isfinite(b) else np.inf
            return (not a < 0.0 < b, -width, abs(p), a)
        i = min(best, key=key)
        value = self.target.value
        return StepFunction(
            float(edges[i]), float(edges[i + 1]), value(int(totals[i])), int(totals[i]),
            points if full else None, np.array([value(int(x)) for x in totals]) if full else None,
            totals if full else None,
        )

    def step(self, direction, t: float) -> bool:
        """Move to ``scores + t * direction`` if that is better."""
        before, scores = self.total, self.scores.copy()
        self.scores += t * direction
        self._stand()
        if self.total > before:
            return True
        self.scores[:] = scores
        self._stand()
        return False

    def _stand(self) -> None:
        target = self.target
        over_queries(
            stand, target.offsets, self.scores, target.gains, target.loads, *target.rules,
            self._order, self._score_at, self._gain_at, self._load_at, self._standing,
        )  # fmt: skip
