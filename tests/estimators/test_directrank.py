"""DirectRank as scikit-learn, LightGBM and XGBoost users meet it."""

import signal
import threading
import warnings
from unittest import mock

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import rankopt
from rankopt.errors import DataError, SpecError
from rankopt.measures import NDCG, as_measure
from rankopt.scorers import Linear
from rankopt.solvers.starts import ridge


def problem(n_queries=40, width=5, seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 12, n_queries)
    X = rng.normal(size=(sizes.sum(), width))
    y = np.clip(np.round(X @ np.linspace(1, 0, width) + rng.normal(size=len(X)) * 0.7 + 1), 0, 4)
    return X, y, np.repeat([f"q{i}" for i in range(n_queries)], sizes)


@parametrize_with_checks([rankopt.DirectRank(max_iter=3, tol=1.0)])
def test_scikit_learns_own_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.SkipTestWarning)
        check(estimator)


def test_it_beats_where_it_starts_and_scores_its_measure():
    X, y, qid = problem()
    model = rankopt.DirectRank("ndcg@5", random_state=0).fit(X, y, qid=qid)
    data = rankopt.dataset(X, y, qid)
    start = (
        as_measure("ndcg@5")
        .bind(data.y, data.groups)
        .mean(Linear().scores(ridge(data, 2.0**data.y - 1), data))
    )
    assert model.score(X, y, qid=qid) > start == pytest.approx(model.history_[0].value, abs=1e-9)
    assert model.score(X, y, qid=qid) == rankopt.evaluate(model, data, "ndcg@5").mean["ndcg@5"]
    assert model.history_[-1].value == pytest.approx(model.score(X, y, qid=qid), abs=1e-9)
    assert "coordinate-wise maximum" in model.status_


def test_any_row_order_gives_the_same_model():
    X, y, qid = problem()
    order = np.random.default_rng(1).permutation(len(y))
    first = rankopt.DirectRank("ndcg@5", point="middle").fit(X, y, qid=qid)
    second = rankopt.DirectRank("ndcg@5", point="middle", start=np.ones(5)).fit(
        X[order], y[order], qid=qid[order]
    )
    third = rankopt.DirectRank("ndcg@5", point="middle", start=np.ones(5)).fit(X, y, qid=qid)
    np.testing.assert_array_equal(second.coef_, third.coef_)
    np.testing.assert_array_equal(first.predict(X)[order], first.predict(X[order]))


def test_group_sizes_stand_for_qid_and_datasets_for_arrays():
    X, y, qid = problem()
    sizes = [np.sum(qid == q) for q in dict.fromkeys(qid)]
    a = rankopt.DirectRank("map").fit(X, y, qid=qid)
    b = rankopt.DirectRank("map").fit(X, y, group=sizes)
    c = rankopt.DirectRank("map").fit(rankopt.dataset(X, y, qid))
    np.testing.assert_array_equal(a.coef_, b.coef_)
    np.testing.assert_array_equal(a.coef_, c.coef_)


def test_the_best_round_on_validation_data_is_kept():
    X, y, qid = problem()
    Xv, yv, qv = problem(seed=1)
    model = rankopt.DirectRank("ndcg@5", restarts=2, random_state=0).fit(
        X, y, qid=qid, eval_set=[(Xv, yv)], eval_qid=[qv]
    )
    values = model.evals_result_["valid_0"]["ndcg@5"]
    assert model.best_score_ == max(values) == values[model.best_iteration_]
    assert model.score(Xv, yv, qid=qv) == pytest.approx(model.best_score_, abs=1e-12)


def test_early_stopping_ends_a_climb():
    X, y, qid = problem(n_queries=200, width=8)
    Xv, yv, qv = problem(n_queries=5, width=8, seed=1)
    model = rankopt.DirectRank("ndcg@5", early_stopping_rounds=1, start="zero").fit(
        X, y, qid=qid, eval_set=[(Xv, yv)], eval_qid=[qv]
    )
    values = model.evals_result_["valid_0"]["ndcg@5"]
    assert values.index(max(values)) >= len(values) - 2 or "coordinate-wise" in model.status_


@pytest.mark.parametrize("start", ["ridge", "uniform", "zero"])
@pytest.mark.parametrize("normalize", [None, "standard", "query"])
def test_starts_and_scalings(start, normalize):
    X, y, qid = problem()
    X = X * [1e3, 1.0, 1e-3, 1.0, 1.0] + [5.0, 0.0, 0.0, 0.0, 0.0]
    model = rankopt.DirectRank("ndcg@5", start=start, normalize=normalize).fit(X, y, qid=qid)
    score = rankopt.evaluate(model.predict(X, qid), rankopt.dataset(X, y, qid), "ndcg@5").mean[
        "ndcg@5"
    ]
    assert score == pytest.approx(model.history_[-1].value, abs=1e-3)
    assert score > 0.8


def test_a_model_is_a_start_and_never_gets_worse():
    X, y, qid = problem()
    first = rankopt.DirectRank("map").fit(X, y, qid=qid)
    second = rankopt.DirectRank("ndcg@5", start=first).fit(X, y, qid=qid)
    data = rankopt.dataset(X, y, qid)
    before = rankopt.evaluate(first, data, "ndcg@5").mean["ndcg@5"]
    assert second.score(X, y, qid=qid) >= before


def test_a_file_of_a_linear_model_is_a_start(tmp_path):
    X, y, qid = problem()
    first = rankopt.DirectRank("map").fit(X, y, qid=qid)
    first.save(tmp_path / "first.rankopt")
    by_file = rankopt.DirectRank("ndcg@5", start=str(tmp_path / "first.rankopt"))
    by_model = rankopt.DirectRank("ndcg@5", start=first)
    np.testing.assert_array_equal(
        by_file.fit(X, y, qid=qid).coef_, by_model.fit(X, y, qid=qid).coef_
    )
    trees = rankopt.DirectBoost("ndcg@5", n_estimators=2, min_child_samples=2)
    trees.fit(X, y, qid=qid).save(tmp_path / "trees.rankopt")
    with pytest.raises(SpecError, match="a linear one is needed"):
        rankopt.DirectRank(start=str(tmp_path / "trees.rankopt")).fit(X, y, qid=qid)


def test_kicks_and_restarts_do_not_lower_the_training_measure():
    X, y, qid = problem()
    plain = rankopt.DirectRank("ndcg@5", random_state=3).fit(X, y, qid=qid).score(X, y, qid=qid)
    for options in (
        {"kicks": 5},
        {"restarts": 5},
        {"directions": 4},
        {"directions": np.eye(5)[:2] + 1},
    ):
        model = rankopt.DirectRank("ndcg@5", random_state=3, **options).fit(X, y, qid=qid)
        floor = model.history_[0].value if "directions" in options else plain
        assert model.score(X, y, qid=qid) >= floor - 1e-12
        again = rankopt.DirectRank("ndcg@5", random_state=3, **options).fit(X, y, qid=qid)
        np.testing.assert_array_equal(model.coef_, again.coef_)


@pytest.mark.parametrize(
    "bounds", [{"bounds": (0.0, None)}, {"monotone": 1}, {"monotone": [1, 1, 0, 1, 1]}]
)
def test_signs_and_bounds_hold(bounds):
    X, y, qid = problem()
    model = rankopt.DirectRank("ndcg@5", restarts=2, kicks=2, random_state=0, **bounds).fit(
        -X, y, qid=qid
    )
    held = [0, 1, 3, 4]
    assert np.all(model.coef_[held] >= 0.0)


def test_names_bind_signs_and_are_kept(tmp_path):
    import pandas as pd

    X, y, qid = problem()
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = rankopt.DirectRank("ndcg@5", monotone={"a": -1}).fit(frame, y, qid=qid)
    assert model.coef_[0] <= 0.0
    assert model.feature_names_in_.tolist() == list("abcde")
    model.save(tmp_path / "m.rankopt")
    read = rankopt.load(tmp_path / "m.rankopt")
    assert isinstance(read, rankopt.DirectRank)
    np.testing.assert_array_equal(read.predict(frame), model.predict(frame))
    assert read.score(frame, y, qid=qid) == model.score(frame, y, qid=qid)
    assert read.get_params()["monotone"] == {"a": -1}


def test_weights_of_queries_per_query_or_per_row():
    X, y, qid = problem()
    queries = list(dict.fromkeys(qid))
    per_query = np.arange(1.0, 1.0 + len(queries))
    per_row = np.array([per_query[queries.index(q)] for q in qid])
    a = rankopt.DirectRank("ndcg@5").fit(X, y, qid=qid, query_weight=per_query)
    b = rankopt.DirectRank("ndcg@5").fit(X, y, qid=qid, query_weight=per_row)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    with pytest.raises(DataError, match=r"3 weights, but there are 40 queries \(\d+ rows\)"):
        rankopt.DirectRank().fit(X, y, qid=qid, query_weight=[1.0, 2.0, 3.0])
    per_row[0] += 1
    with pytest.raises(DataError, match="rows of query q0 have different weights"):
        rankopt.DirectRank().fit(X, y, qid=qid, query_weight=per_row)


def test_sparse_features_give_the_model_of_dense_ones():
    from scipy.sparse import csr_array

    X, y, qid = problem()
    X[np.abs(X) < 0.7] = 0.0
    dense = rankopt.DirectRank("ndcg@5").fit(X, y, qid=qid)
    sparse = rankopt.DirectRank("ndcg@5").fit(csr_array(X), y, qid=qid)
    np.testing.assert_allclose(sparse.coef_, dense.coef_)
    np.testing.assert_allclose(sparse.predict(csr_array(X)), dense.predict(X))


def test_ranks_count_from_one_within_each_query():
    X, y, qid = problem()
    model = rankopt.DirectRank("ndcg@5").fit(X, y, qid=qid)
    ranks, scores = model.rank(X, qid), model.predict(X)
    for q in set(qid):
        mine = qid == q
        assert sorted(ranks[mine]) == list(range(1, mine.sum() + 1))
        assert np.all(np.diff(scores[mine][np.argsort(ranks[mine])]) <= 0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"measure": "ndgc"}, "did you mean 'ndcg'"),
        ({"order": "up"}, "order: unknown 'up'"),
        ({"start": "high"}, "start: unknown 'high'"),
        ({"start": [1.0]}, "1 weights for 5 features"),
        ({"bounds": (1.0, 0.0)}, "empty range 1 .. 0"),
        ({"bounds": [(0, 1)]}, "1 pairs for 5 features"),
        ({"monotone": {"x": 1}}, "no feature is named 'x'"),
        ({"normalize": "rows"}, "unknown 'rows'"),
        ({"restarts": -1}, "restarts: must not be negative"),
        ({"directions": [[1.0]]}, r"shape \(1, 1\) for 5 features"),
    ],
)
def test_wrong_parameters_are_named(options, words):
    X, y, qid = problem()
    with pytest.raises(SpecError, match=words):
        rankopt.DirectRank(**options).fit(X, y, qid=qid)


def test_wrong_data_is_named():
    X, y, qid = problem()
    model = rankopt.DirectRank().fit(X, y, qid=qid)
    with pytest.raises(DataError, match="score: qid is missing"):
        model.score(X, y)
    with pytest.raises(DataError, match="eval_set: part 0 has no queries"):
        rankopt.DirectRank().fit(X, y, qid=qid, eval_set=[(X, y)])
    with pytest.raises(DataError, match="give one of them"):
        rankopt.DirectRank().fit(X, y, qid=qid, group=[len(y)])
    bad = X.copy()
    bad[3, 2] = np.nan
    with pytest.raises(DataError, match=r"row 4, feature 3"):
        rankopt.DirectRank().fit(rankopt.dataset(bad, y, qid))
    with pytest.raises(DataError, match="row 1.*label -1"):
        rankopt.DirectRank().fit(X, np.where(np.arange(len(y)) == 0, -1.0, y), qid=qid)


def test_a_search_over_parameters_keeps_queries_whole():
    X, y, qid = problem()
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            make_pipeline(StandardScaler(), rankopt.DirectRank("ndcg@5")),
            {"directrank__start": ["ridge", "uniform"]}, cv=rankopt.QueryKFold(3),
        ).fit(X, y, qid=qid)  # fmt: skip
        assert 0.5 < search.best_score_ <= 1.0
        scores = cross_val_score(
            rankopt.DirectRank("ndcg@5"), X, y, cv=rankopt.QueryKFold(4),
            scoring=rankopt.measure_scorer("map"), params={"qid": qid},
        )  # fmt: skip
        assert scores.shape == (4,)
        assert np.isfinite(scores).all()
        assert 0.0 < search.score(X, y, qid=qid) <= 1.0


def test_a_search_without_routing_does_not_pass_silently():
    X, y, qid = problem()
    with pytest.raises(DataError, match="metadata routing"):
        GridSearchCV(
            rankopt.DirectRank("ndcg@5"),
            {"start": ["ridge"]},
            cv=GroupKFold(3),
            error_score="raise",
        ).fit(X, y, groups=qid, qid=qid)
    with pytest.raises(DataError, match="metadata routing"):
        next(rankopt.QueryKFold(3).split(X, y))


def test_cloning_and_measure_objects():
    X, y, qid = problem()
    model = clone(rankopt.DirectRank(NDCG(k=3, gain="linear")))
    assert model.fit(X, y, qid=qid).score(X, y, qid=qid) > 0.5
    assert model.model_.recipe.parameters["measure"] == "ndcg(gain=linear)@3"


def test_ctrl_c_keeps_the_best_model_so_far():
    X, y, qid = problem(n_queries=300, width=12)

    def interrupt(*args, **kwargs):
        signal.raise_signal(signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    with mock.patch("rankopt.solvers.coordinate._Ascent.round", interrupt):
        model = rankopt.DirectRank("ndcg@5", restarts=3).fit(X, y, qid=qid)
    assert model.status_.startswith("Interrupted")
    assert model.score(X, y, qid=qid) == pytest.approx(model.history_[0].value, abs=1e-9)
