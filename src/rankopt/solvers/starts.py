"""Where solvers start: ridge regression on the gains."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset

_BLOCK = 4_000_000  # values of X held in float64 at once


def ridge(data: Dataset, gains: Floats, l2: float = 1e-3, *, centred: bool = True) -> Floats:
    r"""Weights of the ridge regression of gains on features.

    Definition
    ----------
    .. math:: \min_w \; \frac{1}{n} \sum_i c_{q(i)} \, (\tilde g_i - w \cdot \tilde x_i)^2
              + \lambda \sum_j \sigma_j^2 w_j^2

    with :math:`\sigma_j` the spread of feature j, so that the penalty does not depend on units, and
    :math:`c_q` the weight of the query. `centred`: :math:`\tilde g, \tilde x` are deviations from the
    means of their query, else from the means of all rows. Only X'X is formed, block by block.

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> data = rankopt.dataset([[0.0, 5.0], [1.0, 4.0], [2.0, 5.0], [3.0, 4.0]])
    >>> (ridge(data, np.array([0.0, 1.0, 2.0, 3.0]), l2=0.0).round(6) + 0.0).tolist()
    [1.0, 0.0]
    """
    gram, moment = _normal_equations(data, gains, centred)
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


def _normal_equations(data: Dataset, gains: Floats, centred: bool) -> tuple[Floats, Floats]:
    """X'X / n and X'g / n of centred columns."""
    n, width = data.n_rows, data.n_features
    row_weights = (
        None if data.weights is None else data.groups.spread(data.weights / data.weights.mean())
    )
    offsets = data.groups.offsets if centred else np.array([0, n])
    gram, moment = np.zeros((width, width)), np.zeros(width)
    rows = max(1, _BLOCK // max(1, width))
    cuts = np.unique(np.searchsorted(offsets, np.arange(0, n + rows, rows)))
    cuts = np.unique(np.clip(np.append(cuts, offsets.size - 1), 0, offsets.size - 1))
    for a, b in pairwise(cuts):
        first, last = int(offsets[a]), int(offsets[b])
        block = data.X[first:last]
        block = (
            block.astype(np.float64)
            if isinstance(block, np.ndarray)
            else block.toarray().astype(np.float64)
        )
        target = gains[first:last].copy()
        sizes = np.diff(offsets[a : b + 1])
        starts = offsets[a:b] - first
        block -= np.repeat(np.add.reduceat(block, starts) / sizes[:, None], sizes, axis=0)
        target -= np.repeat(np.add.reduceat(target, starts) / sizes, sizes)
        weighted = block if row_weights is None else block * row_weights[first:last, None]
        gram += weighted.T @ block
        moment += weighted.T @ target
    return gram / n, moment / n
