"""Boosting: a tree's weight is the best there is, leaves are those of their definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankopt
from rankopt.ensembles.grower import LightGBMGrower, TreeShape
from rankopt.errors import DataError, IncompatibleError, SpecError
from rankopt.measures import as_measure
from rankopt.objectives import OBJECTIVES
from rankopt.scorers.trees import Trees
from rankopt.search.engine import Engine
from rankopt.search.fixedpoint import FixedPoint
from rankopt.solvers.boost import Boost
from rankopt.solvers.grower import Grower
from rankopt.solvers.leafsearch import searched_leaves
from rankopt.solvers.treestep import TreeStep

MEASURES = ["ndcg@10", "ndcg@3", "map", "err", "rr"]


def problem(seed=0, n_queries=25, width=4):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 14, n_queries)
    X = rng.normal(size=(sizes.sum(), width)).round(1)
    y = np.clip(np.round(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=len(X))), 0, 4)
    return rankopt.dataset(X, y, np.repeat(np.arange(n_queries), sizes))


def bound_to(data, measure="ndcg@10"):
    return as_measure(measure).bind(data.labels, data.groups)


@given(st.integers(0, 10**6), st.sampled_from(MEASURES))
@settings(max_examples=30, deadline=None)
def test_weight_is_the_best_in_its_range(seed, measure):
    rng = np.random.default_rng(seed)
    data = problem(seed)
    bound = bound_to(data, measure)
    scores = rng.normal(size=data.n_rows).round(1)
    outputs = rng.choice(rng.normal(size=6).round(2), data.n_rows)  # a tree of six leaves
    engine = Engine(FixedPoint.of(bound), scores)
    weight = TreeStep("training").weight(engine, outputs)
    assert 0.1 <= weight <= 0.5
    np.testing.assert_array_equal(engine.scores, scores)
    tried = np.concatenate((np.linspace(0.1, 0.5, 301), rng.uniform(0.1, 0.5, 100)))
    best = max(bound.mean(scores + t * outputs) for t in tried)
    assert bound.mean(scores + weight * outputs) >= best - 1e-12


def test_part_of_a_fixed_point_is_the_measure_on_these_queries():
    data = problem(3)
    rng = np.random.default_rng(0)
    queries = np.sort(rng.permutation(data.groups.n_queries)[:9])
    scores, direction = rng.normal(size=(2, data.n_rows))
    for measure in MEASURES:
        part, rows = FixedPoint.of(bound_to(data, measure)).take(queries)
        taken = data.take(queries)
        bound = bound_to(taken, measure)
        assert part.value(part.total(scores[rows])) == pytest.approx(bound.mean(scores[rows]))
        steps = Engine(part, scores[rows]).search(direction[rows], 0.0, 1.0)
        other = Engine(FixedPoint.of(bound), scores[rows]).search(direction[rows], 0.0, 1.0)
        assert (steps.lo, steps.hi) == pytest.approx((other.lo, other.hi))
        assert steps.value == pytest.approx(other.value)


def test_weights_of_the_paper_hold_the_training_measure_up():
    """No other weight in the range is better for the tree that a round adds, seen from its own scores."""
    data = problem(1, 40)
    bound, scores = bound_to(data), np.zeros(data.n_rows)
    grower = Recorder(LightGBMGrower(TreeShape(5, min_child_samples=5), [data], 0))
    plan = Boost(12, TreeStep("training"))
    loss = OBJECTIVES.build("squared").bind(data.labels, data.groups)
    found = plan.run(grower, loss, bound, [scores], np.random.default_rng(0))
    so_far = np.zeros(data.n_rows)
    for grown, weight, step in zip(grower.grown, found.weights, found.history, strict=True):
        outputs = grown.outputs(0)
        for other in np.linspace(0.1, 0.5, 81):
            assert step.value >= bound.mean(so_far + other * outputs) - 1e-12
        so_far += weight * outputs
        assert step.value == bound.mean(so_far)
    np.testing.assert_array_equal(so_far, scores)


@pytest.mark.parametrize("text", ["squared", "lambda(ndcg@10)"])
def test_where_no_weight_is_allowed_too_the_training_measure_never_falls(text):
    data = problem(1, 40)
    bound, scores = bound_to(data), np.zeros(data.n_rows)
    grower = LightGBMGrower(TreeShape(5, min_child_samples=5), [data], 0)
    loss = OBJECTIVES.build(text).bind(data.labels, data.groups)
    plan = Boost(60, TreeStep("training", (0.0, 0.5)))
    found = plan.run(grower, loss, bound, [scores], np.random.default_rng(0))
    values = [step.value for step in found.history]
    assert len(values) == 60
    assert np.all(np.diff([bound.mean(np.zeros(data.n_rows)), *values]) >= -1e-12)


def test_slopes_of_a_cut_off_far_away_are_none():
    """Where all scores are equal, rows of long lists are so far from the cut-off that slopes are 1e-30."""
    data = rankopt.simulate(n_queries=30, n_features=5, smallest=80, largest=90, spread=0.0, seed=0)
    loss = OBJECTIVES.build("approx(ndcg@10)").bind(data.labels, data.groups)
    slopes, _ = loss.slopes(np.zeros(data.n_rows))
    assert 0.0 < np.abs(slopes).max() < 1e-15
    scores = np.zeros(data.n_rows)
    grower = Recorder(LightGBMGrower(TreeShape(6), [data], 0))
    plan = Boost(20, TreeStep("fixed", share=0.1))
    found = plan.run(grower, loss, bound_to(data), [scores], np.random.default_rng(0))
    gains = bound_to(data).gains
    np.testing.assert_allclose(grower.asked[0][0], gains.mean() - gains)
    assert all(np.abs(slopes).max() < 1e3 for slopes, _ in grower.asked)
    assert found.history[-1].value > bound_to(data).mean(np.zeros(data.n_rows)) + 0.1


@pytest.mark.parametrize("subsample", [1.0, 0.6])
def test_folds_are_weighed_on_queries_that_they_have_not_seen(subsample):
    """The boosters of a run put together from the trees that were grown and what these could see."""
    data, other = problem(5, 40), problem(6, 10)
    bound, folds = bound_to(data), 3
    grower = Recorder(LightGBMGrower(TreeShape(4, min_child_samples=5), [data, other], 0))
    loss = OBJECTIVES.build("squared(gain=linear)").bind(data.labels, data.groups)
    scores = [np.zeros(data.n_rows), np.zeros(other.n_rows)]
    held_out, told = np.zeros(data.n_rows), []
    plan = Boost(6, TreeStep("out-of-bag", share=0.5), subsample, folds)
    found = plan.run(
        grower, loss, bound, scores, np.random.default_rng(0),
        lambda step, weights: told.append((step, weights.size, bound.mean(held_out))), held_out,
    )  # fmt: skip
    asked = np.stack([curvature for _, curvature in grower.asked]).reshape(6, folds, -1)
    seen = np.stack([data.groups.total(one) > 0.0 for one in asked.any(axis=0).astype(float)])
    assert np.all((~seen).sum(axis=0) == 1)
    assert set((~seen).sum(axis=1)) == {13, 14}
    per_tree = [data.groups.total(one) > 0.0 for one in asked.reshape(6 * folds, -1)]
    assert {int(one.sum()) for one in per_tree} == {round(subsample * n) for n in (26, 27)}
    mine = np.argmin(seen, axis=0)[np.repeat(np.arange(40), data.groups.sizes)]
    at = (mine, np.arange(data.n_rows))
    boosters = np.zeros((folds, data.n_rows))
    for number, (step, count, value) in enumerate(told):
        grown = grower.grown[number * folds : (number + 1) * folds]
        for k in range(folds):  # each follows its own scores
            slopes = loss.slopes(boosters[k])[0] * 40
            bag = asked[number, k] > 0.0
            np.testing.assert_allclose(
                grower.asked[number * folds + k][0], slopes * bag, atol=1e-12
            )
        outputs = np.stack([one.outputs(0) for one in grown])
        reached = bound.mean(boosters[at] + step.watched / 0.5 * outputs[at])
        for weight in np.linspace(0.1, 0.5, 101):
            assert reached >= bound.mean(boosters[at] + weight * outputs[at]) - 1e-12
        boosters += step.watched * outputs
        assert count == folds * (number + 1)
        assert value == pytest.approx(bound.mean(boosters[at]))
    np.testing.assert_allclose(held_out, boosters[at])
    np.testing.assert_allclose(scores[0], boosters.mean(axis=0))
    model = Trees.joined(found.trees)
    np.testing.assert_array_equal(model.scores(found.weights, data), scores[0])
    np.testing.assert_array_equal(model.scores(found.weights, other), scores[1])


def test_leaves_of_a_fold_are_searched_on_queries_that_it_has_not_seen():
    data = problem(7, 60)
    bound = bound_to(data)
    grower = Recorder(LightGBMGrower(TreeShape(8, min_child_samples=5), [data], 0))
    loss = OBJECTIVES.build("squared(gain=linear)").bind(data.labels, data.groups)
    plan = Boost(1, TreeStep("out-of-bag", (0.1, 0.5)), folds=2, leaf_rounds=2, leaf_rate=1.0)
    found = plan.run(grower, loss, bound, [np.zeros(data.n_rows)], np.random.default_rng(0))
    moved = []
    for k, grown in enumerate(grower.grown):
        unseen = np.flatnonzero(data.groups.total(grower.asked[k][1]) == 0.0)
        target, rows = FixedPoint.of(bound).take(unseen)
        engine = Engine(target, np.zeros(rows.size))
        searched = searched_leaves(engine, grown.tree.values, grown.leaves[0][rows], 2, 1.0, 0.5)
        np.testing.assert_array_equal(found.trees[k].values, searched)
        moved.append(searched != grown.tree.values)
    assert np.any(moved)


class Recorder(Grower):
    """Keeps what another grower grows, and what it was asked for."""

    def __init__(self, inner):
        self.inner, self.grown, self.asked = inner, [], []

    def grow(self, slopes, curvature):
        self.asked.append((slopes, curvature))
        self.grown.append(self.inner.grow(slopes, curvature))
        return self.grown[-1]


@pytest.mark.parametrize(
    "text", ["squared", "squared(gain=linear, centred=true)", "lambda(ndcg@5)"]
)
@pytest.mark.parametrize("leaves", ["newton", "gradient"])
def test_leaves_are_slopes_by_curvature_of_the_bag(text, leaves):
    data = problem(2, 40)
    grower = Recorder(LightGBMGrower(TreeShape(6, min_child_samples=5), [data], 0))
    loss = OBJECTIVES.build(text).bind(data.labels, data.groups)
    plan = Boost(3, TreeStep("fixed", share=0.2), subsample=0.5, leaves=leaves)
    scores = np.zeros(data.n_rows)
    plan.run(grower, loss, bound_to(data), [scores], np.random.default_rng(0))
    for grown, (slopes, curvature) in zip(grower.grown, grower.asked, strict=True):
        size = grown.tree.values.size
        g = np.bincount(grown.leaves[0], slopes, size)
        h = np.bincount(grown.leaves[0], curvature, size)
        np.testing.assert_allclose(grown.tree.values, -g / h, rtol=1e-4, atol=1e-6)
        seen = data.groups.total(np.abs(slopes) + curvature) > 0.0
        assert seen.sum() <= 20
    if leaves == "gradient":
        slopes = grower.asked[0][0]
        every = loss.slopes(np.zeros(data.n_rows))[0]
        scale = np.sqrt(np.mean(every**2))
        np.testing.assert_allclose(slopes[slopes != 0], every[slopes != 0] / scale)


def test_searched_leaves_never_lower_the_measure():
    data = problem(4, 30)
    bound = bound_to(data)
    rng = np.random.default_rng(0)
    engine = Engine(FixedPoint.of(bound), rng.normal(size=data.n_rows))
    start = engine.scores.copy()
    values, leaves = rng.normal(size=5), rng.integers(0, 5, data.n_rows)
    found = searched_leaves(engine, values, leaves, 3, 1.0, 0.5)
    np.testing.assert_array_equal(engine.scores, start)
    before = bound.mean(start + 0.5 * values[leaves])
    assert bound.mean(start + 0.5 * found[leaves]) > before
    half = searched_leaves(engine, values, leaves, 3, 0.25, 0.5)
    np.testing.assert_allclose(half, values + 0.25 * (found - values))
    assert searched_leaves(engine, np.ones(5), leaves, 3, 1.0, 0.5).tolist() == [1.0] * 5


def test_no_split_left_ends_the_boosting():
    data = rankopt.dataset(np.ones((30, 2)), np.arange(30) % 3, np.repeat(np.arange(3), 10))
    grower = LightGBMGrower(TreeShape(), [data], 0)
    loss = OBJECTIVES.build("squared").bind(data.labels, data.groups)
    found = Boost(5).run(grower, loss, bound_to(data), [np.zeros(30)], np.random.default_rng(0))
    assert found.trees == ()
    assert found.status.converged


def test_ctrl_c_keeps_the_trees_so_far():
    data = problem(1, 40)

    def monitor(step, weights):
        if step.iteration == 4:
            raise KeyboardInterrupt
        return False

    scores = np.zeros(data.n_rows)
    grower = LightGBMGrower(TreeShape(5, min_child_samples=5), [data], 0)
    loss = OBJECTIVES.build("squared").bind(data.labels, data.groups)
    found = Boost(9).run(grower, loss, bound_to(data), [scores], np.random.default_rng(0), monitor)
    assert len(found.trees) == found.weights.size == 4
    assert "Interrupted" in found.status.value


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: TreeStep("bag"), SpecError, "step: unknown 'bag'"),
        (lambda: TreeStep(bounds=(0.5, 0.1)), SpecError, "bounds"),
        (lambda: TreeStep(share=0.0), SpecError, "learning_rate"),
        (lambda: TreeStep(smoothing=-1.0), SpecError, "smoothing"),
        (lambda: Boost(0), SpecError, "n_estimators"),
        (lambda: Boost(subsample=0.0), SpecError, "subsample"),
        (lambda: Boost(leaves="best"), SpecError, "leaves: unknown 'best'"),
        (lambda: Boost(leaf_rate=2.0), SpecError, "leaf_rate"),
        (lambda: Boost(step=TreeStep("out-of-bag")), IncompatibleError, "subsample below 1"),
        (lambda: Boost(folds=0), SpecError, "folds: 0"),
        (lambda: Boost(folds=2), IncompatibleError, "use folds=1"),
        (lambda: TreeShape(1), SpecError, "num_leaves"),
        (lambda: TreeShape(colsample_bytree=0.0), SpecError, "colsample_bytree"),
        (lambda: TreeShape(max_bin=1), SpecError, "max_bin"),
        (lambda: TreeShape(reg_lambda=-1.0), SpecError, "reg_lambda"),
    ],
)
def test_what_makes_no_sense_is_refused(build, error, words):
    with pytest.raises(error, match=words):
        build()


def test_categories_are_whole_numbers():
    data = problem()
    with pytest.raises(DataError, match="feature 1 is to hold categories"):
        LightGBMGrower(TreeShape(categories=(0,)), [data], 0)
    with pytest.raises(DataError, match="7 for 4 features"):
        LightGBMGrower(TreeShape(categories=(7,)), [data], 0)
