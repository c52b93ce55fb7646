"""Model: all that is needed to score, store and export a trained ranker."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.errors import DataError
from rankopt.models.inputs import Inputs
from rankopt.scorers.base import Scorer


@dataclass(frozen=True)
class Recipe:
    """How a model came about, as plain values.

    Parameters
    ----------
    system : the system's name, such as ``directrank``.
    parameters : the estimator's parameters.
    notes : what the fit reports: measures reached, status, versions, size of the data.
    """

    system: str
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    notes: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, eq=False)
class Model:
    """A trained ranker.

    Parameters
    ----------
    scorer, params : the function and its parameters, on features as the caller gives them, save for
        what `normalize` asks.
    normalize : None, or ``query``: features are scaled to [0, 1] within each query before scoring.
        Standardisation is folded into `params` instead.
    features : names of the features, or empty.
    n_features : their number.
    n_query_features : the number of features of queries that the caller gives apart; 0 where the
        scorer does not ask for any.
    inputs : what becomes of the data before the scorer sees it.
    """

    scorer: Scorer
    params: Floats
    n_features: int
    features: tuple[str, ...]
    normalize: str | None
    recipe: Recipe
    n_query_features: int = 0
    inputs: Inputs = field(default_factory=Inputs)

    def predict(self, data: Dataset) -> Floats:
        """One score per row, in stored order."""
        return self.scorer.scores(self.params, self.prepared(data))

    def prepared(self, data: Dataset) -> Dataset:
        """The data as the scorer takes it; a `DataError` where it is of another shape."""
        if self.inputs.vocabulary is None and data.texts is None:
            self.check_features(data)
        data = self.inputs.apply(data)
        if self.normalize != "query":
            return data
        from rankopt.data.scale import scale_per_query

        return scale_per_query(data)

    @property
    def scored_features(self) -> tuple[str, ...]:
        """Names of the features of objects that the scorer sees; numbers from 1 where they have none."""
        vocabulary = self.inputs.vocabulary
        if vocabulary is not None and vocabulary.answers.words:
            return vocabulary.answers.words
        if vocabulary is not None:
            return tuple(str(f + 1) for f in range(vocabulary.widths[0]))
        names = self.features or tuple(str(f + 1) for f in range(self.n_features))
        return tuple(name for f, name in enumerate(names) if f not in self.inputs.query_columns)

    def check_features(self, data: Dataset) -> None:
        """Refuse data whose features are not the model's.

        Text files number their features; against names such numbers go by position.
        """
        if data.n_features != self.n_features:
            advice = "it needs the features that the model was trained on, and no others"
            if data.n_features < self.n_features:
                advice = (
                    "where a text file leaves out zeros, read it with"
                    f" n_features={self.n_features} (--n-features {self.n_features})"
                )
            raise DataError(
                f"{data.name}: has {data.n_features} features, but the model was trained on"
                f" {self.n_features}; {advice}"
            )
        if self.n_query_features and data.n_query_features != self.n_query_features:
            raise DataError(
                f"{data.name}: has {data.n_query_features} query features, but the model was trained on"
                f" {self.n_query_features}"
            )
        comparable = _numbered(self.features) == _numbered(data.features)
        if self.features and data.features and comparable and self.features != data.features:
            differing = [
                (i, a, b)
                for i, (a, b) in enumerate(zip(self.features, data.features, strict=True))
                if a != b
            ]
            number, mine, theirs = differing[0]
            raise DataError(
                f"{data.name}: feature {number + 1} is named {theirs!r}, but the model was trained with"
                f" {mine!r} there; bring the columns into the model's order"
            )

    def with_notes(self, **notes: Any) -> Model:
        """The same model with more notes in its recipe."""
        return replace(self, recipe=replace(self.recipe, notes={**self.recipe.notes, **notes}))


def _numbered(features: tuple[str, ...]) -> bool:
    """Whether features have the numbers of a text file instead of names."""
    return all(name.isdigit() for name in features)
