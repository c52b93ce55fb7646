"""Objective: a loss of scores. The one place where a measure's sign turns: lower is better."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.groups import Groups
from rankopt.errors import IncompatibleError
from rankopt.measures import BoundMeasure
from rankopt.spec import format_spec


class Sloped(ABC):
    """A bound objective with gradients (subgradients where it is convex and not smooth).

    The small defaults say "not applicable"; they are the only methods that subclasses replace.
    """

    convex: ClassVar[bool] = False
    split: ClassVar[bool] = False  # a convex part less another: `convex_at` is known

    @abstractmethod
    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        """The loss, a weighted mean over queries, and its derivative by the scores."""

    @abstractmethod
    def take(self, queries: Ints) -> Sloped:
        """The loss of some queries, on the rows that `Groups.take` gives: the mean of what each adds.

        Weights stay those of the whole, so that a mean over random queries estimates the whole mean.
        """

    def curvature(self, scores: Floats) -> Floats | None:
        """The diagonal of the second derivative by the scores, or None where it is not known."""
        return None

    def convex_at(self, scores: Floats) -> Sloped:
        """A convex objective that is nowhere below this one and equal to it at these scores."""
        if self.convex:
            return self
        raise IncompatibleError(f"{type(self).__name__} is no difference of convex objectives")

    def slopes(self, scores: Floats) -> tuple[Floats, Floats | None]:
        """The derivative and `curvature` together, where the value itself is not asked for."""
        return self.value_grad(scores)[1], self.curvature(scores)

    def cooled(self, tau: float) -> Sloped:
        """The objective at another temperature; towards 0 it tends to the measure."""
        raise IncompatibleError(f"{type(self).__name__} has no temperature to anneal")

    def estimates(self, scores: Floats) -> Floats | None:
        """Per query what its weight times one minus the measure is taken to be; None where the
        objective stands for no measure.
        """
        return None

    def resampled(self, rng: np.random.Generator) -> Sloped:
        """The objective with fresh random draws; itself where it has none."""
        return self


class Stepped(ABC):
    """A bound objective that changes only where two rows of a query trade places."""

    @property
    @abstractmethod
    def target(self) -> BoundMeasure:
        """The measure it is made of."""

    @abstractmethod
    def value(self, scores: Floats) -> float:
        """The loss, a weighted mean over queries."""


class Objective(ABC):
    """A loss of scores, as a frozen spec; `bind` puts it on labels."""

    name: ClassVar[str]

    @abstractmethod
    def bind(self, y: Floats, groups: Groups, weights: Floats | None = None) -> Sloped | Stepped:
        """The objective on fixed labels; `weights` are one per query."""

    def __str__(self) -> str:
        return format_spec(self)
