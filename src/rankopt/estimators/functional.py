"""FunctionalRank: a rank functional of any form, trained by a weighted loss."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, ClassVar, Literal

from rankopt.data.text import Words
from rankopt.errors import SpecError
from rankopt.estimators.gradient import GradientRanker
from rankopt.measures import Measure
from rankopt.objectives import OBJECTIVES, Objective
from rankopt.scorers import SCORERS, Scorer
from rankopt.solvers import SOLVERS, Solver

_PAIRWISE = ("logistic", "hinge", "quadratic", "exponential")


class FunctionalRank(GradientRanker):
    r"""A rank functional f of query and object, trained by a weighted loss with a Gaussian prior.

    Definition
    ----------
    .. math:: \min_\theta \; \frac{1}{n} \sum_q \ell \big( r_q, \{ f_\theta(q, o_i) \}_i \big)
              + \lambda \lVert \theta \rVert^2

    The functional f is a scorer: linear or quadratic in features of query and object together, or
    bilinear or a distance in features of the two apart. The loss is multiclass logistic, a smoothed measure,
    pairwise, Plackett-Luce forwards or backwards, or one of the random field's.
    With the paper's prior of variance :math:`\sigma^2`, :math:`\lambda` is :math:`1 / (2 n \sigma^2)`.

    Parameters
    ----------
    scorer : ``linear``; ``quadratic(rho=0.02)``; ``bilinear(d=10)`` or ``distance(d=10)`` where queries
        have features of their own; or any other scorer or its text.
    loss : ``multiclass``; a pairwise loss by its name alone (``logistic``, ``hinge``, ``quadratic``,
        ``exponential``); or any objective, such as ``plackett-luce``, ``pseudo-likelihood(max_grade=2)``, and
        ``approx(err, alpha=1)`` for the paper's smoothed measures.
    weight : the weights of rows or of pairs, by the names that the loss takes; None is as `loss` says.
    group : ``min``, ``max``, ``arithmetic`` or ``geometric``: all rows of a grade count as one, in the losses
        of the Plackett-Luce family; None is as `loss` says.
    solver : ``lbfgs``; for large sparse data ``adam`` or ``sgd``, or any other.
    measure : the measure to report and validate by.
    l2 : :math:`\lambda`.
    start : starting parameters: ``auto`` (zero where the scorer is linear, else what the scorer starts
        from), an array, or for linear scorers ``ridge``, ``uniform``, ``zero`` or a fitted linear model.
    max_iter, tol : of the solver; None is its default.
    normalize : None; ``standard`` (mean 0, spread 1 over all rows, as the paper does it, folded into the
        parameters); ``query`` (0 to 1 within each query, at prediction as well).
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
    [tran2011learning]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> model = rankopt.FunctionalRank(loss="plackett-luce", weight="inverse-rank", measure="ndcg@5")
    >>> model.fit(X, y, qid=qid).score(X, y, qid=qid) > 0.98
    True
    """

    system: ClassVar[str] = "functional"
    automatic: ClassVar[str] = "zero"
    prior: ClassVar[Literal["start", "origin"]] = "origin"
    grids: ClassVar[dict[str, tuple[float, ...]]] = {
        "l2": tuple(10.0**power for power in range(-7, 1))
    }

    def __init__(
        self,
        scorer: str | Scorer = "linear",
        loss: str | Objective = "pairwise(logistic, weight=gain-difference-normalised)",
        weight: str | None = None,
        group: str | None = None,
        solver: str | Solver = "lbfgs",
        *,
        measure: str | Measure = "ndcg@10",
        l2: float = 1e-4,
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
        self.loss = loss
        self.weight = weight
        self.group = group
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
        return SCORERS.build(self.scorer), self._loss(), SOLVERS.build(self.solver)

    def _loss(self) -> Objective:
        """The loss with the weights and the functional of groups that were asked for besides."""
        named = isinstance(self.loss, str) and self.loss in _PAIRWISE
        loss: Any = OBJECTIVES.build(f"pairwise({self.loss})" if named else self.loss)
        options = {"weight": self.weight, "group": self.group}
        asked = {name: value for name, value in options.items() if value is not None}
        for name in asked.keys() - {field.name for field in fields(loss)}:
            takers = ", ".join(
                key
                for key, cls in OBJECTIVES.classes.items()
                if name in {field.name for field in fields(cls)}  # pyright: ignore[reportArgumentType]
            )
            raise SpecError(f"{name}: the loss {loss} takes none; those that do: {takers}")
        return replace(loss, **asked)
