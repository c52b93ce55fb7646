"""Datasets from arrays."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_matrix, csr_array

import rankopt
from rankopt import DataError
from rankopt.data import dataset as module


def test_rows_are_brought_together_and_back():
    X = np.arange(10.0).reshape(5, 2)
    data = rankopt.dataset(X, [5, 4, 3, 2, 1], list("babca"), docs=list("vwxyz"))
    assert data.groups.qids.tolist() == ["b", "a", "c"]
    assert data.rows.tolist() == [0, 2, 1, 4, 3]
    np.testing.assert_array_equal(data.X, X[data.rows])
    assert data.y.tolist() == [5, 3, 4, 1, 2]
    assert data.docs.tolist() == list("vxwzy")
    assert data.restored(data.y).tolist() == [5, 4, 3, 2, 1]
    assert data.stored(np.array([5, 4, 3, 2, 1])).tolist() == data.y.tolist()


def test_float32_stays_and_all_else_becomes_float64():
    for X, dtype in [
        (np.ones((1, 1), np.float32), np.float32),
        (np.ones((1, 1), np.int32), np.float64),
        (np.ones((1, 1), np.float16), np.float64),
        ([[True]], np.float64),
        (pd.DataFrame({"a": [1]}), np.float64),
        (coo_matrix(np.ones((1, 1), np.float32)), np.float32),
        (csr_array(np.ones((1, 1), np.int64)), np.float64),
    ]:
        assert rankopt.dataset(X).X.dtype == dtype


def test_parts_are_problems_of_their_own():
    data = rankopt.dataset(
        np.arange(5.0)[:, None],
        range(5),
        [1, 2, 1, 3, 2],
        query_weight=[1.0, 2.0, 3.0],
        docs=list("abcde"),
    )
    part = data.take(np.array([2, 0]))
    assert part.groups.qids.tolist() == [3, 1]
    assert part.y.tolist() == [3.0, 0.0, 2.0]
    assert part.X[:, 0].tolist() == [3.0, 0.0, 2.0]
    assert part.weights.tolist() == [3.0, 1.0]
    assert part.docs.tolist() == ["d", "a", "c"]
    assert part.rows is None


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"X": [[1.0], ["a"]]}, "X holds values that are not numbers"),
        ({"X": [1.0, 2.0]}, r"X has shape \(2,\)"),
        ({"y": [1]}, "1 labels for 2 rows"),
        ({"y": [1, np.nan]}, "row 2 is nan"),
        ({"y": ["a", "b"]}, "y: not numbers"),
        ({"qid": [1, 2], "group": [2]}, "qid and group say the same thing"),
        ({"group": [3]}, "add up to 3, but there are 2 rows"),
        ({"docs": ["a"]}, "docs"),
        ({"features": ("a", "b")}, "2 names for 1 columns"),
        ({"query_weight": [1, 1], "qid": [1, 1]}, "2 weights, but there are 1 queries"),
        ({"query_weight": [-1, 1], "qid": [1, 2]}, "must not be negative"),
        ({"query_weight": [0, 0], "qid": [1, 2]}, "not all zero"),
        ({"X": [[1.0], [np.inf]]}, "data: row 2, feature 1 is infinite"),
        ({"X": csr_array(np.array([[0.0], [-np.inf]]))}, "data: row 2, feature 1 is infinite"),
    ],
)
def test_what_does_not_fit_is_refused(options, fault):
    with pytest.raises(DataError, match=fault):
        rankopt.dataset(**{"X": [[1.0], [2.0]], **options})


@pytest.mark.parametrize("step", [1, 2, 4096])
def test_the_infinite_value_is_found_in_any_block(monkeypatch, step):
    monkeypatch.setattr(module, "_STEP", step)
    X = np.ones((5, 3))
    X[0, 0] = np.nan
    rankopt.dataset(X)
    X[3, 1] = np.inf
    for features in (X, csr_array(X)):
        with pytest.raises(DataError, match="row 4, feature 2 is infinite"):
            rankopt.dataset(features)


def test_labels_are_asked_for_by_name():
    with pytest.raises(DataError, match="mine: has no labels"):
        rankopt.dataset([[1.0]], name="mine").labels  # noqa: B018


def test_a_data_frame_brings_the_names_of_its_columns():
    frame = pd.DataFrame({"bm25": [0.5, 1.0], "age": [3, 4]})
    assert rankopt.dataset(frame, [0, 1]).features == ("bm25", "age")
    assert rankopt.dataset(frame, [0, 1], features=("a", "b")).features == ("a", "b")
    assert rankopt.dataset(frame.set_axis([0, 1], axis=1), [0, 1]).features == ()


def test_a_dataset_prints_on_one_line():
    data = rankopt.dataset(np.zeros((3, 2)), [0, 1, 2], ["b", "a", "b"], name="shop.txt")
    assert repr(data) == "<Dataset shop.txt: 3 rows, 2 features, 2 queries>"
