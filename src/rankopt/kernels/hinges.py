# pyright: basic
"""Sums of hinges over all pairs of a query with different labels, in O(m log m).

A pair (i, j) with a higher label of i is *active* where ``s_i - s_j < 1``, and the squared hinge is
``((1 - s_i) + s_j)^2``. Going down the order of scores, the rows j that make a row i's pairs active only
grow in number, so a binary indexed tree over the labels keeps their number, their sum and their sum of
squares below any label. A second pass up the order does the same for the rows j [airola2011training].
"""

import numpy as np
from numba import njit

from rankopt.kernels.order import longest_of


@njit(cache=True, nogil=True)
def pairs_of(start, stop, offsets, labels, out):
    """Write how many pairs of each query have different labels."""
    for q in range(start, stop):
        rows = np.sort(labels[offsets[q] : offsets[q + 1]])
        size = rows.size
        pairs = size * (size - 1) // 2
        left = 0
        while left < size:
            right = left + 1
            while right < size and rows[right] == rows[left]:
                right += 1
            pairs -= (right - left) * (right - left - 1) // 2
            left = right
        out[q] = pairs


@njit(cache=True, nogil=True)
def squared_hinges(start, stop, offsets, scores, labels, values, grad):
    """Write the sum of squared hinges of each query, and its derivative by the scores."""
    room = longest_of(start, stop, offsets)
    tree = np.zeros((room + 1, 3))
    level = np.empty(room, np.int64)
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        grad[first : first + size] = 0.0
        values[q] = 0.0
        own = labels[first : first + size]
        distinct = levels_of(own, level)
        if distinct == 1:
            continue
        # deviations from the mean: sums of squares of large scores would lose what tells pairs apart
        s = scores[first : first + size] - scores[first : first + size].mean()
        down = np.argsort(-s, kind="mergesort")
        values[q] = pull_up(s, down, level, distinct, tree, grad[first : first + size])
        push_down(s, down, level, distinct, tree, grad[first : first + size])


@njit(cache=True, nogil=True)
def levels_of(labels, level):
    """Write the place of each label among the distinct ones, from 1; return how many there are."""
    order = np.argsort(labels, kind="mergesort")
    distinct = 0
    for p in range(order.size):
        if p == 0 or labels[order[p]] != labels[order[p - 1]]:
            distinct += 1
        level[order[p]] = distinct
    return distinct


@njit(cache=True, nogil=True)
def pull_up(s, down, level, distinct, tree, grad):
    """The sum over active pairs, and its derivative by the scores of the rows with the higher label."""
    tree[: distinct + 1] = 0.0
    total = 0.0
    passed = 0
    for i in down:
        while passed < s.size and s[down[passed]] > s[i] - 1.0:
            add(tree, level[down[passed]], distinct, s[down[passed]])
            passed += 1
        count, linear, square = below(tree, level[i] - 1)
        gap = 1.0 - s[i]
        total += count * gap * gap + 2.0 * gap * linear + square
        grad[i] -= 2.0 * (count * gap + linear)
    return max(total, 0.0)


@njit(cache=True, nogil=True)
def push_down(s, down, level, distinct, tree, grad):
    """The derivative by the scores of the rows with the lower label."""
    tree[: distinct + 1] = 0.0
    passed = s.size - 1
    for p in range(s.size - 1, -1, -1):
        j = down[p]
        while passed >= 0 and s[down[passed]] - 1.0 < s[j]:
            add(tree, distinct + 1 - level[down[passed]], distinct, s[down[passed]])
            passed -= 1
        count, linear, _ = below(tree, distinct - level[j])
        grad[j] += 2.0 * (count * (1.0 + s[j]) - linear)


@njit(cache=True, nogil=True)
def add(tree, at, size, score):
    """Count a row at a place of the tree."""
    while at <= size:
        tree[at, 0] += 1.0
        tree[at, 1] += score
        tree[at, 2] += score * score
        at += at & -at


@njit(cache=True, nogil=True)
def below(tree, at):
    """Number, sum and sum of squares of the rows up to a place of the tree."""
    count = linear = square = 0.0
    while at > 0:
        count += tree[at, 0]
        linear += tree[at, 1]
        square += tree[at, 2]
        at -= at & -at
    return count, linear, square
