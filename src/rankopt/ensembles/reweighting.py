"""reweight: the trees of an existing ensemble weighted anew, exactly, for the measure that counts."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.ensembles.ascent import Ascent, TreeColumns
from rankopt.ensembles.ensemble import Ensemble
from rankopt.ensembles.reading import read_ensemble
from rankopt.errors import SpecError
from rankopt.measures import Measure, as_measure
from rankopt.progress import progress
from rankopt.solvers.base import Step
from rankopt.threads import using_threads


@dataclass(frozen=True, eq=False)
class Reweighted:
    """A re-weighted ensemble and what it is worth.

    Parameters
    ----------
    ensemble : the new ensemble; the given one where nothing has helped.
    factors : what each tree of the given ensemble is multiplied by.
    measure : as it prints.
    train_before, train : the measure on the training queries.
    valid_before, valid : the measure on the validation queries, or None.
    changed : whether the ensemble is another one.
    status : how the search ended, and what was kept, in a sentence or two.
    history : training measure after each round, and the best validation measure so far as ``watched``.
    """

    ensemble: Ensemble
    factors: Floats
    measure: str
    train_before: float
    train: float
    valid_before: float | None
    valid: float | None
    changed: bool
    status: str
    history: tuple[Step, ...]

    @property
    def dropped(self) -> int:
        """How many trees have gone."""
        return self.factors.size - self.ensemble.n_trees

    def predict(self, data: Dataset) -> Floats:
        """One score per row, in the caller's order."""
        return self.ensemble.predict(data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model in its own library's format; the file is complete or absent."""
        self.ensemble.save(path)

    def booster(self) -> Any:
        """The model as a live object of its own library, which must be installed."""
        return self.ensemble.document.live()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``rankopt reweight --json`` prints them."""
        out: dict[str, Any] = {
            "library": self.ensemble.document.library,
            "format": self.ensemble.document.format,
            "measure": self.measure,
            "train_before": self.train_before,
            "train": self.train,
            "changed": self.changed,
            "trees_before": self.factors.size,
            "trees": self.ensemble.n_trees,
            "rounds": len(self.history),
            "seconds": self.history[-1].seconds if self.history else 0.0,
            "status": self.status,
        }
        if self.valid is not None:
            out |= {"valid_before": self.valid_before, "valid": self.valid}
        return out


def reweight(
    source: Any,
    data: Dataset,
    measure: Measure | str = "ndcg@10",
    *,
    valid: Dataset | None = None,
    guard: float = 1.0,
    bounds: tuple[float, float] = (0.0, 2.0),
    shrinkage: float = 1.0,
    blocks: int | None = None,
    drop: bool = False,
    max_iter: int = 20,
    early_stopping_rounds: int | None = 1,
    iterations: int | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Reweighted:
    r"""Weight the trees of an ensemble anew, by exact coordinate ascent of a measure from the weights it has.

    Definition
    ----------
    .. math:: \max_{c \in [l, h]^T} \frac{1}{n} \sum_q M\Big(\sum_t c_t f_t(X_q), \, y_q\Big),
              \qquad c^{(0)} = (1, \dots, 1)

    Along each factor the measure is a step function all of whose steps are found, so that every search is
    exact, and the training measure never falls. The trees have seen the training data, so what is won
    there can be lost elsewhere: with `valid` the factors with the best validation measure on the way are
    kept, which are the given ones where no others are better by more than chance makes likely.

    Parameters
    ----------
    source : a file or a live model, see `read_ensemble`.
    data : the training queries; those that the trees were grown on, or others.
    measure : the measure to raise.
    valid : queries to guard the choice.
    guard : how many standard errors, query by query, the validation measure has to rise by before
        other factors are taken; 0 takes any rise, which on few queries is often noise.
    bounds : range of the factors; it must hold 1.
    shrinkage : how much of each exact step is taken, 0 < shrinkage <= 1; a shorter step that does not
        raise the training measure is not taken.
    blocks : None gives every tree its factor; a number cuts the trees, in the order they were grown,
        into so many blocks that share one. Fewer factors fit less noise.
    drop : leave out trees without which the training measure is no lower.
    max_iter : rounds over all trees, at most.
    early_stopping_rounds : rounds without a better validation measure that end the search.
    iterations : so many iterations of the ensemble, see `read_ensemble`.
    n_jobs : threads; None is all cores of the process, and any number gives the same bits.
    verbose : 1 shows progress on standard error. Ctrl-C ends the search with the best factors so far.

    References
    ----------
    [tan2013direct]_, section 2.4

    Examples
    --------
    >>> import numpy as np, lightgbm, rankopt
    >>> data = rankopt.simulate(n_queries=60, n_features=5, seed=0)
    >>> quiet = {"objective": "lambdarank", "verbosity": -1, "seed": 0, "num_threads": 1}
    >>> train = lightgbm.Dataset(data.X, data.y, group=data.groups.sizes)
    >>> found = rankopt.reweight(lightgbm.train(quiet, train, 10), data, "ndcg@5")
    >>> found.train_before < found.train, found.ensemble.n_trees, type(found.booster()).__name__
    (True, 10, 'Booster')
    """
    measure = as_measure(measure)
    low, high = (float(edge) for edge in bounds)
    if not (math.isfinite(low) and math.isfinite(high) and low <= 1.0 <= high and low < high):
        raise SpecError(
            f"bounds: ({low:g}, {high:g}); finite ones with low <= 1 <= high are needed"
        )
    if not 0.0 < shrinkage <= 1.0:
        raise SpecError(f"shrinkage: {shrinkage:g} is not in (0, 1]")
    if not 0.0 <= guard < math.inf:
        raise SpecError(f"guard: {guard:g} standard errors; 0 or more are needed")
    if max_iter < 0 or (blocks is not None and blocks < 1):
        raise SpecError("max_iter: 0 or more; blocks: 1 or more, or None")
    if drop and low > 0.0:
        raise SpecError("drop: trees cannot be left out where the lower bound is above 0")
    with using_threads(n_jobs):
        ensemble = read_ensemble(source, iterations=iterations)
        parts = [data] if valid is None else [data, valid]
        bound = [measure.bind(p.labels, p.groups, p.weights, rows=p.rows) for p in parts]
        for part in parts:
            ensemble.check(part)
        columns = [TreeColumns.of(ensemble.trees, ensemble.weights, part) for part in parts]
        count = ensemble.n_trees if blocks is None else min(blocks, ensemble.n_trees)
        ascent = Ascent(
            columns[0], bound[0], None if valid is None else (columns[1], bound[1]),
            np.array_split(np.arange(ensemble.n_trees), count), (low, high), shrinkage, drop,
            guard, ensemble.document.bits, ensemble.base * ensemble.divisor,
        )  # fmt: skip
        with progress(f"reweight {measure}", max_iter * count, bool(verbose)) as advance:
            status = ascent.climb(max_iter, early_stopping_rounds, advance)
        chosen = ascent.best.factors
        before = [b.mean(ensemble.scores(part)) for b, part in zip(bound, parts, strict=True)]
        changed = bool(np.any(chosen != 1.0))
        new, after = ensemble, before
        if changed:  # measured on what the format holds of it
            new = ensemble.reweighted(chosen)
            after = [b.mean(new.scores(part)) for b, part in zip(bound, parts, strict=True)]
            changed = after[0] >= before[0] and (valid is None or after[1] > before[1])
    said = status.value
    if not changed:
        new, after, chosen = ensemble, before, np.ones(ensemble.n_trees)
        where = "the training" if valid is None else "the validation"
        by = f" by {guard:g} standard errors" if valid is not None and guard else ""
        said += f" Nothing raised {where} measure{by}, so the model is as it was."
    return Reweighted(
        new, chosen, str(measure), before[0], after[0], before[1] if valid else None,
        after[1] if valid else None, changed, said, tuple(ascent.history),
    )  # fmt: skip
