"""The likelihood point against the Plackett-Luce likelihood written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import rankopt
from rankopt.measures import as_measure
from rankopt.search.interior import Likelihood


def problem(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 8, size=5)
    y = rng.integers(0, 3, sizes.sum())
    y[0] = 2
    data = rankopt.dataset(np.zeros((y.size, 1)), y, np.repeat(np.arange(5), sizes))
    return data, rng.normal(size=y.size), rng.normal(size=y.size)


def log_likelihood(data, k, present, scores):
    """The definition, query by query and choice by choice."""
    total = 0.0
    for q in range(data.groups.n_queries):
        rows = list(range(data.groups.offsets[q], data.groups.offsets[q + 1]))
        rows.sort(key=lambda i: (-data.y[i], -present[i]))
        top = min(k, sum(data.y[i] > 0 for i in rows))
        for j in range(top):
            total += scores[rows[j]] - np.log(np.sum(np.exp(scores[rows[j:]])))
    return total


@settings(max_examples=50)
@given(st.integers(0, 10_000), st.floats(-2, 2))
def test_the_slope_is_the_derivative_of_the_likelihood(seed, t):
    data, scores, direction = problem(seed)
    like = Likelihood.of(as_measure("ndcg@3").bind(data.y, data.groups))
    h = 1e-6
    expected = (
        log_likelihood(data, 3, scores, scores + (t + h) * direction)
        - log_likelihood(data, 3, scores, scores + (t - h) * direction)
    ) / (2 * h)
    assert like.slope(like.ideal(scores), scores, direction, t) == pytest.approx(
        expected, rel=1e-5, abs=1e-6
    )


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from([1.0, 1e3]))
def test_the_value_is_the_likelihood_written_out(seed, scale):
    data, scores, _ = problem(seed)
    like = Likelihood.of(as_measure("ndcg@3").bind(data.y, data.groups))
    with np.errstate(all="ignore"):
        expected = log_likelihood(data, 3, scores, scale * scores)
    found = like.value(scale * scores)
    assert found <= 0.0
    if np.isfinite(expected):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_the_point_is_the_most_likely_of_the_interval_less_its_margins(seed):
    data, scores, direction = problem(seed)
    like = Likelihood.of(as_measure("ndcg@3").bind(data.y, data.groups))
    lo, hi = -0.7, 1.3
    found = like.point(scores, direction, lo, hi, beta=1.0)
    best = minimize_scalar(
        lambda t: -log_likelihood(data, 3, scores, scores + t * direction),
        bounds=(lo + 0.1 * (hi - lo), hi - 0.1 * (hi - lo)), method="bounded", options={"xatol": 1e-9},
    )  # fmt: skip
    at = log_likelihood(data, 3, scores, scores + found * direction)
    assert at >= -best.fun - 1e-7
    assert lo < found < hi


def test_extreme_scores_do_not_overflow():
    data, scores, direction = problem(1)
    like = Likelihood.of(as_measure("ndcg@3").bind(data.y, data.groups))
    point = like.point(1e8 * scores, 1e-30 * direction, 0.0, np.inf, beta=like.scale(1e8 * scores))
    assert np.isfinite(point)
    assert point > 0.0
    assert like.point(scores, direction, -np.inf, np.inf, 1.0) is None
