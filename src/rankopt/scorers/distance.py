"""The distance scorer: how near query and object are in a common space of few dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.dataset import Dataset
from rankopt.errors import SpecError
from rankopt.scorers.base import Scorer
from rankopt.scorers.separate import (
    Maps,
    by_maps,
    check_dimensions,
    confined_maps,
    inner,
    random_maps,
    totals,
)


@dataclass(frozen=True)
class Distance(Scorer):
    r"""Minus the squared distance of a query and an object after each is mapped into d dimensions.

    Definition
    ----------
    .. math:: f_2(y, z) = - \frac{1}{\tau} \lVert A y - B z \rVert^2

    with :math:`A \in \mathbb{R}^{d \times n_1}` on the features of the query and :math:`B \in
    \mathbb{R}^{d \times n_2}` on those of the object. The parameters are A and B, row by row; the features
    may be sparse. Unlike those of the bilinear form the scores know which
    objects are good for any query: those near the middle.

    Parameters
    ----------
    d : dimensions.
    tau : :math:`\tau`.
    scale : the typical size of the coordinates that training starts from.

    References
    ----------
    [tran2011learning]_, equation 3

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> data = rankopt.dataset([[1.0, 2.0], [3.0, 4.0]], query_features=[[2.0]])
    >>> Distance(d=1).scores(np.array([0.5, 1.0, 1.0]), data).tolist()
    [-4.0, -36.0]
    """

    name: ClassVar[str] = "distance"
    separate: ClassVar[bool] = True
    d: int = 10
    tau: float = 1.0
    scale: float = 0.3

    def __post_init__(self) -> None:
        if not 0.0 < self.tau < np.inf:
            raise SpecError(f"distance: tau = {self.tau!r} must be positive and finite")
        check_dimensions(self.d, self.scale, self.name)

    def size(self, data: Dataset) -> int:
        return self.d * (data.n_query_features + data.n_features)

    def size_for(self, n_features: int, n_query_features: int) -> int | None:
        return self.d * (n_query_features + n_features)

    def start(self, data: Dataset, rng: np.random.Generator) -> Floats:
        """Random matrices: where both are zero, no gradient leads away."""
        return random_maps(data, self.d, self.scale, self.name, rng)

    def scores(self, params: Floats, data: Dataset) -> Floats:
        apart = self._apart(params, data)
        return inner(apart, apart) * (-1.0 / self.tau)

    def pullback(self, params: Floats, data: Dataset, dscores: Floats) -> Floats:
        pull = (-2.0 / self.tau) * dscores[:, None] * self._apart(params, data)
        return by_maps(data, totals(pull, data), -pull, self.name)

    def confined(self, data: Dataset) -> tuple[Dataset, Ints] | None:
        return confined_maps(data, self.d, self.name)

    def _apart(self, params: Floats, data: Dataset) -> Floats:
        """A y - B z of every row."""
        maps = Maps.of(params, data, self.d, self.name)
        return data.groups.spread(maps.queries(data)) - maps.objects(data)
