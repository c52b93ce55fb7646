"""CoordinateAscent: a linear model of a measure, climbed by sampled steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats
from rankopt.baselines.linear import linear_model
from rankopt.data.dataset import Dataset
from rankopt.errors import SpecError
from rankopt.estimators.base import BaseRanker
from rankopt.estimators.linear import scaled
from rankopt.estimators.validation import Watch
from rankopt.measures import BoundMeasure, Measure
from rankopt.models.model import Model
from rankopt.progress import progress
from rankopt.random import as_generator
from rankopt.scorers import Linear
from rankopt.solvers.base import Status, Step
from rankopt.solvers.coordinate import Lines

_FIRST, _SHARE, _GROWTH = 0.001, 0.05, 2.0  # first step; of a weight; from step to step


class CoordinateAscent(BaseRanker):
    r"""A linear ranker whose weights climb the measure by trying steps of doubled length.

    Along a coordinate the measure is tried at 0 and at :math:`w \pm s (2^j - 1)` for
    :math:`j = 1, \dots` up to `steps`, with s a twentieth of the weight or less. Rounds over all weights
    in random order, each followed by scaling to :math:`\sum_k |w_k| = 1`, go on until one gains no more
    than `tol`. `DirectRank` finds the best step itself; this is what it replaces.

    Parameters
    ----------
    measure : the measure to maximise and report.
    restarts : further climbs; the first starts from equal weights, these from random ones. The best by
        validation data is kept, without such data the best by training data.
    steps : lengths that are tried in each direction.
    max_iter : rounds per climb.
    tol : a round that gains no more ends the climb.
    normalize : None; ``standard``; ``query`` (0 to 1 within each query, at prediction as well).
    n_jobs : threads.
    random_state : seed.
    verbose : 1 shows progress on standard error.

    Attributes
    ----------
    coef_ : weights of the features.
    tried_ : how often the measure was evaluated.
    evals_result_, best_iteration_, best_score_, status_, n_iter_ : as in `DirectRank`.

    References
    ----------
    [metzler2007linear]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> model = rankopt.baselines.CoordinateAscent("ndcg@5", random_state=0).fit(X, y, qid=qid)
    >>> model.score(X, y, qid=qid) > 0.98
    True
    """

    system: ClassVar[str] = "coordinate-ascent"
    grids: ClassVar[dict[str, tuple[float, ...]]] = {}

    def __init__(
        self,
        measure: str | Measure = "ndcg@10",
        *,
        restarts: int = 4,
        steps: int = 25,
        max_iter: int = 25,
        tol: float = 1e-3,
        normalize: str | None = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.measure = measure
        self.restarts = restarts
        self.steps = steps
        self.max_iter = max_iter
        self.tol = tol
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, data: Dataset, valid: Sequence[Dataset]) -> Model:
        if self.restarts < 0 or self.steps < 1 or self.max_iter < 0 or not self.tol >= 0.0:
            raise SpecError(
                "restarts, max_iter and tol must not be negative, steps must be positive"
            )
        measure = self._measure()
        rng = as_generator(self.random_state)
        data, scaling = scaled(data, self.normalize)
        valid = [scaled(part, self.normalize, scaling)[0] for part in valid]
        bound = measure.bind(data.labels, data.groups, data.weights, rows=data.rows)
        lines = Lines.of(data, bound)
        best, best_value = np.zeros(data.n_features), -np.inf
        self.tried_, self.n_iter_ = 0, 1
        total = (1 + self.restarts) * self.max_iter
        with progress(f"CoordinateAscent {measure}", total, bool(self.verbose)) as advance:
            watch = Watch(measure, valid, Linear().scores, None, advance)
            for climb in range(1 + self.restarts):
                start = np.ones(data.n_features) if climb == 0 else rng.normal(size=data.n_features)
                weights, value, status = self._climb(lines, bound, start, rng, watch)
                if value > best_value:
                    best, best_value = weights, value
                    self.status_ = status.value
                if status is Status.INTERRUPTED:
                    self.status_ = status.value
                    break
        if watch.best_params is not None:
            best = watch.best_params
            self.best_iteration_, self.best_score_ = watch.best_iteration, watch.best_value
        self.evals_result_ = watch.results(str(measure))
        train = bound.mean(Linear().scores(best, data))
        return linear_model(self, best, data, scaling, status=self.status_, train=train)

    def _climb(
        self,
        lines: Lines,
        bound: BoundMeasure,
        start: Floats,
        rng: np.random.Generator,
        watch: Watch,
    ) -> tuple[Floats, float, Status]:
        """One climb: weights, the measure there, and how it ended."""
        weights = start / np.abs(start).sum()
        value = bound.mean(lines.scores(weights))
        watch(Step(0, value, 0.0), weights)
        status = Status.OUT_OF_STEPS if self.max_iter else Status.CONVERGED
        try:
            for iteration in range(1, self.max_iter + 1):
                before = value
                scores = lines.scores(weights)
                for f in rng.permutation(weights.size):
                    weights[f], value = self._along(lines, bound, scores, int(f), weights[f], value)
                size = float(np.abs(weights).sum())
                weights = weights / size if size > 0.0 else weights
                value = bound.mean(
                    lines.scores(weights)
                )  # afresh, so that rounding does not add up
                watch(Step(iteration, value, 0.0), weights)
                self.n_iter_ = max(self.n_iter_, iteration)
                if value - before <= self.tol:
                    status = Status.CONVERGED
                    break
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        return weights, value, status

    def _along(
        self, lines: Lines, bound: BoundMeasure, scores: Floats, f: int, weight: float, value: float
    ) -> tuple[float, float]:
        """The best of the weights tried for a feature, and the measure there; moves `scores`."""
        column = lines.columns[f]
        if column.min() == column.max():
            return weight, value
        best, best_value = weight, value
        size = abs(weight)
        step = _FIRST if weight == 0.0 or 0.5 * size >= _FIRST else _SHARE * size
        lengths = step * (_GROWTH ** np.arange(1, self.steps + 1) - 1.0)
        for tried in [0.0, *(weight + lengths), *(weight - lengths)]:
            reached = bound.mean(scores + (tried - weight) * column)
            self.tried_ += 1
            if reached > best_value:
                best, best_value = float(tried), reached
        if best != weight:
            scores += (best - weight) * column
        return best, best_value
