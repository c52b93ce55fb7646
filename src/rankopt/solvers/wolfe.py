"""The strong Wolfe line search: a step that both lowers the loss enough and flattens the slope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rankopt.arrays import Floats

_LOWERS = 1e-4  # share of the initial slope that the loss must fall by
_TRIES = 30


@dataclass(frozen=True, eq=False)
class Point:
    """A point on the line: its step, parameters, loss, gradient, and slope along the line."""

    step: float
    params: Floats
    value: float
    grad: Floats
    slope: float


Line = Callable[[float], Point]


def wolfe(line: Line, start: Point, step: float, flattens: float) -> Point:
    """A point that fulfils the strong Wolfe conditions; the best one seen where rounding forbids them.

    Brackets such a point by doubling steps, then narrows the bracket by quadratic interpolation
    [nocedal2006numerical]_, algorithms 3.5 and 3.6. Values that are not finite count as too high.
    """
    before = start
    for attempt in range(_TRIES):
        point = line(step)
        higher = not point.value <= start.value + _LOWERS * step * start.slope
        if higher or (attempt > 0 and point.value >= before.value):
            return _narrowed(line, start, before, point, flattens)
        if abs(point.slope) <= -flattens * start.slope:
            return point
        if point.slope >= 0.0:
            return _narrowed(line, start, point, before, flattens)
        before, step = point, 4.0 * step
    return before


def _narrowed(line: Line, start: Point, low: Point, high: Point, flattens: float) -> Point:
    """The search between a low point whose slope falls towards `high`, and `high`."""
    for _ in range(_TRIES):
        width = high.step - low.step
        step = low.step + _fraction(low, high) * width
        if step in (low.step, high.step):
            break
        point = line(step)
        higher = not point.value <= start.value + _LOWERS * step * start.slope
        if higher or point.value >= low.value:
            high = point
            continue
        if abs(point.slope) <= -flattens * start.slope:
            return point
        if point.slope * width >= 0.0:
            high = low
        low = point
    return low


def _fraction(low: Point, high: Point) -> float:
    """Where the parabola through both values and the low point's slope is lowest, well inside."""
    width = high.step - low.step
    bend = high.value - low.value - low.slope * width
    if not (np.isfinite(bend) and bend > 0.0):
        return 0.5 if np.isfinite(high.value) else 0.1
    return float(np.clip(-0.5 * low.slope * width / bend, 0.1, 0.9))
