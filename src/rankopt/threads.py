"""Kernels over queries, in threads.

A kernel takes ``(start, stop, offsets, ...)``, handles the queries ``start..stop - 1`` and writes
only their slices of its outputs. It is compiled with ``nogil``, so plain threads run it side by side
and the result has the same bits for any number of them. Numba's own ``prange`` would do the same at
the price of half a second at the first call, a global thread pool that must not be entered from two
threads at once, and trouble after ``fork``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import Any

import numpy as np

from rankopt.arrays import Ints

_LIMIT: ContextVar[int | None] = ContextVar("rankopt_threads", default=None)
_SMALL = 20_000  # rows; below this a thread costs more than it saves


def available_threads() -> int:
    """Threads to use: `using_threads`, else RANKOPT_THREADS, else the cores of this process."""
    limit = _LIMIT.get()
    if limit is not None:
        return limit
    asked = os.environ.get("RANKOPT_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


@contextmanager
def using_threads(n_jobs: int | None) -> Generator[None]:
    """Limit the threads inside the block; None keeps the setting, -1 means all cores."""
    if n_jobs is None:
        yield
        return
    if n_jobs == 0:
        raise ValueError("n_jobs: 0 threads cannot work; use None, -1 or a positive number")
    cores = os.cpu_count() or 1
    token = _LIMIT.set(n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs))
    try:
        yield
    finally:
        _LIMIT.reset(token)


@contextmanager
def one_blas_thread() -> Generator[None]:
    """Keep NumPy's and SciPy's linear algebra to one thread.

    On the few numbers of a quasi-Newton step its threads save nothing, and where cores are shared they wait
    for each other a hundred times longer than the step takes.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


def query_blocks(offsets: Ints, blocks: int) -> list[tuple[int, int]]:
    """Split the queries into at most `blocks` runs of about equally many rows."""
    cuts = np.searchsorted(offsets, np.linspace(0, offsets[-1], blocks + 1))
    cuts[0], cuts[-1] = 0, offsets.size - 1
    edges = np.unique(cuts)
    return [(int(a), int(b)) for a, b in pairwise(edges)]


def over_queries(kernel: Callable[..., Any], offsets: Ints, *args: Any) -> None:
    """Call ``kernel(start, stop, offsets, *args)`` on all queries, in threads where it pays."""
    threads = available_threads()
    queries = offsets.size - 1
    if threads == 1 or offsets[-1] < _SMALL or queries < 2:
        kernel(0, queries, offsets, *args)
        return
    blocks = query_blocks(offsets, 4 * threads)
    with ThreadPoolExecutor(threads) as pool:
        tasks = [pool.submit(kernel, start, stop, offsets, *args) for start, stop in blocks]
        for task in tasks:
            task.result()
