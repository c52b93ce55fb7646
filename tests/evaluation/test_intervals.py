"""The tests and intervals against enumeration, SciPy and their definitions."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankopt.errors import SpecError
from rankopt.evaluation.intervals import bootstrap_interval, holm, p_value

small = st.lists(st.integers(-6, 6).map(lambda v: v / 4), min_size=1, max_size=9)


@given(small)
def test_exact_randomisation_equals_enumeration_of_signs(differences):
    differences = np.array(differences)
    observed = abs(differences.sum())
    sums = [
        abs(np.dot(signs, differences))
        for signs in itertools.product((-1, 1), repeat=differences.size)
    ]
    expected = np.mean([s >= observed - 1e-9 for s in sums])
    assert p_value(differences, "randomisation", np.random.default_rng(0)) == pytest.approx(
        expected
    )


def test_random_signs_agree_with_the_exact_distribution():
    rng = np.random.default_rng(1)
    differences = rng.normal(0.4, 1.0, size=18)
    signs = np.array(list(itertools.product((-1, 1), repeat=18)), dtype=np.int8)
    exact = np.mean(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9)
    estimate = p_value(differences, "randomisation", np.random.default_rng(2))
    assert estimate == pytest.approx(exact, abs=4 * np.sqrt(exact / 20_000))


def test_random_signs_never_say_zero():
    differences = np.ones(200)
    assert 0 < p_value(differences, "randomisation", np.random.default_rng(0)) < 1e-3


def test_t_and_wilcoxon_equal_scipy():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=40), rng.normal(0.3, 1.0, size=40)
    assert p_value(b - a, "t", rng) == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-9)
    assert p_value(b - a, "wilcoxon", rng) == pytest.approx(stats.wilcoxon(b, a).pvalue, rel=1e-9)


@pytest.mark.parametrize("test", ["randomisation", "t", "wilcoxon"])
def test_no_difference_is_no_evidence(test):
    assert p_value(np.zeros(30), test, np.random.default_rng(0)) == 1.0


def test_unknown_test_is_named():
    with pytest.raises(SpecError, match="unknown test 'anova'"):
        p_value(np.ones(3), "anova", np.random.default_rng(0))


def test_bootstrap_interval_covers_as_it_says():
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(200):
        sample = rng.exponential(size=60)
        lo, hi = bootstrap_interval(sample, rng, rounds=400)
        covered += lo <= 1.0 <= hi
    assert (
        0.86 < covered / 200 < 0.99
    )  # 95 % nominal; the percentile interval of 60 draws falls a bit short


def test_weighted_bootstrap_ignores_queries_without_weight():
    values, weights = np.array([0.2, 0.4, 100.0]), np.array([1.0, 1.0, 0.0])
    lo, hi = bootstrap_interval(values, np.random.default_rng(5), weights, rounds=2000)
    assert 0.0 <= lo <= hi <= 0.4 + 1e-12


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_equals_its_definition(p_values):
    p = np.array(p_values)
    order = np.argsort(p)
    expected = np.empty(p.size)
    for i, place in enumerate(order):
        expected[place] = min(1.0, max((p.size - j) * p[order[j]] for j in range(i + 1)))
    np.testing.assert_allclose(holm(p), expected)
