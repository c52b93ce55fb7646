# pyright: basic
"""Which rows of a query can reach the first k places anywhere along a direction.

Rows stand in order of score. To the right of t = 0 a row that stands lower and does not climb faster
never passes: a row below k such rows (one outside the k-skyband) never reaches the first k places. To
the left the same holds with the direction turned round. With a bound on the step the test is repeated
with the scores at the bound in place of the slopes. Rows outside neither matter to a measure cut at k
nor to the first k places of the others.

Short lists are filtered by counting, in lanes; long ones by the k largest (and k smallest) slopes so
far, which few rows exceed.
"""

import numpy as np

from rankopt.kernels.bare import bare
from rankopt.kernels.lanes import at, bits, count, load, lowest, ramp, spread, whole, width

COUNTED = 128  # rows: up to here counting beats the running extremes


@bare
def append(places, n, start, found):
    """Append the positions of the bits of `found`, counted from `start`."""
    while found != 0:
        places[n] = start + lowest(found)
        n += 1
        found &= found - 1
    return n


@bare
def climbers(slopes, size, k, right, left, best):
    """Write the places of the rows to keep on either side of t = 0, ascending; return their numbers.

    `slopes` is padded to whole vectors.
    """
    if size <= k:
        for p in range(size):
            right[p] = left[p] = p
        return size, size
    if size <= COUNTED:
        return by_counting(slopes, size, k, right, left)
    return by_extremes(slopes, size, k, right, left, best)


@bare
def by_counting(slopes, size, k, right, left):
    """`climbers` by counting, for each row, the rows before it with slopes at least (at most) its own."""
    n_right, n_left = 0, 0
    for block in range(0, size, width(slopes)):
        v = load(slopes, block)
        above, below, lane = whole(v, 0), whole(v, 0), ramp(v)
        for p in range(block):
            x = spread(at(slopes, p))
            above, below = count(x >= v, above), count(x <= v, below)
        for p in range(block, min(block + width(slopes), size)):
            x, later = spread(at(slopes, p)), lane > whole(v, p - block)
            above, below = count((x >= v) & later, above), count((x <= v) & later, below)
        inside, limit = lane < whole(v, size - block), whole(v, k)
        n_right = append(right, n_right, block, bits((above < limit) & inside))
        n_left = append(left, n_left, block, bits((below < limit) & inside))
    return n_right, n_left


@bare
def by_extremes(slopes, size, k, right, left, best):
    """`climbers` by the k largest slopes so far and the k smallest, turned round, in `best`."""
    best[:] = -np.inf
    n_right, n_left = 0, 0
    for block in range(0, size, width(slopes)):
        v = load(slopes, block)
        inside = bits(ramp(v) < whole(v, size - block))
        found = bits(v > spread(best[0, 0])) & inside
        while found != 0:
            p = block + lowest(found)
            found &= found - 1
            if slopes[p] > best[0, 0]:
                right[n_right] = p
                n_right += 1
                insert(best[0], k, slopes[p])
        found = bits(v < spread(-best[1, 0])) & inside
        while found != 0:
            p = block + lowest(found)
            found &= found - 1
            if -slopes[p] > best[1, 0]:
                left[n_left] = p
                n_left += 1
                insert(best[1], k, -slopes[p])
    return n_right, n_left


@bare
def insert(best, k, value):
    """Put a value in place of the least of the k kept ones, which stand in ascending order."""
    r = 0
    while r + 1 < k and best[r + 1] < value:
        best[r] = best[r + 1]
        r += 1
    best[r] = value


@bare
def within(slopes, scores, bound, k, places, n, best):
    """Keep of the n places those that can reach the first k before t = bound; return their number.

    Scores at the bound are rounded: a row counts as passed only by more than the rounding error.
    """
    slack = 0.0
    for c in range(n):
        p = places[c]
        slack = max(slack, abs(scores[p]) + abs(bound * slopes[p]))
    slack *= 2e-15
    best[:k] = -np.inf
    kept = 0
    for c in range(n):
        p = places[c]
        reached = scores[p] + bound * slopes[p]
        if reached + slack > best[0]:
            places[kept] = p
            kept += 1
        if reached - slack > best[0]:
            insert(best, k, reached - slack)
    return kept
