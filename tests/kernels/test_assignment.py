"""Loss-augmented rankings against all permutations, and the assignment solver against SciPy."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from scipy.optimize import linear_sum_assignment
from tests.oracles import naive

from rankopt.data.groups import Groups
from rankopt.kernels import assignment
from rankopt.measures import as_measure
from rankopt.objectives import Margin

SIMPLE = bool(config.DISABLE_JIT)
LONGEST = 5 if SIMPLE else 7
CASES = [
    *[("ndcg@3", p) for p in ("linear", "root", "discount", (3.0, 3.0, 1.0, 0.5))],
    ("ndcg", "linear"), ("ndcg", "root"), ("ndcg", "discount"), ("ndcg@2", (1.0, 1.0, 1.0, 1.0)),
    ("ndcg@4", (1.0,)), ("dcg(gain=linear)@3", "linear"), ("rbp(p=0.7)", "linear"),
    ("p@2", "linear"), ("p@2", "discount"), ("recall@2", "root"), ("p@3", "pairs"),
    ("ap", "linear"), ("ap", "root"), ("ap", "discount"), ("ap", "pairs"), ("ap@3", "linear"),
    ("ap@2", "pairs"), ("ap(denominator=relevant)@2", (2.0, 1.0)), ("rr", "linear"), ("rr", "pairs"),
    ("rr@2", "root"), ("success@2", "linear"), ("success@2", "pairs"), ("err(max_grade=1)", "linear"),
]  # fmt: skip


def weights_of_places(positions, measure, size):
    """A at the ranks of one query, from the definition."""
    ranks = np.arange(1.0, size + 1.0)
    k = size if measure.depth is None else min(measure.depth, size)
    if positions == "linear":
        return np.maximum(k + 1.0 - ranks, 0.0)
    if positions == "root":
        return np.where(ranks <= k, ranks**-0.5, 0.0)
    if positions == "discount":
        return np.where(ranks <= k, measure.discounts(ranks), 0.0)
    return np.concatenate((positions, np.zeros(size)))[:size]


def order_score(order, positions, measure, y, scores):
    """F of one order."""
    if positions != "pairs":
        return float(weights_of_places(positions, measure, len(y)) @ scores[list(order)])
    place = np.argsort(order)
    relevant, others = np.flatnonzero(y >= 1), np.flatnonzero(y < 1)
    signs = np.where(place[relevant][:, None] < place[others], 1.0, -1.0)
    return float(np.mean(signs * (scores[relevant][:, None] - scores[others])))


def brute_force(measure, positions, y, scores):
    """Of one query: the worst loss plus F, the greatest F, the mean F of the ideal orders."""
    worst, greatest, ideal = -np.inf, -np.inf, []
    best = max(naive(measure, [y[i] for i in order]) for order in permutations(range(len(y))))
    gains = measure.gains(y)
    for order in permutations(range(len(y))):
        value = naive(measure, [y[i] for i in order])
        f = order_score(order, positions, measure, y, scores)
        worst, greatest = max(worst, 1.0 - value + f), max(greatest, f)
        if np.all(np.diff(gains[list(order)]) <= 0.0):
            assert value == pytest.approx(best)
            ideal.append(f)
    return worst, greatest, float(np.mean(ideal))


def one_query(seed, measure, tied):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, LONGEST + 1)) if seed % 4 else 2
    top = 2 if measure.startswith("err") else 4
    y = rng.integers(0, top, size).astype(float)
    y[0], y[-1] = 0.0, 1.0
    scale = rng.choice([0.03, 0.3, 3.0])
    scores = scale * (rng.integers(-2, 3, size) if tied else rng.normal(size=size))
    return y, scores


@settings(max_examples=4 if SIMPLE else 12)
@given(seed=st.integers(0, 10**6), tied=st.booleans())
@pytest.mark.parametrize(("measure", "positions"), CASES, ids=str)
def test_bounds_equal_brute_force_over_all_permutations(measure, positions, seed, tied):
    y, scores = one_query(seed, measure, tied)
    groups = Groups.from_sizes([y.size])
    spec = as_measure(measure)
    worst, greatest, ideal = brute_force(spec, positions, y, scores)
    tight = Margin(spec, "tight", positions).bind(y, groups)
    convex = Margin(spec, "convex", positions).bind(y, groups)
    if tight.over.target.scales[0] == 0.0:
        return  # no order changes the measure: a constant, tested with the objective
    assert tight.value_grad(scores)[0] == pytest.approx(worst - greatest, abs=1e-10)
    value, grad = convex.value_grad(scores)
    assert value == pytest.approx(worst - ideal, abs=1e-10)
    losses, slopes = convex.planes(scores)
    assert value == pytest.approx(losses[0] + slopes @ scores, abs=1e-12)
    np.testing.assert_array_equal(grad, slopes)
    other = scores + np.random.default_rng(seed).normal(size=scores.size)
    assert convex.value_grad(other)[0] >= value + grad @ (other - scores) - 1e-10


@settings(max_examples=20 if SIMPLE else 200)
@given(seed=st.integers(0, 10**6), depth=st.integers(1, 12), tied=st.booleans())
def test_assignment_agrees_with_scipy(seed, depth, tied):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 40))
    scores = rng.integers(-3, 4, size) * 0.5 if tied else rng.normal(size=size)
    gains = rng.integers(0, 4, size) if tied else rng.uniform(size=size)
    scores, gains = scores.astype(float), gains.astype(float)
    positions = np.sort(rng.uniform(size=size))[::-1].copy()
    table = np.sort(rng.uniform(size=size))[::-1].copy()
    table[depth:] = 0.0
    positions[depth:] = 0.0
    raw, out = np.empty(1), np.empty(size)
    assignment.assigned_worst(
        0, 1, np.array([0, size]), scores, gains, np.ones(1), positions, table, depth, raw, out
    )
    matrix = np.outer(positions[:depth], scores) - np.outer(table[:depth], gains)
    best = matrix[linear_sum_assignment(matrix, maximize=True)].sum()
    assert out @ scores - raw[0] == pytest.approx(best, abs=1e-9)


@settings(max_examples=20 if SIMPLE else 100)
@given(seed=st.integers(0, 10**6))
def test_greedy_and_dynamic_programming_agree_on_long_lists(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 20 if SIMPLE else 80))
    y = (rng.random(size) < rng.choice([0.1, 0.5])).astype(float)
    y[0], y[1] = 0.0, 1.0
    scores = rng.normal(size=size) * rng.choice([0.1, 1.0, 10.0])
    groups = Groups.from_sizes([size])
    values = [
        Margin(as_measure(text), positions="pairs").bind(y, groups).value_grad(scores)[0]
        for text in ("ap", f"ap@{size}")
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-10)


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6), depth=st.integers(1, 5))
def test_rows_left_out_are_dominated(seed, depth):
    rng = np.random.default_rng(seed)
    scores, gains = rng.integers(0, 6, 20) * 1.0, rng.integers(0, 3, 20) * 1.0
    order, kept = np.argsort(-scores, kind="stable"), np.empty(20, np.int64)
    count = assignment.usable(scores, gains, order, depth, np.empty(20), kept)
    for i in set(range(20)) - set(kept[:count].tolist()):
        assert np.sum((scores >= scores[i]) & (gains <= gains[i])) - 1 >= depth
    assert count >= min(depth, 20)
