"""Exact coordinate ascent: each claim of the result is checked by evaluating afresh."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankopt
from rankopt.errors import SpecError
from rankopt.measures import as_measure
from rankopt.scorers import Linear
from rankopt.search.engine import Engine
from rankopt.search.fixedpoint import FixedPoint
from rankopt.search.interior import Likelihood
from rankopt.solvers.base import Status
from rankopt.solvers.coordinate import Coordinate, Lines
from rankopt.threads import using_threads

MEASURES = [
    "ndcg@3",
    "ndcg",
    "dcg@2",
    "ap",
    "ap@3",
    "rr",
    "err@5",
    "p@2",
    "rbp(p=0.7)",
    "tau",
    "success@2",
]


def problem(seed, n_queries=12, width=4, tied=True, dtype=np.float32):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, size=n_queries)
    rows = int(sizes.sum())
    X = rng.integers(0, 4, (rows, width)) if tied else rng.normal(size=(rows, width))
    X[:, -1] = 1  # a constant column
    y = rng.integers(0, 3, rows)
    return rankopt.dataset(X.astype(dtype), y, np.repeat(np.arange(n_queries), sizes))


def climb(data, measure="ndcg@3", start=None, lower=None, upper=None, seed=0, **options):
    bound = as_measure(measure).bind(data.y, data.groups)
    lines = Lines.of(data, bound, lower, upper)
    start = np.ones(data.n_features) if start is None else start
    solution = Coordinate(**options).climb(lines, start, np.random.default_rng(seed))
    return solution, bound, lines


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), measure=st.sampled_from(MEASURES), tied=st.booleans(),
       order=st.sampled_from(["cyclic", "random", "greedy", "powell"]),
       point=st.sampled_from(["middle", "likelihood"]))  # fmt: skip
def test_the_value_claimed_is_the_value_evaluated(seed, measure, tied, order, point):
    data = problem(seed, tied=tied)
    solution, bound, _ = climb(data, measure, order=order, point=point, seed=seed)
    scores = Linear().scores(solution.params, data)
    assert solution.value == pytest.approx(bound.mean(scores), abs=1e-9)
    values = [step.value for step in solution.history]
    assert values == sorted(values)
    assert solution.value >= bound.mean(Linear().scores(np.ones(data.n_features), data)) - 1e-9


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), measure=st.sampled_from(MEASURES))
def test_a_coordinate_wise_maximum_is_one(seed, measure):
    """No single weight, moved to any of many places, raises the measure."""
    data = problem(seed, tied=False)
    solution, bound, _ = climb(data, measure)
    assert solution.status is Status.COORDINATEWISE
    rng = np.random.default_rng(seed)
    for f in range(data.n_features):
        for t in np.concatenate((rng.normal(size=20), 10 * rng.normal(size=10))):
            moved = solution.params.copy()
            moved[f] += t
            assert bound.mean(Linear().scores(moved, data)) <= solution.value + 1e-9


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), order=st.sampled_from(["cyclic", "powell", "random"]))
def test_weights_stay_in_their_ranges(seed, order):
    data = problem(seed, tied=False)
    lower, upper = np.array([0.0, -1.0, -np.inf, 0.5]), np.array([np.inf, 0.25, 0.0, 0.5])
    solution, _, _ = climb(data, lower=lower, upper=upper, order=order, directions=3, seed=seed)
    assert np.all(solution.params >= lower)
    assert np.all(solution.params <= upper)


def test_given_directions_are_searched():
    """Two coordinates that only help together: no coordinate step is uphill, the diagonal is."""
    X = np.array([[0.0, 0.0], [1.0, -1.0], [-1.0, 1.0], [0.6, 0.6]])
    data = rankopt.dataset(X, [0, 0, 0, 1])
    start = np.array([-1.0, -1.0])
    alone, _, _ = climb(data, "rr", start)
    both = Coordinate().climb(
        Lines.of(data, as_measure("rr").bind(data.y, data.groups)), start, np.random.default_rng(0),
        given=np.array([[1.0, 1.0]]),
    )  # fmt: skip
    assert both.value == 1.0
    assert alone.value <= both.value


def test_one_and_two_threads_give_the_same_bits():
    data = problem(3, n_queries=6000, tied=False)
    assert data.n_rows > 20_000
    results = []
    for threads in (1, 2):
        with using_threads(threads):
            results.append(climb(data, "ndcg@5", order="random", max_iter=3)[0])
    np.testing.assert_array_equal(results[0].params, results[1].params)
    assert results[0].value == results[1].value


def test_row_order_within_a_query_does_not_matter():
    data = problem(5, n_queries=40)
    order = np.lexsort(
        (np.random.default_rng(0).random(data.n_rows), np.repeat(np.arange(40), data.groups.sizes))
    )
    mixed = rankopt.dataset(
        data.X[order], data.y[order], np.repeat(np.arange(40), data.groups.sizes)
    )
    a, b = climb(data, "ap", point="likelihood")[0], climb(mixed, "ap", point="likelihood")[0]
    assert a.value == b.value


@pytest.mark.parametrize("where", [0, 1, 2])
def test_interruption_keeps_the_best_so_far(where):
    data = problem(7, n_queries=60, tied=False)
    bound = as_measure("ndcg@3").bind(data.y, data.groups)
    calls = []

    def monitor(step, params):
        calls.append(step.value)
        if len(calls) > where:
            raise KeyboardInterrupt
        return False

    solution = Coordinate().climb(
        Lines.of(data, bound), np.ones(4), np.random.default_rng(0), monitor
    )
    assert solution.status is Status.INTERRUPTED
    assert solution.value == calls[-1]
    assert bound.mean(Linear().scores(solution.params, data)) == pytest.approx(
        solution.value, abs=1e-9
    )


def test_an_interrupted_round_keeps_the_steps_it_had_made(monkeypatch):
    data = problem(7, n_queries=60, tied=False)
    whole = Engine.search
    seen = []

    def search(engine, *args, **kwargs):
        seen.append(engine.total)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return whole(engine, *args, **kwargs)

    monkeypatch.setattr(Engine, "search", search)
    start = -np.ones(4)
    solution, bound, _ = climb(data, start=start)
    assert solution.status is Status.INTERRUPTED
    assert seen[2] > seen[0]
    target = FixedPoint.of(bound)
    assert target.total(Linear().scores(solution.params, data)) == seen[2]
    assert solution.value == target.value(seen[2])


@pytest.mark.parametrize("seed", range(6))
def test_greedy_takes_the_likelier_of_equally_good_coordinates(seed):
    rng = np.random.default_rng(seed)
    X = np.vstack((rng.normal(size=(4, 2)), [[4.0, 4.0]]))  # either feature puts the last row first
    data = rankopt.dataset(X, [0, 0, 0, 0, 1])
    start = np.array([-1.0, -1.0])
    options = {"order": "greedy", "point": "likelihood", "max_iter": 1}
    found, bound, lines = climb(data, "rr", start, **options)
    alone = []
    for f in range(2):
        lower, upper = start.copy(), start.copy()
        lower[f], upper[f] = -np.inf, np.inf
        alone.append(climb(data, "rr", start, lower, upper, **options)[0])
    assert [a.value for a in alone] == [1.0, 1.0] == [found.value, 1.0]
    likely = Likelihood.of(bound)
    beta = likely.scale(lines.scores(start))
    best = max(alone, key=lambda a: likely.value(beta * lines.scores(a.params)))
    unit = np.abs(found.params).max() / np.abs(best.params).max()
    np.testing.assert_allclose(found.params, unit * best.params)


def test_a_problem_that_no_order_changes_ends_at_once():
    data = rankopt.dataset(
        np.random.default_rng(0).normal(size=(6, 2)), np.zeros(6), [0, 0, 1, 1, 2, 3]
    )
    solution, _, _ = climb(data)
    assert (solution.status, solution.value, solution.n_iter) == (Status.COORDINATEWISE, 0.0, 1)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 1000),
    measure=st.sampled_from(MEASURES),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_every_step_does_what_the_search_predicted(seed, measure, dtype):
    data = problem(seed, dtype=dtype)
    target = FixedPoint.of(as_measure(measure).bind(data.y, data.groups))
    lines = Lines.of(data, as_measure(measure).bind(data.y, data.groups))
    engine = Engine(target, lines.scores(np.zeros(4)))
    for f in (0, 1, 2, 0, 1, 2):
        steps = engine.search(lines.columns[f])
        if steps.total > engine.total and any(
            engine.step(lines.columns[f], t, steps.total) for t in steps.points
        ):
            assert engine.total == steps.total == target.total(engine.scores)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"order": "spiral"}, "unknown 'spiral'"),
        ({"point": "left"}, "unknown 'left'"),
        ({"tol": -1.0}, "not be negative"),
    ],
)
def test_unknown_options_are_named(options, words):
    with pytest.raises(SpecError, match=words):
        Coordinate(**options)
