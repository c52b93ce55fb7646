"""The rows at the first ranks, against a sort of all of them."""

import numpy as np
import pytest

from rankopt.kernels.leaders import leaders


def found(x, depth, before=3):
    """The leaders of a list that stands somewhere among other rows."""
    scores = np.concatenate((np.full(before, 99.0), x, np.full(8, 99.0)))
    order, rows, above = np.full((3, x.size + 8), 7, np.int64)
    tied = leaders(scores, before, x.size, depth, order, rows, above, np.empty(x.size + 8))
    same = (x[order[:depth], None] == x[None, :]).sum(axis=1)
    assert tied or same.max() <= 1
    return order[:depth]


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 23, 48, 71, 72, 73, 100, 300, 520, 1100])
@pytest.mark.parametrize("depth", [1, 3, 10, 50, 10_000])
def test_scores_at_the_first_ranks_are_those_of_a_sort(size, depth):
    rng = np.random.default_rng(size + depth)
    depth = min(depth, size)
    for x in (
        rng.normal(size=size),
        rng.integers(0, 4, size) / 4.0,  # nearly all tie
        np.zeros(size),
        np.arange(size) * 1e-300,
        -np.arange(size) * 1e300,
        np.where(rng.random(size) < 0.1, -np.inf, rng.normal(size=size)),
    ):
        order = found(x, depth)
        assert len(set(order)) == depth
        np.testing.assert_array_equal(x[order], np.sort(x)[::-1][:depth])


@pytest.mark.parametrize("size", [5, 90, 600])
@pytest.mark.parametrize("share", [0.1, 0.9, 1.0])
def test_scores_that_are_no_numbers_still_give_rows(size, share):
    rng = np.random.default_rng(size)
    x = np.where(rng.random(size) < share, np.nan, rng.normal(size=size))
    order = found(x, 5)
    assert order.min() >= 0
    assert order.max() < size
