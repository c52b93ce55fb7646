"""The forest scorer: a weighted sum of decision trees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.errors import SpecError
from rankopt.scorers.base import Scorer
from rankopt.scorers.trees import Trees, empty_arrays


@dataclass(frozen=True, eq=False)
class Forest(Scorer):
    r"""A weighted sum of decision trees; linear in its parameters, the weights of the trees.

    Definition
    ----------
    .. math:: f(x) = \sum_t w_t \, v_{t, \ell_t(x)}

    with the leaf :math:`\ell_t(x)` in which a row ends in tree t, and the values v of the leaves. Sums run in
    float64 from the first tree on, which gives the bits of LightGBM's own predictions.

    Parameters
    ----------
    trees : the packed trees. They are stored beside the parameters, as arrays.

    References
    ----------
    [friedman2001greedy]_; [tan2013direct]_, section 2.4

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> from rankopt.scorers.trees import Trees, empty_arrays
    >>> stump = Trees.checked({
    ...     **empty_arrays(), "roots": np.array([0], np.int32), "leaf_starts": np.array([0, 2]),
    ...     "feature": np.array([0], np.int32), "threshold": np.array([1.5]),
    ...     "rule": np.array([0], np.uint8), "kids": np.array([~0, ~1], np.int32),
    ...     "values": np.array([-1.0, 1.0]),
    ... })
    >>> data = rankopt.dataset([[1.0], [2.0]])
    >>> Forest(stump).scores(np.array([0.5]), data).tolist()
    [-0.5, 0.5]
    """

    name: ClassVar[str] = "forest"
    linear: ClassVar[bool] = True
    trees: Trees = field(default_factory=lambda: Trees(**empty_arrays()), repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.trees, Trees):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SpecError("forest: trees are packed arrays, which no text can give")

    def size(self, data: Dataset) -> int:
        return self.trees.n_trees

    def start(self, data: Dataset, rng: np.random.Generator) -> Floats:
        """Every tree as it is."""
        if self.trees.n_trees == 0:
            raise SpecError("forest: has no trees; it takes an ensemble that has been grown")
        return np.ones(self.trees.n_trees)

    def scores(self, params: Floats, data: Dataset) -> Floats:
        return self.trees.scores(params, data)

    def pullback(self, params: Floats, data: Dataset, dscores: Floats) -> Floats:
        leaves = self.trees.leaves(data)
        out = np.empty(self.trees.n_trees)
        for t in range(out.size):
            sums = np.bincount(leaves[t], dscores, minlength=int(self.trees.sizes[t]))
            out[t] = sums @ self.trees.tree_values(t)
        return out

    def size_for(self, n_features: int, n_query_features: int) -> int | None:
        return self.trees.n_trees

    def arrays(self) -> dict[str, NDArray[Any]]:
        return self.trees.arrays

    def holding(self, arrays: dict[str, NDArray[Any]]) -> Self:
        return type(self)(Trees.checked(arrays))
