"""Libraries that rankopt can do without, until someone asks for what they do."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rankopt.errors import DataError


def library(name: str, purpose: str, install: str) -> Any:
    """The module `name`; where it is missing, an error says what needs it and what installs it.

    Examples
    --------
    >>> library("no_such_module", "a live model", "no-such-module")
    Traceback (most recent call last):
    rankopt.errors.DataError: a live model needs no_such_module: pip install 'no-such-module'
    """
    try:
        return import_module(name)
    except ImportError:
        wanted = name.partition(".")[0]
        raise DataError(f"{purpose} needs {wanted}: pip install '{install}'") from None
