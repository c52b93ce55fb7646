"""boosts: the weights are a maximum, the ranges are honest, the gain is on unseen queries."""

import numpy as np
import pytest

import rankopt
from rankopt.errors import DataError, SpecError
from rankopt.measures import as_measure
from rankopt.scorers import Linear

NAMES = ("title", "body", "tags", "noise")


def clauses(seed=0, n_queries=60):
    rng = np.random.default_rng(seed)
    X = rng.gamma(2.0, size=(n_queries * 8, 4))
    y = np.clip(np.round(X @ [0.8, 0.3, 0.0, 0.0] + 0.5 * rng.normal(size=len(X))), 0, 4)
    return rankopt.dataset(X, y, np.repeat(np.arange(n_queries), 8), features=NAMES)


def test_new_weights_are_better_and_stated_as_they_are():
    data = clauses()
    found = rankopt.boosts(
        data, "ndcg@5", current={"title": 1.0, "body": 1.0, "tags": 1.0, "noise": 1.0}
    )
    weights = np.array([b.weight for b in found.weights])
    assert [b.feature for b in found.weights] == list(NAMES)
    assert np.all(weights >= 0.0)
    for value, w in ((found.train, weights), (found.train_before, np.ones(4))):
        measured = rankopt.evaluate(Linear().scores(w, data), data, "ndcg@5").mean["ndcg@5"]
        assert value == pytest.approx(measured, abs=1e-12)
    assert found.train > found.train_before
    terms = [term.split(" * ") for term in found.expression.split(" + ")]
    scores = sum(float(weight) * data.X[:, NAMES.index(name)] for weight, name in terms)
    assert rankopt.evaluate(scores, data, "ndcg@5").mean["ndcg@5"] == pytest.approx(
        found.train, abs=1e-9
    )


def test_inside_its_range_a_weight_keeps_the_measure_and_beyond_it_does_not():
    data = clauses()
    found = rankopt.boosts(data, "ndcg@5", folds=0)
    bound = as_measure("ndcg@5").bind(data.y, data.groups)
    weights = np.array([b.weight for b in found.weights])

    def value(f, w):
        moved = weights.copy()
        moved[f] = w
        return bound.mean(Linear().scores(moved, data))

    for f, boost in enumerate(found.weights):
        assert 0.0 <= boost.lo <= boost.weight <= boost.hi
        top = boost.hi if np.isfinite(boost.hi) else boost.lo + 10.0
        for share in (0.0137, 0.31, 0.69, 0.9871):
            assert value(f, boost.lo + share * (top - boost.lo)) == pytest.approx(
                found.train, abs=1e-9
            )
        if np.isfinite(boost.hi):
            assert value(f, boost.hi * (1 + 1e-9) + 1e-12) != pytest.approx(found.train, abs=1e-12)
        if boost.lo > 0.0:
            assert value(f, boost.lo * (1 - 1e-9)) != pytest.approx(found.train, abs=1e-12)


def test_the_gain_is_measured_on_validation_queries_or_by_folds():
    data, valid = clauses(), clauses(seed=1)
    crossed = rankopt.boosts(data, "ndcg@5")
    assert crossed.gain_on == "cross-validation"
    assert crossed.gain.lo <= crossed.gain.difference <= crossed.gain.hi
    assert crossed.gain.difference < crossed.train - crossed.train_before  # training gains flatter
    held = rankopt.boosts(data, "ndcg@5", valid=valid)
    assert held.gain_on == "validation"
    assert held.gain.difference == pytest.approx(held.valid - held.valid_before)
    assert held.to_dict()["valid"] == held.valid
    assert rankopt.boosts(data, "ndcg@5", folds=0).gain is None


def test_pure_noise_is_not_sold_as_a_gain():
    rng = np.random.default_rng(5)
    X = rng.random((400, 6))
    data = rankopt.dataset(X, rng.integers(0, 2, 400), np.repeat(np.arange(40), 10))
    found = rankopt.boosts(data, "ndcg@10")
    assert found.train > found.train_before
    assert found.gain.p > 0.01


def test_weights_keep_the_sum_of_the_current_ones():
    found = rankopt.boosts(clauses(), "map", current=[4.0, 2.0, 1.0, 1.0], folds=0)
    assert sum(b.weight for b in found.weights) == pytest.approx(8.0, rel=0.02)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"current": {"titel": 1.0}}, DataError, "no feature is named 'titel'"),
        ({"current": [1.0]}, DataError, "1 weights for 4 features"),
        ({"current": [0.0, 0, 0, 0]}, DataError, "all weights are 0"),
        ({"current": [-1.0, 0, 0, 1]}, DataError, "not negative"),
        ({"folds": 1}, SpecError, "folds: 0, or 2 and more"),
    ],
)
def test_what_is_refused_is_named(options, error, words):
    with pytest.raises(error, match=words):
        rankopt.boosts(clauses(), **options)
