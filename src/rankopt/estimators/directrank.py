"""DirectRank: a linear model trained by exact coordinate ascent of the measure itself."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.errors import SpecError
from rankopt.estimators.base import BaseRanker
from rankopt.estimators.linear import folded, scaled, standard_start, weight_ranges
from rankopt.estimators.validation import Watch
from rankopt.measures import Measure
from rankopt.models.model import Model
from rankopt.progress import progress
from rankopt.random import as_generator
from rankopt.scorers import Linear
from rankopt.solvers.bagged import Bagged
from rankopt.solvers.base import Solution, Status
from rankopt.solvers.coordinate import Coordinate, Lines

_KICK, _KICKED = 0.1, 0.3  # size of a kick, of the largest weight; share of weights that it hits
Pairs = Sequence[tuple[float | None, float | None]]


class DirectRank(BaseRanker):
    r"""A linear ranker whose weights maximise a ranking measure directly.

    Definition
    ----------
    .. math:: \max_w \; \frac{1}{n} \sum_q M(X_q w, y_q)

    by coordinate ascent: along each weight the measure is a step function, all of whose steps are
    found, so that each search is exact. The training measure never falls from one step to the next.

    Parameters
    ----------
    measure : the measure to maximise and report, such as ``ndcg@10``, ``map``, ``err@20``.
    order : ``cyclic``, ``random``, ``greedy`` or ``powell``: the choice of coordinates.
    directions : further directions to search after each round: how many random ones, or an array with
        one direction per row.
    start : ``ridge`` (regression on the gains), ``ranksvm``, ``uniform`` (all weights equal), ``zero``,
        an array of weights, a fitted linear model, or the ``.rankopt`` file of one.
    restarts : further climbs from random weights; the best by validation data is kept, without such
        data the best on the training data.
    kicks : further climbs from the best weights with some of them disturbed, each kept if it raises
        the training measure: the way to higher training values than restarts find.
    bags : climbs whose mean is the model, each on queries drawn at random, instead of one climb on all. On
        small data the mean is better on unseen queries, though its training measure is lower.
    subsample : the share of the queries in each bag.
    point : where in the best interval: ``middle``, ``likelihood`` (section 2.3 of the paper), or
        ``auto``: likelihood up to 50,000 rows, else middle.
    bounds : range of the weights, one pair ``(low, high)`` or one per feature; None is no bound.
    monotone : sign of the weights: ``1``, ``-1``, one per feature (0 is free), or a dict by name.
    normalize : None; ``standard`` (mean 0, spread 1 over all rows, folded into the weights); ``query``
        (0 to 1 within each query, at prediction as well).
    max_iter : rounds per climb; with ``greedy`` steps.
    tol : a round that gains no more than this ends the climb; at 0 it goes on to the coordinate-wise
        maximum.
    early_stopping_rounds : rounds without a better validation value after which a climb ends. Whenever
        there is validation data, the weights of its best round are kept.
    n_jobs : threads; None is all cores of the process, and any number gives the same bits.
    random_state : seed.
    verbose : 1 shows progress on standard error.

    Attributes
    ----------
    coef_ : weights of the features.
    status_ : how the best climb ended, in a sentence.
    n_iter_ : rounds of the best climb.
    history_ : its steps: iteration, value, seconds.
    evals_result_ : training and validation values of all rounds.
    best_iteration_, best_score_ : the round kept and its validation value, with validation data.

    References
    ----------
    [tan2013direct]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> model = rankopt.DirectRank(measure="ndcg@5", random_state=0).fit(X, y, qid=qid)
    >>> model.score(X, y, qid=qid) > 0.99
    True
    """

    system: ClassVar[str] = "directrank"

    def __init__(
        self,
        measure: str | Measure = "ndcg@10",
        *,
        order: str = "cyclic",
        directions: int | Any = 0,
        start: str | Any = "ridge",
        restarts: int = 0,
        kicks: int = 0,
        bags: int = 0,
        subsample: float = 0.5,
        point: str = "auto",
        bounds: tuple[float | None, float | None] | Pairs | None = None,
        monotone: int | Sequence[int] | Mapping[str, int] | None = None,
        normalize: str | None = None,
        max_iter: int = 100,
        tol: float = 0.0,
        early_stopping_rounds: int | None = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.measure = measure
        self.order = order
        self.directions = directions
        self.start = start
        self.restarts = restarts
        self.kicks = kicks
        self.bags = bags
        self.subsample = subsample
        self.point = point
        self.bounds = bounds
        self.monotone = monotone
        self.normalize = normalize
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping_rounds = early_stopping_rounds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, data: Dataset, valid: Sequence[Dataset]) -> Model:
        measure = self._measure()
        rng = as_generator(self.random_state)
        self._check_counts()
        given, drawn = self._directions(data.n_features)
        solver = Coordinate(
            order=self.order,
            point=self.point,
            directions=drawn,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        data, scaling = scaled(data, self.normalize)
        valid = [scaled(part, self.normalize, scaling)[0] for part in valid]
        bound = measure.bind(data.labels, data.groups, data.weights, rows=data.rows)
        lower, upper = weight_ranges(self.bounds, self.monotone, data.n_features, data.features)
        if scaling is not None:  # ranges are of weights on the features as given
            lower, upper = lower * scaling.scale, upper * scaling.scale
        start = np.clip(standard_start(self.start, data, bound.gains, scaling), lower, upper)
        lines = Lines.of(data, bound, lower, upper)
        total = self.bags or (1 + self.restarts + self.kicks) * self.max_iter
        with progress(f"DirectRank {measure}", total, bool(self.verbose)) as advance:
            watch = Watch(measure, valid, Linear().scores, self.early_stopping_rounds, advance)
            if self.bags:
                bagged = Bagged(solver, self.bags, self.subsample)
                solution = bagged.climb(lines, start, rng, watch, given)
            else:
                solution = self._climbs(solver, lines, start, rng, watch, given)
        params = solution.params
        if watch.best_params is not None:
            params = watch.best_params
            self.best_iteration_, self.best_score_ = watch.best_iteration, watch.best_value
        self.evals_result_ = watch.results(str(measure))
        self.history_ = solution.history
        self.n_iter_ = max(solution.n_iter, 1)
        self.status_ = solution.status.value
        if solution.status is Status.OUT_OF_STEPS and self.max_iter > 0:
            warnings.warn(f"DirectRank: {self.status_}", ConvergenceWarning, stacklevel=3)
        self.coef_ = folded(params, scaling)
        self.intercept_ = 0.0
        names = tuple(str(n) for n in getattr(self, "feature_names_in_", ()))
        notes = {
            "queries": data.groups.n_queries,
            "status": self.status_,
            "train": bound.mean(Linear().scores(params, data)),
        }
        kept = "query" if self.normalize == "query" else None
        return Model(Linear(), self.coef_, data.n_features, names, kept, self._recipe(**notes))

    def _climbs(
        self,
        solver: Coordinate,
        lines: Lines,
        start: Floats,
        rng: np.random.Generator,
        watch: Watch,
        given: Floats | None,
    ) -> Solution:
        """The climb from the start, then restarts and kicks; the best solution."""
        best = solver.climb(lines, start, rng, watch, given)
        best_seen = watch.best_value
        spread = lines.columns.std(axis=1, dtype=np.float64)
        unit = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0.0)
        for kick, draw in self._draws(lines, unit, rng):
            if best.status is Status.INTERRUPTED:
                break
            start = draw
            if kick:
                size = np.divide(best.params, unit, out=np.zeros_like(unit), where=unit > 0.0)
                start = best.params + np.abs(size).max() * draw
            climb = solver.climb(lines, start, rng, watch, given)
            better = climb.value > best.value
            if watch.parts and not kick:
                better = watch.best_value > best_seen
            best_seen = max(best_seen, watch.best_value)
            if better or climb.status is Status.INTERRUPTED:
                keep = climb if better else best
                best = Solution(keep.params, keep.value, climb.status, keep.history, keep.n_iter)
        return best

    def _draws(
        self, lines: Lines, unit: Floats, rng: np.random.Generator
    ) -> Iterator[tuple[bool, Floats]]:
        """Random weights, then disturbances of some weights, in units of each feature's spread."""
        low, high = np.isfinite(lines.lower), np.isfinite(lines.upper)
        for _ in range(self.restarts):
            draw = rng.normal(size=unit.size) * unit
            draw = np.where(low & ~high, lines.lower + np.abs(draw), draw)
            draw = np.where(high & ~low, lines.upper - np.abs(draw), draw)
            yield False, np.clip(draw, lines.lower, lines.upper)
        for _ in range(self.kicks):
            hit = rng.random(unit.size) < _KICKED
            yield True, _KICK * hit * rng.normal(size=unit.size) * unit

    def _directions(self, width: int) -> tuple[Floats | None, int]:
        if isinstance(self.directions, (int, np.integer)) and not isinstance(self.directions, bool):
            return None, int(self.directions)
        given = np.asarray(self.directions, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != width or not np.isfinite(given).all():
            raise SpecError(
                f"directions: an array of shape {given.shape} for {width} features; one finite direction"
                " per row is needed, or the number of random ones"
            )
        return given, 0

    def _check_counts(self) -> None:
        for name in ("restarts", "kicks", "bags"):
            if getattr(self, name) < 0:
                raise SpecError(f"{name}: must not be negative")
        if self.bags and (self.restarts or self.kicks):
            raise SpecError(
                "bags: is a mean of climbs, restarts and kicks look for the best; use either"
            )
