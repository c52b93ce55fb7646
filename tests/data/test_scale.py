"""Scaling per query and over all rows, against NumPy; folding into a linear model."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import rankopt
from rankopt import DataError, IncompatibleError
from rankopt.data.scale import Scaling, scale_per_query, scale_standard
from rankopt.threads import using_threads


def problem(dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((200, 6)) * 10.0 ** np.arange(-2, 4)).astype(dtype)
    X[:, 1] = 3.3
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 5] = np.nan
    return rankopt.dataset(X, qid=np.sort(rng.integers(0, 30, 200)))


def by_query(data):
    out = np.empty(data.X.shape)
    for start, stop in zip(data.groups.offsets[:-1], data.groups.offsets[1:], strict=True):
        for j in range(data.n_features):
            column = data.X[start:stop, j].astype(np.float64)
            known = column[~np.isnan(column)]
            low, high = (known.min(), known.max()) if known.size else (0.0, 0.0)
            out[start:stop, j] = (column - low) / (high - low) if high > low else column - low
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_query_is_brought_to_the_unit_interval(dtype):
    data = problem(dtype)
    before = data.X.copy()
    scaled = scale_per_query(data)
    assert scaled.X.dtype == dtype
    np.testing.assert_allclose(
        scaled.X, by_query(data), rtol=1e-6 if dtype is np.float32 else 1e-14
    )
    np.testing.assert_array_equal(data.X, before)
    assert scaled.groups is data.groups


def test_column_major_features_scale_alike():
    data = problem()
    turned = rankopt.dataset(np.asfortranarray(data.X), qid=data.groups.spread(data.groups.qids))
    np.testing.assert_array_equal(scale_per_query(turned).X, scale_per_query(data).X)


def test_threads_change_no_bit():
    data = rankopt.simulate(n_queries=2000, n_features=5)
    assert data.n_rows > 20_000
    with using_threads(1):
        one = scale_per_query(data).X
    with using_threads(2):
        two = scale_per_query(data).X
    assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize("parts", [(1, 2, 3), (4,), (5,)])
def test_letor_scales_its_queries_so(real_data, parts):
    """QueryLevelNorm from Feature-min, to the six decimals that the files have."""
    folder = real_data / "ohsumed_letor3"
    name = {3: "train", 4: "vali", 5: "test"}[parts[-1]]
    theirs = rankopt.read_letor(folder / f"QueryLevelNorm/Fold1/{name}.txt.gz", dtype=np.float64)
    start = 0
    for part in parts:
        data = rankopt.read_letor(folder / f"Feature-min/S{part}.txt.gz", dtype=np.float64)
        stop = start + data.n_rows
        np.testing.assert_array_equal(theirs.docs[start:stop], data.docs)
        np.testing.assert_allclose(
            scale_per_query(data).X, theirs.X[start:stop], rtol=0, atol=5.01e-7
        )
        start = stop
    assert start == theirs.n_rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mean_and_deviation_of_all_rows(dtype):
    data = problem(dtype)
    scaled, scaling = scale_standard(data)
    assert scaled.X.dtype == dtype
    X = data.X[:, :5].astype(np.float64)
    np.testing.assert_allclose(scaling.center[:5], np.nanmean(X, axis=0), rtol=1e-13)
    expected = np.nanstd(X, axis=0)
    expected[1] = 1.0
    np.testing.assert_allclose(scaling.scale[:5], expected, rtol=1e-12)
    assert (scaling.center[5], scaling.scale[5]) == (0.0, 1.0)
    np.testing.assert_array_equal(np.isnan(scaled.X), np.isnan(data.X))
    known = scaled.X[:, [0, 2, 3, 4]].astype(np.float64)
    np.testing.assert_allclose(np.nanmean(known, axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(np.nanstd(known, axis=0), 1.0, rtol=1e-6)
    assert set(scaled.X[~np.isnan(data.X[:, 1]), 1].tolist()) == {0.0}


def test_a_large_offset_does_not_drown_the_deviation():
    X = 1e8 + np.arange(10_000.0)[:, None] % 7
    _, scaling = scale_standard(rankopt.dataset(X))
    assert scaling.scale[0] == pytest.approx((np.arange(10_000) % 7).std(), rel=1e-9)


@pytest.mark.parametrize("value", [0.1, -3.3, 1e-30, 1e30, 16777217.0])
def test_constant_columns_become_exactly_zero(value):
    scaled, scaling = scale_standard(rankopt.dataset(np.full((5001, 1), value)))
    assert not scaled.X.any()
    assert (scaling.center[0], scaling.scale[0]) == (value, 1.0)


halves = st.integers(-64, 64).map(lambda number: number / 2.0)
vectors = hnp.arrays(np.float64, 3, elements=halves)


@given(
    vectors, vectors, hnp.arrays(np.float64, 3, elements=st.sampled_from([0.5, 1.0, 4.0])), vectors
)
def test_folding_is_exact_algebra(x, center, scale, weights):
    folded, shift = Scaling(center, scale).fold(weights)
    scaled = sum(
        Fraction(w) * (Fraction(v) - Fraction(c)) / Fraction(s)
        for w, v, c, s in zip(weights, x, center, scale, strict=True)
    )
    assert (
        sum(Fraction(w) * Fraction(v) for w, v in zip(folded, x, strict=True)) + Fraction(shift)
        == scaled
    )


def test_a_folded_model_scores_as_the_model_on_scaled_features():
    data = rankopt.simulate(n_queries=20, n_features=8, seed=5)
    scaled, scaling = scale_standard(data)
    weights = np.random.default_rng(0).standard_normal(8)
    folded, shift = scaling.fold(weights)
    np.testing.assert_allclose(
        data.X.astype(np.float64) @ folded + shift, scaled.X.astype(np.float64) @ weights, atol=1e-4
    )


def test_other_data_are_scaled_alike():
    _, scaling = scale_standard(rankopt.dataset([[0.0], [2.0]]))
    assert scaling.apply(np.array([[4.0], [math.nan]]))[0, 0] == 3.0
    with pytest.raises(DataError, match="X has 2 features, but the scaling 1"):
        scaling.apply(np.ones((1, 2)))


@pytest.mark.parametrize("scale", [scale_per_query, scale_standard])
def test_sparse_features_are_refused(scale):
    from scipy.sparse import csr_array

    with pytest.raises(IncompatibleError, match=r"pass X\.toarray\(\)"):
        scale(rankopt.dataset(csr_array(np.eye(3))))
