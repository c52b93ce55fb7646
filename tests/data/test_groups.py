"""Groups against plain dictionaries."""

from itertools import chain

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankopt import DataError, Groups

identifiers = st.one_of(
    st.lists(st.integers(-3, 3), min_size=1, max_size=40),
    st.lists(st.text("abé ", max_size=2), min_size=1, max_size=40),
)


@given(identifiers)
def test_rows_of_a_query_are_brought_together_in_order(qid):
    groups, rows = Groups.from_qid(qid, len(qid))
    expected = {}
    for row, name in enumerate(qid):
        expected.setdefault(name, []).append(row)
    order = np.arange(len(qid)) if rows is None else rows
    assert groups.qids.tolist() == list(expected)
    assert groups.sizes.tolist() == [len(members) for members in expected.values()]
    assert order.tolist() == [row for members in expected.values() for row in members]
    assert (rows is None) == (order.tolist() == list(range(len(qid))))
    assert groups.offsets.dtype == np.int64
    assert (groups.n_rows, groups.n_queries) == (len(qid), len(expected))
    assert groups.longest == max(map(len, expected.values()))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 3)), min_size=1, max_size=20))
def test_runs_are_the_same_as_rows(runs):
    ids, lengths = zip(*runs, strict=True)
    by_run, run_rows = Groups.from_runs(list(ids), np.array(lengths))
    by_row, rows = Groups.from_qid(np.repeat(ids, lengths), sum(lengths))
    assert by_run.qids.tolist() == by_row.qids.tolist()
    assert by_run.offsets.tolist() == by_row.offsets.tolist()
    assert (rows is None) == (run_rows is None)
    if rows is not None:
        assert run_rows.tolist() == rows.tolist()


def test_without_identifiers_all_rows_are_one_query():
    groups, rows = Groups.from_qid(None, 3)
    assert (groups.offsets.tolist(), groups.qids.tolist(), rows) == ([0, 3], [0], None)


@pytest.mark.parametrize(
    ("qid", "qids"),
    [
        ([1.0, 2.0], [1, 2]),
        (np.array(["a", "b"], object), ["a", "b"]),
        (np.array([1, "1", "b"], object), ["1", "b"]),
        (np.array([np.int64(1), 2], object), [1, 2]),
        (pd.Series(["x", "y"], dtype="category"), ["x", "y"]),
        (np.array([True, False]), [True, False]),
        (np.array([1, 2], np.uint8), [1, 2]),
    ],
)
def test_identifiers_of_many_types(qid, qids):
    assert Groups.from_qid(qid, len(qid))[0].qids.tolist() == qids


@pytest.mark.parametrize(
    ("qid", "fault"),
    [
        ([1.5, 2.0], "whole numbers or text"),
        ([np.nan, 1.0], "whole numbers or text, without missing values"),
        ([np.inf, 1.0], "whole numbers or text"),
        (["a", None], "row 2 is None"),
        (np.array(["a", float("nan")], object), "row 2 is nan"),
        (np.array(["a", pd.NA], object), "row 2 is <NA>"),
        (np.array(["2020-01-01", "2020-01-02"], "M8[D]"), r"type datetime64\[D\]"),
        ([[1, 2]], "one per row is needed"),
        ([1, 2, 3], "one per row is needed"),
    ],
)
def test_what_is_no_identifier(qid, fault):
    with pytest.raises(DataError, match=fault):
        Groups.from_qid(qid, 2)


def test_no_rows():
    with pytest.raises(DataError, match="no rows"):
        Groups.from_qid([], 0)


def test_sizes():
    groups = Groups.from_sizes([2, 3])
    assert groups.offsets.tolist() == [0, 2, 5]
    for sizes, fault in [
        ([], "positive"),
        ([2, 0], "positive"),
        ([1.5], "whole"),
        ([[1]], "dimension"),
    ]:
        with pytest.raises(DataError, match=fault):
            Groups.from_sizes(sizes)
    with pytest.raises(DataError, match="add up to 5, but there are 6 rows"):
        Groups.from_sizes([2, 3], 6)


@given(identifiers, st.randoms())
def test_parts_hold_the_rows_of_their_queries(qid, random):
    groups, _ = Groups.from_qid(sorted(qid), len(qid))
    queries = np.array(random.sample(range(groups.n_queries), random.randint(1, groups.n_queries)))
    part, rows = groups.take(queries)
    expected = [list(range(groups.offsets[q], groups.offsets[q + 1])) for q in queries]
    assert part.qids.tolist() == groups.qids[queries].tolist()
    assert rows.tolist() == list(chain(*expected))
    assert part.sizes.tolist() == [len(members) for members in expected]
    values = np.arange(len(qid), dtype=np.float64)
    np.testing.assert_array_equal(part.total(values[rows]), [float(sum(e)) for e in expected])
    owners = [[query] * len(e) for query, e in zip(queries.tolist(), expected, strict=True)]
    assert part.spread(queries).tolist() == list(chain(*owners))
