# pyright: basic
"""Exact line search, where there are more events than fit in memory: cells, finer than buckets.

Cells divide the line as buckets do (kernels/merge.py), but into parts of any width. What bounds the
memory is that of most cells only sums are kept. A cell begins at a key: the bits of its least time, with
their sign turned for times below 0, so that keys ascend with time. Every bucket begins with a cell.
"""

from numba import njit

from rankopt.kernels.merge import MAGNITUDE, bucket_of


@njit(cache=True, nogil=True)
def settle(begin, end, event_t, event_bits, event_d, event_b, origin, cells, tallies):
    """Add events to their cells, and drop those not to be kept; return how many events remain.

    `cells` holds the first cell of each bucket, the keys at which cells begin, and whether their events
    are to be kept; `tallies` what is written for each cell: the sum of the changes and that of the
    positive ones, the number of events, and the first and the last time.
    """
    first, keys, alive = cells
    sums, gains, counts, earliest, latest = tallies
    half = (first.size - 1) >> 1
    n = begin
    for e in range(begin, end):
        bits, d, t = event_bits[e], event_d[e], event_t[e]
        b = bucket_of(bits, origin, half)
        key = bits if bits >= 0 else -(bits & MAGNITUDE)
        c, stop = first[b], first[b + 1]
        while stop - c > 1:
            middle = (c + stop) >> 1
            if keys[middle] <= key:
                c = middle
            else:
                stop = middle
        sums[c] += d
        gains[c] += max(d, 0)
        counts[c] += 1
        earliest[c], latest[c] = min(earliest[c], t), max(latest[c], t)
        if alive[c]:
            event_t[n], event_d[n], event_b[n] = t, d, c
            n += 1
    return n


@njit(cache=True, nogil=True)
def join(tied, keep):
    """Keep all cells that share events that count as one with a cell that is kept."""
    for c in range(1, keep.size):
        keep[c] |= tied[c] & keep[c - 1]
    for c in range(keep.size - 1, 0, -1):
        keep[c - 1] |= tied[c] & keep[c]
