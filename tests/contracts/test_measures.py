"""Contracts of every registered measure: a new measure is tested by being registered.

The oracle is the naive formula of each measure in `tests.oracles`.
"""

import inspect
import re
from dataclasses import fields
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config
from scipy.sparse import csr_array
from tests import oracles

from rankopt.data.groups import Groups
from rankopt.errors import DataError, IncompatibleError, SpecError
from rankopt.measures import CONVENTIONS, MEASURES, as_measure
from rankopt.measures.base import TIES, Cutoff, Norm
from rankopt.measures.forms import AVERAGED
from rankopt.threads import query_blocks, using_threads

SIMPLE = bool(config.DISABLE_JIT)  # kernels run as Python: smaller enumerations
EXTRA = {
    "dcg": [
        "dcg(gain=[0, 1, 3, 4, 9])@3",
        "dcg(discount=rank)@2",
        "dcg(gain=linear, discount=letor)",
    ],
    "ndcg": [
        "ndcg(gain=[0, 0.5, 3, 3, 9])@3",
        "ndcg(gain=[0, 0, 0, 1, 2])",
        "ndcg(discount=rank)@3",
        "ndcg(gain=linear, discount=letor)@2",
        "ndcg(short=zero)@3",
        "ndcg@1",
    ],
    "mean-ndcg": ["mean-ndcg(discount=rank)", "mean-ndcg(gain=[0, 0, 1, 2, 2])"],
    "ap": ["ap(relevant_from=2)@3", "ap(relevant_from=2, denominator=relevant)@2", "ap@1"],
    "p": ["p(relevant_from=2)@2", "p(denominator=rows, relevant_from=3)@3"],
    "recall": ["recall(relevant_from=2)@2", "recall@1"],
    "success": ["success(relevant_from=2)@2", "success@1"],
    "rr": ["rr(relevant_from=2)", "rr(relevant_from=3)@2"],
    "err": ["err(max_grade=6)", "err(gain=linear)@3", "err(max_grade=4.5)@2"],
    "rbp": ["rbp(p=0.5)", "rbp(p=0.95, max_grade=10)@3"],
}


def with_cutoffs(name, cutoffs):
    cutoff = MEASURES[name].cutoff
    if cutoff is Cutoff.NONE:
        return [name]
    return [f"{name}@{k}" for k in cutoffs] + ([name] if cutoff is Cutoff.OPTIONAL else [])


def settings(cutoffs=(1, 3, 7)):
    """Texts of every measure with the parameters of every convention, and with some others."""
    texts = [
        str(as_measure(text, convention))
        for name in MEASURES
        for text in with_cutoffs(name, cutoffs)
        for convention in CONVENTIONS
    ]
    extra = [text for name in MEASURES for text in EXTRA.get(name, [])]
    return list(dict.fromkeys(texts + extra))


every_setting = pytest.mark.parametrize("text", settings())
every_measure = pytest.mark.parametrize("text", settings(cutoffs=(10,)))


def on_scale(measure, labels):
    """Labels 0..4 brought into the domain of a measure of a shorter scale."""
    return np.asarray(labels, float) * min(1.0, getattr(measure, "max_grade", 4.0) / 4.0)


@cache
def every_list():
    """All lists of labels 0..2 up to length 5 and 0..4 up to length 4, in all orders with ties.

    The rows of each list are shuffled, so that a kernel meets them in any order. Returns labels,
    scores, documents, groups, the distinct ranked lists, and for each way to count ties the matrix
    that makes values of lists out of values of ranked lists.
    """
    rng = np.random.default_rng(0)
    longest = {3: 3 if SIMPLE else 5, 5: 2 if SIMPLE else 4}
    cases = [
        (labels, pattern)
        for grades, limit in longest.items()
        for length in range(1, limit + 1)
        for labels in oracles.label_lists(length, range(grades))
        for pattern in oracles.tie_patterns(length)
        if grades == 3 or max(labels) > 2
    ]
    index: dict[tuple[float, ...], int] = {}
    cells: dict[str, list[tuple[int, int, float]]] = {ties: [] for ties in TIES}
    rows, documents = [], []
    for number, case in enumerate(cases):
        shuffled = rng.permutation(len(case[0]))
        labels, scores = [case[0][i] for i in shuffled], [case[1][i] for i in shuffled]
        docs = [f"d{i}" for i in rng.permutation(20)[: len(labels)]]
        rows.append((labels, scores))
        documents += docs
        for ties in TIES:
            if ties == "average":
                orders = list(oracles.tied_rankings(scores))
            else:
                orders = [oracles.ranking(labels, scores, ties, docs)]
            for order in orders:
                ranked = tuple(labels[i] for i in order)
                cells[ties].append((number, index.setdefault(ranked, len(index)), 1 / len(orders)))
    mixing = {}
    for ties, entries in cells.items():
        at, ranked, share = (np.array(column) for column in zip(*entries, strict=True))
        mixing[ties] = csr_array((share, (at, ranked)), shape=(len(cases), len(index)))
    labels = np.array([y for ys, _ in rows for y in ys], float)
    scores = np.array([s for _, ss in rows for s in ss], float)
    groups = Groups.from_sizes([len(ys) for ys, _ in rows])
    return labels, scores, np.array(documents), groups, list(index), mixing


def test_every_registered_measure_has_a_naive_formula():
    assert set(MEASURES) == set(oracles.NAIVE)
    assert set(EXTRA) <= set(MEASURES)


@every_setting
def test_values_are_those_of_the_naive_formula_on_every_short_list(text):
    measure = as_measure(text)
    labels, scores, docs, groups, ranked, mixing = every_list()
    naive = np.array([oracles.naive(measure, on_scale(measure, r).tolist()) for r in ranked])
    bound = measure.bind(on_scale(measure, labels), groups)
    for ties in TIES:
        values = bound.values(scores, ties, docs)
        np.testing.assert_allclose(values, mixing[ties] @ naive, rtol=0, atol=1e-12, err_msg=ties)


@every_setting
def test_pessimistic_is_the_worst_and_optimistic_the_best_of_all_orders(text):
    measure = as_measure(text)
    labels, scores, _, groups, ranked, mixing = every_list()
    naive = np.array([oracles.naive(measure, on_scale(measure, r).tolist()) for r in ranked])
    bound = measure.bind(on_scale(measure, labels), groups)
    possible = mixing["average"]
    worst = np.minimum.reduceat(naive[possible.indices], possible.indptr[:-1])
    best = np.maximum.reduceat(naive[possible.indices], possible.indptr[:-1])
    np.testing.assert_allclose(bound.values(scores, "pessimistic"), worst, rtol=0, atol=1e-12)
    np.testing.assert_allclose(bound.values(scores, "optimistic"), best, rtol=0, atol=1e-12)


@cache
def long_lists(real):
    """Lists up to length 200, with many ties; labels are grades or any numbers between them."""
    rng = np.random.default_rng(1)
    sizes = [1, 2, 9, 10, 11, 63, 64, 65, 66, 130, 200]
    n = sum(sizes)
    labels = rng.uniform(0.0, 4.0, n) if real else rng.integers(0, 5, n).astype(float)
    labels[: sizes[0] + sizes[1]] = 0.0
    scores = rng.integers(0, 30, n) / 8.0
    docs = np.array([f"d{i}" for i in rng.permutation(n)])
    return labels, scores, docs, Groups.from_sizes(sizes)


def with_labels(texts):
    """Each measure with grades, and with real labels where no table says what grades gain."""
    tabled = {text: isinstance(getattr(as_measure(text), "gain", None), tuple) for text in texts}
    return [
        pytest.param(text, real, id=f"{text}-{'real labels' if real else 'grades'}")
        for text in texts
        for real in ((False,) if tabled[text] else (False, True))
    ]


@pytest.mark.parametrize(("text", "real"), with_labels(settings(cutoffs=(1, 10, 64, 65, 150, 300))))
def test_values_are_those_of_the_naive_formula_on_long_lists(text, real):
    measure = as_measure(text)
    labels, scores, docs, groups = long_lists(real)
    labels = on_scale(measure, labels)
    bound = measure.bind(labels, groups)
    for ties in ("pessimistic", "optimistic", "stable", "docid"):
        expected = [
            oracles.naive_value(measure, labels[a:b].tolist(), scores[a:b], ties, docs[a:b])
            for a, b in pairwise(groups.offsets)
        ]
        values = bound.values(scores, ties, docs)
        np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12, err_msg=ties)


@pytest.mark.parametrize("text", settings(cutoffs=(10, 65)))
def test_average_ties_on_long_lists(text):
    measure = as_measure(text)
    rng = np.random.default_rng(2)
    sizes = [70, 40, 120]
    labels = on_scale(measure, rng.integers(0, 5, sum(sizes)))
    scores = rng.permutation(sum(sizes)).astype(float)
    for first in (0, 70, 110):  # blocks of 3 and 2 at the top, so that 12 orders say it all
        order = first + np.argsort(-scores[first : first + 40])
        scores[order[2:5]] = scores[order[2]]
        scores[order[8:10]] = scores[order[8]]
    groups = Groups.from_sizes(sizes)
    expected = [
        oracles.naive_value(measure, labels[a:b].tolist(), scores[a:b].tolist(), "average")
        for a, b in pairwise(groups.offsets)
    ]
    values = measure.bind(labels, groups).values(scores, "average")
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)


@given(st.data())
def test_values_are_those_of_the_naive_formula_on_any_list(data):
    measure = as_measure(data.draw(st.sampled_from(settings(cutoffs=(2, 5)))))
    sizes = data.draw(st.lists(st.integers(1, 8), min_size=1, max_size=4))
    whole = isinstance(getattr(measure, "gain", None), tuple)
    grade = st.integers(0, 4) if whole else st.floats(0.0, 4.0, allow_subnormal=False)
    labels = on_scale(measure, data.draw(st.lists(grade, min_size=sum(sizes), max_size=sum(sizes))))
    score = st.sampled_from([-0.0, 0.0, 1e-300, -1.5, 2.0, 1e300, -1e300])
    scores = np.array(data.draw(st.lists(score, min_size=sum(sizes), max_size=sum(sizes))))
    groups = Groups.from_sizes(sizes)
    bound = measure.bind(labels, groups)
    for ties in ("pessimistic", "optimistic", "stable"):
        expected = [
            oracles.naive_value(measure, labels[a:b].tolist(), scores[a:b].tolist(), ties)
            for a, b in pairwise(groups.offsets)
        ]
        np.testing.assert_allclose(bound.values(scores, ties), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("text", settings(cutoffs=(1, 3, 7, 1000)))
def test_what_prints_also_parses(text):
    measure = as_measure(text)
    assert as_measure(str(measure)) == measure
    assert str(as_measure(str(measure))) == str(measure)
    assert hash(as_measure(str(measure))) == hash(measure)


@every_measure
def test_a_query_without_anything_to_gain_is_blank_and_counts_zero(text):
    measure = as_measure(text)
    groups = Groups.from_sizes([1, 3, 20])
    bound = measure.bind(np.zeros(24), groups)
    assert bound.blank.all()
    for ties in TIES:
        values = bound.values(np.zeros(24), ties, np.arange(24))
        assert values.tolist() == [0.0, 0.0, 0.0]


@every_measure
def test_weights_of_queries_weigh_the_mean(text):
    measure = as_measure(text)
    labels, scores, _, groups = long_lists(False)
    labels = on_scale(measure, labels)
    weights = np.random.default_rng(3).integers(0, 9, groups.n_queries) / 4.0
    plain = measure.bind(labels, groups)
    bound = measure.bind(labels, groups, weights)
    values = bound.values(scores)
    assert np.array_equal(values, plain.values(scores))
    assert bound.mean(scores) == pytest.approx(weights @ values / weights.sum(), rel=1e-12)
    assert plain.mean(scores) == pytest.approx(values.mean(), rel=1e-12)
    counted = np.where(bound.blank, 0.0, weights / weights.mean() / bound.norms)
    np.testing.assert_allclose(bound.scales, counted, rtol=1e-12)


@cache
def many_rows():
    rng = np.random.default_rng(4)
    sizes = rng.integers(1, 60, 1200)
    n = sizes.sum()
    labels = rng.integers(0, 5, n).astype(float)
    return labels, rng.integers(0, 40, n) / 8.0, rng.permutation(n), Groups.from_sizes(sizes)


@pytest.mark.skipif(SIMPLE, reason="plain Python kernels take too long")
@every_measure
def test_two_threads_give_the_bits_of_one(text):
    measure = as_measure(text)
    labels, scores, docs, groups = many_rows()
    assert groups.n_rows > 30_000
    assert len(query_blocks(groups.offsets, 8)) == 8
    found = []
    for threads in (1, 2):
        with using_threads(threads):
            bound = measure.bind(on_scale(measure, labels), groups)
            parts = [bound.values(scores, ties, docs).tobytes() for ties in TIES]
            found.append((bound.norms.tobytes(), bound.ideal.tobytes(), *parts))
    assert found[0] == found[1]


@every_measure
def test_the_order_of_rows_does_not_matter_to_pessimistic_optimistic_and_average_ties(text):
    measure = as_measure(text)
    labels, scores, _, groups = long_lists(False)
    labels = on_scale(measure, labels)
    rng = np.random.default_rng(5)
    moved = np.concatenate([a + rng.permutation(b - a) for a, b in pairwise(groups.offsets)])
    here, there = measure.bind(labels, groups), measure.bind(labels[moved], groups)
    for ties in ("pessimistic", "optimistic"):
        assert np.array_equal(here.values(scores, ties), there.values(scores[moved], ties))
    np.testing.assert_allclose(
        here.values(scores, "average"), there.values(scores[moved], "average"), rtol=1e-12, atol=0
    )


@every_measure
def test_the_order_of_queries_does_not_matter(text):
    measure = as_measure(text)
    labels, scores, _, groups = long_lists(False)
    labels = on_scale(measure, labels)
    queries = np.random.default_rng(6).permutation(groups.n_queries)
    taken, rows = groups.take(queries)
    whole = measure.bind(labels, groups)
    part = measure.bind(labels[rows], taken)
    for ties in ("pessimistic", "average", "stable"):
        expected = whole.values(scores, ties)[queries]
        assert np.array_equal(part.values(scores[rows], ties), expected)


@pytest.mark.skipif(SIMPLE, reason="plain Python kernels take too long")
@every_measure
def test_a_query_of_100000_rows(text):
    measure = as_measure(text)
    rng = np.random.default_rng(7)
    n = 100_000
    labels = on_scale(measure, rng.choice(5, n, p=[0.992, 0.002, 0.002, 0.002, 0.002]))
    scores = rng.normal(size=n) + labels
    bound = measure.bind(labels, Groups.from_sizes([n]))
    order = np.argsort(-scores, kind="stable")
    if measure.name == "tau":
        from scipy.stats import somersd

        small = slice(0, 3000)
        part = measure.bind(labels[small], Groups.from_sizes([3000])).values(scores[small])[0]
        assert part == pytest.approx(somersd(labels[small], scores[small]).statistic, rel=1e-12)
        assert -1.0 <= bound.values(scores)[0] <= 1.0
    elif measure.name == "mean-ndcg":
        gains, table = bound.gains, bound.table
        curve = np.cumsum(gains[order] * table) / np.cumsum(np.sort(gains)[::-1] * table)
        assert bound.values(scores)[0] == pytest.approx(curve.mean(), rel=1e-9)
    else:
        expected = oracles.naive(measure, labels[order].tolist())
        assert bound.values(scores)[0] == pytest.approx(expected, rel=1e-9)
    assert bound.values(np.zeros(n))[0] <= bound.values(scores)[0]


@every_measure
def test_a_perfect_ranking_reaches_the_ideal(text):
    measure = as_measure(text)
    labels, _, _, groups = long_lists(False)
    labels = on_scale(measure, labels)
    bound = measure.bind(labels, groups)
    best = bound.values(labels)
    np.testing.assert_allclose(best, bound.ideal / bound.norms, rtol=1e-12)
    if measure.norm is Norm.IDEAL:
        full = ~bound.blank & np.isfinite(bound.norms)
        np.testing.assert_allclose(best[full], 1.0, rtol=1e-12)


@every_measure
def test_judged_rows_outside_the_ranking_count_in_what_could_be_reached(text):
    measure = as_measure(text)
    groups = Groups.from_sizes([3, 2])
    labels = on_scale(measure, [0.0, 2.0, 1.0, 3.0, 0.0])
    more = np.array([0, 2, 2]), on_scale(measure, [4.0, 1.0])
    if measure.form is AVERAGED:  # its kernel makes the ideal out of the ranked rows
        with pytest.raises(IncompatibleError, match="judged rows that are not ranked"):
            measure.bind(labels, groups, ideal=more)
        return
    bound, alone = measure.bind(labels, groups, ideal=more), measure.bind(labels, groups)
    joined = measure.bind(np.concatenate((labels[:3], more[1])), Groups.from_sizes([5]))
    scores = np.arange(5.0)
    assert bound.values(scores)[1] == alone.values(scores)[1]
    assert bound.ideal.tolist() == [joined.ideal[0], alone.ideal[1]]
    if measure.norm is Norm.NONE or not np.isfinite(alone.norms[0]):
        assert bound.values(scores)[0] == alone.values(scores)[0]
    else:
        raw = alone.values(scores)[0] * alone.norms[0]
        assert bound.values(scores)[0] == pytest.approx(raw / joined.norms[0], rel=1e-12)


@every_measure
def test_a_label_outside_the_domain_names_its_row_and_query(text):
    measure = as_measure(text)
    labels = np.zeros(5)
    groups = Groups(np.array([0, 2, 5]), np.array(["rome", "paris"]))
    labels[3] = -1.0
    if measure.domain(labels)[0].all():
        return  # any number is a label: the values contract covers it
    with pytest.raises(DataError, match=r"row 4 \(query paris\) has label -1, outside the domain"):
        measure.bind(labels, groups)
    rows = np.array([7, 5, 3, 9, 1])  # the caller's numbers of the rows
    with pytest.raises(DataError, match=r"row 10 \(query paris\)") as caught:
        measure.bind(labels, groups, rows=rows)
    assert str(measure) in str(caught.value)
    if measure.form is not AVERAGED:
        judged = np.array([0, 1, 2]), np.array([0.0, -1.0])
        with pytest.raises(DataError, match="judged row of query paris that is not ranked has"):
            measure.bind(np.zeros(5), groups, ideal=judged)


@every_measure
def test_values_are_a_fresh_array_and_inputs_stay(text):
    measure = as_measure(text)
    labels, scores, docs, groups = (
        x.copy() if isinstance(x, np.ndarray) else x for x in long_lists(False)
    )
    labels = on_scale(measure, labels)
    before = labels.copy(), scores.copy()
    bound = measure.bind(labels, groups)
    arrays = [bound.gains, bound.table, bound.norms, bound.ideal]
    kept = [a.copy() for a in arrays]
    first = bound.values(scores, "average", docs)
    first[:] = -1.0
    assert np.all(bound.values(scores, "average", docs) > -1.0) or measure.name == "tau"
    assert np.array_equal(labels, before[0])
    assert np.array_equal(scores, before[1])
    assert all(np.array_equal(a, b) for a, b in zip(arrays, kept, strict=True))
    assert not np.shares_memory(bound.gains, labels)


@pytest.mark.parametrize("name", list(MEASURES))
def test_a_slope_is_the_derivative_of_the_discount(name):
    for text in [s for s in settings() if as_measure(s).name == name]:
        measure = as_measure(text)
        ranks = np.array([1.0, 1.3, 2.6, 3.0, 7.5, 40.0, 900.0])
        step = 1e-5 * ranks
        change = (measure.discounts(ranks + step) - measure.discounts(ranks - step)) / (2.0 * step)
        np.testing.assert_allclose(measure.slopes(ranks), change, rtol=1e-6, atol=1e-12)
        whole = measure.discounts(np.arange(1.0, 400.0))
        assert np.all(np.diff(whole) <= 0.0), "a discount must not grow with the rank"


@pytest.mark.parametrize("name", list(MEASURES))
def test_cut_offs_are_taken_refused_or_needed_as_the_measure_says(name):
    cutoff = MEASURES[name].cutoff
    if cutoff is Cutoff.NONE:
        with pytest.raises(SpecError, match="has no cut-off"):
            as_measure(f"{name}@5")
        assert as_measure(name).depth is None
        return
    assert as_measure(f"{name}@5").depth == 5
    for bad in (0, -3, 2.5, True):
        with pytest.raises(SpecError, match="whole number from 1"):
            MEASURES[name](k=bad)
    if cutoff is Cutoff.REQUIRED:
        with pytest.raises(SpecError, match=f"{name} needs a cut-off, as in {name}@10"):
            as_measure(name)
    else:
        assert as_measure(name).depth is None


@pytest.mark.parametrize("name", list(MEASURES))
def test_a_measure_is_documented(name):
    cls = MEASURES[name]
    text = inspect.getdoc(cls) or ""
    for section in ("Definition\n---", "References\n---", "Examples\n---"):
        assert section in text, section
    assert ".. math::" in text
    assert re.search(r"^\S.*\.$", text.partition("\n\n")[0])
    parameters = [f.name for f in fields(cls)]
    listed = re.findall(r"^([\w, ]+) : ", text, re.MULTILINE)
    assert {p.strip() for line in listed for p in line.split(",")} >= set(parameters)
    keys = re.findall(r"\[(\w+)\]_", text)
    assert keys
    bibliography = Path(__file__).resolve().parents[2] / "docs" / "references.bib"
    known = re.findall(r"^@\w+\{(\w+),", bibliography.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(keys) <= set(known)
