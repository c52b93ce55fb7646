"""The exact line search against the tie-safe Algorithm 2 of the paper, both in Numba, in one process.

Each set is searched along a sample of its features from the same scoring (noisy ridge weights), on one
thread; both must find the same optimum. Figures are CPU nanoseconds per document and feature, the best
of a few passes. Then full cyclic rounds with accepted steps, and two threads against one by the clock.

Sets: simulated ones of the shapes of MSLR-WEB, Yahoo and Gov; with RANKOPT_DATA also the real ones,
all parts of one fold joined and features divided by their deviation.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from algorithm2 import best_interval, jumping_points
from sets import Cpu, root

import rankopt
from rankopt.data.dataset import Dataset
from rankopt.data.simulate import simulate
from rankopt.measures import as_measure
from rankopt.search.engine import Engine
from rankopt.search.fixedpoint import FixedPoint
from rankopt.solvers.coordinate import Coordinate, Lines
from rankopt.solvers.starts import ridge
from rankopt.threads import using_threads

PAPER = 2443.0  # ns per document and feature of one round: 600 s on 473,134 x 519, another machine
K = 10


def sets(scale: float, chosen: str = "") -> Iterator[tuple[str, Dataset]]:
    for shape in ("mslr_like", "yahoo_like", "gov_like"):
        if shape in (chosen or shape).split(","):
            yield shape, simulate(shape, seed=1, scale=scale)
    folder = root()
    if folder is None:
        return
    parts = {
        "mslr sample": [
            folder / f"mslr_web30k_sample/{p}.txt.gz" for p in ("train", "vali", "test")
        ],
        "mq2008": [folder / f"mq2008/Fold1/{p}.txt.gz" for p in ("train", "vali", "test")],
        "ohsumed": [
            folder / f"ohsumed_letor3/QueryLevelNorm/Fold1/{p}.txt.gz"
            for p in ("train", "vali", "test")
        ],
        "lightgbm_rank": [folder / f"lightgbm_rank/{p}.letor.txt.gz" for p in ("train", "test")],
    }
    for name, paths in parts.items():
        if name not in (chosen or name).split(","):
            continue
        read = [rankopt.read_letor(path) for path in paths]
        width = max(part.n_features for part in read)
        X = np.concatenate(
            [
                np.pad(p.X, ((0, 0), (0, width - p.n_features))) for p in read
            ]  # trailing zeros left out
        )
        deviation = X.std(axis=0)
        X = (X / np.where(deviation > 0, deviation, 1)).astype(np.float32)
        y = np.concatenate([p.labels for p in read])
        sizes = np.concatenate([p.groups.sizes for p in read])
        yield name, rankopt.dataset(X, y, group=sizes)


def prepared(data: Dataset) -> tuple[Lines, FixedPoint, np.ndarray, np.ndarray]:
    """Columns, the measure, noisy ridge weights and their scores."""
    bound = as_measure(f"ndcg@{K}").bind(data.labels, data.groups)
    lines = Lines.of(data, bound)
    weights = ridge(data, bound.gains)
    size = np.abs(weights).max()
    weights = weights + 0.1 * size * np.random.default_rng(0).normal(size=weights.size)
    return lines, FixedPoint.of(bound), weights, lines.scores(weights)


def static(data: Dataset, sampled: int, passes: int) -> dict[str, Any]:
    lines, target, _, scores = prepared(data)
    bound = lines.bound
    features = np.unique(np.linspace(0, data.n_features - 1, sampled).astype(int))
    gains = bound.gains.astype(np.int64)
    ratio = np.where(bound.ideal > 0.0, 1.0 / bound.norms, 0.0)[:, None]
    padded = np.concatenate((1.0 / np.log2(2.0 + np.arange(K)), [0.0]))[None, :]
    discounts = np.rint(2.0**40 * ratio * padded).astype(np.int64)
    event_t = np.empty(40 * data.n_rows)
    event_d = np.empty(event_t.size, np.int64)
    engine = Engine(target, scores)
    ours, theirs = np.inf, np.inf
    engine.search(lines.columns[features[0]])
    for _ in range(passes):
        with Cpu() as cpu:
            found = [engine.search(lines.columns[f]) for f in features]
        ours = min(ours, cpu.seconds)
        with Cpu() as cpu:
            baseline = []
            for f in features:
                slopes = lines.columns[f].astype(np.float64)
                total, n = jumping_points(
                    data.groups.offsets, slopes, scores, gains, discounts, K, event_t, event_d
                )
                baseline.append(best_interval(total, event_t[:n], event_d[:n]))
        theirs = min(theirs, cpu.seconds)
    queries = data.groups.n_queries
    for steps, result in zip(found, baseline, strict=True):
        if not np.isclose(steps.value, result[0] / 2.0**40 / queries, atol=1e-7):
            raise AssertionError(
                f"optima differ: {steps.value} and {result[0] / 2.0**40 / queries}"
            )
    cells = data.n_rows * features.size
    return {
        "rows": data.n_rows,
        "features": data.n_features,
        "algorithm2_ns": 1e9 * theirs / cells,
        "rankopt_ns": 1e9 * ours / cells,
        "ratio": theirs / ours,
    }


def rounds(data: Dataset) -> dict[str, Any]:
    """One full cyclic round from noisy ridge weights, re-sorting and evaluation afresh included."""
    lines, _, weights, _ = prepared(data)
    solver = Coordinate(max_iter=1, point="middle")
    with Cpu() as cpu:
        solution = solver.climb(lines, weights, np.random.default_rng(0))
    ns = 1e9 * cpu.seconds / (data.n_rows * data.n_features)
    return {"round_cpu_s": cpu.seconds, "round_ns": ns, "paper_ns": PAPER, "value": solution.value}


def threads(data: Dataset, sampled: int, passes: int) -> float:
    """How much less time two threads take than one, by the clock: the best of each search, added up."""
    lines, target, _, scores = prepared(data)
    features = np.unique(np.linspace(0, data.n_features - 1, sampled).astype(int))
    engine = Engine(target, scores)
    best = np.full((3, features.size), np.inf)
    for turn in range(2 * passes):
        number = 1 + turn % 2
        with using_threads(number):
            engine.search(lines.columns[features[0]])
            for i, f in enumerate(features):
                began = time.perf_counter()
                engine.search(lines.columns[f])
                best[number, i] = min(best[number, i], time.perf_counter() - began)
    return float(best[1].sum() / best[2].sum())


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--scale", type=float, default=1.0, help="of the simulated sets")
    parser.add_argument("--sets", default="", help="some only, such as yahoo_like,mq2008")
    parser.add_argument("--sampled", type=int, default=12, help="features searched in each set")
    parser.add_argument("--passes", type=int, default=6)
    parser.add_argument("--skip-rounds", action="store_true")
    parser.add_argument("--skip-threads", action="store_true")
    options = parser.parse_args(argv)
    rows: list[dict[str, Any]] = []
    for name, data in sets(options.scale, options.sets):
        with using_threads(1):
            row = {"set": name, **static(data, options.sampled, options.passes)}
            if not options.skip_rounds:
                row |= rounds(data)
        if data.n_rows >= 40_000 and not options.skip_threads:
            row["two_threads"] = threads(data, options.sampled, 2 * options.passes)
        rows.append(row)
        print(row, file=sys.stderr)
    if options.json:
        print(json.dumps({"line_search": rows}))
        return
    head = ("set", "Algorithm 2", "rankopt", "ratio", "round", "2 threads")
    print(("{:<16}" + "{:>13}" * 5).format(*head))
    for row in rows:
        cells = [
            row["algorithm2_ns"],
            row["rankopt_ns"],
            row["ratio"],
            row.get("round_ns"),
            row.get("two_threads"),
        ]
        print(
            f"{row['set']:<16}"
            + "".join(f"{'' if c is None else format(c, '.2f'):>13}" for c in cells)
        )


if __name__ == "__main__":
    main()
