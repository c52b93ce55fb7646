"""value_grad: a differentiable objective and its gradient, for any scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rankopt.arrays import Floats, as_floats, require_finite
from rankopt.data.dataset import query_weights
from rankopt.data.groups import Groups
from rankopt.errors import DataError, IncompatibleError
from rankopt.objectives import OBJECTIVES, Objective
from rankopt.objectives.base import Sloped


def value_grad(
    objective: Objective | str,
    scores: ArrayLike,
    y: ArrayLike,
    qid: ArrayLike | None = None,
    query_weight: ArrayLike | None = None,
) -> tuple[float, Floats]:
    """The value of a differentiable objective and its derivative by the scores; lower is better.

    Parameters
    ----------
    objective : an `Objective` or its text, such as ``approx(ndcg@10, alpha=10)``.
    scores, y : one score and label per row, in any row order. The gradient comes in the same order.
    qid : one query identifier per row, integers or text; None is one query of all rows.
    query_weight : one weight per query, in order of first appearance.

    Examples
    --------
    >>> import rankopt
    >>> loss, gradient = rankopt.value_grad(
    ...     "approx(rr, alpha=2)", [1.0, 2.0, 0.5, 0.5], [1, 0, 0, 1], qid=["a", "a", "b", "b"]
    ... )
    >>> round(loss, 4), gradient.round(4).tolist()
    (0.4008, [-0.0297, 0.0297, 0.1111, -0.1111])
    """
    spec = OBJECTIVES.build(objective)
    s = require_finite(as_floats(scores, "scores"), "scores")
    labels = require_finite(as_floats(y, "y"), "y")
    if labels.size != s.size:
        raise DataError(f"y: {labels.size} values for {s.size} scores; one per row is needed")
    groups, rows = Groups.from_qid(qid, s.size)
    weights = None if query_weight is None else query_weights(query_weight, groups)
    bound = spec.bind(labels if rows is None else labels[rows], groups, weights)
    if not isinstance(bound, Sloped):
        raise IncompatibleError(
            f"{spec} is piecewise constant and has no gradient; smooth forms of it are approx(...) and"
            " smooth(...)"
        )
    if rows is None:
        return bound.value_grad(s)
    value, sorted_grad = bound.value_grad(s[rows])
    grad = np.empty_like(sorted_grad)
    grad[rows] = sorted_grad
    return value, grad
