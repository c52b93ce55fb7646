"""compare: pairs, corrected p-values and honest counts."""

import numpy as np
import pytest

import rankopt
from rankopt.errors import DataError
from rankopt.evaluation.intervals import holm


def problem(n_queries=60, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, size=8 * n_queries)
    data = rankopt.dataset(np.zeros((labels.size, 1)), labels, np.repeat(np.arange(n_queries), 8))
    noise = rng.normal(size=labels.size)
    return data, {"noise": noise, "weak": noise + 0.5 * labels, "good": noise + 2.0 * labels}


def test_errors_name_the_ranking():
    data, systems = problem()
    with pytest.raises(DataError, match="good: 5 values, but data has 480 rows"):
        rankopt.compare({**systems, "good": np.zeros(5)}, data, "ndcg@5")
    with pytest.raises(DataError, match="rankings must have names"):
        rankopt.compare(list(systems.values()), data, "ndcg@5")


def test_pairs_are_differences_of_the_means():
    data, systems = problem()
    result = rankopt.compare(systems, data, "ndcg@5")
    assert [(p.a, p.b) for p in result.pairs] == [
        ("noise", "weak"),
        ("noise", "good"),
        ("weak", "good"),
    ]
    for pair in result.pairs:
        a, b = (
            rankopt.evaluate(systems[n], data, "ndcg@5").per_query["ndcg@5"]
            for n in (pair.a, pair.b)
        )
        assert pair.difference == pytest.approx(np.mean(b - a))
        assert (pair.wins, pair.ties, pair.losses) == ((b > a).sum(), (b == a).sum(), (b < a).sum())
        assert pair.lo <= pair.difference <= pair.hi
    np.testing.assert_allclose(
        [p.p_holm for p in result.pairs], holm(np.array([p.p for p in result.pairs]))
    )
    assert result.pairs[1].p_holm < 0.01


def test_pairs_against_one_are_those_of_all_that_hold_it():
    data, systems = problem()
    result = rankopt.compare(systems, data, "ndcg@5", against="weak")
    assert [(p.a, p.b) for p in result.pairs] == [("weak", "noise"), ("weak", "good")]
    assert result.pairs[0].difference == pytest.approx(
        -rankopt.compare(systems, data, "ndcg@5").pairs[0].difference
    )
    np.testing.assert_allclose(
        [p.p_holm for p in result.pairs], holm(np.array([p.p for p in result.pairs]))
    )
    with pytest.raises(DataError, match="against 'bad', but there are noise, weak, good"):
        rankopt.compare(systems, data, "ndcg@5", against="bad")


def test_the_same_seed_gives_the_same_numbers():
    data, systems = problem()
    first, second = (
        rankopt.compare(systems, data, "map", random_state=7).to_dict() for _ in range(2)
    )
    assert first == second


def test_queries_that_a_convention_skips_are_left_out_of_the_test():
    data, systems = problem()
    labels = data.y.copy()
    labels[:8] = 0.0
    blank = rankopt.dataset(
        np.zeros((labels.size, 1)),
        labels,
        np.repeat(data.groups.qids, 8),
        docs=np.arange(labels.size),
    )
    assert rankopt.compare(systems, blank, "ndcg@5", convention="gdeval").queries == 59


def test_one_ranking_is_not_compared():
    data, systems = problem()
    with pytest.raises(DataError, match="two or more"):
        rankopt.compare({"a": systems["weak"]}, data)
