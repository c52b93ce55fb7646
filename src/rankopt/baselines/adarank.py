"""AdaRank: boosting of single features by a measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.baselines.linear import linear_model
from rankopt.data.dataset import Dataset
from rankopt.errors import SpecError
from rankopt.estimators.base import BaseRanker
from rankopt.estimators.linear import scaled
from rankopt.estimators.validation import Watch
from rankopt.measures import BoundMeasure, Measure
from rankopt.measures.base import Ties
from rankopt.models.model import Model
from rankopt.objectives.target import constant_queries
from rankopt.progress import progress
from rankopt.scorers import Linear
from rankopt.solvers.base import Status, Step

_MOST = 1.0 - 1e-9  # a mean measure of 1 would give an infinite weight


class AdaRank(BaseRanker):
    r"""A linear ranker that boosts single features, with weights of queries by their measure.

    Definition
    ----------
    From weights :math:`P_q = 1/n` of the queries on, each round takes the feature k with the largest
    :math:`\sum_q P_q M_q(x_k)`, adds it with the weight

    .. math:: \alpha = \tfrac{1}{2} \log \frac{\sum_q P_q (1 + M_q(x_k))}{\sum_q P_q (1 - M_q(x_k))}

    and sets :math:`P_q \propto e^{-M_q(f)}` with f the sum so far. Queries that no order changes are left
    out. The measure of each feature alone is computed once, so a round costs one evaluation of f.

    Parameters
    ----------
    measure : the measure to boost and report, such as ``ndcg@10`` or ``map``.
    max_iter : rounds.
    repeats : a feature that was taken so many times in a row rests; otherwise one strong feature is taken
        for ever. None lets it.
    rest : rounds that it rests for. With more, more features are used: the sum of few is often no better
        than the best of them.
    signs : features may be taken with either sign, not only as they are.
    ties : how rows with equal values count while features are weighed: ``pessimistic``, or ``stable``, in
        file order, as in published runs. Validation data and reports count the former way.
    tol : without validation data, rounds go on until the training measure has risen by no more than this
        in 100 of them.
    normalize : None; ``standard``; ``query`` (0 to 1 within each query, at prediction as well).
    early_stopping_rounds : rounds without a better validation value after which training ends. The best
        round by validation data is kept, without such data the best by training data.
    n_jobs : threads.
    random_state : seed; nothing here is random.
    verbose : 1 shows progress on standard error.

    Attributes
    ----------
    coef_ : weights of the features.
    taken_ : the feature of each round.
    evals_result_, best_iteration_, best_score_, status_, n_iter_ : as in `DirectRank`.

    References
    ----------
    [xu2007adarank]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> rankopt.baselines.AdaRank("ndcg@5").fit(X, y, qid=qid).score(X, y, qid=qid) > 0.95
    True
    """

    system: ClassVar[str] = "adarank"
    grids: ClassVar[dict[str, tuple[int, ...]]] = {"repeats": (1, 5), "rest": (1, 10)}

    def __init__(
        self,
        measure: str | Measure = "ndcg@10",
        *,
        max_iter: int = 500,
        repeats: int | None = 5,
        rest: int = 1,
        signs: bool = False,
        ties: Ties = "pessimistic",
        tol: float = 0.0,
        normalize: str | None = None,
        early_stopping_rounds: int | None = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.measure = measure
        self.max_iter = max_iter
        self.repeats = repeats
        self.rest = rest
        self.signs = signs
        self.ties: Ties = ties
        self.tol = tol
        self.normalize = normalize
        self.early_stopping_rounds = early_stopping_rounds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, data: Dataset, valid: Sequence[Dataset]) -> Model:
        if self.max_iter < 1 or self.rest < 1 or (self.repeats is not None and self.repeats < 1):
            raise SpecError("adarank: max_iter, repeats and rest must be positive")
        measure = self._measure()
        data, scaling = scaled(data, self.normalize)
        valid = [scaled(part, self.normalize, scaling)[0] for part in valid]
        bound = measure.bind(data.labels, data.groups, data.weights, rows=data.rows)
        with progress(f"AdaRank {measure}", self.max_iter, bool(self.verbose)) as advance:
            watch = Watch(measure, valid, Linear().scores, self.early_stopping_rounds, advance)
            weights = self._boost(data, bound, watch)
        if watch.best_params is not None:
            weights = watch.best_params
            self.best_iteration_, self.best_score_ = watch.best_iteration, watch.best_value
        self.evals_result_ = watch.results(str(measure))
        train = bound.mean(Linear().scores(weights, data))
        return linear_model(self, weights, data, scaling, status=self.status_, train=train)

    def _boost(self, data: Dataset, bound: BoundMeasure, watch: Watch) -> Floats:
        """The weights of the best round on the training data."""
        weak = self._weak(data, bound)
        live = np.where(constant_queries(bound), 0.0, bound.weights)
        share = live / max(live.sum(), np.finfo(float).tiny)
        weights, best, best_value = np.zeros(data.n_features), np.zeros(data.n_features), -np.inf
        scores, values = np.zeros(data.n_rows), list[float]()
        self.taken_: list[int] = []
        resting = np.zeros(len(weak), dtype=np.int64)  # until when
        status = Status.FINISHED
        try:
            for iteration in range(1, self.max_iter + 1):
                chosen = self._choose(weak @ share, resting, iteration)
                feature, sign = chosen % data.n_features, 1.0 if chosen < data.n_features else -1.0
                good = min(float(weak[chosen] @ share), _MOST)
                weights[feature] += sign * 0.5 * np.log((1.0 + good) / (1.0 - good))
                self.taken_.append(chosen)
                scores = Linear().scores(weights, data)
                reached = bound.values(scores, self.ties)
                values.append(float(np.mean(bound.weights * reached)))
                if values[-1] > best_value:
                    best, best_value = weights.copy(), values[-1]
                if watch(Step(iteration, values[-1], 0.0), weights):
                    status = Status.STOPPED_EARLY
                    break
                if (
                    not watch.parts
                    and iteration > 100
                    and best_value <= max(values[:-100]) + self.tol
                ):
                    status = Status.CONVERGED
                    break
                share = live * np.exp(-reached)
                share /= max(share.sum(), np.finfo(float).tiny)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        self.status_, self.n_iter_ = status.value, max(len(values), 1)
        return best

    def _weak(self, data: Dataset, bound: BoundMeasure) -> Floats:
        """The measure of each query by each feature alone, with its sign turned below."""
        width = data.n_features
        weak = np.empty((2 * width if self.signs else width, data.groups.n_queries))
        for f in range(width):
            column = data.X[:, [f]]
            column = column if isinstance(column, np.ndarray) else column.toarray()
            column = np.ascontiguousarray(column[:, 0], dtype=np.float64)
            weak[f] = bound.values(column, self.ties)
            if self.signs:
                weak[width + f] = bound.values(-column, self.ties)
        return weak

    def _choose(self, quality: Floats, resting: Ints, iteration: int) -> int:
        """The best weak ranker that does not rest; the best of all where all do."""
        recent = self.taken_[-self.repeats :] if self.repeats is not None else []
        if len(recent) == self.repeats and len(set(recent)) == 1:
            resting[recent[0]] = iteration + self.rest
        awake = resting <= iteration
        return int(np.argmax(np.where(awake, quality, -np.inf) if awake.any() else quality))
