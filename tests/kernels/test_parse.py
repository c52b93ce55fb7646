"""The parser's kernels on bytes: what they write, what they leave over, where they stop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankopt.kernels import parse


def parsed(text, *, with_qid=True, first_id=0, last_id=1000, missing=0.0, dtype=np.float32):
    data = np.frombuffer(bytearray(text.encode()), np.uint8)
    n, m = text.count("\n"), text.count(":")
    out = {
        "labels": np.full(n, -9.0),
        "starts": np.empty(n, np.int64),
        "stops": np.empty(n, np.int64),
        "odd_labels": np.empty(n, np.int32),
        "run_rows": np.empty(n + 1, np.int64),
        "run_bounds": np.empty((n, 2), np.int64),
        "doc_bounds": np.empty((n, 2), np.int64),
        "columns": np.empty(m, np.uint32),
        "values": np.empty(m, dtype),
        "odd": np.empty((m, 2), np.int32),
    }
    with np.errstate(over="ignore"):  # without Numba, NumPy would warn of values beyond float32
        counts = parse.parse_lines(
            data, np.uint64(data.size), with_qid, first_id, last_id, missing, *out.values()
        )
    rows, runs, strange, odds, code, position = map(int, counts)
    entries = out["stops"][rows - 1] if rows else 0
    sizes = [rows, rows, rows, strange, runs, runs, rows, entries, entries, odds]
    out = {name: out[name][:size].tolist() for name, size in zip(out, sizes, strict=True)}
    return out, code, position


def words(text, bounds):
    return [text[start:stop] for start, stop in bounds]


def test_what_is_written():
    text = "1 qid:a 2:0.5 7:3 # d1 x\n\n# note\n0 qid:a 1:-2\n2.5 qid:b #docid = d3\n"
    out, code, position = parsed(text)
    assert (code, position) == (parse.OK, len(text))
    assert out["labels"] == [1.0, 0.0, 2.5]
    assert [text[start] for start in out["starts"]] == ["1", "0", "2"]
    assert out["stops"] == [2, 3, 3]
    assert out["columns"] == [2, 7, 1]
    assert out["values"] == [0.5, 3.0, -2.0]
    assert out["run_rows"] == [0, 2]
    assert words(text, out["run_bounds"]) == ["a", "b"]
    assert words(text, out["doc_bounds"]) == ["d1", "", "d3"]
    assert out["odd"] == []
    assert out["odd_labels"] == []


@pytest.mark.parametrize(
    ("line", "code", "at"),
    [
        ("1 2:3", parse.NO_QID, 2),
        ("1 qid:", parse.NO_QID, 2),
        ("1", parse.NO_QID, 1),
        ("1 qid:1 x", parse.BAD_FEATURE, 8),
        ("1 qid:1 1:2 3", parse.BAD_FEATURE, 12),
        ("1 qid:1 12345678901:2", parse.BAD_FEATURE, 8),
        ("1 qid:1 1:2 1001:3", parse.ID_RANGE, 12),
    ],
)
def test_where_it_stops(line, code, at):
    out, found, position = parsed("0 qid:1 1:1\n" + line + "\n")
    assert (found, position) == (code, at + 12)
    assert out["labels"] == [0.0]


def test_what_depends_on_options():
    assert parsed("1 qid:1 2:3\n", with_qid=False)[1:] == (parse.UNWANTED_QID, 2)
    assert parsed("1 2:3\n", with_qid=False)[1] == parse.OK
    assert parsed("1 qid:1 2:3\n", first_id=3)[1:] == (parse.ID_RANGE, 8)
    assert parsed("1 qid:1 2:NULL\n", missing=-7.0)[0]["values"] == [-7.0]


@pytest.mark.parametrize(("line", "code"), [("3:1 2:1 1:1", 0), ("3:1 1:1 3:1", 5), ("2:1 2:1", 5)])
def test_ids_in_any_order_but_once(line, code):
    assert parsed(f"1 qid:1 {line}\n")[1] == code


def test_what_is_left_to_the_caller():
    text = "x qid:1 1:1e-400 2:0.5 3:\n0.1234567890123456789 qid:1 1:abc 2:nan 3:inf\n"
    out, code, _ = parsed(text)
    assert code == parse.OK
    assert out["odd_labels"] == [0, 1]
    assert [entry for entry, _ in out["odd"]] == [0, 2, 3, 5]
    assert [text[at : at + 3] for _, at in out["odd"]] == ["1e-", "\n0.", "abc", "inf"]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_settled_value_has_the_bits_of_float(value):
    """And hardly any value is left over in float32; in float64, only long ones are."""
    token = repr(value)
    out, _, _ = parsed(f"0 qid:1 1:{token}\n", dtype=np.float64)
    if not out["odd"]:
        assert np.float64(out["values"][0]).tobytes() == np.float64(value).tobytes()
    assert not out["odd"] or len(token) > 15 or not 1e-7 < abs(value) < 1e22
    out, _, _ = parsed(f"0 qid:1 1:{token}\n", dtype=np.float32)
    with np.errstate(over="ignore"):
        rounded = np.float32(value)
        middle = np.float32(value * (1 - 2.0**-49)) != np.float32(value * (1 + 2.0**-49))
    if out["odd"]:
        assert middle or not 1e-260 < abs(value) < 1e38
    else:
        assert np.float32(out["values"][0]).tobytes() == rounded.tobytes()


def test_marks_are_counted_up_to_the_size():
    text = np.frombuffer(bytearray(b"1 qid:1 1:2\n\n:\n"), np.uint8)
    assert parse.count_marks(text, text.size) == (3, 3)
    assert parse.count_marks(text, 12) == (1, 2)


def test_rows_are_spread():
    stops, columns = np.array([2, 2, 3]), np.array([5, 3, 4], np.uint32)
    out = np.empty((3, 3), np.float32)
    parse.spread_rows(stops, columns, np.array([1.0, 2.0, 3.0], np.float32), 3, np.float32(9), out)
    assert out.tolist() == [[2.0, 9.0, 1.0], [9.0, 9.0, 9.0], [9.0, 3.0, 9.0]]


def test_tokens_are_copied_and_padded():
    text = np.frombuffer(bytearray(b"ab c defg\n"), np.uint8)
    out = np.full((3, 4), 255, np.uint8)
    parse.copy_tokens(text, np.array([[0, 2], [3, 3], [5, 9]]), out)
    assert out.view("S4").ravel().tolist() == [b"ab", b"", b"defg"]
