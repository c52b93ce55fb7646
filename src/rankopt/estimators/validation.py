"""Validation: a monitor that watches measures on held-out queries and keeps the best parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.measures import BoundMeasure, Measure
from rankopt.progress import Advance
from rankopt.solvers.base import Step

Scores = Callable[[Floats, Dataset], Floats]  # parameters and data to scores


class Watch:
    """Evaluates parameters after each iteration and remembers the best by the first validation set.

    Training queries that parts of the model have not seen count with it, each query as much as the others.

    Parameters
    ----------
    measure : what is watched.
    parts : the validation sets; may be none.
    scores : parameters and a dataset to scores.
    patience : iterations without a better value after which the solver is told to stop, or None.
    advance : called with a few words after each iteration.
    held_out : the measure on the training queries, and their scores by the parts of the model that have
        not seen them, which whoever trains keeps up to date.
    """

    def __init__(
        self,
        measure: Measure,
        parts: Sequence[Dataset],
        scores: Scores,
        patience: int | None,
        advance: Advance,
        held_out: tuple[BoundMeasure, Floats] | None = None,
    ) -> None:
        self.held_out, self.unseen = held_out, list[float]()
        self.bound: list[BoundMeasure] = [
            measure.bind(part.labels, part.groups, part.weights, rows=part.rows) for part in parts
        ]
        self.parts, self.scores, self.patience, self.advance = parts, scores, patience, advance
        self.train: list[float] = []
        self.valid: list[list[float]] = [[] for _ in parts]
        self.best_value = -np.inf
        self.best_iteration = 0
        self.best_params: Floats | None = None

    def __call__(self, step: Step, params: Floats) -> bool:
        iteration = len(self.train)
        self.train.append(step.value)
        for values, part, bound in zip(self.valid, self.parts, self.bound, strict=True):
            values.append(bound.mean(self.scores(params, part)))
        if self.held_out is not None:
            self.unseen.append(self.held_out[0].mean(self.held_out[1]))
        value = self._decides()
        if value is not None and value > self.best_value:
            self.best_value = value
            self.best_iteration = iteration
            self.best_params = params.copy()
        valid = f", valid {self.valid[0][-1]:.4f}" if self.parts else ""
        unseen = f", held out {self.unseen[-1]:.4f}" if self.unseen else ""
        self.advance(f"train {step.value:.4f}{unseen}{valid}")
        return (
            value is not None
            and self.patience is not None
            and iteration - self.best_iteration >= self.patience
        )

    def _decides(self) -> float | None:
        """The value by which iterations are compared; None where nothing is watched."""
        values: list[float] = []
        queries: list[int] = []
        if self.held_out is not None:
            values.append(self.unseen[-1])
            queries.append(self.held_out[0].groups.n_queries)
        if self.parts:
            values.append(self.valid[0][-1])
            queries.append(self.parts[0].groups.n_queries)
        if len(values) < 2:
            return values[0] if values else None
        return float(np.average(values, weights=queries))

    def results(self, name: str, train: str | None = None) -> dict[str, dict[str, list[float]]]:
        """All values watched, in the form of LightGBM's and XGBoost's ``evals_result_``.

        `train` is the name of what the solver reports, where that is not the measure.
        """
        out = {"train": {train or name: list(self.train)}}
        if self.unseen:
            out["held_out"] = {name: list(self.unseen)}
        for i, values in enumerate(self.valid):
            out[f"valid_{i}"] = {name: list(values)}
        return out
