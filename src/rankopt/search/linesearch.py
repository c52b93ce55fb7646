"""line_search: the best step along a direction, exactly, for any measure of the four forms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankopt.arrays import Floats, as_floats, require_finite
from rankopt.data.dataset import query_weights
from rankopt.data.groups import Groups
from rankopt.errors import DataError
from rankopt.measures import Measure, as_measure
from rankopt.search.engine import Engine
from rankopt.search.fixedpoint import FixedPoint
from rankopt.search.stepfunction import StepFunction


def line_search(
    scores: ArrayLike,
    direction: ArrayLike,
    y: ArrayLike,
    qid: ArrayLike | None = None,
    measure: Measure | str = "ndcg@10",
    bounds: tuple[float, float] = (-np.inf, np.inf),
    full: bool = False,
    query_weight: ArrayLike | None = None,
) -> StepFunction:
    """The best open interval of t in ``scores + t * direction``, found exactly.

    A measure of a ranking is constant in t except where two rows of a query trade places, so its best
    value along a line is found by enumeration and not by trial [tan2013direct]_. Ties in score are
    pessimistic: the lower label comes first.

    Parameters
    ----------
    scores, direction, y : one score, slope and label per row, in any row order.
    qid : one query identifier per row, integers or text; None is one query of all rows.
    measure : a `Measure` or its text, of one of the four forms.
    bounds : the open interval of t to search.
    full : whether to return every breakpoint and value too; their number can be far larger than that
        of the rows.
    query_weight : one weight per query, in order of first appearance.

    Examples
    --------
    >>> import rankopt
    >>> steps = rankopt.line_search([3.0, 2.0, 1.0], [0.0, 1.0, 3.0], [0, 0, 1], full=True)
    >>> steps.lo, steps.hi, steps.value
    (0.6666666666666666, inf, 1.0)
    >>> steps.breakpoints.round(3).tolist(), steps.values.round(3).tolist()
    ([0.5, 0.667], [0.5, 0.631, 1.0])
    """
    start = require_finite(as_floats(scores, "scores"), "scores")
    slopes: Any = _slopes(direction)
    require_finite(slopes, "direction")
    labels = require_finite(as_floats(y, "y"), "y")
    for name, values in (("direction", slopes), ("y", labels)):
        if values.size != start.size:
            raise DataError(
                f"{name}: {values.size} values for {start.size} scores; one per row is needed"
            )
    lo, hi = (float(bound) for bound in bounds)
    if not lo < hi:
        raise DataError(
            f"bounds: ({lo}, {hi}) is no interval; the first must be less than the second"
        )
    groups, rows = Groups.from_qid(qid, start.size)
    weights = None if query_weight is None else query_weights(query_weight, groups)
    if rows is not None:
        start, slopes, labels = start[rows], slopes[rows], labels[rows]
    bound = as_measure(measure).bind(labels, groups, weights, rows=rows)
    return Engine(FixedPoint.of(bound), start).search(slopes, lo, hi, full)


def _slopes(direction: ArrayLike) -> NDArray[np.float32] | Floats:
    """The direction as it is where it is float32, else as float64: both are exact."""
    array: Any = direction
    if isinstance(array, np.ndarray) and array.dtype == np.float32 and array.ndim == 1:
        return np.require(array, requirements=["C", "W"])
    return as_floats(direction, "direction")
