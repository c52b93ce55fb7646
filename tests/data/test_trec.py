"""TREC files and their join, against trec_eval where it is at hand."""

import gzip
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankopt
from rankopt import DataError, Groups
from rankopt.data.trec import Qrels, Run, judged, read_qrels, read_run, write_qrels, write_run

QRELS = "301 0 d1 2\n301\t0  d2\t-2\r\n\n302 0 d1 1\n301 0 d3 1\n303 0 d9 0\n"
RUN = "302 Q0 d7 1 3.5 mine\n301 Q0 d3 1 -1e-3 mine\n301 Q0 d5 2 7 mine\n300 Q0 d1 1 1 mine\n"


def written(tmp_path, name, text):
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return tmp_path / name


def table(groups, docs, values):
    rows = zip(groups.spread(groups.qids).tolist(), docs.tolist(), values.tolist(), strict=True)
    return {(topic, doc): value for topic, doc, value in rows}


def test_lines_are_read(tmp_path):
    qrels = read_qrels(written(tmp_path, "qrels", QRELS))
    assert qrels.groups.qids.tolist() == ["301", "302", "303"]
    assert qrels.docs.tolist() == ["d1", "d2", "d3", "d1", "d9"]
    assert qrels.labels.tolist() == [2.0, -2.0, 1.0, 1.0, 0.0]
    run = read_run(written(tmp_path, "run.gz", gzip.compress(RUN.encode())))
    assert run.groups.qids.tolist() == ["302", "301", "300"]
    assert run.docs.tolist() == ["d7", "d3", "d5", "d1"]
    assert run.scores.tolist() == [3.5, -0.001, 7.0, 1.0]
    assert run.tag == "mine"


def test_the_join(tmp_path):
    qrels = read_qrels(written(tmp_path, "qrels", QRELS))
    run = read_run(written(tmp_path, "run", RUN))
    rows = judged(run, qrels)
    assert rows.groups.qids.tolist() == ["302", "301"]
    assert rows.docs.tolist() == ["d7", "d3", "d5"]
    assert rows.labels.tolist() == [0.0, 1.0, 0.0]
    assert rows.missing_offsets.tolist() == [0, 1, 3]
    assert rows.missing_labels.tolist() == [1.0, 2.0, 0.0]
    assert rows.unjudged_topics == ("300",)
    assert rows.unanswered_topics == ("303",)
    assert judged(run, qrels, unjudged=0.5).labels.tolist() == [0.5, 1.0, 0.5]


def test_complete_topics_count_as_answered_by_nothing(tmp_path):
    qrels = read_qrels(written(tmp_path, "qrels", QRELS))
    run = read_run(written(tmp_path, "run", RUN))
    rows = judged(run, qrels, unjudged=0.5, complete=True)
    assert rows.groups.qids.tolist() == ["302", "301", "303"]
    assert rows.docs.tolist() == ["d7", "d3", "d5", ""]
    assert rows.labels.tolist() == [0.5, 1.0, 0.5, 0.0]
    assert rows.missing_labels.tolist() == [1.0, 2.0, 0.0, 0.0]
    assert rows.unanswered_topics == ("303",)


names = st.text("abc1", min_size=1, max_size=2)
judgements = st.dictionaries(st.tuples(names, names), st.integers(-2, 4), min_size=1, max_size=30)
retrieved = st.dictionaries(st.tuples(names, names), st.floats(-9, 9), min_size=1, max_size=30)


def grouped(rows):
    groups, order = Groups.from_qid([topic for topic, _ in rows], len(rows))
    order = np.arange(len(rows)) if order is None else order
    docs = np.array([doc for _, doc in rows])
    return groups, docs[order], np.array(list(rows.values()), np.float64)[order]


@given(judgements, retrieved)
def test_files_hold_what_was_written(tmp_path_factory, grades, scores):
    folder = tmp_path_factory.mktemp("trec")
    write_qrels(folder / "qrels.xz", Qrels(*grouped(grades)))
    qrels = read_qrels(folder / "qrels.xz")
    assert table(qrels.groups, qrels.docs, qrels.labels) == grades
    write_run(folder / "run.gz", Run(*grouped(scores), tag="me"))
    run = read_run(folder / "run.gz")
    assert table(run.groups, run.docs, run.scores) == scores
    assert run.tag == "me"
    for start, stop in zip(run.groups.offsets[:-1], run.groups.offsets[1:], strict=True):
        keys = list(zip(run.scores[start:stop], run.docs[start:stop], strict=True))
        assert keys == sorted(keys, reverse=True)


@given(judgements, retrieved)
def test_nothing_is_lost_in_the_join(grades, scores):
    run, qrels = Run(*grouped(scores)), Qrels(*grouped(grades))
    shared = {topic for topic, _ in grades} & {topic for topic, _ in scores}
    if not shared:
        with pytest.raises(DataError, match="none of its topics"):
            judged(run, qrels)
        return
    rows = judged(run, qrels)
    topics = rows.groups.qids.tolist()
    assert set(topics) == shared
    assert table(rows.groups, rows.docs, rows.scores) == {
        k: v for k, v in scores.items() if k[0] in shared
    }
    labels = table(rows.groups, rows.docs, rows.labels)
    assert labels == {key: max(grades.get(key, 0), 0) for key in labels}
    for i, topic in enumerate(topics):
        missing = rows.missing_labels[rows.missing_offsets[i] : rows.missing_offsets[i + 1]]
        expected = [max(v, 0) for k, v in grades.items() if k[0] == topic and k not in scores]
        assert sorted(missing) == sorted(expected)


def test_measures_of_a_run_are_those_of_trec_eval(tmp_path):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(0)
    qrels_text = "".join(
        f"{topic} 0 d{doc} {rng.integers(-1, 4)}\n"
        for topic in range(30)
        for doc in range(rng.integers(1, 25))
    )
    run_text = "".join(
        f"{topic} Q0 d{doc} 0 {rng.integers(8) / 4} t\n"
        for topic in range(2, 33)
        for doc in rng.permutation(40)[: rng.integers(1, 30)]
    )
    qrels = read_qrels(written(tmp_path, "qrels", qrels_text))
    run = read_run(written(tmp_path, "run", run_text))
    rows = judged(run, qrels)
    evaluator = pytrec_eval.RelevanceEvaluator(
        {
            t: {d: int(v) for d, v in docs.items()}
            for t, docs in nested(qrels.groups, qrels.docs, qrels.labels)
        },
        {"map", "ndcg_cut_10", "recall_5"},
    )
    theirs = evaluator.evaluate(dict(nested(run.groups, run.docs, run.scores)))
    assert rows.groups.qids.tolist() == list(theirs)
    from rankopt.evaluation.scores import evaluate_scores

    ours = evaluate_scores(
        rows.scores, rows.labels, rows.groups, ["map", "ndcg@10", "recall@5"],
        convention="trec_eval", docs=rows.docs, ideal=(rows.missing_offsets, rows.missing_labels),
    )  # fmt: skip
    for mine, name in [("map", "map"), ("ndcg@10", "ndcg_cut_10"), ("recall@5", "recall_5")]:
        expected = [theirs[topic][name] for topic in rows.groups.qids.tolist()]
        np.testing.assert_allclose(ours.per_query[mine], expected, atol=1e-12)


def nested(groups, docs, values):
    for topic, start, stop in zip(
        groups.qids.tolist(), groups.offsets, groups.offsets[1:], strict=False
    ):
        yield topic, dict(zip(docs[start:stop].tolist(), values[start:stop].tolist(), strict=True))


@pytest.mark.parametrize(
    ("read", "line", "fault"),
    [
        (read_qrels, "301 0 d1", "has 3 fields; expected 'topic iteration document grade'"),
        (read_qrels, "301 0 d1 1 1", "has 5 fields"),
        (read_qrels, "301 0 d1 x", "grade 'x' is not a finite number"),
        (read_qrels, "301 0 d1 nan", "grade 'nan' is not a finite number"),
        (read_qrels, "300 0 d0 1", "document 'd0' occurs twice for topic '300'"),
        (read_run, "301 Q0 d1 1 5", "has 5 fields; expected 'topic Q0 document rank score tag'"),
        (read_run, "301 Q0 d1 1 x tag", "score 'x' is not a finite number"),
        (read_run, "301 Q0 d1 1 inf tag", "score 'inf' is not a finite number"),
        (read_run, "300 Q0 d0 9 1 tag", "document 'd0' occurs twice for topic '300'"),
        (read_run, b"301 Q0 caf\xe9 1 1 tag", "is not UTF-8"),
    ],
)
def test_a_bad_line_is_named(tmp_path, read, line, fault):
    good = b"300 0 d0 1\n\n" if read is read_qrels else b"300 Q0 d0 1 1 tag\n\n"
    path = written(
        tmp_path, "bad", good + (line if isinstance(line, bytes) else line.encode()) + b"\nx\n"
    )
    with pytest.raises(DataError, match=re.escape(f"{path}:3: ")) as caught:
        read(path)
    assert fault in str(caught.value)


@pytest.mark.parametrize("read", [read_qrels, read_run])
def test_a_file_without_rows(tmp_path, read):
    with pytest.raises(DataError, match="no rows; expected lines of 'topic"):
        read(written(tmp_path, "empty", "\n \n"))


def test_topics_that_never_meet_are_shown(tmp_path):
    qrels = read_qrels(written(tmp_path, "qrels", "".join(f"q{i} 0 d 1\n" for i in range(5))))
    run = read_run(written(tmp_path, "run", "1 Q0 d 1 1 t\n2 Q0 d 1 1 t\n"))
    with pytest.raises(
        DataError,
        match=r"run: none of its topics \(1, 2\) is judged in .*qrels \(q0, q1, q2, \.\.\.\)",
    ):
        judged(run, qrels)


def test_the_run_of_a_dataset_takes_scores_in_the_order_of_the_caller(tmp_path):
    data = rankopt.dataset([[0.0]] * 3, [1, 0, 2], [7, 8, 7], docs=["x", "y", "z"])
    write_run(tmp_path / "run", Run.of(data, [0.1, 0.2, 0.3], tag="t"))
    assert (tmp_path / "run").read_text() == "7 Q0 z 1 0.3 t\n7 Q0 x 2 0.1 t\n8 Q0 y 1 0.2 t\n"


@pytest.mark.parametrize(
    ("docs", "scores", "fault"),
    [
        (None, [1.0, 2.0], "has no document identifiers"),
        (["a", "b"], [1.0], "1 values, but data has 2 rows"),
        (["a", "b"], [1.0, np.nan], "row 2 is nan"),
    ],
)
def test_what_makes_no_run(docs, scores, fault):
    with pytest.raises(DataError, match=fault):
        Run.of(rankopt.dataset([[0.0]] * 2, docs=docs), scores)


def test_fields_with_blanks_are_refused_and_nothing_is_left(tmp_path):
    data = rankopt.dataset([[0.0]], docs=["a b"])
    with pytest.raises(DataError, match="'a b' cannot be a field"):
        write_run(tmp_path / "run", Run.of(data, [1.0]))
    assert list(tmp_path.iterdir()) == []


def test_real_judgements(real_data):
    qrels = read_qrels(real_data / "cranfield/cranqrel.trec.txt.gz")
    assert (qrels.groups.n_queries, qrels.docs.size) == (225, 1837)
    assert np.unique(qrels.labels, return_counts=True)[1].tolist() == [225, 1611, 1]
    news = read_qrels(real_data / "trec_news_2018/newsir18-entity.qrel.gz")
    assert news.docs[0] == "321.1"
