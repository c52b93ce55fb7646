"""LossRanker: a linear model of one loss, as the published baselines are."""

from __future__ import annotations

from typing import Any, ClassVar

from rankopt.estimators.gradient import GradientRanker
from rankopt.measures import Measure
from rankopt.objectives import OBJECTIVES, Objective
from rankopt.scorers import Linear, Scorer
from rankopt.solvers import SOLVERS, Solver


class LossRanker(GradientRanker):
    """What the baselines with a loss share: a subclass states its loss, solver and start.

    Parameters
    ----------
    measure : the measure to report and validate by.
    objective : another form of the loss, as text; None is that of the class.
    solver : another solver, as text; None is that of the class.
    l2 : strength of the pull towards the starting weights.
    start : ``zero``, ``ridge`` (regression on the gains), ``uniform``, an array, or a fitted linear
        model; ``auto`` is the start of the class.
    max_iter, tol : of the solver; None is its default.
    normalize : None; ``standard`` (mean 0, spread 1 over all rows, folded into the weights); ``query``
        (0 to 1 within each query, at prediction as well).
    early_stopping_rounds : iterations without a better validation value after which training ends.
        Whenever there is validation data, the best of all iterations is kept.
    n_jobs : threads; None is all cores of the process, and any number gives the same bits.
    random_state : seed.
    verbose : 1 shows progress on standard error.
    """

    loss: ClassVar[str]
    search: ClassVar[str] = "lbfgs"
    automatic: ClassVar[str] = "zero"
    polish: Any = None

    def __init__(
        self,
        measure: str | Measure = "ndcg@10",
        *,
        objective: str | Objective | None = None,
        solver: str | Solver | None = None,
        l2: float = 1e-3,
        start: str | Any = "auto",
        max_iter: int | None = None,
        tol: float | None = None,
        normalize: str | None = None,
        early_stopping_rounds: int | None = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.measure = measure
        self.objective = objective
        self.solver = solver
        self.l2 = l2
        self.start = start
        self.max_iter = max_iter
        self.tol = tol
        self.normalize = normalize
        self.early_stopping_rounds = early_stopping_rounds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _parts(self) -> tuple[Scorer, Objective, Solver]:
        loss = self.objective
        if loss is None:
            loss = self.loss.replace("MEASURE", str(self._measure()))
        solver = self.search if self.solver is None else self.solver
        return Linear(), OBJECTIVES.build(loss), SOLVERS.build(solver)
