# pyright: basic
"""Walks through packed trees; `rankopt.scorers.trees.Trees` says what the arrays mean.

A block of rows meets one tree after the other, so that the tree stays in the cache while the rows
walk through it, and the scores of a row are summed in the order of the trees: the bits are those of a
loop over the trees of one row. A step picks the child by arithmetic instead of a branch, since no
processor can guess which way a row goes, and four rows walk at a time, since each waits for memory.
"""

import numpy as np
from numba import njit

NAN_LEFT = 1  # a missing value goes left
ZERO_MISSING = 2  # zero counts as missing
CATEGORICAL = 4  # the threshold is the number of a set of categories; those in it go left
SINGLE = 8  # a category is rounded to float32 before it is looked up, and must not be negative
ZERO = float(np.float32(1e-35))  # what is as small as this is a zero to LightGBM
BLOCK = 64


@njit(cache=True, nogil=True)
def _goes_right(x, threshold, rule, set_starts, sets):
    """Whether a value goes to the right child of a node."""
    if rule <= NAN_LEFT:
        return 1 - ((x <= threshold) | ((x != x) & (rule == NAN_LEFT)))
    if rule & CATEGORICAL:
        if x != x:
            return 1 - (rule & NAN_LEFT)
        category = float(np.float32(x)) if rule & SINGLE else x
        if category <= -1.0 or category >= 2147483648.0 or (rule & SINGLE and category < 0.0):
            return 1
        number, which = int(category), int(threshold)
        word = set_starts[which] + (number >> 5)
        if word >= set_starts[which + 1]:
            return 1
        return 1 - ((sets[word] >> np.uint32(number & 31)) & 1)
    if x != x or -ZERO <= x <= ZERO:
        return 1 - (rule & NAN_LEFT)
    return 1 - (x <= threshold)


@njit(cache=True, nogil=True)
def _leaf(X, row, node, feature, threshold, rule, kids, set_starts, sets):
    """The leaf at which a row ends, counted over all trees."""
    while node >= 0:
        x = X[row, feature[node]]
        right = _goes_right(x, threshold[node], rule[node], set_starts, sets)
        node = kids[2 * node + right]
    return ~node


@njit(cache=True, nogil=True)
def scores(
    start,
    stop,
    offsets,
    X,
    roots,
    feature,
    threshold,
    rule,
    kids,
    set_starts,
    sets,
    values,
    weights,
    out,
):
    """Write the weighted sum of the trees' values for each row."""
    last = offsets[stop]
    for first in range(offsets[start], last, BLOCK):
        end = min(first + BLOCK, last)
        for i in range(first, end):
            out[i] = 0.0
        for t in range(roots.size):
            w = weights[t]
            if w == 0.0:
                continue
            for i in range(first, end):
                leaf = _leaf(X, i, roots[t], feature, threshold, rule, kids, set_starts, sets)
                out[i] += w * values[leaf]


@njit(cache=True, nogil=True)
def leaves(
    start,
    stop,
    offsets,
    X,
    used,
    roots,
    feature,
    threshold,
    rule,
    kids,
    set_starts,
    sets,
    leaf_starts,
    out,
):
    """Write the leaf of each row in each tree, counted from the tree's first, to out[tree, row].

    Nodes ask for features by their place among those used, which are copied block by block: reading rows
    from end to end is several times faster than jumping into them, as one tree on its own would.
    """
    last = offsets[stop]
    block = np.empty((BLOCK, used.size), X.dtype)
    for first in range(offsets[start], last, BLOCK):
        end = min(first + BLOCK, last)
        for i in range(first, end):
            for j in range(used.size):
                block[i - first, j] = X[i, used[j]]
        for t in range(roots.size):
            for i in range(first, end):
                row = i - first
                leaf = _leaf(block, row, roots[t], feature, threshold, rule, kids, set_starts, sets)
                out[t, i] = leaf - leaf_starts[t]
