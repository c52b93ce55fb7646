"""Model files: what is written reads back; what is no model is refused with one line."""

import json
import os
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankopt.errors import DataError, ModelError
from rankopt.models.model import Model, Recipe
from rankopt.models.storage import load_model, save_model
from rankopt.scorers import Linear


def model(params=(1.0, -2.5, 0.0), features=()):
    recipe = Recipe(
        "directrank", {"measure": "ndcg@10", "bounds": None}, {"train": 0.5, "queries": 3}
    )
    return Model(Linear(), np.array(params), len(params), features, None, recipe)


@given(params=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_what_is_written_reads_back(params, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.rankopt"
    written = model(params)
    save_model(written, path)
    read = load_model(path)
    np.testing.assert_array_equal(read.params, written.params)
    assert (read.scorer, read.recipe, read.n_features) == (Linear(), written.recipe, len(params))


def test_the_same_model_gives_the_same_bytes(tmp_path):
    save_model(model(), tmp_path / "a")
    save_model(model(), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def rewritten(path, change):
    """The file with its header changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["model.json"])
    change(header, members)
    members["model.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


HOSTILE = {
    "newer": (lambda h, m: h.update(version=99), "format version 99"),
    "other": (lambda h, m: h.update(format="pickle"), "not a rankopt model"),
    "scorer": (lambda h, m: h.update(scorer="__import__('os')"), "is not a rankopt model"),
    "unknown": (lambda h, m: h.update(extra=1), "is not a rankopt model"),
    "names": (lambda h, m: h.update(features=["a"]), "1 feature names for 3 features"),
    "width": (lambda h, m: h.update(n_features=4), "3 parameters, but linear has 4 on 4 features"),
    "normalize": (lambda h, m: h.update(normalize="magic"), "unknown normalize"),
    "empty": (lambda h, m: m.update({"params.npy": b""}), "is not a rankopt model"),
    "no-array": (lambda h, m: m.pop("params.npy"), "is not a rankopt model"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_refused_with_one_line(case, tmp_path):
    change, words = HOSTILE[case]
    path = tmp_path / "m.rankopt"
    save_model(model(), path)
    rewritten(path, change)
    with pytest.raises(ModelError, match=words) as error:
        load_model(path)
    assert "m.rankopt" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_pickle_inside_is_not_unpickled(tmp_path):
    path = tmp_path / "m.rankopt"
    save_model(model(), path)
    buffer = tmp_path / "evil.npy"
    np.save(buffer, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    rewritten(path, lambda h, m: m.update({"params.npy": buffer.read_bytes()}))
    with pytest.raises(ModelError):
        load_model(path)


@given(draws=st.data())
def test_a_damaged_file_is_refused_or_the_same(draws, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.rankopt"
    save_model(model(), path)
    raw = bytearray(path.read_bytes())
    if draws.draw(st.booleans()):
        raw = raw[: draws.draw(st.integers(0, len(raw) - 1))]
    else:
        raw[draws.draw(st.integers(0, len(raw) - 1))] ^= draws.draw(st.integers(1, 255))
    path.write_bytes(bytes(raw))
    try:
        read = load_model(path)
    except ModelError:
        return
    np.testing.assert_array_equal(read.params, model().params)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "m.rankopt"
    save_model(model(), path)
    before = path.read_bytes()

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_model(model([5.0]), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.rankopt"]


def test_data_of_another_shape_is_refused():
    import rankopt

    wrong = rankopt.dataset([[1.0, 2.0]], name="test.txt")
    with pytest.raises(DataError, match="test.txt: has 2 features, but the model was trained on 3"):
        model().predict(wrong)
    named = rankopt.dataset([[1.0, 2.0, 3.0]], features=("a", "c", "b"))
    with pytest.raises(DataError, match="feature 2 is named 'c'.*'b' there"):
        model(features=("a", "b", "c")).predict(named)
