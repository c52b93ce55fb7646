"""RankBoost: boosting of thresholds on features by the exponential loss of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats, Ints
from rankopt.baselines.linear import model_of
from rankopt.data.dataset import Dataset
from rankopt.errors import IncompatibleError, SpecError
from rankopt.estimators.base import BaseRanker
from rankopt.estimators.linear import scaled
from rankopt.estimators.validation import Watch
from rankopt.kernels import stumps as kernels
from rankopt.measures import Measure
from rankopt.models.model import Model
from rankopt.objectives.target import shares
from rankopt.progress import progress
from rankopt.scorers import Stumps
from rankopt.solvers.base import Status, Step
from rankopt.threads import over_queries

_MOST = 1.0 - 1e-9  # a step that orders every pair would get an infinite weight


class RankBoost(BaseRanker):
    r"""A sum of thresholds on features, boosted by the exponential loss of pairs.

    Definition
    ----------
    .. math:: \min_f \; \sum_q c_q \sum_{y_i > y_j} e^{f(x_j) - f(x_i)}, \qquad
              f(x) = \sum_t \alpha_t \, I[x_{k_t} > \theta_t]

    Each round takes the step with the largest :math:`|r|`, the weight of the pairs that it orders rightly
    less that of those that it orders wrongly, and gives it
    :math:`\alpha = \frac{1}{2} \log \frac{1+r}{1-r}`. The weight of a pair is a product of two factors
    for any number of labels, two (the bipartite form) or more, so a round is linear in the rows and never
    looks at a pair.

    Parameters
    ----------
    measure : the measure to report and to choose the round by.
    max_iter : rounds.
    max_bins : thresholds per feature plus one; where a feature has more values they are its quantiles.
    over : ``pairs``, each of which starts with the same weight, or ``queries``, all of which do.
    normalize : None or ``query`` (0 to 1 within each query, at prediction as well).
    early_stopping_rounds : rounds without a better validation value after which training ends. The best
        round by validation data is kept, without such data the last.
    n_jobs : threads.
    random_state : seed; nothing here is random.
    verbose : 1 shows progress on standard error.

    Attributes
    ----------
    stumps_ : the steps; `model_.params` are their weights.
    evals_result_, best_iteration_, best_score_, status_, n_iter_ : as in `DirectRank`.

    References
    ----------
    [freund2003efficient]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> rankopt.baselines.RankBoost("ndcg@5").fit(X, y, qid=qid).score(X, y, qid=qid) > 0.95
    True
    """

    system: ClassVar[str] = "rankboost"
    grids: ClassVar[dict[str, tuple[str, ...]]] = {"over": ("pairs", "queries")}

    def __init__(
        self,
        measure: str | Measure = "ndcg@10",
        *,
        max_iter: int = 300,
        max_bins: int = 256,
        over: str = "pairs",
        normalize: str | None = None,
        early_stopping_rounds: int | None = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.measure = measure
        self.max_iter = max_iter
        self.max_bins = max_bins
        self.over = over
        self.normalize = normalize
        self.early_stopping_rounds = early_stopping_rounds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, data: Dataset, valid: Sequence[Dataset]) -> Model:
        self._check()
        measure = self._measure()
        given, data = data, scaled(data, self.normalize)[0]
        valid = [scaled(part, self.normalize)[0] for part in valid]
        bound = measure.bind(data.labels, data.groups, data.weights, rows=data.rows)
        rounds = _Rounds(data, self.max_bins, self.over)
        kept: list[Floats] = [np.zeros(part.n_rows) for part in valid]
        status = Status.FINISHED

        def scores(_: Floats, part: Dataset) -> Floats:
            return kept[next(i for i, known in enumerate(valid) if known is part)]

        with progress(f"RankBoost {measure}", self.max_iter, bool(self.verbose)) as advance:
            watch = Watch(measure, valid, scores, self.early_stopping_rounds, advance)
            try:
                for iteration in range(1, self.max_iter + 1):
                    step = rounds.next()
                    if step is None:
                        status = Status.CONVERGED
                        break
                    stump, weight = Stumps((step[0],), (step[1],)), np.array([step[2]])
                    kept[:] = [
                        mine + stump.scores(weight, part)
                        for mine, part in zip(kept, valid, strict=True)
                    ]
                    if watch(Step(iteration, bound.mean(rounds.scores), 0.0), np.empty(0)):
                        status = Status.STOPPED_EARLY
                        break
            except KeyboardInterrupt:
                status = Status.INTERRUPTED
        taken = rounds.taken
        if watch.best_params is not None:
            taken = taken[: watch.best_iteration + 1]
            self.best_iteration_, self.best_score_ = watch.best_iteration, watch.best_value
        self.evals_result_ = watch.results(str(measure))
        self.status_, self.n_iter_ = status.value, max(len(watch.train), 1)
        self.stumps_, weights = _merged(taken)
        train = bound.mean(self.stumps_.scores(weights, data))
        return model_of(self, self.stumps_, weights, given, status=self.status_, train=train)

    def _check(self) -> None:
        if self.normalize == "standard":
            raise IncompatibleError(
                "rankboost: normalize='standard' changes no threshold's order; use None or 'query'"
            )
        if self.max_iter < 1 or not 2 <= self.max_bins <= 65_536:
            raise SpecError("rankboost: max_iter must be positive, max_bins from 2 to 65536")
        if self.over not in ("pairs", "queries"):
            raise SpecError(f"over: unknown {self.over!r}; use pairs or queries")


class _Rounds:
    """The state of the boosting: scores, and the features cut into bins."""

    def __init__(self, data: Dataset, max_bins: int, over: str) -> None:
        self.data = data
        X = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
        columns = np.ascontiguousarray(X.T)
        self.edges, self.counts = _edges(columns, max_bins)
        self.places: Ints = np.arange(data.n_features + 1) * data.n_rows  # features as "queries"
        kind = np.uint8 if max_bins <= 256 else np.uint16
        self.bins = np.empty(columns.shape, kind)
        over_queries(kernels.bins_of, self.places, columns, self.edges, self.counts, self.bins)
        query = np.repeat(np.arange(data.groups.n_queries), data.groups.sizes)
        self.order: Ints = np.lexsort((data.labels, query))
        self.scores = np.zeros(data.n_rows)
        self.factors = shares(data.weights, data.groups)
        if over == "queries":
            _, mass = self._pulls()
            self.factors = self.factors / np.where(mass > 0.0, mass, 1.0)
        self.taken: list[tuple[int, float, float]] = []

    def next(self) -> tuple[int, float, float] | None:
        """Add the best step: feature, threshold and weight; None where no step orders a pair."""
        pulls, mass = self._pulls()
        total = float(self.factors @ mass)
        if not total > 0.0:
            return None
        pulls *= self.data.groups.spread(self.factors / total)
        gains, at = np.empty(self.data.n_features), np.empty(self.data.n_features, np.int64)
        over_queries(kernels.best_steps, self.places, self.bins, self.counts, pulls, gains, at)
        best = int(np.argmax(np.abs(gains)))
        r = float(np.clip(gains[best], -_MOST, _MOST))
        if abs(r) < 1e-12:
            return None
        weight = 0.5 * np.log((1.0 + r) / (1.0 - r))
        self.scores += weight * (self.bins[best] > at[best])
        self.taken.append((best, float(self.edges[best, at[best]]), float(weight)))
        return self.taken[-1]

    def _pulls(self) -> tuple[Floats, Floats]:
        groups = self.data.groups
        pulls, mass = np.empty(groups.n_rows), np.empty(groups.n_queries)
        over_queries(
            kernels.pair_pulls,
            groups.offsets,
            self.scores,
            self.data.labels,
            self.order,
            pulls,
            mass,
        )
        return pulls, mass


def _edges(columns: NDArray[np.floating], max_bins: int) -> tuple[Floats, Ints]:
    """Thresholds of each feature, ascending, between neighbouring values or quantiles; their numbers."""
    found: list[Floats] = []
    for column in columns:
        values = np.unique(column[~np.isnan(column)]).astype(np.float64)
        if values.size > max_bins:
            values = np.unique(
                np.quantile(column, np.linspace(0.0, 1.0, max_bins), method="nearest")
            )
        # below the middle of two neighbours a value would be on the wrong side by rounding only
        found.append(values[:-1] + 0.5 * np.diff(values) if values.size > 1 else np.empty(0))
    counts = np.array([edges.size for edges in found], dtype=np.int64)
    out = np.full((len(found), max(1, int(counts.max(initial=1)))), np.inf)
    for f, edges in enumerate(found):
        out[f, : edges.size] = edges
    return out, counts


def _merged(taken: list[tuple[int, float, float]]) -> tuple[Stumps, Floats]:
    """The steps with those on the same place added up, in order of feature and threshold."""
    total: dict[tuple[int, float], float] = {}
    for feature, threshold, weight in taken:
        total[feature, threshold] = total.get((feature, threshold), 0.0) + weight
    places = sorted(total)
    stumps = Stumps(tuple(f for f, _ in places), tuple(t for _, t in places))
    return stumps, np.array([total[place] for place in places], dtype=np.float64)
