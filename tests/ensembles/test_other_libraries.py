"""Re-weighted models of XGBoost and CatBoost, loaded by these libraries themselves."""

import json

import numpy as np
import pytest
from tests.ensembles.test_lightgbm import rows, strange

import rankopt
from rankopt.errors import ModelError

ROUNDS = 8


def factors_of(ensemble):
    factors = np.random.default_rng(1).uniform(0.0, 2.0, ensemble.n_trees)
    factors[1] = 0.0
    return factors


def xgboost_model(params, X, y, kinds=None):
    xgb = pytest.importorskip("xgboost", reason="xgboost is not installed")

    def matrix(values, labels=None):
        return xgb.DMatrix(values, labels, feature_types=kinds, enable_categorical=True)

    booster = xgb.train({"max_depth": 4, "nthread": 1, **params}, matrix(X, y), ROUNDS)
    return booster, lambda b, values: b.predict(matrix(values), output_margin=True)


XGBOOST = {
    "plain": {},
    "categorical": {"max_cat_to_onehot": 3},
    "dart": {"booster": "dart", "rate_drop": 0.5},
    "parallel": {"num_parallel_tree": 3, "subsample": 0.5},
    "exact": {"tree_method": "exact"},
    "gamma": {"objective": "reg:gamma"},
}


@pytest.mark.parametrize("case", XGBOOST)
@pytest.mark.parametrize("suffix", ["json", "ubj"])
def test_xgboost_loads_it_and_predicts_the_scores(case, suffix, tmp_path):
    xgb = pytest.importorskip("xgboost", reason="xgboost is not installed")
    X, y = rows(0, 400)
    kinds = None
    if case in ("categorical", "dart"):
        X[:, 2] = np.where(X[:, 2] < 0, np.nan, X[:, 2])
        kinds = ["q", "q", "c", "q", "c", "q"]
    target = np.exp(y) if case == "gamma" else y
    booster, predict = xgboost_model(XGBOOST[case], X, target, kinds)
    booster.save_model(tmp_path / f"a.{suffix}")
    ensemble = rankopt.read_ensemble(tmp_path / f"a.{suffix}")
    new = ensemble.reweighted(factors_of(ensemble))
    new.save(tmp_path / f"b.{suffix}")
    loaded = xgb.Booster(model_file=tmp_path / f"b.{suffix}")
    parts = [X] if kinds else [X, np.clip(strange(X), -1e9, 1e9), X.astype(np.float32)]
    for part in parts:
        data = rankopt.dataset(part)
        np.testing.assert_allclose(ensemble.predict(data), predict(booster, part), atol=3e-6)
        np.testing.assert_allclose(new.predict(data), predict(loaded, part), atol=3e-6)
        np.testing.assert_allclose(new.predict(data), predict(new.document.live(), part), atol=3e-6)


def test_live_objects_of_xgboost_count_what_their_own_predict_counts():
    xgb = pytest.importorskip("xgboost", reason="xgboost is not installed")
    X, y = rows(0, 400)
    data = rankopt.dataset(X)
    model = xgb.XGBRegressor(n_estimators=60, max_depth=6, early_stopping_rounds=3, n_jobs=1)
    model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
    assert model.best_iteration < 59
    best = rankopt.read_ensemble(model)
    assert best.n_trees == model.best_iteration + 1
    np.testing.assert_allclose(best.predict(data), model.predict(X), atol=3e-6)
    booster = model.get_booster()
    every = rankopt.read_ensemble(booster)
    assert every.n_trees > best.n_trees
    np.testing.assert_allclose(every.predict(data), booster.predict(xgb.DMatrix(X)), atol=3e-6)
    again = xgb.XGBRegressor()
    factors = factors_of(every)
    again.load_model(bytearray(every.reweighted(factors).document.encoded(".ubj")))
    expected = every.trees.scores(factors, data) + every.base
    np.testing.assert_allclose(again.predict(X), expected, atol=3e-6)


CATBOOST = {
    "plain": {},
    "max": {"nan_mode": "Max"},
    "lossguide": {"grow_policy": "Lossguide"},
    "depthwise": {"grow_policy": "Depthwise"},
    "ranking": {"loss_function": "YetiRank"},
}


@pytest.mark.parametrize("case", CATBOOST)
def test_catboost_loads_it_and_predicts_the_scores(case, tmp_path):
    cb = pytest.importorskip("catboost", reason="catboost is not installed")
    X, y = rows(0, 400)
    model = cb.CatBoost(
        {"iterations": ROUNDS, "depth": 4, "verbose": 0, "allow_writing_files": False,
         "thread_count": 1, "random_seed": 0, **CATBOOST[case]}
    )  # fmt: skip
    model.fit(X, np.clip(np.round(y), 0, 4), group_id=np.repeat(np.arange(20), 20))
    model.set_scale_and_bias(1.5, -0.25)
    ensemble = rankopt.read_ensemble(model)
    new = ensemble.reweighted(factors_of(ensemble))
    new.save(tmp_path / "model.json")
    loaded = cb.CatBoost().load_model(str(tmp_path / "model.json"), format="json")
    for part in (X, strange(X), X.astype(np.float32)):
        data = rankopt.dataset(part)
        for mine, theirs in ((ensemble, model), (new, loaded), (new, new.document.live())):
            raw = theirs.predict(part, prediction_type="RawFormulaVal")
            np.testing.assert_allclose(mine.predict(data), raw, atol=1e-9)


def test_catboosts_categories_are_refused_with_the_reason(tmp_path):
    cb = pytest.importorskip("catboost", reason="catboost is not installed")
    X, y = rows(0, 300, 0.0)
    hashed = [[str(v) if i == 4 else v for i, v in enumerate(row)] for row in X.tolist()]
    settings = {"iterations": 4, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    for size, reason in ((2, "target statistics of categories"), (99, "CatBoost hashes")):
        model = cb.CatBoost({**settings, "cat_features": [4], "one_hot_max_size": size})
        model.fit(hashed, 3.0 * (X[:, 4] == 2) + y)
        with pytest.raises(ModelError, match=reason):
            rankopt.read_ensemble(model)
    unused = cb.CatBoost({**settings, "cat_features": [4], "ignored_features": [4]})
    unused.fit(hashed, y)
    ensemble = rankopt.read_ensemble(unused)
    np.testing.assert_allclose(
        ensemble.predict(rankopt.dataset(X)), unused.predict(hashed), atol=1e-9
    )
    unused.save_model(str(tmp_path / "model.cbm"))
    with pytest.raises(ModelError, match="CatBoost model in binary"):
        rankopt.read_ensemble(tmp_path / "model.cbm")


def test_dumps_of_xgboost_are_refused(tmp_path):
    X, y = rows(0, 200)
    booster, _ = xgboost_model({}, X, y)
    booster.dump_model(str(tmp_path / "dump.json"), dump_format="json")
    assert isinstance(json.loads((tmp_path / "dump.json").read_text()), list)
    booster.dump_model(str(tmp_path / "dump.txt"))
    for name, reason in (("dump.json", "list of trees"), ("dump.txt", "text dump")):
        with pytest.raises(ModelError, match=reason):
            rankopt.read_ensemble(tmp_path / name)
