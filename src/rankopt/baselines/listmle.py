"""ListMLE: a linear model of the likelihood of the order by label."""

from __future__ import annotations

from typing import ClassVar

from rankopt.baselines.loss import LossRanker


class ListMLE(LossRanker):
    r"""A linear ranker that makes the order by label most likely under the Plackett-Luce model.

    Definition
    ----------
    .. math:: \min_w \; \lambda \lVert w \rVert^2 - \frac{1}{n} \sum_q \sum_i
              \log \frac{e^{s_{(i)}}}{\sum_{j \ge i} e^{s_{(j)}}}

    over the rows in order of label (`rankopt.objectives.PlackettLuce`, which says how rows of one label
    are taken together).

    Parameters
    ----------
    objective : ``plackett-luce``; ``plackett-luce(weight=inverse-rank)`` weighs the top more.
    solver, l2, start and the others : as in `LossRanker`.

    References
    ----------
    [xia2008listwise]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> rankopt.baselines.ListMLE("ndcg@5").fit(X, y, qid=qid).score(X, y, qid=qid) > 0.98
    True
    """

    system: ClassVar[str] = "listmle"
    loss: ClassVar[str] = "plackett-luce"
    grids: ClassVar[dict[str, tuple[float, ...]]] = {
        "l2": tuple(10.0**power for power in range(-5, 2))
    }
