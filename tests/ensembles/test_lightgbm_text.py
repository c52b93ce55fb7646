"""LightGBM's models re-weighted and loaded by LightGBM itself; its JSON dumps; what is refused."""

import json
import re

import lightgbm as lgb
import numpy as np
import pytest
from tests.ensembles.test_lightgbm import CASES, QUIET, rows, strange, trained

import rankopt
from rankopt.ensembles.lightgbm_text import LightGBMText
from rankopt.errors import ModelError

FOREST = {"objective": "regression", "boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1}


def some(count, seed=0):
    """Factors, some of which are 0 or 1."""
    factors = np.random.default_rng(seed).uniform(0.0, 2.0, count)
    factors[1], factors[2] = 0.0, 1.0
    return factors


@pytest.mark.parametrize("case", CASES)
def test_lightgbm_loads_it_and_predicts_the_same_bits(case, tmp_path):
    X, y = rows(0, 400)
    booster = trained(case, X, y)
    ensemble = rankopt.read_ensemble(booster)
    new = ensemble.reweighted(some(ensemble.n_trees))
    new.save(tmp_path / "model.txt")
    loaded = lgb.Booster(model_file=tmp_path / "model.txt")
    assert loaded.num_trees() == ensemble.n_trees - 1
    for part in (X, strange(X)):
        data = rankopt.dataset(part)
        scores = ensemble.trees.scores(some(ensemble.n_trees), data)
        np.testing.assert_array_equal(new.predict(data), scores)
        np.testing.assert_array_equal(loaded.predict(part, num_threads=1), scores)
    again = rankopt.read_ensemble(loaded)
    np.testing.assert_array_equal(again.trees.values, new.trees.values)


def test_contributions_add_up_to_the_new_scores():
    X, y = rows(0, 300)
    booster = trained("plain", X, y)
    new = rankopt.read_ensemble(booster).reweighted(some(12)).document.live()
    parts = new.predict(X, pred_contrib=True, num_threads=1)
    np.testing.assert_allclose(parts.sum(axis=1), new.predict(X, num_threads=1), atol=1e-12)


def test_factors_of_one_leave_every_byte_as_it_was(tmp_path):
    X, y = rows(0, 300)
    trained("categorical", X, y).save_model(tmp_path / "a.txt")
    ensemble = rankopt.read_ensemble(tmp_path / "a.txt")
    ensemble.reweighted(np.ones(ensemble.n_trees)).save(tmp_path / "b.txt")
    assert (tmp_path / "b.txt").read_bytes() == (tmp_path / "a.txt").read_bytes()


def test_values_inside_and_shrinkage_follow_and_counts_do_not():
    X, y = rows(0, 300)
    text = trained("plain", X, y).model_to_string()
    new = LightGBMText.parsed(text).reweighted(np.full(12, 0.5)).encoded("").decode()

    def numbers(key, source):
        lines = re.findall(rf"^{key}=(.*)$", source, re.MULTILINE)
        return np.array([float(v) for line in lines for v in line.split()])

    for key in ("leaf_value", "internal_value", "shrinkage"):
        np.testing.assert_array_equal(numbers(key, new), 0.5 * numbers(key, text))
    for key in ("leaf_weight", "leaf_count", "internal_count", "split_gain", "threshold"):
        np.testing.assert_array_equal(numbers(key, new), numbers(key, text))


def test_importances_of_trees_that_have_gone_go_too():
    X, y = rows(0, 300)
    ensemble = rankopt.read_ensemble(trained("plain", X, y))
    assert re.search(r"feature_importances:\n\w", ensemble.document.footer)
    new = ensemble.reweighted(some(12)).document
    assert "feature_importances:\n\nparameters:" in new.footer
    assert new.live().feature_importance().sum() == new.ensemble().trees.feature.size


def test_the_best_iteration_counts_as_in_predict():
    X, y = rows(0, 400)
    settings = {"objective": "regression", **QUIET}
    train, valid = lgb.Dataset(X[:300], y[:300]), lgb.Dataset(X[300:], y[300:])
    stop = lgb.early_stopping(5, verbose=False)
    booster = lgb.train(
        settings, train, 200, valid_sets=[valid], callbacks=[stop], keep_training_booster=True
    )
    assert booster.best_iteration < booster.current_iteration()
    ensemble = rankopt.read_ensemble(booster)
    assert ensemble.n_trees == booster.best_iteration
    expected = booster.predict(X, num_threads=1)
    np.testing.assert_array_equal(ensemble.predict(rankopt.dataset(X)), expected)
    three = rankopt.read_ensemble(booster, iterations=3)
    expected = booster.predict(X, num_iteration=3, num_threads=1)
    np.testing.assert_array_equal(three.predict(rankopt.dataset(X)), expected)


def test_scikit_learns_classes_and_raw_scores():
    X, y = rows(0, 300)
    model = lgb.LGBMClassifier(n_estimators=5, **QUIET).fit(X, y > y.mean())
    expected = model.booster_.predict(X, raw_score=True, num_threads=1)
    np.testing.assert_array_equal(
        rankopt.read_ensemble(model).predict(rankopt.dataset(X)), expected
    )


def test_a_random_forest_is_the_mean_of_its_trees():
    X, y = rows(0, 300)
    booster = lgb.train({**FOREST, **QUIET}, lgb.Dataset(X, y), 7)
    ensemble, data = rankopt.read_ensemble(booster), rankopt.dataset(X)
    assert ensemble.divisor == 7.0
    np.testing.assert_array_equal(ensemble.predict(data), booster.predict(X, num_threads=1))
    new = ensemble.reweighted(some(7))
    expected = new.document.live().predict(X, num_threads=1)
    np.testing.assert_array_equal(new.predict(data), expected)
    np.testing.assert_allclose(new.to_model().predict(data), expected, rtol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_a_dump_in_json_gives_the_same_bits(case, tmp_path):
    X, y = rows(0, 400)
    booster = trained(case, X, y)
    path = tmp_path / "dump.json"
    path.write_text(json.dumps(booster.dump_model()), encoding="utf-8")
    ensemble = rankopt.read_ensemble(path)
    data = rankopt.dataset(strange(X))
    expected = booster.predict(strange(X), num_threads=1)
    np.testing.assert_array_equal(ensemble.predict(data), expected)
    factors = some(ensemble.n_trees)
    ensemble.reweighted(factors).save(path)
    again = rankopt.read_ensemble(path)
    np.testing.assert_array_equal(again.predict(data), ensemble.trees.scores(factors, data))
    with pytest.raises(ModelError, match="LightGBM cannot load a JSON dump"):
        again.document.live()


def test_several_classes_are_refused(tmp_path):
    X, y = rows(0, 300)
    settings = {"objective": "multiclass", "num_class": 3, **QUIET}
    booster = lgb.train(settings, lgb.Dataset(X, np.digitize(y, [0.0, 1.0])), 2)
    with pytest.raises(ModelError, match="has 3 trees per iteration"):
        rankopt.read_ensemble(booster)
    (tmp_path / "dump.json").write_text(json.dumps(booster.dump_model()), encoding="utf-8")
    with pytest.raises(ModelError, match="has 3 trees per iteration"):
        rankopt.read_ensemble(tmp_path / "dump.json")


def test_linear_trees_are_refused_in_a_dump_too(tmp_path):
    X, y = rows(0, 300, 0.0)
    settings = {"objective": "regression", "linear_tree": True, **QUIET}
    booster = lgb.train(settings, lgb.Dataset(X, y, params={"linear_tree": True, **QUIET}), 2)
    (tmp_path / "dump.json").write_text(json.dumps(booster.dump_model()), encoding="utf-8")
    with pytest.raises(ModelError, match="tree 0: has linear models in its leaves"):
        rankopt.read_ensemble(tmp_path / "dump.json")
