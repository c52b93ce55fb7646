"""Contracts of every registered solver: a new solver is tested by being registered.

The oracle is a least-squares problem with a minimum in closed form.
"""

import inspect
import re
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import rankopt
from rankopt import threads
from rankopt.arrays import Floats
from rankopt.errors import DataError, IncompatibleError, SpecError
from rankopt.objectives import OBJECTIVES, Sloped
from rankopt.scorers import Linear
from rankopt.solvers import L2, SOLVERS, Annealed, Need, Problem
from rankopt.solvers.base import Status

every_solver = pytest.mark.parametrize("name", list(SOLVERS))
SLOPED = [name for name in SOLVERS if Need.STEPS not in SOLVERS[name].needs]
every_sloped = pytest.mark.parametrize("name", SLOPED)
STOCHASTIC = {
    "sgd": {"max_iter": 400, "learning_rate": 0.03, "batch": 4},
    "adam": {"max_iter": 400, "learning_rate": 0.03, "batch": 20},
}
# Solvers that end by a rule of their own; the others make the iterations they are told to.
every_with_a_stopping_rule = pytest.mark.parametrize(
    "name",
    [
        name
        for name in SLOPED
        if name not in STOCHASTIC
        and "max_iter" in {field.name for field in fields(SOLVERS.build(name))}
    ],
)
EXACT = {  # those that stop on a gap, or between rounds, go on to the tolerance of these tests
    "bundle": {"tol": 1e-8},
    "concave-convex": {"tol": 1e-12, "solver": SOLVERS.build("bundle(max_iter=4, tol=1e-9)")},
    "cutting-plane": {"tol": 1e-8},
    "subgradient": {"tol": 1e-8},
}


@dataclass(frozen=True, eq=False)
class Squares(Sloped):
    """Half the mean of squared errors, the mean over queries; interrupts at a given call."""

    convex = True
    y: Floats
    sizes: np.ndarray
    limit: list[int] | None = None

    def value_grad(self, scores):
        if self.limit is not None:
            self.limit[0] -= 1
            if self.limit[0] < 0:
                raise KeyboardInterrupt
        weight = np.repeat(1.0 / (self.sizes * self.sizes.size), self.sizes)
        away = scores - self.y
        return 0.5 * float(weight @ away**2), weight * away

    def take(self, queries):
        offsets = np.concatenate(([0], np.cumsum(self.sizes)))
        rows = np.concatenate([np.arange(offsets[q], offsets[q + 1]) for q in queries])
        return Squares(self.y[rows], self.sizes[queries], self.limit)

    def cooled(self, tau):
        return self


def least_squares(l2=0.01, limit=None, n_queries=20):
    """The problem, and its minimum."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(3, 9, n_queries)
    X = rng.normal(size=(sizes.sum(), 4)) * [1.0, 2.0, 0.5, 1.0]
    y = X @ [1.0, -1.0, 2.0, 0.0] + 0.1 * rng.normal(size=len(X))
    data = rankopt.dataset(X, y, np.repeat(np.arange(n_queries), sizes))
    weight = np.repeat(1.0 / (sizes * n_queries), sizes)
    towards = np.array([0.5, 0.0, 0.0, -0.5])
    gram = X.T @ (weight[:, None] * X) + 2.0 * l2 * np.eye(4)
    best = np.linalg.solve(gram, X.T @ (weight * y) + 2.0 * l2 * towards)
    squares = Squares(y, sizes, None if limit is None else [limit])
    return Problem(data, Linear(), squares, L2(l2, towards)), best


def build(name):
    return replace(SOLVERS.build(name), **STOCHASTIC.get(name, {}), **EXACT.get(name, {}))


def solve(name, problem, monitor=None, seed=0, start=None):
    rng = np.random.default_rng(seed)
    start = np.zeros(4) if start is None else start
    if monitor is None:
        return build(name).solve(problem, start, rng)
    return build(name).solve(problem, start, rng, monitor)


@every_solver
def test_text_parses_back(name):
    spec = build(name)
    assert SOLVERS.build(str(spec)) == spec
    assert str(SOLVERS.build(name)) == name


@every_solver
def test_documentation(name):
    text = inspect.getdoc(SOLVERS[name]) or ""
    for section in ("Parameters", "References", "Examples"):
        assert f"{section}\n{'-' * len(section)}" in text, f"{name}: no {section}"
    bibliography = Path(__file__).resolve().parents[2] / "docs" / "references.bib"
    known = re.findall(r"@\w+\{([^,]+),", bibliography.read_text(encoding="utf-8"))
    cited = re.findall(r"\[(\w+)\]_", text)
    assert cited
    assert set(cited) <= set(known)


@every_sloped
def test_the_minimum_of_a_convex_problem(name):
    problem, best = least_squares()
    solution = solve(name, problem)
    assert solution.status.converged, solution.status
    tolerance = 0.02 if name in STOCHASTIC else 1e-4
    np.testing.assert_allclose(solution.params, best, atol=tolerance)
    assert solution.value == pytest.approx(problem.value_grad(best)[0], abs=tolerance**1.5)


@every_sloped
def test_the_value_is_that_of_the_parameters(name):
    problem, _ = least_squares()
    solution = solve(name, problem)
    assert solution.value == pytest.approx(problem.value_grad(solution.params)[0], rel=1e-14)
    assert solution.value <= problem.value_grad(np.zeros(4))[0]


@every_sloped
def test_same_seed_same_bits_for_any_number_of_threads(name, monkeypatch):
    monkeypatch.setattr(threads, "_SMALL", 0)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    data = rankopt.dataset(X, rng.integers(0, 3, 60), np.repeat(np.arange(12), 5))
    needs = SOLVERS[name].needs
    convex = Need.CONVEX in needs or Need.SPLIT in needs
    objective = "margin(ndcg@3)" if convex else "approx(ndcg@3)"
    loss = OBJECTIVES.build(objective).bind(data.y, data.groups)
    problem = Problem(data, Linear(), loss, L2(0.01))
    bits = []
    for n in (1, 2, 1):
        with threads.using_threads(n):
            bits.append(solve(name, problem, seed=5, start=np.ones(3)).params.tobytes())
    assert bits[0] == bits[1] == bits[2]


@every_sloped
def test_the_monitor_hears_of_every_iteration_and_can_end_it(name):
    problem, _ = least_squares()
    seen = []

    def third(step, params):
        seen.append((step, params.copy()))
        params[:] = np.nan  # a copy: what the monitor does to it is of no account
        return len(seen) == 3

    solution = solve(name, problem, third)
    assert len(seen) >= 3
    assert solution.status is Status.STOPPED_EARLY or name == "restarts"
    assert [step.iteration for step, _ in seen[:3]] == [1, 2, 3]
    assert all(a.seconds <= b.seconds for (a, _), (b, _) in pairwise(seen[:3]))
    assert np.isfinite(solution.params).all()


@every_sloped
def test_an_interrupt_keeps_the_best_so_far(name):
    whole, _ = least_squares()
    before = whole.value_grad(np.zeros(4))[0]
    problem, _ = least_squares(limit=12 if name not in STOCHASTIC else 60)
    solution = solve(name, problem)
    assert solution.status is Status.INTERRUPTED
    assert not solution.status.converged
    assert solution.value < 0.999 * before
    assert solution.value == pytest.approx(whole.value_grad(solution.params)[0], rel=1e-14)


@every_with_a_stopping_rule
def test_too_few_iterations_are_told(name):
    solver = build(name)
    problem, _ = least_squares()
    solution = replace(solver, max_iter=2).solve(problem, np.zeros(4), np.random.default_rng(0))
    assert solution.status is Status.OUT_OF_STEPS
    assert solution.n_iter == len(solution.history) == 2
    none = replace(solver, max_iter=0).solve(problem, np.ones(4), np.random.default_rng(0))
    np.testing.assert_array_equal(none.params, np.ones(4))


@every_solver
def test_what_does_not_fit_is_refused_before_any_work(name):
    problem, _ = least_squares()
    data = problem.data
    direct = OBJECTIVES.build("direct(ndcg)").bind(np.zeros(data.n_rows), data.groups)
    if name in SLOPED:
        with pytest.raises(IncompatibleError, match="needs an objective with gradients"):
            solve(name, replace(problem, objective=direct, penalty=L2()))
    else:
        with pytest.raises(IncompatibleError, match="needs a piecewise-constant objective"):
            solve(name, problem)


@every_sloped
def test_a_start_that_is_not_finite_is_refused(name):
    problem, _ = least_squares()
    with pytest.raises(DataError, match="start: parameters must be finite"):
        solve(name, problem, start=np.array([0.0, np.nan, 0.0, 0.0]))


def test_an_unknown_solver_names_the_nearest():
    with pytest.raises(SpecError, match="did you mean 'lbfgs'"):
        SOLVERS.build("bfgs")


def test_solvers_nest_in_text():
    spec = SOLVERS.build("annealed(cg(max_iter=5), high=1, low=0.25)")
    assert isinstance(spec, Annealed)
    assert spec.schedule == (1.0, 0.5, 0.25)
    assert str(spec) == "annealed(cg(max_iter=5), high=1, low=0.25)"
