"""Ranker: any scorer with any objective and any solver."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, ClassVar

from rankopt.data.text import Words
from rankopt.estimators.gradient import GradientRanker
from rankopt.measures import Measure, as_measure
from rankopt.objectives import OBJECTIVES, Objective
from rankopt.scorers import SCORERS, Scorer
from rankopt.solvers import SOLVERS, Solver


class Ranker(GradientRanker):
    r"""A ranker put together from its parts.

    Definition
    ----------
    .. math:: \min_w \; \mathcal{L}(f(X; w), y) + \lambda \lVert w - w_0 \rVert^2

    with a scorer f, an objective :math:`\mathcal{L}` of the scores, and a solver.

    Parameters
    ----------
    scorer : ``linear``, ``quadratic(rho=0.02)``, ``kernel(rbf, components=200)``, or any other scorer or its
        text.
    objective : such as ``approx(ndcg@10, alpha=10)`` or ``smooth(ap, sigma=1)``.
    solver : such as ``lbfgs``, ``cg``, ``adam(batch=32)``, ``annealed(cg, high=64, low=0.01)``. One that
        does not fit the scorer and the objective is refused before any work.
    measure : the measure to report and validate by; None is that of the objective.
    l2 : strength of the pull towards the starting parameters.
    start : starting parameters: ``auto`` (ridge regression on the gains where the scorer is linear, else
        what the scorer starts from), ``ridge``, ``ranksvm``, ``uniform``, ``zero``, an array, or a fitted
        linear model; the products of ``quadratic`` start from zero.
    max_iter, tol : of the solver; None is its default.
    normalize : None; ``standard`` (mean 0, spread 1 over all rows, folded into the parameters, where the
        scorer can do so); ``query`` (0 to 1 within each query, at prediction as well).
    query_columns : columns of X, by number from 0 or by name, that describe the query, for scorers that take
        the two apart. They must be the same in all rows of a query.
    text : how text (`rankopt.read_pairs`) becomes features; see `rankopt.data.text.Words`.
    polish : a measure to finish on by exact line search, where the scorer is linear; None does not.
    early_stopping_rounds : iterations without a better validation value after which training ends.
        Whenever there is validation data, the best of all iterations is kept.
    n_jobs : threads; None is all cores of the process, and any number gives the same bits.
    random_state : seed.
    verbose : 1 shows progress on standard error.

    References
    ----------
    [qin2010general]_; [chapelle2010gradient]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> model = rankopt.Ranker(objective="approx(ndcg@5)", solver="cg", max_iter=50)
    >>> model.fit(X, y, qid=qid).score(X, y, qid=qid) > 0.99
    True
    """

    system: ClassVar[str] = "ranker"

    def __init__(
        self,
        scorer: str | Scorer = "linear",
        objective: str | Objective = "approx(ndcg@10)",
        solver: str | Solver = "lbfgs",
        *,
        measure: str | Measure | None = None,
        l2: float = 1e-3,
        start: str | Any = "auto",
        max_iter: int | None = None,
        tol: float | None = None,
        normalize: str | None = None,
        query_columns: Any = None,
        text: str | Words = "words",
        polish: str | Measure | None = None,
        early_stopping_rounds: int | None = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.scorer = scorer
        self.objective = objective
        self.solver = solver
        self.measure = measure
        self.l2 = l2
        self.start = start
        self.max_iter = max_iter
        self.tol = tol
        self.normalize = normalize
        self.query_columns = query_columns
        self.text = text
        self.polish = polish
        self.early_stopping_rounds = early_stopping_rounds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _parts(self) -> tuple[Scorer, Objective, Solver]:
        return (
            SCORERS.build(self.scorer),
            OBJECTIVES.build(self.objective),
            SOLVERS.build(self.solver),
        )

    def _measure(self) -> Measure:
        if self.measure is not None:
            return as_measure(self.measure)
        objective: Any = OBJECTIVES.build(self.objective)
        made_of = {field.name for field in fields(objective)}
        return objective.measure if "measure" in made_of else as_measure("ndcg@10")
