"""FunctionalRank: its losses by their parts, its prior, scikit-learn's contract."""

import warnings

import numpy as np
import pytest
import sklearn
from scipy.optimize import check_grad
from sklearn.utils.estimator_checks import parametrize_with_checks

import rankopt
from rankopt.errors import IncompatibleError, SpecError
from rankopt.objectives import OBJECTIVES


def problem(n_queries=30, width=4, seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 12, n_queries)
    X = rng.normal(size=(sizes.sum(), width)) * [1.0, 10.0, 0.1, 1.0] + [0.0, 5.0, 0.0, -3.0]
    y = np.clip(np.round(X @ [1.0, 0.1, 0.0, 0.0] + rng.normal(size=len(X)) * 0.5 + 0.5), 0, 4)
    return rankopt.dataset(X, y, np.repeat(np.arange(n_queries), sizes))


@parametrize_with_checks([rankopt.FunctionalRank(max_iter=10)])
def test_scikit_learns_own_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.SkipTestWarning)
        warnings.simplefilter("ignore", sklearn.exceptions.ConvergenceWarning)
        check(estimator)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"loss": "hinge", "weight": "max-ndcg"}, "pairwise(loss=hinge, weight=max-ndcg)"),
        ({"loss": "plackett-luce", "group": "max"}, "plackett-luce(group=max)"),
        ({"loss": "pseudo-likelihood(max_grade=2)", "weight": "grade"},
         "pseudo-likelihood(weight=grade, max_grade=2)"),
        ({"loss": "multiclass"}, "multiclass"),
    ],
)  # fmt: skip
def test_weight_and_group_go_into_the_loss(parameters, text):
    _, loss, _ = rankopt.FunctionalRank(**parameters)._parts()
    assert loss == OBJECTIVES.build(text)


def test_the_minimum_is_that_of_loss_and_prior():
    """The derivative of the mean loss plus l2 times the squared norm vanishes at the weights."""
    data, l2 = problem(), 0.01
    model = rankopt.FunctionalRank(loss="logistic", weight="inverse-size", l2=l2, tol=1e-9).fit(
        data
    )

    def total(w):
        loss, slope = rankopt.value_grad(
            "pairwise(logistic, weight=inverse-size)", data.X @ w, data.y,
            data.groups.spread(data.groups.qids),
        )  # fmt: skip
        return loss + l2 * w @ w, data.X.T @ slope + 2 * l2 * w

    assert np.abs(total(model.coef_)[1]).max() < 1e-5
    assert check_grad(lambda w: total(w)[0], lambda w: total(w)[1], np.ones(4)) < 1e-5


def test_standardisation_is_folded_into_the_weights():
    data = problem()
    center, scale = data.X.mean(axis=0), data.X.std(axis=0)
    by_hand = rankopt.dataset((data.X - center) / scale, data.y, group=data.groups.sizes)
    model = rankopt.FunctionalRank(loss="multiclass", normalize="standard").fit(data)
    other = rankopt.FunctionalRank(loss="multiclass").fit(by_hand)
    np.testing.assert_allclose(model.coef_ * scale, other.coef_, rtol=1e-6)
    np.testing.assert_allclose(data.X @ model.coef_, model.predict(data), rtol=1e-12)


@pytest.mark.parametrize("solver", ["adam(learning_rate=0.05)", "sgd(learning_rate=0.05, batch=8)"])
def test_stochastic_solvers_come_near_the_minimum(solver):
    data = problem()
    options = {"loss": "plackett-luce", "normalize": "standard", "random_state": 0}
    exact = rankopt.FunctionalRank(**options).fit(data)
    rough = rankopt.FunctionalRank(**options, solver=solver, max_iter=60).fit(data)
    assert rough.history_[-1].value == pytest.approx(exact.history_[-1].value, rel=0.01)


def test_what_does_not_fit_is_refused():
    data = problem()
    for parameters, words in {
        ("approx(ndcg)", "grade", None): "weight: the loss approx takes none",
        (
            "logistic",
            None,
            "max",
        ): "group: the loss pairwise takes none; those that do: multiclass, plackett",
        ("logistic", "gain", None): "unknown weight 'gain'",
        ("direct", None, None): None,
    }.items():
        loss, weight, group = parameters
        model = rankopt.FunctionalRank(loss=loss, weight=weight, group=group)
        with pytest.raises(IncompatibleError if words is None else SpecError, match=words):
            model.fit(data)
