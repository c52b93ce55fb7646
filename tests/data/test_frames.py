"""Frames of pandas, polars and pyarrow, and Parquet files, give the same dataset."""

import datetime
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rankopt
from rankopt import DataError
from rankopt.data import frames

COLUMNS = {
    "grade": [2, 0, 1, 0, 3],
    "q": ["b", "a", "b", "c", "a"],
    "bm25": [1.5, 2.0, -1.0, 0.25, 4.0],
    "clicks": [3, 1, 0, 2, 2],
    "new": [True, False, False, True, True],
    "doc": ["v", "w", "x", "y", "z"],
    "weight": [1.0, 0.5, 1.0, 2.0, 0.5],
}
ROLES = {"label": "grade", "qid": "q", "docs": "doc", "weight": "weight"}


def via_parquet(columns, tmp_path, **options):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=2)
    return rankopt.read_parquet(path, **options)


def frame(build):
    return lambda columns, _, **options: rankopt.from_frame(build(columns), **options)


SOURCES = {
    "pandas": frame(pd.DataFrame),
    "polars": frame(pl.DataFrame),
    "pyarrow": frame(pa.table),
    "parquet": via_parquet,
}
sources = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)


@sources
@pytest.mark.parametrize("step", [1, 2, 1 << 15])
def test_every_source_gives_the_same(source, tmp_path, monkeypatch, step):
    monkeypatch.setattr(frames, "_STEP", step)
    data = source(COLUMNS, tmp_path, **ROLES)
    rows = [0, 2, 1, 4, 3]
    assert data.features == ("bm25", "clicks", "new")
    expected = np.column_stack([COLUMNS[name] for name in data.features])[rows]
    np.testing.assert_array_equal(data.X, expected)
    assert data.X.dtype == np.float64
    assert data.y.tolist() == [2, 1, 0, 3, 0]
    assert data.groups.qids.tolist() == ["b", "a", "c"]
    assert data.docs.tolist() == ["v", "x", "w", "z", "y"]
    assert data.weights.tolist() == [1.0, 0.5, 2.0]
    assert data.rows.tolist() == rows


@sources
def test_columns_are_chosen_and_ordered_by_name(source, tmp_path):
    data = source(COLUMNS, tmp_path, label=None, qid=None, features=["clicks", "bm25"])
    assert data.X.tolist() == [
        list(pair) for pair in zip(COLUMNS["clicks"], COLUMNS["bm25"], strict=True)
    ]
    assert data.features == ("clicks", "bm25")
    assert data.y is None
    assert data.groups.n_queries == 1


@sources
@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["float32"], np.float32),
        (["float32", "bool", "int8", "uint16", "float16"], np.float32),
        (["int16"], np.float32),
        (["float32", "float64"], np.float64),
        (["float32", "int32"], np.float64),
        (["int64"], np.float64),
    ],
)
def test_float32_where_it_holds_every_value(source, tmp_path, kinds, expected):
    columns = {f"f{i}": np.array([0, 1], kind) for i, kind in enumerate(kinds)}
    data = source(columns, tmp_path, label=None, qid=None)
    assert data.X.dtype == expected
    assert data.X.tolist() == [[0.0] * len(kinds), [1.0] * len(kinds)]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": pd.array([1, None, 3], "Int64"), "b": [None, 2.0, 3.0]}),
        pl.DataFrame({"a": [1, None, 3], "b": [None, 2.0, 3.0]}),
        pa.table({"a": [1, None, 3], "b": [None, 2.0, 3.0]}),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_missing_features_are_nan(table):
    X = rankopt.from_frame(table, label=None, qid=None).X
    np.testing.assert_array_equal(X, [[1.0, np.nan], [np.nan, 2.0], [3.0, 3.0]])


@sources
@pytest.mark.parametrize(
    ("change", "options", "fault"),
    [
        ({"bm25": list("abcde")}, {}, "feature 'bm25' is of type String, not numbers"),
        ({"bm25": [datetime.date(2020, 1, 1)] * 5}, {}, "feature 'bm25' is of type"),
        ({}, {"label": "grades"}, r"no column 'grades' \(label=\); did you mean 'grade'\?"),
        ({}, {"qid": "zzz"}, r"no column 'zzz' \(qid=\); it has 'grade', 'q', 'bm25'"),
        ({}, {"features": ["bm52"]}, r"no column 'bm52' \(features=\); did you mean 'bm25'"),
        ({}, {"features": ["bm25", "bm25"]}, "column 'bm25' is named twice"),
        ({}, {"features": ["grade"]}, "column 'grade' is named twice"),
        ({"grade": [1.0, 2.0, None, 0.0, 0.0]}, {}, "grade: row 3 has no value; label= needs one"),
        ({"grade": [1.0, 2.0, 0.0, float("nan"), 0.0]}, {}, "grade: row 4 has no value"),
        ({"q": ["a", None, "b", "b", "c"]}, {}, "q: row 2 has no value; qid= needs one"),
        ({"q": [1.5, 1.0, 2.0, 2.0, 3.0]}, {}, "identifiers must be whole numbers or text"),
        ({"grade": list("abcde")}, {}, "'grade' is of type String, but label= needs numbers"),
        ({"weight": [1.0, 2.0, 3.0, 4.0, 5.0]}, {}, "query b has rows of different weights"),
        ({"bm25": [1.0, float("inf"), 0.0, 0.0, 0.0]}, {}, "row 2, feature 1 is infinite"),
        ({"q": [datetime.date(2020, 1, 1)] * 5}, {}, "integers or text"),
    ],
)
def test_one_clear_line(source, tmp_path, change, options, fault):
    columns = {**COLUMNS, **change}
    with pytest.raises(DataError, match=fault) as caught:
        source(columns, tmp_path, **{**ROLES, **options})
    assert "\n" not in str(caught.value)


def test_no_rows(tmp_path):
    empty = pa.table(COLUMNS)[:0]
    pq.write_table(empty, tmp_path / "empty.parquet")
    for table in (empty, empty.to_pandas(), pl.from_arrow(empty)):
        with pytest.raises(DataError, match="frame: no rows"):
            rankopt.from_frame(table, **ROLES)
    with pytest.raises(DataError, match=r"empty\.parquet: no rows"):
        rankopt.read_parquet(tmp_path / "empty.parquet", **ROLES)


def test_what_is_no_frame():
    for thing in ([[1, 2]], {"a": [1]}, pl.LazyFrame({"a": [1]})):
        with pytest.raises(DataError, match="is not a pandas or polars frame or a pyarrow table"):
            rankopt.from_frame(thing, label=None, qid=None)
    with pytest.raises(DataError, match="two columns have the same name"):
        rankopt.from_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]), label=None, qid=None)


def test_a_folder_of_parquet_files_is_one_table(tmp_path):
    for number in (0, 1):
        rows = {name: values[number::2] for name, values in COLUMNS.items()}
        pq.write_table(pa.table(rows), tmp_path / f"part-{number}.parquet")
    (tmp_path / "_SUCCESS").touch()
    data = rankopt.read_parquet(tmp_path, **ROLES)
    assert data.docs.tolist() == ["v", "x", "z", "w", "y"]


def test_parquet_that_cannot_be_read(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"not parquet")
    with pytest.raises(DataError, match=r"bad\.parquet: cannot be read as Parquet"):
        rankopt.read_parquet(tmp_path / "bad.parquet", label="a", qid="b")
    with pytest.raises(DataError, match=r"none\.parquet: cannot be read as Parquet"):
        rankopt.read_parquet(tmp_path / "none.parquet", label="a", qid="b")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"the folder has no \*\.parquet file"):
        rankopt.read_parquet(tmp_path / "empty", label="a", qid="b")


def test_without_pyarrow_the_way_out_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"pip install 'rankopt\[parquet\]'"):
        rankopt.read_parquet(tmp_path / "a.parquet", label="a", qid="b")
