"""Reading LETOR text: values bit by bit, and every form that a line may take."""

import gzip
import io
import lzma
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

import rankopt
from rankopt.data import lines
from rankopt.threads import using_threads

NASTY = [
    "0",
    "1",
    "-1",
    "-0",
    "-0.0",
    "1.",
    ".5",
    "-.5",
    "+3",
    "+.25",
    "007",
    "0.1",
    "0.2",
    "0.3",
    "1e5",
    "1E+5",
    "1e-5",
    "1e0",
    "1e22",
    "1e23",
    "1e-22",
    "1e-23",
    "123456789012345",
    "1234567890123456",
    "12345678901234567",
    "123456789012345678",
    "123456789012345678901234567890",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "900719925474099300000",
    "0.000000000000000000001",
    "0.30000000000000004",
    "0.1000000000000000055511151231257827021181583404541015625",
    "16777217",
    "16777219",
    "3.4028234e38",
    "1e-37",
    "1e-38",
    "1.1754944e-38",
    "1e-45",
    "7e-46",
    "8e-46",
    "1.4012984643248170709e-45",
    "5e-324",
    "2e-324",
    "2.2250738585072014e-308",
    "2.2250738585072011e-308",
    "0.0000001",
    "2.415109481751156e-08",
    "1.137926713209065e-06",
    "1e-400",
    "0e999",
    "0e-999",
    "8.5899345920000001e9",
    "33554434.999999999",
    "1.00000005960464477539",
    "1.00000005960464477540",
    "0.50000002980232238769531249",
    "0.50000002980232238769531250",
    "0.50000002980232238769531251",
]
NASTY_64 = [*NASTY, "1e308", "-1.7976931348623157e308", "4.9e-324", "1e300", "3.5e38"]


def read(tmp_path, text, **options):
    path = tmp_path / "data.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return rankopt.read_letor(path, **options)


def column(tmp_path, tokens, dtype):
    text = "".join(f"0 qid:1 1:{token}\n" for token in tokens)
    return read(tmp_path, text, dtype=dtype).X[:, 0]


@pytest.mark.parametrize(("dtype", "tokens"), [(np.float32, NASTY), (np.float64, NASTY_64)])
def test_nasty_numbers_have_the_bits_of_float(tmp_path, dtype, tokens):
    expected = np.array([float(token) for token in tokens]).astype(dtype)
    assert column(tmp_path, tokens, dtype).tobytes() == expected.tobytes()


def test_labels_are_float64_to_the_last_bit(tmp_path):
    text = "".join(f"{token} qid:1 1:1\n" for token in NASTY_64)
    expected = np.array([float(token) for token in NASTY_64])
    assert read(tmp_path, text).y.tobytes() == expected.tobytes()


digits = st.text("0123456789", max_size=25)
numerals = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-", "+"]),
    st.one_of(
        st.builds("{}.{}".format, digits, digits), st.text("0123456789", min_size=1, max_size=25)
    ).filter(lambda text: text != "."),
    st.sampled_from(["", "e", "E", "e-", "e+"]),
    st.integers(0, 340),
)  # without an e, the integer makes the number longer
plain = st.floats(allow_nan=False, allow_infinity=False).map(repr)
fixed = st.floats(-1e6, 1e6).map("{:.6f}".format)
halfway = st.integers(0x00800000, 0x7F7FFFFE).map(
    # decimals of the middle between two neighbours of float32, and one digit to either side
    lambda bits: (
        (float(np.uint32(bits).view(np.float32)) + float(np.uint32(bits + 1).view(np.float32)))
        / 2.0
    )
)
around = st.builds(
    lambda middle, tail: f"{middle:.40e}".replace("e", tail + "e"),
    halfway,
    st.sampled_from(["", "0", "1", "9"]),
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(st.lists(st.one_of(numerals, plain, fixed, around), min_size=1, max_size=40))
def test_any_number_has_the_bits_of_float(tmp_path_factory, dtype, tokens):
    with np.errstate(over="ignore"):
        expected = np.array([float(token) for token in tokens]).astype(dtype)
    fits = np.isfinite(expected)
    tokens = ["0", *(token for token, good in zip(tokens, fits, strict=True) if good)]
    values = column(tmp_path_factory.mktemp("numbers"), tokens, dtype)
    assert values.tobytes() == np.append(np.zeros(1, dtype), expected[fits]).tobytes()


def test_values_are_those_of_scikit_learn(tmp_path):
    rng = np.random.default_rng(0)
    text = "".join(
        f"{rng.integers(5)} qid:{1 + row // 7} "
        + " ".join(
            f"{j}:{float(v)!r}"
            for j, v in enumerate(rng.standard_normal(8) * 10.0 ** rng.integers(-9, 9, 8), 1)
        )
        + "\n"
        for row in range(300)
    )
    X, y, qid = load_svmlight_file(io.BytesIO(text.encode()), query_id=True)
    data = read(tmp_path, text)
    assert data.X.tobytes() == X.toarray().astype(np.float32).tobytes()
    np.testing.assert_array_equal(data.y, y)
    np.testing.assert_array_equal(data.groups.spread(data.groups.qids), qid)


def test_a_line_holds_label_query_features_and_document(tmp_path):
    data = read(tmp_path, "2.5 qid:7 1:0.5 3:-1 # d1 a title\n-1 qid:8 2:4 #docid = d2 inc = 1\n")
    assert data.X.tolist() == [[0.5, 0.0, -1.0], [0.0, 4.0, 0.0]]
    assert data.X.dtype == np.float32
    assert data.X.flags.c_contiguous
    assert data.X.flags.writeable
    assert data.y.tolist() == [2.5, -1.0]
    assert data.groups.qids.tolist() == [7, 8]
    assert data.docs.tolist() == ["d1", "d2"]
    assert data.features == ("1", "2", "3")
    assert data.rows is None
    assert data.name.endswith("data.txt")


@pytest.mark.parametrize(
    ("comment", "doc"),
    [
        ("# d1", "d1"),
        ("#d1", "d1"),
        ("#docid = GX004-93-7097963 inc = 0.04 prob = 0.8", "GX004-93-7097963"),
        ("# docid d1", "d1"),
        ("#docid=d1", "d1"),
        ("#DocID: d1", "d1"),
        ("# docid123", "docid123"),
        ("# doc", "doc"),
        ("#\td1\tmore", "d1"),
        ("# https://example.org/a#b", "https://example.org/a#b"),
        ("# Ünï", "Ünï"),
        ("#docid = docid", "docid"),
        ("#", ""),
        ("#   ", ""),
        ("#docid = ", ""),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_the_first_word_of_a_comment_names_the_document(tmp_path, comment, doc, end):
    data = read(tmp_path, f"1 qid:1 1:1 # first\n0 qid:1 1:2 {comment}{end}")
    assert data.docs.tolist() == ["first", doc]
    assert data.X.tolist() == [[1.0], [2.0]]


def test_without_comments_there_are_no_documents(tmp_path):
    assert read(tmp_path, "1 qid:1 1:1\n").docs is None
    assert read(tmp_path, "1 qid:1 1:1 #\n").docs is None


@pytest.mark.parametrize(
    "text",
    [
        "1 qid:1 1:1 2:2\n0 qid:1 1:3 2:4\n",
        "1 qid:1 1:1 2:2\n0 qid:1 1:3 2:4",
        "1 qid:1 1:1 2:2\r\n0 qid:1 1:3 2:4\r\n",
        "\n\n1 qid:1 1:1 2:2\n   \n\t\r\n0 qid:1 1:3 2:4\n\n",
        "# a file\n1 qid:1 1:1 2:2\n  # of two rows\n0 qid:1 1:3 2:4\n#",
        "  1   qid:1\t1:1  2:2   \n\t0 qid:1 1:3 2:4 \t \n",
        "\ufeff1 qid:1 1:1 2:2\n0 qid:1 1:3 2:4\n",
        "1 qid:1 2:2 1:1\n0 qid:1 2:4 1:3\n",
        "+1 qid:1 01:1 2:2#\n0.0 qid:1 1:3 2:4#\n",
    ],
)
def test_blanks_ends_comments_and_order_do_not_matter(tmp_path, text):
    data = read(tmp_path, text)
    assert data.X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert data.y.tolist() == [1.0, 0.0]
    assert data.groups.offsets.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("pack", "name"), [(gzip.compress, "a.gz"), (lzma.compress, "a.xz"), (gzip.compress, "a.txt")]
)
def test_compression_is_told_by_the_content(tmp_path, pack, name):
    text = b"1 qid:1 1:0.5\n0 qid:1 1:0.25\n"
    (tmp_path / name).write_bytes(pack(text[:14]) + pack(text[14:]))  # two members
    assert rankopt.read_letor(tmp_path / name).X.tolist() == [[0.5], [0.25]]


def test_ids_count_from_zero_where_zero_occurs(tmp_path):
    data = read(tmp_path, "1 qid:1 1:1 3:3\n0 qid:1 0:5\n")
    assert data.X.tolist() == [[0.0, 1.0, 0.0, 3.0], [5.0, 0.0, 0.0, 0.0]]
    assert data.features == ("0", "1", "2", "3")


def test_the_base_and_the_number_of_features_can_be_given(tmp_path):
    text = "1 qid:1 1:1 2:2\n"
    assert read(tmp_path, text, first_id=0).X.tolist() == [[0.0, 1.0, 2.0]]
    assert read(tmp_path, text, n_features=4).X.tolist() == [[1.0, 2.0, 0.0, 0.0]]
    assert read(tmp_path, text, n_features=4).features == ("1", "2", "3", "4")
    assert read(tmp_path, text, n_features=3, first_id=0).X.tolist() == [[0.0, 1.0, 2.0]]
    assert read(tmp_path, "1 qid:1 0:9 2:2\n", n_features=3).X.tolist() == [[9.0, 0.0, 2.0]]


def test_a_late_id_zero_moves_the_columns_read_so_far(tmp_path, small_blocks):
    text = "".join(f"0 qid:1 1:{row} 2:-1\n" for row in range(300)) + "0 qid:1 0:7\n"
    expected = [[0.0, row, -1.0] for row in range(300)] + [[7.0, 0.0, 0.0]]
    assert read(tmp_path, text).X.tolist() == expected
    assert read(tmp_path, text, n_features=3).X.tolist() == expected


def test_rows_without_features_are_rows(tmp_path):
    assert read(tmp_path, "1 qid:1\n0 qid:1 2:1\n").X.tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert read(tmp_path, "1 qid:1\n0 qid:2 # d\n").X.shape == (2, 0)


def test_missing_values(tmp_path):
    text = (
        "1 qid:1 1:3 2:NULL 3:nan\n0 qid:1 1:1 2:-2 3:null\n0 qid:1 2:5\n"
        "0 qid:2 1:NaN 2:7 3:4\n0 qid:2 1:2\n"
    )
    nan = math.nan
    zero, gaps, least = (
        read(tmp_path, text, missing=choice).X for choice in ("zero", "nan", "query-minimum")
    )
    assert zero.tolist() == [[3, 0, 0], [1, -2, 0], [0, 5, 0], [0, 7, 4], [2, 0, 0]]
    np.testing.assert_array_equal(
        gaps, [[3, nan, nan], [1, -2, nan], [nan, 5, nan], [nan, 7, 4], [2, nan, nan]]
    )
    assert least.tolist() == [[3, -2, 0], [1, -2, 0], [1, 5, 0], [2, 7, 4], [2, 7, 4]]


def test_absent_columns_follow_the_choice_too(tmp_path):
    X = read(tmp_path, "1 qid:1 1:1\n", missing="nan", n_features=3, first_id=0).X
    np.testing.assert_array_equal(X, [[math.nan, 1.0, math.nan]])


@pytest.mark.parametrize(
    ("tokens", "qids"),
    [
        (["1", "2"], [1, 2]),
        (["-5", "0"], [-5, 0]),
        (["007", "7"], ["007", "7"]),
        (["1", "b"], ["1", "b"]),
        (["+1", "1"], ["+1", "1"]),
        (["99999999999999999999", "1"], ["99999999999999999999", "1"]),
        (["a:b", "é"], ["a:b", "é"]),
        (["1_0", "1"], ["1_0", "1"]),
        (["aa", "a"], ["aa", "a"]),
    ],
)
def test_queries_are_integers_where_all_are_written_so(tmp_path, tokens, qids):
    text = "".join(f"0 qid:{token} 1:1\n" for token in tokens)
    assert read(tmp_path, text).groups.qids.tolist() == qids


@settings(max_examples=50)
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30))
@example(["b", "a", "b"])
def test_a_query_that_returns_is_the_same_query(tmp_path_factory, tokens):
    text = "".join(f"{row} qid:{token} 1:{row} # d{row}\n" for row, token in enumerate(tokens))
    data = read(tmp_path_factory.mktemp("late"), text)
    assert data.groups.qids.tolist() == list(dict.fromkeys(tokens))
    expected = sorted(range(len(tokens)), key=lambda row: (tokens.index(tokens[row]), row))
    assert data.y.tolist() == expected
    assert data.X[:, 0].tolist() == expected
    assert data.docs.tolist() == [f"d{row}" for row in expected]
    assert data.restored(data.y).tolist() == list(range(len(tokens)))
    assert data.groups.spread(data.groups.qids).tolist() == [tokens[row] for row in expected]


def test_sizes_of_queries_instead_of_qids(tmp_path):
    text = "1 1:1\n0 1:2 # d\n2 1:3\n"
    sizes = tmp_path / "data.query"
    sizes.write_text("2\n1\n")
    for group in ([2, 1], sizes, str(sizes)):
        data = read(tmp_path, text, group=group)
        assert data.groups.offsets.tolist() == [0, 2, 3]
        assert data.groups.qids.tolist() == [0, 1]
        assert data.X[:, 0].tolist() == [1.0, 2.0, 3.0]


def varied(rows=6000, seed=3):
    """Text of all sorts of lines, in which ids, queries and comments come and go."""
    rng = np.random.default_rng(seed)
    out = []
    for row in range(rows):
        ids = np.flatnonzero(rng.random(1 + 40 * row // rows) < 0.4) + (row < rows // 2)
        rng.shuffle(ids)
        values = [rng.choice(["NULL", "1e-7", "3", f"{rng.normal():.17g}", "0.5"]) for _ in ids]
        features = " ".join(f"{i}:{value}" for i, value in zip(ids, values, strict=True))
        comment = f" # doc{row}" if rng.random() < 0.5 else ""
        out.append(f"{rng.integers(5)} qid:q{rng.integers(1 + row // 50)} {features}{comment}\n")
        out.append(rng.choice(["", "", "\n", "# note\n"]))
    return "".join(out)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(lines, "SMALLEST", 1000)
    monkeypatch.setattr(lines, "LARGEST", 1000)


@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_and_threads_change_no_bit(tmp_path, monkeypatch, threads):
    text = varied()
    whole = read(tmp_path, text, missing="nan")
    assert whole.features[0] == "0"
    for size in (300, 5000):  # lines longer than a block, id 0 and wider rows in late blocks
        monkeypatch.setattr(lines, "SMALLEST", size)
        monkeypatch.setattr(lines, "LARGEST", size)
        with using_threads(threads):
            parts = read(tmp_path, text, missing="nan")
        assert parts.X.tobytes() == whole.X.tobytes()
        assert parts.y.tobytes() == whole.y.tobytes()
        assert parts.docs.tolist() == whole.docs.tolist()
        assert parts.groups.qids.tolist() == whole.groups.qids.tolist()
        assert parts.rows.tolist() == whole.rows.tolist()


def test_a_pipe_can_be_read(tmp_path, small_blocks):
    import os
    import threading

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = varied(500)
    writer = threading.Thread(target=pipe.write_text, args=(text,))
    writer.start()
    data = rankopt.read_letor(pipe)
    writer.join()
    assert data.X.tobytes() == read(tmp_path, text).X.tobytes()
