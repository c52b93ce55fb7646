"""MART: boosted regression trees on the labels."""

from __future__ import annotations

from typing import ClassVar

from rankopt.baselines.trees import FixedTreeRanker


class MART(FixedTreeRanker):
    r"""A sum of regression trees, each fitted to what the ones before it leave of the labels.

    Definition
    ----------
    .. math:: f_t = f_{t-1} + \eta \, h_t, \qquad
              h_t = \arg\min_h \sum_i \big( y_i - f_{t-1}(x_i) - h(x_i) \big)^2

    Parameters
    ----------
    objective : ``squared(gain=linear)``; ``squared`` fits the gains :math:`2^y - 1`.
    learning_rate : :math:`\eta`.
    n_estimators, num_leaves and the others : as in `FixedTreeRanker`.

    References
    ----------
    [friedman2001greedy]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> rankopt.baselines.MART("ndcg@5").fit(X, y, qid=qid).score(X, y, qid=qid) > 0.98
    True
    """

    system: ClassVar[str] = "mart"
    loss: ClassVar[str] = "squared(gain=linear)"
