"""Setting: what figures depend on besides the code, in general terms."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version

_PACKAGES = ("rankopt", "numpy", "numba", "scipy", "scikit-learn", "lightgbm")


def setting() -> dict[str, str]:
    """Date, versions, kind of processor, cores and memory."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, {_cores()} cores{_memory()}",
        "python": platform.python_version(),
        **{package: version(package) for package in _PACKAGES},
    }


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def _memory() -> str:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return ""
    return f", {size / 2**30:.0f} GB"
