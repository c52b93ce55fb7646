"""Leaf values of a new tree, each by the exact line search of the measure along its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats
from rankopt.search.engine import Engine


def searched_leaves(
    engine: Engine, values: Floats, leaves: NDArray[Any], rounds: int, rate: float, weight: float
) -> Floats:
    r"""Leaf values moved towards those that maximise the measure, one leaf at a time.

    Definition
    ----------
    .. math:: v_k \leftarrow v_k + \rho \, (v^*_k - v_k), \qquad
              v^*_k = \arg\max_{|v - v_k| \le r} M(s + w \sum_j v_j \, 1_j)

    for leaf after leaf, the others being where they are at the time; :math:`1_j` says which rows are in
    leaf j, and r is the spread of the tree's values.

    Parameters
    ----------
    engine : at the scores without the tree; it is brought back there.
    values : of the leaves.
    leaves : the leaf of each row that the engine holds.
    rounds : through all leaves.
    rate : :math:`\rho`.
    weight : w, at which the tree is looked at.
    """
    start = engine.scores.copy()
    reach = float(np.ptp(values))
    if reach == 0.0:
        return values
    best = values.copy()
    try:
        engine.restart(start + weight * best[leaves])
        for _ in range(rounds):
            rose = False
            for k in range(values.size):
                inside = weight * (leaves == k)
                steps = engine.search(
                    inside, values[k] - reach - best[k], values[k] + reach - best[k]
                )
                if steps.total > engine.total and engine.step(inside, steps.point, steps.total):
                    best[k] += steps.point
                    rose = True
            if not rose:
                break
    finally:
        engine.restart(start)
    return values + rate * (best - values)
