"""Cells: one system on one fold with one seed; chosen on validation data, tested once."""

from __future__ import annotations

import hashlib
import json
import os
import time
import warnings
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from rankopt.bench.sets import Fold
from rankopt.bench.systems import Entry
from rankopt.data.dataset import Dataset
from rankopt.data.files import replacing
from rankopt.evaluation.scores import evaluate

MEASURES = tuple(
    [f"ndcg@{k}" for k in range(1, 11)] + ["map", "err"] + [f"p@{k}" for k in range(1, 11)]
)


@dataclass(frozen=True)
class Cell:
    """What is to be done.

    Parameters
    ----------
    set : name of the set; `fold`, counted from 1.
    label : name of the system in the tables.
    entry : the system with its grid.
    measure : what systems train on and choose rounds by, where they can.
    select : what settings are chosen by, on validation data.
    convention : how everything is counted that is reported.
    normalize : how features are scaled before anything else: None, ``query`` or ``standard``.
    """

    set: str
    fold: int
    files: Fold
    label: str
    entry: Entry
    measure: str
    select: str
    convention: str
    seed: int
    normalize: str | None = None

    @property
    def key(self) -> str:
        """What the result depends on, as a short text; another key is another cell."""
        files = [
            [path.name, path.stat().st_size]
            for path in (self.files.train, self.files.vali, self.files.test)
            if path is not None
        ]
        told = [
            version("rankopt"), asdict(self.entry), files, self.measure, self.select, self.convention,
            self.normalize, MEASURES,
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(told, default=str).encode()).hexdigest()[:16]

    def path(self, out: Path) -> Path:
        """The file of its result."""
        folder = self.set.replace(os.sep, "_")
        return out / "cells" / folder / f"{self.label}.fold{self.fold}.seed{self.seed}.json"

    def done(self, out: Path) -> dict[str, Any] | None:
        """The result, where it has been found before."""
        path = self.path(out)
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return found if found.get("key") == self.key else None


@lru_cache(maxsize=1)
def _parts(files: Fold, normalize: str | None) -> dict[str, Dataset]:
    return files.read(normalize)


def run(cell: Cell, out: Path) -> dict[str, Any]:
    """Train every setting, keep the best by validation data, test it; write the result and return it."""
    from rankopt.estimators import system

    parts = _parts(cell.files, cell.normalize)
    cls = system(cell.entry.system)
    names = cls._get_param_names()
    warm, best, tried = (
        parts["train"].take(np.arange(min(3, parts["train"].groups.n_queries))),
        None,
        [],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits that run out of steps; their status is kept
        settings = list(cell.entry.settings(cell.measure))
        _ranker(cls, {**settings[0], "random_state": 0}, names).fit(warm, eval_set=[warm])
        forget_peak()
        base = resident()
        for values in settings:
            ranker = _ranker(cls, {**values, "random_state": cell.seed, "n_jobs": 1}, names)
            began, wall = time.process_time(), time.perf_counter()
            ranker.fit(parts["train"], eval_set=[parts["vali"]])
            cpu, seconds = time.process_time() - began, time.perf_counter() - wall
            reached = _mean(ranker, parts["vali"], cell.select, cell.convention)
            tried.append(
                {"settings": _plain(values), "vali": reached, "cpu": cpu, "seconds": seconds}
            )
            if best is None or reached > best[0]:
                best = reached, ranker, tried[-1]
    assert best is not None
    ranker = best[1]
    test = evaluate(ranker, parts["test"], MEASURES, convention=cell.convention)
    result = {
        "key": cell.key, "set": cell.set, "fold": cell.fold, "system": cell.label, "seed": cell.seed,
        "measure": cell.measure, "select": cell.select, "convention": cell.convention,
        "chosen": best[2]["settings"], "vali": best[0],
        "train": {m: _mean(ranker, parts["train"], m, cell.convention) for m in ("ndcg@5", "ndcg@10")},
        "test": test.mean,
        "qids": [str(q) for q in test.qids.tolist()],
        "per_query": {name: _listed(values) for name, values in test.per_query.items()},
        "cpu": best[2]["cpu"], "cpu_all": sum(t["cpu"] for t in tried),
        "seconds": best[2]["seconds"], "tried": tried, "status": getattr(ranker, "status_", ""),
        "memory": max(0, peak() - base),
        "shape": {
            name: [part.groups.n_queries, part.n_rows, part.n_features] for name, part in parts.items()
        },
    }  # fmt: skip
    path = cell.path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as partial:
        partial.write_text(json.dumps(result), encoding="utf-8")
    return result


def _ranker(cls: Any, values: dict[str, Any], names: list[str]) -> Any:
    return cls(**{name: value for name, value in values.items() if name in names})


def _mean(ranker: Any, data: Dataset, measure: str, convention: str) -> float:
    return evaluate(ranker, data, [measure], convention=convention).mean[measure]


def _listed(values: Any) -> list[float | None]:
    return [None if v != v else round(v, 10) for v in values.tolist()]


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {
        k: v if v is None or isinstance(v, (bool, int, float)) else str(v)
        for k, v in values.items()
    }


def forget_peak() -> None:
    """Start the process's peak of memory anew, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def peak() -> int:
    """The most memory of the process, in bytes."""
    return _status("VmHWM")


def resident() -> int:
    """The memory of the process now, in bytes."""
    return _status("VmRSS")


def _status(name: str) -> int:
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith(name):
                return 1024 * int(line.split()[1])
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
