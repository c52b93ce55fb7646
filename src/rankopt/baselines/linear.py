"""What the baselines without a solver share: from weights to a model."""

from __future__ import annotations

from typing import Any

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.data.scale import Scaling
from rankopt.estimators.base import BaseRanker
from rankopt.estimators.linear import folded
from rankopt.models.model import Model
from rankopt.scorers import Linear, Scorer


def linear_model(
    ranker: BaseRanker, weights: Floats, data: Dataset, scaling: Scaling | None, **notes: Any
) -> Model:
    """The model of linear weights on scaled data; sets the attributes of linear rankers."""
    ranker.coef_, ranker.intercept_ = folded(weights, scaling), 0.0
    return model_of(ranker, Linear(), ranker.coef_, data, **notes)


def model_of(
    ranker: BaseRanker, scorer: Scorer, params: Floats, data: Dataset, **notes: Any
) -> Model:
    """The model of a fitted ranker."""
    names = tuple(str(n) for n in getattr(ranker, "feature_names_in_", ()))
    kept = "query" if ranker.normalize == "query" else None
    notes = {"queries": data.groups.n_queries, **notes}
    recipe = ranker._recipe(**notes)  # pyright: ignore[reportPrivateUsage]
    return Model(scorer, params, data.n_features, names, kept, recipe)
