"""DirectBoost: its model is LightGBM's to the last bit, every objective boosts, what is odd is refused."""

import warnings
from dataclasses import fields

import lightgbm as lgb
import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.contracts.test_objectives import SLOPED

import rankopt
from rankopt.errors import DataError, IncompatibleError, SpecError
from rankopt.measures import as_measure
from rankopt.objectives import OBJECTIVES

QUICK = {"n_estimators": 12, "num_leaves": 5, "min_child_samples": 5, "random_state": 0}
PAPER = {"step": "training", "bounds": (0.1, 0.5), "subsample": 1.0}


def problem(n_queries=40, seed=0, kind=np.float64):
    """Numbers, a column of categories, and missing values."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 14, n_queries)
    X = rng.normal(size=(sizes.sum(), 5)).round(2)
    X[:, 3] = rng.integers(0, 9, len(X))
    useful = X[:, 0] + X[:, 1] + np.array([0, 2, 0, 1, 0, 2, 0, 0, 2])[X[:, 3].astype(int)]
    y = np.clip(np.round(useful + 0.5 * rng.normal(size=len(X))), 0, 4)
    X[rng.random(X.shape) < 0.1] = np.nan
    qid = np.repeat([f"q{i}" for i in range(n_queries)], sizes)
    return rankopt.dataset(X.astype(kind), y, qid, features=("a", "b", "c", "kind", "e"))


@parametrize_with_checks([rankopt.DirectBoost(n_estimators=5, num_leaves=4)])
def test_scikit_learns_own_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.SkipTestWarning)
        check(estimator)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("settings", [{}, PAPER, {"smoothing": 0.5, "leaf_rounds": 1}])
def test_scores_are_lightgbms_after_saving_and_reading_back(kind, settings, tmp_path):
    data, other = problem(200, kind=kind), problem(seed=1, kind=kind)
    model = rankopt.DirectBoost(**QUICK, **settings, categorical_feature=["kind"])
    model.fit(data, eval_set=[other])
    model.save(tmp_path / "model.rankopt")
    again = rankopt.load(tmp_path / "model.rankopt")
    model.booster_.save_model(tmp_path / "model.txt")
    booster = lgb.Booster(model_file=tmp_path / "model.txt")
    for part in (data, other):
        scores = model.predict(part)
        np.testing.assert_array_equal(again.predict(part), scores)
        np.testing.assert_array_equal(booster.predict(part.X, num_threads=1), scores)
        np.testing.assert_array_equal(again.booster_.predict(part.X, num_threads=1), scores)
    assert again.get_params() == {**model.get_params(), "bounds": list(model.bounds)}
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)
    assert model.model_.scorer.trees.sets.size > 0
    assert model.feature_importances_.sum() == 4 * model.tree_weights_.size


@pytest.mark.parametrize("folds", [1, 3])
def test_history_is_what_the_trees_give(folds):
    data, valid = problem(), problem(seed=1)
    model = rankopt.DirectBoost("ndcg@5", **QUICK, folds=folds).fit(data, eval_set=[valid])
    results = {part: values["ndcg@5"] for part, values in model.evals_result_.items()}
    assert list(results) == ["train", "held_out", "valid_0"][:: 2 if folds == 1 else 1]
    assert {len(values) for values in results.values()} == {model.n_iter_} == {12}
    decides = np.array(results["valid_0"])
    if folds > 1:  # both have 40 queries
        decides = (decides + results["held_out"]) / 2
    assert model.best_iteration_ == int(np.argmax(decides)) + 1
    assert model.best_score_ == pytest.approx(decides.max())
    assert model.tree_weights_.size == folds * model.best_iteration_
    last = model.best_iteration_ - 1
    assert model.score(valid) == pytest.approx(results["valid_0"][last])
    weights = np.repeat([step.watched / folds for step in model.history_], folds)
    np.testing.assert_array_equal(weights[: model.tree_weights_.size], model.tree_weights_)
    trees, bound = model.model_.scorer.trees, as_measure("ndcg@5").bind(data.labels, data.groups)
    assert bound.mean(trees.scores(model.tree_weights_, data)) == model.history_[last].value
    assert model.history_[last].value == results["train"][last]


def test_held_out_queries_choose_the_number_of_rounds_and_end_the_training():
    data = problem(60)
    settings = {**QUICK, "n_estimators": 300, "min_child_samples": 1, "num_leaves": 20}
    model = rankopt.DirectBoost(**settings, early_stopping_rounds=5).fit(data)
    held_out = model.evals_result_["held_out"]["ndcg@10"]
    assert model.best_score_ == max(held_out)
    assert model.n_iter_ == len(held_out) == model.best_iteration_ + 5 < 300
    assert model.tree_weights_.size == 5 * model.best_iteration_
    assert model.score(data) > model.best_score_ + 0.05  # which is of queries that were not seen
    kept = f"The first {model.best_iteration_} of {model.n_iter_} rounds are kept."
    assert kept in model.status_
    assert model.best_iteration_ < 60
    assert "lower learning_rate" in model.status_
    patient = rankopt.DirectBoost(**{**settings, "n_estimators": 8, "learning_rate": 0.1}).fit(data)
    assert "learning_rate" not in patient.status_


def test_folds_by_default():
    def trees_a_round(data, **settings):
        model = rankopt.DirectBoost(**{**QUICK, "n_estimators": 1}, **settings).fit(data)
        return model.tree_weights_.size

    data = problem()
    assert trees_a_round(data) == 5
    assert trees_a_round(data, folds=2) == 2
    assert trees_a_round(problem(24)) == 1
    assert trees_a_round(data, step="training") == 1
    first = rankopt.DirectBoost(**QUICK, folds=1).fit(data)
    assert trees_a_round(data, init_model=first) == 12 + 1


@pytest.mark.parametrize("blocks", [None, 3])
def test_weights_searched_anew_raise_the_measure(blocks):
    data = problem(150)
    settings = {**QUICK, "num_leaves": 3, "n_estimators": 30}
    plain = rankopt.DirectBoost("ndcg@5", **settings).fit(data, eval_set=[data])
    settings |= {"reweight_rounds": 3, "reweight_blocks": blocks}
    model = rankopt.DirectBoost("ndcg@5", **settings).fit(data, eval_set=[data])
    factors = model.tree_weights_ / plain.tree_weights_
    assert np.unique(factors.round(9)).size > 1
    assert np.all((factors >= 0.0) & (factors <= 2.0))
    for part in np.array_split(factors, blocks or factors.size):
        np.testing.assert_allclose(part, part[0], rtol=1e-12)
    assert model.score(data) > plain.score(data)
    assert model.best_score_ == pytest.approx(model.score(data), abs=1e-12)
    predicted = model.booster_.predict(data.X, num_threads=1)
    np.testing.assert_array_equal(predicted, model.predict(data))


def test_validation_guards_the_weights_searched_anew():
    data = problem(60)
    changed = 0
    for seed in (1, 2, 3, 4, 5, 6):
        valid = problem(60, seed=seed)
        plain = rankopt.DirectBoost(**QUICK).fit(data, eval_set=[valid])
        settings = {"reweight_rounds": 3, "reweight_blocks": None}
        model = rankopt.DirectBoost(**QUICK, **settings).fit(data, eval_set=[valid])
        same = np.array_equal(model.tree_weights_, plain.tree_weights_)
        assert (
            model.score(valid) == plain.score(valid)
            if same
            else model.score(valid) > plain.score(valid)
        )
        changed += not same
    assert 0 < changed < 6


def test_validation_ends_the_training():
    data, valid = problem(60), problem(60, seed=1)
    settings = {**QUICK, "n_estimators": 400, "min_child_samples": 1, "num_leaves": 20}
    model = rankopt.DirectBoost(**settings, early_stopping_rounds=5)
    model.fit(data, eval_set=[valid])
    assert model.n_iter_ == model.best_iteration_ + 5 < 400
    assert "Stopped early" in model.status_


@pytest.mark.parametrize("settings", [{}, {"objective": "lambda(MEASURE)", "leaf_rounds": 1}])
def test_same_seed_same_bits_for_any_number_of_threads(settings):
    data = problem(3200)
    assert data.n_rows > 20_000  # fewer are no work for a second thread
    fits = [
        rankopt.DirectBoost(**{**QUICK, "n_estimators": 4}, **settings, n_jobs=jobs).fit(data)
        for jobs in (1, 3, 2)
    ]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.tree_weights_, fits[0].tree_weights_)
        np.testing.assert_array_equal(other.predict(data), fits[0].predict(data))
    seeded = rankopt.DirectBoost(**{**QUICK, "random_state": 1}, **settings).fit(data)
    assert not np.array_equal(seeded.predict(data), fits[0].predict(data))


def test_a_model_is_continued(tmp_path):
    data = problem()
    whole = rankopt.DirectBoost(**QUICK, **PAPER).fit(data)
    half = rankopt.DirectBoost(**{**QUICK, "n_estimators": 5}, **PAPER).fit(data)
    half.save(tmp_path / "half.rankopt")
    booster = half.booster_
    for first in (half, str(tmp_path / "half.rankopt"), tmp_path / "half.rankopt", booster):
        settings = {**QUICK, **PAPER, "n_estimators": 7, "init_model": first}
        more = rankopt.DirectBoost(**settings).fit(data)
        assert more.tree_weights_.size == 12
        np.testing.assert_array_equal(more.predict(data), whole.predict(data))
    more.save(tmp_path / "more.rankopt")
    again = rankopt.load(tmp_path / "more.rankopt")
    np.testing.assert_array_equal(again.predict(data), whole.predict(data))


def of_ndcg(text):
    """One measure per objective is enough: objectives of another measure are left out."""
    spec = OBJECTIVES.build(text)
    of_a_measure = any(field.name == "measure" for field in fields(spec))
    return not of_a_measure or "ndcg" in str(spec.measure)


@pytest.mark.parametrize("text", [text for text in SLOPED if of_ndcg(text)])
def test_every_objective_boosts(text):
    """A loss falls where trees follow its slopes by small steps; a model of them scores."""
    spec = OBJECTIVES.build(text)
    data = problem(30)
    loss = spec.bind(data.labels, data.groups)
    settings = {**QUICK, "n_estimators": 8, "step": "fixed", "subsample": 1.0}
    model = rankopt.DirectBoost(objective=text, **{**settings, "learning_rate": 0.05}).fit(data)
    scores = model.predict(data)
    assert np.isfinite(scores).all()
    if spec.name != "lambda":  # whose weights change with the order
        assert loss.value_grad(scores)[0] < loss.value_grad(np.zeros(data.n_rows))[0]
    searched = rankopt.DirectBoost(objective=text, **{**QUICK, "n_estimators": 3}).fit(data)
    assert np.all((searched.tree_weights_ >= 0.01 - 1e-12) & (searched.tree_weights_ <= 0.2))


def test_sparse_rows_are_dense_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8)).round(1) * (rng.random((400, 8)) < 0.4)
    y, qid = np.clip(np.round(X[:, 0] + X[:, 1] + 1), 0, 4), np.repeat(np.arange(40), 10)
    dense = rankopt.DirectBoost(**QUICK).fit(X, y, qid=qid)
    sparse = rankopt.DirectBoost(**QUICK).fit(csr_array(X), y, qid=qid)
    np.testing.assert_array_equal(sparse.predict(csr_array(X)), sparse.predict(X))
    np.testing.assert_array_equal(sparse.tree_weights_, dense.tree_weights_)
    np.testing.assert_array_equal(sparse.predict(X), dense.predict(X))


def test_learns_and_beats_a_single_tree():
    data, test = problem(150), problem(60, seed=1)
    model = rankopt.DirectBoost(**{**QUICK, "n_estimators": 60}).fit(data)
    assert model.score(test) > rankopt.DirectBoost(**{**QUICK, "n_estimators": 1}).fit(data).score(
        test
    )
    tied = rankopt.evaluate(np.zeros(test.n_rows), test, "ndcg@10").mean["ndcg@10"]
    assert model.score(test) > tied + 0.2


def test_weights_of_queries_count():
    data = problem(30)
    weights = np.where(np.arange(30) < 15, 1.0, 0.0)
    X, y, qid = data.X, data.y, data.groups.spread(data.groups.qids)
    settings = {**QUICK, **PAPER, "min_child_samples": 1, "min_child_weight": 1e-3}
    weighted = rankopt.DirectBoost(**settings).fit(X, y, qid=qid, query_weight=weights)
    half = data.take(np.arange(15))
    alone = rankopt.DirectBoost(**settings).fit(half)
    assert weighted.score(half) == pytest.approx(alone.score(half), abs=0.05)
    assert weighted.history_[-1].value == pytest.approx(weighted.score(half), abs=1e-9)


@pytest.mark.filterwarnings("ignore:.*feature names.*:UserWarning")
def test_what_does_not_fit_is_refused(tmp_path):
    data = problem()
    cases = [
        ({"objective": "direct(ndcg@10)"}, IncompatibleError, "piecewise constant"),
        ({"objective": "approx(ndcg)", "leaves": "newton"}, IncompatibleError, "no curvature"),
        ({"normalize": "standard"}, IncompatibleError, "changes no split"),
        ({"reweight_rounds": 1}, IncompatibleError, "needs validation data"),
        ({"reweight_rounds": -1}, SpecError, "reweight_rounds"),
        ({"subsample": 1.0, "folds": 1}, IncompatibleError, "subsample below 1, or folds"),
        ({"folds": 0}, SpecError, "folds: 0 must be positive"),
        ({"folds": 41}, IncompatibleError, "folds: 41 of 40 queries; use fewer"),
        ({"folds": 2, "step": "training"}, IncompatibleError, "use folds=1, or step='out-of-bag'"),
        ({"categorical_feature": ["colour"]}, DataError, "no feature is named 'colour'"),
        ({"categorical_feature": [0]}, DataError, "whole numbers"),
        ({"early_stopping_rounds": 0}, SpecError, "early_stopping_rounds"),
        ({"init_model": rankopt.DirectRank()}, SpecError, "init_model"),
        ({"measure": "mean-ndcg"}, IncompatibleError, "no exact"),
    ]
    for settings, error, words in cases:
        with pytest.raises(error, match=words):
            rankopt.DirectBoost(**{**QUICK, **settings}).fit(data)
    narrow = rankopt.DirectBoost(**QUICK).fit(np.nan_to_num(data.X[:, :2]), data.y)
    with pytest.raises(DataError, match="has 2 features, the data 5"):
        rankopt.DirectBoost(**QUICK, init_model=narrow).fit(data)
    scaled = rankopt.DirectBoost(**QUICK, normalize="query").fit(data)
    with pytest.raises(IncompatibleError, match="use the same"):
        rankopt.DirectBoost(**QUICK, init_model=scaled).fit(data)


def test_linear_systems_still_refuse_missing_values():
    with pytest.raises(DataError, match="NaN"):
        rankopt.DirectRank().fit(problem())
