"""Evaluate: one ranking of a dataset, scored by measures under a named convention."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats, Ints, as_floats, require_finite
from rankopt.data.dataset import Dataset
from rankopt.data.groups import Groups
from rankopt.errors import DataError, SpecError
from rankopt.measures import Convention, Measure, as_convention, as_measure


@dataclass(frozen=True, eq=False)
class Results:
    """Measures of one ranking.

    Parameters
    ----------
    per_query : values of each measure, by its text, in the order of `qids`; NaN where the convention
        leaves a blank query out.
    mean : the mean of each measure, weighted by the weights of the queries.
    qids : identifiers of the queries.
    blank : how many queries have no row with a positive label.
    convention : how ties and blank queries were counted.
    """

    per_query: dict[str, Floats]
    mean: dict[str, float]
    qids: NDArray[Any]
    blank: int
    convention: Convention

    @property
    def queries(self) -> int:
        return self.qids.size

    def __repr__(self) -> str:
        means = ", ".join(f"{text} {value:.4f}" for text, value in self.mean.items())
        counts = f"{self.queries} queries, {self.blank} blank"
        return f"<Results: {means}; {counts}; convention {self.convention.name}>"

    def to_dict(self, by_query: bool = False) -> dict[str, Any]:
        """Plain values, as ``rankopt evaluate --json`` prints them."""
        out: dict[str, Any] = {
            "measures": self.mean,
            "queries": self.queries,
            "blank": self.blank,
            "convention": self.convention.describe(),
        }
        if by_query:
            names = [str(q) for q in self.qids.tolist()]
            out["per_query"] = {
                text: {
                    q: (None if v != v else v) for q, v in zip(names, values.tolist(), strict=True)
                }
                for text, values in self.per_query.items()
            }
        return out

    def to_frame(self) -> Any:
        """One row per query and one column per measure: pandas, else polars, else pyarrow."""
        columns = {"qid": self.qids, **self.per_query}
        for library, build in (
            ("pandas", "DataFrame"),
            ("polars", "DataFrame"),
            ("pyarrow", "table"),
        ):
            try:
                module = __import__(library)
            except ImportError:
                continue
            return getattr(module, build)(columns)
        raise DataError("to_frame needs pandas, polars or pyarrow: install one of them")


def evaluate(
    ranking: Any,
    data: Dataset,
    measures: Iterable[Measure | str] | Measure | str = ("ndcg@10",),
    *,
    convention: Convention | str = "rankopt",
) -> Results:
    """Score a model's or any other ranking of a dataset.

    Parameters
    ----------
    ranking : a fitted model, or one score per row in the caller's row order; higher is better.
    data : rows with labels.
    measures : texts such as ``ndcg@10``, or `Measure` objects (used as they are).
    convention : a name (``rankopt``, ``letor``, ``trec_eval``, ``lightgbm``, ...) or a `Convention`.

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.dataset([[0.0]] * 4, [0, 1, 1, 0], qid=["a", "a", "b", "b"])
    >>> results = rankopt.evaluate([2.0, 1.0, 2.0, 1.0], data, ["rr", "p@1"])
    >>> results.mean
    {'rr': 0.75, 'p@1': 0.5}
    """
    return evaluate_named(ranking, data, measures, convention, "scores")


def evaluate_named(
    ranking: Any,
    data: Dataset,
    measures: Iterable[Measure | str] | Measure | str,
    convention: Convention | str,
    name: str,
) -> Results:
    """`evaluate` of a ranking that errors call by a name."""
    if not isinstance(data, Dataset):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DataError(
            f"data: {type(data).__name__} is no Dataset; make one by rankopt.dataset(X, y, qid)"
        )
    return evaluate_scores(
        data.stored(scores_of(ranking, data, name)),
        data.labels,
        data.groups,
        measures,
        convention=convention,
        weights=data.weights,
        docs=data.docs,
        rows=data.rows,
    )


def scores_of(ranking: Any, data: Dataset, name: str = "scores") -> Floats:
    """One finite score per row in the caller's order, from a model or from scores."""
    if hasattr(ranking, "predict"):
        ranking = ranking.predict(data)
    scores = require_finite(as_floats(ranking, name), name)
    if scores.size != data.n_rows:
        raise DataError(
            f"{name}: {scores.size} values, but {data.name} has {data.n_rows} rows"
            f" in {data.groups.n_queries} queries; one per row is needed"
        )
    return scores


def evaluate_scores(
    scores: Floats,
    labels: Floats,
    groups: Groups,
    measures: Iterable[Measure | str] | Measure | str,
    *,
    convention: Convention | str = "rankopt",
    weights: Floats | None = None,
    docs: NDArray[Any] | None = None,
    rows: Ints | None = None,
    ideal: tuple[Ints, Floats] | None = None,
) -> Results:
    """`evaluate` on arrays in stored order; `ideal` as in `Measure.bind`."""
    convention = as_convention(convention)
    asked = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    if not asked:
        raise SpecError("no measure to evaluate: name one, such as ndcg@10")
    per_query: dict[str, Floats] = {}
    mean: dict[str, float] = {}
    share = np.ones(groups.n_queries) if weights is None else weights
    for spec in asked:
        measure = as_measure(spec, convention)
        bound = measure.bind(labels, groups, weights, ideal=ideal, rows=rows)
        values = bound.values(scores, convention.ties, docs)
        values[bound.blank] = convention.blank_value(measure)
        text = spec if isinstance(spec, str) else str(spec)
        per_query[text] = values
        kept = ~np.isnan(values)
        total = float(share[kept].sum())
        mean[text] = float(share[kept] @ values[kept]) / total if total > 0.0 else 0.0
    blank = int((np.maximum.reduceat(labels, groups.offsets[:-1]) <= 0.0).sum())
    return Results(per_query, mean, groups.qids, blank, convention)
