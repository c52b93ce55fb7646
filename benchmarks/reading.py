"""Reading LETOR text, against other tools on the same file.

    python benchmarks/reading.py [--json]

CPU time of one process, the best of several runs, in MB of text per second. Two files: a simulated
one shaped like MSLR-WEB30K (136 features, half of them counts, the rest with six decimals), and,
where RANKOPT_DATA names the folder of real data, the real sample of it repeated under new queries.

LightGBM reads text only on the way to its binned form, and no inline qid: it gets the same file
without. Both of its figures are given: the whole, and the whole less what binning the same matrix
from memory takes. The check of every run is that labels (and values, where a tool shows them) agree.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rankopt
from rankopt.data.dataset import Dataset
from rankopt.threads import using_threads

MEGABYTES = 40
# MB/s of rankopt on one thread as a multiple of the tool's: what must show, and the aim.
BOUNDS = {"scikit-learn": (25.0, 50.0), "LightGBM, with binning": (5.0, 10.0)}


def measured(task: Callable[[], Any], least: float = 1.0) -> tuple[float, float, Any]:
    """The smallest CPU time and the smallest wall time of several runs, and the last result."""
    result: Any = None
    cpu, wall, spent, runs = np.inf, np.inf, 0.0, 0
    while runs < 2 or (spent < least and runs < 30):
        began, start = time.perf_counter(), time.process_time()
        result = task()
        took = time.process_time() - start
        cpu, wall = min(cpu, took), min(wall, time.perf_counter() - began)
        spent, runs = spent + took, runs + 1
    return cpu, wall, result


def simulated(folder: Path) -> Path:
    """About 40 MB of text with the digits that MSLR-WEB30K has."""
    data = rankopt.simulate("mslr_like", scale=0.0043 * MEGABYTES, discrete=0.5, seed=1)
    np.round(data.X, 6, out=data.X)
    path = folder / "simulated.txt"
    rankopt.write_letor(path, data)
    return path


def real(folder: Path) -> Path | None:
    """The sample of MSLR-WEB30K, repeated under new queries to the same size."""
    root = os.environ.get("RANKOPT_DATA")
    if not root:
        return None
    sample = gzip.decompress((Path(root) / "mslr_web30k_sample/train.txt.gz").read_bytes())
    path = folder / "mslr sample.txt"
    with path.open("wb") as file:
        for copy in range(MEGABYTES * 1_000_000 // len(sample)):
            file.write(sample.replace(b" qid:", b" qid:%d" % (copy + 1)))
    return path


def lightgbm_tasks(path: Path, data: Dataset) -> dict[str, Callable[[], Any]]:
    import lightgbm

    bare = path.with_suffix(".lightgbm")
    bare.write_bytes(re.sub(rb" qid:\S+", b"", path.read_bytes()))
    asked = {"num_threads": 1, "verbosity": -1}
    return {
        "with binning": lambda: lightgbm.Dataset(str(bare), params=asked).construct(),
        "binning alone": lambda: lightgbm.Dataset(data.X, data.y, params=asked).construct(),
    }


def compare(path: Path) -> dict[str, Any]:
    """Seconds of every tool on one file, after a check that what they read agrees."""
    from sklearn.datasets import load_svmlight_file

    packed = path.with_suffix(".txt.gz")
    packed.write_bytes(gzip.compress(path.read_bytes(), 6))
    seconds: dict[str, float] = {}
    walls: dict[str, float] = {}

    def note(tool: str, task: Callable[[], Any]) -> Any:
        seconds[tool], walls[tool], result = measured(task)
        print(f"{path.stem}: {tool} {seconds[tool]:.3f} s CPU", file=sys.stderr)
        return result

    rankopt.read_letor(path)  # compiled
    with using_threads(1):
        data = note("rankopt", lambda: rankopt.read_letor(path))
        note("rankopt, .gz", lambda: rankopt.read_letor(packed))
        peak = peak_of(path)
    with using_threads(2):
        note("rankopt, 2 threads", lambda: rankopt.read_letor(path))
    X, y, qid = note("scikit-learn", lambda: load_svmlight_file(str(path), query_id=True))
    agree(np.array_equal(X.toarray().astype(np.float32), data.X), "values")
    agree(np.array_equal(y, data.y), "labels")
    agree(np.array_equal(qid, data.groups.spread(data.groups.qids)), "queries")
    tasks = lightgbm_tasks(path, data)
    binned = note("LightGBM, with binning", tasks["with binning"])
    agree(np.array_equal(binned.get_label(), data.y), "labels of LightGBM")
    note("LightGBM, binning alone", tasks["binning alone"])
    size = path.stat().st_size / 1e6
    whole, binning = seconds["LightGBM, with binning"], seconds["LightGBM, binning alone"]
    speeds = {t: size / s for t, s in seconds.items() if t != "LightGBM, binning alone"}
    speeds["LightGBM, less binning"] = size / (whole - binning)
    return {
        "megabytes": round(size, 1),
        "rows": data.n_rows,
        "features": data.n_features,
        "bytes_per_value": round(size * 1e6 / data.X.size, 2),
        "rankopt_ns_per_value": round(seconds["rankopt"] / data.X.size * 1e9, 2),
        "rankopt_peak_over_final": round(peak / (data.X.nbytes + data.y.nbytes), 2),
        "seconds": {tool: round(s, 4) for tool, s in seconds.items()},
        "wall_seconds": {tool: round(s, 4) for tool, s in walls.items()},
        "mb_per_second": {tool: round(s, 1) for tool, s in speeds.items()},
        "rankopt_times_faster": {
            tool: round(speeds["rankopt"] / s, 1) for tool, s in speeds.items() if tool != "rankopt"
        },
    }


def peak_of(path: Path) -> int:
    """Peak of the memory that Python and NumPy allocate while reading."""
    tracemalloc.start()
    rankopt.read_letor(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def agree(same: bool, what: str) -> None:
    if not same:
        raise AssertionError(f"{what} differ")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        paths = [simulated(Path(folder)), real(Path(folder))]
        files = {path.stem: compare(path) for path in paths if path is not None}
    verdict = {
        tool: {
            "least": least,
            "aim": aim,
            "measured": min(file["rankopt_times_faster"][tool] for file in files.values()),
        }
        for tool, (least, aim) in BOUNDS.items()
    }
    if asked.json:
        print(json.dumps({"files": files, "verdict": verdict}))
        return 0
    for name, file in files.items():
        print(
            f"{name}: {file['megabytes']} MB, {file['rows']} rows, {file['features']} features,"
            f" {file['bytes_per_value']} bytes per value; rankopt {file['rankopt_ns_per_value']} ns"
            f" per value, peak memory {file['rankopt_peak_over_final']} x the arrays"
        )
        print(f"  {'MB/s of CPU time':26}{'':10}{'rankopt is faster by':>22}")
        for tool, speed in file["mb_per_second"].items():
            times = file["rankopt_times_faster"].get(tool, "")
            print(f"  {tool:26}{speed:10.1f}{times:>22}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
