"""The losses of the baselines against their definitions, pair by pair and row by row."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax, softmax
from scipy.stats import norm

import rankopt
from rankopt.data.groups import Groups
from rankopt.measures import NDCG
from rankopt.objectives import SquaredHinge

scores_and_labels = st.lists(
    st.tuples(st.sampled_from([-2.0, -1.0, -0.3, 0.0, 0.25, 0.5, 1.0, 7.0]), st.integers(0, 6)),
    min_size=1,
    max_size=25,
)


def hinge_by_pairs(s, y):
    value, grad, pairs = 0.0, np.zeros(len(s)), 0
    for i in range(len(s)):
        for j in range(len(s)):
            if y[i] > y[j]:
                gap = max(0.0, 1.0 - (s[i] - s[j]))
                value += gap**2
                grad[i] -= 2.0 * gap
                grad[j] += 2.0 * gap
                pairs += 1
    return value, grad, pairs


@settings(max_examples=150, deadline=None)
@given(scores_and_labels, scores_and_labels)
def test_squared_hinge_is_the_sum_over_pairs(first, second):
    s, y = np.array(first + second, dtype=float).T
    qid = [0] * len(first) + [1] * len(second)
    parts = [hinge_by_pairs(s[: len(first)], y[: len(first)])]
    parts.append(hinge_by_pairs(s[len(first) :], y[len(first) :]))
    pairs = max(parts[0][2] + parts[1][2], 1)
    value, grad = rankopt.value_grad("squared-hinge", s, y, qid)
    assert value == pytest.approx(sum(v for v, _, _ in parts) / pairs, abs=1e-12)
    np.testing.assert_allclose(grad, np.concatenate([g for _, g, _ in parts]) / pairs, atol=1e-12)
    value, grad = rankopt.value_grad("squared-hinge(over=queries)", s, y, qid)
    assert value == pytest.approx(np.mean([v / max(n, 1) for v, _, n in parts]), abs=1e-12)
    expected = np.concatenate([g / max(n, 1) for _, g, n in parts]) / 2
    np.testing.assert_allclose(grad, expected, atol=1e-12)


def test_squared_hinge_of_scores_far_from_zero():
    s, y = np.array([0.5, 0.0, -0.25]), np.array([0.0, 2.0, 1.0])
    near = rankopt.value_grad("squared-hinge", s, y)
    far = rankopt.value_grad("squared-hinge", s + 2.0**30, y)
    assert far[0] == pytest.approx(near[0], rel=1e-6)
    np.testing.assert_allclose(far[1], near[1], rtol=1e-6)


def test_listnet_is_the_cross_entropy_of_the_first_rank():
    rng = np.random.default_rng(0)
    s, y = rng.normal(size=7), rng.integers(0, 3, 7).astype(float)
    value, grad = rankopt.value_grad("listnet", s, y)
    assert value == pytest.approx(-softmax(y) @ log_softmax(s))
    np.testing.assert_allclose(grad, softmax(s) - softmax(y), atol=1e-14)
    gains = 2.0**y - 1.0
    value, grad = rankopt.value_grad("listnet(target=gains)", s, y)
    assert value == pytest.approx(-gains @ log_softmax(s) / gains.sum())
    np.testing.assert_allclose(grad, softmax(s) - gains / gains.sum(), atol=1e-14)


def test_softmax_loss_of_a_query_without_gains_is_nothing():
    value, grad = rankopt.value_grad("listnet(target=gains)", [1.0, 2.0], [0, 0])
    assert value == 0.0
    assert not grad.any()


def test_cosine_and_its_consistent_form():
    rng = np.random.default_rng(1)
    s, y = rng.normal(size=6), np.array([0.0, 1, 2, 0, 1, 0])
    g = 2.0**y - 1.0
    cosine = s @ g / np.linalg.norm(s)
    assert rankopt.value_grad("cosine", s, y)[0] == pytest.approx(
        0.5 * (1.0 - cosine / np.linalg.norm(g))
    )
    ideal = NDCG().bind(y, Groups.from_sizes([6])).ideal[0]
    assert rankopt.value_grad("cosine(norm=dcg)", s, y)[0] == pytest.approx(
        0.5 * (1 - cosine / ideal)
    )


def test_cosine_depends_on_the_direction_alone():
    s, y = np.array([0.3, -1.0, 2.0]), [0, 1, 2]
    value, grad = rankopt.value_grad("cosine", s, y)
    assert grad @ s == pytest.approx(0.0, abs=1e-15)
    assert rankopt.value_grad("cosine", 1e200 * s, y)[0] == pytest.approx(value)
    still, slope = rankopt.value_grad("cosine", 0.0 * s, y)
    assert still == 0.5
    assert not slope.any()


def test_squared_is_the_mean_over_rows():
    y, s = np.array([0.0, 2, 1, 0, 0]), np.array([0.0, 1, 1, 3, -1])
    value, grad = rankopt.value_grad("squared", s, y, [0, 0, 1, 1, 1])
    away = s - (2.0**y - 1.0)
    assert value == pytest.approx(np.mean(away**2))
    np.testing.assert_allclose(grad, 2.0 * away / 5)


def test_balanced_squares_count_both_kinds_alike():
    y, s = np.array([0.0, 2, 1, 0, 0]), np.array([0.0, 1, 1, 3, -1])
    away = (s - (2.0**y - 1.0)) ** 2
    value, _ = rankopt.value_grad("squared(balanced=true)", s, y, [0, 0, 1, 1, 1])
    assert value == pytest.approx(0.5 * away[y > 0].mean() + 0.5 * away[y == 0].mean())


@pytest.mark.parametrize(
    "text", ["squared-hinge(over=rows)", "listnet(target=x)", "cosine(norm=x)"]
)
def test_unknown_settings_are_named(text):
    with pytest.raises(rankopt.errors.SpecError, match="unknown"):
        rankopt.value_grad(text, [0.0, 1.0], [0, 1])


def test_pairs_are_counted_by_label():
    bound = SquaredHinge("queries").bind(np.array([0.0, 0, 1, 2, 2]), Groups.from_sizes([5]))
    assert bound.factors.tolist() == [1.0 / 8.0]


def expected_by_trials(s, y, sigma, k):
    """The expected NDCG when every row loses against each other one by an independent trial."""
    bound = NDCG(k).bind(y, Groups.from_sizes([len(s)]))
    value = 0.0
    for j in range(len(s)):
        others = [i for i in range(len(s)) if i != j]
        beaten = norm.cdf((s[others] - s[j]) / (sigma * np.sqrt(2.0)))
        for outcome in product((0, 1), repeat=len(others)):
            chance = np.prod(np.where(outcome, beaten, 1.0 - beaten))
            rank = sum(outcome)
            value += (
                chance * bound.gains[j] * (bound.table[rank] if rank < bound.table.size else 0.0)
            )
    return value / bound.norms[0]


@pytest.mark.parametrize("k", [None, 3, 1])
def test_softrank_is_the_expectation_over_independent_trials(k):
    rng = np.random.default_rng(2)
    for sigma in (0.05, 0.5, 2.0):
        s, y = rng.normal(size=6), np.array([0.0, 2, 1, 0, 1, 0])
        measure = "ndcg" if k is None else f"ndcg@{k}"
        value, _ = rankopt.value_grad(f"softrank({measure}, sigma={sigma})", s, y)
        assert 1.0 - value == pytest.approx(expected_by_trials(s, y, sigma, k), abs=1e-13)


def test_softrank_at_expected_ranks():
    s, y, sigma = np.array([0.3, 0.1, -0.4, 0.2]), np.array([0.0, 2, 0, 1]), 0.3
    beaten = norm.cdf((s[None, :] - s[:, None]) / (sigma * np.sqrt(2.0)))
    ranks = 0.5 + beaten.sum(axis=1)
    bound = NDCG().bind(y, Groups.from_sizes([4]))
    expected = (bound.gains / np.log2(1.0 + ranks)).sum() / bound.norms[0]
    value, _ = rankopt.value_grad(f"softrank(ndcg, sigma={sigma}, by=expectation)", s, y)
    assert 1.0 - value == pytest.approx(expected, abs=1e-12)


def test_softrank_takes_positional_measures_alone():
    with pytest.raises(rankopt.errors.IncompatibleError, match="positional"):
        rankopt.value_grad("softrank(ap)", [0.0, 1.0], [0, 1])
