"""Bad LETOR text: one line that names the file, the line, what is wrong and often a way out."""

import gzip
import lzma
import re

import numpy as np
import pytest

import rankopt
from rankopt import DataError, SpecError
from rankopt.data import lines
from rankopt.threads import using_threads

GOOD = "# a comment\n\n1 qid:1 1:1 2:2\n"


def refusal(tmp_path, text, **options):
    path = tmp_path / "bad.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError) as caught:
        rankopt.read_letor(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("x qid:1 1:1", "label 'x' is not a finite number"),
        ("qid:1 1:1", "label 'qid:1' is not a finite number"),
        ("nan qid:1 1:1", "label 'nan' is not a finite number"),
        ("-inf qid:1 1:1", "label '-inf' is not a finite number"),
        ("1e999 qid:1 1:1", "label '1e999' is not a finite number"),
        ("1_0 qid:1 1:1", "label '1_0' is not a finite number"),
        ("NULL qid:1 1:1", "label 'NULL' is not a finite number"),
        ("1 1:1", "no query: qid:<id> must follow the label, but found '1:1'"),
        ("1", "no query: qid:<id> must follow the label, but the line ends"),
        ("1 # qid:1", "no query: qid:<id> must follow the label, but the line ends"),
        ("1 qid: 1:1", "no query: qid:<id> must follow the label, but found 'qid:'"),
        ("1 QID:1 1:1", "no query: qid:<id> must follow the label, but found 'QID:1'"),
        ("1 qid:1 qid:2 1:1", "a second qid in one line"),
        ("1 qid:1 1:abc", "feature 1: 'abc' is not a number"),
        ("1 qid:1 1:1 2:1.2.3", "feature 2: '1.2.3' is not a number"),
        ("1 qid:1 1:--1", "feature 1: '--1' is not a number"),
        ("1 qid:1 1:1e", "feature 1: '1e' is not a number"),
        ("1 qid:1 1:0x10", "feature 1: '0x10' is not a number"),
        ("1 qid:1 1:1_000", "feature 1: '1_000' is not a number"),
        ("1 qid:1 1:.", "feature 1: '.' is not a number"),
        ("1 qid:1 1:NUL", "feature 1: 'NUL' is not a number"),
        ("1 qid:1 1:1:2", "feature 1: '1:2' is not a number"),
        ("1 qid:1 1:1 2:", "feature 2 has no value; expected 2:<number>"),
        ("1 qid:1 1: 0.5", "feature 1 has no value; expected 1:<number>"),
        ("1 qid:1 1:1 2", "'2' has no value; expected <feature id>:<number>"),
        ("1 qid:1 1:1 abc:2", "'abc:2' is not a feature; expected <feature id>:<number>"),
        ("1 qid:1 :2", "':2' is not a feature"),
        ("1 qid:1 1.0:2", "'1.0:2' is not a feature"),
        ("1 qid:1 -1:2", "feature id -1 is negative"),
        ("1 qid:1 4294967297:2", "feature id 4294967297 is too large"),
        ("1 qid:1 99999999999999999999:2", "feature id 99999999999999999999 is too large"),
        ("1 qid:1 1:1 2:2 1:1", "feature 1 occurs twice"),
        ("1 qid:1 2:1 2:2", "feature 2 occurs twice"),
        ("1 qid:1 1:inf", "feature 1: 'inf' is infinite; values must be finite, or NULL"),
        ("1 qid:1 1:-Infinity", "feature 1: '-Infinity' is infinite"),
        ("1 qid:1 1:1e999", "feature 1: '1e999' is infinite"),
        ("1 qid:1 1:1e300", "feature 1: '1e300' is beyond float32; read with dtype=numpy.float64"),
        ("1 qid:1 1:3.5e38", "feature 1: '3.5e38' is beyond float32"),
        ("1 qid:1 1:" + "9" * 60, "feature 1: '" + "9" * 40 + "' is beyond float32"),
        ("1 qid:1 999999999:1", "feature id 999999999 would make the dense matrix"),
    ],
)
@pytest.mark.parametrize("before", ["", GOOD, GOOD.replace("\n", "\r\n")])
def test_a_bad_line_is_named(tmp_path, line, fault, before):
    after = "1 qid:1 1:1\nx\n"  # a later fault must not hide it
    if "dense" in fault:
        after = ""
    number = before.count("\n") + 1
    message = refusal(tmp_path, before + line + "\n" + after)
    assert message.startswith(f":{number}: {fault}")


def test_the_last_line_may_be_cut_short(tmp_path):
    assert "(is the line cut short?)" in refusal(tmp_path, GOOD + "1 qid:1 1:0.5 2")


def test_the_first_fault_counts_whichever_code_finds_it(tmp_path):
    # numbers are refused after the kernel has stopped at a fault of another kind
    assert refusal(tmp_path, "1 qid:1 1:x\n1 qid:1 1:1 1:2\n").startswith(":1: feature 1: 'x'")
    assert refusal(tmp_path, "1 qid:1 1:1 1:2\n1 qid:1 1:x\n").startswith(":1: feature 1 occurs")
    assert refusal(tmp_path, "1 qid:1 1:x\nx qid:1 1:1\n").startswith(":1: feature 1: 'x'")
    assert refusal(tmp_path, "x qid:1 1:1\n1 qid:1 1:x\n").startswith(":1: label 'x'")
    assert refusal(tmp_path, "1 qid:1 1:1e-500 1:\n").startswith(":1: feature 1 has no value")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("place", [1, 2, 57, 299, 300])
def test_lines_are_counted_across_blocks(tmp_path, monkeypatch, threads, place):
    monkeypatch.setattr(lines, "SMALLEST", 500)
    monkeypatch.setattr(lines, "LARGEST", 500)
    text = ["# note\n" if n % 5 == 0 else f"1 qid:{n} 1:{n} 2:0.25\n" for n in range(1, 301)]
    text[place - 1] = "1 qid:1 1:oops\n"
    with using_threads(threads):
        assert refusal(tmp_path, "".join(text)).startswith(f":{place}: feature 1: 'oops'")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", ": no rows; the file is empty"),
        ("\n\n  \n", ": no rows; all its lines are blank or comments"),
        ("# only\n# comments", ": no rows; all its lines are blank or comments"),
    ],
)
def test_a_file_without_rows(tmp_path, text, fault):
    assert refusal(tmp_path, text) == fault
    assert refusal(tmp_path, gzip.compress(text.encode())) == fault


def test_more_features_than_allowed(tmp_path):
    text = GOOD + "1 qid:1 3:1\n"
    assert refusal(tmp_path, text, n_features=2).startswith(":4: feature id 3 is above 2, the last")
    assert refusal(tmp_path, "1 qid:1 0:1\n" + GOOD, n_features=2, first_id=1) == (
        ":1: feature id 0 is below first_id=1"
    )
    assert refusal(tmp_path, "1 qid:1 0:1 2:2\n", n_features=2) == (
        ": feature ids run from 0 to 2: more than n_features=2"
    )


@pytest.mark.parametrize(
    ("sizes", "fault"),
    [
        ("1\n2\n", "group: sizes add up to 3, but there are 2 rows"),
        ("1\nx\n", "entry 2, 'x', is not the size of a query"),
        ("1.0 1.0", "entry 1, '1.0', is not the size of a query"),
        ("0 2", "group: sizes must be positive"),
        ("", "group: sizes must be positive"),
    ],
)
def test_sizes_that_do_not_fit(tmp_path, sizes, fault):
    (tmp_path / "good.txt").write_text("1 1:1\n0 1:2\n")
    path = tmp_path / "bad.query"
    path.write_text(sizes)
    with pytest.raises(DataError, match=re.escape(f"{path}: {fault}")):
        rankopt.read_letor(tmp_path / "good.txt", group=path)


def test_sizes_and_qids_say_the_same_thing(tmp_path):
    message = refusal(tmp_path, GOOD, group=[1])
    assert message == ":3: the line names its query ('qid:1'): leave out group="


def test_the_way_out_of_a_file_without_queries(tmp_path):
    assert "rankopt.read_letor takes it as group=" in refusal(tmp_path, "1 1:1\n")


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_damaged_archive(tmp_path, pack):
    packed = pack(GOOD.encode() * 1000)
    message = refusal(tmp_path, packed[: len(packed) // 2])
    assert message.startswith(": the compressed file is damaged or cut short")
    spoiled = bytearray(packed)
    spoiled[len(packed) // 2] ^= 0xFF
    assert refusal(tmp_path, bytes(spoiled)).startswith(": the compressed file is damaged")


@pytest.mark.parametrize(
    ("start", "kind"),
    [(b"BZh9", "bzip2"), (b"\x28\xb5\x2f\xfd", "Zstandard"), (b"PK\x03\x04", "zip")],
)
def test_other_compressions_are_named(tmp_path, start, kind):
    message = refusal(tmp_path, start + b"rest")
    assert message == f": is compressed by {kind}; plain text, .gz and .xz are read"


def test_what_is_no_file(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.txt: cannot be read \(No such file"):
        rankopt.read_letor(tmp_path / "nowhere.txt")
    with pytest.raises(DataError, match=r"cannot be read \(Is a directory\)"):
        rankopt.read_letor(tmp_path)


def test_text_that_is_not_utf_8(tmp_path):
    assert "qid: b'caf\\xe9' is not UTF-8" in refusal(tmp_path, b"1 qid:caf\xe9 1:1\n")
    message = refusal(tmp_path, b"1 qid:1 1:1 # caf\xe9\n")
    assert "document identifier: b'caf\\xe9' is not UTF-8" in message


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"missing": "mean"}, "missing: 'mean' is none of zero, nan, query-minimum"),
        ({"dtype": np.int32}, "dtype: int32 features are not supported"),
        ({"n_features": 0}, "n_features: 0 is not a positive number"),
        ({"first_id": -1}, "first_id: -1 is negative"),
    ],
)
def test_options_are_checked_before_reading(tmp_path, options, fault):
    with pytest.raises(SpecError, match=re.escape(fault)):
        rankopt.read_letor(tmp_path / "nowhere.txt", **options)
