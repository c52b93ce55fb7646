"""Planes below a convex loss, and the minimum of their maximum plus the penalty: what certifies a gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankopt.arrays import Floats
from rankopt.errors import SpecError
from rankopt.solvers.problem import Course, Problem

_EXACT = 1e-3  # the gap of the quadratic program that will do, as a share of the whole one
_IDLE = 20  # rounds without weight after which a plane is dropped


@dataclass(frozen=True, eq=False)
class Plane:
    """``constant + slope . (params - centre)``, nowhere above the loss."""

    constant: float
    slope: Floats

    @classmethod
    def touching(cls, problem: Problem, params: Floats) -> Plane:
        """The plane that touches the loss (without the penalty) at these parameters."""
        value, by_scores = problem.sloped.value_grad(problem.scorer.scores(params, problem.data))
        slope = problem.scorer.pullback(params, problem.data, by_scores)
        return cls(value - float(slope @ (params - centre_of(problem))), slope)

    def at(self, problem: Problem, params: Floats) -> float:
        """Its height plus the penalty: at the point where it touches, the value of the problem."""
        penalty, _ = problem.penalty.value_grad(params)
        return self.constant + float(self.slope @ (params - centre_of(problem))) + penalty

    def mixed(self, other: Plane, share: float) -> Plane:
        """A part of this plane and a `share` of another: below the loss as they are."""
        constant = (1.0 - share) * self.constant + share * other.constant
        return Plane(constant, (1.0 - share) * self.slope + share * other.slope)


def centre_of(problem: Problem) -> Floats:
    """The parameters that the penalty pulls towards."""
    towards = problem.penalty.towards
    return np.zeros(problem.scorer.size(problem.data)) if towards is None else towards


def strength_of(problem: Problem, solver: str) -> float:
    """The strength of the penalty; without one there is no lower bound to stop on."""
    if not problem.penalty.strength > 0.0:
        raise SpecError(f"{solver}: needs a penalty to certify the gap: l2 must be positive")
    return problem.penalty.strength


def lowest(plane: Plane, centre: Floats, strength: float) -> tuple[Floats, float]:
    """Where one plane plus the penalty is least, and the value there: a lower bound of the problem."""
    value = plane.constant - float(plane.slope @ plane.slope) / (4.0 * strength)
    return centre - plane.slope / (2.0 * strength), value


class Model:
    r"""The cutting-plane model of one slack: the maximum of some planes, plus the penalty.

    Its dual is a quadratic program over the weights :math:`\alpha` of the planes,

    .. math:: \max_{\alpha \ge 0, \, \sum \alpha = 1} \; b^T \alpha
              - \frac{1}{4 \lambda} \lVert G^T \alpha \rVert^2

    solved by PIQP. Planes that have had no weight for a while are dropped.
    """

    def __init__(self, problem: Problem, strength: float) -> None:
        self.centre, self.strength = centre_of(problem), strength
        self.slopes = np.empty((0, self.centre.size))
        self.constants, self.idle = np.empty(0), np.empty(0, np.int64)
        self.gram = np.empty((0, 0))
        self.bound = -np.inf
        self.mean: Plane | None = None  # the weighted mean of the planes, on which the bound rests

    def add(self, plane: Plane) -> None:
        """One more plane."""
        cross = self.slopes @ plane.slope
        self.slopes = np.vstack((self.slopes, plane.slope))
        self.constants = np.append(self.constants, plane.constant)
        self.idle = np.append(self.idle, 0)
        square = float(plane.slope @ plane.slope)
        self.gram = np.block([[self.gram, cross[:, None]], [cross[None, :], np.array([[square]])]])

    def minimum(self, best: float) -> Floats:
        """The parameters where the model is least; `bound` becomes the model's value there.

        The program is solved to a small part of the gap to the `best` value: more would be wasted.
        """
        exact = _EXACT * (best - self.bound) if np.isfinite(self.bound) else 0.0
        weights = simplex_qp(self.gram / (2.0 * self.strength), self.constants, exact)
        self.mean = Plane(float(weights @ self.constants), weights @ self.slopes)
        params, bound = lowest(self.mean, self.centre, self.strength)
        self.bound = max(self.bound, bound)
        self._drop(weights)
        return params

    def _drop(self, weights: Floats) -> None:
        self.idle = np.where(weights > 1e-9, 0, self.idle + 1)
        kept = self.idle <= _IDLE
        if not kept.all():
            self.slopes, self.constants = self.slopes[kept], self.constants[kept]
            self.idle, self.gram = self.idle[kept], self.gram[np.ix_(kept, kept)]


def simplex_qp(gram: Floats, gains: Floats, exact: float = 0.0) -> Floats:
    """The weights on the simplex that maximise ``gains . a - a . gram a / 2``, up to `exact`.

    Rounding of the solver is cleared away, so that what comes back is a point of the simplex and the
    bound made of it holds whatever the precision reached.
    """
    if gains.size == 1:
        return np.ones(1)
    import piqp

    # in units in which the quadratic part and the gains are about one
    unit = max(float(np.trace(gram)) / gains.size, float(np.ptp(gains)), 1e-300)
    solver: Any = piqp.DenseSolver()
    eps = max(exact / unit, 1e-10)
    solver.settings.eps_abs = solver.settings.eps_duality_gap_abs = eps
    one = np.ones((1, gains.size))
    solver.setup(
        np.asfortranarray(gram / unit), (gains.max() - gains) / unit,
        np.asfortranarray(one), np.ones(1), x_l=np.zeros(gains.size),
    )  # fmt: skip
    solver.solve()
    weights = np.maximum(np.asarray(solver.result.x), 0.0)
    total = float(weights.sum())
    if not np.isfinite(total) or total <= 0.0:
        weights, total = np.zeros(gains.size), 1.0
        weights[int(np.argmax(gains))] = 1.0
    return weights / total


def closed(value: float, bound: float, tol: float) -> bool:
    """Whether the gap is at most `tol` of the value."""
    return value - bound <= tol * abs(value) + 1e-15


def record(course: Course, bound: float) -> bool:
    """Record an iteration with the best value so far and its certificate."""
    words = f"lower bound {bound:.6g}, gap {course.value - bound:.2g}"
    return course.step(course.params, course.value, words, bound)
