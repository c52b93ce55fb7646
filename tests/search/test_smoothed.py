"""The maximum of an averaged step function, against numerical integration on a fine grid."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankopt
from rankopt.errors import DataError
from rankopt.search.smoothed import smoothed_maximum


def averaged(steps, t, window):
    """The mean of the step function over a window, jump by jump."""
    inside = steps.breakpoints[
        (steps.breakpoints > t - window / 2) & (steps.breakpoints < t + window / 2)
    ]
    edges = np.concatenate(([t - window / 2], inside, [t + window / 2]))
    middles = 0.5 * (edges[1:] + edges[:-1])
    values = steps.values[np.searchsorted(steps.breakpoints, middles)]
    return float(values @ np.diff(edges)) / window


@given(st.integers(0, 10**6), st.floats(0.01, 2.0))
@settings(max_examples=40, deadline=None)
def test_no_point_has_a_higher_mean(seed, window):
    rng = np.random.default_rng(seed)
    n = 24
    y, qid = rng.integers(0, 4, n), np.repeat(np.arange(4), 6)
    scores, direction = rng.normal(size=n).round(1), rng.normal(size=n).round(1)
    reach = (0.1 - window / 2, 0.5 + window / 2)
    steps = rankopt.line_search(scores, direction, y, qid, "ndcg@3", bounds=reach, full=True)
    t, value = smoothed_maximum(steps, reach, (0.1, 0.5), window)
    assert 0.1 <= t <= 0.5
    assert value == pytest.approx(averaged(steps, t, window), abs=1e-9)
    grid = np.linspace(0.1, 0.5, 401)
    assert value >= max(averaged(steps, u, window) for u in grid) - 1e-9


def test_without_breakpoints_there_is_nothing_to_average():
    steps = rankopt.line_search([1.0, 2.0], [1.0, 0.0], [0, 1])
    with pytest.raises(DataError, match="full=True"):
        smoothed_maximum(steps, (0.0, 1.0), (0.1, 0.9), 0.1)
