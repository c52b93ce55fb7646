"""LambdaRank against sums over pairs written out."""

from itertools import pairwise

import numpy as np
import pytest

import rankopt
from rankopt.data.groups import Groups
from rankopt.errors import IncompatibleError
from rankopt.measures import as_measure
from rankopt.objectives import OBJECTIVES

MEASURES = ["ndcg@3", "ndcg", "map", "err@4", "rr", "p@2", "tau"]


def by_definition(text, sigma, scores, y, sizes):
    """Loss, gradient and curvature: every pair is exchanged and the measure evaluated afresh."""
    measure = as_measure(text)
    loss, grad, curve = 0.0, np.zeros(y.size), np.zeros(y.size)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    for a, b in pairwise(offsets):
        bound = measure.bind(y[a:b], Groups.from_sizes([b - a]))
        order = sorted(range(b - a), key=lambda i: (-scores[a + i], bound.gains[i]))
        ranked = np.empty(b - a)
        ranked[order] = -np.arange(b - a)
        now = bound.mean(ranked)
        best = bound.mean(bound.gains)
        loss += 1.0 - best
        if best == 0.0 or np.ptp(bound.gains) == 0.0:
            continue
        for p in range(b - a):
            for r in range(p + 1, b - a):
                i, j = order[p], order[r]
                other = ranked.copy()
                other[i], other[j] = ranked[j], ranked[i]
                change = bound.mean(other) - now
                right, wrong = (j, i) if change > 0 else (i, j)
                apart = sigma * (scores[a + right] - scores[a + wrong])
                chance = 1.0 / (1.0 + np.exp(apart))
                loss += abs(change) * np.log1p(np.exp(-apart))
                grad[a + right] -= sigma * abs(change) * chance
                grad[a + wrong] += sigma * abs(change) * chance
                for k in (i, j):
                    curve[a + k] += sigma**2 * abs(change) * chance * (1.0 - chance)
    n = len(sizes)
    return loss / n, grad / n, curve / n


@pytest.mark.parametrize("text", MEASURES)
@pytest.mark.parametrize("sigma", [1.0, 2.5])
def test_loss_gradient_and_curvature_by_definition(text, sigma):
    rng = np.random.default_rng(3)
    sizes = np.array([5, 1, 7, 12, 3])
    y = rng.integers(0, 4, sizes.sum()).astype(float)
    y[6:13] = 0.0
    scores = rng.normal(size=y.size)
    bound = OBJECTIVES.build(f"lambda({text}, sigma={sigma})").bind(y, Groups.from_sizes(sizes))
    loss, grad, curve = by_definition(text, sigma, scores, y, sizes)
    value, found = bound.value_grad(scores)
    assert value == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(found, grad, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(bound.curvature(scores), curve, rtol=1e-10, atol=1e-15)
    both = bound.slopes(scores)
    np.testing.assert_array_equal(both[0], found)
    np.testing.assert_array_equal(both[1], bound.curvature(scores))


def test_scores_far_apart_agree_with_exponentials_per_row():
    """Beyond the range of factorised exponentials the same sums are formed pair by pair."""
    y, sizes = np.array([0.0, 1.0, 2.0, 0.0, 1.0]), [5]
    near = np.array([0.2, 0.1, 0.0, -0.3, -0.1])
    bound = OBJECTIVES.build("lambda(ndcg@4)").bind(y, Groups.from_sizes(sizes))
    far = np.append(near, -700.0)
    wide = OBJECTIVES.build("lambda(ndcg@4)").bind(np.append(y, 0.0), Groups.from_sizes([6]))
    np.testing.assert_allclose(
        wide.value_grad(far)[1][:5], bound.value_grad(near)[1], rtol=1e-11, atol=1e-14
    )
    np.testing.assert_allclose(
        wide.curvature(far)[:5], bound.curvature(near), rtol=1e-11, atol=1e-14
    )


def test_equal_rows_get_equal_gradients():
    _, grad = rankopt.value_grad("lambda(ndcg@2)", [1.0, 0.0, 0.0, 0.0], [0, 1, 1, 2])
    assert grad[1] == grad[2] < 0.0


def test_a_measure_without_exchanges_is_refused():
    with pytest.raises(IncompatibleError, match="averaged measures have no swaps"):
        OBJECTIVES.build("lambda(mean-ndcg)")
