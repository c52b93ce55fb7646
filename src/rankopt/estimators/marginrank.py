"""MarginRank: a linear model trained by a structured hinge bound of the measure."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.errors import SpecError
from rankopt.estimators.base import BaseRanker
from rankopt.estimators.linear import folded, scaled, standard_start
from rankopt.estimators.validation import Watch
from rankopt.measures import Measure, as_measure
from rankopt.models.model import Model
from rankopt.objectives import Margin
from rankopt.progress import progress
from rankopt.random import as_generator
from rankopt.scorers import Linear
from rankopt.solvers import L2, SOLVERS, ConcaveConvex, Problem, Solver, Subgradient
from rankopt.solvers.base import Solution, Status

_SOLVERS = ("cutting-plane", "bundle", "subgradient")


class MarginRank(BaseRanker):
    r"""A linear ranker with a large margin between the ideal and every other order.

    Definition
    ----------
    .. math:: \min_w \; \lambda \lVert w - w_0 \rVert^2 + \frac{1}{n} \sum_q
              \Big( \max_y \, [\Delta_q(y) + F_q(y)] - F_q^* \Big)

    with :math:`\Delta_q(y) = 1 - M_q(y)` and :math:`F_q(y) = \sum_i A(y_i) \, w \cdot x_{qi}`. With
    ``bound="convex"`` :math:`F^*` is that of the ideal order, :math:`w_0 = 0`, and the fit ends with a
    proof: a lower bound of the minimum, at most `tol` of the value away. With ``bound="tight"`` it is
    that of the present order: the bound is closer to the measure and no longer convex, and
    :math:`w_0` is the start, ridge regression. Where the features explain the labels badly, the minimum
    of the convex bound is :math:`w = 0`, of no use (section 5.3 of the paper), and a warning says so.

    In the paper's terms :math:`\lambda` is here its own divided by twice the number of queries.

    Parameters
    ----------
    measure : the measure, such as ``ndcg@10``, ``map``, ``rr``, ``p@5``.
    bound : ``convex`` or ``tight``.
    solver : ``cutting-plane``, ``bundle`` or ``subgradient``. The convex bound has the same minimum with
        each. The tight one is lowered by gradient descent with ``subgradient``, and by the
        concave-convex procedure with the others; ``auto`` is cutting-plane for the convex bound and
        subgradient, as in the paper, for the tight one.
    position_weights : A: ``linear``, ``root``, ``discount``, ``pairs``, or a table (see `Margin`).
    l2 : :math:`\lambda`, positive; or several, of which the best on the validation data is kept.
    start : where to start, and with the tight bound :math:`w_0`: ``ridge``, ``zero``, ``uniform``, an
        array of weights, or a fitted linear model.
    normalize : None; ``standard`` (mean 0, spread 1 over all rows, folded into the weights); ``query``
        (0 to 1 within each query, at prediction as well).
    max_iter : iterations of the solver.
    tol : the convex fit ends when the gap is at most this share of the value.
    n_jobs : threads; None is all cores of the process, and any number gives the same bits.
    random_state : seed; nothing here is random.
    verbose : 1 shows progress on standard error.

    Attributes
    ----------
    coef_ : weights of the features.
    l2_ : the strength that was kept.
    objective_, bound_, gap_ : the value reached, the lower bound, and their difference; with the tight
        bound the last two are None.
    status_ : how the fit ended, in a sentence.
    n_iter_, history_ : iterations, and value, bound and seconds of each.
    evals_result_, best_iteration_, best_score_ : as in `DirectRank`, of the strength kept.

    References
    ----------
    [chapelle2007large]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> model = rankopt.MarginRank(measure="ndcg@5", l2=1e-3).fit(X, y, qid=qid)
    >>> model.gap_ <= 1e-3 * model.objective_
    True
    >>> model.score(X, y, qid=qid) > 0.98
    True
    """

    system: ClassVar[str] = "marginrank"

    def __init__(
        self,
        measure: str | Measure = "ndcg@10",
        *,
        bound: str = "convex",
        solver: str | Solver = "auto",
        position_weights: str | Sequence[float] = "linear",
        l2: float | Sequence[float] = 1e-3,
        start: str | Any = "ridge",
        normalize: str | None = None,
        max_iter: int = 2000,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.measure = measure
        self.bound = bound
        self.solver = solver
        self.position_weights = position_weights
        self.l2 = l2
        self.start = start
        self.normalize = normalize
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, data: Dataset, valid: Sequence[Dataset]) -> Model:
        measure, solver, strengths = self._measure(), self._solver(), self._strengths(valid)
        places: Any = self.position_weights
        if not isinstance(places, str):
            places = tuple(float(a) for a in places)
        objective = Margin(measure, self.bound, places)  # pyright: ignore[reportArgumentType]
        data, scaling = scaled(data, self.normalize)
        valid = [scaled(part, self.normalize, scaling)[0] for part in valid]
        gains = measure.bind(data.labels, data.groups, data.weights, rows=data.rows).gains
        start = standard_start(self.start, data, gains, scaling)
        sloped = objective.bind(data.labels, data.groups, data.weights)
        best: tuple[Solution, Watch, float] | None = None
        rng, total = as_generator(self.random_state), len(strengths) * self.max_iter
        with progress(f"MarginRank {objective}", total, bool(self.verbose)) as advance:
            for strength in strengths:
                penalty = L2(strength, start if self.bound == "tight" else None)
                watch = Watch(measure, valid, Linear().scores, None, advance)
                problem = Problem(data, Linear(), sloped, penalty)
                found = solver.solve(problem, start, rng, watch)
                final = _final(measure, valid, found.params)
                if best is None or final > _final(measure, valid, best[0].params):
                    best = found, watch, strength
                if found.status is Status.INTERRUPTED:
                    break
        assert best is not None
        self._report(*best, str(measure))
        params = best[0].params
        if self.bound == "convex" and not params.any():
            warnings.warn(
                "MarginRank: the convex bound is least at w = 0, where all rows tie; use bound='tight'",
                ConvergenceWarning,
                stacklevel=3,
            )
        if valid:
            self.best_score_ = _final(measure, valid, params)
            self.best_iteration_ = self.n_iter_
        self.coef_, self.intercept_ = folded(params, scaling), 0.0
        names = tuple(str(n) for n in getattr(self, "feature_names_in_", ()))
        notes = {
            "queries": data.groups.n_queries, "status": self.status_, "objective": self.objective_,
            "lower_bound": self.bound_, "l2": self.l2_,
        }  # fmt: skip
        kept = "query" if self.normalize == "query" else None
        return Model(Linear(), self.coef_, data.n_features, names, kept, self._recipe(**notes))

    def _report(self, solution: Solution, watch: Watch, strength: float, name: str) -> None:
        self.l2_, self.objective_ = strength, solution.value
        self.bound_ = solution.history[-1].bound if solution.history else None
        self.gap_ = None if self.bound_ is None else self.objective_ - self.bound_
        self.history_, self.n_iter_ = solution.history, max(solution.n_iter, 1)
        self.status_ = solution.status.value
        self.evals_result_ = watch.results(name)
        if solution.status is Status.OUT_OF_STEPS and self.max_iter > 0:
            warnings.warn(f"MarginRank: {self.status_}", ConvergenceWarning, stacklevel=4)

    def _solver(self) -> Solver:
        tight = self.bound == "tight"
        name = self.solver
        if isinstance(name, Solver):
            return name
        if name == "auto":
            name = "subgradient" if tight else "cutting-plane"
        if name not in _SOLVERS:
            raise SpecError(f"solver: unknown {name!r}; use one of auto, {', '.join(_SOLVERS)}")
        if tight and name == "subgradient":
            return Subgradient(self.max_iter, self.tol)
        inner: Any = SOLVERS[name]
        convex: Solver = inner(max_iter=self.max_iter, tol=self.tol)
        return ConcaveConvex(convex) if tight else convex

    def _strengths(self, valid: Sequence[Dataset]) -> list[float]:
        asked: Any = self.l2
        strengths = [float(value) for value in np.atleast_1d(asked)]
        if not strengths or not all(0.0 < value < np.inf for value in strengths):
            raise SpecError(f"l2: {self.l2!r} must be positive and finite")
        if len(strengths) > 1 and not valid:
            raise SpecError(
                "l2: several strengths need validation data to choose by; pass eval_set"
            )
        return strengths


def _final(measure: Measure, valid: Sequence[Dataset], params: Floats) -> float:
    """The measure on the first validation set; 0 without one."""
    if not valid:
        return 0.0
    part = valid[0]
    bound = as_measure(measure).bind(part.labels, part.groups, part.weights, rows=part.rows)
    return bound.mean(Linear().scores(params, part))
