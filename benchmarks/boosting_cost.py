"""What a boosted tree costs: DirectBoost beside LightGBM's built-in lambdarank, in one process.

Simulated data like a web search engine's, 31 leaves. A round of each system in turn, so that both see
the same state of the machine; set-up and the first rounds are left out. A round of five folds is five trees,
and told is a fifth of it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import lightgbm as lgb
import numpy as np

import rankopt
from rankopt.data.dataset import Dataset
from rankopt.ensembles.grower import LightGBMGrower, TreeShape
from rankopt.measures import as_measure
from rankopt.objectives import OBJECTIVES, Sloped
from rankopt.solvers.base import Step
from rankopt.solvers.boost import Boost
from rankopt.solvers.treestep import TreeStep
from rankopt.threads import using_threads

WARM = 3
PAIRS = "pairwise(logistic, weight=grade-difference)"
EXACT = TreeStep("out-of-bag", (0.05, 1.0))
VARIANTS: dict[str, tuple[str, Boost]] = {
    "lambda(ndcg@10), fixed weight": ("lambda(ndcg@10)", Boost(step=TreeStep("fixed", share=0.1))),
    "squared, the paper's weight": ("squared", Boost(step=TreeStep("training"))),
    "default": (PAIRS, Boost(step=EXACT, subsample=0.8, folds=5)),
    "default, one fold": (PAIRS, Boost(step=EXACT, subsample=0.8)),
    "default, one fold, leaves searched": (
        PAIRS, Boost(step=EXACT, subsample=0.8, leaf_rounds=1)
    ),
}  # fmt: skip


class Rounds:
    """Times of single rounds, wall and CPU."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def time(self, work: Callable[[], object]) -> None:
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        self.wall.append(time.perf_counter() - wall)
        self.cpu.append(time.process_time() - cpu)

    def medians(self) -> tuple[float, float]:
        """Milliseconds of a round, wall and CPU."""
        return tuple(1e3 * float(np.median(t[WARM:])) for t in (self.wall, self.cpu))  # type: ignore[return-value]


def built_in(data: Dataset, objective: str, threads: int) -> lgb.Booster:
    settings = {
        "objective": objective, "num_leaves": 31, "learning_rate": 0.1, "num_threads": threads,
        "verbosity": -1, "deterministic": True, "force_col_wise": True,
    }  # fmt: skip
    train = lgb.Dataset(data.X, data.labels, group=data.groups.sizes, params=settings)
    return lgb.Booster(settings, train)


def ours(data: Dataset, name: str, rounds: int, between: Callable[[], object]) -> Rounds:
    """A boosting of ours that lets the other systems have a round after each of its own."""
    text, plan = VARIANTS[name]
    bound = as_measure("ndcg@10").bind(data.labels, data.groups)
    loss = OBJECTIVES.build(text).bind(data.labels, data.groups)
    assert isinstance(loss, Sloped)
    grower = LightGBMGrower(TreeShape(31), [data], 0)
    times = Rounds()
    began = [time.process_time(), time.perf_counter()]

    def watch(step: Step, weights: Any) -> bool:
        times.cpu.append((time.process_time() - began[0]) / plan.folds)
        times.wall.append((time.perf_counter() - began[1]) / plan.folds)
        between()
        began[:] = time.process_time(), time.perf_counter()
        return False

    timed = replace(plan, n_estimators=rounds)
    timed.run(grower, loss, bound, [np.zeros(data.n_rows)], np.random.default_rng(0), watch)
    return times


def measured(data: Dataset, rounds: int, threads: int, names: list[str]) -> list[dict[str, Any]]:
    rows = []
    for name in names:
        times = Rounds()
        update = built_in(data, "lambdarank", threads).update
        with using_threads(threads):
            mine = ours(data, name, rounds, partial(times.time, update)).medians()
        theirs = times.medians()
        rows.append(
            {
                "system": name, "threads": threads, "wall_ms": mine[0], "cpu_ms": mine[1],
                "lambdarank_wall_ms": theirs[0], "lambdarank_cpu_ms": theirs[1],
                "wall_ratio": mine[0] / theirs[0], "cpu_ratio": mine[1] / theirs[1],
            }
        )  # fmt: skip
    return rows


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", type=int, default=150_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--only", default="", help="part of a name")
    options = parser.parse_args(argv)
    data = rankopt.simulate("mslr_like", scale=options.rows / 96 / 2000)
    names = [name for name in VARIANTS if options.only in name]
    rows = [
        row
        for threads in options.threads.split(",")
        for row in measured(data, options.rounds + WARM, int(threads), names)
    ]
    if options.json:
        print(json.dumps({"rows": data.n_rows, "features": data.n_features, "rounds": rows}))
        return
    print(f"{data.n_rows} rows x {data.n_features}, 31 leaves, median of {options.rounds} rounds")
    for row in rows:
        mine = f"{row['wall_ms']:6.1f} ms wall, {row['cpu_ms']:6.1f} CPU"
        theirs = f"{row['lambdarank_wall_ms']:6.1f}, {row['lambdarank_cpu_ms']:6.1f}"
        ratio = f"{row['wall_ratio']:.2f} wall, {row['cpu_ratio']:.2f} CPU"
        print(
            f"{row['system']:32} {row['threads']} threads: {mine}; lambdarank {theirs}; ratio {ratio}"
        )


if __name__ == "__main__":
    main()
