"""Re-weighting a tuned LightGBM lambdarank model: what it brings on each set, and what it costs.

* ``quality``: for each fold, lambdarank's setting and number of trees are chosen on the validation queries;
  its trees are weighted anew on the training queries, guarded by the validation queries; the test queries are
  looked at once, with a paired randomisation test over all folds. The real sets need RANKOPT_DATA.
* ``speed``: a model of 1,000 trees over 100,000 rows, wall seconds of the whole of `rankopt.reweight`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import lightgbm as lgb
import numpy as np
from boosting import RATES, SETS, matrix
from staged import Staged, by_test_query, parts

import rankopt
from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.ensembles.ensemble import Ensemble
from rankopt.evaluation.intervals import p_value
from rankopt.measures import as_measure
from rankopt.threads import using_threads

VARIANTS: dict[str, dict[str, Any]] = {
    "tree by tree": {},
    "10 blocks, shrinkage 0.3": {"blocks": 10, "shrinkage": 0.3},
    "tree by tree, any rise": {"guard": 0.0},
    "tree by tree, no guard": {"valid": None, "max_iter": 3},
}


def grown(data: Dataset, trees: int, rate: float, strong: bool, threads: int = 1) -> lgb.Booster:
    settings: dict[str, Any] = {
        "objective": "lambdarank", "num_leaves": 10, "learning_rate": rate, "num_threads": threads,
        "verbosity": -1, "seed": 0, "deterministic": True, "force_col_wise": True,
    }  # fmt: skip
    if strong:
        settings |= {
            "min_data_in_leaf": 50, "lambda_l2": 5.0, "feature_fraction": 0.5,
            "bagging_fraction": 0.7, "bagging_freq": 1, "bagging_by_query": True,
        }  # fmt: skip
    train = lgb.Dataset(matrix(data), data.labels, group=data.groups.sizes)
    return lgb.train(settings, train, trees)


def tuned(split: list[Dataset], trees: int) -> Ensemble:
    """The lambdarank model, and its number of trees, that validation chooses."""
    best, found = -1.0, None
    for rate in RATES:
        for strong in (False, True):
            ensemble = rankopt.read_ensemble(grown(split[0], trees, rate, strong))
            number, value = Staged.of(ensemble.trees, ensemble.weights, split[1]).best()
            if value > best:
                best, found = value, (ensemble, number)
    assert found is not None
    return rankopt.read_ensemble(found[0], iterations=found[1])


def quality(name: str, trees: int, queries: int) -> list[dict[str, Any]]:
    splits = parts(name, queries)
    models = [tuned(split, trees) for split in splits]
    rows = []
    for variant, chosen in VARIANTS.items():
        pairs = list(zip(splits, models, strict=True))
        found = [
            rankopt.reweight(model, split[0], "ndcg@10", **{"valid": split[1], **chosen})
            for split, model in pairs
        ]
        before = [values(model, split) for split, model in pairs]
        after = [values(new.ensemble, split) for split, new in zip(splits, found, strict=True)]
        row = {"set": name, "variant": variant, "folds": len(splits)}
        row |= compared(name, before, after)
        row["changed"] = sum(new.changed for new in found)
        rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)
    return rows


def values(model: Ensemble, split: list[Dataset]) -> list[Floats]:
    """NDCG@10 of each query of each part."""
    return [
        as_measure("ndcg@10").bind(part.labels, part.groups).values(model.scores(part))
        for part in split
    ]


def compared(name: str, before: list[list[Floats]], after: list[list[Floats]]) -> dict[str, Any]:
    """Means over folds of each part, and the paired test on the test queries."""
    old, new = (np.array([[v.mean() for v in fold] for fold in side]) for side in (before, after))
    out: dict[str, Any] = {}
    for i, part in enumerate(("train", "valid", "test")):
        out |= {f"{part}_before": old[:, i].mean(), part: new[:, i].mean()}
        out[f"{part}_never_lower"] = bool(np.all(new[:, i] >= old[:, i] - 1e-12))
    away = by_test_query(name, [b[2] - a[2] for a, b in zip(before, after, strict=True)])
    return {**out, "p": p_value(away, "randomisation", np.random.default_rng(0))}


def speed(trees: int, rows: int, rounds: int) -> dict[str, Any]:
    """Wall seconds of re-weighting on two threads, compiled beforehand."""
    train = rankopt.simulate("mslr_like", scale=rows / 96 / 2000, seed=0)
    valid = rankopt.simulate("mslr_like", scale=rows / 960 / 2000, seed=0)
    some = train.take(np.arange(min(200, train.groups.n_queries)))  # as only its trees count here
    booster = grown(some, trees, 0.02, True, threads=2)
    rankopt.reweight(booster, valid, "ndcg@10", max_iter=1, iterations=5)
    with using_threads(2):
        began, cpu = time.perf_counter(), time.process_time()
        found = rankopt.reweight(booster, train, "ndcg@10", valid=valid, max_iter=rounds)
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    return {
        "trees": trees, "rows": train.n_rows, "rounds": len(found.history), "wall_seconds": wall,
        "cpu_seconds": cpu, "train_before": found.train_before, "train": found.train,
        "status": found.status,
    }  # fmt: skip


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--tables", default="quality,speed")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--queries", type=int, default=2000, help="of the simulated set")
    parser.add_argument("--many", type=int, default=1000, help="trees of the timed model")
    parser.add_argument("--rows", type=int, default=100_000, help="of the timed set")
    parser.add_argument("--rounds", type=int, default=20, help="over all trees, of the timed run")
    options = parser.parse_args(argv)
    out: dict[str, Any] = {}
    if "quality" in options.tables:
        with using_threads(1):
            out["quality"] = [
                row
                for name in options.sets.split(",")
                for row in quality(name, options.trees, options.queries)
            ]
    if "speed" in options.tables:
        out["speed"] = speed(options.many, options.rows, options.rounds)
    if options.json:
        print(json.dumps(out))
        return
    for row in out.get("quality", []):
        moved = (
            f"{p} {row[p + '_before']:.4f} -> {row[p]:.4f}" for p in ("train", "valid", "test")
        )
        said = f"p {row['p']:.3f}  changed {row['changed']}/{row['folds']}"
        print(f"{row['set']:14} {row['variant']:28} {'  '.join(moved)}  {said}")
    if "speed" in out:
        print(json.dumps(out["speed"], indent=1))


if __name__ == "__main__":
    main()
