"""Re-weighting: the steps against a grid, the promises on training and validation data, Ctrl-C, refusals."""

import lightgbm as lgb
import numpy as np
import pytest

import rankopt
from rankopt.ensembles import reweighting
from rankopt.ensembles.ascent import Ascent, TreeColumns
from rankopt.errors import DataError, IncompatibleError, SpecError
from rankopt.measures import as_measure
from rankopt.solvers.base import Status

QUIET = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 3, "seed": 0}


def problem(seed, n_queries=40, **changes):
    shape = {"typical": 12.0, "n_features": 6, **changes}
    return rankopt.simulate(n_queries=n_queries, seed=seed, **shape)


@pytest.fixture(scope="module")
def train():
    return problem(0)


@pytest.fixture(scope="module")
def valid():
    return problem(1)


@pytest.fixture(scope="module")
def booster(train):
    settings = {"objective": "regression", "num_leaves": 7, "learning_rate": 0.2, **QUIET}
    return lgb.train(settings, lgb.Dataset(train.X, train.y), 25)


def mean(model, data, measure="ndcg@10"):
    """The measure of a model's own predictions, up to the order in which queries are summed."""
    if isinstance(model, lgb.Booster):
        model = data.restored(model.predict(data.X, num_threads=1))
    found = rankopt.evaluate(model, data, measure)
    return pytest.approx(found.mean[measure], rel=1e-14)


def ascent_of(booster, data, measure="ndcg@10", unit=None, **changes):
    ensemble = rankopt.read_ensemble(booster)
    bound = as_measure(measure).bind(data.labels, data.groups, data.weights)
    units = [np.array([t]) for t in (range(ensemble.n_trees) if unit is None else unit)]
    settings = {"bounds": (0.0, 2.0), "shrinkage": 1.0, "drop": False, **changes}
    columns = TreeColumns.of(ensemble.trees, ensemble.weights, data)
    return Ascent(columns, bound, None, units, **settings)


@pytest.mark.parametrize("measure", ["ndcg@10", "map", "err@5", "rr"])
@pytest.mark.parametrize("tree", [0, 3, 24])
def test_a_step_reaches_the_best_of_a_grid(booster, train, measure, tree):
    ascent = ascent_of(booster, train, measure, [tree])
    ascent.climb(1, None, lambda words: None)
    ensemble = rankopt.read_ensemble(booster)
    grid = []
    for factor in np.linspace(0.0, 2.0, 201):
        factors = np.ones(ensemble.n_trees)
        factors[tree] = factor
        scores = ensemble.trees.scores(factors, train)
        grid.append(rankopt.evaluate(train.restored(scores), train, measure).mean[measure])
    assert ascent.engine.value >= max(grid) - 1e-12
    assert 0.0 <= ascent.factors[tree] <= 2.0
    found = ensemble.trees.scores(ascent.factors, train)
    again = rankopt.evaluate(train.restored(found), train, measure).mean[measure]
    assert again == pytest.approx(ascent.engine.value, abs=1e-12)


@pytest.mark.parametrize("measure", ["ndcg@10", "map", "err@20"])
def test_training_rises_and_lightgbm_agrees(booster, train, measure):
    result = rankopt.reweight(booster, train, measure)
    assert result.train > result.train_before
    assert result.train_before == mean(booster, train, measure)
    assert result.train == mean(result.booster(), train, measure)
    assert result.valid is None
    assert result.changed
    values = [result.train_before, *(step.value for step in result.history)]
    assert np.all(np.diff(values) >= 0.0)
    assert "coordinate-wise maximum" in result.status
    np.testing.assert_array_equal(
        result.predict(train), result.booster().predict(train.X, num_threads=1)
    )


@pytest.mark.parametrize(
    "options",
    [{}, {"shrinkage": 0.3}, {"blocks": 5}, {"drop": True}, {"bounds": (0.5, 1.5)},
     {"early_stopping_rounds": None, "max_iter": 3}],
    ids=str,
)  # fmt: skip
def test_the_validation_guard_holds(booster, train, valid, options, tmp_path):
    result = rankopt.reweight(booster, train, valid=valid, guard=0.0, **options)
    assert result.valid_before == mean(booster, valid)
    result.save(tmp_path / "model.txt")
    loaded = lgb.Booster(model_file=tmp_path / "model.txt")
    assert result.valid == mean(loaded, valid)
    assert result.train == mean(loaded, train)
    assert result.valid >= result.valid_before
    assert result.train >= result.train_before
    assert result.changed == (result.valid > result.valid_before)
    low, high = options.get("bounds", (0.0, 2.0))
    assert low <= result.factors.min() <= result.factors.max() <= high


def test_a_rise_must_be_surer_than_the_guard(booster, train):
    valid = problem(3, 60)
    bound = as_measure("ndcg@10").bind(valid.labels, valid.groups)
    before = bound.values(rankopt.read_ensemble(booster).scores(valid))
    kept = []
    for guard in (0.0, 0.5, 1.0, 2.0, 5.0):
        result = rankopt.reweight(booster, train, valid=valid, guard=guard, max_iter=3)
        rises = bound.values(result.ensemble.scores(valid)) - before
        error = rises.std() / np.sqrt(rises.size)
        assert rises.mean() > guard * error if result.changed else not rises.any()
        kept.append(result.changed)
    assert kept[0]
    assert not kept[-1]
    assert kept == sorted(kept, reverse=True)
    assert "by 5 standard errors" in result.status


def test_where_nothing_helps_the_model_is_returned_as_it_was(train, tmp_path):
    settings = {"objective": "regression", "num_leaves": 15, **QUIET}
    fitted = lgb.train(settings, lgb.Dataset(train.X, train.y), 300)
    path = tmp_path / "model.txt"
    fitted.save_model(path)
    result = rankopt.reweight(path, train, valid=train)
    assert not result.changed
    assert result.train == result.train_before == result.valid == result.valid_before
    assert "the model is as it was" in result.status
    result.save(tmp_path / "same.txt")
    assert (tmp_path / "same.txt").read_bytes() == path.read_bytes()
    np.testing.assert_array_equal(result.factors, 1.0)


def test_blocks_share_a_factor(booster, train):
    result = rankopt.reweight(booster, train, blocks=5)
    assert result.changed
    assert len(np.unique(result.factors)) <= 5
    for block in np.array_split(result.factors, 5):
        assert np.ptp(block) == 0.0
    assert rankopt.reweight(booster, train, blocks=1).changed is False


def test_dropped_trees_are_not_written(booster, train):
    result = rankopt.reweight(booster, train, drop=True)
    assert result.dropped > 0
    assert result.ensemble.n_trees == np.count_nonzero(result.factors)
    assert result.booster().num_trees() == result.ensemble.n_trees
    assert result.train >= result.train_before
    assert result.train == mean(result.booster(), train)


def test_any_number_of_threads_gives_the_same_bits():
    data = problem(5, 1200, typical=25.0)
    settings = {"objective": "regression", "num_leaves": 7, **QUIET}
    booster = lgb.train(settings, lgb.Dataset(data.X, data.y), 6)
    assert data.n_rows > 20_000
    one, two = (rankopt.reweight(booster, data, max_iter=1, n_jobs=n) for n in (1, 3))
    assert one.changed
    np.testing.assert_array_equal(one.factors, two.factors)
    assert one.train == two.train


def test_an_interrupt_keeps_the_best_so_far(booster, train, valid, monkeypatch):
    from contextlib import contextmanager

    @contextmanager
    def interrupting(*_):
        calls = iter(range(1000))

        def advance(words):
            if next(calls) == 30:
                raise KeyboardInterrupt

        yield advance

    monkeypatch.setattr(reweighting, "progress", interrupting)
    result = rankopt.reweight(booster, train)
    assert result.status == Status.INTERRUPTED.value
    assert result.train_before < result.train
    assert result.train == mean(result.booster(), train)
    guarded = rankopt.reweight(booster, train, valid=valid, guard=0.0, early_stopping_rounds=None)
    assert guarded.valid >= guarded.valid_before
    assert guarded.status.startswith(Status.INTERRUPTED.value)


def test_rows_in_any_order_weights_and_text_qids(booster, train):
    qid = np.repeat([f"q{i}" for i in range(40)], train.groups.sizes)
    order = np.random.default_rng(0).permutation(train.n_rows)
    weights = np.random.default_rng(1).integers(1, 4, 40).astype(float)
    _, first = np.unique(qid[order], return_index=True)
    seen = np.array([int(q[1:]) for q in qid[order][np.sort(first)]])
    mixed = rankopt.dataset(train.X[order], train.y[order], qid[order], query_weight=weights[seen])
    straight = rankopt.dataset(train.X, train.y, qid, query_weight=weights)
    a, b = (rankopt.reweight(booster, data, max_iter=2) for data in (mixed, straight))
    assert a.train_before == pytest.approx(b.train_before, abs=1e-12)
    assert a.train > a.train_before
    assert a.train == mean(a.booster(), mixed)


def test_one_row_queries_blank_ones_and_duplicates(booster):
    data = problem(3, smallest=1, typical=3.0, blank=0.5, duplicates=0.5)
    result = rankopt.reweight(booster, data, valid=data)
    assert result.train >= result.train_before


def test_xgboost_and_catboost_files_are_reweighted(tmp_path):
    from tests.ensembles.test_golden import FOLDER, READ, data_of

    rng = np.random.default_rng(0)
    for file in [name for name in READ if "no-nan" not in name]:
        X = data_of(file).X
        data = rankopt.dataset(X, rng.integers(0, 4, 90), np.repeat(np.arange(15), 6))
        result = rankopt.reweight(FOLDER / file, data, "ndcg@5")
        result.save(tmp_path / file)
        again = rankopt.read_ensemble(tmp_path / file)
        assert result.train > result.train_before
        assert result.train == mean(again, data, "ndcg@5")


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"bounds": (1.1, 2.0)}, SpecError, "low <= 1 <= high"),
        ({"bounds": (0.0, np.inf)}, SpecError, "low <= 1 <= high"),
        ({"bounds": (1.0, 1.0)}, SpecError, "low <= 1 <= high"),
        ({"shrinkage": 0.0}, SpecError, "not in"),
        ({"blocks": 0}, SpecError, "blocks"),
        ({"max_iter": -1}, SpecError, "max_iter"),
        ({"drop": True, "bounds": (0.5, 2.0)}, SpecError, "drop"),
        ({"measure": "mean-ndcg"}, IncompatibleError, "no exact search is known"),
    ],
    ids=str,
)
def test_impossible_requests_are_refused(booster, train, options, error, reason):
    with pytest.raises(error, match=reason):
        rankopt.reweight(booster, train, **options)


def test_other_data_is_refused(booster, train):
    narrow = rankopt.dataset(train.X[:, :3], train.y, group=train.groups.sizes)
    with pytest.raises(DataError, match="has 3 features, but the model was trained on 6"):
        rankopt.reweight(booster, narrow)
    bare = rankopt.dataset(train.X, group=train.groups.sizes)
    with pytest.raises(DataError, match="has no labels"):
        rankopt.reweight(booster, bare)
    assert not rankopt.reweight(booster, train, max_iter=0).changed
