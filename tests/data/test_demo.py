"""The demo's search problem: readable, the same every time, and worth learning."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import rankopt
from rankopt.data.demo import FEATURES, demo_search
from rankopt.data.scale import scale_standard

SEARCH = demo_search()
PARTS = [SEARCH.train, SEARCH.valid, SEARCH.test]


def test_every_run_shows_the_same():
    again = demo_search()
    assert again.train.X.tobytes() == SEARCH.train.X.tobytes()
    assert again.test.y.tobytes() == SEARCH.test.y.tobytes()
    assert again.queries == SEARCH.queries
    assert again.titles == SEARCH.titles
    assert demo_search(1).queries != SEARCH.queries


def test_parts_share_no_query_and_cover_all():
    qids = [qid for part in PARTS for qid in part.groups.qids.tolist()]
    assert qids == list(range(1, 321))
    assert sorted(SEARCH.queries) == qids


def test_everything_has_a_name_and_a_text():
    for part in PARTS:
        assert part.features == FEATURES
        assert part.X.shape[1] == len(FEATURES)
        assert np.isfinite(part.X).all()
        assert {SEARCH.titles[doc] for doc in part.docs.tolist()}
        assert all(SEARCH.queries[qid] for qid in part.groups.qids.tolist())
        assert np.unique(part.y).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
        assert part.groups.sizes.min() >= 5


def test_text_features_come_from_the_texts():
    data = SEARCH.train
    query = data.groups.spread(data.groups.qids)
    for row in range(0, data.n_rows, 50):
        words = SEARCH.queries[int(query[row])].split()
        title = SEARCH.titles[data.docs[row]].lower().split()
        share = sum(word in title for word in words) / len(words)
        assert data.X[row, FEATURES.index("title_coverage")] == pytest.approx(share, abs=1e-4)
        assert data.X[row, FEATURES.index("title_words")] == len(title)
        assert (data.X[row, FEATURES.index("title_bm25")] > 0.0) == (share > 0.0)


def test_there_is_something_to_learn():
    def value(scores):
        return rankopt.evaluate(scores, SEARCH.test, "ndcg@10").mean["ndcg@10"]

    scaled, scaling = scale_standard(SEARCH.train)
    learnt = Ridge().fit(scaled.X, scaled.y).predict(scaling.apply(SEARCH.test.X))
    single = [value(SEARCH.test.X[:, j]) for j in range(len(FEATURES))]
    assert 0.5 < value(SEARCH.test.X[:, FEATURES.index("title_bm25")]) < 0.75
    assert max(single) + 0.08 < value(learnt) < 0.95
