"""Compare: several rankings of one dataset, query by query, with paired tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.errors import DataError
from rankopt.evaluation.intervals import bootstrap_interval, holm, p_value
from rankopt.evaluation.scores import evaluate_named
from rankopt.measures import Convention, Measure, as_convention
from rankopt.random import as_generator


@dataclass(frozen=True)
class Pair:
    """One system against another: b less a.

    Parameters
    ----------
    a, b : names.
    difference : mean of b less mean of a.
    lo, hi : 95 % bootstrap interval of the difference over queries.
    p : p-value of the test; p_holm : corrected for the number of pairs.
    wins, ties, losses : queries on which b is better, as good, worse.
    """

    a: str
    b: str
    difference: float
    lo: float
    hi: float
    p: float
    p_holm: float
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, eq=False)
class Comparison:
    """Means with 95 % bootstrap intervals of each system, and all pairs of systems."""

    measure: str
    test: str
    queries: int
    convention: Convention
    means: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    pairs: tuple[Pair, ...]

    def __repr__(self) -> str:
        """Means and pairs as a table."""
        width = max(len(name) for name in self.means)
        lines = [f"<Comparison: {self.measure}; {self.queries} queries; {self.test} test"]
        for name, mean in self.means.items():
            lo, hi = self.intervals[name]
            lines.append(f"  {name:{width}}  {mean:.4f}  ({lo:.4f} to {hi:.4f})")
        lines += [
            f"  {p.b} less {p.a}: {p.difference:+.4f} ({p.lo:+.4f} to {p.hi:+.4f}), p {p.p_holm:.3g},"
            f" wins {p.wins}, ties {p.ties}, losses {p.losses}"
            for p in self.pairs
        ]
        return "\n".join(lines) + ">"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``rankopt compare --json`` prints them."""
        return {
            "measure": self.measure,
            "test": self.test,
            "queries": self.queries,
            "convention": self.convention.describe(),
            "means": self.means,
            "intervals": {name: list(interval) for name, interval in self.intervals.items()},
            "pairs": [asdict(pair) for pair in self.pairs],
        }


def compare(
    rankings: Mapping[str, Any],
    data: Dataset,
    measure: Measure | str = "ndcg@10",
    *,
    test: str = "randomisation",
    convention: Convention | str = "rankopt",
    against: str | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> Comparison:
    """Compare rankings of one dataset pair by pair.

    Parameters
    ----------
    rankings : name -> fitted model or scores in the caller's row order; two or more.
    test : ``randomisation`` (signs of the per-query differences flipped), ``t`` or ``wilcoxon``. With
        query weights the weighted differences are tested.
    against : the name that every other ranking is compared with; None compares every pair.
    random_state : seed of the tests and the intervals.

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.dataset([[0.0]] * 4, [0, 1, 1, 0], qid=["a", "a", "b", "b"])
    >>> result = rankopt.compare({"old": [2.0, 1, 2, 1], "new": [1.0, 2, 2, 1]}, data, "rr")
    >>> result.pairs[0].difference, result.pairs[0].wins
    (0.25, 1)
    >>> result
    <Comparison: rr; 2 queries; randomisation test
      old  0.7500  (0.5000 to 1.0000)
      new  1.0000  (1.0000 to 1.0000)
      new less old: +0.2500 (+0.0000 to +0.5000), p 1, wins 1, ties 1, losses 0>
    """
    if not isinstance(rankings, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DataError('compare: rankings must have names, as in {"old": scores, "new": model}')
    if len(rankings) < 2:
        raise DataError("compare: needs two or more rankings")
    if against is not None and against not in rankings:
        raise DataError(f"compare: against {against!r}, but there are {', '.join(rankings)}")
    convention = as_convention(convention)
    rng = as_generator(random_state)
    text = measure if isinstance(measure, str) else str(measure)
    results = {
        name: evaluate_named(ranking, data, [measure], convention, name)
        for name, ranking in rankings.items()
    }
    values = {name: result.per_query[text] for name, result in results.items()}
    kept = ~np.isnan(next(iter(values.values())))  # the same for all: blank is a matter of labels
    values = {name: v[kept] for name, v in values.items()}
    if not kept.any():
        raise DataError(f"compare: convention {convention.name} leaves no query to compare on")
    share = None if data.weights is None else data.weights[kept] / data.weights[kept].mean()
    intervals = {name: bootstrap_interval(v, rng, share) for name, v in values.items()}
    rows = [
        (a, b, values[b] - values[a], p_value(_weighted(values[b] - values[a], share), test, rng))
        for a, b in _paired(values, against)
    ]
    corrected = holm(np.array([p for *_, p in rows]))
    pairs = tuple(
        Pair(
            a, b, results[b].mean[text] - results[a].mean[text],
            *bootstrap_interval(d, rng, share), p, float(adjusted),
            int((d > 0.0).sum()), int((d == 0.0).sum()), int((d < 0.0).sum()),
        )
        for (a, b, d, p), adjusted in zip(rows, corrected, strict=True)
    )  # fmt: skip
    means = {name: result.mean[text] for name, result in results.items()}
    return Comparison(text, test, int(kept.sum()), convention, means, intervals, pairs)


def _paired(names: Iterable[str], against: str | None) -> list[tuple[str, str]]:
    """The names two by two, in order, or each of the others with one."""
    if against is None:
        return list(combinations(names, 2))
    return [(against, name) for name in names if name != against]


def _weighted(differences: Floats, share: Floats | None) -> Floats:
    return differences if share is None else differences * share
