"""Question and answer text: files as they come, and what is wrong with them, by line."""

import gzip

import numpy as np
import pytest

import rankopt
from rankopt.errors import DataError

HEADER = "question\tanswer\tlabel\n"


def written(tmp_path, text, name="pairs.tsv"):
    path = tmp_path / name
    raw = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


def test_equal_questions_are_one_query_in_any_row_order(tmp_path):
    text = HEADER + "who?\ta\t0\nwhere?\tb\t1\nwho?\tc\t2.5\n"
    data = rankopt.read_pairs(written(tmp_path, text))
    assert data.texts.questions.tolist() == ["who?", "where?"]
    assert data.texts.answers.tolist() == ["a", "c", "b"]
    assert data.y.tolist() == [0.0, 2.5, 1.0]
    assert data.restored(data.texts.answers).tolist() == ["a", "b", "c"]
    assert "text" in repr(data)
    part = data.take(np.array([1]))
    assert part.texts.questions.tolist() == ["where?"]
    assert part.texts.answers.tolist() == ["b"]


def test_qid_tells_queries_of_one_question_apart(tmp_path):
    text = "qid\tquestion\tanswer\tlabel\n7\twho?\ta\t0\n9\twho?\tb\t1\n7\twho?\tc\t1\n"
    data = rankopt.read_pairs(written(tmp_path, text))
    assert data.groups.qids.tolist() == [7, 9]
    assert data.groups.sizes.tolist() == [2, 1]
    text = text.replace("\n7\t", "\n07\t")
    assert rankopt.read_pairs(written(tmp_path, text)).groups.qids.tolist() == ["07", "9"]


@pytest.mark.parametrize("name", ["pairs.csv", "pairs.csv.gz"])
def test_csv_fields_may_be_quoted(tmp_path, name):
    text = '\ufeffquestion,answer,label\r\n"who, then?","a ""b""\nc",1\r\n"who, then?",d,0\r\n'
    data = rankopt.read_pairs(written(tmp_path, text, name))
    assert data.texts.questions.tolist() == ["who, then?"]
    assert data.texts.answers.tolist() == ['a "b"\nc', "d"]


def test_quotes_mean_nothing_in_tsv(tmp_path):
    data = rankopt.read_pairs(written(tmp_path, HEADER + 'who?\t"a said\t1\nwho?\tb"\t0\n'))
    assert data.texts.answers.tolist() == ['"a said', 'b"']


def test_other_names_and_other_columns(tmp_path):
    text = "id\tq\tdoc\trel\n1\twho?\ta\t0\n"
    names = {"question": "q", "answer": "doc", "label": "rel"}
    assert rankopt.read_pairs(written(tmp_path, text), columns=names).y.tolist() == [0.0]
    without = rankopt.read_pairs(written(tmp_path, "question\tanswer\nwho?\t\n"))
    assert without.y is None
    assert without.texts.answers.tolist() == [""]
    with pytest.raises(DataError, match="columns: unknown 'query'"):
        rankopt.read_pairs(tmp_path / "pairs.tsv", columns={"query": "q"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no header"),
        (HEADER, "has a header and no rows"),
        ("question\tlabel\n", "line 1: there is no column 'answer', but 'question', 'label'"),
        ("question\tanswer\tanswer\n", "line 1: two columns are named 'answer'"),
        (HEADER + "who?\ta\t1\nwho?\tb\n", "line 3: has 2 fields, the header 3"),
        (HEADER + "who?\ta\t1\n\nwho?\tb\tyes\n", "line 4: label is 'yes'"),
        (HEADER + "who?\ta\tnan\n", "line 2: label is 'nan'"),
        (HEADER + "\ta\t1\n", "line 2: the question is empty"),
        (HEADER.encode() + b"who?\ta\t1\nwh\xff?\ta\t1\n", "line 3: is not UTF-8"),
        (HEADER + "who?\ta\0\t1\n", "line 2: holds a NUL character"),
        ("qid\tquestion\tanswer\n1\twho?\ta\n1\twhere?\tb\n", "line 3: query 1 asks 'where.', but on"
         " line 2 'who.'"),
        ("qid\tquestion\tanswer\n\twho?\ta\n", "line 2: qid is empty"),
        ("question,answer,label\nwho?,yes, he,1\n", "line 2: has 4 fields.*must be quoted"),
        ('question,answer,label\na,b,0\nwho?,"yes,1\n', "line 3: cannot be read as CSV"),
        ('question,answer,label\na,"b\nc",0\nwho?,"yes"he,1\n', "line 4: cannot be read as CSV"),
    ],
)  # fmt: skip
def test_errors_name_the_line(tmp_path, text, words):
    with pytest.raises(DataError, match=words) as error:
        rankopt.read_pairs(written(tmp_path, text))
    assert "pairs.tsv" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_column_that_was_asked_for_is_refused(tmp_path):
    path = written(tmp_path, "question\tanswer\nwho?\ta\n")
    with pytest.raises(DataError, match="no column 'grade'"):
        rankopt.read_pairs(path, columns={"label": "grade"})
