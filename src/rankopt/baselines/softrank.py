"""SoftRank: a linear model of a measure at noisy scores."""

from __future__ import annotations

from typing import ClassVar

from rankopt.baselines.loss import LossRanker


class SoftRank(LossRanker):
    r"""A linear ranker trained on the expected measure at scores with Gaussian noise.

    Definition
    ----------
    .. math:: \min_w \; \lambda \lVert w - w_0 \rVert^2 + \frac{1}{n} \sum_q
              \big( 1 - E[M(X_q w + \sigma \epsilon, y_q)] \big)

    with the distribution of each rank taken to be rank-binomial (`rankopt.objectives.SoftRank`), and
    :math:`w_0` the ridge regression on the gains.

    Parameters
    ----------
    objective : ``softrank(ndcg@10, sigma=0.1)`` with the measure; ``softrank(..., by=expectation)`` takes the
        measure at expected ranks, in O(m^2).
    solver, l2, start and the others : as in `LossRanker`.

    References
    ----------
    [taylor2008softrank]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> rankopt.baselines.SoftRank("ndcg@5").fit(X, y, qid=qid).score(X, y, qid=qid) > 0.98
    True
    """

    system: ClassVar[str] = "softrank"
    loss: ClassVar[str] = "softrank(MEASURE, sigma=0.1)"
    automatic: ClassVar[str] = "ridge"
    grids: ClassVar[dict[str, tuple[float, ...]]] = {"l2": (1e-5, 1e-3, 1e-1)}
