"""Memory and seconds at the size of MSLR-WEB30K: 31,531 queries, 3.7 million rows, 136 features, simulated.

The file is written once (about 5 GB of text, kept where --file says), read, and three systems are trained
on it: DirectRank for one full cycle of all features, SmoothRank at its defaults, DirectBoost with 100
trees. All in one process; the peak of memory is started anew before each step and includes the data.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rankopt
from rankopt.bench.cells import forget_peak, peak, resident

QUERIES, SMALLEST, LARGEST = 31_531, 97, 141
MEASURE = "ndcg@10"


def write(path: Path, scale: float) -> None:
    """The simulated file."""
    shape = {"smallest": SMALLEST, "largest": LARGEST, "n_queries": QUERIES}
    rankopt.write_letor(path, rankopt.simulate("mslr_like", seed=1, scale=scale, **shape))


def measured(name: str, work: Callable[[], Any]) -> tuple[dict[str, Any], Any]:
    """What a step takes, and its result."""
    gc.collect()
    forget_peak()
    base, wall, cpu = resident(), time.perf_counter(), time.process_time()
    found = work()
    row = {
        "step": name, "seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu,
        "peak_gb": peak() / 2**30, "before_gb": base / 2**30,
    }  # fmt: skip
    return row, found


def steps(path: Path) -> list[dict[str, Any]]:
    small = rankopt.simulate(n_queries=5, n_features=4)
    row, data = measured("read", lambda: rankopt.read_letor(path))
    row |= {
        "rows": data.n_rows,
        "queries": data.groups.n_queries,
        "file_gb": path.stat().st_size / 2**30,
    }
    rows = [row]
    told(row)
    rankers = {
        "directrank, one cycle": rankopt.DirectRank(MEASURE, max_iter=1),
        "smoothrank": rankopt.SmoothRank(MEASURE),
        "directboost, 100 trees": rankopt.DirectBoost(MEASURE, n_estimators=20, random_state=0),
    }
    for name, ranker in rankers.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one cycle is no end
            type(ranker)(**ranker.get_params()).fit(small)  # compiled beforehand
            row, fitted = measured(name, lambda ranker=ranker: ranker.fit(data))
        row["train"] = fitted.score(data)
        rows.append(row)
        told(row)
    return rows


def told(row: dict[str, Any]) -> None:
    words = {k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}
    print(words, file=sys.stderr, flush=True)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--file", type=Path, default=Path("build/web_scale.txt"))
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of queries")
    options = parser.parse_args(argv)
    if not options.file.exists():
        options.file.parent.mkdir(parents=True, exist_ok=True)
        row, _ = measured("write", lambda: write(options.file, options.scale))
        told(row)
    rows = steps(options.file)
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{'step':>24}{'seconds':>10}{'CPU s':>10}{'peak GB':>10}{'train':>9}")
    for row in rows:
        train = f"{row['train']:.4f}" if "train" in row else ""
        print(
            f"{row['step']:>24}{row['seconds']:>10.1f}{row['cpu']:>10.1f}{row['peak_gb']:>10.2f}{train:>9}"
        )


if __name__ == "__main__":
    main()
