"""Contracts of every registered scorer: a new scorer is tested by being registered.

The oracle of a pullback is the Jacobian by central differences. A scorer that holds arrays says in
`FITTED` how it comes by them.
"""

import inspect
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests import oracles

import rankopt
from rankopt import threads
from rankopt.data.scale import scale_standard
from rankopt.errors import IncompatibleError
from rankopt.models.model import Model, Recipe
from rankopt.models.storage import load_model, save_model
from rankopt.scorers import SCORERS, Forest, Linear
from rankopt.scorers.trees import Trees, empty_arrays

WIDTH, QUERY_WIDTH = 5, 3
SETTINGS = {
    "stumps": ["stumps(features=[0, 2, 2], thresholds=[0.1, -0.2, 0.7])"],
    "kernel": [
        "kernel(gamma=0.3, components=4)",
        "kernel(polynomial, degree=3, gamma=0.2, components=4)",
    ],
    "bilinear": ["bilinear(d=3)", "bilinear(sigmoid, d=2)", "bilinear(none, d=1, scale=2)"],
    "quadratic": ["quadratic(rho=0)", "quadratic(rho=0.2)"],
    "distance": ["distance(d=3)", "distance(d=2, tau=0.5)"],
}


def forest():
    stumps = {
        "roots": np.array([0, 1], np.int32), "leaf_starts": np.array([0, 2, 4]),
        "feature": np.array([0, 3], np.int32), "threshold": np.array([0.1, -0.4]),
        "rule": np.zeros(2, np.uint8), "kids": np.array([~0, ~1, ~2, ~3], np.int32),
        "values": np.array([-1.0, 1.0, 0.5, 2.0]),
    }  # fmt: skip
    return Forest(Trees.checked({**empty_arrays(), **stumps}))


def cases():
    """Every scorer in its default setting and in others."""
    for name in SCORERS:
        if name == "forest":
            yield pytest.param(forest(), id="forest")
            continue
        for text in SETTINGS.get(name, [name]):
            yield pytest.param(SCORERS.build(text), id=text)


every_scorer = pytest.mark.parametrize("scorer", list(cases()))


def problem(seed=0, sizes=(4, 1, 6, 3), dtype=np.float64, sparse=False):
    """Rows of a few queries with blanks, a constant column and a duplicate."""
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(sum(sizes), WIDTH)) * (rng.random((sum(sizes), WIDTH)) < 0.8)).round(3)
    X[:, 1] = 0.5
    X[6] = X[5]
    Q = rng.normal(size=(len(sizes), QUERY_WIDTH)) * (rng.random((len(sizes), QUERY_WIDTH)) < 0.8)
    make = csr_array if sparse else np.asarray
    y = rng.integers(0, 3, sum(sizes))
    return rankopt.dataset(
        make(X.astype(dtype)), y, group=sizes, query_features=make(Q.astype(dtype))
    )


def ready(scorer, data, seed=0):
    """The scorer fitted, and parameters to try it with."""
    rng = np.random.default_rng(seed)
    scorer = scorer.fitted(data)
    start = scorer.start(data, rng)
    assert start.shape == (scorer.size(data),)
    return scorer, start + 0.3 * rng.normal(size=start.size)


@every_scorer
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_pullback_is_the_transpose_of_the_jacobian(scorer, sparse, dtype):
    data = problem(1, dtype=dtype, sparse=sparse)
    scorer, params = ready(scorer, data)
    by_scores = np.random.default_rng(2).normal(size=data.n_rows)
    found = scorer.pullback(params, data, by_scores)
    rough = oracles.fine_differences(
        lambda p: float(by_scores @ scorer.scores(p, data)), params, np.eye(params.size)
    )
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, rough, rtol=1e-6, atol=1e-8)


@every_scorer
def test_confined_data_gives_the_same_scores_by_fewer_parameters(scorer):
    dense = problem(4)
    X, Q = dense.X * [1, 1, 0, 1, 1], dense.Q * [1, 0, 1]
    data = replace(dense, X=csr_array(X), Q=csr_array(Q))
    scorer, params = ready(scorer, data)
    part = data.take(np.array([3, 1]))
    assert scorer.confined(dense) is None
    confined = scorer.confined(part)
    if confined is None:
        return
    few, places = confined
    d = np.random.default_rng(5).normal(size=part.n_rows)
    np.testing.assert_array_equal(scorer.scores(params[places], few), scorer.scores(params, part))
    whole = np.zeros(params.size)
    whole[places] = scorer.pullback(params[places], few, d)
    np.testing.assert_allclose(whole, scorer.pullback(params, part, d), rtol=1e-12)
    assert scorer.size(few) == places.size < params.size


def test_scorers_of_many_columns_confine_themselves():
    data = problem(4, sparse=True)
    for text in ("linear", "bilinear", "distance"):
        assert SCORERS.build(text).confined(data) is not None


@every_scorer
def test_sparse_and_dense_features_give_the_same(scorer):
    data = problem(3)
    scorer, params = ready(scorer, data)
    sparse = replace(data, X=csr_array(data.X), Q=csr_array(data.Q))
    by_scores = np.random.default_rng(3).normal(size=data.n_rows)
    np.testing.assert_allclose(
        scorer.scores(params, sparse), scorer.scores(params, data), rtol=1e-12, atol=1e-13
    )
    np.testing.assert_allclose(
        scorer.pullback(params, sparse, by_scores),
        scorer.pullback(params, data, by_scores),
        rtol=1e-11,
        atol=1e-12,
    )


@every_scorer
def test_linear_in_its_parameters_where_it_says_so(scorer):
    data = problem(4)
    scorer, a = ready(scorer, data, 1)
    _, b = ready(scorer, data, 2)
    mixed = scorer.scores(2.0 * a - 0.5 * b, data)
    sum_of_parts = 2.0 * scorer.scores(a, data) - 0.5 * scorer.scores(b, data)
    assert np.allclose(mixed, sum_of_parts, rtol=1e-10, atol=1e-10) == scorer.linear


@every_scorer
def test_parts_score_as_the_whole_and_equal_rows_alike(scorer):
    data = problem(5)
    scorer, params = ready(scorer, data)
    whole = scorer.scores(params, data)
    for q in range(data.groups.n_queries):
        a, b = data.groups.offsets[q : q + 2]
        part = scorer.scores(params, data.take(np.array([q])))
        np.testing.assert_allclose(part, whole[a:b], rtol=1e-12, atol=1e-13)
    assert whole[6] == whole[5]


@every_scorer
def test_same_bits_for_any_number_of_threads(scorer, monkeypatch):
    monkeypatch.setattr(threads, "_SMALL", 0)
    data = problem(6, (40, 50, 60))
    scorer, params = ready(scorer, data)
    results = []
    for n in (1, 2, 3):
        with threads.using_threads(n):
            scores = scorer.scores(params, data)
            results.append((scores.tobytes(), scorer.pullback(params, data, scores).tobytes()))
    assert results[0] == results[1] == results[2]


@every_scorer
def test_standardisation_is_taken_in_where_it_says_so(scorer):
    data = problem(7)
    scaled, scaling = scale_standard(data)
    if not scorer.foldable:
        with pytest.raises(IncompatibleError, match="standardisation"):
            scorer.folded(np.zeros(3), scaling)
        return
    scorer, params = ready(scorer, scaled)
    wanted = scorer.scores(params, scaled)
    found = scorer.unscaled(scaling).scores(scorer.folded(params, scaling), data)
    moved = found - wanted  # by the same amount within a query
    first = data.groups.spread(moved[data.groups.offsets[:-1]])
    np.testing.assert_allclose(moved, first, rtol=1e-9, atol=1e-10)


@every_scorer
def test_laid_out_a_linear_scorer_gives_the_same(scorer):
    data = problem(9)
    scorer, params = ready(scorer, data)
    try:
        laid_out = scorer.laid_out(data)
    except IncompatibleError:
        return
    assert scorer.linear
    np.testing.assert_array_equal(Linear().scores(params, laid_out), scorer.scores(params, data))


@every_scorer
def test_file_keeps_it_and_a_wrong_size_is_refused(scorer, tmp_path):
    data = problem(8)
    scorer, params = ready(scorer, data)
    recipe = Recipe("ranker")
    path = tmp_path / "m.rankopt"
    expected = scorer.size_for(WIDTH, QUERY_WIDTH)
    assert expected in (None, params.size)
    model = Model(scorer, params, WIDTH, (), None, recipe, n_query_features=QUERY_WIDTH)
    save_model(model, path)
    read = load_model(path)
    np.testing.assert_array_equal(read.predict(data), scorer.scores(params, data))
    assert str(read.scorer) == str(scorer)
    if expected is not None:
        save_model(replace(model, params=np.append(params, 1.0)), path)
        with pytest.raises(rankopt.RankoptError, match=f"{params.size + 1} "):
            load_model(path)


@pytest.mark.parametrize("name", list(SCORERS))
def test_documentation(name):
    text = inspect.getdoc(SCORERS[name]) or ""
    for section in ("Definition", "References", "Examples"):
        assert f"{section}\n{'-' * len(section)}" in text, f"{name}: no {section}"
    bibliography = Path(__file__).resolve().parents[2] / "docs" / "references.bib"
    known = re.findall(r"@\w+\{([^,]+),", bibliography.read_text(encoding="utf-8"))
    cited = re.findall(r"\[(\w+)\]_", text)
    assert cited, f"{name}: cites nothing"
    assert set(cited) <= set(known)
