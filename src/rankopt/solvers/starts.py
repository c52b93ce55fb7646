"""Where solvers start: ridge regression on the gains or the grades, or a RankSVM."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.threads import one_blas_thread

_BLOCK = 4_000_000  # values of X held in float64 at once


def ridge(
    data: Dataset,
    gains: Floats,
    l2: float = 1e-3,
    *,
    centred: bool = True,
    row_weights: Floats | None = None,
) -> Floats:
    r"""Weights of the ridge regression of gains on features.

    Definition
    ----------
    .. math:: \min_w \; \frac{1}{n} \sum_i c_i \, (\tilde g_i - w \cdot \tilde x_i)^2
              + \lambda \sum_j \sigma_j^2 w_j^2

    with :math:`\sigma_j` the spread of feature j, so that the penalty does not depend on units, and
    :math:`c_i` the weight of the row: that of its query times `row_weights`. `centred`:
    :math:`\tilde g, \tilde x` are deviations from the means of their query, else from the means of all
    rows. Only X'X is formed, block by block.

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> data = rankopt.dataset([[0.0, 5.0], [1.0, 4.0], [2.0, 5.0], [3.0, 4.0]])
    >>> (ridge(data, np.array([0.0, 1.0, 2.0, 3.0]), l2=0.0).round(6) + 0.0).tolist()
    [1.0, 0.0]
    """
    weights_of_rows = np.ones(data.n_rows) if row_weights is None else row_weights
    if data.weights is not None:
        weights_of_rows = weights_of_rows * data.groups.spread(data.weights / data.weights.mean())
    with one_blas_thread():  # which also keeps the bits the same on any machine's number of cores
        gram, moment = _normal_equations(data, gains, centred, weights_of_rows)
    spread = np.sqrt(np.diag(gram))
    kept = spread > 1e-9 * max(float(spread.max(initial=0.0)), 1e-300)
    weights = np.zeros(data.n_features)
    if not kept.any():
        return weights
    unit = spread[kept]
    scaled = gram[np.ix_(kept, kept)] / np.outer(unit, unit)
    scaled[np.diag_indices_from(scaled)] += max(l2, 1e-10)
    weights[kept] = np.linalg.solve(scaled, moment[kept] / unit) / unit
    return weights


def grades(data: Dataset, gains: Floats, l2: float = 0.1) -> Floats:
    r"""Weights of the `ridge` regression of the labels themselves, for what is to stay near them.

    Rows with a gain and rows without count the same in total, and the penalty is stronger than that of
    a mere start.

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> data = rankopt.dataset([[0.0, 5.0], [1.0, 4.0], [2.0, 5.0], [3.0, 4.0]], [0, 1, 2, 3])
    >>> (grades(data, 2.0**data.labels - 1.0).round(2) + 0.0).tolist()
    [0.87, -0.18]
    """
    from rankopt.objectives.squared import balance

    rows = balance(gains, np.ones(data.n_rows))
    return ridge(data, data.labels, l2, row_weights=rows)


def ranksvm(data: Dataset, l2: float = 1e-3) -> Floats:
    r"""Weights of a RankSVM: the least mean squared hinge of pairs plus :math:`\lambda \lVert w \rVert^2`.

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.dataset([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0]], [0, 1, 2])
    >>> (ranksvm(data, l2=0.5).round(4) + 0.0).tolist()
    [0.5714, 0.0]
    """
    from rankopt.objectives import SquaredHinge
    from rankopt.scorers import Linear
    from rankopt.solvers.lbfgs import LBFGS
    from rankopt.solvers.problem import L2, Problem

    loss = SquaredHinge().bind(data.labels, data.groups, data.weights)
    problem = Problem(data, Linear(), loss, L2(l2))
    start = np.zeros(data.n_features)
    return LBFGS().solve(problem, start, np.random.default_rng(0)).params


def _normal_equations(
    data: Dataset, gains: Floats, centred: bool, row_weights: Floats
) -> tuple[Floats, Floats]:
    """X'X / n and X'g / n of centred columns."""
    n, width = data.n_rows, data.n_features
    rows = max(1, _BLOCK // max(1, width))
    offsets = data.groups.offsets if centred else np.unique(np.append(np.arange(0, n, rows), n))
    cuts = np.unique(np.searchsorted(offsets, np.arange(0, n + rows, rows)))
    cuts = np.unique(np.clip(np.append(cuts, offsets.size - 1), 0, offsets.size - 1))
    edges = [(int(a), int(b)) for a, b in pairwise(cuts)]
    common, level = np.zeros(width), 0.0
    if not centred:
        total = row_weights.sum()
        level = float(row_weights @ gains) / total
        for a, b in edges:
            part = slice(int(offsets[a]), int(offsets[b]))
            common += row_weights[part] @ _dense(data, part) / total
    gram, moment = np.zeros((width, width)), np.zeros(width)
    for a, b in edges:
        part = slice(int(offsets[a]), int(offsets[b]))
        block, target, weights = _dense(data, part), gains[part].copy(), row_weights[part]
        if centred:
            sizes, starts = np.diff(offsets[a : b + 1]), offsets[a:b] - part.start
            mass = np.maximum(np.add.reduceat(weights, starts), np.finfo(float).tiny)
            means = np.add.reduceat(block * weights[:, None], starts) / mass[:, None]
            block -= np.repeat(means, sizes, axis=0)
            target -= np.repeat(np.add.reduceat(target * weights, starts) / mass, sizes)
        else:
            block -= common
            target -= level
        weighted = block * weights[:, None]
        gram += weighted.T @ block
        moment += weighted.T @ target
    return gram / n, moment / n


def _dense(data: Dataset, rows: slice) -> Floats:
    """Some rows of X in float64, a copy."""
    block = data.X[rows]
    return np.array(block if isinstance(block, np.ndarray) else block.toarray(), dtype=np.float64)
