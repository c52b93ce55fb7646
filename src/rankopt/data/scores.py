"""Score files: one number per line, in the order of the data file's rows."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from rankopt.arrays import Floats
from rankopt.data.files import reading, replacing
from rankopt.errors import DataError


def read_scores(path: str | os.PathLike[str]) -> Floats:
    """Read scores from a text file, plain, .gz or .xz; each must be finite."""
    path = Path(path)
    with reading(path) as source:
        lines = source.stream.read().split(b"\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise DataError(f"{path}: holds no scores; one number per line is needed")
    try:
        scores = np.array(lines, dtype="S").astype(np.float64)
    except ValueError:
        scores = np.array([_number(path, number, line) for number, line in enumerate(lines, 1)])
    if not np.isfinite(scores).all():
        bad = int(np.argmin(np.isfinite(scores)))
        raise DataError(f"{path}:{bad + 1}: score {scores[bad]} is not finite")
    return scores


def write_scores(path: str | os.PathLike[str], scores: Floats) -> None:
    """Write scores, each in the shortest form that reads back the same."""
    with replacing(path) as partial:
        partial.write_text("".join(f"{score!r}\n" for score in scores.tolist()), encoding="ascii")


def _number(path: Path, number: int, line: bytes) -> float:
    try:
        return float(line)
    except ValueError:
        shown = line.decode("utf-8", "replace").strip()[:40]
        raise DataError(
            f"{path}:{number}: {shown!r} is not a score; one number per line is needed"
        ) from None
