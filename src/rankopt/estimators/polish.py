"""Polish: the exact line search finishes what a smooth loss has begun."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.estimators.validation import Watch
from rankopt.measures import Measure
from rankopt.progress import Advance
from rankopt.scorers import Scorer
from rankopt.solvers.coordinate import Coordinate, Lines


def polished(
    measure: Measure,
    scorer: Scorer,
    params: Floats,
    data: Dataset,
    valid: Sequence[Dataset],
    rng: np.random.Generator,
    patience: int | None,
    advance: Advance,
) -> tuple[Floats, dict[str, float]]:
    """Parameters after exact coordinate ascent, and the measure before and after by part of the data.

    No round lowers the training measure, so whichever of them is best on validation data does not either.
    """
    parts = {"train": data, **{f"valid_{i}": part for i, part in enumerate(valid)}}

    def values(weights: Floats) -> dict[str, float]:
        return {
            name: measure.bind(part.labels, part.groups, part.weights, rows=part.rows).mean(
                scorer.scores(weights, part)
            )
            for name, part in parts.items()
        }

    before = values(params)
    target = measure.bind(data.labels, data.groups, data.weights, rows=data.rows)
    lines = Lines.of(scorer.laid_out(data), target)
    watch = Watch(measure, valid, scorer.scores, patience, advance)
    climb = Coordinate().climb(lines, params, rng, watch)
    finished = climb.params if watch.best_params is None else watch.best_params
    after = values(finished)
    changes = {
        f"{name}_{when}": value[name]
        for name in parts
        for when, value in (("before", before), ("after", after))
    }
    return finished, changes
