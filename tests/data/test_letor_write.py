"""Writing LETOR text: it reads back bit by bit, here and in scikit-learn."""

import gzip
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array
from sklearn.datasets import load_svmlight_file

import rankopt
from rankopt import DataError
from rankopt.data import letor

words = st.text(
    st.characters(min_codepoint=33, blacklist_categories=("Cs", "Cc")), min_size=1, max_size=8
)


@st.composite
def datasets(draw):
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    shape = draw(st.tuples(st.integers(1, 12), st.integers(0, 5)))
    width = 32 if dtype is np.float32 else 64
    values = st.one_of(
        st.floats(allow_infinity=False, width=width),
        st.floats(-1000, 1000).map(lambda value: dtype(round(value, 6))),
        st.integers(-5, 5).map(dtype),
    )
    X = draw(hnp.arrays(dtype, shape, elements=values))
    y = draw(
        hnp.arrays(np.float64, shape[0], elements=st.floats(allow_infinity=False, allow_nan=False))
    )
    qid = draw(
        st.lists(
            words.map(lambda word: word.replace("#", "_")), min_size=shape[0], max_size=shape[0]
        )
    )
    docs = draw(st.none() | st.lists(st.just("") | words, min_size=shape[0], max_size=shape[0]))
    return rankopt.dataset(X, y, ["q" + text for text in qid], docs=docs)


@given(datasets())
def test_what_is_written_is_read_again(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("round") / "data.txt"
    rankopt.write_letor(path, data)
    again = rankopt.read_letor(
        path, dtype=data.X.dtype, missing="nan", n_features=max(1, data.n_features), first_id=1
    )
    X = again.X[:, : data.n_features]
    same = (X.view(f"u{X.itemsize}") == data.X.view(f"u{X.itemsize}")) | (
        np.isnan(X) & np.isnan(data.X)
    )
    assert same.all()
    assert again.y.tobytes() == data.y.tobytes()
    assert again.groups.qids.tolist() == data.groups.qids.tolist()
    assert again.groups.offsets.tolist() == data.groups.offsets.tolist()
    if data.docs is None or not any(data.docs):
        assert again.docs is None
    else:
        assert again.docs.tolist() == data.docs.tolist()


def test_numbers_are_as_short_as_they_can_be(tmp_path):
    values = [0.1, 0.25, 3.0, -0.0, 1e-3, 123456.7, 16777216.0, 1e10, 0.3333333432674408, math.nan]
    path = tmp_path / "data.txt"
    rankopt.write_letor(path, rankopt.dataset(np.array([values], np.float32), [0.5], ["a"]))
    assert path.read_text() == (
        "0.5 qid:a 1:0.1 2:0.25 3:3 4:-0 5:0.001 6:123456.7 7:16777216 8:10000000000 9:0.33333334"
        " 10:NaN\n"
    )


def test_scikit_learn_reads_it(tmp_path):
    data = rankopt.simulate(n_queries=20, n_features=7, seed=4)
    path = tmp_path / "data.txt"
    rankopt.write_letor(path, data)
    X, y, qid = load_svmlight_file(str(path), query_id=True, n_features=7, zero_based=False)
    np.testing.assert_array_equal(X.toarray().astype(np.float32), data.X)
    np.testing.assert_array_equal(y, data.y)
    np.testing.assert_array_equal(qid, data.groups.spread(data.groups.qids))


@pytest.mark.parametrize("batch", [1, 100, 1 << 17])
@pytest.mark.parametrize("name", ["data.txt", "data.txt.gz", "data.txt.xz"])
def test_batches_and_compression_do_not_matter(tmp_path, monkeypatch, batch, name):
    monkeypatch.setattr(letor, "_BATCH", batch)
    data = rankopt.simulate(n_queries=12, n_features=5, seed=2)
    rankopt.write_letor(tmp_path / name, data)
    again = rankopt.read_letor(tmp_path / name)
    assert again.X.tobytes() == data.X.tobytes()
    assert again.y.tobytes() == data.y.tobytes()


def test_the_same_data_gives_the_same_archive(tmp_path):
    data = rankopt.simulate(n_queries=3, n_features=2)
    for name in ("a.txt.gz", "b.txt.gz"):
        rankopt.write_letor(tmp_path / name, data)
    assert (tmp_path / "a.txt.gz").read_bytes() == (tmp_path / "b.txt.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.txt.gz").read_bytes()).count(b"\n") == data.n_rows


@pytest.mark.parametrize(
    ("features", "ids"),
    [
        ((), "1 2 3"),
        (("0", "1", "2"), "0 1 2"),
        (("3", "7", "19"), "3 7 19"),
        (("7", "3", "19"), "1 2 3"),
        (("a", "1", "2"), "1 2 3"),
        (("1", "2", "9999999999"), "1 2 3"),
    ],
)
def test_names_that_are_ids_are_kept(tmp_path, features, ids):
    path = tmp_path / "data.txt"
    rankopt.write_letor(path, rankopt.dataset(np.ones((1, 3)), [0], features=features))
    assert path.read_text() == "0 qid:0 " + " ".join(f"{i}:1" for i in ids.split()) + "\n"


def test_sparse_features_are_written_as_stored(tmp_path):
    path = tmp_path / "data.txt"
    X = csr_array(np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.5, 0.0, 3.0]]))
    rankopt.write_letor(path, rankopt.dataset(X, [1, 0, 2], ["b", "a", "b"]))
    assert path.read_text() == "1 qid:b 2:2\n2 qid:b 1:1.5 3:3\n0 qid:a\n"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"y": None}, "data: has no labels"),
        ({"qid": ["a b", "c"]}, "qid: 'a b' cannot be written"),
        ({"qid": ["a#", "c"]}, "qid: 'a#' cannot be written"),
        ({"qid": ["", "c"]}, "qid: query 1 has an empty identifier"),
        ({"docs": ["d\n", "e"]}, r"doc: 'd\\n' cannot be written"),
    ],
)
def test_what_text_cannot_hold_is_refused_and_nothing_is_left(tmp_path, changes, fault):
    whole = {"y": [1, 0], "qid": ["a", "b"], "docs": ["d", "e"], **changes}
    data = rankopt.dataset(np.ones((2, 2)), **whole)
    with pytest.raises(DataError, match=fault):
        rankopt.write_letor(tmp_path / "data.txt", data)
    assert list(tmp_path.iterdir()) == []


def test_an_infinite_feature_is_refused_and_the_old_file_stays(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("old")
    data = rankopt.dataset(np.ones((2, 2)), [1, 0])
    data.X[1, 0] = np.inf
    with pytest.raises(DataError, match="row 2 has an infinite feature"):
        rankopt.write_letor(path, data)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
