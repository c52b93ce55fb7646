"""The n-slack program over working sets of planes, solved by PIQP."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankopt.arrays import Floats, Ints


def slack_qp(
    slopes: Floats, constants: Floats, owners: Ints, shares: Floats, strength: float, exact: float
) -> Floats:
    r"""The weights :math:`\alpha` of planes in the dual of

    .. math:: \min_{u, \xi} \; \lambda \lVert u \rVert^2 + \sum_q c_q \xi_q
              \quad \text{with} \quad \xi_q \ge b_p + g_p \cdot u \;\; \forall p \text{ of } q

    It is solved in the primal, where each constraint holds but one of the slacks and the features: that
    is sparse, and its size is known. Rounding is cleared away: the weights are not negative and those of
    each query add up to its share, so that a bound made of them holds whatever the precision.

    Parameters
    ----------
    slopes, constants : (n_planes, n_features), (n_planes,).
    owners : the query of each plane, from 0, ascending, each with one plane at least.
    shares : :math:`c_q`.
    strength : :math:`\lambda`.
    exact : the gap that will do.
    """
    import piqp
    from scipy.sparse import block_diag, csc_matrix, hstack

    width, n = slopes.shape[1], shares.size
    unit = float(shares.mean())  # in units in which the weights of slacks are about one
    quadratic = block_diag(
        (2.0 * strength / unit * np.eye(width), csc_matrix((n, n))), format="csc"
    )
    linear = np.concatenate((np.zeros(width), shares / unit))
    rows = np.arange(owners.size)
    slacks = csc_matrix((np.full(owners.size, -1.0), (rows, owners)), (owners.size, n))
    solver: Any = piqp.SparseSolver()
    eps = max(exact / unit, 1e-9)
    solver.settings.eps_abs = solver.settings.eps_duality_gap_abs = eps
    solver.settings.eps_rel = solver.settings.eps_duality_gap_rel = 1e-9
    solver.setup(
        quadratic, linear, None, None, hstack((csc_matrix(slopes), slacks), format="csc"), None, -constants
    )  # fmt: skip
    solver.solve()
    alphas = np.nan_to_num(np.maximum(np.asarray(solver.result.z_u), 0.0))
    totals = np.bincount(owners, alphas, n)
    sizes = np.bincount(owners, minlength=n)
    lost = totals <= 0.0
    alphas = np.where(lost[owners], 1.0 / sizes[owners], alphas)
    return alphas * (shares / np.where(lost, 1.0, totals))[owners]
