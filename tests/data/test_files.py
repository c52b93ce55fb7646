"""Files: opened by content, written complete or not at all."""

import gzip
import lzma

import pytest

from rankopt import DataError
from rankopt.data.files import reading, replacing, writing
from rankopt.data.scores import read_scores


@pytest.mark.parametrize(
    ("name", "unpack"), [("a", bytes), ("a.gz", gzip.decompress), ("a.xz", lzma.decompress)]
)
def test_what_is_written_is_read(tmp_path, name, unpack):
    text = b"line\n" * 10_000
    with writing(tmp_path / name) as file:
        file.write(text)
    assert unpack((tmp_path / name).read_bytes()) == text
    with reading(tmp_path / name) as source:
        assert source.progress() < 1.0
        assert source.stream.read() == text
        assert source.progress() == 1.0
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["a", "a.gz", "a.xz"])
def test_a_failure_leaves_the_old_file(tmp_path, name):
    (tmp_path / name).write_text("old")
    with pytest.raises(KeyError), writing(tmp_path / name) as file:  # noqa: PT012
        file.write(b"new")
        raise KeyError
    assert (tmp_path / name).read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_replaced_file_has_the_usual_rights(tmp_path):
    (tmp_path / "usual").write_text("")
    with replacing(tmp_path / "new") as partial:
        partial.write_text("x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_an_empty_file_is_plain(tmp_path):
    (tmp_path / "empty.gz").write_bytes(b"")
    with reading(tmp_path / "empty.gz") as source:
        assert source.stream.read() == b""


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_scores_are_read_from_any_of_them(tmp_path, pack):
    (tmp_path / "scores").write_bytes(pack(b"1.5\n-2\r\n1e-3\n\n"))
    assert read_scores(tmp_path / "scores").tolist() == [1.5, -2.0, 0.001]
    with pytest.raises(DataError, match="missing: cannot be read"):
        read_scores(tmp_path / "missing")
