"""The base of all estimators: scikit-learn's interface with queries.

`fit` and `score` take `qid`, one identifier per row in any order; `predict` needs none. Everything a
subclass adds is its parameters and `_fit`.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from rankopt.arrays import Floats, Ints
from rankopt.data.dataset import Dataset, dataset, query_weights
from rankopt.data.groups import Groups
from rankopt.errors import DataError, SpecError
from rankopt.estimators.parameters import check_parameters
from rankopt.evaluation.scores import evaluate_scores
from rankopt.measures import Measure, as_measure
from rankopt.models.model import Model, Recipe
from rankopt.models.storage import save_model
from rankopt.threads import using_threads


class BaseRanker(BaseEstimator):
    """What every system shares. `measure` is what `score` reports.

    Metadata routing: `qid` is requested by `fit` and `score`, so cross-validation and search pass it
    on once scikit-learn's ``enable_metadata_routing`` is on.
    """

    system: ClassVar[str]
    takes_missing: ClassVar[bool] = False  # whether features may be NaN
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True}
    __metadata_request__score: ClassVar[dict[str, Any]] = {"qid": True}

    measure: Any
    n_jobs: int | None
    normalize: str | None
    text: Any = None  # how text becomes features, in systems that take it
    query_columns: Any = None  # the columns of X that describe the query, in systems that tell
    model_: Model
    n_queries_: int
    coef_: Floats
    intercept_: float

    @abstractmethod
    def _fit(self, data: Dataset, valid: Sequence[Dataset]) -> Model:
        """Train on prepared data and set the fitted attributes."""

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
        query_weight: ArrayLike | None = None,
        eval_set: Sequence[Any] | None = None,
        eval_qid: Sequence[ArrayLike] | None = None,
        eval_group: Sequence[ArrayLike] | None = None,
    ) -> Self:
        """Train.

        Parameters
        ----------
        X : features, one row per document, or a `Dataset` that brings y and qid along.
        y : labels; higher is more relevant.
        qid : query identifiers, integers or text, in any row order; None is one query of all rows.
        group : sizes of consecutive queries, instead of `qid`.
        query_weight : one weight per query, in order of first appearance, or one per row, the same
            within each query.
        eval_set : validation data, ``[(X, y)]`` with `eval_qid` or `eval_group`, or ``[Dataset]``.
        """
        check_parameters(self)
        data = self._training_data(X, y, qid, group, query_weight)
        valid = self._validation_data(eval_set, eval_qid, eval_group)
        self.n_queries_ = data.groups.n_queries
        with using_threads(self.n_jobs):
            self.model_ = self._fit(data, valid)
        return self

    def predict(self, X: Any, qid: ArrayLike | None = None) -> Floats:
        """One score per row, in the caller's order. Scores of different queries do not compare.

        `qid` is needed only by models with ``normalize="query"``.
        """
        check_is_fitted(self, "model_")
        data = self._rows(X, None, qid)
        if self.model_.normalize == "query" and qid is None and not isinstance(X, Dataset):
            raise DataError(
                "predict: a model with normalize='query' needs qid, as it scales within queries"
            )
        with using_threads(self.n_jobs):
            return data.restored(self.model_.predict(data))

    def rank(self, X: Any, qid: ArrayLike | None = None) -> np.ndarray:
        """The rank of each row within its query, from 1, in the caller's order; ties by row order."""
        from rankopt.measures.base import ordered

        data = self._rows(X, None, qid)
        scores = data.stored(self.predict(X, qid))
        order = ordered(data.groups.offsets, scores, np.zeros_like(scores))
        ranks = np.empty(data.n_rows, np.int64)
        places = np.arange(data.n_rows) - np.repeat(data.groups.offsets[:-1], data.groups.sizes)
        ranks[order + np.repeat(data.groups.offsets[:-1], data.groups.sizes)] = places + 1
        return data.restored(ranks)

    def score(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """The mean of the system's measure. `sample_weight`: per query, or per row the same within one."""
        check_is_fitted(self, "model_")
        if qid is None and not isinstance(X, Dataset) and self.n_queries_ > 1:
            raise DataError(
                f"score: qid is missing, though the model was trained on {self.n_queries_} queries; pass"
                " qid=. In a search or cross-validation turn scikit-learn's metadata routing on:"
                " sklearn.set_config(enable_metadata_routing=True)"
            )
        data = self._rows(X, y, qid)
        weights = data.weights
        if sample_weight is not None:
            weights = weights_of(sample_weight, data)
        scores = data.stored(self.predict(X, qid))
        measure = self._measure()
        results = evaluate_scores(
            scores, data.labels, data.groups, measure, weights=weights, rows=data.rows
        )
        return results.mean[str(measure)]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file; `rankopt.load` reads it."""
        check_is_fitted(self, "model_")
        save_model(self.model_, path)

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """A fitted estimator from a stored model."""
        known = {k: v for k, v in model.recipe.parameters.items() if k in cls._get_param_names()}
        self = cls(**known)
        self.model_ = model
        self.n_features_in_ = model.n_features
        self.n_queries_ = int(model.recipe.notes.get("queries", 2))
        if model.features:
            self.feature_names_in_ = np.asarray(model.features, dtype=object)
        if model.scorer.name == "linear":
            self.coef_, self.intercept_ = model.params, 0.0
        return self

    def _measure(self) -> Measure:
        return as_measure(self.measure)

    def _training_data(
        self,
        X: Any,
        y: ArrayLike | None,
        qid: ArrayLike | None,
        group: ArrayLike | None,
        weight: Any,
    ) -> Dataset:
        if self.normalize not in (None, "query", "standard"):
            raise SpecError(
                f"normalize: unknown {self.normalize!r}; use None, 'query' or 'standard'"
            )
        if isinstance(X, Dataset):
            if y is not None or qid is not None or group is not None:
                raise DataError(
                    "fit: a Dataset brings its labels and queries; do not pass y, qid or group"
                )
            data = X
            if data.texts is not None and self.text is None:
                raise DataError(
                    f"{data.name}: holds text, and {type(self).__name__} takes features; FunctionalRank"
                    " takes text, and rankopt.data.text makes features of it"
                )
            self.n_features_in_ = data.n_features
            if data.features:
                self.feature_names_in_ = np.asarray(data.features, dtype=object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            self._check_missing(data)
        else:
            target: Any = y
            checked, labels = validate_data(
                self, X, target, accept_sparse="csr", dtype=(np.float64, np.float32), y_numeric=True,
                ensure_all_finite=self._finite,
            )  # fmt: skip
            names = tuple(getattr(self, "feature_names_in_", ()))
            data = dataset(checked, labels, qid, group=group, features=names, name="X")
        data.labels  # noqa: B018 (raises where there are none)
        if weight is not None:
            from dataclasses import replace

            data = replace(data, weights=weights_of(weight, data))
        return data

    def _validation_data(
        self,
        eval_set: Sequence[Any] | None,
        eval_qid: Sequence[ArrayLike] | None,
        eval_group: Sequence[ArrayLike] | None,
    ) -> list[Dataset]:
        parts: list[Dataset] = []
        for i, item in enumerate(eval_set or ()):
            if isinstance(item, Dataset):
                part = item
            else:
                Xv, yv = item
                qid = None if eval_qid is None else eval_qid[i]
                group = None if eval_group is None else eval_group[i]
                if qid is None and group is None:
                    raise DataError(
                        f"eval_set: part {i} has no queries; pass eval_qid or eval_group"
                    )
                checked = validate_data(
                    self, Xv, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False,
                    ensure_all_finite=self._finite,
                )  # fmt: skip
                part = dataset(checked, yv, qid, group=group, name=f"eval_set[{i}]")
            if part.n_features != self.n_features_in_:
                raise DataError(
                    f"{part.name}: has {part.n_features} features, the training data {self.n_features_in_}"
                )
            part.labels  # noqa: B018
            parts.append(part)
        return parts

    def _rows(self, X: Any, y: ArrayLike | None, qid: ArrayLike | None) -> Dataset:
        if isinstance(X, Dataset):
            self._check_missing(X)
            return X
        checked: Any = validate_data(
            self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False,
            ensure_all_finite=self._finite,
        )  # fmt: skip
        columns = self.model_.inputs.query_columns
        if qid is None and y is None and columns:
            qid = runs(checked[:, list(columns)])
        return dataset(checked, y, qid, name="X")

    @property
    def _finite(self) -> Any:
        return "allow-nan" if self.takes_missing else True

    def _check_missing(self, data: Dataset) -> None:
        if not self.takes_missing:
            _require_finite_features(data)

    def _recipe(self, **notes: Any) -> Recipe:
        """The parameters as plain values, and notes."""
        return Recipe(
            self.system, {k: _plain(v) for k, v in self.get_params(deep=False).items()}, notes
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "ranker"
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.takes_missing
        return tags


def runs(features: Any) -> Ints:
    """The number of each row's run of equal rows."""
    dense = features if isinstance(features, np.ndarray) else features.toarray()
    return np.append(0, np.cumsum((dense[1:] != dense[:-1]).any(axis=1)))


def weights_of(weights: ArrayLike, data: Dataset) -> Floats:
    """Weights of queries, from one per query or from one per row that is the same within a query."""
    values = np.asarray(weights, dtype=np.float64)
    groups: Groups = data.groups
    if values.shape == (groups.n_rows,) and groups.n_rows != groups.n_queries:
        per_row = data.stored(values)
        first = per_row[groups.offsets[:-1]]
        if not np.array_equal(groups.spread(first), per_row):
            bad = int(np.flatnonzero(groups.spread(first) != per_row)[0])
            query = groups.qids[np.searchsorted(groups.offsets, bad, side="right") - 1]
            raise DataError(
                f"weights: rows of query {query} have different weights; weights belong to queries"
            )
        values = first
    return query_weights(values, groups)


def _require_finite_features(data: Dataset) -> None:
    if data.Q is not None:
        of_queries = data.Q if isinstance(data.Q, np.ndarray) else data.Q.data
        if not np.isfinite(of_queries).all():
            raise DataError(f"{data.name}: query_features hold NaN; fill them")
    values = data.X if isinstance(data.X, np.ndarray) else data.X.data
    if not np.isfinite(values.sum(dtype=np.float64)) and not np.isfinite(values).all():
        where = ""
        if isinstance(data.X, np.ndarray):
            row, column = np.argwhere(~np.isfinite(data.X))[0]
            number = row if data.rows is None else data.rows[row]
            where = f" (row {number + 1}, feature {column + 1})"
        raise DataError(
            f"{data.name}: holds NaN or infinite features{where}; linear models need finite values: read"
            " the file with missing='zero' or 'query-minimum', or fill them"
        )


def _plain(value: Any) -> Any:
    if isinstance(value, (np.integer, np.floating)):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
