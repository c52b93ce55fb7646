# pyright: basic
"""Group functionals: one score for all rows of a level [tran2011learning, table 2]."""

import numpy as np
from numba import njit

LEAST, GREATEST, ARITHMETIC, GEOMETRIC = 0, 1, 2, 3


@njit(cache=True, nogil=True, error_model="numpy")
def pool(start, stop, offsets, levels, starts, scores, how, out, shares):
    """Write the score of each level, and how much each of its rows moves it (they add up to 1).

    `scores` come level by level. Rows that attain the least or the greatest score share it.
    """
    for q in range(start, stop):
        for a in range(levels[q], levels[q + 1]):
            first, last = starts[a], starts[a + 1]
            if how == ARITHMETIC:
                total = 0.0
                for i in range(first, last):
                    total += scores[i]
                    shares[i] = 1.0 / (last - first)
                out[a] = total / (last - first)
                continue
            edge = scores[first]
            for i in range(first, last):
                edge = min(edge, scores[i]) if how == LEAST else max(edge, scores[i])
            total = 0.0
            for i in range(first, last):
                if how == GEOMETRIC:
                    shares[i] = np.exp(scores[i] - edge)
                else:
                    shares[i] = 1.0 if scores[i] == edge else 0.0
                total += shares[i]
            for i in range(first, last):
                shares[i] /= total
            out[a] = edge + np.log(total / (last - first)) if how == GEOMETRIC else edge
