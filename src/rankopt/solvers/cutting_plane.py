"""CuttingPlane: the structured hinge loss by its most violated constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.errors import IncompatibleError, SpecError
from rankopt.kernels import constraints
from rankopt.objectives.structured import BoundMargin, BoundRescaled
from rankopt.scorers.linear import Linear
from rankopt.solvers.base import Monitor, Solution, Status
from rankopt.solvers.bundle import Bundle, downhill
from rankopt.solvers.planes import centre_of, closed, record, strength_of
from rankopt.solvers.problem import Course, Need, Problem, Solver
from rankopt.solvers.slackprogram import slack_qp
from rankopt.threads import over_queries


@dataclass(frozen=True)
class CuttingPlane(Solver):
    r"""The cutting-plane method for the structured hinge loss (algorithm 1).

    Definition
    ----------
    .. math:: \min_w \; \lambda \lVert w - w_0 \rVert^2 + \frac{1}{n} \sum_q \xi_q
              \quad \text{with} \quad \xi_q \ge \Delta_q(y) + F_q(y) - F_q^* \;\; \forall q, y

    In turn, the worst order of each query becomes a constraint, and the problem is solved under the
    constraints so far. ``slacks=n``, the problem as it stands: the dual goes on from the weights of the
    round before (hot start), is solved just as exactly as the present gap asks for, one exchange of
    weight at a time and by PIQP where that is slow, and constraints without weight are dropped.
    ``slacks=one``: the constraints of all queries are added up to one, and the dual is a small quadratic
    program. This is `Bundle` with ``near=1``. It holds less in memory and takes more rounds.

    Parameters
    ----------
    slacks : ``n`` or ``one``.
    max_iter : rounds; each finds the worst orders of all queries once.
    tol : the search ends when the best value and the lower bound differ by at most this share of the
        value.
    patience : rounds without weight after which a constraint is dropped.

    References
    ----------
    [chapelle2007large]_, algorithm 1; one slack: [joachims2009cutting]_

    Examples
    --------
    >>> print(CuttingPlane(slacks="n"))
    cutting-plane(slacks=n)
    """

    name: ClassVar[str] = "cutting-plane"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SLOPE, Need.CONVEX, Need.LINES})
    slacks: Literal["n", "one"] = "one"
    max_iter: int = 1000
    tol: float = 1e-3
    patience: int = 10

    def __post_init__(self) -> None:
        if self.slacks not in ("n", "one"):
            raise SpecError(f"cutting-plane: unknown slacks {self.slacks!r}; use n or one")
        if self.max_iter < 0 or not self.tol >= 0.0 or self.patience < 1:
            raise SpecError(
                "cutting-plane: max_iter and tol must not be negative, patience must be positive"
            )

    def _solve(
        self, problem: Problem, start: Floats, rng: np.random.Generator, monitor: Monitor
    ) -> Solution:
        strength = strength_of(problem, self.name)
        if self.slacks == "one":
            return Bundle(self.max_iter, self.tol, near=1.0).solve(problem, start, rng, monitor)
        if not isinstance(problem.objective, (BoundMargin, BoundRescaled)) or not isinstance(
            problem.scorer, Linear
        ):
            raise IncompatibleError(
                "cutting-plane: slacks=n needs a margin objective and a linear scorer; use slacks=one"
            )
        rounds = _Rounds(problem, problem.objective, strength)
        course = Course(monitor, start, np.inf)
        params = start
        try:
            for _ in range(self.max_iter):
                value, added = rounds.look(params, course.value)
                course.keep(params, value)
                if value > course.value:
                    course.keep(*downhill(problem, course.params, params))
                stopped = record(course, rounds.bound)
                if closed(course.value, rounds.bound, self.tol):
                    return course.solution(Status.CONVERGED)
                if stopped:
                    return course.solution(Status.STOPPED_EARLY)
                if (
                    added == 0
                ):  # the gap is that of the inner problem, which was not solved so exactly
                    rounds.exact *= 0.1
                before = rounds.bound
                params = rounds.solve(course.value, self.tol)
                rounds.discard(self.patience)
                if added == 0 and rounds.bound <= before:
                    return course.solution(Status.STALLED)
        except KeyboardInterrupt:
            return course.solution(Status.INTERRUPTED)
        return course.solution(Status.OUT_OF_STEPS)


class _Rounds:
    """The working sets of all queries, and the best lower bound that they have given."""

    def __init__(
        self, problem: Problem, objective: BoundMargin | BoundRescaled, strength: float
    ) -> None:
        self.problem, self.objective, self.strength = problem, objective, strength
        self.centre = centre_of(problem)
        n, width = problem.data.groups.n_queries, self.centre.size
        self.shares = objective.weights / n
        self.counts = np.zeros(n, np.int64)
        self.slopes = np.empty((n, 4, width))
        self.constants, self.alphas = np.empty((n, 4)), np.zeros((n, 4))
        self.idle: Ints = np.zeros((n, 4), np.int64)
        self.u = np.zeros(width)
        self.factor = 1.0 / (2.0 * strength)
        self.bound = -np.inf
        self.exact = 0.01  # the gap of the inner problem that will do, as a share of the whole one

    def look(self, params: Floats, best: float) -> tuple[float, int]:
        """The value at some parameters, and how many constraints they violate anew."""
        data = self.problem.data
        constants, by_score = self.objective.planes(self.problem.scorer.scores(params, data))
        slopes = np.empty((self.counts.size, self.centre.size))
        X = data.X
        if isinstance(X, np.ndarray):
            rows = np.require(X, requirements=["C", "W"])
            over_queries(constraints.slopes_of_queries, data.groups.offsets, rows, by_score, slopes)
        else:
            from scipy.sparse import csr_array

            rows = np.arange(by_score.size)
            product: Any = csr_array((by_score, rows, data.groups.offsets)) @ X
            slopes[:] = product.toarray()
        constants = constants + slopes @ self.centre
        away = params - self.centre
        penalty = self.strength * float(away @ away)
        value = float(self.shares @ (constants + slopes @ away)) + penalty
        self._make_room()
        slack = 1e-12 if not np.isfinite(best) else 1e-3 * max(min(value, best) - self.bound, 0.0)
        added = constraints.admit(
            slopes, constants, self.slopes, self.constants, self.alphas, self.counts, self.idle,
            self.shares, away, min(slack, 1e-6), self.factor, self.u,
        )  # fmt: skip
        return value, added

    def solve(self, best: float, tol: float) -> Floats:
        """Raise the dual until its own gap is a small part of the whole one; where it puts the minimum."""
        constraints.parameters(self.slopes, self.alphas, self.counts, self.factor, self.u)
        for _ in range(_SWEEPS * self.centre.size):
            gap = constraints.sweep(
                self.slopes,
                self.constants,
                self.alphas,
                self.counts,
                self.shares,
                self.factor,
                self.u,
            )
            if gap <= self._enough(best, tol):
                break
        else:
            self._jump(self._enough(best, tol))
        constraints.parameters(self.slopes, self.alphas, self.counts, self.factor, self.u)
        self.bound = max(self.bound, self._dual())
        return self.centre + self.u

    def _enough(self, best: float, tol: float) -> float:
        """The gap of the inner problem that will do."""
        return self.exact * max(best - self._dual(), tol * abs(best))

    def _jump(self, exact: float) -> None:
        """Where exchanges have become slow, the weights that a quadratic program finds, if better."""
        before, dual = self.alphas.copy(), self._dual()
        inside = np.arange(self.constants.shape[1]) < self.counts[:, None]
        owners = np.nonzero(inside)[0]
        self.alphas[inside] = slack_qp(
            self.slopes[inside], self.constants[inside], owners, self.shares, self.strength, exact
        )
        constraints.parameters(self.slopes, self.alphas, self.counts, self.factor, self.u)
        if self._dual() < dual:
            self.alphas = before

    def discard(self, patience: int) -> None:
        """Forget constraints that have long had no weight."""
        constraints.discard(
            self.slopes, self.constants, self.alphas, self.counts, self.idle, patience
        )

    def _dual(self) -> float:
        inside = np.arange(self.constants.shape[1]) < self.counts[:, None]
        total = float(self.alphas[inside] @ self.constants[inside])
        return total - self.strength * float(self.u @ self.u)

    def _make_room(self) -> None:
        """Twice the places, where a working set is full."""
        room = self.constants.shape[1]
        if self.counts.max() < room:
            return
        self.slopes = np.concatenate((self.slopes, np.empty_like(self.slopes)), axis=1)
        self.constants = np.concatenate((self.constants, np.empty_like(self.constants)), axis=1)
        self.alphas = np.concatenate((self.alphas, np.zeros_like(self.alphas)), axis=1)
        self.idle = np.concatenate((self.idle, np.zeros_like(self.idle)), axis=1)


_SWEEPS = 4  # per feature over the working sets, which cost less than the quadratic program
