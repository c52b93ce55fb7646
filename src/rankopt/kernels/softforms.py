# pyright: basic
"""Forms of measures at soft ranks: discounts of any value, and soft precedence of pairs of rows.

Each kernel has the signature ``(start, stop, heads, positions, gains, discounts, beta, curve, values,
by_discount, by_position)`` and works on the rows with a gain alone: x comes before y to the degree
``step(beta (z_y - z_x))`` with positions z, in which lower is earlier. It writes the value of each query and
its derivatives by the discounts and by the positions.
"""

import numpy as np
from numba import njit

from rankopt.kernels.steps import step


@njit(cache=True, nogil=True)
def positional(
    start, stop, heads, positions, gains, discounts, beta, curve, values, by_discount, by_position
):
    """``sum_y g_y D_y``: no pairs."""
    for q in range(start, stop):
        total = 0.0
        for y in range(heads[q], heads[q + 1]):
            total += gains[y] * discounts[y]
            by_discount[y] = gains[y]
            by_position[y] = 0.0
        values[q] = total


@njit(cache=True, nogil=True, error_model="numpy")
def cumulative(
    start, stop, heads, positions, gains, discounts, beta, curve, values, by_discount, by_position
):
    """``sum_y D_y g_y (g_y + sum_{x != y} g_x before(x, y))``."""
    for q in range(start, stop):
        first, last = heads[q], heads[q + 1]
        for y in range(first, last):
            by_discount[y] = gains[y] * gains[y]
            by_position[y] = 0.0
        for y in range(first, last):
            for x in range(first, y):
                before, after, slope = step(beta * (positions[y] - positions[x]), curve)
                product = gains[x] * gains[y]
                by_discount[y] += product * before
                by_discount[x] += product * after
                change = beta * slope * product * (discounts[y] - discounts[x])
                by_position[y] += change
                by_position[x] -= change
        total = 0.0
        for y in range(first, last):
            total += discounts[y] * by_discount[y]
        values[q] = total


@njit(cache=True, nogil=True, error_model="numpy")
def cascade(
    start, stop, heads, positions, gains, discounts, beta, curve, values, by_discount, by_position
):
    """``sum_y D_y g_y prod_{x != y} (1 - g_x before(x, y))``.

    A factor is 0 only where its row has been passed for certain; then the product is 0 as well and
    stays so under small changes.
    """
    for q in range(start, stop):
        first, last = heads[q], heads[q + 1]
        for y in range(first, last):
            by_discount[y] = gains[y]
            by_position[y] = 0.0
        for y in range(first, last):
            for x in range(first, y):
                before, after, _ = step(beta * (positions[y] - positions[x]), curve)
                by_discount[y] *= (1.0 - gains[x]) + gains[x] * after
                by_discount[x] *= (1.0 - gains[y]) + gains[y] * before
        total = 0.0
        for y in range(first, last):
            total += discounts[y] * by_discount[y]
        values[q] = total
        for y in range(first, last):
            for x in range(first, y):
                before, after, slope = step(beta * (positions[y] - positions[x]), curve)
                pass_x = (1.0 - gains[x]) + gains[x] * after
                pass_y = (1.0 - gains[y]) + gains[y] * before
                lost_y = discounts[y] * by_discount[y] * gains[x] * (slope / max(pass_x, _TINY))
                lost_x = discounts[x] * by_discount[x] * gains[y] * (slope / max(pass_y, _TINY))
                change = beta * (lost_x - lost_y)
                by_position[y] += change
                by_position[x] -= change


_TINY = np.finfo(np.float64).tiny


@njit(cache=True, nogil=True, error_model="numpy")
def concordance(start, stop, offsets, scores, gains, alpha, curve, values, grad):
    """``sum (2 step(alpha (s_x - s_y)) - 1)`` over the pairs with g_x > g_y, and its derivative.

    Each query's rows come in descending order of gain.
    """
    for q in range(start, stop):
        first, last = offsets[q], offsets[q + 1]
        total = 0.0
        for x in range(first, last):
            grad[x] = 0.0
        lower = first
        for x in range(first, last):
            while lower < last and gains[lower] == gains[x]:
                lower += 1
            for y in range(lower, last):
                up, down, slope = step(alpha * (scores[x] - scores[y]), curve)
                total += up - down
                grad[x] += 2.0 * alpha * slope
                grad[y] -= 2.0 * alpha * slope
        values[q] = total


@njit(cache=True, nogil=True, error_model="numpy")
def cut_off(start, stop, heads, ranks, depth, beta, curve, kept, slopes):
    """Write to which degree each rank lies within the first `depth`, and the derivative by the rank.

    The step stands half way between the ranks: one at k itself would count the row there half.
    """
    for i in range(heads[start], heads[stop]):
        kept[i], _, slope = step(beta * (depth + 0.5 - ranks[i]), curve)
        slopes[i] = -beta * slope
