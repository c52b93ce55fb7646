"""Packed trees against LightGBM's own predictions, to the last bit."""

import lightgbm as lgb
import numpy as np
import pytest
from scipy.sparse import csr_array

import rankopt
from rankopt.ensembles.lightgbm import pack, split, tree
from rankopt.errors import DataError, ModelError
from rankopt.scorers import Forest
from rankopt.threads import using_threads

QUIET = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 3, "seed": 0}


def rows(seed, n, missing=0.15):
    """Numbers, whole numbers, categories from -1 on, and columns rich in zeros; many are missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    X[:, 1] = rng.integers(-3, 4, n)
    X[:, 2] = rng.integers(-1, 70, n)
    X[:, 3] *= rng.random(n) < 0.5
    X[:, 4] = rng.integers(0, 8, n)
    X[rng.random(X.shape) < missing] = np.nan
    y = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 2]) % 3 + rng.normal(size=n)
    return X, y


def strange(X):
    """The same rows with values at the edge of what a split can meet."""
    rng = np.random.default_rng(9)
    out = X.copy()
    odd = np.array(
        [0.0, -0.0, 1e-36, -1e-36, 1e-35, 2e-35, -2e-35, 1e30, -1e30, 0.5, -0.5, 3e9, 64.5]
    )
    hit = rng.random(X.shape) < 0.3
    out[hit] = rng.choice(odd, int(hit.sum()))
    return out


CASES = {
    "plain": {},
    "categorical": {"categorical_feature": [2, 4], "cat_smooth": 1.0, "min_data_per_group": 2},
    "zero-as-missing": {"zero_as_missing": True},
    "no-missing": {"use_missing": False},
    "dart": {"boosting": "dart", "drop_rate": 0.5},
    "stumps": {"num_leaves": 2},
    "deep": {"num_leaves": 300, "min_data_in_leaf": 1},
}


def trained(case, X, y, rounds=12):
    settings = {"objective": "regression", "num_leaves": 15, **QUIET, **CASES[case]}
    categories = settings.pop("categorical_feature", "auto")
    return lgb.train(settings, lgb.Dataset(X, y, categorical_feature=categories), rounds)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_scores_are_lightgbms_to_the_last_bit(case, missing):
    X, y = rows(0, 700, missing)
    booster = trained(case, X, y)
    trees = pack(booster)
    ones = np.ones(trees.n_trees)
    for part in (X, strange(X), rows(1, 333)[0], rows(2, 100)[0].astype(np.float32)):
        data = rankopt.dataset(part)
        np.testing.assert_array_equal(
            trees.scores(ones, data), booster.predict(part, num_threads=1)
        )
        leaves = booster.predict(part, pred_leaf=True, num_threads=1)
        np.testing.assert_array_equal(trees.leaves(data).T, leaves)
    if case == "categorical":
        assert trees.sets.size > 0


def test_a_sparse_matrix_has_zeros_where_it_has_nothing():
    X, y = rows(0, 500, 0.0)
    X[np.random.default_rng(1).random(X.shape) < 0.6] = 0.0
    booster = trained("zero-as-missing", X, y)
    trees = pack(booster)
    scores = trees.scores(np.ones(trees.n_trees), rankopt.dataset(csr_array(X)))
    np.testing.assert_array_equal(scores, booster.predict(X, num_threads=1))


def test_a_tree_of_one_leaf():
    X, _ = rows(0, 100)
    booster = trained("plain", X, np.full(100, 2.5), 2)
    assert booster.num_trees() >= 1
    trees = pack(booster)
    scores = trees.scores(np.ones(trees.n_trees), rankopt.dataset(X))
    np.testing.assert_array_equal(scores, booster.predict(X, num_threads=1))


def test_some_iterations_and_set_leaf_outputs():
    X, y = rows(0, 300)
    booster = trained("plain", X, y)
    booster.set_leaf_output(4, 2, 0.1 + 0.2)
    scores = pack(booster, 3, 5).scores(np.ones(5), rankopt.dataset(X))
    expected = booster.predict(X, start_iteration=3, num_iteration=5, num_threads=1)
    np.testing.assert_array_equal(scores, expected)


def test_any_number_of_threads_gives_the_same_bits():
    X, y = rows(0, 500)
    trees = pack(trained("categorical", X, y))
    data, weights = rankopt.dataset(np.tile(X, (50, 1))), np.linspace(-1.0, 2.0, trees.n_trees)
    with using_threads(1):
        one = trees.scores(weights, data)
    with using_threads(3):
        np.testing.assert_array_equal(trees.scores(weights, data), one)


def test_pullback_is_the_transpose():
    X, y = rows(0, 200)
    forest, data = Forest(pack(trained("plain", X, y))), rankopt.dataset(X)
    rng = np.random.default_rng(0)
    for _ in range(5):
        w, d = rng.normal(size=forest.trees.n_trees), rng.normal(size=200)
        assert forest.scores(w, data) @ d == pytest.approx(w @ forest.pullback(w, data, d))


def test_too_few_features_are_refused():
    X, y = rows(0, 200)
    trees = pack(trained("plain", X, y))
    with pytest.raises(DataError, match="has 1 features, but the trees ask for feature"):
        trees.scores(np.ones(trees.n_trees), rankopt.dataset(X[:, :1]))


def test_linear_trees_are_refused():
    X, y = rows(0, 300, 0.0)
    settings = {"objective": "regression", "linear_tree": True, **QUIET}
    booster = lgb.train(settings, lgb.Dataset(X, y, params={"linear_tree": True, **QUIET}), 2)
    with pytest.raises(ModelError, match="tree 0: has linear models in its leaves"):
        pack(booster)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("left_child=", "left_child=99 "),
        ("right_child=", "right_child=x "),
        ("num_leaves=", "num_leaves=7"),
        ("split_feature=", "split_feature=-5 "),
        ("leaf_value=", "leaf_value=nan "),
        ("threshold=", "thresholds="),
    ],
)
def test_a_damaged_tree_is_refused_in_one_line(old, new):
    X, y = rows(0, 200, 0.0)
    _, blocks, _ = split(trained("plain", X, y).model_to_string())
    with pytest.raises(ModelError) as error:
        tree(blocks[0].replace(old, new, 1), "tree 0")
    assert "\n" not in str(error.value)
