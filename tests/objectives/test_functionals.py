"""The losses of the paper on rank functionals, from their definitions: sums over pairs, permutations
and labellings, in plain Python.
"""

import math
from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracles

import rankopt
from rankopt.data.groups import Groups
from rankopt.errors import DataError, SpecError
from rankopt.objectives import OBJECTIVES
from rankopt.objectives.choices import GROUPS
from rankopt.objectives.weighting import ELEMENTS, PAIRS

LOSSES = {
    "logistic": lambda u: math.log1p(math.exp(-u)),
    "hinge": lambda u: max(0.0, 1.0 - u),
    "quadratic": lambda u: (1.0 - u) ** 2,
    "exponential": lambda u: math.exp(-u),
}
CHOICES = ["plackett-luce", "reverse-plackett-luce"]
TOP = 4


def mean_over_orders(y, value):
    """The mean of a value per rank over all orders by grade, for each row."""
    out = []
    for grade in y:
        first = sum(g > grade for g in y)
        ranks = range(first + 1, first + 1 + sum(g == grade for g in y))
        out.append(sum(map(value, ranks)) / len(ranks))
    return out


def element_weights(name, y):
    return {
        "none": [1.0] * len(y),
        "grade": list(y),
        "root-grade": [math.sqrt(g) for g in y],
        "gain": [(2.0**g - 1) / (2 ** (TOP + 1) - 1) for g in y],
        "inverse-rank": mean_over_orders(y, lambda r: 1.0 / r),
        "inverse-log-rank": mean_over_orders(y, lambda r: 1.0 / math.log2(1 + r)),
    }[name]


def pair_weight(name, y, i, j):
    n = len(y)
    if name.endswith("-normalised"):
        return pair_weight(name.removesuffix("-normalised"), y, i, j) / n
    gain = [(2.0**g - 1) / (2 ** (TOP + 1) - 1) for g in y]
    eta = mean_over_orders(y, lambda r: 1.0 / math.log2(1 + r))
    both = (gain[i] - gain[j]) * (eta[i] - eta[j])
    ideal = sum(g * e for g, e in zip(gain, eta, strict=True)) or 1.0
    return {
        "none": 1.0,
        "inverse-size": 1.0 / n,
        "grade-difference": abs(y[i] - y[j]),
        "gain-difference": abs(gain[i] - gain[j]),
        "gain-discount-difference": both,
        "max-ndcg": both / ideal,
    }[name]


def pooled(how, y, s):
    """Grades in descending order, and one score for each."""
    grades = sorted(set(y), reverse=True)
    scores = []
    for grade in grades:
        rows = [x for x, g in zip(s, y, strict=True) if g == grade]
        mean = sum(rows) / len(rows)
        powers = math.log(sum(map(math.exp, rows)) / len(rows))
        pools = {"min": min(rows), "max": max(rows), "arithmetic": mean, "geometric": powers}
        scores.append(pools[how])
    return grades, scores


def luce(y, s, weights, reverse):
    """Choices from the rows of the same grade or a worse one; the last grade is not chosen."""
    if reverse:
        return luce([-g for g in y], [-x for x in s], weights, False)
    loss = 0.0
    for i, w in enumerate(weights):
        if y[i] > min(y):
            mass = sum(math.exp(s[j] - s[i]) for j in range(len(y)) if y[j] <= y[i])
            loss += w * math.log(mass)
    return loss


def by_definition(name, y, s, *, weight="none", group=None, loss="logistic", coupling=None):
    """The loss of one query."""
    n = len(y)
    pairs = [(i, j) for i in range(n) for j in range(n) if y[i] > y[j]]
    if name == "pairwise":
        return sum(pair_weight(weight, y, i, j) * LOSSES[loss](s[i] - s[j]) for i, j in pairs)
    if group is not None:
        y, s = pooled(group, y, s)
    if name == "multiclass":
        best = [i for i in range(len(y)) if y[i] == max(y)] if max(y) > min(y) else []
        terms = [math.log(sum(math.exp(x - s[i]) for x in s)) for i in best]
        return sum(terms) / max(len(best), 1)
    if name in CHOICES:
        return luce(y, s, element_weights(weight, y), name.startswith("reverse"))
    gamma = 2.0 / (n * (n - 1)) if coupling is None else coupling

    def psi(i, j, a, b):
        return math.exp(gamma * np.sign(a - b) * (s[i] - s[j]))

    if name == "pair-upper-bound":
        total = 0.0
        for i in range(n):
            for j in range(i + 1, n):
                mass = sum(psi(i, j, a, b) for a, b in product(range(TOP + 1), repeat=2))
                total -= pair_weight(weight, y, i, j) * math.log(psi(i, j, y[i], y[j]) / mass)
        return total
    weights = element_weights(weight, y)
    total = 0.0
    for i in range(n):
        local = [math.prod(psi(i, j, a, y[j]) for j in range(n) if j != i) for a in range(TOP + 1)]
        total -= weights[i] * math.log(local[int(y[i])] / sum(local))
    return total


def combinations():
    """Every loss with every weight and every group functional."""
    for loss, weight in product(LOSSES, PAIRS):
        yield "pairwise", {"loss": loss, "weight": weight}
    for name, weight, group in product(CHOICES, ELEMENTS, [None, *GROUPS]):
        yield name, {"weight": weight, "group": group}
    for group in [None, *GROUPS]:
        yield "multiclass", {"group": group}
    for weight, coupling in product(ELEMENTS, [None, 0.7]):
        yield "pseudo-likelihood", {"weight": weight, "coupling": coupling}
    for weight, coupling in product(PAIRS, [None, 0.7]):
        yield "pair-upper-bound", {"weight": weight, "coupling": coupling}


def text_of(name, options):
    given = ", ".join(f"{k}={v}" for k, v in options.items() if v is not None)
    return f"{name}({given})"


every = pytest.mark.parametrize(
    ("name", "options"), list(combinations()), ids=lambda x: x if isinstance(x, str) else str(x)
)


@every
def test_equals_its_definition_and_its_gradient_the_differences(name, options):
    rng = np.random.default_rng(len(str(options)))
    sizes = [5, 2, 7]
    y = rng.integers(0, TOP + 1, sum(sizes)).astype(float)
    y[:2] = 3.0, 0.0
    s = rng.normal(size=y.size) * 1.5
    edges = np.concatenate(([0], np.cumsum(sizes)))
    expected = np.mean(
        [
            by_definition(name, y[a:b].tolist(), s[a:b].tolist(), **options)
            for a, b in pairwise(edges)
        ]
    )
    bound = OBJECTIVES.build(text_of(name, options)).bind(y, Groups.from_sizes(sizes))
    value, grad = bound.value_grad(s)
    assert value == pytest.approx(expected, rel=1e-10)
    rough = oracles.fine_differences(lambda x: bound.value_grad(x)[0], s, np.eye(s.size))
    np.testing.assert_allclose(grad, rough, rtol=1e-6, atol=1e-9)
    curvature = bound.curvature(s)
    assert (curvature is None) == (options.get("loss") == "hinge" or bool(options.get("group")))
    if curvature is not None:
        step = 1e-5
        for i in range(s.size):
            there, back = s.copy(), s.copy()
            there[i] += step
            back[i] -= step
            bend = (bound.value_grad(there)[1][i] - bound.value_grad(back)[1][i]) / (2 * step)
            assert curvature[i] == pytest.approx(bend, rel=1e-5, abs=1e-8)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-8, 8)), min_size=1, max_size=12),
    st.sampled_from(["hinge", "quadratic", "exponential", "logistic"]),
    st.sampled_from(PAIRS),
)
def test_sorted_and_summed_kernels_equal_the_sum_over_pairs(rows, loss, weight):
    """Ties of scores and of grades, and margins of exactly 1."""
    y = [float(grade) for grade, _ in rows]
    s = [score / 4.0 for _, score in rows]
    value, grad = rankopt.value_grad(f"pairwise({loss}, weight={weight})", s, y)
    expected = by_definition("pairwise", y, s, loss=loss, weight=weight)
    assert value == pytest.approx(expected, rel=1e-11, abs=1e-12)
    slopes = {
        "logistic": lambda u: -1.0 / (1.0 + math.exp(u)),
        "hinge": lambda u: -1.0 if u < 1.0 else 0.0,
        "quadratic": lambda u: -2.0 * (1.0 - u),
        "exponential": lambda u: -math.exp(-u),
    }
    wanted = np.zeros(len(y))
    for i, j in product(range(len(y)), repeat=2):
        if y[i] > y[j]:
            slope = pair_weight(weight, y, i, j) * slopes[loss](s[i] - s[j])
            wanted[i] += slope
            wanted[j] -= slope
    np.testing.assert_allclose(grad, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("m", range(1, 7))
def test_probabilities_of_all_orders_add_up_to_one(name, m):
    s = np.random.default_rng(m).normal(size=m) * 2.0
    total = 0.0
    for order in permutations(range(m)):
        loss, _ = rankopt.value_grad(name, s, np.array(order, float))
        total += math.exp(-loss)
    assert total == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("coupling", [None, 1.0])
@pytest.mark.parametrize(("m", "top"), [(2, 1), (3, 2), (4, 2), (5, 1), (3, 4)])
def test_upper_bound_holds_against_the_exact_partition_function(m, top, coupling):
    rng = np.random.default_rng(m)
    gamma = 2.0 / (m * (m - 1)) if coupling is None else coupling
    for _ in range(5):
        s = rng.normal(size=m) * 3.0
        pairs = [(i, j) for i in range(m) for j in range(i)]

        def power(r, s=s, pairs=pairs):
            return math.exp(gamma * sum(np.sign(r[i] - r[j]) * (s[i] - s[j]) for i, j in pairs))

        partition = sum(power(r) for r in product(range(top + 1), repeat=m))
        for r in product(range(top + 1), repeat=m):
            text = f"pair-upper-bound(max_grade={top}, coupling={gamma!r})"
            bound, _ = rankopt.value_grad(text, s, np.array(r, float))
            exact = -math.log(power(r) / partition)
            assert exact <= bound + (m - 2) * math.log(top + 1) + 1e-12
            if m == 2:  # one pair: the bound is the loss itself
                assert exact == pytest.approx(bound, rel=1e-10)


@pytest.mark.parametrize(
    "text", ["pairwise(logistic)", "pairwise(exponential)", *CHOICES, "multiclass"]
)
def test_far_scores_take_the_same_values(text):
    """At the distance where the kernels change their way of adding up."""
    y = np.array([2.0, 1.0, 0.0, 1.0])
    s = np.array([0.0, 100.0, 299.0, 150.0])
    ends = []
    for stretch in (0.999, 1.001):
        for far in (1.0, 499.0 / 299.0):
            value, grad = rankopt.value_grad(text, s * stretch * far, y)
            x = (s * stretch * far).tolist()
            if max(x) < 500.0 or "exponential" not in text:
                loss = "exponential" if "exponential" in text else "logistic"
                expected = by_definition(text.split("(")[0], y.tolist(), x, loss=loss)
                assert value == pytest.approx(expected, rel=1e-10)
            assert np.isfinite(grad).all()
            ends.append(value)
    assert all(np.isfinite(ends))


def test_equal_grades_add_nothing_to_choices():
    for text in [*CHOICES, "multiclass", "plackett-luce(group=max)", "pairwise(hinge)"]:
        value, grad = rankopt.value_grad(text, [0.3, -1.0, 2.0], [2, 2, 2])
        assert value == 0.0
        assert not grad.any()


def test_bad_settings_and_labels_are_refused():
    for text, words in {
        "pairwise(squared)": "unknown loss",
        "pairwise(weight=grade)": "unknown weight 'grade'",
        "plackett-luce(weight=inverse-size)": "unknown weight",
        "multiclass(group=median)": "unknown group",
        "pseudo-likelihood(coupling=-1)": "coupling",
        "pair-upper-bound(max_grade=0)": "max_grade",
    }.items():
        with pytest.raises(SpecError, match=words):
            OBJECTIVES.build(text)
    with pytest.raises(DataError, match="query 0 has label 7"):
        rankopt.value_grad("pseudo-likelihood", [0.0, 1.0], [0, 7])
    with pytest.raises(DataError, match="label -1"):
        rankopt.value_grad("pairwise(weight=gain-difference)", [0.0, 1.0], [0, -1])
