"""Smooth against its definition, its limits and the lemma of its paper."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import oracles

import rankopt
from rankopt.data.groups import Groups
from rankopt.errors import IncompatibleError, SpecError
from rankopt.measures import as_measure
from rankopt.objectives import OBJECTIVES
from rankopt.scorers import Linear
from rankopt.solvers import L2, LBFGS, Problem


def bind(text, y, sizes=None):
    y = np.asarray(y, float)
    return OBJECTIVES.build(text).bind(y, Groups.from_sizes([y.size] if sizes is None else sizes))


def soft_permutation(s, sigma):
    """h of equation 7: h[i, j] is the degree to which row i stands at rank j."""
    centres = np.sort(s)[::-1]
    e = np.exp(-((s[:, None] - centres[None, :]) ** 2) / sigma)
    return e / e.sum(axis=0)


def by_definition(measure, y, s, sigma):
    """One minus the measure of the gains expected at the ranks, one query, in plain loops."""
    p = measure.gains(np.asarray(y, float)) @ soft_permutation(np.asarray(s, float), sigma)
    k = len(y) if measure.depth is None else min(measure.depth, len(y))
    d = measure.discounts(np.arange(1.0, k + 1.0))
    if measure.form.name == "positional":
        total = sum(d[j] * p[j] for j in range(k))
    elif (
        measure.form.name == "cumulative"
    ):  # precision at j+1 times the relevance there, of section 4.2
        total = sum(d[j] * p[j] * sum(p[: j + 1]) for j in range(k))
    else:
        total = sum(d[j] * p[j] * math.prod(1.0 - p[:j]) for j in range(k))
    return 1.0 - total / measure.bind(np.asarray(y, float), Groups.from_sizes([len(y)])).norms[0]


@pytest.mark.parametrize(
    "measure", ["ndcg", "ndcg@3", "dcg@2", "p@2", "ap", "ap@3", "rr", "err@4", "success@2", "rbp"]
)
@pytest.mark.parametrize("sigma", [0.03, 1.0, 64.0])
@pytest.mark.parametrize("size", [4, 8, 13, 70, 140])
def test_value_is_that_of_the_definition(measure, sigma, size):
    """Sizes on both sides of every way to rank the rows."""
    rng = np.random.default_rng(size)
    y, s = rng.integers(0, 3, size), rng.normal(size=size)
    y[:2] = (0, 2)
    s[2] = s[3]
    found, _ = bind(f"smooth({measure}, sigma={sigma})", y).value_grad(s)
    assert found == pytest.approx(by_definition(as_measure(measure), y, s, sigma), abs=1e-12)


def test_the_gradient_is_that_of_equations_10_and_12():
    rng = np.random.default_rng(0)
    m, sigma = 9, 0.5
    s, y = rng.normal(size=m), rng.integers(0, 3, m).astype(float)
    y[:2] = (0, 2)
    _, grad = bind("smooth(ndcg, sigma=0.5)", y).value_grad(s)
    gains = 2.0**y - 1.0
    d = np.argsort(-s)
    e = np.exp(-((s[:, None] - s[d][None, :]) ** 2) / sigma)
    z = as_measure("ndcg").bind(y, Groups.from_sizes([m])).norms[0]
    expected = np.zeros(m)
    for p in range(m):
        for j in range(m):
            total = e[:, j].sum()
            for i in range(m):
                change = e[p, j] * (s[p] - s[d[j]]) * (e[i, j] - (i == p) * total)
                change += (d[j] == p) * e[i, j] * (s[i] * total - e[:, j] @ s)
                slope = 2.0 / (sigma * total**2) * change
                expected[p] -= gains[i] / (math.log2(2.0 + j) * z) * slope
    np.testing.assert_allclose(grad, expected, rtol=1e-10, atol=1e-14)
    assert abs(grad.sum()) < 1e-14


def test_the_pair_form_of_average_precision_is_equation_9():
    """With the row itself counted once, as in equation 4: its own term of equation 9 is 1/2."""
    rng = np.random.default_rng(1)
    s, sigma = rng.normal(size=8), 0.4
    y = np.array([1, 0, 1, 0, 0, 1, 0, 2.0])
    relevant = y >= 1
    step = 1.0 / (1.0 + np.exp((s[:, None] - s[None, :]) / sigma))  # of row j before row i
    ranks = 0.5 + step.sum(axis=1)
    np.fill_diagonal(step, 1.0)
    expected = 1.0 - sum(step[i][relevant].sum() / ranks[i] for i in np.flatnonzero(relevant)) / 4
    found, _ = bind("smooth(ap, sigma=0.4, by=pairs)", y).value_grad(s)
    assert found == pytest.approx(expected, abs=1e-12)


def test_limits_of_sigma():
    """Section 5: towards 0 the measure, towards infinity a constant."""
    rng = np.random.default_rng(2)
    y, s = rng.integers(0, 3, 30).astype(float), rng.permutation(30) / 5.0
    groups = Groups.from_sizes([10, 20])
    for measure in ("ndcg@5", "ap", "rr", "err@3"):
        exact = as_measure(measure).bind(y, groups).mean(s)
        errors = [
            abs(
                1.0
                - bind(f"smooth({measure}, sigma={sigma!r})", y, [10, 20]).value_grad(s)[0]
                - exact
            )
            for sigma in (0.1, 0.01, 0.0001)
        ]
        assert errors[0] > errors[1] >= errors[2]
        assert errors[2] < 1e-12
    flat, grad = bind("smooth(ndcg, sigma=1e12)", y, [10, 20]).value_grad(s)
    evenly, _ = bind("smooth(ndcg, sigma=1)", y, [10, 20]).value_grad(np.zeros(30))
    assert flat == pytest.approx(evenly, abs=1e-9)
    assert np.abs(grad).max() < 1e-9


@given(st.integers(0, 10_000), st.integers(2, 20), st.floats(0.005, 1.0))
def test_section_5_1_bounds_the_error(seed, n, sigma):
    """h_ij is off by at most exp(-mu / sigma), and on the diagonal by n - 1 times that."""
    rng = np.random.default_rng(seed)
    s = rng.permutation(n) / 3.0 + 0.1 * rng.random(n)
    y = rng.integers(0, 3, n).astype(float)
    y[:2] = (0.0, 1.0)
    measure, groups = as_measure("ndcg"), Groups.from_sizes([n])
    ordered = np.sort(s)
    tail = math.exp(-(np.diff(ordered).min() ** 2) / sigma)
    gains, discounts = 2.0**y - 1.0, measure.discounts(np.arange(1.0, n + 1.0))
    exact = measure.bind(y, groups)
    error = abs(1.0 - bind(f"smooth(ndcg, sigma={sigma!r})", y).value_grad(s)[0] - exact.mean(s))
    ranked = gains[np.argsort(-s)] @ discounts  # the diagonal: row i at its own rank
    others = gains.sum() * discounts.sum() - ranked
    assert error <= tail * ((n - 1) * ranked + others) / exact.norms[0] + 1e-12


@pytest.mark.parametrize(
    "measure",
    [
        "ndcg",
        "ndcg@3",
        "success@2",
        "p@3",
        "ap",
        "ap@3",
        "rr",
        "err@5",
        "rbp",
        "ap, by=pairs",
    ],
)
@pytest.mark.parametrize("sigma", [2.0**-30, 1.0, 2.0**30])
def test_no_overflow_for_scores_of_any_scale(measure, sigma):
    y = np.array([0, 2, 1, 0, 1, 2, 0, 0.0])
    s = np.array([0.0, 1e-30, -1e-30, 1e-8, 1.0, -1.0, 1e8, -1e8])
    bound = bind(f"smooth({measure}, sigma={sigma!r})", y)
    for scores in (s, s[::-1].copy(), np.zeros(8)):
        value, grad = bound.value_grad(scores)
        assert -1e-12 <= value <= 1.0 + 1e-12
        assert np.isfinite(grad).all()


@pytest.mark.parametrize("k", ["", "@3"])
def test_tied_rows_share_the_derivative(k):
    """Rows with equal scores and labels are the same row: so are their derivatives."""
    s = np.array([0.5, 0.1, 0.5, 0.5, -0.2, 0.1])
    y = np.array([1, 0, 1, 1, 2, 0.0])
    bound = bind(f"smooth(ndcg{k}, sigma=0.3)", y)
    _, grad = bound.value_grad(s)
    assert grad[0] == pytest.approx(grad[2], abs=1e-15)
    assert grad[2] == pytest.approx(grad[3], abs=1e-15)
    assert grad[1] == pytest.approx(grad[5], abs=1e-15)
    together = np.array([[1, 0, 1, 1, 0, 0], [0, 1, 0, 0, 0, 1.0]])
    rough = oracles.fine_differences(lambda x: bound.value_grad(x)[0], s, together)
    np.testing.assert_allclose(together @ grad, rough, rtol=1e-8)


def test_many_rows_whose_exponentials_are_not_kept():
    """Above the memory kept per query the exponentials are computed a second time."""
    rng = np.random.default_rng(5)
    s, y = rng.permutation(600) / 100.0, rng.integers(0, 2, 600).astype(float)
    bound = bind("smooth(ndcg, sigma=0.2)", y)
    value, grad = bound.value_grad(s)
    assert value == pytest.approx(by_definition(as_measure("ndcg"), y, s, 0.2), abs=1e-12)
    direction = rng.normal(size=(1, 600))
    (rough,) = oracles.fine_differences(lambda x: bound.value_grad(x)[0], s, direction)
    assert float(direction[0] @ grad) == pytest.approx(rough, rel=1e-7)


def test_lemma_1_penalty_and_smoothing_are_one_parameter():
    """From w0 = 0: the minimum for (l2, sigma) is root c times that for (c l2, sigma / c)."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(120, 3))
    y = np.clip(np.round(X @ [1.0, -0.5, 0.2] + 0.5 * rng.normal(size=120)) + 1, 0, 3)
    data = rankopt.dataset(X, y, np.repeat(np.arange(12), 10))
    c, l2, sigma = 6.0, 0.02, 1.5

    def minimum(l2, sigma, start):
        loss = OBJECTIVES.build(f"smooth(ndcg, sigma={sigma!r})").bind(data.y, data.groups)
        problem = Problem(data, Linear(), loss, L2(l2))
        return problem, LBFGS(tol=1e-12).solve(problem, start, rng).params

    start = np.array([0.3, -0.1, 0.1])
    first, w = minimum(l2, sigma, start)
    second, v = minimum(c * l2, sigma / c, start / math.sqrt(c))
    np.testing.assert_allclose(w, math.sqrt(c) * v, rtol=1e-4)
    assert first.value_grad(w)[0] == pytest.approx(
        second.value_grad(w / math.sqrt(c))[0], abs=1e-13
    )


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("smooth(sigma=0)", SpecError, "sigma = 0 must be positive"),
        ("smooth(ap, by=rows)", SpecError, "unknown by 'rows'"),
        ("smooth(tau)", IncompatibleError, "concordance measures have no slopes"),
        ("smooth(ndcg@10, by=pairs)", IncompatibleError, r"by=pairs is for average precision"),
        ("smooth(ap@10, by=pairs)", IncompatibleError, r"not ap@10; use smooth\(ap@10\) or approx"),
    ],
)
def test_what_makes_no_sense_is_refused(text, error, words):
    with pytest.raises(error, match=words):
        OBJECTIVES.build(text)
