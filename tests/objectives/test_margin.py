"""The structured hinge losses: upper bounds, subgradients, rescaled slacks against all permutations."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from tests.oracles import fine_differences, naive

import rankopt
from rankopt.data.groups import Groups
from rankopt.errors import IncompatibleError, SpecError
from rankopt.measures import as_measure
from rankopt.objectives import OBJECTIVES, Margin

SIMPLE = bool(config.DISABLE_JIT)
QUERIES = 100 if SIMPLE else 2000
CASES = [
    ("ndcg@10", "linear"), ("ndcg@3", "root"), ("ndcg@5", "discount"), ("ndcg", "discount"),
    ("ndcg@4", (2.0, 2.0, 1.0)), ("p@3", "linear"), ("rr", "linear"), ("ap", "linear"),
    ("ap", "pairs"), ("ap@5", "pairs"), ("success@2", "root"),
]  # fmt: skip


def problems(seed, queries=QUERIES, longest=12, ties=True):
    """Queries of random sizes and labels; scores of many scales, a third of them with ties."""
    rng = np.random.default_rng(seed)
    groups = Groups.from_sizes(rng.integers(1, longest + 1, queries))
    y = rng.integers(0, 4, groups.n_rows).astype(float)
    y[groups.spread(rng.random(queries) < 0.05)] = 0.0
    scale = groups.spread(10.0 ** rng.uniform(-3, 2, queries))
    scores = scale * rng.normal(size=groups.n_rows)
    tied = groups.spread(rng.random(queries) < 0.33) & ties
    return groups, y, np.where(tied, scale * rng.integers(-1, 2, groups.n_rows), scores)


def of_queries(bound, scores):
    """The unweighted loss of each query."""
    losses, slopes = bound.planes(scores)
    return losses + bound.target.groups.total(slopes * scores)


@pytest.mark.parametrize(("measure", "positions"), CASES, ids=str)
def test_loss_tight_convex_on_thousands_of_problems(measure, positions):
    groups, y, scores = problems(1)
    spec = as_measure(measure)
    loss = 1.0 - spec.bind(y, groups).values(scores)
    tight = Margin(spec, "tight", positions).bind(y, groups)
    convex = Margin(spec, "convex", positions).bind(y, groups)
    low, high = of_queries(tight.convex_at(scores), scores), of_queries(convex, scores)
    rounding = 1e-12 * (1.0 + groups.total(np.abs(scores))) * max(10.0, groups.longest)
    assert np.all(loss <= low + rounding)
    assert np.all(low <= high + rounding)
    assert np.any(low < high - 1e-3)
    assert tight.value_grad(scores)[0] == pytest.approx(low.mean(), rel=1e-12)
    assert convex.value_grad(scores)[0] == pytest.approx(high.mean(), rel=1e-12)


@pytest.mark.parametrize("bound", ["convex", "tight"])
@pytest.mark.parametrize(("measure", "positions"), CASES, ids=str)
def test_gradient(bound, measure, positions):
    groups, y, _ = problems(2, 40)
    scores = np.random.default_rng(3).normal(size=groups.n_rows)
    loss = Margin(as_measure(measure), bound, positions).bind(y, groups)
    directions = np.random.default_rng(4).normal(size=(6, scores.size))
    _, grad = loss.value_grad(scores)
    rough = fine_differences(lambda s: loss.value_grad(s)[0], scores, directions, 1e-9)
    np.testing.assert_allclose(directions @ grad, rough, atol=2e-5)


@pytest.mark.parametrize(("measure", "positions"), CASES, ids=str)
def test_the_bound_towards_an_order_touches_the_tight_one(measure, positions):
    groups, y, scores = problems(5, 100)
    tight = Margin(as_measure(measure), "tight", positions).bind(y, groups)
    above = tight.convex_at(scores)
    assert above.convex
    assert above.value_grad(scores)[0] == pytest.approx(tight.value_grad(scores)[0], rel=1e-12)
    rng = np.random.default_rng(6)
    for _ in range(20):
        other = scores + rng.normal(size=scores.size) * 10.0 ** rng.uniform(-3, 2)
        high = above.value_grad(other)[0]
        assert tight.value_grad(other)[0] <= high + 1e-9 * (1.0 + abs(high))


@settings(max_examples=10 if SIMPLE else 60)
@given(seed=st.integers(0, 10**6))
@pytest.mark.parametrize("text", ["ndcg@3", "ap", "rr"])
def test_rescaled_slacks_against_all_permutations(text, seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 5 if SIMPLE else 6))
    y = rng.integers(0, 3, size).astype(float)
    y[0], y[-1] = 0.0, 1.0
    scores = rng.normal(size=size) * rng.choice([0.03, 0.3, 3.0])
    groups, spec = Groups.from_sizes([size]), as_measure(text)
    positions = tuple(np.arange(float(size), 0.0, -1.0))
    rescaled = Margin(spec, positions=positions, rescale="slack").bind(y, groups)
    wanted = float(rescaled.over.wanted @ scores)
    best = naive(spec, sorted(y, reverse=True))
    if best == min(naive(spec, [y[i] for i in order]) for order in permutations(range(size))):
        return
    products = [
        (1.0 - naive(spec, [y[i] for i in order]))
        * (1.0 + float(np.array(positions) @ scores[list(order)]) - wanted)
        for order in permutations(range(size))
    ]
    loss = 1.0 - float(spec.bind(y, groups).values(scores)[0])
    value, grad = rescaled.value_grad(scores)
    assert loss - 1e-9 <= value <= max(products) + 1e-9
    assert min(abs(value - product) for product in products) < 1e-9  # that of a real order
    assert value == pytest.approx(float(rescaled.planes(scores)[0][0]) + grad @ scores, abs=1e-12)


def test_rescaled_slacks_are_mostly_exact():
    rng = np.random.default_rng(0)
    exact = 0
    for _ in range(100):
        y, scores = np.array([0.0, 1.0, 2.0, 0.0]), rng.normal(size=4)
        loss = Margin(as_measure("ndcg@2"), rescale="slack").bind(y, Groups.from_sizes([4]))
        table, wanted = np.array([2.0, 1.0, 0.0, 0.0]), float(loss.over.wanted @ scores)
        greatest = max(
            (1.0 - naive(as_measure("ndcg@2"), [y[i] for i in order]))
            * (1.0 + float(table @ scores[list(order)]) - wanted)
            for order in permutations(range(4))
        )
        exact += loss.value_grad(scores)[0] >= greatest - 1e-9
    assert exact >= 90


@pytest.mark.parametrize("options", ["", ", bound=tight", ", rescale=slack"])
def test_queries_add_up_and_weights_count(options):
    groups, y, scores = problems(7, 30)
    spec = OBJECTIVES.build(f"margin(ndcg@3{options})")
    weights = np.random.default_rng(8).uniform(0.5, 2.0, 30)
    whole, grad = spec.bind(y, groups, weights).value_grad(scores)
    parts = [spec.bind(y, groups, weights).take(np.array([q])) for q in range(30)]
    rows = [groups.take(np.array([q]))[1] for q in range(30)]
    values = [part.value_grad(scores[r]) for part, r in zip(parts, rows, strict=True)]
    assert whole == pytest.approx(np.mean([value for value, _ in values]), rel=1e-12)
    together = np.concatenate([slope for _, slope in values]) / 30
    np.testing.assert_allclose(grad, together, rtol=1e-12, atol=1e-15)
    doubled = rankopt.value_grad(spec, scores, y, groups.spread(np.arange(30)), np.full(30, 2.0))
    alone = rankopt.value_grad(spec, scores, y, groups.spread(np.arange(30)))
    assert doubled[0] == pytest.approx(alone[0], rel=1e-12)


@pytest.mark.parametrize("options", ["", ", bound=tight", ", rescale=slack"])
def test_blank_and_one_row_queries_are_constant(options):
    y, qid = [0.0, 0.0, 2.0, 1.0, 1.0], ["a", "a", "b", "c", "c"]
    value, grad = rankopt.value_grad(f"margin(ndcg@3{options})", [9.0, -1.0, 3.0, 5.0, 2.0], y, qid)
    assert value == pytest.approx(1.0 / 3.0)
    assert not grad.any()


def test_what_cannot_be_is_refused():
    for text in (
        "margin(ndcg, bound=loose)",
        "margin(ndcg, positions=cubic)",
        "margin(rescale=no)",
    ):
        with pytest.raises(SpecError, match="unknown"):
            OBJECTIVES.build(text)
    for positions in ((1.0, 2.0), (0.0,), (-1.0,), (np.nan,)):
        with pytest.raises(SpecError, match="positions"):
            Margin(as_measure("ndcg@3"), positions=positions)
    with pytest.raises(SpecError, match="needs bound=convex"):
        OBJECTIVES.build("margin(ndcg@3, bound=tight, rescale=slack)")
    with pytest.raises(IncompatibleError, match="two gains"):
        OBJECTIVES.build("margin(err)")
    with pytest.raises(IncompatibleError, match="not known"):
        OBJECTIVES.build("margin(tau)")
    with pytest.raises(IncompatibleError, match="two gains"):
        OBJECTIVES.build("margin(ndcg@3, positions=pairs)")
