# pyright: basic
"""Working sets of constraints, one set per query: the dual of the n-slack problem, pair by pair.

Query q has ``counts[q]`` planes ``constants[q, p] + slopes[q, p] . u``, with u the parameters less the
centre of the penalty. Its weights ``alphas[q, p]`` are not negative and add up to the weight of the query;
``u = -factor * sum alphas * slopes`` at all times.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def slopes_of_queries(start, stop, offsets, X, by_score, out):
    """Write the slope of each query by the weights of a linear scorer."""
    for q in range(start, stop):
        out[q, :] = 0.0
        for i in range(offsets[q], offsets[q + 1]):
            if by_score[i] != 0.0:
                for f in range(X.shape[1]):
                    out[q, f] += by_score[i] * X[i, f]


@njit(cache=True, nogil=True)
def height(slopes, constants, q, p, u):
    """The value of one plane."""
    total = constants[q, p]
    for f in range(u.size):
        total += slopes[q, p, f] * u[f]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def exchange(slopes, alphas, q, top, bottom, rise, factor, u):
    """Move weight from one plane of a query to a higher one, as far as the dual grows; u follows."""
    square = 0.0
    for f in range(u.size):
        square += (slopes[q, top, f] - slopes[q, bottom, f]) ** 2
    step = min(rise / (factor * square), alphas[q, bottom])
    alphas[q, top] += step
    alphas[q, bottom] -= step
    for f in range(u.size):
        u[f] -= factor * step * (slopes[q, top, f] - slopes[q, bottom, f])


@njit(cache=True, nogil=True)
def admit(
    new_slopes, new_constants, slopes, constants, alphas, counts, idle, shares, at, slack, factor, u
):
    """Add the planes that stand out, `at` some parameters, above those of their query by more than
    `slack`; return how many.

    The first plane of a query takes its whole weight, as the weights must add up from the start. Any
    other is at once given what it should have of the weight of the lowest one: so the next queries'
    constraints find u already moved, and most of the work is done before the sweeps.
    """
    added = 0
    for q in range(counts.size):
        value = new_constants[q]
        for f in range(u.size):
            value += new_slopes[q, f] * at[f]
        highest = -np.inf
        for p in range(counts[q]):
            highest = max(highest, height(slopes, constants, q, p, at))
        if value <= highest + slack:
            continue
        p = counts[q]
        slopes[q, p, :] = new_slopes[q]
        constants[q, p] = new_constants[q]
        alphas[q, p] = 0.0
        idle[q, p] = 0
        counts[q] += 1
        added += 1
        if p == 0:
            alphas[q, p] = shares[q]
            for f in range(u.size):
                u[f] -= factor * shares[q] * slopes[q, p, f]
            continue
        bottom = lowest(slopes, constants, alphas, counts, q, u)
        rise = height(slopes, constants, q, p, u) - height(slopes, constants, q, bottom, u)
        if rise > 0.0:
            exchange(slopes, alphas, q, p, bottom, rise, factor, u)
    return added


@njit(cache=True, nogil=True)
def lowest(slopes, constants, alphas, counts, q, u):
    """The lowest of the planes of a query that have weight."""
    bottom = 0
    low = np.inf
    for p in range(counts[q]):
        if alphas[q, p] > 0.0:
            value = height(slopes, constants, q, p, u)
            if value < low:
                low, bottom = value, p
    return bottom


@njit(cache=True, nogil=True)
def parameters(slopes, alphas, counts, factor, u):
    """Write u afresh from the weights."""
    u[:] = 0.0
    for q in range(counts.size):
        for p in range(counts[q]):
            if alphas[q, p] != 0.0:
                for f in range(u.size):
                    u[f] -= factor * alphas[q, p] * slopes[q, p, f]


@njit(cache=True, nogil=True)
def sweep(slopes, constants, alphas, counts, shares, factor, u):
    """Once over all queries: move weight from the lowest plane that has some to the highest one.

    The step is the exact maximum along that exchange. Returns the gap of the restricted problem, summed
    up as met on the way.
    """
    gap = 0.0
    for q in range(counts.size):
        n = counts[q]
        if n < 2:
            continue
        top, bottom = 0, -1
        high, low = -np.inf, np.inf
        mean = 0.0
        for p in range(n):
            value = height(slopes, constants, q, p, u)
            mean += alphas[q, p] * value
            if value > high:
                high, top = value, p
            if alphas[q, p] > 0.0 and value < low:
                low, bottom = value, p
        gap += shares[q] * high - mean
        if bottom < 0 or top == bottom or high <= low:
            continue
        exchange(slopes, alphas, q, top, bottom, high - low, factor, u)
    return gap


@njit(cache=True, nogil=True)
def discard(slopes, constants, alphas, counts, idle, patience):
    """Forget planes that have had no weight for longer than `patience` rounds."""
    for q in range(counts.size):
        kept = 0
        for p in range(counts[q]):
            idle[q, p] = 0 if alphas[q, p] > 0.0 else idle[q, p] + 1
            if idle[q, p] <= patience:
                slopes[q, kept, :] = slopes[q, p]
                constants[q, kept] = constants[q, p]
                alphas[q, kept], idle[q, kept] = alphas[q, p], idle[q, p]
                kept += 1
        counts[q] = kept
