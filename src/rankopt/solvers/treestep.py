"""TreeStep: the weight of a new tree, by the exact line search of the measure or fixed."""

from __future__ import annotations

from dataclasses import dataclass

from rankopt.arrays import Floats
from rankopt.errors import SpecError
from rankopt.search.engine import Engine
from rankopt.search.smoothed import smoothed_maximum

STEPS = ("out-of-bag", "training", "fixed")


@dataclass(frozen=True)
class TreeStep:
    r"""What weight a new tree gets.

    Definition
    ----------
    .. math:: w = \eta \, \arg\max_{a \le t \le b} M(s + t \, h)

    with the scores s so far and the tree's outputs h.

    Parameters
    ----------
    on : the queries that the measure is searched on: ``out-of-bag``, those that the tree has not seen;
        ``training``, all; ``fixed``, none, the weight is ``share``.
    bounds : a and b.
    share : :math:`\eta`, how much of the exact step is taken.
    smoothing : width of the window that the measure is averaged over, along t, before its maximum is
        taken, in units of b - a; 0 is the measure itself.

    References
    ----------
    [tan2013direct]_, section 2.4: ``TreeStep("training", (0.1, 0.5), 1.0, 0.0)``
    """

    on: str = "training"
    bounds: tuple[float, float] = (0.1, 0.5)
    share: float = 1.0
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        if self.on not in STEPS:
            raise SpecError(f"step: unknown {self.on!r}; use one of {', '.join(STEPS)}")
        if not 0.0 <= self.bounds[0] < self.bounds[1] < float("inf"):
            raise SpecError(f"bounds: {self.bounds!r} is no range of positive weights")
        if not 0.0 < self.share < float("inf"):
            raise SpecError(f"learning_rate: {self.share!r} must be positive")
        if not self.smoothing >= 0.0:
            raise SpecError(f"smoothing: {self.smoothing!r} must not be negative")

    def weight(self, engine: Engine, outputs: Floats) -> float:
        """The weight of a tree with these outputs; the engine stays where it is."""
        if self.on == "fixed":
            return self.share
        return self.share * self.exact(engine, outputs)

    def exact(self, engine: Engine, outputs: Floats) -> float:
        """The best t in the bounds."""
        low, high = self.bounds
        if self.smoothing > 0.0:
            window = self.smoothing * (high - low)
            reach = (low - 0.5 * window, high + 0.5 * window)
            steps = engine.search(outputs, *reach, full=True)
            return smoothed_maximum(steps, reach, self.bounds, window)[0]
        steps = engine.search(outputs, low, high)
        before = engine.scores.copy()
        for t in steps.points:  # the first may fall on a tie that no breakpoint marks
            engine.restart(before + t * outputs)
            reached = engine.total
            engine.restart(before)
            if reached >= steps.total:
                return t
        return steps.point
