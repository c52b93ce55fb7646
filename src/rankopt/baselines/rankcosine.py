"""RankCosine: a linear model of the angle between scores and gains."""

from __future__ import annotations

from typing import ClassVar

from rankopt.baselines.loss import LossRanker


class RankCosine(LossRanker):
    r"""A linear ranker that brings the scores of each query into the direction of its gains.

    Definition
    ----------
    .. math:: \min_w \; \lambda \lVert w - w_0 \rVert^2 + \frac{1}{n} \sum_q \frac{1}{2}
              \Big( 1 - \frac{X_q w \cdot g_q}{\lVert X_q w \rVert \, \lVert g_q \rVert} \Big)

    with :math:`g = 2^y - 1` and :math:`w_0` the ridge regression on the gains, as the loss is not convex.

    Parameters
    ----------
    objective : ``cosine``; ``cosine(norm=dcg)`` is the form that is consistent with NDCG.
    solver, l2, start and the others : as in `LossRanker`.

    References
    ----------
    [qin2008query]_; [ravikumar2011ndcg]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> rankopt.baselines.RankCosine("ndcg@5").fit(X, y, qid=qid).score(X, y, qid=qid) > 0.98
    True
    """

    system: ClassVar[str] = "rankcosine"
    loss: ClassVar[str] = "cosine"
    automatic: ClassVar[str] = "ridge"
    grids: ClassVar[dict[str, tuple[float, ...]]] = {
        "l2": tuple(10.0**power for power in range(-7, 1))
    }
