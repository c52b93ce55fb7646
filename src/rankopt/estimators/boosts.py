"""boosts: query-time weights of a search engine's clauses, each with the range that keeps the optimum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.data.split import fold_queries
from rankopt.errors import DataError, SpecError
from rankopt.estimators.directrank import DirectRank
from rankopt.evaluation.compare import Pair, compare
from rankopt.measures import Measure, as_measure
from rankopt.random import as_generator
from rankopt.scorers import Linear
from rankopt.search.engine import Engine
from rankopt.search.fixedpoint import FixedPoint
from rankopt.solvers.coordinate import Lines
from rankopt.threads import using_threads

_DIGITS = (2, 3, 4, 6, 9, 12, 17)


@dataclass(frozen=True)
class Boost:
    """The weight of one clause, and the open range (lo, hi) in which the training measure stays the
    same while the other weights stay as they are."""

    feature: str
    weight: float
    lo: float
    hi: float


@dataclass(frozen=True, eq=False)
class Boosts:
    """Weights of clauses and what they are worth.

    Parameters
    ----------
    weights : one `Boost` per feature.
    train_before, train : the measure on the training queries with the current and the new weights.
    valid_before, valid : the same on validation queries, or None.
    gain : current against new weights on queries that the new weights have not seen: the validation
        queries, else every query by weights trained without its fold. None with ``folds=0``.
    gain_on : ``validation``, ``cross-validation`` or ``nothing``.
    expression : the weighted sum, to paste into a query; features that only have numbers are f1, f2, ...
    """

    measure: str
    weights: tuple[Boost, ...]
    train_before: float
    train: float
    valid_before: float | None
    valid: float | None
    gain: Pair | None
    gain_on: str
    expression: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``rankopt boosts --json`` prints them."""
        out: dict[str, Any] = {
            "measure": self.measure,
            "train_before": self.train_before,
            "train": self.train,
            "weights": [asdict(boost) for boost in self.weights],
            "gain": None if self.gain is None else asdict(self.gain),
            "gain_on": self.gain_on,
            "expression": self.expression,
        }
        if self.valid is not None:
            out |= {"valid_before": self.valid_before, "valid": self.valid}
        return out


def boosts(
    data: Dataset,
    measure: Measure | str = "ndcg@10",
    *,
    current: Mapping[str, float] | Sequence[float] | None = None,
    valid: Dataset | None = None,
    folds: int = 5,
    test: str = "randomisation",
    restarts: int = 5,
    kicks: int = 5,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Boosts:
    """Find non-negative weights that maximise a measure, by exact coordinate ascent from the current ones.

    Parameters
    ----------
    data : one row per judged document, one column per clause: its score as the engine logged it.
    measure : the measure to maximise.
    current : the weights in use, by feature name or in order; None stands for equal weights.
    valid : held-out queries, on which the gain is then measured.
    folds : without `valid`, the gain is measured by training without each of so many folds of the
        queries; 0 leaves that out.
    test : ``randomisation``, ``t`` or ``wilcoxon``.
    restarts, kicks : as in `DirectRank`; the training measure decides.

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.random((200, 2)), np.repeat(np.arange(20), 10)
    >>> y = np.floor(3 * X[:, 0])
    >>> data = rankopt.dataset(X, y, qid, features=("title", "body"))
    >>> found = rankopt.boosts(data, "ndcg@5")
    >>> found.train_before < found.train, found.weights[0].feature
    (True, 'title')
    """
    measure = as_measure(measure)
    names = data.features or tuple(f"f{i + 1}" for i in range(data.n_features))
    present = _current(current, names)
    if folds == 1 or folds < 0:
        raise SpecError("folds: 0, or 2 and more")

    def train(part: Dataset) -> Floats:
        ranker = DirectRank(
            measure, start=present, bounds=(0.0, None), restarts=restarts, kicks=kicks,
            random_state=random_state, n_jobs=n_jobs, verbose=verbose,
        ).fit(part)  # fmt: skip
        return np.asarray(ranker.coef_)

    with using_threads(n_jobs):
        bound = measure.bind(data.labels, data.groups, data.weights, rows=data.rows)
        lines = Lines.of(data, bound, np.zeros(present.size))
        weights = _rounded(lines, _rescaled(train(data), present))
        found = _ranges(lines, weights, names)
        linear = Linear()
        before, after = (bound.mean(linear.scores(w, data)) for w in (present, weights))
        gain, gain_on = None, "nothing"
        valid_before = valid_after = None
        if valid is not None:
            scores = {
                n: valid.restored(linear.scores(w, valid))
                for n, w in (("current", present), ("new", weights))
            }
            result = compare(scores, valid, measure, test=test, random_state=random_state)
            gain, gain_on = result.pairs[0], "validation"
            valid_before, valid_after = result.means["current"], result.means["new"]
        elif folds:
            unseen = _unseen(data, train, min(folds, data.groups.n_queries), random_state)
            scores = {
                "current": data.restored(linear.scores(present, data)),
                "new": data.restored(unseen),
            }
            gain = compare(scores, data, measure, test=test, random_state=random_state).pairs[0]
            gain_on = "cross-validation"
    return Boosts(
        str(measure), found, before, after, valid_before, valid_after, gain, gain_on,
        _expression(found),
    )  # fmt: skip


def _expression(weights: tuple[Boost, ...]) -> str:
    """The weighted sum; what has a number for a name is called f1, f2, ..., for a sum of bare numbers
    says nothing."""
    terms = [
        f"{b.weight:.12g} * {'f' if b.feature.isdigit() else ''}{b.feature}"
        for b in weights
        if b.weight > 0.0
    ]
    return " + ".join(terms) or "0"


def _current(
    current: Mapping[str, float] | Sequence[float] | None, names: tuple[str, ...]
) -> Floats:
    if current is None:
        return np.ones(len(names))
    if isinstance(current, Mapping):
        unknown = [name for name in current if name not in names]
        if unknown:
            raise DataError(
                f"current: no feature is named {unknown[0]!r}; there are {', '.join(names[:20])}"
            )
        values = np.array([float(current.get(name, 0.0)) for name in names])
    else:
        values = np.asarray(current, dtype=np.float64)
    if values.shape != (len(names),):
        raise DataError(f"current: {values.size} weights for {len(names)} features; one for each")
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0.0)))
    if wrong.size:
        raise DataError(
            f"current: weight {values[wrong[0]]:g} of {names[wrong[0]]!r}; weights must be finite and"
            " not negative. Where a clause counts against a document, negate its column"
        )
    if values.max() == 0.0:
        raise DataError("current: all weights are 0")
    return values


def _rescaled(weights: Floats, like: Floats) -> Floats:
    """The same ranking with weights that add up to what the current ones add up to."""
    total = float(weights.sum())
    return weights * (float(like.sum()) / total) if total > 0.0 else weights


def _rounded(lines: Lines, weights: Floats) -> Floats:
    """The fewest significant digits at which the training measure is no lower."""
    target = FixedPoint.of(lines.bound)
    goal = target.total(lines.scores(weights))
    for digits in _DIGITS:
        short = np.array([float(f"{w:.{digits}g}") for w in weights])
        if target.total(lines.scores(short)) >= goal:
            return short
    return weights


def _ranges(lines: Lines, weights: Floats, names: tuple[str, ...]) -> tuple[Boost, ...]:
    """The interval around each weight on which the training measure does not change."""
    engine = Engine(FixedPoint.of(lines.bound), lines.scores(weights))
    out: list[Boost] = []
    for f, name in enumerate(names):
        weight = float(weights[f])
        steps = engine.search(lines.columns[f], -weight, np.inf, full=True)
        assert steps.breakpoints is not None
        edges = np.concatenate(([-weight], steps.breakpoints, [np.inf]))
        right = int(np.searchsorted(edges, 0.0, side="right"))
        lo, hi = float(edges[max(right - 1, 0)]), float(edges[min(right, edges.size - 1)])
        out.append(Boost(name, weight, weight + lo, weight + hi))
    return tuple(out)


def _unseen(data: Dataset, train: Any, folds: int, seed: int | None) -> Floats:
    """Scores of each query by weights trained without its fold."""
    scores = np.zeros(data.n_rows)
    if folds < 2:
        raise DataError("boosts: a single query cannot be cross-validated; pass valid= or folds=0")
    for rest, held in fold_queries(data, folds, as_generator(seed)):
        part = data.take(held)
        _, rows = data.groups.take(held)
        scores[rows] = Linear().scores(train(data.take(rest)), part)
    return scores
