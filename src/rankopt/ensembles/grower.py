"""LightGBMGrower: trees that LightGBM grows, packed as they come."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.ensembles.lightgbm import pack
from rankopt.errors import DataError, SpecError
from rankopt.scorers.trees import Trees
from rankopt.solvers.grower import Grower, Grown
from rankopt.threads import available_threads

_CELLS = 1_000_000  # of features and rows that are worth a further thread


@dataclass(frozen=True)
class TreeShape:
    """How trees are grown, in LightGBM's words.

    Parameters
    ----------
    num_leaves, max_depth : the size of a tree; a depth of -1 is no limit.
    min_child_samples, min_child_weight : the least rows, and sum of curvature, of a leaf.
    reg_lambda : added to the curvature of a leaf.
    colsample_bytree : the share of the features that each tree is grown on, at random.
    max_bin : the most values of a feature that are told apart.
    categories : columns that hold categories, whole numbers from 0.
    """

    num_leaves: int = 31
    max_depth: int = -1
    min_child_samples: int = 20
    min_child_weight: float = 1e-3
    reg_lambda: float = 0.0
    colsample_bytree: float = 1.0
    max_bin: int = 255
    categories: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not 2 <= self.num_leaves <= 131_072:
            raise SpecError(f"num_leaves: {self.num_leaves!r} is not from 2 to 131072")
        if not 0.0 < self.colsample_bytree <= 1.0:
            raise SpecError(f"colsample_bytree: {self.colsample_bytree!r} is no share (0 to 1]")
        if self.max_bin < 2 or self.min_child_samples < 0:
            raise SpecError("max_bin must be 2 or more, min_child_samples not negative")
        if not (self.min_child_weight >= 0.0 and self.reg_lambda >= 0.0):
            raise SpecError("min_child_weight and reg_lambda must not be negative")

    def parameters(self, seed: int, threads: int) -> dict[str, Any]:
        """LightGBM's parameters for trees that do not depend on the number of threads."""
        return {
            "objective": "none", "boost_from_average": False, "learning_rate": 1.0, "verbosity": -1,
            "deterministic": True, "force_col_wise": True, "num_threads": threads,
            "num_leaves": self.num_leaves, "max_depth": self.max_depth,
            "min_data_in_leaf": self.min_child_samples, "max_bin": self.max_bin,
            "min_sum_hessian_in_leaf": self.min_child_weight, "lambda_l2": self.reg_lambda,
            "feature_fraction": self.colsample_bytree, "feature_pre_filter": False, "seed": seed,
        }  # fmt: skip


class LightGBMGrower(Grower):
    """Grows trees by LightGBM's histograms and finds the leaves of rows by a walk of its own.

    Parameters
    ----------
    shape : the trees.
    parts : the training data, then data of which only the leaves are wanted.
    seed : of the draws of features.
    """

    def __init__(self, shape: TreeShape, parts: Sequence[Dataset], seed: int) -> None:
        import lightgbm as lgb

        data = parts[0]
        _check_categories(shape.categories, data)
        self._walks = [_Walk.of(part) for part in parts]
        # Threads of small data wait for each other longer than they work.
        threads = min(available_threads(), 1 + data.n_rows * data.n_features // _CELLS)
        settings = shape.parameters(seed, threads)
        with _plainly():
            matrix = lgb.Dataset(
                _matrix(data), categorical_feature=list(shape.categories), params=settings
            )
            self._booster = lgb.Booster(settings, matrix)

    def grow(self, slopes: Floats, curvature: Floats) -> Grown | None:
        before = self._booster.num_trees()
        self._booster.update(fobj=lambda _scores, _data: (slopes, curvature))
        if self._booster.num_trees() == before:
            return None
        tree = pack(self._booster, start_iteration=before, num_iteration=1)
        if tree.values.size < 2:
            return None
        return Grown(tree, tuple(walk.leaves(tree) for walk in self._walks))


@dataclass(frozen=True, eq=False)
class _Walk:
    """Rows as trees walk them; `columns` holds them by column where they are sparse."""

    data: Dataset
    columns: Any = None

    @classmethod
    def of(cls, data: Dataset) -> _Walk:
        return cls(data) if isinstance(data.X, np.ndarray) else cls(data, data.X.tocsc())

    def leaves(self, tree: Trees) -> NDArray[Any]:
        """The leaf of each row; of a sparse matrix only the columns that the tree asks for are unpacked."""
        if self.columns is None:
            return tree.leaves(self.data)[0]
        used, place = np.unique(tree.feature, return_inverse=True)
        dense = np.ascontiguousarray(self.columns[:, used].toarray())
        return replace(tree, feature=place.astype(np.int32)).leaves(replace(self.data, X=dense))[0]


def _matrix(data: Dataset) -> Any:
    """The features in a form that LightGBM takes."""
    if isinstance(data.X, np.ndarray):
        return data.X
    from scipy.sparse import csr_matrix

    return csr_matrix(data.X)


def _check_categories(categories: tuple[int, ...], data: Dataset) -> None:
    for column in categories:
        if not 0 <= column < data.n_features:
            raise DataError(
                f"categorical_feature: {column} for {data.n_features} features, counted from 0"
            )
        values: Any = data.X[:, [column]]
        values = values.ravel() if isinstance(values, np.ndarray) else values.toarray().ravel()
        known = values[~np.isnan(values)]
        if known.size and (known.min() < 0 or np.any(known != np.floor(known))):
            raise DataError(
                f"{data.name}: feature {column + 1} is to hold categories, which are whole numbers from"
                f" 0, but holds {known[(known < 0) | (known != np.floor(known))][0]:g}; number them, and"
                " leave what is missing NaN"
            )


@contextlib.contextmanager
def _plainly() -> Any:
    """Without LightGBM's advice about names of parameters, which are given as it wants them."""
    import warnings

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning, module="lightgbm")
        yield
