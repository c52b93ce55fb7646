"""Every functional with every loss, weight and group of the paper on rank functionals.

The gradient by the parameters, penalty and all, is that of central differences.
"""

from itertools import product

import numpy as np
import pytest
from tests import oracles

import rankopt
from rankopt.objectives import OBJECTIVES
from rankopt.objectives.choices import GROUPS
from rankopt.objectives.weighting import ELEMENTS, PAIRS
from rankopt.scorers import SCORERS
from rankopt.solvers import L2, Problem

FUNCTIONALS = [
    "linear", "quadratic(rho=0)", "quadratic(rho=0.2)", "bilinear(tanh, d=2)", "bilinear(sigmoid, d=2)",
    "bilinear(none, d=3)", "distance(d=2, tau=0.7)",
]  # fmt: skip
ROWS = [f"weight={weight}" for weight in ELEMENTS]
BY_PAIRS = [f"weight={weight}" for weight in PAIRS]
IN_GROUPS = ["", *(f"group={group}" for group in GROUPS)]
LOSSES = {
    **{f"pairwise {name}": (f"pairwise({name}, ", BY_PAIRS)
       for name in ("logistic", "hinge", "quadratic", "exponential")},
    "plackett-luce": ("plackett-luce(", [", ".join(filter(None, p)) for p in product(ROWS, IN_GROUPS)]),
    "reverse-plackett-luce": (
        "reverse-plackett-luce(", [", ".join(filter(None, p)) for p in product(ROWS, IN_GROUPS)]
    ),
    "multiclass": ("multiclass(", IN_GROUPS),
    "pseudo-likelihood": ("pseudo-likelihood(coupling=0.4, ", ROWS),
    "pair-upper-bound": ("pair-upper-bound(coupling=0.4, ", BY_PAIRS),
    "smoothed measures": ("approx(", ["mrr, alpha=1", "ndcg, alpha=1", "ndcg@3, alpha=1", "err, alpha=1"]),
}  # fmt: skip


def problem():
    """Queries of several sizes, one of a single row and one of equal grades, and a blank column."""
    rng = np.random.default_rng(7)
    sizes = np.array([6, 1, 4, 3, 8])
    X = rng.normal(size=(sizes.sum(), 4))
    X[:, 3] = 0.0
    y = rng.integers(0, 5, sizes.sum()).astype(float)
    y[:2], y[7:11] = (4.0, 0.0), 2.0
    Q = rng.normal(size=(sizes.size, 3))
    return rankopt.dataset(X, y, group=sizes, query_features=Q)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("functional", FUNCTIONALS)
def test_gradient_by_the_parameters_is_that_of_the_differences(functional, loss):
    data, rng = problem(), np.random.default_rng(1)
    scorer = SCORERS.build(functional).fitted(data)
    params = scorer.start(data, rng) + 0.4 * rng.normal(size=scorer.size(data))
    front, settings = LOSSES[loss]
    for setting in settings:
        text = f"{front}{setting})"
        bound = OBJECTIVES.build(text).bind(data.labels, data.groups, np.array([1, 2, 1, 0.5, 3.0]))
        whole = Problem(data, scorer, bound, L2(0.01))
        _, grad = whole.value_grad(params)
        rough = oracles.fine_differences(
            lambda p, whole=whole: whole.value_grad(p)[0], params, np.eye(params.size)
        )
        np.testing.assert_allclose(grad, rough, rtol=1e-6, atol=1e-8, err_msg=text)


def test_every_loss_weight_and_group_is_among_them():
    """So that a new name in one of the tables is tested too."""
    texts = [f"{front}{setting})" for front, settings in LOSSES.values() for setting in settings]
    built = {str(OBJECTIVES.build(text)) for text in texts}
    assert len(built) == len(texts) == 4 * len(PAIRS) + 2 * 6 * 5 + 5 + 6 + len(PAIRS) + 4
