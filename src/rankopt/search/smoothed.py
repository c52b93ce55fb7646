"""The maximum of a step function that has been averaged over a window, exactly."""

from __future__ import annotations

import numpy as np

from rankopt.errors import DataError
from rankopt.search.stepfunction import StepFunction

_TIED = 1e-13  # values closer than this differ by the rounding of the sums


def smoothed_maximum(
    steps: StepFunction, reach: tuple[float, float], bounds: tuple[float, float], window: float
) -> tuple[float, float]:
    r"""The best t inside `bounds` of a step function's mean over a window around t, and that mean.

    Definition
    ----------
    .. math:: \max_{a \le t \le b} \; \frac{1}{w} \int_{t - w/2}^{t + w/2} M(u) \, du

    The integral of a step function is linear between its jumps, so its mean over a window is linear between
    the jumps moved by half a window to either side: the maximum is found by looking at these. Of a
    flat maximum the middle is taken.

    Parameters
    ----------
    steps : a step function with its breakpoints.
    reach : the bounds that it was searched in, at least half a window wider than `bounds`.
    bounds : where the maximum is looked for.
    window : the width, positive.

    Examples
    --------
    >>> from rankopt.search.stepfunction import StepFunction
    >>> steps = StepFunction(
    ...     0.3, 0.4, 1.0, 1, np.array([0.3, 0.4, 0.6]), np.array([0.0, 1.0, 0.25, 0.75])
    ... )
    >>> t, value = smoothed_maximum(steps, (0.0, 1.0), (0.25, 0.75), 0.2)
    >>> round(t, 3), round(value, 3)
    (0.725, 0.75)
    """
    if steps.breakpoints is None or steps.values is None:
        raise DataError("smoothed_maximum: needs the breakpoints; search with full=True")
    half = 0.5 * window
    edges = np.concatenate(([reach[0]], steps.breakpoints, [reach[1]]))
    areas = np.concatenate(([0.0], np.cumsum(steps.values * np.diff(edges))))
    low, high = bounds
    moved = np.concatenate((steps.breakpoints - half, steps.breakpoints + half))
    at = np.sort(np.concatenate((bounds, moved[(moved > low) & (moved < high)])))
    means = (np.interp(at + half, edges, areas) - np.interp(at - half, edges, areas)) / window
    best = int(np.argmax(means))
    flat = means >= means[best] - _TIED
    last = best + int(np.argmin(np.append(flat[best:], False))) - 1
    return float(0.5 * (at[best] + at[last])), float(means[best])
