"""ListNet: a linear model of the probabilities to be ranked first."""

from __future__ import annotations

from typing import ClassVar

from rankopt.baselines.loss import LossRanker


class ListNet(LossRanker):
    r"""A linear ranker trained on the cross-entropy of the probabilities to be ranked first.

    Definition
    ----------
    .. math:: \min_w \; \lambda \lVert w \rVert^2 - \frac{1}{n} \sum_q \sum_i P_i(y) \log P_i(Xw), \qquad
              P_i(s) = \frac{e^{s_i}}{\sum_j e^{s_j}}

    The paper descends by gradient with neural networks without a hidden layer; the loss is convex, and here
    L-BFGS finds its minimum.

    Parameters
    ----------
    objective : ``listnet``; ``listnet(target=gains)`` is the softmax loss of the gains.
    solver, l2, start and the others : as in `LossRanker`.

    References
    ----------
    [cao2007learning]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> rankopt.baselines.ListNet("ndcg@5").fit(X, y, qid=qid).score(X, y, qid=qid) > 0.98
    True
    """

    system: ClassVar[str] = "listnet"
    loss: ClassVar[str] = "listnet"
    grids: ClassVar[dict[str, tuple[float, ...]]] = {
        "l2": tuple(10.0**power for power in range(-7, 1))
    }
