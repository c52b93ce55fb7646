"""SVM-MAP: a linear model with a large margin in average precision."""

from __future__ import annotations

from typing import ClassVar

from rankopt.baselines.loss import LossRanker


class SVMMAP(LossRanker):
    r"""A linear ranker trained on the structured hinge bound of average precision.

    Definition
    ----------
    .. math:: \min_w \; \lambda \lVert w \rVert^2 + \frac{1}{n} \sum_q
              \Big( \max_y \, [1 - \mathrm{AP}_q(y) + F_q(y)] - F_q^* \Big)

    with F the mean over pairs of a relevant row and another one of the difference of their scores, plus
    where y puts the relevant one first. This is `MarginRank` with ``position_weights="pairs"``.

    Parameters
    ----------
    objective : ``margin(ap, positions=pairs)``.
    solver, l2, start and the others : as in `LossRanker`.

    References
    ----------
    [yue2007support]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> rankopt.baselines.SVMMAP("ndcg@5").fit(X, y, qid=qid).score(X, y, qid=qid) > 0.95
    True
    """

    system: ClassVar[str] = "svmmap"
    loss: ClassVar[str] = "margin(ap, positions=pairs)"
    search: ClassVar[str] = "cutting-plane"
    grids: ClassVar[dict[str, tuple[float, ...]]] = {
        "l2": tuple(10.0**power for power in range(-6, 0))
    }
