"""The real sets in five folds, read from the folder that RANKOPT_DATA names."""

from __future__ import annotations

import os
import time
from pathlib import Path

import rankopt
from rankopt.data.dataset import Dataset

FOLDERS = {"ohsumed": "ohsumed_letor3/QueryLevelNorm", "mq2008": "mq2008"}


def root() -> Path | None:
    """The folder of real data, or None."""
    folder = os.environ.get("RANKOPT_DATA")
    return Path(folder) if folder else None


def fold(name: str, number: int) -> dict[str, Dataset]:
    """The parts train, vali and test of one fold, counted from 1."""
    folder = root()
    assert folder is not None
    place = folder / FOLDERS[name] / f"Fold{number}"
    return {
        part: rankopt.read_letor(place / f"{part}.txt.gz") for part in ("train", "vali", "test")
    }


class Cpu:
    """CPU seconds of a block, over all threads of the process."""

    def __enter__(self) -> Cpu:
        self.began = time.process_time()
        self.seconds = 0.0
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = time.process_time() - self.began
