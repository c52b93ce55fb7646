# pyright: basic
"""LambdaRank: pairwise logistic losses, weighted by what the exchange of the pair changes.

Rows stand in order of score. For a pair of places i < j whose exchange changes the value by c, the row
that should be above (at j where c > 0, else at i) is pulled up by ``|c| p`` and the other pushed down,
p being the chance of the wrong order, ``1 / (1 + exp(sigma (s_right - s_wrong)))``. With e = exp(sigma s)
it is ``e_wrong / (e_i + e_j)``: one exponential per row, none per pair. Where scores are too far apart
for that, it is computed pair by pair.

A measure of the positional form changes by ``(g_j - g_i) (D_i - D_j)``, and only by pairs with a row
among the first k. The other forms hand over all changes of a query at a time.
"""

import numpy as np
from numba import njit

from rankopt.kernels import cascade, codes, concordance, cumulative
from rankopt.kernels.exponential import decay
from rankopt.kernels.order import longest_of

_SPAN = 600.0  # of the exponents: up to here their products are finite


@njit(cache=True, nogil=True, error_model="numpy")
def lambdas(
    start, stop, offsets, order, scores, gains, table, k, scales, form, sigma, valued,
    values, grad, curve,
):  # fmt: skip
    """Write each row's derivative of the loss and its second derivative, times the query's scale.

    With `valued` the loss of each query, too, which takes a logarithm per pair.
    """
    longest = longest_of(start, stop, offsets)
    room = np.empty((8, longest))
    most = 0 if form == codes.POSITIONAL else longest * (longest - 1) // 2
    changes = np.empty(most)
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        values[q] = 0.0
        if scales[q] == 0.0:
            grad[first : first + size] = 0.0
            curve[first : first + size] = 0.0
            continue
        x, e, g = room[0, :size], room[1, :size], room[2, :size]
        pull, bend = room[3, :size], room[4, :size]
        for p in range(size):
            row = first + order[first + p]
            x[p], g[p] = sigma * scores[row], gains[row]
        pull[:], bend[:] = 0.0, 0.0
        middle = 0.5 * (x[0] + x[size - 1])
        near = x[0] - x[size - 1] <= _SPAN
        for p in range(size):
            x[p] -= middle
            e[p] = np.exp(x[p]) if near else 0.0
        depth = size
        if form == codes.POSITIONAL:
            depth = min(k, size)
        else:
            changes_of_query(form, g, size, table, changes)
        at = 0
        for i in range(depth):
            c = room[5, i + 1 : size]
            if form == codes.POSITIONAL:
                for j in range(i + 1, size):
                    c[j - i - 1] = (g[j] - g[i]) * (table[i] - table[j])
            else:
                c[:] = changes[at : at + size - i - 1]
                at += size - i - 1
            if near:
                factorised(i, e, c, room[6:], pull, bend)
            else:
                by_pairs(i, x, c, pull, bend)
            if valued:
                values[q] += losses(i, x, c)
        share(x, g, pull)
        share(x, g, bend)
        for p in range(size):
            row = first + order[first + p]
            grad[row] = scales[q] * sigma * pull[p]
            curve[row] = scales[q] * sigma * sigma * bend[p]


@njit(cache=True, nogil=True, error_model="numpy")
def changes_of_query(form, gains, size, table, out):
    """The change of one query's value by every exchange, for forms that need the whole order."""
    one, pairs = np.array([0, size]), np.array([0, size * (size - 1) // 2])
    if form == codes.CASCADE:
        cascade.swaps(0, 1, one, gains, table, pairs, out)
    elif form == codes.CUMULATIVE:
        cumulative.swaps(0, 1, one, gains, table, pairs, out)
    else:
        concordance.swaps(0, 1, one, gains, table, pairs, out)


@njit(cache=True, nogil=True, error_model="numpy")
def factorised(i, e, c, work, pull, bend):
    """Add the pairs of place i with those below, from exponentials."""
    at = e[i]
    for j in range(c.size):
        other = e[i + 1 + j]
        v = 1.0 / (at + other)
        up, down = at * v, other * v
        a = c[j] * (up if c[j] > 0.0 else down)
        b = abs(c[j]) * (up * down)
        pull[i + 1 + j] -= a
        bend[i + 1 + j] += b
        work[0, j], work[1, j] = a, b  # summed apart, so that this loop can be vector code
    for j in range(c.size):
        pull[i] += work[0, j]
        bend[i] += work[1, j]


@njit(cache=True, nogil=True, error_model="numpy")
def by_pairs(i, x, c, pull, bend):
    """As `factorised`, for scores that are far apart."""
    for j in range(c.size):
        if c[j] != 0.0:
            z = decay(x[i] - x[i + 1 + j])
            up, down = 1.0 / (1.0 + z), z / (1.0 + z)
            a = c[j] * (up if c[j] > 0.0 else down)
            pull[i + 1 + j] -= a
            pull[i] += a
            bend[i + 1 + j] += abs(c[j]) * up * down
            bend[i] += abs(c[j]) * up * down


@njit(cache=True, nogil=True, error_model="numpy")
def losses(i, x, c):
    """The weighted logistic losses of the pairs of place i with those below."""
    total = 0.0
    for j in range(c.size):
        if c[j] != 0.0:
            apart = x[i] - x[i + 1 + j]
            loss = np.log1p(decay(apart))
            total += abs(c[j]) * (loss + apart if c[j] > 0.0 else loss)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def share(x, gains, values):
    """Rows of equal score and gain take the mean of what they have: their order is arbitrary."""
    left = 0
    while left < x.size:
        right, total = left + 1, values[left]
        while right < x.size and x[right] == x[left] and gains[right] == gains[left]:
            total += values[right]
            right += 1
        if right - left > 1:
            for p in range(left, right):
                values[p] = total / (right - left)
        left = right
