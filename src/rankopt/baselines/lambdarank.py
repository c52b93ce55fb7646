"""LambdaRank: a linear model of pairs weighted by what their exchange changes."""

from __future__ import annotations

from typing import ClassVar

from rankopt.baselines.loss import LossRanker


class LambdaRank(LossRanker):
    r"""A linear ranker trained by stochastic gradients of pairs weighted by what their exchange changes.

    Definition
    ----------
    Each query moves the weights along

    .. math:: \sum_{(i,j)} |\Delta_{ij}| \, \frac{1}{1 + e^{s_i - s_j}} \, (x_i - x_j)

    over pairs with :math:`y_i > y_j`, :math:`\Delta_{ij}` being what exchanging them changes in the measure
    (`rankopt.objectives.Lambda`).

    Parameters
    ----------
    objective : ``lambda(...)`` of the measure.
    solver, l2, start and the others : as in `LossRanker`.

    References
    ----------
    [burges2006learning]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> rankopt.baselines.LambdaRank("ndcg@5").fit(X, y, qid=qid).score(X, y, qid=qid) > 0.98
    True
    """

    system: ClassVar[str] = "lambdarank"
    loss: ClassVar[str] = "lambda(MEASURE)"
    search: ClassVar[str] = "sgd(max_iter=50, learning_rate=0.1)"
    grids: ClassVar[dict[str, tuple[float, ...]]] = {"l2": (0.0, 1e-4)}
