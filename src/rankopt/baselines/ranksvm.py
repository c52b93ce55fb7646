"""RankSVM: a linear model of the squared hinge of pairs."""

from __future__ import annotations

from typing import ClassVar

from rankopt.baselines.loss import LossRanker


class RankSVM(LossRanker):
    r"""A linear ranking support vector machine, trained in the primal.

    Definition
    ----------
    .. math:: \min_w \; \lambda \lVert w \rVert^2 + \frac{1}{P} \sum_q \sum_{y_i > y_j}
              \max(0, 1 - w \cdot (x_i - x_j))^2

    over all P pairs of rows of a query with different labels. A value and a gradient take O(m log m) for
    a query of m rows (`rankopt.objectives.SquaredHinge`).

    Parameters
    ----------
    objective : ``squared-hinge``; with ``squared-hinge(over=queries)`` all queries count alike.
    solver, l2, start and the others : as in `LossRanker`.

    References
    ----------
    [joachims2002optimizing]_; [chapelle2010efficient]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> rankopt.baselines.RankSVM("ndcg@5").fit(X, y, qid=qid).score(X, y, qid=qid) > 0.98
    True
    """

    system: ClassVar[str] = "ranksvm"
    loss: ClassVar[str] = "squared-hinge"
    grids: ClassVar[dict[str, tuple[float, ...]]] = {
        "l2": tuple(10.0**power for power in range(-6, 1))
    }
