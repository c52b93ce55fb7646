"""Approx against its definition, the numbers of its paper and the bounds of its theorems."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import oracles

import rankopt
from rankopt.data.groups import Groups
from rankopt.errors import IncompatibleError, SpecError
from rankopt.measures import MEASURES, as_measure
from rankopt.objectives import OBJECTIVES

# Table 1 of the paper: scores, ranks, and soft ranks at alpha = 100.
SCORES = np.array([4.20074, 3.12378, 4.40918, 1.55258, 4.13330])
RANKS = [2, 4, 1, 5, 3]
SOFT_RANKS = [2.00118, 4.00000, 1.00000, 5.00000, 2.99882]

STEPS = {
    "logistic": lambda z: 1.0 / (1.0 + math.exp(-z)) if z > -700.0 else 0.0,
    "arctangent": lambda z: 0.5 + math.atan(z) / math.pi,
    "tanh": lambda z: 0.5 * (1.0 + math.tanh(z)),
    "erf": lambda z: 0.5 * math.erfc(-z),
}


def bind(text, y, sizes=None):
    y = np.asarray(y, float)
    return OBJECTIVES.build(text).bind(y, Groups.from_sizes([y.size] if sizes is None else sizes))


def by_definition(measure, y, s, alpha, beta, sigmoid):
    """One minus the soft measure of one query, in plain loops."""
    step, n = STEPS[sigmoid], len(y)
    if measure.name == "tau":
        pairs = [(i, j) for i in range(n) for j in range(n) if y[i] > y[j]]
        total = sum(2.0 * step(alpha * (s[i] - s[j])) - 1.0 for i, j in pairs)
        return 1.0 - total / len(pairs)
    r = [1.0 + sum(step(alpha * (s[j] - s[i])) for j in range(n) if j != i) for i in range(n)]
    g = measure.gains(np.asarray(y, float))
    d = measure.discounts(np.array(r))
    if measure.depth is not None:
        d = d * [step(beta * (measure.depth + 0.5 - rank)) for rank in r]
    total = 0.0
    for i in range(n):
        before = {j: step(beta * (r[i] - r[j])) for j in range(n) if j != i}
        if measure.form.name == "cumulative":
            total += g[i] * d[i] * (g[i] + sum(g[j] * b for j, b in before.items()))
        elif measure.form.name == "cascade":
            total += g[i] * d[i] * math.prod(1.0 - g[j] * b for j, b in before.items())
        else:
            total += g[i] * d[i]
    bound = measure.bind(np.asarray(y, float), Groups.from_sizes([n]))
    return 1.0 - total / bound.norms[0]


def test_soft_ranks_of_table_1():
    ranks, rows = bind("approx(ndcg, alpha=100)", [2, 1, 3, 1, 2]).ranks(SCORES)
    np.testing.assert_allclose(ranks, np.array(SOFT_RANKS)[rows], atol=5e-6)
    assert sorted(rows) == [0, 1, 2, 3, 4]


def test_bounds_that_the_paper_works_out_for_table_1():
    """Section 5: epsilon 0.00118 against 0.00471, NDCG within 0.00085, AP within 0.0024."""
    ranks, rows = bind("approx(ndcg, alpha=100)", [2, 1, 3, 1, 2]).ranks(SCORES)
    epsilon = np.abs(ranks - np.array(RANKS)[rows]).max()
    assert epsilon == pytest.approx(0.00118, abs=5e-6)
    assert 4.0 / (math.exp(0.06744 * 100) + 1.0) == pytest.approx(0.00471, abs=5e-6)
    assert epsilon / (2.0 * math.log(2.0)) == pytest.approx(0.00085, abs=5e-6)
    for row in range(5):
        y = np.eye(5)[row]
        exact = 1.0 / RANKS[row]
        approximate = 1.0 - bind("approx(ap, alpha=100, beta=100)", y).value_grad(SCORES)[0]
        assert abs(approximate - exact) < 0.0024
        ndcg = 1.0 - bind("approx(ndcg, alpha=100)", y).value_grad(SCORES)[0]
        assert abs(ndcg - 1.0 / math.log2(1 + RANKS[row])) < 0.00085


@pytest.mark.parametrize("sigmoid", list(STEPS))
@pytest.mark.parametrize(
    "measure",
    ["ndcg", "ndcg@3", "dcg@2", "p@2", "ap", "ap@3", "rr", "err@4", "success@2", "rbp", "tau"],
)
@pytest.mark.parametrize("scale", [0.3, 30.0])
def test_value_is_that_of_the_definition(measure, sigmoid, scale):
    rng = np.random.default_rng(len(measure))
    spec = MEASURES.build(measure)
    for _ in range(5):
        n = int(rng.integers(4, 20))
        y, s = rng.integers(0, 3, n), scale * rng.normal(size=n)
        y[:2] = (0, 2)
        text = f"approx({measure}, alpha=3, beta=2, sigmoid={sigmoid})"
        found, _ = bind(text, y).value_grad(s)
        assert found == pytest.approx(by_definition(spec, y, s, 3.0, 2.0, sigmoid), abs=1e-12)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-40, 40)), min_size=2, max_size=30),
    st.floats(0.5, 60.0),
)
def test_theorem_3_bounds_the_soft_ranks(rows, alpha):
    s = np.array(sorted({score for _, score in rows}), float) / 10.0
    n = s.size
    if n < 2:
        return
    ranks, order = bind(f"approx(ndcg, alpha={alpha!r})", np.arange(1.0, n + 1.0) % 3 + 1).ranks(s)
    if order.size == 0:  # all labels equal
        return
    exact = np.arange(n, 0, -1)[order]
    gap = np.array([np.abs(np.delete(s, i) - s[i]).min() for i in range(n)])[order]
    with np.errstate(over="ignore"):
        allowed = (n - 1.0) / (np.exp(alpha * gap) + 1.0)
    assert np.all(np.abs(ranks - exact) <= allowed * (1.0 + 1e-9) + 1e-13)


@given(st.integers(0, 10_000), st.integers(2, 25), st.floats(20.0, 200.0), st.floats(1.0, 50.0))
def test_theorems_5_and_6_bound_the_measures(seed, n, alpha, beta):
    rng = np.random.default_rng(seed)
    s = rng.permutation(n) / 5.0
    y = rng.integers(0, 3, n).astype(float)
    y[:2] = (0.0, 1.0)
    groups = Groups.from_sizes([n])
    soft = bind(f"approx(ndcg, alpha={alpha!r})", y)
    exact = (s[None, :] > s[:, None]).sum(axis=1) + 1
    # The theorems need the error of all rows: with labels from 1 on every row has a soft rank.
    everything, order = bind(f"approx(ndcg, alpha={alpha!r})", np.arange(n) % 2 + 1.0).ranks(s)
    epsilon = np.abs(everything - exact[order]).max()
    error = abs(1.0 - soft.value_grad(s)[0] - as_measure("ndcg").bind(y, groups).mean(s))
    assert error <= epsilon / (2.0 * math.log(2.0)) + 1e-12
    if epsilon < 0.5:
        ap = bind(f"approx(ap, alpha={alpha!r}, beta={beta!r})", y)
        error = abs(1.0 - ap.value_grad(s)[0] - as_measure("ap").bind(y, groups).mean(s))
        i = np.arange(1, int((y >= 1).sum()) + 1)
        allowed = np.sum(1.0 / (i - epsilon)) / (1.0 + math.exp(beta * (1.0 - 2.0 * epsilon)))
        allowed += 2.0 * epsilon * np.sum(1.0 / (i * (i - epsilon)))
        assert error <= allowed + 1e-12


@pytest.mark.parametrize("measure", ["ndcg@5", "ap@3", "rr", "err", "p@3", "tau"])
def test_the_value_nears_the_measure_as_it_grows_steeper(measure):
    rng = np.random.default_rng(3)
    y, s = rng.integers(0, 3, 40).astype(float), rng.permutation(40) / 40.0
    groups = Groups.from_sizes([15, 25])
    exact = as_measure(measure).bind(y, groups).mean(s)
    errors = [
        abs(
            1.0
            - bind(f"approx({measure}, alpha={a}, beta={a})", y, [15, 25]).value_grad(s)[0]
            - exact
        )
        for a in (10, 100, 1000, 10000)
    ]
    assert errors[0] > errors[1] >= errors[2]
    assert errors[3] < 1e-12


@pytest.mark.parametrize("sigmoid", list(STEPS))
@pytest.mark.parametrize(
    "measure",
    [
        "ndcg",
        "ndcg@3",
        "p@3",
        "recall@2",
        "ap",
        "ap@3",
        "rr",
        "rr@3",
        "err",
        "err@5",
        "rbp@3",
        "tau",
    ],
)
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e4])
def test_no_overflow_for_scores_of_any_scale(measure, sigmoid, alpha):
    y = np.array([0, 2, 1, 0, 1, 2, 0, 0.0])
    s = np.array([0.0, 1e-30, -1e-30, 1e-8, 1.0, -1.0, 1e8, -1e8])
    bound = bind(f"approx({measure}, alpha={alpha!r}, beta=10000, sigmoid={sigmoid})", y)
    for scores in (s, s[::-1].copy(), 1e150 * s):
        value, grad = bound.value_grad(scores)
        assert -1e-9 <= value <= 2.0
        assert np.isfinite(grad).all()


def test_exponentials_factorised_and_by_pairs_agree():
    """Where the span of the scores crosses from one way of computing to the other."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 30).astype(float)
    s = rng.normal(size=30)
    s[:2] = 0.0, 693.0 / 10.0
    near, near_grad = bind("approx(ndcg, alpha=10)", y).value_grad(s)
    s[1] = 694.0 / 10.0
    far, far_grad = bind("approx(ndcg, alpha=10)", y).value_grad(s)
    assert far == pytest.approx(near, rel=1e-13)
    np.testing.assert_allclose(far_grad, near_grad, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("size", [2, 7, 8, 9, 16, 17, 130])
def test_every_length_of_query(size):
    """Vectors of eight rows: lengths around their multiples, between queries of other lengths."""
    rng = np.random.default_rng(size)
    sizes = [3, size, 5]
    y = rng.integers(0, 3, sum(sizes)).astype(float)
    y[:3], y[3:5], y[-2:] = (0, 1, 2), (0, 1), (0, 1)
    s = rng.normal(size=y.size)
    spec, edges = as_measure("ndcg"), np.concatenate(([0], np.cumsum(sizes)))
    expected = np.mean(
        [by_definition(spec, y[a:b], s[a:b], 2.0, 1.0, "logistic") for a, b in pairwise(edges)]
    )
    bound = bind("approx(ndcg, alpha=2)", y, sizes)
    value, grad = bound.value_grad(s)
    assert value == pytest.approx(expected, abs=1e-13)
    direction = rng.normal(size=(1, s.size))
    (rough,) = oracles.fine_differences(lambda x: bound.value_grad(x)[0], s, direction)
    assert float(direction[0] @ grad) == pytest.approx(rough, rel=1e-7)


def test_estimates_are_the_losses_of_the_queries():
    y, s = [0, 1, 2, 0, 0, 1, 1], np.arange(7.0)
    for text in ("approx(ndcg)", "approx(tau)", "approx(ap)"):
        bound = bind(text, y, [3, 2, 2])
        assert np.mean(bound.estimates(s)) == pytest.approx(bound.value_grad(s)[0], abs=1e-15)


def test_cooling_keeps_precedence_at_least_as_sharp():
    bound = bind("approx(ap, alpha=1, beta=7)", [0, 1, 2])
    assert (bound.cooled(0.5).spec.alpha, bound.cooled(0.5).spec.beta) == (2.0, 7.0)
    assert (bound.cooled(0.05).spec.alpha, bound.cooled(0.05).spec.beta) == (20.0, 20.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("approx(alpha=0)", "alpha = 0 must be positive"),
        ("approx(ap, beta=inf)", "beta = inf must be positive and finite"),
        ("approx(sigmoid=step)", "unknown sigmoid 'step'"),
        ("approx(ndgc)", "did you mean 'ndcg'"),
    ],
)
def test_parameters_without_sense_are_refused(text, words):
    with pytest.raises(SpecError, match=words):
        OBJECTIVES.build(text)


def test_a_measure_without_soft_form_is_refused():
    with pytest.raises(IncompatibleError, match="averaged measures have no softs"):
        OBJECTIVES.build("approx(mean-ndcg)")


def test_public_value_grad_takes_any_row_order():
    qid = np.array(["b", "a", "b", "a", "b"])
    y, s = np.array([1, 0, 0, 1, 2]), np.array([0.1, 0.2, 0.3, 0.1, 0.0])
    value, grad = rankopt.value_grad("approx(ndcg, alpha=2)", s, y, qid, query_weight=[1, 3])
    parts = {q: rankopt.value_grad("approx(ndcg, alpha=2)", s[qid == q], y[qid == q]) for q in "ab"}
    assert value == pytest.approx((parts["b"][0] + 3 * parts["a"][0]) / 4)
    np.testing.assert_allclose(grad[qid == "a"], parts["a"][1] * 0.75, rtol=1e-12)
    np.testing.assert_allclose(grad[qid == "b"], parts["b"][1] * 0.25, rtol=1e-12)
