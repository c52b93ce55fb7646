"""Simulated problems have the troubles they promise."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import rankopt
from rankopt import SpecError
from rankopt.data.simulate import SHAPES, Shape


def by_query(data):
    return np.split(data.X, data.groups.offsets[1:-1])


def blank(data):
    return np.maximum.reduceat(data.y, data.groups.offsets[:-1]) == 0.0


def test_the_same_seed_gives_the_same_bits():
    one, two = (rankopt.simulate(n_queries=30, n_features=6, seed=9) for _ in range(2))
    assert one.X.tobytes() == two.X.tobytes()
    assert one.y.tobytes() == two.y.tobytes()
    assert one.groups.offsets.tolist() == two.groups.offsets.tolist()
    other = rankopt.simulate(n_queries=30, n_features=6, seed=10)
    assert other.X.tobytes() != one.X.tobytes()


@pytest.mark.parametrize(
    ("name", "queries", "sizes", "features", "grades", "constant"),
    [
        ("mslr_like", 2000, (72, 120), 136, 5, 0.14),
        ("yahoo_like", 5000, (16, 30), 519, 5, 0.10),
        ("gov_like", 50, (1000, 1000), 64, 2, 0.0),
    ],
)
def test_named_shapes(name, queries, sizes, features, grades, constant):
    scale = 0.04
    data = rankopt.simulate(name, scale=scale)
    assert data.groups.n_queries == queries * scale
    assert sizes[0] <= data.groups.sizes.min() <= data.groups.longest <= sizes[1]
    assert data.n_features == features
    assert data.X.dtype == np.float32
    assert np.unique(data.y).tolist() == list(range(grades))
    shares = [np.all(X[:1] == X, axis=0).mean() for X in by_query(data)]
    assert np.mean(shares) == pytest.approx(constant, abs=0.02)
    if name == "gov_like":
        relevant = data.groups.total(data.y)
        assert relevant.min() >= 1
        assert relevant.max() <= 10


def test_sizes_have_a_heavy_tail():
    sizes = rankopt.simulate(n_queries=3000, n_features=1, seed=1).groups.sizes
    assert sizes.min() == 1
    assert 18 <= np.median(sizes) <= 22
    assert np.quantile(sizes, 0.99) > 8 * np.median(sizes)
    assert sizes.max() <= Shape().largest


def test_grades_are_skewed_as_asked():
    data = rankopt.simulate(n_queries=400, n_features=4, grades=(0.5, 0.3, 0.2), blank=0.0)
    shares = np.bincount(data.y.astype(int)) / data.n_rows
    np.testing.assert_allclose(shares, [0.5, 0.3, 0.2], atol=0.001)


def test_blank_queries_constant_columns_duplicates_and_ties():
    shape = {"n_queries": 400, "n_features": 10, "smallest": 5}
    plain = rankopt.simulate(**shape, blank=0.0, constant=0.0, duplicates=0.0, discrete=0.0)
    data = rankopt.simulate(**shape, blank=0.3, constant=0.4, duplicates=0.25, discrete=0.5)

    def constant(data):
        return np.mean([np.all(X[:1] == X, axis=0).mean() for X in by_query(data)])

    def repeated(data):
        return 1.0 - sum(len(np.unique(X, axis=0)) for X in by_query(data)) / data.n_rows

    assert blank(plain).mean() < 0.15
    assert 0.25 < blank(data).mean() < 0.5
    assert constant(plain) == 0.0
    assert 0.35 < constant(data) < 0.5
    assert repeated(plain) == 0.0
    assert 0.15 < repeated(data) < 0.35
    assert [len(np.unique(column)) < 200 for column in data.X.T] == [True] * 5 + [False] * 5


def test_features_tell_the_labels_apart_but_not_wholly():
    kept, held = rankopt.holdout(rankopt.simulate(n_queries=500, seed=2), 0.4)
    guess = Ridge().fit(kept.X, kept.y).predict(held.X)
    rng = np.random.default_rng(0)
    value, chance, best = (
        rankopt.evaluate(scores, held, "ndcg@10").mean["ndcg@10"]
        for scores in (guess, rng.random(held.n_rows), held.y)
    )
    assert chance + 0.2 < value < best - 0.05


def test_products_of_features_matter():
    straight, bent = (
        rankopt.simulate(
            n_queries=300,
            noise=0.0,
            interactions=share,
            discrete=0.0,
            constant=0.0,
            blank=0.0,
            seed=3,
        )
        for share in (0.0, 0.9)
    )
    fits = []
    for data in (straight, bent):
        X = data.X.copy()
        X[:, ::3] = np.log(X[:, ::3])
        X[:, 1::3] = np.log(X[:, 1::3] / (1.0 - X[:, 1::3]))
        fits.append(Ridge().fit(X, data.y).score(X, data.y))
    assert fits[0] > fits[1] + 0.2


def test_one_row_and_one_feature():
    data = rankopt.simulate(n_queries=1, n_features=1, smallest=1, largest=1)
    assert data.X.shape == (1, 1)
    assert np.isfinite(data.X).all()


@pytest.mark.parametrize(
    ("arguments", "options", "fault"),
    [
        (("mslr",), {}, "shape: 'mslr' is none of mslr_like, yahoo_like, gov_like"),
        ((), {"n_querys": 3}, "no 'n_querys'; did you mean 'n_queries'"),
        ((), {"n_features": 0}, "at least one feature"),
        ((), {"smallest": 0}, "1 <= smallest <= largest"),
        ((), {"smallest": 9, "largest": 8}, "1 <= smallest <= largest"),
        ((), {"grades": ()}, "grades"),
        ((), {"grades": (0.5, -0.1)}, "grades"),
    ],
)
def test_impossible_shapes(arguments, options, fault):
    with pytest.raises(SpecError, match=fault):
        rankopt.simulate(*arguments, **options)


def test_shapes_are_values():
    shape = SHAPES["gov_like"]
    data = rankopt.simulate(shape, n_queries=2, n_features=3)
    assert (data.groups.n_queries, data.n_features) == (2, 3)
    assert (shape.n_queries, shape.n_features) == (50, 64)
