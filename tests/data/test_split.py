"""Splits by query."""

from itertools import chain

import numpy as np
import pytest

import rankopt
from rankopt import DataError, SpecError
from rankopt.data.split import fold_queries

DATA = rankopt.simulate(n_queries=23, n_features=2, seed=1)


def qids(data):
    return data.groups.qids.tolist()


@pytest.mark.parametrize(("fraction", "held"), [(0.2, 5), (0.5, 12), (0.001, 1), (0.999, 22)])
def test_a_holdout_shares_no_query(fraction, held):
    kept, part = rankopt.holdout(DATA, fraction, rng=7)
    assert part.groups.n_queries == held
    assert sorted(qids(kept) + qids(part)) == qids(DATA)
    assert qids(kept) == sorted(qids(kept))
    for half in (kept, part):
        for query, qid in enumerate(qids(half)):
            rows = slice(*half.groups.offsets[query : query + 2])
            original = slice(*DATA.groups.offsets[qid - 1 : qid + 1])
            np.testing.assert_array_equal(half.X[rows], DATA.X[original])


@pytest.mark.parametrize("n", [2, 5, 23])
def test_every_query_is_in_one_fold(n):
    parts = list(rankopt.folds(DATA, n, rng=3))
    assert len(parts) == n
    assert sorted(chain(*(qids(fold) for _, fold in parts))) == qids(DATA)
    for rest, fold in parts:
        assert sorted(qids(rest) + qids(fold)) == qids(DATA)
    sizes = [fold.groups.n_queries for _, fold in parts]
    assert max(sizes) - min(sizes) <= 1


def test_the_same_seed_gives_the_same_split():
    def all_folds(rng):
        return [fold.tolist() for _, fold in fold_queries(DATA, 4, rng)]

    assert all_folds(5) == all_folds(5) == all_folds(np.random.default_rng(5))
    assert all_folds(5) != all_folds(6)
    assert qids(rankopt.holdout(DATA, 0.3, 1)[1]) == qids(rankopt.holdout(DATA, 0.3, 1)[1])
    assert qids(rankopt.holdout(DATA, 0.3, 1)[1]) != qids(rankopt.holdout(DATA, 0.3, 2)[1])


def test_what_cannot_be_split():
    one = rankopt.dataset([[1.0], [2.0]], name="small")
    with pytest.raises(DataError, match="small: 1 queries are too few for a holdout"):
        rankopt.holdout(one)
    with pytest.raises(DataError, match="23 queries are too few for 24 folds"):
        list(rankopt.folds(DATA, 24))
    with pytest.raises(SpecError, match="n: 1 folds"):
        list(rankopt.folds(DATA, 1))
    for fraction in (0.0, 1.0, -0.1):
        with pytest.raises(SpecError, match="fraction"):
            rankopt.holdout(DATA, fraction)
