"""Threads over queries: every query once, whatever the number of threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankopt.threads import available_threads, over_queries, query_blocks, using_threads


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(1, 20))
def test_blocks_hold_every_query_once(sizes, blocks):
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    found = query_blocks(offsets, blocks)
    assert len(found) <= blocks
    assert [q for start, stop in found for q in range(start, stop)] == list(range(len(sizes)))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_kernel_sees_every_query_once(threads):
    offsets = np.arange(0, 30_001, 10)
    out = np.zeros(offsets.size - 1)

    def kernel(start, stop, offsets, out):
        out[start:stop] += 1

    with using_threads(threads):
        assert available_threads() == threads
        over_queries(kernel, offsets, out)
    assert np.all(out == 1)


def test_an_error_in_a_thread_is_raised():
    def kernel(start, stop, offsets):
        raise RuntimeError("in a thread")

    with using_threads(2), pytest.raises(RuntimeError, match="in a thread"):
        over_queries(kernel, np.arange(0, 30_001, 10))


def test_the_environment_and_the_arguments_set_the_number(monkeypatch):
    monkeypatch.setenv("RANKOPT_THREADS", "3")
    assert available_threads() == 3
    with using_threads(None):
        assert available_threads() == 3
    with using_threads(-1):
        assert available_threads() >= 1
    with pytest.raises(ValueError, match="0 threads"), using_threads(0):
        pass
