"""SmoothRank: a linear model trained on a measure of a soft permutation, by annealing."""

from __future__ import annotations

from typing import Any, ClassVar

from rankopt.errors import SpecError
from rankopt.estimators.gradient import GradientRanker
from rankopt.measures import Measure, as_measure
from rankopt.objectives import Objective, Smooth
from rankopt.scorers import Linear, Scorer
from rankopt.solvers import LBFGS, SOLVERS, Annealed, Solver


class SmoothRank(GradientRanker):
    r"""A linear ranker trained on a smoothed ranking measure that is sharpened step by step.

    Definition
    ----------
    .. math:: \min_w \; \frac{1}{n} \sum_q \big( 1 - A(X_q w, y_q; \sigma) \big)
              + \lambda \lVert w - w_0 \rVert^2

    where A is the measure of a soft permutation (`rankopt.objectives.Smooth`): SmoothNDCG, SmoothAP and
    the like. From a large :math:`\sigma`, where the loss is smooth and its minimum is near
    :math:`w_0`, the minimum is followed down to a small one. The paper sums over queries where this
    takes the mean: its :math:`\lambda` is n times this one.

    Parameters
    ----------
    measure : the measure to report and validate by, such as ``ndcg@10`` or ``map``.
    train_measure : the measure to train on; None is the same. The paper finds ``ndcg@50`` better than
        earlier cut-offs, whatever the cut-off that is reported.
    sigma : the last smoothing, by the squared scale of the scores.
    sigma_start : the first one; it is halved from level to level. None trains at `sigma` alone.
    by : ``ranks``; ``pairs`` for the other form of average precision.
    l2 : strength of the pull towards the starting weights.
    start : the starting weights: ``ridge`` (regression on the gains), ``ranksvm``, ``uniform``, ``zero``,
        an array of weights, or a fitted linear model. The loss has no slope where all scores tie: with
        ``zero`` the search begins by ridge regression, and the penalty pulls towards zero.
    solver : what minimises at each level: ``lbfgs``, ``cg`` (as in the paper), or any text of
        `rankopt.solvers`.
    max_iter, tol : of this solver, at each level; None is 30 iterations for ``lbfgs``, else its default.
    normalize : None; ``standard`` (mean 0, spread 1 over all rows, folded into the weights); ``query``
        (0 to 1 within each query, at prediction as well).
    polish : a measure to finish on by exact line search, such as ``ndcg@10``; None does not.
    early_stopping_rounds : levels without a better validation value after which the annealing ends.
        Whenever there is validation data, the best of all levels is kept.
    n_jobs : threads; None is all cores of the process, and any number gives the same bits.
    random_state : seed.
    verbose : 1 shows progress on standard error.

    References
    ----------
    [chapelle2010gradient]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> model = rankopt.SmoothRank(measure="ndcg@5").fit(X, y, qid=qid)
    >>> model.score(X, y, qid=qid) > 0.99
    True
    """

    system: ClassVar[str] = "smoothrank"
    grids: ClassVar[dict[str, tuple[float, ...]]] = {
        "l2": tuple(10.0**power for power in range(-6, 4))
    }

    def __init__(
        self,
        measure: str | Measure = "ndcg@10",
        *,
        train_measure: str | Measure | None = None,
        sigma: float = 0.015625,
        sigma_start: float | None = 64.0,
        by: Any = "ranks",
        l2: float = 1e-3,
        start: str | Any = "ridge",
        solver: str | Solver = "lbfgs",
        max_iter: int | None = None,
        tol: float | None = None,
        normalize: str | None = None,
        polish: str | Measure | None = None,
        early_stopping_rounds: int | None = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.measure = measure
        self.train_measure = train_measure
        self.sigma = sigma
        self.sigma_start = sigma_start
        self.by = by
        self.l2 = l2
        self.start = start
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.normalize = normalize
        self.polish = polish
        self.early_stopping_rounds = early_stopping_rounds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _parts(self) -> tuple[Scorer, Objective, Solver]:
        measure = as_measure(self.measure if self.train_measure is None else self.train_measure)
        objective = Smooth(measure, float(self.sigma), self.by)
        solver = SOLVERS.build(self.solver)
        if self.sigma_start is None:
            return Linear(), objective, solver
        if not self.sigma_start >= self.sigma:
            raise SpecError(
                f"sigma_start = {self.sigma_start!r} must be at least sigma = {self.sigma!r}"
            )
        if solver == LBFGS():
            solver = LBFGS(max_iter=30)
        return Linear(), objective, Annealed(solver, float(self.sigma_start), float(self.sigma))
