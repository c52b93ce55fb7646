"""Trees written for LightGBM: it predicts from them what we do, to the last bit."""

import lightgbm as lgb
import numpy as np
import pytest
from tests.ensembles.test_lightgbm import CASES, rows, strange, trained

import rankopt
from rankopt.ensembles.lightgbm import pack
from rankopt.ensembles.text import to_text
from rankopt.errors import IncompatibleError
from rankopt.scorers.trees import Trees


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_lightgbm_reads_the_same_scores(case, missing):
    X, y = rows(0, 400, missing)
    trees = pack(trained(case, X, y, 6))
    weights = np.random.default_rng(0).uniform(0.1, 2.0, trees.n_trees)
    weights[2] = 0.0
    booster = lgb.Booster(model_str=to_text(trees, weights, 6, ["a", "b c", "d", "e", "f", "g"]))
    assert booster.num_trees() == trees.n_trees - 1
    assert booster.feature_name()[1] == "b_c"
    for part in (X, strange(X)):
        scores = trees.scores(weights, rankopt.dataset(part))
        np.testing.assert_array_equal(booster.predict(part, num_threads=1), scores)
    again = pack(booster)
    np.testing.assert_array_equal(again.scores(np.ones(again.n_trees), rankopt.dataset(X)),
                                  trees.scores(weights, rankopt.dataset(X)))  # fmt: skip


def test_a_tree_of_one_leaf():
    X, _ = rows(0, 100)
    trees = pack(trained("plain", X, np.full(100, 2.5), 2))
    booster = lgb.Booster(model_str=to_text(trees, np.full(trees.n_trees, 0.5), 6))
    assert set(booster.predict(X, num_threads=1)) == {1.25}


def test_rules_of_other_libraries_are_refused():
    X, y = rows(0, 300)
    trees = pack(trained("categorical", X, y, 3))
    for bit in (8, 1):
        rule = np.where(trees.rule & 4, trees.rule | bit, trees.rule).astype(np.uint8)
        other = Trees.checked({**trees.arrays, "rule": rule})
        with pytest.raises(IncompatibleError, match="as XGBoost makes them"):
            to_text(other, np.ones(trees.n_trees), 6)
