"""The solvers of the margin bounds: one optimum, known from a program over all orders, and a proof of it."""

from itertools import pairwise, permutations
from unittest import mock

import numpy as np
import pytest
from numba import config

import rankopt
from rankopt.errors import IncompatibleError, SpecError
from rankopt.objectives import OBJECTIVES
from rankopt.scorers import Linear
from rankopt.solvers import L2, SOLVERS, Problem
from rankopt.solvers.base import Status
from rankopt.solvers.planes import simplex_qp
from rankopt.solvers.slackprogram import slack_qp

SIMPLE = bool(config.DISABLE_JIT)
SOLVED = ("cutting-plane(slacks=n)", "cutting-plane", "bundle", "subgradient")
CASES = [
    ("ndcg@3", 0.3), ("ndcg@3", 3e-3), ("ndcg@5, positions=discount", 0.03), ("ap", 0.03),
    ("ap, positions=pairs", 3e-3), ("rr", 0.03), ("p@2", 0.03),
]  # fmt: skip


def problem(text, l2, n_queries=25, longest=9, towards=None, seed=0, weights=None):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, longest + 1, n_queries)
    X = rng.normal(size=(sizes.sum(), 4))
    y = np.clip(np.round(X @ [1.0, 0.5, 0.0, -0.5] + rng.normal(size=len(X)) + 1.0), 0, 3)
    data = rankopt.dataset(X, y, np.repeat(np.arange(n_queries), sizes))
    loss = OBJECTIVES.build(f"margin({text})").bind(data.labels, data.groups, weights)
    return Problem(data, Linear(), loss, L2(l2, towards))


def solve(name, asked, start=None, **limits):
    options = ", ".join(f"{k}={v}" for k, v in limits.items())
    name = name[:-1] + ", " + options + ")" if name.endswith(")") else f"{name}({options})"
    start = np.ones(4) if start is None else start
    return SOLVERS.build(name).solve(asked, start, np.random.default_rng(0))


@pytest.mark.parametrize(("text", "l2"), CASES[:2] if SIMPLE else CASES, ids=str)
def test_all_solvers_agree_on_the_optimum(text, l2):
    asked = problem(text, l2)
    found = {name: solve(name, asked, tol=2e-5) for name in SOLVED}
    values = [solution.value for solution in found.values()]
    assert max(values) - min(values) <= 1e-4 * min(values)
    bound = max(solution.history[-1].bound for solution in found.values())
    for name, solution in found.items():
        assert solution.status is Status.CONVERGED, name
        assert solution.value - solution.history[-1].bound <= 2e-5 * solution.value
        assert solution.value >= bound - 1e-12
        assert solution.value == pytest.approx(asked.value_grad(solution.params)[0], rel=1e-12)
    assert max(values) < asked.value_grad(np.zeros(4))[0] - 0.01


@pytest.mark.parametrize("weighted", [False, True])
def test_the_optimum_is_that_of_a_program_over_all_orders(weighted):
    """Every order of every query as a constraint; one slack, by the product of all queries' orders."""
    towards = np.array([0.5, 0.0, 0.0, -0.2])
    weights = np.array([3.0, 1.0, 2.0]) if weighted else None
    asked = problem("ndcg@2", 0.05, 3, 3, towards, seed=7, weights=weights)
    data, share = asked.data, np.ones(3) / 3 if weights is None else weights / weights.sum()
    planes = [(0.0, np.zeros(4))]
    for q in range(3):
        rows = slice(data.groups.offsets[q], data.groups.offsets[q + 1])
        X, gains = data.X[rows], 2.0 ** data.labels[rows] - 1.0
        weight = np.maximum(3.0 - np.arange(1.0, len(X) + 1.0), 0.0)
        discount = np.where(np.arange(len(X)) < 2, 1.0 / np.log2(np.arange(len(X)) + 2.0), 0.0)
        orders = [list(order) for order in permutations(range(len(X)))]
        best = max(float(discount @ gains[order]) for order in orders)
        ideal = [o for o in orders if np.all(np.diff(gains[o]) <= 0.0)]
        wanted = np.mean([weight @ X[o] for o in ideal], axis=0)
        assert best > 0.0
        mine = [(1.0 - float(discount @ gains[o]) / best, weight @ X[o] - wanted) for o in orders]
        mine = list({tuple(np.round(np.append(v, c), 12)): (c, v) for c, v in mine}.values())
        planes = [(a + share[q] * c, b + share[q] * v) for a, b in planes for c, v in mine]
    slopes = np.array([slope for _, slope in planes])
    heights = np.array([constant for constant, _ in planes]) + slopes @ towards
    alpha = simplex_qp(slopes @ slopes.T / 0.1, heights)
    u = -(slopes.T @ alpha) / 0.1
    value = float(np.max(heights + slopes @ u)) + 0.05 * float(u @ u)
    assert float(alpha @ heights) - 0.05 * float(u @ u) == pytest.approx(value, abs=1e-6)
    for name in SOLVED:
        solution = solve(name, asked, tol=1e-7, max_iter=5000)
        assert solution.value == pytest.approx(value, abs=1e-6), name
        np.testing.assert_allclose(solution.params, towards + u, atol=2e-3)


@pytest.mark.parametrize("name", SOLVED)
def test_every_iteration_tells_value_bound_and_gap(name):
    asked = problem("ndcg@3", 0.03)
    history = solve(name, asked, tol=1e-4).history
    optimum = solve("bundle", asked, tol=1e-7).value
    assert len(history) > 3
    for before, after in pairwise(history):
        assert after.value <= before.value
        assert after.bound >= before.bound
    for step in history:
        assert step.bound <= optimum * (1.0 + 1e-9)
        assert step.gap == step.value - step.bound >= 0.0
        assert f"gap {step.gap:.2g}" in step.note
        assert np.isfinite(step.bound) or name.startswith("cutting-plane")
    assert all(step.gap > 1e-4 * step.value for step in history[:-1])


@pytest.mark.parametrize("strength", [1e-5, 1e-2, 10.0])
def test_the_program_of_all_slacks_closes_its_gap(strength):
    rng = np.random.default_rng(0)
    owners = np.sort(np.concatenate((np.arange(12), rng.integers(0, 12, 60))))
    slopes, constants = rng.normal(size=(72, 5)), rng.uniform(size=72)
    shares = rng.dirichlet(np.ones(12))
    alphas = slack_qp(slopes, constants, owners, shares, strength, 1e-9)
    assert alphas.min() >= 0.0
    np.testing.assert_allclose(np.bincount(owners, alphas), shares, rtol=1e-12)
    u = -slopes.T @ alphas / (2.0 * strength)
    heights = constants + slopes @ u
    highest = [heights[owners == q].max() for q in range(12)]
    penalty = strength * float(u @ u)
    primal, dual = float(shares @ highest) + penalty, float(alphas @ constants) - penalty
    assert 0.0 <= primal - dual + 1e-12 <= 1e-5


@pytest.mark.parametrize("name", SOLVED)
@pytest.mark.parametrize("text", ["ndcg@3", "ap"])
def test_a_weak_penalty_does_not_keep_a_solver_from_its_gap(name, text):
    asked = problem(text, 1e-5, n_queries=40, longest=12)
    found = solve(name, asked, max_iter=600)
    assert found.status is Status.CONVERGED
    assert found.value - found.history[-1].bound <= 1e-3 * found.value


def test_slacks_by_a_program_where_exchanges_are_slow():
    asked = problem("ap", 1e-6, n_queries=40, longest=12)
    with mock.patch("rankopt.solvers.cutting_plane.slack_qp", wraps=slack_qp) as program:
        found = solve("cutting-plane(slacks=n)", asked, max_iter=100)
    assert program.called
    assert found.status is Status.CONVERGED
    other = solve("bundle", asked, tol=1e-4).value
    assert found.history[-1].bound <= other
    assert found.value == pytest.approx(other, rel=1.2e-3)


def test_constraints_without_weight_are_dropped_and_taken_up_again():
    asked = problem("ndcg@3", 0.003)
    patient = solve("cutting-plane(slacks=n)", asked, tol=1e-5, patience=1000)
    brisk = solve("cutting-plane(slacks=n)", asked, tol=1e-5, patience=1)
    assert patient.value == pytest.approx(brisk.value, rel=1e-4)


@pytest.mark.parametrize("name", ["bundle", "cutting-plane(slacks=n)"])
def test_sparse_features_give_the_optimum_of_dense_ones(name):
    from dataclasses import replace

    from scipy.sparse import csr_array

    asked = problem("ndcg@3", 0.03)
    data = replace(asked.data, X=csr_array(np.where(np.abs(asked.data.X) > 0.5, asked.data.X, 0.0)))
    dense = replace(asked, data=replace(data, X=data.X.toarray()))
    sparse = replace(asked, data=data)
    assert solve(name, sparse).value == pytest.approx(solve(name, dense).value, rel=1e-9)


@pytest.mark.parametrize("measure", ["ndcg@3", "ap"])
def test_the_tight_bound_is_lowered_by_both_ways(measure):
    start = np.array([0.5, 0.2, 0.1, 0.0])
    tight = problem(f"{measure}, bound=tight", 1e-3, towards=start)
    convex = problem(measure, 1e-3, towards=start)
    before, above = tight.value_grad(start)[0], convex.value_grad(start)[0]
    for name in ("subgradient", "concave-convex", "concave-convex(cutting-plane(slacks=n))"):
        solution = SOLVERS.build(name).solve(tight, start, np.random.default_rng(0))
        assert solution.value < 0.95 * before < before <= above
        values = [step.value for step in solution.history]
        assert values == sorted(values, reverse=True)
        assert solution.status.converged
    with pytest.raises(IncompatibleError, match="needs a convex objective"):
        solve("bundle", tight)


def test_a_gap_needs_a_penalty_and_slacks_a_margin():
    with pytest.raises(SpecError, match="l2 must be positive"):
        solve("bundle", problem("ndcg@3", 0.0))
    with pytest.raises(SpecError, match="unknown slacks"):
        SOLVERS.build("cutting-plane(slacks=two)")
    other = problem("ndcg@3", 0.1)
    loss = OBJECTIVES.build("squared-hinge").bind(other.data.labels, other.data.groups)
    pairs = Problem(other.data, Linear(), loss, L2(0.1))
    with pytest.raises(IncompatibleError, match="slacks=n needs a margin objective"):
        solve("cutting-plane(slacks=n)", pairs)
    a, b = solve("cutting-plane", pairs, tol=1e-6), solve("lbfgs", pairs, tol=1e-9)
    assert a.value == pytest.approx(b.value, rel=1e-5)
