# pyright: basic
"""Exact line search, second half: from the events of all queries to the best interval, without a sort.

Events fall into buckets that are even in log |t|, within a factor of 2^16 of where most crossings are
expected; the first and the last take what lies outside. Per bucket two sums are kept: of all changes and
of the positive ones. Running totals at the ends of buckets are attained values; the total at the start
of a bucket plus its positive changes bounds what is attained inside. Only buckets whose bound reaches
the best attained value can hold the best interval, under one in a hundred as a rule, and only their
events are sorted. A bucket without a start below the best value is always among them, so both ends of
every interval with the best value are found.

Events whose t agree to a relative 1e-12 count as one. Two such events on either side of an edge between
buckets are not joined; edges lie at odd places (`ODD`), where no simple fraction falls.
"""

import numpy as np
from numba import njit

TIED = 1e-12
ODD = 0x1A2B3C5D7E9F  # low bits of the edges between buckets
MAGNITUDE = 0x7FFFFFFFFFFFFFFF
BUCKETS = 2048
SHIFT = 47  # the bits of a time within a bucket: 32 buckets to an octave, 32 octaves on either side of 0


@njit(cache=True, nogil=True, error_model="numpy")
def bucket_origin(spread, direction):
    """The bits of the least time that has a bucket of its own, for scores that range over `spread`."""
    least = most = direction[0]
    for i in range(0, direction.size, direction.size // 512 + 1):
        least, most = min(least, direction[i]), max(most, direction[i])
    middle = 0.0
    if most > least and spread > 0.0:
        middle = np.log2(spread / np.float64(most - least))
    return ((np.int64(max(-900.0, min(900.0, middle))) + 1023 - 16) << 52) + ODD


@njit(cache=True, nogil=True)
def bucket_of(bits, origin, half):
    """The bucket of a time given by its bits."""
    b = ((bits & MAGNITUDE) - origin) >> SHIFT
    b = max(min(b, half - 1), 0)
    return half - 1 - b if bits < 0 else half + b


@njit(cache=True, nogil=True)
def tally(first, last, event_bits, event_d, event_b, origin, sums, gains):
    """Add events to their buckets; `event_bits` are the bits of their times."""
    half = sums.size >> 1
    for e in range(first, last):
        b = bucket_of(event_bits[e], origin, half)
        d = event_d[e]
        sums[b] += d
        gains[b] += d & ~(d >> 63)  # max(d, 0), of which a branch would be made
        event_b[e] = b


@njit(cache=True, nogil=True)
def prune(base, sums, gains, tied, keep):
    """Replace `sums` by the totals at the start of the buckets; mark those that may hold the best.

    The total at the start of a bucket is not attained where events that count as one lie on either side
    of it: there, the bucket is `tied`.
    """
    best, total = base, base
    for b in range(sums.size):
        change = sums[b]
        sums[b] = total
        if not tied[b]:
            best = max(best, total)
        total += change
    best = max(best, total)
    for b in range(sums.size):
        bound = np.float64(sums[b] - best) + gains[b] * (1.0 + 1e-9)
        after = sums[b + 1] if b + 1 < sums.size else total
        keep[b] = bound >= -1.0 and (gains[b] > 0.0 or after != sums[b])


@njit(cache=True, nogil=True)
def sift(n_events, event_t, event_d, event_b, keep):
    """Move the events in the kept buckets to the front; return their number."""
    n = 0
    for e in range(n_events):
        if keep[event_b[e]]:
            event_t[n], event_d[n], event_b[n] = event_t[e], event_d[e], event_b[e]
            n += 1
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def width_of(lo, hi):
    """How wide an interval counts: a half-infinite one as twice the way from its edge to its point."""
    if np.isinf(lo):
        return np.inf if np.isinf(hi) else 2.0 * (1e-3 + abs(hi))
    return 2.0 * (1e-3 + abs(lo)) if np.isinf(hi) else hi - lo


@njit(cache=True, nogil=True, error_model="numpy")
def better(lo, hi, best_lo, best_hi):
    """Whether an interval is to be preferred to another with the same value."""
    here, there = lo < 0.0 < hi, best_lo < 0.0 < best_hi
    if here != there:
        return here
    wide, best_wide = width_of(lo, hi), width_of(best_lo, best_hi)
    if wide != best_wide:
        return wide > best_wide
    near = min(abs(lo), abs(hi))
    best_near = min(abs(best_lo), abs(best_hi))
    return near < best_near if near != best_near else lo < best_lo


@njit(cache=True, nogil=True, error_model="numpy")
def best_interval(hi, event_t, event_d, event_b, order, starts, last_part, totals, times):
    """Go on through the events of the kept buckets; `totals` and `times` take where this stands.

    Takes the events, their order by time, and the totals at the starts of the buckets. The order of
    events at one time does not matter. `totals` begins as (base, base, 0, -1, 1, 0, 0) and `times` as
    (lo, hi, lo, 0, 0); after the last part they begin with the best total, and its interval.
    """
    best, total, change, bucket = totals[0], totals[1], totals[2], totals[3]
    known, found, within = totals[4] != 0, totals[5] != 0, totals[6] != 0
    best_lo, best_hi, left, head, last = times[0], times[1], times[2], times[3], times[4]
    for i in range(order.size + 1):
        e = order[i] if i < order.size else -1
        t = event_t[e] if e >= 0 else hi
        if e < 0 and not last_part:
            break
        if within and e >= 0 and t - last <= TIED * abs(t):
            last, bucket = t, np.int64(event_b[e])
            change += event_d[e]
            continue
        if change != 0:
            if known and (
                not found
                or total > best
                or (total == best and better(left, head, best_lo, best_hi))
            ):
                best, best_lo, best_hi, found = total, left, head, True
            total, left, known = total + change, head, True
        if e >= 0:
            if event_b[e] != bucket:
                bucket = np.int64(event_b[e])
                if starts[bucket] != total:
                    total, known = starts[bucket], False
            head, last, change, within = t, t, event_d[e], True
        elif known and (
            not found or total > best or (total == best and better(left, hi, best_lo, best_hi))
        ):
            best, best_lo, best_hi = total, left, hi
    totals[0], totals[1], totals[2], totals[3] = best, total, change, bucket
    totals[4], totals[5], totals[6] = known, found, within
    times[0], times[1], times[2], times[3], times[4] = best_lo, best_hi, left, head, last
