"""RankNet: a linear model of the logistic loss of pairs."""

from __future__ import annotations

from typing import ClassVar

from rankopt.baselines.loss import LossRanker


class RankNet(LossRanker):
    r"""A linear ranker trained on the logistic loss of pairs.

    Definition
    ----------
    .. math:: \min_w \; \lambda \lVert w \rVert^2 + \frac{1}{n} \sum_q \sum_{y_i > y_j}
              \log \big( 1 + e^{-w \cdot (x_i - x_j)} \big)

    The paper trains a neural network; here is its linear form, whose loss is convex. Each query counts by
    its number of pairs unless the weights of pairs say otherwise.

    Parameters
    ----------
    objective : ``pairwise(logistic)``; with ``pairwise(logistic, weight=inverse-size)`` and the like
        pairs count otherwise.
    solver, l2, start and the others : as in `LossRanker`.

    References
    ----------
    [burges2005learning]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> rankopt.baselines.RankNet("ndcg@5").fit(X, y, qid=qid).score(X, y, qid=qid) > 0.98
    True
    """

    system: ClassVar[str] = "ranknet"
    loss: ClassVar[str] = "pairwise(logistic)"
    grids: ClassVar[dict[str, tuple[float, ...]]] = {
        "l2": tuple(10.0**power for power in range(-5, 2))
    }
