"""Contracts of the forms, on random gains and discounts rather than on those of a measure."""

from dataclasses import fields
from itertools import pairwise, permutations

import numpy as np
import pytest
from tests import oracles

from rankopt.data.groups import Groups
from rankopt.errors import IncompatibleError
from rankopt.measures import as_measure
from rankopt.measures.forms import FORMS


def positional(gains, table):
    return sum(g * d for g, d in zip(gains, table, strict=False))


def cascade(gains, table):
    """A user stops at each place with the chance that its gain gives."""
    arrives, value = 1.0, 0.0
    for g, d in zip(gains, table, strict=False):
        value += arrives * g * d
        arrives *= 1.0 - g
    return value


def cumulative(gains, table):
    pairs = ((p, r) for p in range(len(gains)) for r in range(p + 1))
    return sum(table[p] * gains[p] * gains[r] for p, r in pairs)


def concordance(gains, table):
    pairs = ((p, r) for r in range(len(gains)) for p in range(r))
    return sum((gains[p] > gains[r]) - (gains[p] < gains[r]) for p, r in pairs)


def averaged(gains, table):
    best = sorted(gains, reverse=True)
    total = 0.0
    for k in range(1, len(gains) + 1):
        ideal = positional(best[:k], table)
        total += positional(gains[:k], table) / ideal if ideal > 0.0 else 0.0
    return total / len(gains)


NAIVE = {
    "positional": positional,
    "cascade": cascade,
    "cumulative": cumulative,
    "concordance": concordance,
    "averaged": averaged,
}
every_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)


def having(operation):
    forms = [form for form in FORMS if getattr(form, operation) is not None]
    return pytest.mark.parametrize("form", forms, ids=lambda form: form.name)


def lists(longest=6, count=60, seed=0):
    """Gains from 0 to 1, equal, zero and one among them, and discounts that never grow."""
    rng = np.random.default_rng(seed)
    sizes = np.concatenate((np.arange(1, longest + 1), rng.integers(1, longest + 1, count)))
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    gains = rng.uniform(size=offsets[-1])
    coarse = rng.uniform(size=offsets[-1]) < 0.5
    gains[coarse] = rng.integers(0, 3, coarse.sum()) / 2.0
    gains[offsets[3] : offsets[4]] = 0.0
    table = np.sort(rng.uniform(size=longest))[::-1].copy()
    return gains, table, offsets


def values(form, gains, table, offsets):
    out = np.full(offsets.size - 1, np.nan)
    form.values(0, offsets.size - 1, offsets, gains, table, out)
    return out


def naive(form, gains, table):
    return NAIVE[form.name](np.asarray(gains).tolist(), table.tolist())


def test_every_form_has_a_naive_formula_and_a_code_of_its_own():
    assert {form.name for form in FORMS} == set(NAIVE)
    assert len({form.code for form in FORMS}) == len(FORMS)


@every_form
@pytest.mark.parametrize("longest", [6, 40])
def test_values_are_those_of_the_definition(form, longest):
    gains, table, offsets = lists(longest)
    for cut in (longest, 3, 1):
        cut_table = np.where(np.arange(longest) < cut, table, 0.0)
        found = values(form, gains, cut_table, offsets)
        expected = [naive(form, gains[a:b], cut_table) for a, b in pairwise(offsets)]
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)


@every_form
def test_a_form_of_prefixes_ignores_what_stands_past_the_cut_off(form):
    gains, table, offsets = lists(40)
    table[5:] = 0.0
    short = np.minimum(np.diff(offsets), 5)
    rows = np.concatenate([np.arange(a, a + n) for a, n in zip(offsets[:-1], short, strict=True)])
    short_offsets = np.concatenate(([0], np.cumsum(short)))
    same = values(form, gains, table, offsets) == values(form, gains[rows], table, short_offsets)
    assert same.all() == form.prefix


@every_form
def test_the_order_of_gains_is_the_best_and_its_reverse_the_worst(form):
    gains, table, offsets = lists()
    for a, b in pairwise(offsets):
        every = [naive(form, order, table) for order in set(permutations(gains[a:b].tolist()))]
        one = np.array([0, b - a])
        best = values(form, np.sort(gains[a:b])[::-1].copy(), table, one)[0]
        worst = values(form, np.sort(gains[a:b]), table, one)[0]
        assert best == pytest.approx(max(every), rel=1e-12)
        assert worst == pytest.approx(min(every), rel=1e-12)


@having("slopes")
@pytest.mark.parametrize("longest", [6, 40])
def test_slopes_are_the_derivatives_by_the_gains(form, longest):
    gains, table, offsets = lists(longest, count=20)
    out = np.full_like(gains, np.nan)
    form.slopes(0, offsets.size - 1, offsets, gains, table, out)
    for a, b in pairwise(offsets):
        one = np.array([0, b - a])
        slopes = oracles.central_differences(
            lambda g, one=one: values(form, g, table, one)[0], gains[a:b], step=1e-5
        )
        np.testing.assert_allclose(out[a:b], slopes, rtol=1e-6, atol=1e-8)


@having("swaps")
@pytest.mark.parametrize("longest", [6, 25])
def test_swaps_are_the_change_of_value_of_the_exchanged_list(form, longest):
    gains, table, offsets = lists(longest, count=20)
    table[longest // 2 :] = 0.0
    sizes = np.diff(offsets)
    pair_offsets = np.concatenate(([0], np.cumsum(sizes * (sizes - 1) // 2)))
    out = np.full(pair_offsets[-1], np.nan)
    form.swaps(0, sizes.size, offsets, gains, table, pair_offsets, out)
    expected = []
    for a, b in pairwise(offsets):
        row = gains[a:b].tolist()
        before = naive(form, row, table)
        for i in range(b - a):
            for j in range(i + 1, b - a):
                row[i], row[j] = row[j], row[i]
                expected.append(naive(form, row, table) - before)
                row[i], row[j] = row[j], row[i]
    np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-13)


@every_form
def test_averages_are_the_mean_over_all_orders_of_tied_rows(form):
    gains, table, offsets = lists(count=80, seed=1)
    rng = np.random.default_rng(2)
    scores = [np.sort(rng.integers(0, 4, b - a))[::-1] for a, b in pairwise(offsets)]
    scores[5][:] = 0  # six rows, all tied
    blocks = np.concatenate([[list(s).index(v) for v in s] for s in scores]).astype(np.int64)
    out = np.full(offsets.size - 1, np.nan)
    form.averages(0, offsets.size - 1, offsets, gains, blocks, table, out)
    for q, (a, b) in enumerate(pairwise(offsets)):
        row = gains[a:b]
        orders = list(oracles.tied_rankings(scores[q].tolist()))
        mean = sum(naive(form, row[order], table) for order in orders) / len(orders)
        assert out[q] == pytest.approx(mean, rel=1e-12, abs=1e-15)


@every_form
def test_averages_without_ties_are_the_values(form):
    gains, table, offsets = lists(40)
    blocks = np.concatenate([np.arange(n) for n in np.diff(offsets)])
    out = np.full(offsets.size - 1, np.nan)
    form.averages(0, offsets.size - 1, offsets, gains, blocks, table, out)
    np.testing.assert_allclose(out, values(form, gains, table, offsets), rtol=1e-13, atol=1e-15)


@every_form
def test_kernels_write_the_slices_of_their_queries_and_nothing_else(form):
    gains, table, offsets = lists(6, count=6)
    blocks = np.concatenate([np.arange(n) for n in np.diff(offsets)])
    sizes = np.diff(offsets)
    pair_offsets = np.concatenate(([0], np.cumsum(sizes * (sizes - 1) // 2)))
    calls = {
        "values": (np.arange(sizes.size + 1), (gains, table)),
        "averages": (np.arange(sizes.size + 1), (gains, blocks, table)),
        "slopes": (offsets, (gains, table)),
        "swaps": (pair_offsets, (gains, table, pair_offsets)),
    }
    inputs = [x.copy() for x in (gains, table, offsets, blocks)]
    for name, (slots, arguments) in calls.items():
        kernel = getattr(form, name)
        if kernel is None:
            continue
        whole = np.full(slots[-1], np.nan)
        kernel(0, sizes.size, offsets, *arguments, whole)
        assert np.isfinite(whole).all()
        part = np.full(slots[-1], np.nan)
        kernel(2, 5, offsets, *arguments, part)
        assert np.array_equal(part[slots[2] : slots[5]], whole[slots[2] : slots[5]])
        assert np.isnan(part[: slots[2]]).all()
        assert np.isnan(part[slots[5] :]).all()
    for kept, now in zip(inputs, (gains, table, offsets, blocks), strict=True):
        assert np.array_equal(kept, now)


@every_form
def test_an_operation_that_a_form_lacks_names_the_forms_that_have_it(form):
    operations = [f.name for f in fields(form) if f.name in ("slopes", "swaps", "averages")]
    for operation in operations:
        if getattr(form, operation) is not None:
            assert form.need(operation) is getattr(form, operation)
            continue
        with pytest.raises(IncompatibleError, match=f"{form.name} measures have no {operation}"):
            form.need(operation)
        with pytest.raises(IncompatibleError, match="positional, cascade, cumulative"):
            form.need(operation)


@pytest.mark.parametrize("text", ["ndcg@3", "p(denominator=rows)@4", "err", "ap@3", "tau"])
def test_swaps_of_a_bound_measure_are_changes_of_its_values(text):
    measure = as_measure(text)
    rng = np.random.default_rng(3)
    groups = Groups.from_sizes([4, 1, 6, 3])
    labels = rng.integers(0, 4, 14).astype(float)
    labels[11:] = 0.0
    scores = rng.permutation(14).astype(float)
    bound = measure.bind(labels, groups, np.array([1.0, 2.0, 3.0, 4.0]))
    order = np.concatenate([np.argsort(-scores[a:b]) for a, b in pairwise(groups.offsets)])
    changes, pair_offsets = bound.swaps(order)
    before = bound.values(scores)
    for q, (a, b) in enumerate(pairwise(groups.offsets)):
        rows = a + order[a:b]
        pairs = [(i, j) for i in range(b - a) for j in range(i + 1, b - a)]
        assert pair_offsets[q + 1] - pair_offsets[q] == len(pairs)
        for e, (i, j) in enumerate(pairs, pair_offsets[q]):
            moved = scores.copy()
            moved[rows[i]], moved[rows[j]] = scores[rows[j]], scores[rows[i]]
            assert changes[e] == pytest.approx(bound.values(moved)[q] - before[q], abs=1e-14)


@pytest.mark.parametrize("text", ["ndcg@3", "rbp", "err@4", "ap"])
def test_slopes_of_a_bound_measure_are_divided_by_its_norms(text):
    groups = Groups.from_sizes([5, 3])
    labels = np.array([0.0, 2.0, 1.0, 3.0, 0.0, 1.0, 0.0, 4.0])
    bound = as_measure(text).bind(labels, groups)
    order = np.array([3, 1, 0, 2, 4, 2, 0, 1])
    slopes = bound.slopes(order)
    for a, b, norm in ((0, 5, bound.norms[0]), (5, 8, bound.norms[1])):
        by_rank = bound.gains[a + order[a:b]]
        one = np.array([0, b - a])
        numeric = oracles.central_differences(
            lambda g, one=one: values(bound.form, g, bound.table, one)[0], by_rank, step=1e-5
        )
        np.testing.assert_allclose(slopes[a:b], numeric / norm, rtol=1e-6, atol=1e-9)
