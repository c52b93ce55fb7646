"""The mean of climbs, each on a part of the queries."""

import numpy as np
import pytest

import rankopt
from rankopt.errors import SpecError
from rankopt.measures import as_measure
from rankopt.solvers.bagged import Bagged
from rankopt.solvers.base import Status
from rankopt.solvers.coordinate import Coordinate
from rankopt.solvers.lines import Lines


def problem(seed=0, n_queries=20):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * 8, 4)).astype(np.float32)
    y = np.clip(np.round(X @ [1.0, 0.5, 0.0, -0.3] + rng.normal(size=len(X))), 0, 4)
    return rankopt.dataset(X, y, np.repeat(np.arange(n_queries), 8))


def lines_of(data, lower=None, upper=None):
    bound = as_measure("ndcg@5").bind(data.labels, data.groups)
    return Lines.of(data, bound, lower, upper)


def test_the_model_is_the_mean_of_climbs_on_the_drawn_queries_alone():
    data, start = problem(), np.ones(4)
    solver = Coordinate(order="greedy", point="middle")
    found = Bagged(solver, bags=3, subsample=0.5).climb(
        lines_of(data), start, np.random.default_rng(7)
    )
    rng, weights = np.random.default_rng(7), []
    for _ in range(3):
        queries = np.sort(rng.permutation(20)[:10])
        groups, rows = data.groups.take(queries)
        part = rankopt.dataset(
            data.X[rows], data.labels[rows], np.repeat(groups.qids, groups.sizes)
        )
        alone = solver.climb(lines_of(part), start, rng).params
        weights.append(alone / np.linalg.norm(alone * data.X.std(axis=0, dtype=np.float64)))
    np.testing.assert_allclose(found.params, np.mean(weights, axis=0), rtol=1e-6)
    assert found.status is Status.FINISHED
    assert found.value == lines_of(data).bound.mean(lines_of(data).scores(found.params))


def test_ranges_of_weights_hold_for_the_mean():
    lower, upper = np.array([0.2, -np.inf, 0.0, -0.1]), np.array([0.6, 1.0, np.inf, 0.1])
    lines = lines_of(problem(), lower, upper)
    found = Bagged(Coordinate(), bags=4).climb(lines, np.full(4, 0.1), np.random.default_rng(0))
    assert np.all(found.params >= lower)
    assert np.all(found.params <= upper)


def test_weights_of_queries_stay():
    data = problem(n_queries=6)
    weights = np.array([3.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    bound = as_measure("ndcg@5").bind(data.labels, data.groups, weights)
    drawn = Bagged(Coordinate())._drawn(bound, np.random.default_rng(1))
    kept = drawn.weights > 0.0
    assert 0 < kept.sum() <= 3
    np.testing.assert_allclose(drawn.weights[kept] / drawn.weights[kept][0],
                               weights[kept] / weights[kept][0])  # fmt: skip


def test_validation_keeps_the_best_mean_and_the_same_seed_gives_the_same_bits():
    train, valid = problem(0), problem(1)
    fits = [
        rankopt.DirectRank("ndcg@5", bags=6, random_state=3, n_jobs=n).fit(train, eval_set=[valid])
        for n in (1, 2)
    ]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    values = fits[0].evals_result_["valid_0"]["ndcg@5"]
    assert len(values) == 6
    assert fits[0].score(valid) == max(values) == fits[0].best_score_


def test_a_monitor_ends_it_with_the_mean_so_far():
    calls = []

    def enough(step, params):
        calls.append(params)
        return len(calls) == 2

    found = Bagged(Coordinate(), bags=5).climb(
        lines_of(problem()), np.ones(4), np.random.default_rng(0), enough
    )
    assert found.status is Status.STOPPED_EARLY
    np.testing.assert_array_equal(found.params, calls[-1])


@pytest.mark.parametrize("when", [1, 2])
def test_ctrl_c_between_climbs_keeps_the_mean_so_far(when):
    calls = []

    def broken(step, params):
        calls.append(params)
        if len(calls) == when:
            raise KeyboardInterrupt

    found = Bagged(Coordinate(), bags=5).climb(
        lines_of(problem()), np.ones(4), np.random.default_rng(0), broken
    )
    assert found.status is Status.INTERRUPTED
    assert len(found.history) == when
    np.testing.assert_array_equal(found.params, calls[-1])


@pytest.mark.parametrize(
    "wrong", [{"bags": -1}, {"bags": 2, "restarts": 1}, {"bags": 2, "subsample": 0.0}]
)
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(SpecError, match="bags|subsample"):
        rankopt.DirectRank(**wrong).fit(problem())
