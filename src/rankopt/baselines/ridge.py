"""Ridge: linear regression of the gains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from rankopt.baselines.linear import linear_model
from rankopt.data.dataset import Dataset
from rankopt.errors import SpecError
from rankopt.estimators.base import BaseRanker
from rankopt.estimators.linear import scaled
from rankopt.measures import Measure
from rankopt.measures.gains import graded
from rankopt.models.model import Model
from rankopt.objectives.squared import balance
from rankopt.scorers import Linear
from rankopt.solvers.starts import ridge


class Ridge(BaseRanker):
    r"""Ridge regression of the gains, in closed form.

    Definition
    ----------
    .. math:: \min_w \; \frac{1}{n} \sum_i b_i \, (\tilde g_i - w \cdot \tilde x_i)^2
              + \lambda \sum_j \sigma_j^2 w_j^2, \qquad g = 2^y - 1

    with deviations from the means over all rows or, where `centred`, over those of the query, and
    :math:`\sigma_j` the spread of feature j.

    Parameters
    ----------
    measure : the measure to report.
    l2 : :math:`\lambda`.
    balanced : rows with a gain, and rows without, get the same weight in total, as in section 7 of
        [chapelle2010gradient]_.
    centred : compare rows within their query only.
    normalize : None; ``standard``; ``query`` (0 to 1 within each query, at prediction as well).
    n_jobs : threads.
    random_state : seed; nothing here is random.
    verbose : nothing is shown, as the work is quick.

    References
    ----------
    [cossock2006subset]_; [chapelle2010gradient]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> rankopt.baselines.Ridge("ndcg@5").fit(X, y, qid=qid).score(X, y, qid=qid) > 0.98
    True
    """

    system: ClassVar[str] = "ridge"
    grids: ClassVar[dict[str, tuple[float, ...]]] = {
        "l2": tuple(10.0**power for power in range(-5, 2))
    }

    def __init__(
        self,
        measure: str | Measure = "ndcg@10",
        *,
        l2: float = 1e-3,
        balanced: bool = True,
        centred: bool = False,
        normalize: str | None = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.measure = measure
        self.l2 = l2
        self.balanced = balanced
        self.centred = centred
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, data: Dataset, valid: Sequence[Dataset]) -> Model:
        if not 0.0 <= self.l2 < np.inf:
            raise SpecError(f"l2: {self.l2!r} must not be negative")
        measure = self._measure()
        data, scaling = scaled(data, self.normalize)
        gains = graded("exponential", data.labels)
        rows = None
        if self.balanced:
            share = np.ones(data.groups.n_queries) if data.weights is None else data.weights
            rows = balance(gains, data.groups.spread(share))
        weights = ridge(data, gains, self.l2, centred=self.centred, row_weights=rows)
        bound = measure.bind(data.labels, data.groups, data.weights, rows=data.rows)
        self.n_iter_ = 1
        self.status_ = "Solved in closed form."
        train = bound.mean(Linear().scores(weights, data))
        return linear_model(self, weights, data, scaling, status=self.status_, train=train)
