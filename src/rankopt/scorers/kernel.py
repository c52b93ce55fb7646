"""The kernel scorer: a weighted sum of kernels at landmarks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from rankopt.arrays import Floats, as_dense
from rankopt.data.dataset import Dataset
from rankopt.errors import DataError, SpecError
from rankopt.scorers.base import Scorer

_BLOCK = 4_000_000  # kernel values held at once


@dataclass(frozen=True)
class Kernel(Scorer):
    r"""A weighted sum of kernels between a row and landmark rows.

    Definition
    ----------
    .. math:: f(x) = \sum_p a_p \, k(x, c_p), \qquad
              k(x, c) = e^{-\gamma \lVert x - c \rVert^2}
              \;\text{or}\; (\gamma \, x \cdot c + 1)^{\mathrm{degree}}

    Estimators draw the landmarks from the training rows and train a linear model in the *empirical
    kernel map*, the coordinates in which products of rows are the kernel's (section 6 of SmoothRank's
    paper); the weights are then folded into a. The parameters are the landmarks, one after the
    other, and a.

    Parameters
    ----------
    kernel : ``rbf`` or ``polynomial``.
    gamma : None is 1 / number of features.
    degree : of the polynomial.
    components : landmarks, and dimensions of the map, at most.
    method : ``nystroem``, random landmarks; ``kpca``, all training rows are landmarks, and the map keeps
        their principal components: exact, for small data.

    References
    ----------
    [chapelle2010gradient]_, section 6; [williams2001using]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> data = rankopt.dataset([[0.0], [1.0]])
    >>> Kernel(gamma=1.0).scores(np.array([0.0, 2.0]), data).round(4).tolist()
    [2.0, 0.7358]
    """

    name: ClassVar[str] = "kernel"
    kernel: Literal["rbf", "polynomial"] = "rbf"
    gamma: float | None = None
    degree: int = 2
    components: int = 100
    method: Literal["nystroem", "kpca"] = "nystroem"

    def __post_init__(self) -> None:
        if self.kernel not in ("rbf", "polynomial"):
            raise SpecError(f"kernel: unknown kernel {self.kernel!r}; use rbf or polynomial")
        if self.method not in ("nystroem", "kpca"):
            raise SpecError(f"kernel: unknown method {self.method!r}; use nystroem or kpca")
        if self.gamma is not None and not 0.0 < self.gamma < np.inf:
            raise SpecError(
                f"kernel: gamma = {self.gamma!r} must be positive; None is 1 / features"
            )
        if self.degree < 1 or self.components < 1:
            raise SpecError("kernel: degree and components must be positive")

    def size(self, data: Dataset) -> int:
        return min(self.components, data.n_rows) * (data.n_features + 1)

    def start(self, data: Dataset, rng: np.random.Generator) -> Floats:
        """Random rows as landmarks, weights of zero."""
        count = min(self.components, data.n_rows)
        rows = np.sort(rng.choice(data.n_rows, count, replace=False))
        return np.concatenate((as_dense(data.X[rows]).ravel(), np.zeros(count)))

    def scores(self, params: Floats, data: Dataset) -> Floats:
        landmarks, weights = self._parts(params, data)
        out = np.empty(data.n_rows)
        for rows, values in self._values(data, landmarks):
            out[rows] = values @ weights
        return out

    def pullback(self, params: Floats, data: Dataset, dscores: Floats) -> Floats:
        landmarks, weights = self._parts(params, data)
        by_landmark, by_weight = np.zeros_like(landmarks), np.zeros_like(weights)
        gamma = self._gamma(data)
        for rows, values in self._values(data, landmarks):
            X, d = as_dense(data.X[rows]), dscores[rows]
            by_weight += values.T @ d
            if self.kernel == "rbf":
                pull = 2.0 * gamma * values * d[:, None] * weights
                by_landmark += pull.T @ X - pull.sum(axis=0)[:, None] * landmarks
            else:
                inner = gamma * X @ landmarks.T + 1.0
                pull = self.degree * gamma * inner ** (self.degree - 1) * d[:, None] * weights
                by_landmark += pull.T @ X
        return np.concatenate((by_landmark.ravel(), by_weight))

    def _parts(self, params: Floats, data: Dataset) -> tuple[Floats, Floats]:
        count, rest = divmod(params.size, data.n_features + 1)
        if rest:
            raise DataError(
                f"{data.name}: {params.size} parameters do not fit {data.n_features} features"
            )
        return params[: params.size - count].reshape(count, data.n_features), params[
            params.size - count :
        ]

    def _gamma(self, data: Dataset) -> float:
        return 1.0 / data.n_features if self.gamma is None else self.gamma

    def _values(self, data: Dataset, landmarks: Floats) -> Iterator[tuple[slice, Floats]]:
        """Kernels between rows and landmarks, block by block."""
        gamma, squares = self._gamma(data), np.einsum("ij,ij->i", landmarks, landmarks)
        step = max(1, _BLOCK // max(1, landmarks.shape[0]))
        for first in range(0, data.n_rows, step):
            rows = slice(first, first + step)
            X = as_dense(data.X[rows])
            inner = X @ landmarks.T
            if self.kernel == "rbf":
                apart = np.einsum("ij,ij->i", X, X)[:, None] - 2.0 * inner + squares
                yield rows, np.exp(-gamma * np.maximum(apart, 0.0))
            else:
                yield rows, (gamma * inner + 1.0) ** self.degree


@dataclass(frozen=True, eq=False)
class KernelMap:
    """The empirical kernel map of training rows, in which the kernel scorer is linear.

    Parameters
    ----------
    scorer : the kernel.
    landmarks : (n_landmarks, n_features).
    mixing : (n_landmarks, n_components); coordinates are kernels at the landmarks times it.
    """

    scorer: Kernel
    landmarks: Floats
    mixing: Floats

    @classmethod
    def of(cls, scorer: Kernel, data: Dataset, rng: np.random.Generator) -> KernelMap:
        """Draw the landmarks, and find the coordinates through scikit-learn."""
        from sklearn.decomposition import KernelPCA
        from sklearn.kernel_approximation import Nystroem

        X, gamma = as_dense(data.X), 1.0 / data.n_features if scorer.gamma is None else scorer.gamma
        count = min(scorer.components, data.n_rows)
        settings: dict[str, Any] = {
            "kernel": {"rbf": "rbf", "polynomial": "poly"}[scorer.kernel],
            "gamma": gamma,
            "degree": scorer.degree,
            "coef0": 1.0,
            "n_components": count,
            "random_state": int(rng.integers(2**31)),
        }
        if scorer.method == "nystroem":
            settings = settings if scorer.kernel == "polynomial" else _without_polynomial(settings)
            found: Any = Nystroem(**settings).fit(X)
            return cls(scorer, np.asarray(found.components_), np.asarray(found.normalization_).T)
        found = KernelPCA(**settings, remove_zero_eig=True).fit(X)
        mixing = np.asarray(found.eigenvectors_) / np.sqrt(np.asarray(found.eigenvalues_))
        # Centring moves a row's kernels by their mean; the other terms are the same for all rows.
        return cls(scorer, X, mixing - mixing.mean(axis=0))

    def apply(self, data: Dataset) -> Dataset:
        """The rows in the coordinates of the map."""
        X = np.empty((data.n_rows, self.mixing.shape[1]))
        for rows, values in self.scorer._values(data, self.landmarks):  # pyright: ignore[reportPrivateUsage]
            X[rows] = values @ self.mixing
        return replace(data, X=X, features=())

    def fold(self, weights: Floats) -> Floats:
        """Weights in the map as parameters of the scorer."""
        return np.concatenate((self.landmarks.ravel(), self.mixing @ weights))


def _without_polynomial(settings: dict[str, Any]) -> dict[str, Any]:
    """scikit-learn warns of parameters that a kernel does not have."""
    return {k: v for k, v in settings.items() if k not in ("degree", "coef0")}
