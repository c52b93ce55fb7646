"""LambdaMART: boosted trees of LambdaRank's gradients."""

from __future__ import annotations

from typing import ClassVar

from rankopt.baselines.trees import FixedTreeRanker


class LambdaMART(FixedTreeRanker):
    r"""A sum of trees grown on the gradients of pairs weighted by what their exchange changes.

    Definition
    ----------
    .. math:: f_t = f_{t-1} + \eta \, h_t, \qquad
              h_t(x) = - \frac{\sum_{i \in \ell(x)} \lambda_i}{\sum_{i \in \ell(x)} \lambda'_i}

    with the gradients :math:`\lambda_i` and curvatures :math:`\lambda'_i` of `rankopt.objectives.Lambda`
    over the rows of the leaf :math:`\ell(x)`.

    Parameters
    ----------
    objective : ``lambda(...)`` of the measure.
    learning_rate : :math:`\eta`.
    n_estimators, num_leaves and the others : as in `FixedTreeRanker`.

    References
    ----------
    [burges2010overview]_; [wu2010adapting]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> rankopt.baselines.LambdaMART("ndcg@5").fit(X, y, qid=qid).score(X, y, qid=qid) > 0.98
    True
    """

    system: ClassVar[str] = "lambdamart"
    loss: ClassVar[str] = "lambda(MEASURE)"
