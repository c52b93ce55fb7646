"""The exact line search against brute force: every crossing of every pair, every interval evaluated.

``RANKOPT_LINE_SEARCH_CASES`` sets the number of tie-rich problems, 1,200 unless told.
"""

import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import NAIVE

import rankopt
from rankopt.data.groups import Groups
from rankopt.measures import as_measure
from rankopt.search.engine import Engine
from rankopt.search.fixedpoint import FixedPoint
from rankopt.threads import using_threads

CASES = int(os.environ.get("RANKOPT_LINE_SEARCH_CASES", "1200"))
MEASURES = [
    "ndcg@1", "ndcg@3", "ndcg@5", "ndcg", "ndcg(gain=linear)@2", "ndcg(gain=[0, 0.3, 0.7, 2, 5])@3", "dcg@4",
    "ap", "ap@3", "ap(relevant_from=2)", "rr", "rr@2", "err@3", "err", "p@3", "recall@2", "rbp(p=0.6)",
    "rbp@3", "success@2", "tau", "ndcg(discount=letor, short=zero)@4",
]  # fmt: skip


def problem(rng):
    """Few small queries with lines that tie a lot: small integers, zeros, quarters, duplicates."""
    sizes = rng.integers(1, 9, rng.integers(1, 4))
    n = int(sizes.sum())
    y = rng.integers(0, rng.choice([2, 3, 5]), n).astype(float)
    kind = rng.integers(6)
    scores = {
        0: rng.integers(-3, 4, n), 1: np.zeros(n), 2: rng.integers(-4, 5, n) / 4, 3: rng.integers(-3, 4, n),
        4: rng.normal(size=n), 5: rng.integers(0, 2, n),
    }[int(kind)].astype(float)  # fmt: skip
    slopes = {
        0: rng.integers(-2, 3, n), 1: rng.integers(-2, 3, n), 2: rng.integers(-4, 5, n) / 4,
        3: rng.normal(size=n), 4: rng.normal(size=n), 5: rng.integers(0, 2, n),
    }[int(kind)].astype(float)  # fmt: skip
    if rng.random() < 0.2:
        slopes[:] = 1.0  # a constant column
    if rng.random() < 0.5:
        slopes = slopes.astype(np.float32)
    bounds = {
        0: (-np.inf, np.inf), 1: (-1.0, 1.0), 2: (0.1, 0.5), 3: (-np.inf, 0.5), 4: (-1.5, np.inf),
    }[int(rng.integers(5))]  # fmt: skip
    return y, np.repeat(np.arange(sizes.size), sizes), scores, slopes, bounds


def crossings(scores, slopes, qid, lo, hi):
    """All t inside the bounds at which two rows of a query meet."""
    found = set()
    for q in set(qid.tolist()):
        rows = np.flatnonzero(qid == q)
        for i in rows:
            for j in rows:
                if slopes[i] > slopes[j]:
                    t = (scores[j] - scores[i]) / (slopes[i] - slopes[j])
                    if lo < t < hi:
                        found.add(t)
    merged = []
    for t in sorted(found):
        if not merged or t - merged[-1] > 1e-12 * abs(t):
            merged.append(t)
    return merged


def inside(lo, hi):
    if np.isinf(lo) and np.isinf(hi):
        return 0.3337
    if np.isinf(lo):
        return hi - 1.0 - abs(hi)
    return lo + 1.0 + abs(lo) if np.isinf(hi) else lo + 0.4837 * (hi - lo)


def check(seed):
    rng = np.random.default_rng(seed)
    text = MEASURES[seed % len(MEASURES)]
    y, qid, scores, slopes, (lo, hi) = problem(rng)
    weights = (
        None if rng.random() < 0.5 else rng.integers(1, 4, len(set(qid.tolist()))).astype(float)
    )
    groups, _ = Groups.from_qid(qid, y.size)
    bound = as_measure(text).bind(y, groups, weights)
    exact = slopes.astype(np.float64)
    edges = [lo, *crossings(scores, exact, qid, lo, hi), hi]
    values = []
    full = rankopt.line_search(
        scores, slopes, y, qid, text, (lo, hi), full=True, query_weight=weights
    )
    for left, right in pairwise(edges):
        t = inside(left, right)
        values.append(bound.mean(scores + t * exact))
        claimed = full.values[np.searchsorted(full.breakpoints, t)]
        assert claimed == pytest.approx(values[-1], abs=1e-9), (text, t)
    assert full.value == pytest.approx(max(values), abs=1e-9), text
    assert np.all(np.diff(full.breakpoints) > 0)
    assert full.values.size == full.breakpoints.size + 1
    found = rankopt.line_search(scores, slopes, y, qid, text, (lo, hi), query_weight=weights)
    assert (found.lo, found.hi, found.value) == (full.lo, full.hi, full.value)
    assert found.lo in edges
    assert found.hi in edges
    reached = [bound.mean(scores + t * exact) for t in found.points]
    assert max(reached) == pytest.approx(found.value, abs=1e-9)


@pytest.mark.parametrize("block", range(12))
def test_every_interval_of_tie_rich_problems(block):
    for seed in range(block * CASES // 12, (block + 1) * CASES // 12):
        check(seed)


@settings(max_examples=100)
@given(st.integers(100_000, 2**31))
def test_every_interval_of_any_problem(seed):
    check(seed)


@pytest.mark.parametrize("text", MEASURES)
def test_long_queries_of_real_values(text):
    """Queries beyond the lanes of the fast path: values along the line equal evaluations."""
    rng = np.random.default_rng(len(text))
    n = 150
    qid = np.repeat([0, 1], n)
    y = rng.choice(5, 2 * n, p=[0.6, 0.2, 0.1, 0.05, 0.05]).astype(float)
    scores, slopes = rng.normal(size=2 * n), rng.normal(size=2 * n)
    scores[:20], slopes[:20] = scores[20:40], slopes[20:40]  # duplicate rows
    steps = rankopt.line_search(scores, slopes, y, qid, text, full=True)
    groups, _ = Groups.from_qid(qid, 2 * n)
    bound = as_measure(text).bind(y, groups)
    points = np.concatenate((rng.normal(size=60), 5 * rng.normal(size=20), steps.points))
    for t in points:
        claimed = steps.values[np.searchsorted(steps.breakpoints, t)]
        assert claimed == pytest.approx(bound.mean(scores + t * slopes), abs=1e-9)
    assert steps.value == steps.values.max()
    best = rankopt.line_search(scores, slopes, y, qid, text)
    assert (best.lo, best.hi, best.value) == (steps.lo, steps.hi, steps.value)


@pytest.mark.parametrize("n", [33, 65, 90, 128, 140])
@pytest.mark.parametrize("kind", ["real", "duplicates", "integers"])
@pytest.mark.parametrize("text", ["ndcg@12", "p@30", "ndcg"])
def test_as_many_lines_as_one_word_or_two_have_bits(n, kind, text):
    """Rows that all can reach the top: the better the score, the smaller the slope."""
    rng = np.random.default_rng(n)
    y = rng.choice(4, n).astype(float)
    scores, slopes = np.sort(rng.normal(size=n)), -np.sort(rng.normal(size=n))
    if kind == "duplicates":
        scores[::3], slopes[::3] = scores[1::3][: scores[::3].size].mean(), 0.25
    elif kind == "integers":
        scores, slopes = np.round(4 * scores), np.round(4 * slopes)
    slopes += 0.05 * rng.permutation(n) * (kind == "real")
    groups, _ = Groups.from_qid(None, n)
    bound = as_measure(text).bind(y, groups)
    for lo, hi in ((-np.inf, np.inf), (-0.3, 0.7)):
        steps = rankopt.line_search(scores, slopes, y, None, text, (lo, hi), full=True)
        edges = np.concatenate(([lo], steps.breakpoints, [hi]))
        for i in rng.choice(edges.size - 1, min(40, edges.size - 1), replace=False):
            t = inside(edges[i], edges[i + 1])
            assert steps.values[i] == pytest.approx(bound.mean(scores + t * slopes), abs=1e-9)
        best = rankopt.line_search(scores, slopes, y, None, text, (lo, hi))
        assert (best.lo, best.hi, best.value) == (steps.lo, steps.hi, steps.values.max())


def test_the_naive_measures_stand_behind_the_evaluation():
    """The brute force above evaluates by BoundMeasure; those values equal the textbook's."""
    assert {as_measure(text).name for text in MEASURES} <= set(NAIVE)


@pytest.mark.parametrize("text", ["ndcg@10", "err@10", "ap@10", "rr", "p@5", "ndcg", "tau"])
def test_one_and_two_threads_find_the_same(text):
    data = rankopt.simulate(n_queries=1500, n_features=2, typical=16, largest=60, seed=3)
    assert data.n_rows > 20_000
    rng = np.random.default_rng(0)
    target = FixedPoint.of(as_measure(text).bind(data.y, data.groups))
    scores, slopes = rng.normal(size=data.n_rows), np.ascontiguousarray(data.X[:, 0])
    found = []
    for threads in (1, 2):
        with using_threads(threads):
            steps = Engine(target, scores).search(slopes)
            found.append((steps.lo, steps.hi, steps.total))
    assert found[0] == found[1]


@settings(max_examples=50)
@given(st.integers(0, 10_000))
def test_row_order_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    text = MEASURES[seed % len(MEASURES)]
    y, qid, scores, slopes, bounds = problem(rng)
    order = rng.permutation(y.size)
    order = order[np.argsort(qid[order], kind="stable")]
    a = rankopt.line_search(scores, slopes, y, qid, text, bounds)
    b = rankopt.line_search(scores[order], slopes[order], y[order], qid[order], text, bounds)
    assert (a.lo, a.hi, a.value) == (b.lo, b.hi, b.value)


def test_a_query_of_100_000_rows_fits_in_memory():
    rng = np.random.default_rng(0)
    n = 100_000
    y = np.zeros(n)
    y[rng.choice(n, 20, replace=False)] = rng.integers(1, 5, 20)
    scores, slopes = rng.normal(size=n), rng.normal(size=n)
    groups, _ = Groups.from_qid(None, n)
    for text in ("ndcg@10", "err@10", "rr", "ap"):
        steps = rankopt.line_search(scores, slopes, y, None, text)
        value = as_measure(text).bind(y, groups).mean(scores + steps.point * slopes)
        assert value == pytest.approx(steps.value, abs=1e-9)


@pytest.mark.parametrize("text", ["ap", "ndcg", "err", "rr", "tau", "ndcg@300", "ndcg@5"])
@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (-0.5, 0.2)])
@pytest.mark.parametrize("kind", ["real", "rounded", "ties", "perfect", "nearly"])
@pytest.mark.parametrize(("most", "parts"), [(0, 8), (0, 1 << 16), (1000, 64), (10_000, 4096)])
def test_few_events_in_memory_give_the_same_optimum(text, bounds, kind, most, parts, monkeypatch):
    """Beyond a limit events are dropped, and sweeps into finer cells bring back those that matter."""
    rng = np.random.default_rng(3)
    n = 600
    qid = np.repeat(np.arange(3), [400, 150, 50])
    y = rng.choice(4, n, p=[0.7, 0.1, 0.1, 0.1]).astype(float)
    scores, slopes = rng.normal(size=n), rng.normal(size=n)
    if kind == "rounded":
        slopes = np.round(slopes, 1)
    elif kind == "ties":
        scores, slopes = np.round(scores, 1), np.round(slopes, 1)
    elif kind == "perfect":  # the best value on a wide interval with many exchanges
        scores += 4.0 * y
    elif kind == "nearly":  # half of the rows meet in a point, save for times that count as one
        half = slice(None, None, 2)
        slopes[half] = np.round(4 * slopes[half])
        scores[half] = -0.1 * slopes[half] * (1 + 1e-12 * rng.normal(size=n // 2))
    whole = rankopt.line_search(scores, slopes, y, qid, text, bounds, full=True)
    groups, _ = Groups.from_qid(qid, n)
    target = FixedPoint.of(as_measure(text).bind(y, groups))
    monkeypatch.setattr("rankopt.search.engine._MOST_EVENTS", most)
    monkeypatch.setattr("rankopt.search.engine._ROOM", 0)
    for module in ("cells", "engine"):
        monkeypatch.setattr(f"rankopt.search.{module}.PARTS", parts)
    engine = Engine(target, scores)
    found = engine.search(slopes, *bounds)
    assert (found.lo, found.hi, found.total) == (whole.lo, whole.hi, whole.total)
    if text in ("ap", "tau"):  # a positional measure needs room for all pairs of some rows at once
        assert engine._workers[0].event_t.size <= 2 * (most + n)


def test_interval_that_holds_zero_wins_among_equals():
    steps = rankopt.line_search([2.0, 1.0], [0.0, 0.0], [1, 0])
    assert (steps.lo, steps.hi, steps.value) == (-np.inf, np.inf, 1.0)
    steps = rankopt.line_search([2.0, 1.0], [0.0, 1.0], [1, 0], bounds=(-5, 5))
    assert (steps.lo, steps.hi) == (-5.0, 1.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scores": [1.0, np.nan]}, "row 2 is nan"),
        ({"direction": [1.0]}, "1 values for 2 scores"),
        ({"bounds": (1.0, 1.0)}, "is no interval"),
        ({"qid": [1]}, "one per row"),
    ],
)
def test_what_is_refused_is_named(change, words):
    arguments = {"scores": [1.0, 2.0], "direction": [1.0, 0.0], "y": [0, 1], **change}
    with pytest.raises(rankopt.DataError, match=words):
        rankopt.line_search(**arguments)
