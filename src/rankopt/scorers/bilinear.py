"""The bilinear scorer: a product of query and object in a common space of few dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.dataset import Dataset
from rankopt.data.scale import Scaling
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
class Bilinear(Scorer):
    r"""The inner product of a query and an object after each is mapped into d dimensions.

    Definition
    ----------
    .. math:: f_1(y, z) = \sigma(A y)^\top B z

    with :math:`A \in \mathbb{R}^{d \times n_1}` on the features of the query, :math:`B \in
    \mathbb{R}^{d \times n_2}` on those of the object, and :math:`\sigma` by element. Without :math:`\sigma`
    the form is bilinear, :math:`y^\top (A^\top B) z`, with a matrix of rank d. The parameters are A and B,
    row by row; the features may be sparse.

    Parameters
    ----------
    activation : :math:`\sigma`: ``tanh``, ``sigmoid``, or ``none``.
    d : dimensions.
    scale : the typical size of the coordinates that training starts from.

    References
    ----------
    [tran2011learning]_, equation 2; [bai2010learning]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> data = rankopt.dataset([[1.0, 2.0], [3.0, 4.0]], query_features=[[2.0]])
    >>> Bilinear(None, d=1).scores(np.array([0.5, 1.0, -1.0]), data).tolist()
    [-1.0, -1.0]
    """

    name: ClassVar[str] = "bilinear"
    separate: ClassVar[bool] = True
    foldable: ClassVar[bool] = True
    activation: Literal["tanh", "sigmoid"] | None = "tanh"
    d: int = 10
    scale: float = 0.3

    def __post_init__(self) -> None:
        if self.activation not in ("tanh", "sigmoid", None):
            raise SpecError(
                f"bilinear: unknown activation {self.activation!r}; use tanh, sigmoid or none"
            )
        check_dimensions(self.d, self.scale, self.name)

    def size(self, data: Dataset) -> int:
        return self.d * (data.n_query_features + data.n_features)

    def size_for(self, n_features: int, n_query_features: int) -> int | None:
        return self.d * (n_query_features + n_features)

    def start(self, data: Dataset, rng: np.random.Generator) -> Floats:
        """Random matrices: where both are zero, no gradient leads away."""
        return random_maps(data, self.d, self.scale, self.name, rng)

    def scores(self, params: Floats, data: Dataset) -> Floats:
        maps = Maps.of(params, data, self.d, self.name)
        queries = self._activated(maps.queries(data))
        return inner(data.groups.spread(queries), maps.objects(data))

    def pullback(self, params: Floats, data: Dataset, dscores: Floats) -> Floats:
        maps = Maps.of(params, data, self.d, self.name)
        queries = self._activated(maps.queries(data))
        by_objects = dscores[:, None] * data.groups.spread(queries)
        by_queries = totals(dscores[:, None] * maps.objects(data), data) * self._slopes(queries)
        return by_maps(data, by_queries, by_objects, self.name)

    def folded(self, params: Floats, scaling: Scaling) -> Floats:
        """What centring takes from a score is the same for all rows of a query, and is left out."""
        cut = params.size - self.d * scaling.scale.size
        by_object = params[cut:].reshape(self.d, -1) / scaling.scale
        return np.concatenate((params[:cut], by_object.ravel()))

    def confined(self, data: Dataset) -> tuple[Dataset, Ints] | None:
        return confined_maps(data, self.d, self.name)

    def _activated(self, values: Floats) -> Floats:
        if self.activation == "tanh":
            return np.tanh(values)
        return values if self.activation is None else 0.5 * (1.0 + np.tanh(0.5 * values))

    def _slopes(self, activated: Floats) -> Floats:
        """The derivative of the activation, by its value."""
        if self.activation == "tanh":
            return 1.0 - activated**2
        return np.ones_like(activated) if self.activation is None else activated * (1.0 - activated)
