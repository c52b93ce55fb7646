"""What single solvers promise beyond the contract: line searches, annealing, restarts, batches."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rankopt
from rankopt.arrays import Floats
from rankopt.errors import IncompatibleError, SpecError
from rankopt.objectives import OBJECTIVES, Sloped
from rankopt.scorers import Linear
from rankopt.solvers import CG, L2, LBFGS, SGD, SOLVERS, Adam, Annealed, Problem, Restarts, epochs
from rankopt.solvers.base import Status
from rankopt.solvers.wolfe import Point, wolfe


@dataclass(frozen=True, eq=False)
class Function(Sloped):
    """Any function of the scores; with the identity as features, of the parameters."""

    value_and_grad: object

    def value_grad(self, scores: Floats):
        return self.value_and_grad(scores)

    def take(self, queries):
        return self


def of_function(function, size):
    data = rankopt.dataset(np.eye(size), np.zeros(size))
    return Problem(data, Linear(), Function(function))


def rosenbrock(x):
    a, b = x
    value = (1.0 - a) ** 2 + 100.0 * (b - a * a) ** 2
    return value, np.array([-2.0 * (1.0 - a) - 400.0 * a * (b - a * a), 200.0 * (b - a * a)])


@pytest.mark.parametrize("solver", [LBFGS(tol=1e-8), CG(tol=1e-8)])
def test_a_curved_valley(solver):
    solution = solver.solve(
        of_function(rosenbrock, 2), np.array([-1.2, 1.0]), np.random.default_rng(0)
    )
    np.testing.assert_allclose(solution.params, [1.0, 1.0], atol=1e-3)
    values = [step.value for step in solution.history]
    assert values == sorted(values, reverse=True)


@given(st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3), st.floats(0.01, 100.0))
def test_wolfe_steps_fulfil_both_conditions(shape, first):
    """On a line that falls at 0 and rises in the end."""
    a, b, c = shape

    def value(t):
        return -t + a * np.sin(t) + 0.1 * b * t**2 + 0.05 * t**4 + c * np.cos(2.0 * t)

    def slope(t):
        return -1.0 + a * np.cos(t) + 0.2 * b * t + 0.2 * t**3 - 2.0 * c * np.sin(2.0 * t)

    def line(t):
        return Point(t, np.array([t]), value(t), np.array([slope(t)]), slope(t))

    start = line(0.0)
    if start.slope >= -1e-3:
        return
    found = wolfe(line, start, first, flattens=0.1)
    assert found.value <= start.value + 1e-4 * found.step * start.slope + 1e-12
    assert abs(found.slope) <= -0.1 * start.slope + 1e-9


def test_a_loss_that_overflows_on_the_way_is_stepped_back_from():
    def steep(x):
        with np.errstate(over="ignore"):
            return float(np.exp(x[0]) - x[0]), np.exp(x) - 1.0

    for solver in (CG(), LBFGS()):
        solution = solver.solve(of_function(steep, 1), np.array([-600.0]), np.random.default_rng(0))
        assert abs(solution.params[0]) < 1e-2


def ranking(seed=0, n_queries=30):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * 8, 4))
    y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 0.5 * rng.normal(size=len(X)) + 1), 0, 3)
    return rankopt.dataset(X, y, np.repeat(np.arange(n_queries), 8))


def loss_of(text, data):
    return OBJECTIVES.build(text).bind(data.y, data.groups)


def test_annealing_starts_each_level_where_the_last_one_ended():
    data = ranking()
    problem = Problem(data, Linear(), loss_of("smooth(ndcg)", data), L2(0.01))
    solver = Annealed(LBFGS(max_iter=5), high=2.0, low=0.5)
    params = np.array([1.0, 0.0, 0.0, 0.0])
    solution = solver.solve(problem, params, np.random.default_rng(0))
    for tau in (2.0, 1.0, 0.5):
        level = solver.solver.solve(problem.cooled(tau), params, np.random.default_rng(0))
        params = level.params
    np.testing.assert_array_equal(solution.params, params)
    assert solution.value == problem.cooled(0.5).value_grad(params)[0]
    assert [step.note for step in solution.history] == [
        f"temperature {t}" for t in ("2", "1", "0.5")
    ]
    assert solution.status is Status.FINISHED


def test_annealing_ends_where_the_monitor_says_so():
    data = ranking()
    problem = Problem(data, Linear(), loss_of("approx(ap)", data), L2(0.01))
    stop = lambda step, params: step.iteration == 2  # noqa: E731
    solution = Annealed().solve(problem, np.ones(4), np.random.default_rng(0), stop)
    assert solution.status is Status.STOPPED_EARLY
    assert len(solution.history) == 2


def test_annealing_needs_a_temperature():
    with pytest.raises(IncompatibleError, match="no temperature"):
        Annealed().solve(of_function(rosenbrock, 2), np.zeros(2), np.random.default_rng(0))


def test_the_default_schedule_is_that_of_the_paper():
    assert Annealed().schedule == tuple(2.0**power for power in range(6, -7, -1))


def test_restarts_keep_the_lowest_minimum():
    def two_valleys(x):  # the minimum at 3 is the lower one
        t = x[0]
        value = 0.05 * (t + 1.0) ** 2 * (t - 3.0) ** 2 - 0.3 * t
        slope = 0.1 * (t + 1.0) * (t - 3.0) ** 2 + 0.1 * (t + 1.0) ** 2 * (t - 3.0) - 0.3
        return float(value), np.array([slope])

    problem, rng = of_function(two_valleys, 1), np.random.default_rng(0)
    alone = LBFGS().solve(problem, np.array([-1.2]), rng)
    several = Restarts(n=8, spread=3.0).solve(problem, np.array([-1.2]), rng)
    assert alone.params[0] < 0.0 < several.params[0]
    assert several.value < alone.value
    assert several.n_iter == len(several.history) > alone.n_iter


def test_sgd_on_single_queries_is_algorithm_1():
    """Against the loop of the paper, with the same shuffles."""
    data = ranking(n_queries=6)
    problem = Problem(data, Linear(), loss_of("approx(ndcg, alpha=2)", data))
    seen = []
    SGD(max_iter=3, learning_rate=0.2).solve(
        problem, np.ones(4), np.random.default_rng(3), lambda step, params: seen.append(params)
    )
    params, rng = np.ones(4), np.random.default_rng(3)
    for epoch in range(3):
        for q in rng.permutation(6):
            rows = slice(8 * q, 8 * q + 8)
            _, grad = rankopt.value_grad(
                "approx(ndcg, alpha=2)", data.X[rows] @ params, data.y[rows]
            )
            params = params - 0.2 * data.X[rows].T @ grad
        np.testing.assert_allclose(seen[epoch], params, rtol=1e-10)


def test_one_batch_of_all_queries_is_the_whole_gradient():
    data = ranking()
    problem = Problem(data, Linear(), loss_of("smooth(ap)", data), L2(0.1, np.ones(4)))
    whole = SGD(max_iter=1, learning_rate=0.1, batch=10_000)
    solution = whole.solve(problem, np.zeros(4), np.random.default_rng(0))
    expected = -0.1 * problem.value_grad(np.zeros(4))[1]
    np.testing.assert_allclose(solution.params, expected, rtol=1e-9, atol=1e-15)


def words(n_queries=40, width=30, seed=0):
    """Rows of few words out of many, some of which no row has; the first half of them is good."""
    rng = np.random.default_rng(seed)
    X = (rng.random((5 * n_queries, width)) < rng.uniform(0.0, 0.15, width)).astype(float)
    X[:, -3:] = 0.0
    y = (X[:, : width // 2].sum(axis=1) > X[:, width // 2 :].sum(axis=1)).astype(float)
    return rankopt.dataset(csr_array(X), y, np.repeat(np.arange(n_queries), 5))


@pytest.fixture
def confined(monkeypatch):
    """Few columns count as many."""
    monkeypatch.setattr(epochs, "_WIDE", 0)


@pytest.mark.usefixtures("confined")
def test_sgd_on_sparse_data_steps_as_on_dense():
    """Without a penalty columns that a batch does not know have no slope."""
    data = words()
    params = []
    for part in (data, replace(data, X=data.X.toarray())):
        problem = Problem(part, Linear(), loss_of("plackett-luce", part))
        solver = SGD(max_iter=3, learning_rate=0.3, batch=3)
        params.append(solver.solve(problem, np.ones(30), np.random.default_rng(0)).params)
    np.testing.assert_allclose(params[0], params[1], rtol=1e-9)
    assert np.ptp(params[0]) > 0.1


@pytest.mark.usefixtures("confined")
def test_a_penalty_waits_for_the_columns_that_a_step_leaves_out():
    """Each square is counted once for every step up to the last that its column was part of."""
    data, strength, rate = words(), 1e-3, 0.5
    towards = np.linspace(-1.0, 1.0, 30)
    flat = Function(lambda x: (0.0, np.zeros_like(x)))
    problem = Problem(data, Linear(), flat, L2(strength, towards))
    seen = []
    SGD(max_iter=1, learning_rate=rate).solve(
        problem, np.zeros(30), np.random.default_rng(2), lambda _, params: seen.append(params)
    )
    expected, last = np.zeros(30), np.zeros(30, int)
    unknown = ~data.X.toarray().any(axis=0)
    expected[unknown] = towards[unknown]  # at rest from the start
    for step, q in enumerate(np.random.default_rng(2).permutation(40), 1):
        known = np.unique(data.X[5 * q : 5 * q + 5].indices)
        pull = 2.0 * strength * (step - last[known]) * (expected[known] - towards[known])
        expected[known] -= rate * pull
        last[known] = step
    assert unknown.any()
    np.testing.assert_allclose(seen[0], expected, rtol=1e-12)


@pytest.mark.parametrize(
    "solver", [SGD(max_iter=300, learning_rate=0.02), Adam(max_iter=300, learning_rate=0.003)]
)
@pytest.mark.usefixtures("confined")
def test_stochastic_solvers_reach_the_minimum_on_sparse_data(solver):
    data = words()
    problem = Problem(data, Linear(), loss_of("plackett-luce", data), L2(0.01))
    rng = np.random.default_rng(0)
    least = LBFGS().solve(problem, np.zeros(30), rng).value
    assert least < solver.solve(problem, np.zeros(30), rng).value < 1.01 * least


@pytest.mark.parametrize("solver", [SGD(learning_rate=1e200), Adam(learning_rate=1e200)])
def test_divergence_is_a_status_and_keeps_the_best(solver):
    data = ranking(n_queries=4)

    def quadratic(x):
        with np.errstate(over="ignore", invalid="ignore"):
            return float(x @ x), 2.0 * x

    problem = Problem(data, Linear(), Function(quadratic))
    with np.errstate(over="ignore", invalid="ignore"):
        solution = solver.solve(problem, np.ones(4), np.random.default_rng(0))
    assert solution.status is Status.DIVERGED
    assert not solution.status.converged
    assert np.isfinite(solution.params).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("annealed(high=1, low=2)", "0 < low <= high"),
        ("annealed(factor=1)", "0 < factor < 1"),
        ("restarts(n=-1)", "must not be negative"),
        ("sgd(learning_rate=0)", "must be positive"),
        ("adam(decay=1)", r"decays must lie in \[0, 1\)"),
        ("lbfgs(memory=0)", "memory must be positive"),
        ("cg(max_iter=-1)", "must not be negative"),
        ("cg(maxiter=1)", "did you mean 'max_iter'"),
    ],
)
def test_parameters_without_sense_are_refused(text, words):
    with pytest.raises(SpecError, match=words):
        SOLVERS.build(text)
