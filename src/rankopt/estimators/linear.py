"""What linear systems share: scaling, starting weights, ranges of weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.data.scale import Scaling, scale_per_query, scale_standard
from rankopt.errors import SpecError
from rankopt.models.storage import load_model
from rankopt.solvers.starts import grades, ranksvm, ridge


def scaled(
    data: Dataset, normalize: str | None, scaling: Scaling | None = None
) -> tuple[Dataset, Scaling | None]:
    """The data as `normalize` asks, and the scaling to fold into weights afterwards.

    Validation data is given the scaling of the training data.
    """
    if normalize == "query":
        return scale_per_query(data), None
    if normalize == "standard":
        if scaling is None:
            return scale_standard(data)
        return replace(data, X=scaling.apply(data.X)), scaling
    return data, None


def folded(weights: Floats, scaling: Scaling | None) -> Floats:
    """Weights on the features as the caller gives them."""
    return weights if scaling is None else scaling.fold(weights)[0]


def standard_start(
    start: Any, data: Dataset, gains: Floats, scaling: Scaling | None, shrink: float = 1e-3
) -> Floats:
    """Starting weights: a word, an array, or a fitted linear model.

    Words are ``ridge``, ``ranksvm``, ``grades``, ``uniform`` and ``zero``.

    Arrays and models are weights on the features as the caller gives them. `shrink` is the penalty of the
    ridge regression.
    """
    width = data.n_features
    if isinstance(start, str):
        if start == "ridge":
            return ridge(data, gains, shrink)
        if start == "grades":
            return grades(data, gains)
        if start == "ranksvm":
            return ranksvm(data)
        if start in ("uniform", "zero"):
            return np.full(width, 1.0 if start == "uniform" else 0.0)
        if not start.endswith(".rankopt"):
            raise SpecError(
                f"start: unknown {start!r}; use ridge, ranksvm, grades, uniform, zero, an array, a linear"
                " model or the .rankopt file of one"
            )
        model = load_model(start)
        if model.scorer.name != "linear":
            raise SpecError(
                f"start: {start} is a {model.scorer.name} model; a linear one is needed"
            )
        start = model.params
    weights = np.asarray(getattr(start, "coef_", start), dtype=np.float64).ravel()
    if weights.size != width or not np.isfinite(weights).all():
        raise SpecError(f"start: {weights.size} weights for {width} features; all must be finite")
    return weights.copy() if scaling is None else weights * scaling.scale


def weight_ranges(
    bounds: Any, monotone: Any, width: int, features: tuple[str, ...]
) -> tuple[Floats, Floats]:
    """The range of each weight from `bounds` and `monotone`."""
    lower, upper = np.full(width, -np.inf), np.full(width, np.inf)
    if bounds is not None:
        pairs = [bounds] * width if _is_pair(bounds) else list(bounds)
        if len(pairs) != width:
            raise SpecError(
                f"bounds: {len(pairs)} pairs for {width} features; give one pair or one each"
            )
        for f, (low, high) in enumerate(pairs):
            lower[f] = -np.inf if low is None else float(low)
            upper[f] = np.inf if high is None else float(high)
    for f, sign in _signs(monotone, width, features):
        if sign not in (-1, 0, 1):
            raise SpecError(f"monotone: {sign!r} for feature {f + 1}; use 1, -1 or 0")
        if sign > 0:
            lower[f] = max(lower[f], 0.0)
        elif sign < 0:
            upper[f] = min(upper[f], 0.0)
    wrong = ~(lower <= upper)
    if wrong.any():
        f = int(np.argmax(wrong))
        raise SpecError(f"bounds: feature {f + 1} has the empty range {lower[f]:g} .. {upper[f]:g}")
    return lower, upper


def _is_pair(bounds: Any) -> bool:
    return len(bounds) == 2 and all(b is None or np.isscalar(b) for b in bounds)


def _signs(monotone: Any, width: int, features: tuple[str, ...]) -> list[tuple[int, int]]:
    if monotone is None:
        return []
    if isinstance(monotone, Mapping):
        places = {name: f for f, name in enumerate(features)}
        unknown = [name for name in monotone if name not in places]
        if unknown:
            raise SpecError(f"monotone: no feature is named {unknown[0]!r}")
        return [(places[name], sign) for name, sign in monotone.items()]
    if not isinstance(monotone, (Sequence, np.ndarray)):
        return [(f, monotone) for f in range(width)]
    if len(monotone) != width:
        raise SpecError(f"monotone: {len(monotone)} signs for {width} features")
    return list(enumerate(monotone))
