"""The kinds of values that constructor parameters take, checked before any work."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np

from rankopt.errors import SpecError

_ELSEWHERE = ("random_state",)  # `as_generator` takes more than the annotation says


def _is_pair(value: Any) -> bool:
    plain = isinstance(value, (tuple, list, np.ndarray)) and len(value) == 2
    return plain and all(isinstance(edge, Real) for edge in value)


_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": ("a whole number", lambda value: isinstance(value, Integral)),
    "float": ("a number", lambda value: isinstance(value, Real)),
    "bool": ("true or false", lambda value: isinstance(value, (bool, np.bool_))),
    "str": ("a text", lambda value: isinstance(value, str)),
    "tuple[float, float]": ("a pair of numbers", _is_pair),
    "None": ("none", lambda value: value is None),
}


def check_parameters(estimator: Any) -> None:
    """Refuse a parameter of another kind than its annotation says, as ``n_estimators="many"`` is.

    Annotations of plain values alone are judged, such as ``int | None``: specs and models are
    checked by those who use them.
    """
    for name, parameter in inspect.signature(type(estimator).__init__).parameters.items():
        kinds = str(parameter.annotation).split(" | ")
        if name in ("self", *_ELSEWHERE) or not all(kind in _KINDS for kind in kinds):
            continue
        value = getattr(estimator, name)
        if not any(_KINDS[kind][1](value) for kind in kinds):
            raise SpecError(f"{name}: {value!r} is not {' or '.join(_KINDS[k][0] for k in kinds)}")
