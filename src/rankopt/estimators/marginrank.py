"""MarginRank: a linear or kernel model trained by a structured hinge bound of the measure."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rankopt.data.dataset import Dataset
from rankopt.data.scale import Scaling
from rankopt.errors import IncompatibleError, SpecError
from rankopt.estimators.base import BaseRanker
from rankopt.estimators.gradient import limited
from rankopt.estimators.linear import folded, scaled, standard_start
from rankopt.estimators.marginfits import Fits, Found
from rankopt.estimators.polish import polished
from rankopt.measures import Measure, as_measure
from rankopt.models.model import Model
from rankopt.objectives import Margin
from rankopt.objectives.structured import Positions
from rankopt.progress import progress
from rankopt.random import as_generator
from rankopt.scorers import SCORERS, Kernel, Linear, Scorer
from rankopt.scorers.kernel import KernelMap
from rankopt.solvers import SOLVERS, ConcaveConvex, Need, Solver
from rankopt.solvers.base import Status

_POWERS = (0.5, 1.0, 2.0, 4.0)  # of the positions tried first, when they are learned
_FINER = 2.0**0.5  # ratio of neighbours tried after them


class MarginRank(BaseRanker):
    r"""A linear or kernel ranker with a large margin between the ideal and every other order.

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
    :math:`w_0` and the bounds are the same with a kernel, in the coordinates of its map.

    In the paper's terms :math:`\lambda` is here its own divided by twice the number of queries.

    Parameters
    ----------
    measure : the measure, such as ``ndcg@10``, ``map``, ``rr``, ``p@5``.
    bound : ``convex`` or ``tight``.
    solver : ``cutting-plane``, ``bundle``, ``subgradient``, or a text such as
        ``cutting-plane(slacks=n)``. The convex bound has the same minimum with each. The tight one is
        lowered by gradient descent with ``subgradient``, and by the concave-convex procedure with the
        others; ``auto`` is bundle for the convex bound and subgradient, as in the paper, for the tight
        one.
    position_weights : A: ``linear``, ``root``, ``discount``, ``pairs``, or a table (see `Margin`).
        ``learned``: :math:`A(r) = k \, (1 - (r - 1) / k)^a`, where a is chosen on the validation data
        as a parameter of a kernel would be; 1 is ``linear``.
    scorer : ``linear`` or a kernel, such as ``kernel(rbf, gamma=0.5, components=200)``; with
        ``method=kpca`` the kernel is exact, for small data.
    rescale : ``margin``, or ``slack`` for the convex bound with rescaled slacks (see `Margin`), whose
        worst orders come from a heuristic: the lower bound is still one, the value may be too low.
    l2 : :math:`\lambda`, positive; or several, of which the best on the validation data is kept.
    start : where to start, and with the tight bound :math:`w_0`: ``grades``, the regression on the
        grades, as in the paper; ``ridge``, that on the gains, with less of a penalty; ``ranksvm``,
        ``zero``, ``uniform``, an array of weights, or a fitted linear model.
    normalize : None; ``standard`` (mean 0, spread 1 over all rows, folded into the weights); ``query``
        (0 to 1 within each query, at prediction as well).
    polish : a measure to finish on by exact line search, such as ``ndcg@10``; None does not.
    max_iter : iterations of the solver.
    tol : the convex fit ends when the gap is at most this share of the value.
    n_jobs : threads; None is all cores of the process, and any number gives the same bits.
    random_state : seed; nothing here is random.
    verbose : 1 shows progress on standard error.

    Attributes
    ----------
    coef_ : weights of the features.
    l2_, position_weights_ : the strength and A that were kept.
    collapsed_ : whether a finished fit found the convex bound no lower than at w = 0, up to `tol`.
    objective_, bound_, gap_ : the value reached, the lower bound, and their difference; the last two are
        None with the tight bound, and where the fit ended before there was a bound.
    status_ : how the fit ended, in a sentence.
    n_iter_, history_ : iterations, and value, bound and seconds of each.
    evals_result_, best_iteration_, best_score_ : as in `DirectRank`, of the strength kept; the iteration
        is the last one.
    polish_ : the measure before and after the exact line search, by part of the data.

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
    grids: ClassVar[dict[str, tuple[float, ...]]] = {
        "l2": tuple(10.0**power for power in range(-6, 3))
    }

    def __init__(
        self,
        measure: str | Measure = "ndcg@10",
        *,
        bound: str = "convex",
        solver: str | Solver = "auto",
        position_weights: str | Sequence[float] = "linear",
        scorer: str | Scorer = "linear",
        rescale: str = "margin",
        l2: float | Sequence[float] = 1e-3,
        start: str | Any = "grades",
        normalize: str | None = None,
        polish: str | Measure | None = None,
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
        self.scorer = scorer
        self.rescale = rescale
        self.l2 = l2
        self.start = start
        self.normalize = normalize
        self.polish = polish
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, data: Dataset, valid: Sequence[Dataset]) -> Model:
        measure, scorer, solver = self._measure(), SCORERS.build(self.scorer), self._solver()
        strengths, n_features = self._strengths(valid), data.n_features
        longest = data.groups.longest
        positions = self._positions(valid)
        rng = as_generator(self.random_state)
        data, scaling, lift = self._framed(data, scorer, rng)
        valid = [scaled(part, self.normalize, scaling)[0] for part in valid]
        valid = valid if lift is None else [lift.apply(part) for part in valid]
        gains = measure.bind(data.labels, data.groups, data.weights, rows=data.rows).gains
        start = standard_start(self.start, data, gains, scaling)
        first = self._objective(positions or "linear")
        finish = None if self.polish is None else as_measure(self.polish)
        vars(self).pop("polish_", None)  # of an earlier fit
        with progress(f"MarginRank {first}", None, bool(self.verbose)) as advance:
            fits = Fits(data, valid, measure, solver, strengths, start, rng, advance)
            best = fits.best(first) if positions is not None else self._learned(fits, longest)
            params = best.solution.params
            if finish is not None and not fits.interrupted:
                params, self.polish_ = polished(
                    finish, Linear(), params, data, valid, rng, None, advance
                )
        self._report(best, fits.interrupted, str(measure), bool(valid))
        params = folded(params, scaling) if lift is None else lift.fold(params)
        if lift is None:
            self.coef_, self.intercept_ = params, 0.0
        names = tuple(str(n) for n in getattr(self, "feature_names_in_", ()))
        notes = {
            "queries": data.groups.n_queries, "objective": str(best.objective), "status": self.status_,
            "primal": self.objective_, "dual": self.bound_, "gap": self.gap_, "l2": self.l2_,
            **{f"polish_{key}": value for key, value in getattr(self, "polish_", {}).items()},
        }  # fmt: skip
        kept = "query" if self.normalize == "query" else None
        return Model(scorer, params, n_features, names, kept, self._recipe(**notes))

    def _framed(
        self, data: Dataset, scorer: Scorer, rng: np.random.Generator
    ) -> tuple[Dataset, Scaling | None, KernelMap | None]:
        """The data in which the model is linear, and how it was made from what the caller gave."""
        if not isinstance(scorer, (Linear, Kernel)):
            raise IncompatibleError(
                f"MarginRank: takes the scorers linear and kernel, not {scorer}"
            )
        if isinstance(scorer, Kernel) and self.normalize == "standard":
            raise IncompatibleError(
                "normalize='standard' is folded into the weights of a linear scorer; with a kernel put"
                " scikit-learn's StandardScaler before the ranker, or use normalize='query'"
            )
        data, scaling = scaled(data, self.normalize)
        if not isinstance(scorer, Kernel):
            return data, scaling, None
        lift = KernelMap.of(scorer, data, rng)
        return lift.apply(data), scaling, lift

    def _objective(self, positions: Positions) -> Margin:
        bound: Any = self.bound
        rescale: Any = self.rescale
        return Margin(self._measure(), bound, positions, rescale)

    def _positions(self, valid: Sequence[Dataset]) -> Positions | None:
        """A, or None where it is to be learned."""
        asked: Any = self.position_weights
        if not isinstance(asked, str):
            return tuple(float(a) for a in asked)
        if asked == "learned" and not valid:
            raise SpecError("position_weights='learned' needs validation data; pass eval_set")
        return None if asked == "learned" else asked

    def _learned(self, fits: Fits, longest: int) -> Found:
        """The fit with the best power of the positions: some powers, then the neighbours of the best."""
        depth = self._measure().depth
        ranks = np.arange(longest if depth is None else min(depth, longest))
        tried: dict[float, Found] = {}

        def best_of(powers: Sequence[float]) -> float:
            for power in powers:
                if not fits.interrupted or not tried:
                    table = ranks.size * (1.0 - ranks / ranks.size) ** power
                    tried[power] = fits.best(self._objective(tuple(table.tolist())))
            return max(tried, key=lambda power: tried[power].value)

        power = best_of(_POWERS)
        return tried[best_of((power / _FINER, power * _FINER))]

    def _report(self, best: Found, interrupted: bool, name: str, validated: bool) -> None:
        solution = best.solution
        status = Status.INTERRUPTED if interrupted else solution.status
        self.l2_, self.objective_ = best.strength, solution.value
        self.position_weights_ = best.objective.positions
        bound = solution.history[-1].bound if solution.history else None
        self.bound_ = None if bound is None or not np.isfinite(bound) else bound
        self.gap_ = None if self.bound_ is None else self.objective_ - self.bound_
        self.history_, self.n_iter_ = solution.history, max(solution.n_iter, 1)
        self.status_ = status.value
        self.evals_result_ = best.watch.results(name, str(best.objective))
        if validated:
            self.best_score_, self.best_iteration_ = best.value, self.n_iter_ - 1
        if status is Status.OUT_OF_STEPS and self.max_iter > 0:
            warnings.warn(f"MarginRank: {self.status_}", ConvergenceWarning, stacklevel=4)
        nothing, _ = best.problem.value_grad(np.zeros(solution.params.size))
        settled = self.bound == "convex" and status.converged  # else it may only not be there yet
        self.collapsed_ = settled and nothing - self.objective_ <= self.tol * abs(nothing)
        if self.collapsed_:
            warnings.warn(
                "MarginRank: the convex bound is no lower than at w = 0, where all rows tie; use"
                " bound='tight'",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _solver(self) -> Solver:
        tight = self.bound == "tight"
        solver = self.solver
        if isinstance(solver, str) and solver == "auto":
            solver = "subgradient" if tight else "bundle"
        solver = limited(SOLVERS.build(solver), self.max_iter, self.tol)
        return ConcaveConvex(solver) if tight and Need.CONVEX in solver.needs else solver

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
