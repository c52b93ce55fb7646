"""Contracts of every registered objective: a new objective is tested by being registered.

The oracles are finite differences and the measures themselves.
"""

import inspect
import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from numba import config
from tests import oracles

import rankopt
from rankopt import threads
from rankopt.data.groups import Groups
from rankopt.errors import IncompatibleError, SpecError
from rankopt.measures import MEASURES
from rankopt.objectives import OBJECTIVES, Sloped, Stepped

SIMPLE = bool(config.DISABLE_JIT)  # kernels run as Python: fewer repetitions
MEASURE_TEXTS = [
    "ndcg", "ndcg@3", "ndcg(discount=letor)@10", "dcg(gain=linear)@4", "p@3", "p(denominator=rows)@3",
    "recall@2", "ap", "ap@3", "ap(denominator=relevant)@3", "rr", "rr@3", "err", "err@3", "success@2",
    "rbp(p=0.7)", "rbp@3", "tau", "mean-ndcg",
]  # fmt: skip
# Settings that differ in more than the measure; each is tried with every measure it takes.
EXTRA = {
    "approx": [
        "approx(alpha=3, beta=2)",
        "approx(sigmoid=arctangent)",
        "approx(sigmoid=tanh)",
        "approx(sigmoid=erf)",
    ],
    "pairwise": [
        "pairwise(hinge)",
        "pairwise(quadratic, weight=inverse-size)",
        "pairwise(exponential, weight=gain-difference-normalised)",
        "pairwise(weight=gain-discount-difference)",
    ],
    "plackett-luce": [
        "plackett-luce(weight=inverse-rank)",
        "plackett-luce(weight=gain, group=max)",
        "plackett-luce(group=geometric)",
    ],
    "reverse-plackett-luce": [
        "reverse-plackett-luce(weight=inverse-log-rank)",
        "reverse-plackett-luce(group=min)",
    ],
    "multiclass": ["multiclass(group=arithmetic)"],
    "pseudo-likelihood": ["pseudo-likelihood(weight=root-grade, coupling=0.5)"],
    "pair-upper-bound": ["pair-upper-bound(weight=max-ndcg-normalised, coupling=0.5)"],
    "cosine": ["cosine(norm=dcg)", "cosine(gain=linear)"],
    "listnet": ["listnet(target=gains)"],
    "softrank": ["softrank(sigma=0.2)", "softrank(sigma=0.3, by=expectation)"],
    "squared": ["squared(balanced=true)", "squared(gain=linear, centred=true)"],
    "squared-hinge": ["squared-hinge(over=queries)"],
    "smooth": ["smooth(sigma=0.05)", "smooth(ap, by=pairs)", "smooth(ap, by=pairs, sigma=0.2)"],
}


def settings():
    """Every objective with every measure it takes, as text."""
    texts = []
    for name in OBJECTIVES:
        for text in [name, *EXTRA.get(name, [])]:
            spec = OBJECTIVES.build(text)
            texts.append(str(spec))
            if not any(field.name == "measure" for field in fields(spec)):
                continue
            for measure in MEASURE_TEXTS:
                try:
                    changed = replace(spec, measure=MEASURES.build(measure))
                except IncompatibleError:
                    continue
                texts.append(str(changed))
    return list(dict.fromkeys(texts))


SETTINGS = settings()


def bind(text, y, sizes, weights=None):
    return OBJECTIVES.build(text).bind(np.asarray(y, float), Groups.from_sizes(sizes), weights)


def of_kind(kind):
    return [text for text in SETTINGS if isinstance(bind(text, [0, 1, 2], [3]), kind)]


SLOPED = of_kind(Sloped)
every_setting = pytest.mark.parametrize("text", SETTINGS)
every_sloped = pytest.mark.parametrize("text", SLOPED)
every_stepped = pytest.mark.parametrize("text", of_kind(Stepped))
every_convex = pytest.mark.parametrize(
    "text", [text for text in SLOPED if bind(text, [0, 1, 2], [3]).convex]
)
made_of_a_measure = pytest.mark.parametrize(
    "text",
    [t for t in SLOPED if "measure" in {field.name for field in fields(OBJECTIVES.build(t))}],
)


def has_a_temperature(text):
    try:
        bind(text, [0, 1, 2], [3]).cooled(1.0)
    except IncompatibleError:
        return False
    return True


every_annealable = pytest.mark.parametrize("text", list(filter(has_a_temperature, SLOPED)))


def problem(seed, sizes=(5, 1, 4, 9, 2, 3), top=3, blank=2, flat=5):
    """Labels of a few queries, one of one row, one without a relevant row, one of equal labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, top, sum(sizes)).astype(float)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    if blank is not None:
        y[offsets[blank] : offsets[blank + 1]] = 0.0
        y[offsets[flat] : offsets[flat + 1]] = 1.0
        y[0], y[offsets[3]] = 2.0, 2.0
    return y, np.array(sizes), 0.3 * rng.normal(size=y.size)


def close(found, expected, text, relative=1e-6):
    """Up to the rounding of values of about 1, divided by the step of the differences."""
    error = np.abs(found - expected).max()
    assert error <= relative * np.abs(expected).max() + 1e-11, f"{text}: {error}"


@every_setting
def test_text_parses_back(text):
    spec = OBJECTIVES.build(text)
    assert str(spec) == text
    assert OBJECTIVES.build(str(spec)) == spec


@pytest.mark.parametrize("name", list(OBJECTIVES))
def test_documentation(name):
    text = inspect.getdoc(OBJECTIVES[name]) or ""
    for section in ("Definition", "References", "Examples"):
        assert f"{section}\n{'-' * len(section)}" in text, f"{name}: no {section}"
    bibliography = Path(__file__).resolve().parents[2] / "docs" / "references.bib"
    known = re.findall(r"@\w+\{([^,]+),", bibliography.read_text(encoding="utf-8"))
    cited = re.findall(r"\[(\w+)\]_", text)
    assert cited, f"{name}: cites nothing"
    assert set(cited) <= set(known)


@every_sloped
def test_gradient_is_that_of_the_value(text):
    for seed in range(1 if SIMPLE else 3):
        y, sizes, scores = problem(seed)
        bound = bind(text, y, sizes, np.array([1.0, 2.0, 0.5, 3.0, 1.0, 1.0]))
        _, grad = bound.value_grad(scores)
        rough = oracles.fine_differences(
            lambda s, bound=bound: bound.value_grad(s)[0], scores, np.eye(scores.size)
        )
        close(grad, rough, text)


@every_sloped
def test_gradient_with_ties_and_duplicates(text):
    """Along directions that move tied rows of a query together the derivative is exact."""
    y, sizes, _ = problem(3)
    rng = np.random.default_rng(3)
    scores = 0.2 * rng.integers(0, 3, y.size)
    bound = bind(text, y, sizes)
    _, grad = bound.value_grad(scores)
    assert np.isfinite(grad).all()
    query = np.repeat(np.arange(sizes.size), sizes)
    _, block = np.unique(np.column_stack((query, scores)), axis=0, return_inverse=True)
    directions = rng.normal(size=(6, block.max() + 1))[:, block.ravel()]
    rough = oracles.fine_differences(lambda s: bound.value_grad(s)[0], scores, directions)
    close(directions @ grad, rough, text)


@every_sloped
def test_row_order_does_not_matter(text):
    y, sizes, scores = problem(1)
    scores[:4] = scores[0]
    qid = np.repeat(np.arange(sizes.size), sizes)
    value, grad = rankopt.value_grad(text, scores, y, qid)
    order = np.random.default_rng(0).permutation(y.size)
    other, moved = rankopt.value_grad(text, scores[order], y[order], qid[order])
    assert other == pytest.approx(value, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(moved, grad[order], rtol=1e-9, atol=1e-12)


@every_sloped
def test_value_is_the_mean_over_queries(text):
    """Also of what `take` makes of single queries, with the weights of the whole."""
    y, sizes, scores = problem(2)
    weights = np.array([1.0, 2.0, 0.5, 3.0, 1.0, 1.5])
    bound = bind(text, y, sizes, weights)
    value, grad = bound.value_grad(scores)
    groups = Groups.from_sizes(sizes)
    parts = []
    for q in range(sizes.size):
        _, rows = groups.take(np.array([q]))
        part, slope = bound.take(np.array([q])).value_grad(scores[rows])
        parts.append(part)
        np.testing.assert_allclose(slope / sizes.size, grad[rows], rtol=1e-9, atol=1e-13)
    assert np.mean(parts) == pytest.approx(value, rel=1e-12)


@every_sloped
def test_weights_count_like_copies(text):
    y, sizes, scores = problem(4)
    times = np.array([1, 2, 1, 3, 1, 1])
    value, _ = bind(text, y, sizes, times.astype(float)).value_grad(scores)
    groups, rows = Groups.from_sizes(sizes).take(np.repeat(np.arange(sizes.size), times))
    copies, _ = bind(text, y[rows], groups.sizes).value_grad(scores[rows])
    assert value == pytest.approx(copies, rel=1e-12)


@every_sloped
def test_same_bits_for_any_number_of_threads(text, monkeypatch):
    monkeypatch.setattr(threads, "_SMALL", 0)
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 30, 5 if SIMPLE else 60)
    y, _, scores = problem(5, tuple(sizes), blank=None)
    bound = bind(text, y, sizes)
    results = []
    for n in (1, 2, 3):
        with threads.using_threads(n):
            value, grad = bound.value_grad(scores)
        results.append((value, grad.tobytes()))
    assert results[0] == results[1] == results[2]


@every_sloped
@pytest.mark.parametrize("apart", [0.0, 1e-30, 1e-8, 1.0, 1e4, 1e8])
def test_any_scores_are_finite(text, apart):
    y, sizes, scores = problem(6)
    value, grad = bind(text, y, sizes).value_grad(apart * scores)
    assert np.isfinite(value)
    assert np.isfinite(grad).all()


@made_of_a_measure
def test_queries_that_no_order_changes_have_no_gradient(text):
    y, sizes, scores = problem(7)
    _, grad = bind(text, y, sizes).value_grad(scores)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    for q in (1, 2, 5):
        assert not grad[offsets[q] : offsets[q + 1]].any()
    measure = OBJECTIVES.build(text).measure
    kept = np.concatenate([np.arange(offsets[q], offsets[q + 1]) for q in (1, 2, 5)])
    alone, _ = bind(text, y[kept], sizes[[1, 2, 5]]).value_grad(scores[kept])
    true = measure.bind(y[kept], Groups.from_sizes(sizes[[1, 2, 5]])).mean(scores[kept])
    assert alone == pytest.approx(1.0 - true, abs=1e-12)


@every_annealable
def test_cooling_leads_to_the_measure(text):
    spec = OBJECTIVES.build(text)
    y, sizes, _ = problem(8)
    cold = bind(text, y, sizes).cooled(1e-9)
    scores = np.random.default_rng(8).permutation(y.size) / 10.0
    true = spec.measure.bind(y, Groups.from_sizes(sizes)).mean(scores)
    value, grad = cold.value_grad(scores)
    slow = "arctangent" in text  # its tails fall like 1 / z
    assert 1.0 - value == pytest.approx(true, abs=1e-6 if slow else 1e-12)
    assert np.isfinite(grad).all()


@every_convex
def test_convex_where_it_says_so(text):
    y, sizes, _ = problem(9)
    bound = bind(text, y, sizes)
    rng = np.random.default_rng(9)
    for _ in range(50):
        a, b = rng.normal(size=(2, y.size)) * rng.choice([0.1, 1.0, 10.0])
        t = rng.random()
        inside = bound.value_grad(t * a + (1 - t) * b)[0]
        chord = t * bound.value_grad(a)[0] + (1 - t) * bound.value_grad(b)[0]
        assert inside <= chord + 1e-9 * (1.0 + abs(chord))


@every_stepped
def test_stepped_value_is_one_minus_the_measure(text):
    y, sizes, scores = problem(10)
    spec = OBJECTIVES.build(text)
    bound = bind(text, y, sizes)
    assert bound.value(scores) == 1.0 - spec.measure.bind(y, Groups.from_sizes(sizes)).mean(scores)
    with pytest.raises(IncompatibleError, match="no gradient"):
        rankopt.value_grad(text, scores, y)


def test_an_unknown_objective_names_the_nearest():
    with pytest.raises(SpecError, match="did you mean 'approx'"):
        rankopt.value_grad("aprox(ndcg)", [1.0, 2.0], [0, 1])
