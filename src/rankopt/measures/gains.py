"""Gain functions shared by measures: exponential, linear, a table, or relevant-or-not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rankopt.arrays import Bools, Floats
from rankopt.errors import SpecError

Gain = str | tuple[float, ...]
HIGHEST = 31.0  # the largest label of the exponential gain, as in LightGBM


def finite_number(value: Any) -> bool:
    """Whether a parameter is a number to calculate with; truth values are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def check_gain(gain: Gain, measure: str) -> None:
    """Refuse what is neither ``exponential``, ``linear`` nor a table of gains of labels 0, 1, ..."""
    if isinstance(gain, str):
        if gain not in ("exponential", "linear"):
            raise SpecError(
                f"{measure}: unknown gain {gain!r}; use exponential, linear or a table such as [0, 1, 3]"
            )
        return
    if not isinstance(gain, tuple):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise SpecError(
            f"{measure}: a gain table is [0, 1, 3] in text and (0, 1, 3) in Python, not {gain!r}"
        )
    if len(gain) < 2 or not all(map(finite_number, gain)) or min(gain) < 0.0:
        raise SpecError(f"{measure}: a gain table holds at least two finite gains, none negative")


def graded(gain: Gain, labels: Floats) -> Floats:
    """Gains of labels: ``2**y - 1``, ``y`` or ``table[y]``."""
    if isinstance(gain, str):
        return np.exp2(labels) - 1.0 if gain == "exponential" else labels.copy()
    return np.asarray(gain, dtype=np.float64)[labels.astype(np.int64)]


def graded_domain(gain: Gain, labels: Floats) -> Bools:
    """Whether each label has a gain."""
    if isinstance(gain, str):
        return (labels >= 0.0) & (labels <= (HIGHEST if gain == "exponential" else np.inf))
    return (labels >= 0.0) & (labels < len(gain)) & (labels == np.floor(labels))


def domain_words(gain: Gain) -> str:
    """The domain of `graded_domain` in words."""
    if isinstance(gain, str):
        return f"from 0 to {HIGHEST:.0f}" if gain == "exponential" else "from 0"
    return f"whole numbers from 0 to {len(gain) - 1} (the gain table)"


def relevant(labels: Floats, relevant_from: float) -> Floats:
    """1 where the label reaches `relevant_from`, else 0."""
    return (labels >= relevant_from).astype(np.float64)
