"""The kinds of values that constructor parameters take, checked before any work."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np

from rankopt.errors import SpecError

_FREE = (
    "random_state",  # `as_generator` takes more than the annotation says
    "verbose",  # a level, or true
)


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real)


def _is_whole(value: Any) -> bool:
    return _is_number(value) and isinstance(value, Integral)


def _is_pair(value: Any) -> bool:
    plain = isinstance(value, (tuple, list, np.ndarray)) and len(value) == 2
    return plain and all(map(_is_number, value))


_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": ("a whole number", _is_whole),
    "float": ("a number", _is_number),
    "bool": ("true or false", lambda value: isinstance(value, (bool, np.bool_))),
    "str": ("a text", lambda value: isinstance(value, str)),
    "tuple[float, float]": ("a pair of numbers, such as [0.1, 0.5]", _is_pair),
    "None": ("none", lambda value: value is None),
}


def check_parameters(estimator: Any) -> None:
    """Refuse a parameter of another kind than its annotation says, as ``n_estimators="many"`` is.

    Annotations of plain values alone are judged, such as ``int | None``: specs and models are
    checked by those who use them.
    """
    for name, parameter in inspect.signature(type(estimator).__init__).parameters.items():
        kinds = str(parameter.annotation).split(" | ")
        if name in ("self", *_FREE) or not all(kind in _KINDS for kind in kinds):
            continue
        value = getattr(estimator, name)
        if not any(_KINDS[kind][1](value) for kind in kinds):
            raise SpecError(f"{name}: {value!r} is not {' or '.join(_KINDS[k][0] for k in kinds)}")
