"""Damaged and hostile model files: one line that names the file, and nothing else."""

import json
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pytest

import rankopt
from rankopt.ensembles import ubjson
from rankopt.ensembles.tables import below
from rankopt.errors import DataError, ModelError, SpecError

FOLDER = Path(__file__).parent.parent / "golden" / "ensembles"


def line_of(path, content):
    path.write_bytes(content)
    with pytest.raises(ModelError) as error:
        rankopt.read_ensemble(path)
    text = str(error.value)
    assert "\n" not in text
    assert path.name in text
    assert len(text) < 600
    return text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is no tree ensemble"),
        (b"hello", "is no tree ensemble"),
        (b"{}", "is no tree ensemble"),
        (b"[1, 2]", "is a list of trees"),
        (b"{" * 100_000, "damaged"),
        (b'{"learner": ' * 50_000, "damaged"),
        (b'{"learner": 3}', "damaged"),
        (b'{"tree_info": []}', "has no trees"),
        (b'{"tree_info": [{"tree_structure": 5}]}', "tree 0: is damaged"),
        (b'{"oblivious_trees": [], "features_info": {}}', "has no trees"),
        (b"tree\n", "cut short"),
        (b"tree\nnum_class=1\nend of trees\n", "has no trees|cut short"),
        (b"CBM1\x00\x00", 'save_model\\(path, format="json"\\)'),
        (b"binf\x00\x00", "old binary form"),
        (b"PK\x03\x04", "is a zip"),
        (b"\x80\x04\x95", "is a pickle"),
        (b"\x1f\x8b\x08", "is compressed"),
        (b"{L\x00\x00\x00\x00\x00\x00\xff\xff", "cut short"),
        (b"{L\xff\xff\xff\xff\xff\xff\xff\xff", "cut short"),
        (b"{i\x01a[$l#L\x00\x00\x00\xff\x00\x00\x00\x00", "cut short"),
        (b"{i\x01a[$Z#L\x00\x00\x00\x00\x00\x00\x00\x00}", "unknown type 'Z'"),
        (b"{i\x01a[$l}", "typed array without a length"),
        (b"{i\x01a" * 70, "nested more than 64 deep"),
        (b"{i\x01aTi\x01aT}", "twice"),
        (b"{i\x01aT}x", "1 bytes behind its end"),
        (b"{i\x01a?}", "unknown type"),
    ],
)
def test_what_is_no_model_is_said_in_one_line(tmp_path, content, reason):
    import re

    assert re.search(reason, line_of(tmp_path / "model", content))


@pytest.mark.parametrize(
    "file", ["xgboost-categories.json", "xgboost-dart.ubj", "catboost-plain.json"]
)
def test_random_damage_is_a_model_error_or_another_model(tmp_path, file):
    content = (FOLDER / file).read_bytes()
    rng = np.random.default_rng(0)
    path = tmp_path / file
    lines = []
    for trial in range(150):
        damaged = bytearray(content)
        if trial % 3 == 0:
            del damaged[int(rng.integers(1, len(content))) :]
        else:
            for place in rng.integers(0, len(content), 1 + trial % 4):
                damaged[place] = int(rng.integers(0, 256))
        path.write_bytes(damaged)
        try:
            ensemble = rankopt.read_ensemble(path)
        except ModelError as error:
            lines.append(str(error))
            continue
        wide = rankopt.dataset(np.zeros((2, ensemble.trees.n_features + 1)))
        ensemble.trees.scores(np.ones(ensemble.n_trees), wide)
    assert len(lines) > 50
    assert not any("\n" in line for line in lines)


def xgboost_with(change):
    content = json.loads((FOLDER / "xgboost-categories.json").read_text(encoding="utf-8"))
    tree = content["learner"]["gradient_booster"]["model"]["trees"][0]
    change(content["learner"], tree)
    return json.dumps(content).encode()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda learner, tree: tree["left_children"].__setitem__(1, 0), "child"),
        (lambda learner, tree: tree["left_children"].__setitem__(0, 99), "child that is not there"),
        (lambda learner, tree: tree["split_indices"].__setitem__(0, 99), "asks for feature 100, of 5"),
        (lambda learner, tree: tree["split_indices"].__setitem__(0, -1), "no feature"),
        (lambda learner, tree: tree["split_indices"].pop(), "different lengths"),
        (lambda learner, tree: tree["categories"].__setitem__(0, -4), "negative or too large"),
        (lambda learner, tree: tree["categories"].__setitem__(0, 1 << 40), "too large"),
        (lambda learner, tree: tree["categories_sizes"].__setitem__(0, 9999), "sets of categories"),
        (lambda learner, tree: tree["split_conditions"].__setitem__(-1, 1e300), "not finite"),
        (lambda learner, tree: learner["learner_model_param"].update(base_score="x"), "base_score 'x'"),
        (lambda learner, tree: learner["learner_model_param"].update(base_score="[nan]"), "base_score"),
        (lambda learner, tree: learner["gradient_booster"].update(name="dart"), "damaged"),
    ],
)  # fmt: skip
def test_wrong_numbers_are_named(tmp_path, change, reason):
    assert reason in line_of(tmp_path / "model.json", xgboost_with(change))


def test_a_tree_that_is_too_deep_and_one_with_wrong_values(tmp_path):
    content = json.loads((FOLDER / "catboost-plain.json").read_text(encoding="utf-8"))
    tree = content["oblivious_trees"][0]
    tree["leaf_values"].append(1.0)
    assert "tree 0: has 9 values for 8 leaves" in line_of(
        tmp_path / "model.json", json.dumps(content).encode()
    )
    tree["splits"] *= 10
    assert "levels deep" in line_of(tmp_path / "model.json", json.dumps(content).encode())


def test_header_of_lightgbm_that_contradicts_itself(tmp_path):
    X = np.arange(80.0).reshape(40, 2)
    text = lgb.train(
        {"verbosity": -1, "min_data_in_leaf": 2}, lgb.Dataset(X, X[:, 0]), 2
    ).model_to_string()
    for old, new, reason in (
        ("max_feature_idx=1", "max_feature_idx=7", "disagree"),
        ("max_feature_idx=1\n", "", "disagree"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=2", "2 trees per iteration"),
        ("split_feature=0", "split_feature=9", "asks for feature 10, of 2"),
    ):
        assert reason in line_of(tmp_path / "model.txt", text.replace(old, new, 1).encode())


def test_files_that_are_not_there_and_objects_that_are_no_ensembles():
    with pytest.raises(FileNotFoundError):
        rankopt.read_ensemble("nowhere.txt")
    with pytest.raises(ModelError, match="dict is no tree ensemble"):
        rankopt.read_ensemble({})
    with pytest.raises(SpecError, match="iterations: 1 or more"):
        rankopt.read_ensemble("nowhere.txt", iterations=0)


def test_data_of_another_width_is_refused():
    ensemble = rankopt.read_ensemble(FOLDER / "xgboost-plain.json")
    with pytest.raises(DataError, match="has 3 features, but the model was trained on 5"):
        ensemble.predict(rankopt.dataset(np.zeros((2, 3))))
    with pytest.raises(SpecError, match="one finite number for each of 4 trees"):
        ensemble.reweighted(np.ones(3))


@pytest.mark.parametrize("strict", [True, False])
def test_thresholds_of_float32_hold_for_numbers_of_float64(strict):
    rng = np.random.default_rng(0)
    edges = np.array(
        [0.0, -0.0, 1e-45, -1e-45, 1.0, 3.4028235e38, -3.4028235e38, 1e-38], np.float32
    )
    thresholds = np.concatenate((edges, rng.normal(size=200).astype(np.float32)))
    largest = below(thresholds, strict)
    near = np.concatenate([
        np.nextafter(thresholds.astype(np.float64), np.inf), thresholds.astype(np.float64), largest,
        np.nextafter(largest, np.inf), np.nextafter(largest, -np.inf),
        (1.0 + 3e-8) * thresholds.astype(np.float64), (1.0 - 3e-8) * thresholds.astype(np.float64),
        rng.normal(size=100),
    ])  # fmt: skip
    near = near[np.abs(near) <= 3.4028235e38]
    single = near.astype(np.float32)
    for threshold, edge in zip(thresholds, largest, strict=True):
        expected = single < threshold if strict else single <= threshold
        np.testing.assert_array_equal(near <= edge, expected)


def test_ubjson_of_every_kind_comes_back():
    value = {
        "numbers": [0, -1, 127, 128, -40_000, 1 << 40, np.float32(0.5), 0.1],
        "others": [True, False, None, "Grüße", []],
        "arrays": [np.arange(3, dtype=np.int32), np.array([0.5, 1.5], np.float32), np.zeros(2, np.uint8)],
        "empty": {},
    }  # fmt: skip
    again = ubjson.decoded(ubjson.encoded(value))
    assert again["numbers"] == value["numbers"]
    assert again["others"] == value["others"]
    assert again["empty"] == {}
    for old, new in zip(value["arrays"], again["arrays"], strict=True):
        np.testing.assert_array_equal(old, new)
        assert old.dtype.kind == new.dtype.kind
    unsized = b"{i\x01a[i\x01i\x02]}"
    assert ubjson.decoded(unsized) == {"a": [1, 2]}
