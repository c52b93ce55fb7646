# pyright: basic
"""The standing of each query's rows by the present scores, kept sorted from step to step.

Place by place, each query's rows in order of (score descending, gain ascending), with their scores,
gains and loads beside them: what every direction's sweep starts from. After an accepted step few rows
move far, so an insertion sort from the previous order is many times quicker than a fresh sort; where
rows do move far it gives up and a merge sort takes over.
"""

import numpy as np
from numba import njit

from rankopt.kernels.order import sort_rows
from rankopt.kernels.shares import ranked_total

PATIENCE = 12  # moves per row before the insertion sort gives up


@njit(cache=True, nogil=True, error_model="numpy")
def stand(
    start, stop, offsets, scores, gains, loads, scales, table, k, form, unit,
    order, score_at, gain_at, load_at, out,
):  # fmt: skip
    """Update `order` and what stands beside it, and write the total of each query."""
    for q in range(start, stop):
        first, last = offsets[q], offsets[q + 1]
        moves = 0
        allowed = PATIENCE * (last - first)
        for p in range(first, last):
            row = order[p]
            score, gain = scores[first + row], gains[first + row]
            r = p
            while r > first and (
                score_at[r - 1] < score or (score_at[r - 1] == score and gain_at[r - 1] > gain)
            ):
                score_at[r], gain_at[r], order[r] = score_at[r - 1], gain_at[r - 1], order[r - 1]
                r -= 1
            score_at[r], gain_at[r], order[r] = score, gain, row
            moves += p - r
            if moves > allowed:
                break
        if moves > allowed:
            fresh = np.empty(last - first, np.int64)
            sort_rows(scores[first:last], gains[first:last], fresh)
            for p in range(first, last):
                row = fresh[p - first]
                order[p] = row
                score_at[p], gain_at[p] = scores[first + row], gains[first + row]
        for p in range(first, last):
            load_at[p] = loads[first + order[p]]
        out[q] = 0
        if scales[q] != 0.0:
            out[q] = ranked_total(
                gain_at[first:last], load_at[first:last], scales[q], table, k, form, unit
            )
