"""What the systems of boosted trees share: from an objective and a plan to a forest."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.dataset import Dataset
from rankopt.ensembles.grower import LightGBMGrower, TreeShape
from rankopt.errors import DataError, IncompatibleError, SpecError
from rankopt.estimators.base import BaseRanker
from rankopt.estimators.leverage import leveraged
from rankopt.estimators.linear import scaled
from rankopt.estimators.validation import Watch
from rankopt.measures import BoundMeasure
from rankopt.models.model import Model
from rankopt.objectives import OBJECTIVES, Objective, Sloped
from rankopt.progress import progress
from rankopt.random import as_generator
from rankopt.scorers import Forest
from rankopt.scorers.trees import Trees
from rankopt.solvers.boost import Boost, Boosted

if TYPE_CHECKING:
    from lightgbm import Booster

_EARLY = 0.2  # of the rounds: a best one before that says that they were too large


class TreeRanker(BaseRanker):
    """A weighted sum of trees, boosted.

    Attributes
    ----------
    tree_weights_ : the weights of the trees kept.
    feature_importances_ : splits on each feature.
    booster_ : the model as a ``lightgbm.Booster``, whose predictions are the same to the last bit.
    status_ : how boosting ended, in a sentence.
    n_iter_ : rounds made, each of a tree per fold.
    history_ : its steps: iteration, training measure, seconds, and the weight of its trees as `watched`.
    evals_result_ : training and validation values after each round, and with folds those of the training
        queries by the trees that have not seen them (``held_out``).
    best_iteration_, best_score_ : rounds kept and the value they are kept for: the best on validation and
        held-out queries together. Where there are neither, all are kept.
    """

    takes_missing: ClassVar[bool] = True
    n_estimators: int
    num_leaves: int
    min_child_samples: int
    early_stopping_rounds: int | None
    init_model: Any
    random_state: Any
    verbose: int

    @abstractmethod
    def _parts(self, queries: int) -> tuple[Objective, Boost]:
        """What is boosted, and how, on so many queries."""

    def _leverage(self) -> tuple[int, int | None]:
        """Rounds over the weights of all trees after boosting, and the blocks that they come in."""
        return 0, None

    @abstractmethod
    def _shape(self, categories: tuple[int, ...]) -> TreeShape:
        """How trees are grown."""

    def _fit(self, data: Dataset, valid: Sequence[Dataset]) -> Model:
        objective, plan = self._parts(data.groups.n_queries)
        self._check(objective, valid)
        rng = as_generator(self.random_state)
        given, data = data, scaled(data, self.normalize)[0]
        valid = [scaled(part, self.normalize)[0] for part in valid]
        parts = [data, *valid]
        bound = self._measure().bind(data.labels, data.groups, data.weights, rows=data.rows)
        loss = objective.bind(data.labels, data.groups, data.weights)
        if not isinstance(loss, Sloped):
            raise IncompatibleError(
                f"objective: {objective} is piecewise constant and no tree can follow it; grow trees on"
                " another, such as squared, and weigh them by the measure"
            )
        first, scores = self._begin(parts)
        shape = self._shape(self._categories(data))
        words = f"{type(self).__name__} {self._measure()}"
        with progress(words, plan.n_estimators, bool(self.verbose)) as advance:
            held_out = scores[0].copy() if plan.folds > 1 else None
            watch = Watch(
                self._measure(), valid, lambda _, part: scores[1 + valid.index(part)],
                self.early_stopping_rounds, advance,
                None if held_out is None else (bound, held_out),
            )  # fmt: skip
            grower = LightGBMGrower(shape, parts, int(rng.integers(2**31 - 1)))
            boosted = plan.run(grower, loss, bound, scores, rng, watch, held_out)
        forest, weights = self._kept(boosted, watch, first, plan.folds)
        weights = self._leveraged(forest, weights, parts, [bound, *watch.bound])
        self._report(boosted, watch, weights)
        return self._model(given, data, forest, weights, bound, str(objective))

    def _check(self, objective: Objective, valid: Sequence[Dataset]) -> None:
        if self.normalize == "standard":
            raise IncompatibleError(
                f"{self.system}: normalize='standard' changes no split of a tree; use None or 'query'"
            )
        if self.early_stopping_rounds is not None and self.early_stopping_rounds < 1:
            raise SpecError("early_stopping_rounds: must be positive, or None")
        rounds, blocks = self._leverage()
        if rounds < 0 or (blocks is not None and blocks < 1):
            raise SpecError("reweight_rounds: 0 or more; reweight_blocks: 1 or more, or None")
        if rounds and not valid:
            raise IncompatibleError("reweight_rounds: needs validation data as a guard (eval_set)")

    def _begin(self, parts: Sequence[Dataset]) -> tuple[Model | None, list[Floats]]:
        """The model to continue, and the scores of every part to start from."""
        first = as_forest(self.init_model)
        if first is None:
            return None, [np.zeros(part.n_rows) for part in parts]
        if first.normalize != (self.normalize if self.normalize == "query" else None):
            raise IncompatibleError(
                f"init_model: was trained with normalize={first.normalize!r}, this is to be trained with"
                f" {self.normalize!r}; use the same"
            )
        if first.n_features != parts[0].n_features:
            raise DataError(
                f"init_model: has {first.n_features} features, the data {parts[0].n_features}"
            )
        return first, [first.scorer.scores(first.params, part) for part in parts]

    def _kept(
        self, boosted: Boosted, watch: Watch, first: Model | None, folds: int
    ) -> tuple[Trees, Floats]:
        """The trees up to the best round, behind those of the model that is continued."""
        n = boosted.weights.size
        if watch.best_params is not None:
            n = watch.best_params.size
            self.best_score_ = watch.best_value
        self.best_iteration_ = n // folds
        trees, weights = boosted.trees[:n], boosted.weights[:n]
        if first is None:
            return Trees.joined(trees), weights
        assert isinstance(first.scorer, Forest)
        return Trees.joined([first.scorer.trees, *trees]), np.concatenate((first.params, weights))

    def _leveraged(
        self, trees: Trees, weights: Floats, parts: Sequence[Dataset], bound: Sequence[BoundMeasure]
    ) -> Floats:
        """The weights of all trees searched anew, where that is asked for."""
        rounds, blocks = self._leverage()
        if rounds == 0:
            return weights
        words = f"{type(self).__name__} weights of trees"
        with progress(words, rounds * (blocks or trees.n_trees), bool(self.verbose)) as advance:
            found = leveraged(trees, weights, parts[:2], bound[:2], rounds, blocks, advance)
        assert found.valid is not None
        self.best_score_ = found.valid
        return weights * found.factors

    def _report(self, boosted: Boosted, watch: Watch, weights: Floats) -> None:
        self.history_ = boosted.history
        self.n_iter_ = max(len(boosted.history), 1)
        self.status_ = boosted.status.value
        if self.best_iteration_ < len(boosted.history):
            self.status_ += f" The first {self.best_iteration_} of {self.n_iter_} rounds are kept."
            if self.best_iteration_ < _EARLY * self.n_estimators:
                self.status_ += " That is early; a lower learning_rate may well do better."
        self.evals_result_ = watch.results(str(self._measure()))
        self.tree_weights_ = weights

    def _model(
        self,
        given: Dataset,
        data: Dataset,
        trees: Trees,
        weights: Floats,
        bound: BoundMeasure,
        objective: str,
    ) -> Model:
        forest = Forest(trees)
        names = tuple(str(n) for n in getattr(self, "feature_names_in_", ()))
        kept = "query" if self.normalize == "query" else None
        recipe = self._recipe(
            queries=data.groups.n_queries,
            status=self.status_,
            objective=objective,
            train=bound.mean(forest.scores(weights, data)),
        )
        if self.init_model is not None:
            recipe = replace(recipe, parameters={**recipe.parameters, "init_model": None})
        return Model(forest, weights, given.n_features, names, kept, recipe)

    def _categories(self, data: Dataset) -> tuple[int, ...]:
        """Columns of categories, by number or name."""
        asked: Any = getattr(self, "categorical_feature", None)
        if asked is None:
            return ()
        if isinstance(asked, (str, int, np.integer)):
            asked = [asked]
        names = list(data.features) or [str(n) for n in getattr(self, "feature_names_in_", ())]
        out: list[int] = []
        for column in asked:
            if isinstance(column, str) and column not in names:
                raise DataError(f"categorical_feature: no feature is named {column!r}")
            out.append(names.index(column) if isinstance(column, str) else int(column))
        return tuple(out)

    @property
    def feature_importances_(self) -> Ints:
        """How many splits each feature has in the trees that are kept."""
        return np.bincount(self._forest().feature, minlength=self.n_features_in_)

    @property
    def booster_(self) -> Booster:
        """The model as LightGBM's own."""
        import lightgbm as lgb

        from rankopt.ensembles.text import to_text

        forest, model = self._forest(), self.model_
        return lgb.Booster(
            model_str=to_text(forest, model.params, model.n_features, model.features)
        )

    def _forest(self) -> Trees:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "model_")
        assert isinstance(self.model_.scorer, Forest)
        return self.model_.scorer.trees


def as_forest(model: Any) -> Model | None:
    """A model of trees to continue: a fitted ranker, a model file, or a ``lightgbm.Booster``."""
    if model is None:
        return None
    if isinstance(model, str) or hasattr(model, "__fspath__"):
        from rankopt.models.storage import load_model

        found: Any = load_model(model)
    elif hasattr(model, "model_to_string"):
        found = _of_booster(model)
    else:
        found = getattr(model, "model_", model)
    if not isinstance(found, Model) or not isinstance(found.scorer, Forest):
        raise SpecError(
            "init_model: must be a fitted ranker of trees, the file of one, or a lightgbm.Booster"
        )
    return found


def _of_booster(booster: Any) -> Model:
    from rankopt.ensembles.lightgbm import pack
    from rankopt.models.model import Recipe

    if booster.num_model_per_iteration() != 1:
        raise SpecError("init_model: the booster gives several scores per row; one is needed")
    trees = pack(booster)
    recipe = Recipe("lightgbm")
    return Model(Forest(trees), np.ones(trees.n_trees), booster.num_feature(), (), None, recipe)


def sloped(objective: Any, measure: Any) -> Objective:
    """An objective with slopes from its text, in which MEASURE stands for the measure of the ranker."""
    if isinstance(objective, str):
        objective = objective.replace("MEASURE", str(measure))
    return OBJECTIVES.build(objective)
