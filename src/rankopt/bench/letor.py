"""The bench: from a folder of folds to the tables."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rankopt.bench.cells import MEASURES, Cell
from rankopt.bench.markdown import rows_of
from rankopt.bench.sets import find_sets
from rankopt.bench.setting import setting
from rankopt.bench.systems import chosen
from rankopt.bench.tables import CUTS, Pooled, differences, known, pooled, winning_table
from rankopt.bench.work import run_all
from rankopt.errors import SpecError
from rankopt.measures import as_convention, as_measure


def bench(
    folders: Path | Sequence[Path],
    out: Path,
    *,
    systems: str | None = None,
    measure: str = "ndcg@10",
    select: str | None = None,
    convention: str = "letor",
    seeds: int = 1,
    reference: str | None = None,
    normalize: str | None = None,
    jobs: int = 2,
    verbose: bool = True,
) -> dict[str, Any]:
    """Run what is not done yet and add everything up: the content of ``results.json``.

    Parameters
    ----------
    folders : a set, or a folder of sets (`rankopt.bench.sets`), or several of them.
    out : where the results of the cells are kept; a second run goes on where the first one ended.
    systems : names with commas; None is all.
    measure : what systems train on and choose their rounds by.
    select : what settings are chosen by on validation data; None is `measure`.
    convention : how everything reported is counted.
    seeds : repeats of systems that draw at random.
    reference : what the others are tested against; None is the best system on validation data.
    normalize : None; ``query``, features to 0..1 within each query; ``standard``, mean 0 and deviation 1 on
        the training part.
    jobs : processes, each with one thread.
    """
    if seeds < 1 or jobs < 1:
        raise SpecError("seeds and jobs must be positive")
    if normalize not in (None, "query", "standard"):
        raise SpecError(f"normalize: unknown {normalize!r}; use 'query', 'standard' or nothing")
    as_measure(measure)
    as_convention(convention)
    select = measure if select is None else str(select)
    as_measure(select)
    folders = [folders] if isinstance(folders, Path) else folders
    entries, sets = chosen(systems), find_sets(*folders)
    if reference is not None and reference not in entries:
        raise SpecError(f"reference: {reference!r} is not among the systems")
    cells = [
        Cell(found.name, number, fold, label, entry, measure, select, convention, seed, normalize)
        for found in sets
        for number, fold in enumerate(found.folds, 1)
        for label, entry in entries.items()
        for seed in range(seeds if entry.seeded else 1)
    ]
    waiting, began = sum(cell.done(out) is None for cell in cells), time.perf_counter()
    results, failed = run_all(cells, out, jobs, verbose)
    seconds = time.perf_counter() - began
    results.sort(key=lambda r: (r["set"], list(entries).index(r["system"]), r["fold"], r["seed"]))
    found = {name: systems_of for name, systems_of in pooled(results).items() if systems_of}
    report: dict[str, Any] = {
        "version": version("rankopt"), "measure": measure, "select": select, "convention": convention,
        "normalize": normalize, "seeds": seeds, "measures": list(MEASURES), "setting": setting(),
        "work": {
            "cells": len(cells), "cpu": sum(r["cpu_all"] for r in results),
            "done_now": waiting, "jobs": jobs, "seconds": seconds,
        },
        "sets": {}, "winning": {}, "failed": failed,
    }  # fmt: skip
    for name, rows in found.items():
        report["sets"][name] = _set(name, rows, results, reference, select)
    if found and min(len(rows) for rows in found.values()) > 1:
        report["winning"] = {f"ndcg@{k}": winning_table(found, f"ndcg@{k}") for k in CUTS}
    return report


def _set(
    name: str,
    rows: dict[str, Pooled],
    results: list[dict[str, Any]],
    reference: str | None,
    tested: str,
) -> dict[str, Any]:
    title, published = known(results, name)
    against = reference or max(rows, key=lambda system: rows[system].vali)
    measure = tested if tested in next(iter(rows.values())).values else "ndcg@10"
    first = next(r for r in results if r["set"] == name)["shape"]
    folds = len({r["fold"] for r in results if r["set"] == name})
    size = {
        part: "{} queries, {} rows, {} features".format(*shape) for part, shape in first.items()
    }
    return {
        "title": title,
        "size": {
            "folds": str(folds),
            **{f"{part} of fold 1": words for part, words in size.items()},
        },
        "systems": rows_of(rows),
        "reference": against,
        "tested": measure,
        "tests": differences(rows, against, measure),
        "published": [asdict(row) for row in published],
    }
