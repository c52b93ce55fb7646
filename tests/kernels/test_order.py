"""Order and ties: against `sorted` on every short list, and on long random ones."""

from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config
from tests import oracles

from rankopt.kernels import order as kernels

SIMPLE = bool(config.DISABLE_JIT)  # kernels run as Python: smaller enumerations
SIZES = np.array([1, 2, 9, 10, 11, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 300])


@cache
def short_lists():
    """All orders of scores with ties up to length 5, each with all keys of two values."""
    cases = [
        (scores, keys)
        for length in range(1, (3 if SIMPLE else 5) + 1)
        for scores in oracles.weak_orders(length)
        for keys in product((0.0, 1.0), repeat=length)
    ]
    scores = np.array([s for case, _ in cases for s in case], float)
    keys = np.array([k for _, case in cases for k in case], float)
    sizes = [len(case) for case, _ in cases]
    expected = [sorted(range(len(s)), key=lambda i, s=s, k=k: (-s[i], k[i], i)) for s, k in cases]
    return scores, keys, np.concatenate(([0], np.cumsum(sizes))), expected


def ordered(scores, keys, offsets):
    out = np.full(scores.size, -1, np.int64)
    kernels.orders(0, offsets.size - 1, offsets, scores, keys, out)
    return out


def first_gains(scores, keys, gains, offsets, depth):
    sizes = np.minimum(np.diff(offsets), depth)
    rank_offsets = np.concatenate(([0], np.cumsum(sizes)))
    out = np.full(rank_offsets[-1], np.nan)
    kernels.gains_by_rank(0, sizes.size, offsets, scores, keys, gains, rank_offsets, out)
    return out, rank_offsets


def test_all_short_lists_are_ordered_by_score_then_key_then_row():
    scores, keys, offsets, expected = short_lists()
    found = ordered(scores, keys, offsets)
    assert found.tolist() == [row for order in expected for row in order]


def best(gains, offsets, depth):
    sizes = np.minimum(np.diff(offsets), depth)
    rank_offsets = np.concatenate(([0], np.cumsum(sizes)))
    out = np.full(rank_offsets[-1], np.nan)
    kernels.best_gains(0, sizes.size, offsets, gains, rank_offsets, out)
    return out, rank_offsets


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 6])
def test_the_gains_of_the_first_ranks_of_all_short_lists(depth):
    scores, keys, offsets, expected = short_lists()
    gains = np.arange(scores.size, dtype=float)  # distinct: they tell which row stands where
    found, _ = first_gains(scores, keys, gains, offsets, depth)
    starts = offsets[:-1].tolist()
    assert found.tolist() == [
        float(start + row)
        for start, order in zip(starts, expected, strict=True)
        for row in order[:depth]
    ]


DEPTHS = [1, 2, 7, 10, 12, 13, 25, 26, 63, 64, 65, 100, 1000]


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("levels", [1, 3, 40, 10_000])
def test_the_gains_of_the_first_ranks_of_long_lists(depth, levels):
    rng = np.random.default_rng(depth * levels)
    offsets = np.concatenate(([0], np.cumsum(SIZES)))
    scores = rng.integers(0, levels, offsets[-1]) / 8.0 - 1.0
    keys = rng.integers(0, 4, offsets[-1]).astype(float)
    gains = np.arange(offsets[-1], dtype=float)
    found, rank_offsets = first_gains(scores, keys, gains, offsets, depth)
    for q, (a, b) in enumerate(pairwise(offsets)):
        order = sorted(range(a, b), key=lambda i: (-scores[i], keys[i], i))
        assert found[rank_offsets[q] : rank_offsets[q + 1]].tolist() == order[:depth]


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("levels", [1, 3, 40, 10_000])
def test_the_best_gains_of_long_lists(depth, levels):
    rng = np.random.default_rng(depth * levels)
    offsets = np.concatenate(([0], np.cumsum(SIZES)))
    gains = rng.integers(0, levels, offsets[-1]) / 8.0 - 1.0
    found, rank_offsets = best(gains, offsets, depth)
    for q, (a, b) in enumerate(pairwise(offsets)):
        wanted = np.sort(gains[a:b])[::-1][:depth]
        assert np.array_equal(found[rank_offsets[q] : rank_offsets[q + 1]], wanted)


SHAPES = {
    "ascending": np.arange(400) / 4.0,
    "descending": -np.arange(400) / 4.0,
    "constant": np.zeros(400),
    "sawtooth": np.arange(400) % 7.0,
    "every 16th": np.where(np.arange(400) % 16 == 3, 9.0 + np.arange(400), 0.5),
    "every 32nd": np.where(np.arange(400) % 32 == 0, 1.0, -1.0),
    "one above": np.where(np.arange(400) == 399, 1.0, 0.0),
}


@pytest.mark.parametrize("shape", list(SHAPES))
@pytest.mark.parametrize("depth", [1, 10, 13, 64, 65, 300])
def test_lists_that_come_in_an_order_of_their_own(shape, depth):
    scores, offsets = SHAPES[shape], np.array([0, 400])
    keys = (np.arange(400) * 37 % 11).astype(float)
    found, _ = first_gains(scores, keys, np.arange(400.0), offsets, depth)
    assert found.tolist() == sorted(range(400), key=lambda i: (-scores[i], keys[i], i))[:depth]
    assert np.array_equal(best(scores, offsets, depth)[0], np.sort(scores)[::-1][:depth])


@pytest.mark.parametrize("depth", [1, 10, 16])
@pytest.mark.parametrize("size", [32, 33, 47, 48, 400])
def test_the_floor_is_reached_by_the_first_ranks(depth, size):
    rng = np.random.default_rng(size)
    lanes = kernels.lanes_for(depth)
    assert lanes > depth
    for values in (rng.normal(size=size), rng.integers(0, 4, size) / 1.0, np.zeros(size)):
        work = np.empty(lanes + kernels.WIDTH), np.empty(lanes, np.int64)
        floor = kernels.floor_of(values, 0, size, depth, lanes, *work)
        assert floor in values
        assert (values >= floor).sum() >= depth


@given(st.data())
def test_any_finite_scores_and_keys(data):
    size = data.draw(st.integers(1, 40))
    number = st.one_of(
        st.sampled_from([0.0, -0.0, 1.0, 5e-324, -5e-324, 1.7e308, -1.7e308]),
        st.floats(allow_nan=False, allow_infinity=False),
    )
    scores = np.array(data.draw(st.lists(number, min_size=size, max_size=size)))
    keys = np.array(data.draw(st.lists(number, min_size=size, max_size=size)))
    offsets = np.array([0, size])
    expected = sorted(range(size), key=lambda i: (-scores[i], keys[i], i))
    assert ordered(scores, keys, offsets).tolist() == expected
    depth = data.draw(st.integers(1, 14))
    found, _ = first_gains(scores, keys, np.arange(size, dtype=float), offsets, depth)
    assert found.tolist() == expected[:depth]
    assert best(scores, offsets, depth)[0].tolist() == scores[expected][:depth].tolist()


@pytest.mark.parametrize("size", [3, 40, 400])
def test_nan_scores_do_not_make_a_kernel_write_elsewhere(size):
    # Callers refuse NaN; a training loop that diverges may still bring one.
    scores = np.where(np.arange(size) % 3 == 1, np.nan, np.arange(size) // 2 / 1.0)
    gains = np.arange(float(size))
    for values in (scores, np.full(size, np.nan)):
        found, _ = first_gains(values, gains, gains, np.array([0, size]), 10)
        assert found.size == min(size, 10)
        best(values, np.array([0, size]), 10)


def test_without_keys_equal_scores_keep_the_order_of_rows():
    scores = np.array([1.0, 3.0, 1.0, 3.0, 1.0, -0.0, 0.0])
    assert ordered(scores, np.zeros(7), np.array([0, 7])).tolist() == [1, 3, 0, 2, 4, 5, 6]


def test_tie_blocks_name_the_first_place_of_each_block():
    scores, keys, offsets, expected = short_lists()
    order = ordered(scores, keys, offsets)
    out = np.full(scores.size, -1, np.int64)
    kernels.tie_blocks(0, offsets.size - 1, offsets, scores, order, out)
    wanted = []
    for start, places in zip(offsets[:-1].tolist(), expected, strict=True):
        by_rank = [scores[start + row] for row in places]
        wanted += [by_rank.index(score) for score in by_rank]
    assert out.tolist() == wanted


def test_pick_puts_values_in_ranked_order():
    offsets = np.array([0, 3, 4])
    out = np.empty(4)
    values, order = np.array([5.0, 6.0, 7.0, 8.0]), np.array([2, 0, 1, 0])
    kernels.pick(0, 2, offsets, values, order, out)
    assert out.tolist() == [7.0, 5.0, 6.0, 8.0]


def test_kernels_write_the_slices_of_their_queries_and_nothing_else():
    rng = np.random.default_rng(0)
    offsets = np.array([0, 4, 90, 95, 99])
    scores, keys = rng.integers(0, 3, 99) / 2.0, rng.integers(0, 3, 99) / 2.0
    order = ordered(scores, keys, offsets)
    inputs = scores.copy(), keys.copy(), order.copy()
    calls = {
        kernels.orders: (scores, keys),
        kernels.tie_blocks: (scores, order),
        kernels.pick: (keys, order),
        kernels.gains_by_rank: (scores, keys, keys, offsets),
        kernels.best_gains: (scores, offsets),
    }
    for kernel, arguments in calls.items():
        kind = np.int64 if kernel in (kernels.orders, kernels.tie_blocks) else np.float64
        whole, part = np.full(99, -7, kind), np.full(99, -7, kind)
        kernel(0, 4, offsets, *arguments, whole)
        kernel(1, 3, offsets, *arguments, part)
        assert np.array_equal(part[4:95], whole[4:95])
        assert set(part[:4].tolist() + part[95:].tolist()) == {-7}
    for kept, now in zip(inputs, (scores, keys, order), strict=True):
        assert np.array_equal(kept, now)


@pytest.mark.skipif(SIMPLE, reason="nothing is compiled")
def test_each_kernel_is_compiled_for_one_signature():
    import rankopt

    data = rankopt.dataset(np.zeros((6, 1)), [0, 1, 2, 0, 1, 0], qid=[5, 5, 5, 7, 7, 7])
    for convention in ("rankopt", "lightgbm", "sklearn"):
        for measure in ("ndcg@2", "ndcg", "ap", "err@3", "mean-ndcg", "tau"):
            rankopt.evaluate(range(6), data, [measure], convention=convention)
    names = ("orders", "gains_by_rank", "best_gains", "tie_blocks", "pick")
    assert {name: len(getattr(kernels, name).signatures) for name in names} == dict.fromkeys(
        names, 1
    )
