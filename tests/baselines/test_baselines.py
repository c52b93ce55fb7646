"""The baselines: their definitions by brute force, scikit-learn's contract, files, other tools."""

import warnings
from itertools import product

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import Ridge as Regression
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import rankopt
from rankopt import baselines
from rankopt.estimators import SYSTEMS, system
from rankopt.scorers import Stumps

BASELINES = [name for name, (module, _) in SYSTEMS.items() if "baselines" in module]
QUICK = {
    "adarank": {"max_iter": 5}, "rankboost": {"max_iter": 5},
    "coordinate-ascent": {"restarts": 0, "steps": 3, "max_iter": 2},
    "rankcosine": {"max_iter": 10}, "softrank": {"max_iter": 10},
    "mart": {"n_estimators": 20, "min_child_samples": 3},
    "lambdamart": {"n_estimators": 20, "min_child_samples": 3},
}  # fmt: skip
every_baseline = pytest.mark.parametrize("name", BASELINES)


def quick(name):
    return system(name)(**QUICK.get(name, {}))


def problem(n_queries=30, width=4, seed=0, levels=4):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 12, n_queries)
    X = rng.normal(size=(sizes.sum(), width)).round(2)
    y = np.clip(
        np.round(X @ np.linspace(1, 0, width) + rng.normal(size=len(X)) * 0.7 + 1), 0, levels
    )
    return rankopt.dataset(X, y, np.repeat([f"q{i}" for i in range(n_queries)], sizes))


@parametrize_with_checks([quick(name) for name in BASELINES])
def test_scikit_learns_own_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.SkipTestWarning)
        warnings.simplefilter("ignore", sklearn.exceptions.ConvergenceWarning)
        check(estimator)


@every_baseline
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_file_keeps_the_model(name, tmp_path):
    data = problem()
    model = quick(name).fit(data, eval_set=[problem(seed=1)])
    model.save(tmp_path / "model.rankopt")
    again = rankopt.load(tmp_path / "model.rankopt")
    assert type(again) is type(model)
    np.testing.assert_array_equal(again.predict(data), model.predict(data))
    assert again.get_params() == model.get_params()


@every_baseline
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_learns_more_than_a_constant(name):
    data = problem(60)
    tied = rankopt.evaluate(np.zeros(data.n_rows), data, "ndcg@10").mean["ndcg@10"]
    assert quick(name).fit(data).score(data) > tied + 0.2


@every_baseline
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_blank_queries_and_queries_of_one_row(name):
    X = np.array([[1.0], [2.0], [3.0], [1.0], [5.0]])
    data = rankopt.dataset(X, [0, 0, 1, 0, 2], ["a", "a", "b", "c", "c"])
    model = quick(name).fit(data)
    assert np.isfinite(model.predict(data)).all()
    blank = rankopt.dataset(X, np.zeros(5), ["a", "a", "b", "c", "c"])
    assert np.isfinite(quick(name).fit(blank).predict(blank)).all()


# ------------------------------------------------------------------ ridge


@pytest.mark.parametrize("balanced", [False, True])
def test_ridge_is_scikit_learns(balanced):
    data = problem()
    gains = 2.0**data.y - 1.0
    model = baselines.Ridge(l2=0.1, balanced=balanced, normalize="standard").fit(data)
    weights = np.ones(data.n_rows)
    if balanced:
        weights = (
            np.where(gains > 0, 0.5 / (gains > 0).sum(), 0.5 / (gains == 0).sum()) * data.n_rows
        )
    away = data.X - np.average(data.X, axis=0, weights=weights)
    spread = np.sqrt(np.average(away**2, axis=0, weights=weights))
    other = Regression(alpha=0.1 * data.n_rows).fit(data.X / spread, gains, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, other.coef_ / spread, rtol=1e-8)


def test_ridge_centred_within_queries():
    data = problem()
    gains = 2.0**data.y - 1.0
    model = baselines.Ridge(l2=0.0, balanced=False, centred=True).fit(data)
    query = np.repeat(np.arange(data.groups.n_queries), data.groups.sizes)
    dummies = (query[:, None] == np.arange(data.groups.n_queries)).astype(float)
    solution, *_ = np.linalg.lstsq(np.hstack((data.X, dummies)), gains)
    np.testing.assert_allclose(model.coef_, solution[: data.n_features], rtol=1e-6)


# ------------------------------------------------------------------ RankSVM


def test_ranksvm_is_linear_svc_on_pairs():
    data = problem(20)
    differences = []
    for a, b in zip(data.groups.offsets[:-1], data.groups.offsets[1:], strict=True):
        for i, j in product(range(a, b), repeat=2):
            if data.y[i] > data.y[j]:
                differences.append(data.X[i] - data.X[j])
    pairs = np.array(differences)
    signs = np.where(np.arange(len(pairs)) % 2, 1.0, -1.0)
    other = LinearSVC(loss="squared_hinge", C=0.05, fit_intercept=False, tol=1e-9, max_iter=100_000)
    other.fit(pairs * signs[:, None], signs)
    model = baselines.RankSVM(l2=0.5 / (0.05 * len(pairs)), tol=1e-10).fit(data)
    np.testing.assert_allclose(model.coef_, other.coef_[0], rtol=1e-5, atol=1e-6)


# ------------------------------------------------------------------ AdaRank


def adarank_by_hand(data, measure, rounds):
    """AdaRank from its definition, evaluating every feature in every round."""

    def per_query(scores):
        return rankopt.evaluate(scores, data, measure).per_query[measure]

    gains = data.y if "ndcg" in measure else data.y > 0
    changes = [
        len(set(gains[a:b])) > 1
        for a, b in zip(data.groups.offsets[:-1], data.groups.offsets[1:], strict=True)
    ]
    share = np.array(changes) / sum(changes)
    weights = np.zeros(data.n_features)
    for _ in range(rounds):
        quality = [share @ per_query(data.X[:, f].copy()) for f in range(data.n_features)]
        best = int(np.argmax(quality))
        weights[best] += 0.5 * np.log((1.0 + quality[best]) / (1.0 - quality[best]))
        share = np.array(changes) * np.exp(-per_query(data.X @ weights))
        share /= share.sum()
    return weights


@pytest.mark.parametrize("measure", ["ndcg@5", "map"])
def test_adarank_follows_its_definition(measure):
    data = problem(levels=2)
    model = baselines.AdaRank(measure, max_iter=1, repeats=None).fit(data)
    np.testing.assert_allclose(model.coef_, adarank_by_hand(data, measure, 1), rtol=1e-9)
    model = baselines.AdaRank(measure, max_iter=40, repeats=None).fit(data)
    (values,) = model.evals_result_["train"].values()
    best = int(np.argmax(values)) + 1
    np.testing.assert_allclose(model.coef_, adarank_by_hand(data, measure, best), rtol=1e-9)


def test_a_feature_of_adarank_rests():
    data = problem()
    model = baselines.AdaRank("ndcg@5", max_iter=30, repeats=2).fit(data)
    runs = [len(set(model.taken_[i : i + 3])) for i in range(28)]
    assert min(runs) > 1
    model = baselines.AdaRank("ndcg@5", max_iter=30, repeats=1, rest=3).fit(data)
    assert {len(set(model.taken_[i : i + 4])) for i in range(27)} == {4}
    assert len(baselines.AdaRank(max_iter=9, repeats=1, rest=99).fit(data).taken_) == 9
    assert baselines.AdaRank("ndcg@5", max_iter=30, signs=True).fit(data).coef_.shape == (4,)


# ------------------------------------------------------------------ RankBoost


def rankboost_by_pairs(data, rounds):
    """RankBoost with a weight for every pair, trying every threshold."""
    pairs = [
        (i, j)
        for a, b in zip(data.groups.offsets[:-1], data.groups.offsets[1:], strict=True)
        for i, j in product(range(a, b), repeat=2)
        if data.y[i] > data.y[j]
    ]
    better, worse = np.array(pairs).T
    share = np.full(len(pairs), 1.0 / len(pairs))
    scores = np.zeros(data.n_rows)
    for _ in range(rounds):
        best = (0.0, None)
        for f in range(data.n_features):
            values = np.unique(data.X[:, f])
            for threshold in 0.5 * (values[1:] + values[:-1])[::-1]:
                step = (data.X[:, f] > threshold).astype(float)
                r = share @ (step[better] - step[worse])
                if abs(r) > abs(best[0]) + 1e-12:
                    best = (r, step)
        r, step = best
        alpha = 0.5 * np.log((1.0 + r) / (1.0 - r))
        scores += alpha * step
        share *= np.exp(-alpha * (step[better] - step[worse]))
        share /= share.sum()
    return scores


@pytest.mark.parametrize("levels", [1, 4])
def test_rankboost_follows_its_definition(levels):
    data = problem(12, width=3, levels=levels)
    model = baselines.RankBoost(max_iter=12, max_bins=65_536).fit(data)
    np.testing.assert_allclose(model.predict(data), rankboost_by_pairs(data, 12), atol=1e-9)


def test_rankboost_keeps_the_best_round():
    data, valid = problem(), problem(seed=1)
    model = baselines.RankBoost("ndcg@5", max_iter=30).fit(data, eval_set=[valid])
    assert model.score(valid) == pytest.approx(
        max(model.evals_result_["valid_0"]["ndcg@5"]), abs=1e-12
    )
    assert model.score(valid) == pytest.approx(model.best_score_, abs=1e-12)


def test_steps_of_missing_values():
    data = rankopt.dataset([[np.nan, 1.0], [2.0, np.nan]])
    stumps = Stumps((0, 1), (-5.0, 0.0))
    assert stumps.scores(np.array([1.0, 10.0]), data).tolist() == [10.0, 1.0]
    with pytest.raises(rankopt.errors.DataError, match="number 3"):
        Stumps((2,), (0.0,)).scores(np.ones(1), data)


# ------------------------------------------------------------------ coordinate ascent


def test_coordinate_ascent_climbs_from_equal_weights():
    data = problem()
    model = baselines.CoordinateAscent("ndcg@5", restarts=0, random_state=0).fit(data)
    values = model.evals_result_["train"]["ndcg@5"]
    assert values[0] == pytest.approx(
        rankopt.evaluate(data.X.sum(axis=1), data, "ndcg@5").mean["ndcg@5"]
    )
    assert values == sorted(values)
    assert model.score(data) == pytest.approx(values[-1])
    assert model.tried_ > 4 * 51
    assert np.abs(model.coef_).sum() == pytest.approx(1.0)


def test_directrank_climbs_higher_than_sampled_steps():
    data = problem(60, width=8)
    sampled = baselines.CoordinateAscent("ndcg@5", random_state=0).fit(data)
    exact = rankopt.DirectRank("ndcg@5", random_state=0, restarts=4).fit(data)
    assert exact.score(data) >= sampled.score(data) - 0.002
