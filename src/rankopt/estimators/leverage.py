"""Leverage: the weights of all trees of a boosted model searched anew, behind a validation guard."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.ensembles.ascent import Ascent, Point, TreeColumns
from rankopt.measures import BoundMeasure
from rankopt.progress import Advance
from rankopt.scorers.trees import Trees

BOUNDS = (0.0, 2.0)  # of the factors of weights
GUARD = 1.0  # standard errors that the validation measure has to rise by


def leveraged(
    trees: Trees,
    weights: Floats,
    parts: Sequence[Dataset],
    bound: Sequence[BoundMeasure],
    rounds: int,
    blocks: int | None,
    advance: Advance,
) -> Point:
    r"""Factors of trees' weights that raise the measure where boosting has left it.

    Definition
    ----------
    .. math:: \max_{c \in [0, 2]^T} M \Big( \sum_t c_t w_t h_t \Big), \qquad c^{(0)} = (1, \dots, 1)

    by exact coordinate ascent on the training queries. Boosting weighs each tree for the trees before it;
    here all are known. Of the points on the way the one with the best validation measure is
    taken, if it is better than the given weights by a standard error, query by query.

    Parameters
    ----------
    trees, weights : the model.
    parts : the training rows and the validation rows.
    bound : the measure on each.
    rounds : over all trees, at most; a round that brings no better validation measure is the last.
    blocks : trees in a row that share a factor are cut into so many; None is a factor for each tree.
    advance : called with a few words after each tree.

    References
    ----------
    [tan2013direct]_, section 4
    """
    train, valid = (TreeColumns.of(trees, weights, part) for part in parts)
    count = trees.n_trees if blocks is None else min(blocks, trees.n_trees)
    units = np.array_split(np.arange(trees.n_trees), count)
    ascent = Ascent(train, bound[0], (valid, bound[1]), units, BOUNDS, 1.0, False, GUARD)
    ascent.climb(rounds, 1, advance)
    return ascent.best
