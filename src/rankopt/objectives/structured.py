"""The structured hinge losses on fixed labels: convex, tight, and with rescaled slacks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.kernels import assignment, merging
from rankopt.measures.forms import CUMULATIVE, POSITIONAL
from rankopt.objectives.base import Sloped
from rankopt.objectives.target import Target
from rankopt.threads import over_queries

Positions = str | tuple[float, ...]
_LOOKS = 8  # halvings of the range of the weight, per evaluation
_RANGE = 1e3  # the weight is sought from one over this to this
_SLIGHT = 1e-9  # a weight of the loss that only breaks ties of the scores


@dataclass(frozen=True, eq=False)
class BoundMargin(Sloped):
    """The convex bound on fixed labels, or, after `towards`, the one with other wanted orders.

    Parameters
    ----------
    target : the measure, without weights of queries.
    weights : (n_queries,) weights with mean 1.
    table : A at ranks 1, 2, ...
    depth : how many ranks matter.
    positions : as in `Margin`.
    wanted : (n_rows,) coefficients of the scores in :math:`F^*`.
    """

    convex: ClassVar[bool] = True
    target: Target
    weights: Floats
    table: Floats
    depth: int
    positions: Positions
    wanted: Floats

    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        return self.weighted(*self.planes(scores), scores)

    def weighted(self, losses: Floats, slopes: Floats, scores: Floats) -> tuple[float, Floats]:
        """The mean of the planes of all queries, and its derivative by the scores."""
        hinges = losses + self.target.groups.total(slopes * scores)
        share = self.weights / self.target.groups.n_queries
        return float(share @ hinges), self.target.groups.spread(share) * slopes

    def planes(self, scores: Floats, mu: Floats | None = None) -> tuple[Floats, Floats]:
        """Of each query the unweighted plane that touches its loss: constant, and slope by the scores.

        With `mu`, weights of the losses, the plane of the order that is then the greatest.
        """
        raw, slopes = np.empty(self.weights.size), np.empty_like(scores)
        scales = self.target.scales if mu is None else mu * self.target.scales
        self._worst(scores, scales, raw, slopes)
        slopes -= self.wanted
        return self.target.rest - self.target.scales * raw, slopes

    def towards(self, scores: Floats) -> BoundMargin:
        """The convex bound that wants the order by these scores: it touches the tight bound there."""
        wanted = np.empty_like(scores)
        self.standing(scores, wanted)
        return replace(self, wanted=wanted)

    def take(self, queries: Ints) -> BoundMargin:
        target, rows = self.target.take(queries)
        return replace(self, target=target, weights=self.weights[queries], wanted=self.wanted[rows])

    def standing(self, scores: Floats, out: Floats) -> None:
        """Write the coefficients of the order by score."""
        target, pairs = self.target, self.positions == "pairs"
        over_queries(
            assignment.standing, target.groups.offsets, scores, target.gains, target.scales,
            self.table, pairs, out,
        )  # fmt: skip

    def _worst(self, scores: Floats, scales: Floats, raw: Floats, out: Floats) -> None:
        target, form = self.target, self.target.measure.form
        offsets, head = target.groups.offsets, (scores, target.gains, scales)
        if self.positions == "pairs" and form is CUMULATIVE and target.measure.depth is None:
            over_queries(merging.greedy_worst, offsets, *head, target.table, raw, out)
        elif self.positions == "pairs" or form is not POSITIONAL:
            over_queries(
                merging.merged_worst, offsets, *head, self.table, target.table, self.depth,
                form.code, self.positions == "pairs", raw, out,
            )  # fmt: skip
        else:
            same = self.positions == "discount"
            kernel = assignment.sorted_worst if same else assignment.assigned_worst
            over_queries(kernel, offsets, *head, self.table, target.table, self.depth, raw, out)


@dataclass(frozen=True, eq=False)
class BoundTight(Sloped):
    """The tight bound on fixed labels: of all convex bounds `towards` some order, the least."""

    split: ClassVar[bool] = True
    over: BoundMargin

    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        return self.convex_at(scores).value_grad(scores)

    def convex_at(self, scores: Floats) -> BoundMargin:
        return self.over.towards(scores)

    def take(self, queries: Ints) -> BoundTight:
        return BoundTight(self.over.take(queries))


@dataclass(frozen=True, eq=False)
class BoundRescaled(Sloped):
    r"""The hinge loss with rescaled slacks on fixed labels, its greatest order found by a heuristic.

    Definition
    ----------
    .. math:: \max_y \; \Delta(y) \, \big( 1 + F(y) - F^* \big)

    A bad order no longer has to be beaten by a large margin: the margin is 1 for all. The search for y
    is a quadratic assignment problem. The orders tried are those that maximise
    :math:`\mu \Delta(y) + F(y)` for some :math:`\mu`, exact assignments all of them. At the best product
    among these, :math:`\mu` is the ratio of the two factors, and it is found by halving its logarithm.
    Orders inside the convex hull of (Delta, F) are missed, so the value may be too low; the order by
    score is always tried, so it is never below the loss. Every plane is that of a real order: lower
    bounds made of them hold.

    Parameters
    ----------
    over : the bound without rescaling.
    """

    convex: ClassVar[bool] = True
    over: BoundMargin

    @property
    def weights(self) -> Floats:
        return self.over.weights

    def value_grad(self, scores: Floats) -> tuple[float, Floats]:
        return self.over.weighted(*self.planes(scores), scores)

    def planes(self, scores: Floats) -> tuple[Floats, Floats]:
        """Of each query the unweighted plane that touches its loss: constant, and slope by the scores."""
        groups = self.over.target.groups
        low = np.full(groups.n_queries, 1.0 / _RANGE)
        high = np.full(groups.n_queries, _RANGE)
        constants, slopes, best = self._tried(scores, np.full(groups.n_queries, _SLIGHT))
        for _ in range(_LOOKS):
            middle = np.sqrt(low * high)
            losses, tried, products = self._tried(scores, middle)
            better = products > best
            best = np.where(better, products, best)
            constants = np.where(better, losses, constants)
            slopes = np.where(groups.spread(better.astype(np.float64)) > 0.0, tried, slopes)
            # the product still grows with the loss where its other factor is the greater part
            up = products >= middle * losses * losses
            low, high = np.where(up, middle, low), np.where(up, high, middle)
        return constants, slopes

    def _tried(self, scores: Floats, mu: Floats) -> tuple[Floats, Floats, Floats]:
        """Loss, slope and value of the order that is greatest for some weights of the loss."""
        losses, slopes = self.over.planes(scores, mu)
        slopes *= self.over.target.groups.spread(losses)
        return losses, slopes, losses + self.over.target.groups.total(slopes * scores)

    def take(self, queries: Ints) -> BoundRescaled:
        return replace(self, over=self.over.take(queries))
