# pyright: basic
"""Loss-augmented rankings: of each query the order y that maximises ``scale * -measure(y) + A(y) . scores``.

An order enters by the weight ``A`` of the place where it puts each row (or, for maps by pairs, by the
pairs of a relevant and another row that it sets right). Every kernel writes two things: the raw value of
the measure at the worst order, and the coefficient of each score there, which is a subgradient. Queries
whose scale is 0 are passed over: their value and coefficients are 0. Measures of two gains are in
`merging`.

Rows are taken in order of (score, gain), and those equal in both share their coefficients: so the
result does not depend on the order in which rows are stored.
"""

import numpy as np
from numba import njit

from rankopt.kernels.order import sort_rows


@njit(cache=True, nogil=True)
def share(order, scores, gains, out):
    """Give rows of equal score and gain, neighbours in `order`, the mean of their coefficients."""
    left = 0
    while left < order.size:
        i = order[left]
        right = left
        total = 0.0
        while (
            right < order.size
            and scores[order[right]] == scores[i]
            and gains[order[right]] == gains[i]
        ):
            total += out[order[right]]
            right += 1
        if right - left > 1:
            for p in range(left, right):
                out[order[p]] = total / (right - left)
        left = right


@njit(cache=True, nogil=True)
def standing(start, stop, offsets, scores, gains, scales, positions, pairs, out):
    """Write the coefficients of the order by score; tied rows share the mean of their places."""
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        out[first : first + size] = 0.0
        if scales[q] == 0.0:
            continue
        s = scores[first : first + size]
        if pairs:
            write_pairs(s, gains[first : first + size], out[first : first + size])
            continue
        order = np.argsort(-s, kind="mergesort")
        left = 0
        while left < size:
            right = left
            total = 0.0
            while right < size and s[order[right]] == s[order[left]]:
                total += positions[right]
                right += 1
            for p in range(left, right):
                out[first + order[p]] = total / (right - left)
            left = right


@njit(cache=True, nogil=True)
def write_pairs(scores, gains, out):
    """Add up the signs of all pairs of a relevant and another row, divided by their number."""
    relevant = np.count_nonzero(gains > 0.0)
    unit = 1.0 / (relevant * (scores.size - relevant))
    for i in range(scores.size):
        if gains[i] > 0.0:
            for j in range(scores.size):
                if gains[j] == 0.0 and scores[i] != scores[j]:
                    sign = unit if scores[i] > scores[j] else -unit
                    out[i] += sign
                    out[j] -= sign


@njit(cache=True, nogil=True)
def sorted_worst(start, stop, offsets, scores, gains, scales, positions, table, depth, values, out):
    """Positional measures whose discounts are the weights of places: a sort by score less gain."""
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        out[first : first + size] = 0.0
        values[q] = 0.0
        if scales[q] == 0.0:
            continue
        rows = slice(first, first + size)
        order = np.empty(size, np.int64)
        sort_rows(scores[rows] - scales[q] * gains[rows], gains[rows], order)
        for p in range(min(depth, size)):
            i = first + order[p]
            out[i] = positions[p]
            values[q] += gains[i] * table[p]
        share(order, scores[rows], gains[rows], out[rows])


@njit(cache=True, nogil=True)
def usable(scores, gains, order, depth, least, kept):
    """Write the rows that an optimal assignment may use; return their number.

    A row is out of the question if `depth` others have no lower score and no higher gain: one of them
    is free to take its place. `least` holds the smallest gains met so far, ascending.
    """
    met = 0
    count = 0
    for i in order:
        gain = gains[i]
        if met == depth and gain >= least[depth - 1]:
            continue
        kept[count] = i
        count += 1
        p = min(met, depth - 1)
        while p > 0 and least[p - 1] > gain:
            least[p] = least[p - 1]
            p -= 1
        least[p] = gain
        met = min(met + 1, depth)
    return count


@njit(cache=True, nogil=True)
def assign(
    positions, costs, scores, gains, rows, depth, count, left, right, owner, way, nearest, used
):
    """Give each of the first `depth` places a row of its own; ``owner[j]`` is the place of row j, from 1.

    Shortest augmenting paths with potentials (the Hungarian method): placing row j at p costs
    ``costs[p] * gains[j] - positions[p] * scores[j]``. Index 0 stands for what is not yet placed.
    """
    left[: depth + 1] = 0.0
    right[: count + 1] = 0.0
    owner[: count + 1] = 0
    for place in range(1, depth + 1):
        owner[0] = place
        at = 0
        nearest[: count + 1] = np.inf
        used[: count + 1] = False
        while True:
            used[at] = True
            p = owner[at]
            weight, cost = positions[p - 1], costs[p - 1]
            delta = np.inf
            closest = 0
            for j in range(1, count + 1):
                if not used[j]:
                    i = rows[j - 1]
                    reduced = cost * gains[i] - weight * scores[i] - left[p] - right[j]
                    if reduced < nearest[j]:
                        nearest[j] = reduced
                        way[j] = at
                    if nearest[j] < delta:
                        delta = nearest[j]
                        closest = j
            for j in range(count + 1):
                if used[j]:
                    left[owner[j]] += delta
                    right[j] -= delta
                else:
                    nearest[j] -= delta
            at = closest
            if owner[at] == 0:
                break
        while at != 0:
            owner[at] = owner[way[at]]
            at = way[at]


@njit(cache=True, nogil=True)
def assigned_worst(
    start, stop, offsets, scores, gains, scales, positions, table, depth, values, out
):
    """Positional measures with any weights of places: a linear assignment of places to rows."""
    longest = 0
    for q in range(start, stop):
        longest = max(longest, offsets[q + 1] - offsets[q])
    room = longest + 1
    least, left, right, nearest = np.empty(room), np.empty(room), np.empty(room), np.empty(room)
    kept, owner, way = (
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
    )
    used = np.empty(room, np.bool_)
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        out[first : first + size] = 0.0
        values[q] = 0.0
        if scales[q] == 0.0:
            continue
        s, g = scores[first : first + size], gains[first : first + size]
        places = min(depth, size)
        order = np.empty(size, np.int64)
        sort_rows(s, g, order)
        count = usable(s, g, order, places, least, kept)
        assign(
            positions,
            scales[q] * table,
            s,
            g,
            kept,
            places,
            count,
            left,
            right,
            owner,
            way,
            nearest,
            used,
        )
        for j in range(1, count + 1):
            if owner[j] > 0:
                i = first + kept[j - 1]
                out[i] = positions[owner[j] - 1]
                values[q] += gains[i] * table[owner[j] - 1]
        share(order, s, g, out[first : first + size])
