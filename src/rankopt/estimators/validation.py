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

    Parameters
    ----------
    measure : what is watched.
    parts : the validation sets; may be none.
    scores : parameters and a dataset to scores.
    patience : iterations without a better value after which the solver is told to stop, or None.
    advance : called with a few words after each iteration.
    """

    def __init__(
        self,
        measure: Measure,
        parts: Sequence[Dataset],
        scores: Scores,
        patience: int | None,
        advance: Advance,
    ) -> None:
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
        if self.parts and self.valid[0][-1] > self.best_value:
            self.best_value = self.valid[0][-1]
            self.best_iteration = iteration
            self.best_params = params.copy()
        valid = f", valid {self.valid[0][-1]:.4f}" if self.parts else ""
        self.advance(f"train {step.value:.4f}{valid}")
        return (
            bool(self.parts)
            and self.patience is not None
            and iteration - self.best_iteration >= self.patience
        )

    def results(self, name: str, train: str | None = None) -> dict[str, dict[str, list[float]]]:
        """All values watched, in the form of LightGBM's and XGBoost's ``evals_result_``.

        `train` is the name of what the solver reports, where that is not the measure.
        """
        out = {"train": {train or name: list(self.train)}}
        for i, values in enumerate(self.valid):
            out[f"valid_{i}"] = {name: list(values)}
        return out
