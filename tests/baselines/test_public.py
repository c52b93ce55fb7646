"""Baselines beside public implementations: scikit-learn, LightGBM, XGBoost, fastrank; published figures."""

import os
from itertools import product
from pathlib import Path

import lightgbm
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import rankopt
from rankopt import baselines
from rankopt.measures import as_measure
from rankopt.objectives import Lambda

DATA = os.environ.get("RANKOPT_DATA")
real = pytest.mark.skipif(DATA is None, reason="RANKOPT_DATA names no folder of real data")


def simulated(n_queries, seed):
    return rankopt.simulate(
        n_queries=n_queries, n_features=10, smallest=5, largest=30, typical=15, seed=seed,
        interactions=0.1, blank=0.0,
    )  # fmt: skip


def halves():
    data = simulated(200, 3)
    return data.take(np.arange(100)), data.take(np.arange(100, 200))


def test_ranknet_is_logistic_regression_on_pairs():
    data = simulated(15, 1)
    X = np.asarray(data.X, np.float64)
    X /= X.std(axis=0)
    data = rankopt.dataset(X, data.y, np.repeat(np.arange(15), data.groups.sizes))
    pairs = np.array(
        [
            X[i] - X[j]
            for a, b in zip(data.groups.offsets[:-1], data.groups.offsets[1:], strict=True)
            for i, j in product(range(a, b), repeat=2)
            if data.y[i] > data.y[j]
        ]
    )
    l2 = 0.1
    signs = np.where(np.arange(len(pairs)) % 2, 1.0, -1.0)
    other = LogisticRegression(C=1 / (2 * 15 * l2), fit_intercept=False, tol=1e-10, max_iter=5000)
    other.fit(pairs * signs[:, None], signs)
    model = baselines.RankNet(l2=l2, tol=1e-9, max_iter=1000).fit(data)
    np.testing.assert_allclose(model.coef_, other.coef_[0], rtol=1e-4, atol=1e-5)


def test_slopes_of_lambdarank_are_lightgbms():
    """The leaves of one tree show the sums of LightGBM's gradients and curvatures over their rows."""
    data = simulated(12, 2)
    scores = np.random.default_rng(0).normal(size=data.n_rows)
    params = {
        "objective": "lambdarank", "lambdarank_norm": False, "lambdarank_truncation_level": 1000,
        "learning_rate": 1.0, "num_leaves": 60, "min_data_in_leaf": 1, "sigmoid": 1.0, "verbose": -1,
        "num_threads": 1,
    }  # fmt: skip
    train = lightgbm.Dataset(data.X, data.y, group=data.groups.sizes, init_score=scores)
    booster = lightgbm.train(params, train, 1)
    leaf = booster.predict(data.X, pred_leaf=True).ravel().astype(int)
    theirs = np.array([booster.get_leaf_output(0, i) for i in range(leaf.max() + 1)])
    bound = Lambda(as_measure("ndcg")).bind(data.labels, data.groups)
    gradient, curvature = (np.bincount(leaf, n) for n in bound.slopes(scores))
    assert theirs.size > 30
    np.testing.assert_allclose(-gradient / curvature, theirs, rtol=0.01, atol=1e-3)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (baselines.MART, {"objective": "regression"}),
        (baselines.LambdaMART, {"objective": "lambdarank"}),
    ],
)
def test_boosted_baselines_rank_as_lightgbm_does(ours, theirs):
    train, test = halves()
    model = ours("ndcg@10", n_estimators=100, num_leaves=6, learning_rate=0.1, random_state=0).fit(
        train
    )
    params = {
        **theirs, "num_leaves": 6, "learning_rate": 0.1, "min_data_in_leaf": 20, "verbose": -1,
        "num_threads": 1, "deterministic": True,
    }  # fmt: skip
    booster = lightgbm.train(
        params, lightgbm.Dataset(train.X, train.y, group=train.groups.sizes), 100
    )
    other = rankopt.evaluate(booster.predict(test.X), test, "ndcg@10").mean["ndcg@10"]
    assert model.score(test) == pytest.approx(other, abs=0.015)


def test_lambdamart_ranks_as_xgboost_does():
    xgb = pytest.importorskip("xgboost", reason="xgboost is not installed")
    train, test = halves()
    qid = np.repeat(np.arange(train.groups.n_queries), train.groups.sizes)
    other = xgb.XGBRanker(
        objective="rank:ndcg", n_estimators=100, max_leaves=6, max_depth=0, grow_policy="lossguide",
        learning_rate=0.1, tree_method="hist", n_jobs=1,
    ).fit(train.X, train.y, qid=qid)  # fmt: skip
    model = baselines.LambdaMART(
        "ndcg@10", n_estimators=100, num_leaves=6, learning_rate=0.1, random_state=0
    ).fit(train)
    theirs = rankopt.evaluate(other.predict(test.X), test, "ndcg@10").mean["ndcg@10"]
    assert model.score(test) == pytest.approx(theirs, abs=0.03)


def test_coordinate_ascent_climbs_as_high_as_fastrank():
    fastrank = pytest.importorskip("fastrank", reason="fastrank is not installed")
    train, _ = halves()
    request = fastrank.TrainRequest.coordinate_ascent()
    request.measure, request.params.quiet, request.params.seed = "ndcg@10", True, 1
    qid = np.repeat(np.arange(train.groups.n_queries), train.groups.sizes)
    given = fastrank.CDataset.from_numpy(np.asarray(train.X, np.float32), train.labels, qid)
    scores = given.train_model(request).predict_dense_scores(given)
    theirs = rankopt.evaluate(np.asarray(scores), train, "ndcg@10").mean["ndcg@10"]
    ours = baselines.CoordinateAscent("ndcg@10", random_state=0).fit(train).score(train)
    assert ours == pytest.approx(theirs, abs=0.02)


# ------------------------------------------------------------------ published figures


def folds(folder):
    for k in range(1, 6):
        place = Path(DATA) / folder / f"Fold{k}"
        yield [rankopt.read_letor(place / f"{p}.txt.gz") for p in ("train", "vali", "test")]


@real
@pytest.mark.parametrize(
    ("folder", "ranker", "figures"),
    [
        (
            "ohsumed_letor3/QueryLevelNorm",
            baselines.RankBoost("map", max_bins=11),
            (0.4494, 0.4411),
        ),
        ("mq2008", baselines.RankBoost("map", max_bins=11), (0.4693, 0.4752)),
        ("mq2008", baselines.RankSVM("map", l2=1e-3), (0.4657, 0.4677)),
        (
            "ohsumed_letor3/QueryLevelNorm",
            baselines.AdaRank("map", repeats=None, ties="stable"),
            (0.4613, 0.4487),
        ),
    ],
    ids=["rankboost on OHSUMED", "rankboost on MQ2008", "ranksvm on MQ2008", "adarank on OHSUMED"],
)
def test_published_figures_are_met(folder, ranker, figures):
    found = [
        rankopt.evaluate(
            ranker.fit(train, eval_set=[vali]), test, ["ndcg@5", "map"], convention="letor"
        ).mean
        for train, vali, test in folds(folder)
    ]
    for measure, published in zip(("ndcg@5", "map"), figures, strict=True):
        assert np.mean([means[measure] for means in found]) == pytest.approx(published, abs=0.01)


def test_ties_in_file_order_favour_a_feature_that_says_nothing():
    """Where files list relevant rows first, a constant feature is perfect in file order."""
    rng = np.random.default_rng(0)
    y = np.tile([2.0, 1.0, 0.0, 0.0], 10)
    X = np.column_stack((np.ones(40), rng.normal(size=40)))
    data = rankopt.dataset(X, y, np.repeat(np.arange(10), 4))
    assert baselines.AdaRank("ndcg@4", max_iter=1, ties="stable").fit(data).taken_ == [0]
    assert baselines.AdaRank("ndcg@4", max_iter=1).fit(data).taken_ == [1]
