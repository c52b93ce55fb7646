"""Grower: what grows one tree after another on fixed rows, for gradients that change."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from rankopt.arrays import Floats
from rankopt.scorers.trees import Trees


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree and where rows end in it.

    Parameters
    ----------
    tree : the one tree.
    leaves : per part of the data, the training rows first, the leaf of each row.
    """

    tree: Trees
    leaves: tuple[NDArray[Any], ...]

    def outputs(self, part: int) -> Floats:
        """What the tree gives each row of a part."""
        return self.tree.values[self.leaves[part]]

    def valued(self, values: Floats) -> Grown:
        """The same tree with other values of its leaves."""
        return replace(self, tree=replace(self.tree, values=values))


class Grower(ABC):
    """Grows regression trees on rows that stay the same."""

    @abstractmethod
    def grow(self, slopes: Floats, curvature: Floats) -> Grown | None:
        """The tree that best follows ``-slopes / curvature``, a leaf being the ratio of their sums.

        A row whose slope and curvature are 0 has no part in it. None where no split is left to make.
        """
