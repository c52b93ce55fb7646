"""Work: all cells of a bench, in processes; what is done already is not done again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rankopt.bench.cells import Cell, run
from rankopt.errors import RankoptError
from rankopt.progress import Advance, progress

_ONE_THREAD = ("RANKOPT_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run_all(
    cells: Sequence[Cell], out: Path, jobs: int, verbose: bool = True
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The results of the cells, and what went wrong with others, by cell.

    Ctrl-C ends the work; what is done by then is kept.
    """
    results: list[dict[str, Any]] = []
    failed: dict[str, str] = {}
    waiting: list[Cell] = []
    for cell in cells:
        known = cell.done(out)
        if known is None:
            waiting.append(cell)
        else:
            results.append(known)
    if not waiting:
        return results, failed
    with progress("bench", len(waiting), verbose) as advance:
        try:
            if jobs == 1:
                for cell in waiting:
                    _note(cell, lambda cell=cell: run(cell, out), results, failed, advance)
            else:
                _in_processes(waiting, out, jobs, results, failed, advance)
        except KeyboardInterrupt:
            failed["interrupted"] = f"{len(cells) - len(results)} cells are not done"
    return results, failed


def _in_processes(
    waiting: list[Cell],
    out: Path,
    jobs: int,
    results: list[dict[str, Any]],
    failed: dict[str, str],
    advance: Advance,
) -> None:
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))  # read when the processes load NumPy
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
    try:
        tasks: dict[Future[dict[str, Any]], Cell] = {
            pool.submit(run, cell, out): cell for cell in waiting
        }
        for task in as_completed(tasks):
            _note(tasks[task], task.result, results, failed, advance)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _note(
    cell: Cell,
    result: Any,
    results: list[dict[str, Any]],
    failed: dict[str, str],
    advance: Advance,
) -> None:
    """Keep a result, or say why there is none: other cells go on."""
    name = f"{cell.set} fold {cell.fold} {cell.label}"
    try:
        results.append(result())
    except BrokenProcessPool:
        failed[name] = (
            "its process has ended, as by lack of memory; run the bench again with --jobs 1"
        )
    except (RankoptError, ValueError, ArithmeticError, MemoryError) as error:
        failed[name] = str(error)
    advance(name)
