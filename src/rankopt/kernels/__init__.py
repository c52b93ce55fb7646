"""Numba kernels: arrays in, `out` written; no classes, no validation, no functions as arguments.

``kernel(start, stop, offsets, ...)`` handles the queries ``start..stop - 1``; `rankopt.threads.over_queries`
runs it in threads. `by_rank` holds the gains of each query in ranked order, best first; `table` the
discounts of ranks 1, 2, ...; places count from 0.
"""
