"""The forest scorer in model files: what is written reads back, what could leave the arrays is refused."""

import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankopt
from rankopt.errors import ModelError, SpecError
from rankopt.models.model import Model, Recipe
from rankopt.models.storage import load_model, save_model
from rankopt.scorers import SCORERS, Forest
from rankopt.scorers.trees import Trees, empty_arrays


@st.composite
def forests(draw):
    """Random trees, each grown by splitting a leaf drawn at random."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    parts = [one_tree(rng, draw(st.integers(1, 9))) for _ in range(draw(st.integers(1, 4)))]
    return Trees.joined(parts)


def one_tree(rng, leaves):
    nodes, kids = leaves - 1, []
    where = {0: None}  # leaf: its place among the kids
    for node in range(nodes):
        leaf = int(rng.choice(list(where)))
        if where[leaf] is not None:
            kids[where[leaf]] = node
        kids += [~leaf, ~(node + 1)]
        where[leaf], where[node + 1] = 2 * node, 2 * node + 1
    rule = rng.integers(0, 4, nodes)
    categorical = rng.random(nodes) < 0.3
    rule[categorical] = rng.choice([4, 5, 12, 13], int(categorical.sum()))
    threshold = np.where(categorical, np.cumsum(categorical) - 1.0, rng.integers(-2, 3, nodes))
    words = rng.integers(0, 2**32, 2 * int(categorical.sum()), dtype=np.uint64)
    return Trees.checked(
        {
            "roots": np.array([0 if nodes else -1], np.int32),
            "leaf_starts": np.array([0, leaves]),
            "feature": rng.integers(0, 3, nodes).astype(np.int32),
            "threshold": threshold,
            "rule": rule.astype(np.uint8),
            "kids": np.array(kids, np.int32),
            "set_starts": np.arange(0, words.size + 1, 2),
            "sets": words.astype(np.uint32),
            "values": rng.normal(size=leaves),
        }
    )


def walked(trees, t, x):
    """The leaf of one row in one tree, in plain Python from the definition."""
    node = int(trees.roots[t])
    while node >= 0:
        value, rule, threshold = x[trees.feature[node]], trees.rule[node], trees.threshold[node]
        missing = np.isnan(value) or (bool(rule & 2) and abs(value) <= 1e-35)
        if missing:
            left = bool(rule & 1)
        elif rule & 4:
            start, stop = trees.set_starts[int(threshold)], trees.set_starts[int(threshold) + 1]
            members = {
                32 * i + b
                for i, word in enumerate(trees.sets[start:stop])
                for b in range(32)
                if int(word) >> b & 1
            }
            value = np.float32(value) if rule & 8 else value
            left = int(value) in members and (value >= 0 if rule & 8 else value > -1)
        else:
            left = value <= threshold
        node = int(trees.kids[2 * node + (not left)])
    return ~node


def values(rng, shape):
    X = rng.choice([-2.0, -1.0, -0.5, 0.0, 1.0, 2.0, 31.0, 32.0, 63.0, 64.0, 1e10, np.nan], shape)
    return X + rng.choice([0.0, 1e-9, 0.25], shape)


@given(trees=forests(), seed=st.integers(0, 1000))
def test_a_walk_is_what_the_definition_says(trees, seed):
    rng = np.random.default_rng(seed)
    X, weights = values(rng, (20, 3)), rng.normal(size=trees.n_trees)
    data = rankopt.dataset(X)
    leaves = [[walked(trees, t, x) for x in X] for t in range(trees.n_trees)]
    np.testing.assert_array_equal(trees.leaves(data) + trees.leaf_starts[:-1, None], leaves)
    expected = np.zeros(20)
    for weight, where in zip(weights, leaves, strict=True):
        expected += weight * trees.values[where]
    np.testing.assert_array_equal(trees.scores(weights, data), expected)


def stored(trees, path):
    recipe = Recipe("directboost", {"measure": "ndcg@10"}, {})
    params = np.linspace(0.5, 1.5, trees.n_trees)
    save_model(Model(Forest(trees), params, 3, (), None, recipe), path)
    return params


@given(trees=forests())
def test_what_is_written_reads_back(trees, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.rankopt"
    params = stored(trees, path)
    read = load_model(path)
    np.testing.assert_array_equal(read.params, params)
    assert isinstance(read.scorer, Forest)
    for name, array in trees.arrays.items():
        np.testing.assert_array_equal(read.scorer.trees.arrays[name], array)
    again = path.with_name("again")
    save_model(read, again)
    assert again.read_bytes() == path.read_bytes()


def replaced(path, name, array):
    """The file with one array changed, or with another header where `name` is model.json."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    buffer = io.BytesIO()
    if isinstance(array, dict):
        buffer.write(json.dumps({**json.loads(members["model.json"]), **array}).encode())
    else:
        np.save(buffer, array)
    members[name] = buffer.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)


HOSTILE = {
    "far child": (
        "kids.npy",
        lambda a: np.where(a >= 0, 10**6, a).astype(a.dtype),
        "outside its tree",
    ),
    "far leaf": (
        "kids.npy",
        lambda a: np.where(a < 0, -(10**6), a).astype(a.dtype),
        "outside its tree",
    ),
    "circle": ("kids.npy", np.zeros_like, "outside its tree"),
    "feature": ("feature.npy", lambda a: a - 5, "no feature"),
    "set": ("threshold.npy", lambda a: a + 99.0, "set that is not there"),
    "nan": ("threshold.npy", lambda a: a * np.nan, "no threshold"),
    "rule": ("rule.npy", lambda a: a | 64, "rule is unknown"),
    "roots": ("roots.npy", lambda a: a + 3, "does not begin"),
    "leaves": ("leaf_starts.npy", lambda a: a[::-1].copy(), "leaf_starts"),
    "type": ("values.npy", lambda a: a.astype(np.float16), "must hold numbers"),
    "other type": ("values.npy", lambda a: a.astype(np.int64), "values must hold float64"),
    "shape": ("values.npy", lambda a: a.reshape(1, -1), "in one dimension"),
    "fewer": ("values.npy", lambda a: a[:-1], "leaf_starts"),
    "names": ("model.json", lambda _: {"arrays": ["roots"]}, "expected the arrays"),
    "path": ("model.json", lambda _: {"arrays": ["../../etc/passwd"]}, "cannot be named"),
    "linear": ("model.json", lambda _: {"scorer": "linear"}, "linear holds no arrays"),
    "text": ("model.json", lambda _: {"scorer": "forest(trees=[1])"}, "no parameter 'trees'"),
    "trees": ("model.json", lambda _: {"scorer": "forest([1])"}, "takes at most 0 arguments"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_refused_with_one_line(case, tmp_path):
    name, change, words = HOSTILE[case]
    rng = np.random.default_rng(3)
    trees = Trees.joined([one_tree(rng, 9) for _ in range(3)])
    path = tmp_path / "m.rankopt"
    stored(trees, path)
    replaced(path, name, change(trees.arrays.get(name.removesuffix(".npy"))))
    with pytest.raises(ModelError, match=words) as error:
        load_model(path)
    assert "m.rankopt" in str(error.value)
    assert "\n" not in str(error.value)


def test_weights_must_be_as_many_as_trees(tmp_path):
    trees = one_tree(np.random.default_rng(0), 4)
    stored(trees, tmp_path / "m.rankopt")
    replaced(tmp_path / "m.rankopt", "params.npy", np.ones(7))
    with pytest.raises(ModelError, match="7 parameters, but forest has 1"):
        load_model(tmp_path / "m.rankopt")


def test_a_forest_without_trees_has_nothing_to_train():
    forest = SCORERS.build("forest")
    assert str(forest) == "forest"
    assert forest.scores(np.zeros(0), rankopt.dataset([[1.0]])).tolist() == [0.0]
    with pytest.raises(SpecError, match="has no trees"):
        forest.start(rankopt.dataset([[1.0]]), np.random.default_rng(0))
    assert Trees.joined([]).n_trees == Trees(**empty_arrays()).n_trees == 0
