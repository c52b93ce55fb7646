"""What every solver returns and tells: solutions, status sentences, steps, monitors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rankopt.arrays import Floats


class Status(Enum):
    """How a solver ended, as a sentence."""

    CONVERGED = "Converged: the stopping rule was met."
    COORDINATEWISE = (
        "Converged to a coordinate-wise maximum: no single weight improves the measure."
    )
    OUT_OF_STEPS = (
        "Stopped after max_iter iterations before the stopping rule was met; raise max_iter."
    )
    STOPPED_EARLY = "Stopped early: the validation measure had ceased to improve."
    INTERRUPTED = "Interrupted: the best parameters so far were kept."
    FINISHED = "Finished: all iterations that were planned have been made."
    DIVERGED = "Diverged: the loss is no longer finite; lower learning_rate or scale the features."
    STALLED = "Stopped: the line search found no further improvement at this precision."

    @property
    def converged(self) -> bool:
        return self not in (Status.OUT_OF_STEPS, Status.INTERRUPTED, Status.DIVERGED)


@dataclass(frozen=True)
class Step:
    """One iteration of a solver: its number, the value reached, seconds so far, and what was watched.

    `bound`: a value that no parameters can be below, where the solver proves one.
    """

    iteration: int
    value: float
    seconds: float
    watched: float | None = None
    note: str = ""
    bound: float | None = None

    @property
    def gap(self) -> float | None:
        """How far the value may be from the minimum, where that is proved."""
        return None if self.bound is None else self.value - self.bound


@dataclass(frozen=True, eq=False)
class Solution:
    """Parameters, the value they reach, how the solver ended, and its steps."""

    params: Floats
    value: float
    status: Status
    history: tuple[Step, ...] = ()
    n_iter: int = 0


Monitor = Callable[[Step, Any], bool]  # called after each iteration with the parameters; True stops


def silent(_step: Step, _params: Any) -> bool:
    """The monitor that watches nothing."""
    return False
