"""SmoothGrad: gradient descent on the tight large-margin bound of a measure."""

from __future__ import annotations

from typing import ClassVar

from rankopt.baselines.loss import LossRanker


class SmoothGrad(LossRanker):
    r"""A linear ranker trained by gradients of the tight, non-convex bound of a measure.

    Definition
    ----------
    .. math:: \min_w \; \lambda \lVert w - w_0 \rVert^2 + \frac{1}{n} \sum_q
              \Big( \max_y \, [1 - M_q(y) + F_q(y)] - \max_y F_q(y) \Big)

    with :math:`F_q(y) = \sum_i s_i / \sqrt{y_i}` and :math:`w_0` the ridge regression on the gains.
    Papers that compare with this name cite the report for it and describe no method; this is the report's
    bound, the orders found by assignment, in the form that gradients can follow.

    Parameters
    ----------
    objective : ``margin(..., bound=tight, positions=root)`` of the measure.
    solver, l2, start and the others : as in `LossRanker`.

    References
    ----------
    [le2007direct]_; [chapelle2007large]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> rankopt.baselines.SmoothGrad("ndcg@5").fit(X, y, qid=qid).score(X, y, qid=qid) > 0.98
    True
    """

    system: ClassVar[str] = "smoothgrad"
    loss: ClassVar[str] = "margin(MEASURE, bound=tight, positions=root)"
    search: ClassVar[str] = "subgradient"
    automatic: ClassVar[str] = "ridge"
    grids: ClassVar[dict[str, tuple[float, ...]]] = {"l2": (1e-5, 1e-3, 1e-1)}
