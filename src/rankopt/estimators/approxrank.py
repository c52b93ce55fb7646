"""ApproxRank: a linear model trained on a measure at soft ranks."""

from __future__ import annotations

from typing import Any, ClassVar

from rankopt.estimators.gradient import GradientRanker
from rankopt.measures import Measure, as_measure
from rankopt.objectives import Approx, Objective
from rankopt.scorers import Linear, Scorer
from rankopt.solvers import SOLVERS, Solver


class ApproxRank(GradientRanker):
    r"""A linear ranker trained on a smooth approximation of a ranking measure.

    Definition
    ----------
    .. math:: \min_w \; \frac{1}{n} \sum_q \big( 1 - \hat M(X_q w, y_q) \big)
              + \lambda \lVert w - w_0 \rVert^2

    where :math:`\hat M` is the measure at soft ranks (`rankopt.objectives.Approx`): ApproxNDCG, ApproxAP,
    and the like for any position-based measure. As alpha grows the approximation becomes exact and
    hard to optimise.

    Parameters
    ----------
    measure : the measure to report and validate by, such as ``ndcg@10`` or ``map``.
    train_measure : the measure to train on; None is the same. Without a cut-off or with a late one
        training uses more of the data, and often does better on early cut-offs, too.
    alpha : steepness of the soft ranks, by the scale of the scores.
    beta : steepness of precedence and cut-off, by ranks.
    sigmoid : ``logistic``, ``arctangent``, ``tanh`` or ``erf``.
    l2 : strength of the pull towards the starting weights.
    start : the starting weights: ``ridge`` (regression on the gains), ``ranksvm``, ``uniform``, ``zero``,
        an array of weights, or a fitted linear model.
    solver : ``lbfgs``, ``cg``, ``adam``, ``sgd`` (algorithm 1 of the paper), or any text of
        `rankopt.solvers`, such as ``annealed(cg, high=1, low=0.01)``.
    max_iter, tol : of the solver; None is its default.
    normalize : None; ``standard`` (mean 0, spread 1 over all rows, folded into the weights); ``query``
        (0 to 1 within each query, at prediction as well).
    polish : a measure to finish on by exact line search, such as ``ndcg@10``; None does not.
    early_stopping_rounds : iterations without a better validation value after which training ends.
        Whenever there is validation data, the best of all iterations is kept.
    n_jobs : threads; None is all cores of the process, and any number gives the same bits.
    random_state : seed.
    verbose : 1 shows progress on standard error.

    References
    ----------
    [qin2010general]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> model = rankopt.ApproxRank(measure="ndcg@5", train_measure="ndcg").fit(X, y, qid=qid)
    >>> model.score(X, y, qid=qid) > 0.99
    True
    """

    system: ClassVar[str] = "approxrank"
    grids: ClassVar[dict[str, tuple[float, ...]]] = {
        "alpha": (10.0, 20.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0),
        "beta": (1.0, 10.0, 20.0, 50.0, 100.0),
        "l2": tuple(10.0**power for power in range(-6, 4)),
    }

    def __init__(
        self,
        measure: str | Measure = "ndcg@10",
        *,
        train_measure: str | Measure | None = None,
        alpha: float = 10.0,
        beta: float = 10.0,
        sigmoid: Any = "logistic",
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
        self.alpha = alpha
        self.beta = beta
        self.sigmoid = sigmoid
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
        objective = Approx(measure, float(self.alpha), float(self.beta), self.sigmoid)
        return Linear(), objective, SOLVERS.build(self.solver)
