"""Cosine: the angle between scores and gains (RankCosine)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.groups import Groups
from rankopt.errors import SpecError
from rankopt.measures import NDCG
from rankopt.measures.gains import graded
from rankopt.objectives.base import Objective, Sloped
from rankopt.objectives.target import shares


@dataclass(frozen=True)
class Cosine(Objective):
    r"""Half of one minus the cosine of the angle between a query's scores and gains.

    Definition
    ----------
    .. math:: \frac{1}{2} \Big( 1 - \frac{s \cdot g}{\lVert s \rVert \, \lVert g \rVert} \Big)

    The form that is consistent with NDCG (``norm=dcg``) divides the gains by the ideal DCG in place of
    their length. Scores that are all zero have no direction: the value is 1/2 there, the derivative 0.
    A query without a gain counts 1/2.

    Parameters
    ----------
    norm : ``length``, as in RankCosine, or ``dcg``, the consistent form.
    gain : ``exponential``, :math:`2^y - 1`, or ``linear``, y.

    References
    ----------
    [qin2008query]_; [ravikumar2011ndcg]_

    Examples
    --------
    >>> import rankopt
    >>> round(rankopt.value_grad("cosine", [1.0, 2.0], [1, 0])[0], 4)
    0.2764
    """

    name: ClassVar[str] = "cosine"
    norm: Literal["length", "dcg"] = "length"
    gain: Literal["exponential", "linear"] = "exponential"

    def __post_init__(self) -> None:
        if self.norm not in ("length", "dcg"):
            raise SpecError(f"cosine: unknown norm {self.norm!r}; use length or dcg")
        if self.gain not in ("exponential", "linear"):
            raise SpecError(f"cosine: unknown gain {self.gain!r}; use exponential or linear")

    def bind(self, y: Floats, groups: Groups, weights: Floats | None = None) -> BoundCosine:
        gains = graded(self.gain, y)
        if self.norm == "dcg":
            norms = NDCG(gain=self.gain).bind(y, groups).ideal
        else:
            norms = np.sqrt(groups.total(gains * gains))
        norms = np.where(norms > 0.0, norms, 1.0)
        return BoundCosine(groups, gains / groups.spread(norms), shares(weights, groups))


@dataclass(frozen=True, eq=False)
class BoundCosine(Sloped):
    """`Cosine` on fixed labels: the gains divided by their norm, and the share of each query."""

    groups: Groups
    aim: Floats
    share: Floats

    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        groups = self.groups
        # first to a common size: squares of very small or large scores leave the range of floats
        size = np.maximum.reduceat(np.abs(scores), groups.offsets[:-1])
        size = np.where(size > 0.0, size, 1.0)
        unit = scores / groups.spread(size)
        length = np.sqrt(groups.total(unit * unit))
        length = np.where(length > 0.0, length, 1.0)
        unit = unit / groups.spread(length)
        cosines = groups.total(unit * self.aim)
        still = groups.total(np.abs(unit)) == 0.0
        slope = np.where(still, 0.0, 0.5 * self.share / (size * length)) / groups.n_queries
        pull = groups.spread(cosines) * unit - self.aim
        return float(np.mean(0.5 * self.share * (1.0 - cosines))), groups.spread(slope) * pull

    def take(self, queries: Ints) -> BoundCosine:
        groups, rows = self.groups.take(queries)
        return replace(self, groups=groups, aim=self.aim[rows], share=self.share[queries])
