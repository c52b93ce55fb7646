"""The real sets in five folds, read from the folder that RANKOPT_DATA names; CPU times."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

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


def cpu_time(task: Callable[[], Any], least: float = 0.5) -> tuple[float, Any]:
    """The smallest CPU time of several runs, and what the task returned."""
    result = task()
    best, spent, runs = np.inf, 0.0, 0
    while runs < 3 or (spent < least and runs < 50):
        start = time.process_time()
        result = task()
        took = time.process_time() - start
        best, spent, runs = min(best, took), spent + took, runs + 1
    return best, result
