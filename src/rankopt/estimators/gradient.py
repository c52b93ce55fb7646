"""What the systems trained by gradients share: from parts and data to a model."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.data.scale import Scaling
from rankopt.data.text import WORDS
from rankopt.errors import IncompatibleError, SpecError
from rankopt.estimators.base import BaseRanker
from rankopt.estimators.linear import scaled, standard_start
from rankopt.estimators.polish import polished
from rankopt.estimators.validation import Watch
from rankopt.measures import BoundMeasure, Measure, as_measure
from rankopt.models.inputs import Inputs, resolved
from rankopt.models.model import Model
from rankopt.objectives.base import Objective, Sloped, Stepped
from rankopt.progress import progress
from rankopt.random import as_generator
from rankopt.scorers import Kernel, Linear, Quadratic, Scorer
from rankopt.scorers.kernel import KernelMap
from rankopt.solvers import L2, Annealed, Problem, Restarts, Solver
from rankopt.solvers.base import Solution, Status
from rankopt.solvers.starts import ridge

_SHRINK = 0.1  # penalty of the ridge regression: weights to be pulled to had better generalise
Frame = tuple[Dataset, Scaling | None, KernelMap | None]


class GradientRanker(BaseRanker):
    """A system made of a scorer, an objective and a solver.

    Attributes
    ----------
    coef_ : weights of the features, where the scorer is linear.
    status_ : how the solver ended, in a sentence.
    n_iter_ : its iterations.
    history_ : its steps: iteration, loss, seconds.
    temperature_ : where the solver anneals, the temperature of the level that the model is from.
    evals_result_ : losses, and validation values, after each iteration (each level, when annealed).
    best_iteration_, best_score_ : the iteration kept and its validation value, with validation data.
    polish_ : the measure before and after the exact line search, by part of the data. With validation
        data, the best of its rounds on them is kept.
    """

    automatic: ClassVar[str] = "ridge"  # what start="auto" is where the scorer is linear
    prior: ClassVar[Literal["start", "origin"]] = "start"  # what the penalty pulls towards
    l2: float
    start: Any
    max_iter: int | None
    tol: float | None
    polish: Any
    early_stopping_rounds: int | None
    random_state: Any
    verbose: int

    @abstractmethod
    def _parts(self) -> tuple[Scorer, Objective, Solver]:
        """What the system is made of."""

    def _fit(self, data: Dataset, valid: Sequence[Dataset]) -> Model:
        scorer, objective, solver = self._parts()
        solver = limited(solver, self.max_iter, self.tol)
        if not 0.0 <= self.l2 < np.inf:
            raise SpecError(f"l2: {self.l2!r} must not be negative")
        finish = None if self.polish is None else as_measure(self.polish)
        if finish is not None and not isinstance(scorer, (Linear, Quadratic, Kernel)):
            raise IncompatibleError(
                f"polish: the exact line search needs a linear scorer, not {scorer}"
            )
        for name in ("temperature_", "polish_", "best_iteration_", "best_score_"):
            vars(self).pop(name, None)  # of an earlier fit
        rng = as_generator(self.random_state)
        given, inputs = data, self._inputs(data)
        data, scaling, lift = self._framed(inputs.apply(data), scorer, rng)
        valid = [self._reframed(inputs.apply(part), scaling, lift) for part in valid]
        scorer = scorer.fitted(data)
        inner = scorer if lift is None else Linear()
        loss = objective.bind(data.labels, data.groups, data.weights)
        bound = self._measure().bind(data.labels, data.groups, data.weights, rows=data.rows)
        start = self._start(data, bound, inner, scaling, rng)
        towards = start if self.prior == "start" else None
        problem = Problem(data, inner, loss, L2(self.l2, towards))
        with progress(f"{type(self).__name__} {objective}", None, bool(self.verbose)) as advance:
            watch = Watch(self._measure(), valid, inner.scores, self.early_stopping_rounds, advance)
            solution = solver.solve(problem, _off_ties(problem, start, bound), rng, watch)
            params = solution.params if watch.best_params is None else watch.best_params
            loss = self._settled(loss, solver, solution, watch)
            if finish is not None and solution.status is not Status.INTERRUPTED:
                params, self.polish_ = polished(
                    finish, inner, params, data, valid, rng, self.early_stopping_rounds, advance
                )
        self._report(solution, watch, str(objective))
        notes = {
            "queries": data.groups.n_queries,
            "objective": str(objective),
            "solver": str(solver),
            "status": self.status_,
            **inputs.notes(),
            **scorer.notes(),
            "train": bound.mean(inner.scores(params, data)),
            **({"temperature": self.temperature_} if hasattr(self, "temperature_") else {}),
            **approximation(objective, loss, data, inner.scores(params, data)),
            **{f"polish_{key}": value for key, value in getattr(self, "polish_", {}).items()},
        }
        kept = "query" if self.normalize == "query" else None
        names = tuple(str(n) for n in getattr(self, "feature_names_in_", ()))
        if scaling is not None:
            params, scorer = scorer.folded(params, scaling), scorer.unscaled(scaling)
        params = params if lift is None else lift.fold(params)
        if scorer.name == "linear":
            self.coef_, self.intercept_ = params, 0.0
        width = given.n_query_features if scorer.separate else 0
        recipe = self._recipe(**notes)
        return Model(scorer, params, given.n_features, names, kept, recipe, width, inputs)

    def _inputs(self, data: Dataset) -> Inputs:
        """What becomes of data before the scorer sees it: words of texts, columns of queries."""
        if data.texts is None:
            return Inputs(resolved(self.query_columns, data))
        if self.query_columns is not None:
            raise SpecError("query_columns: text has no columns; leave it out")
        return Inputs((), WORDS.build(self.text).fitted(data))

    def _framed(self, data: Dataset, scorer: Scorer, rng: np.random.Generator) -> Frame:
        """The data as the parameters see it, and how it was made from what the caller gave."""
        if self.normalize == "standard" and not scorer.foldable:
            raise IncompatibleError(
                f"normalize='standard' is folded into the parameters, which {scorer} cannot do; put"
                " scikit-learn's StandardScaler before the ranker, or use normalize='query'"
            )
        data, scaling = scaled(data, self.normalize)
        lift = KernelMap.of(scorer, data, rng) if isinstance(scorer, Kernel) else None
        return (data if lift is None else lift.apply(data)), scaling, lift

    def _reframed(self, data: Dataset, scaling: Scaling | None, lift: KernelMap | None) -> Dataset:
        data, _ = scaled(data, self.normalize, scaling)
        return data if lift is None else lift.apply(data)

    def _start(
        self,
        data: Dataset,
        bound: BoundMeasure,
        scorer: Scorer,
        scaling: Scaling | None,
        rng: np.random.Generator,
    ) -> Floats:
        text = isinstance(self.start, str)
        if scorer.name == "linear" or (isinstance(scorer, Quadratic) and self._starts_linear(data)):
            start = self.automatic if text and self.start == "auto" else self.start
            weights = standard_start(start, data, bound.gains, scaling, _SHRINK)
            return _widened(weights, scorer.size(data))
        if text:
            return scorer.start(data, rng)
        start = np.asarray(self.start, dtype=np.float64).ravel()
        if start.size != scorer.size(data) or not np.isfinite(start).all():
            raise SpecError(
                f"start: {start.size} parameters, but {scorer} has {scorer.size(data)} on this data"
            )
        return (
            start.copy() if scaling is None else start / scorer.folded(np.ones(start.size), scaling)
        )

    def _starts_linear(self, data: Dataset) -> bool:
        """Whether `start` speaks of the features alone: products then start from zero."""
        if isinstance(self.start, str):
            return True
        return np.size(getattr(self.start, "coef_", self.start)) == data.n_features

    def _settled(
        self, loss: Sloped | Stepped, solver: Solver, solution: Solution, watch: Watch
    ) -> Sloped | Stepped:
        """The loss at the temperature of the level that was kept, where the solver anneals."""
        if not isinstance(solver, Annealed) or not isinstance(loss, Sloped) or not solution.history:
            return loss
        kept = len(solution.history) - 1 if watch.best_params is None else watch.best_iteration
        self.temperature_ = solver.schedule[kept]
        return loss.cooled(self.temperature_)

    def _report(self, solution: Solution, watch: Watch, objective: str) -> None:
        self.history_ = solution.history
        self.n_iter_ = max(solution.n_iter, 1)
        self.status_ = solution.status.value
        if watch.best_params is not None:
            self.best_iteration_, self.best_score_ = watch.best_iteration, watch.best_value
        self.evals_result_ = watch.results(str(self._measure()), objective)
        if not solution.status.converged and solution.status is not Status.INTERRUPTED:
            name = type(self).__name__
            warnings.warn(f"{name}: {self.status_}", ConvergenceWarning, stacklevel=4)


def _off_ties(problem: Problem, start: Floats, bound: BoundMeasure) -> Floats:
    """The start, or ridge regression where that is a point of rest.

    Where all scores tie, as those of weights of zero do, a measure of a soft permutation has no slope.
    """
    by_features = isinstance(problem.scorer, (Linear, Quadratic))
    if not by_features or start.any() or not isinstance(problem.objective, Sloped):
        return start
    if problem.value_grad(start)[1].any():
        return start
    return _widened(ridge(problem.data, bound.gains, _SHRINK), start.size)


def _widened(weights: Floats, size: int) -> Floats:
    """Weights of features, and zeros for the products of two that a quadratic scorer has beside them."""
    return np.concatenate((weights, np.zeros(size - weights.size)))


def limited(solver: Solver, max_iter: int | None, tol: float | None) -> Solver:
    """The solver with other limits; those of the solver inside, where it wraps one."""
    if isinstance(solver, (Annealed, Restarts)):
        return replace(solver, solver=limited(solver.solver, max_iter, tol))
    known = {field.name for field in fields(solver)}  # pyright: ignore[reportArgumentType]
    asked: dict[str, Any] = {"max_iter": max_iter, "tol": tol}
    given = {name: value for name, value in asked.items() if value is not None}
    for name in given:
        if name not in known:
            raise SpecError(f"{name}: the solver {solver} has none")
    return replace(solver, **given) if given else solver  # pyright: ignore[reportArgumentType]


def approximation(
    objective: Objective, loss: Sloped | Stepped, data: Dataset, scores: Floats
) -> dict[str, float]:
    """How far the loss of a query is from the measure it stands for, in the mean over queries."""
    estimates = loss.estimates(scores) if isinstance(loss, Sloped) else None
    if estimates is None:
        return {}
    measure: Measure = objective.measure  # pyright: ignore[reportAttributeAccessIssue]
    bound = measure.bind(data.labels, data.groups, data.weights)
    exact = bound.weights * (1.0 - bound.values(scores))
    return {"approximation_error": float(np.mean(np.abs(estimates - exact)))}
