"""Every LETOR file of the shared data reads as scikit-learn reads it."""

import gzip
import io

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

import rankopt
from rankopt.threads import using_threads

FILES = [  # the other folds hold the same rows
    *(f"mq2008/Fold1/{part}.txt.gz" for part in ("train", "vali", "test")),
    *(f"ohsumed_letor3/QueryLevelNorm/Fold1/{part}.txt.gz" for part in ("train", "vali", "test")),
    *(f"ohsumed_letor3/Feature-min/S{part}.txt.gz" for part in (1, 2, 3, 4, 5)),
    *(f"ohsumed_letor3/Feature-null/S{part}.txt.gz" for part in (1, 2, 3, 4, 5)),
    *(f"mslr_web30k_sample/{part}.txt.gz" for part in ("train", "vali", "test")),
    *(f"lightgbm_rank/{part}.letor.txt.gz" for part in ("train", "test")),
    *(f"trec_news_2018/trec_news_2018.{part}.gz" for part in ("train", "test")),
]


@pytest.mark.parametrize("file", FILES)
def test_a_file_reads_as_in_scikit_learn(real_data, file):
    path = real_data / file
    # scikit-learn does not know NULL, but NaN
    text = gzip.decompress(path.read_bytes()).replace(b"NULL", b"nan")
    X, y, qid = load_svmlight_file(io.BytesIO(text), query_id=True)
    for dtype in (np.float32, np.float64):
        data = rankopt.read_letor(path, dtype=dtype, missing="nan" if "null" in file else "zero")
        assert data.X.tobytes() == X.toarray().astype(dtype).tobytes()
        assert data.y.tobytes() == y.tobytes()
        np.testing.assert_array_equal(data.groups.spread(data.groups.qids), qid)
        assert data.rows is None


@pytest.mark.parametrize("part", ["train", "test"])
def test_sizes_beside_the_file_are_the_same_queries(real_data, part):
    folder = real_data / "lightgbm_rank"
    sized = rankopt.read_letor(folder / f"rank.{part}.gz", group=folder / f"rank.{part}.query.gz")
    named = rankopt.read_letor(folder / f"{part}.letor.txt.gz")
    assert sized.X.tobytes() == named.X.tobytes()
    assert sized.y.tobytes() == named.y.tobytes()
    assert sized.groups.offsets.tolist() == named.groups.offsets.tolist()


def test_threads_change_no_bit(real_data):
    path = real_data / "mq2008/Fold1/train.txt.gz"
    with using_threads(1):
        one = rankopt.read_letor(path)
    with using_threads(2):
        two = rankopt.read_letor(path)
    assert one.X.tobytes() == two.X.tobytes()
    assert one.docs.tolist() == two.docs.tolist()


def test_documents_of_letor_3_and_4(real_data):
    assert rankopt.read_letor(real_data / "mq2008/Fold1/test.txt.gz").docs[0] == "GX004-93-7097963"
    assert (
        rankopt.read_letor(real_data / "ohsumed_letor3/Feature-min/S1.txt.gz").docs[0] == "244338"
    )


def test_undefined_language_models_of_ohsumed_become_the_minimum_of_the_query(real_data):
    """LETOR's own Feature-min files do so for language models; undefined BM25 they set to 0."""
    for part in (1, 2, 3, 4, 5):
        folder = real_data / "ohsumed_letor3"
        null = folder / f"Feature-null/S{part}.txt.gz"
        least = rankopt.read_letor(null, missing="query-minimum").X
        gaps = np.isnan(rankopt.read_letor(null, missing="nan").X)
        theirs = rankopt.read_letor(folder / f"Feature-min/S{part}.txt.gz").X
        language = np.array([12, 13, 14, 27, 28, 29, 42, 43, 44])
        np.testing.assert_array_equal(least[:, language], theirs[:, language])
        np.testing.assert_array_equal(least[~gaps], theirs[~gaps])
        others = np.setdiff1d(np.arange(45), language)
        assert np.all(theirs[:, others][gaps[:, others]] == 0.0)
