"""How many jumping points a query has along a feature, as its list grows: table 12 of the DirectRank paper.

A jumping point is a place along one weight where two rows trade places among the first five. Rows get
labels that all differ, so that each such place is a step of NDCG@5 of its own and `rankopt.line_search`
returns it; ``steps`` counts those that change the measure with the labels as they are.

Lists are cut to their first m rows, of the queries that have as many. The other weights are those of a
ridge regression. The simulated set has the shape of the Gov collections (1000 rows per query); with
RANKOPT_DATA the training part of OHSUMED's first fold is there too.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
from sets import fold, root

import rankopt
from rankopt.data.dataset import Dataset
from rankopt.solvers.starts import ridge

K = 5
PUBLISHED = {
    "HP2003 (published)": {50: 44.20, 100: 50.42, 200: 53.74, 500: 64.60, 1000: 66.32},
    "HP2004 (published)": {50: 40.76, 100: 52.05, 200: 59.18, 500: 63.09, 1000: 65.11},
}


def points(data: Dataset, m: int, features: int, seed: int = 0) -> dict[str, Any]:
    """Means per query over the lists cut to m rows, along the first feature and along several."""
    rng = np.random.default_rng(seed)
    weights = ridge(data, 2.0**data.labels - 1)
    queries = np.flatnonzero(data.groups.sizes >= m)
    moving = np.flatnonzero(np.ptp(data.X, axis=0) > 0)[:features]
    jumps, steps = np.zeros(moving.size), np.zeros(moving.size)
    for q in queries:
        rows = slice(data.groups.offsets[q], data.groups.offsets[q] + m)
        X, y = np.asarray(data.X[rows], np.float64), data.labels[rows]
        distinct = rng.permutation(m)
        scores = X @ weights
        for i, feature in enumerate(moving):
            along = np.ascontiguousarray(X[:, feature])
            for labels, measure, counts in (
                (distinct, f"ndcg(gain=linear)@{K}", jumps),
                (y, f"ndcg@{K}", steps),
            ):
                found = rankopt.line_search(scores, along, labels, measure=measure, full=True)
                counts[i] += found.breakpoints.size
    n = queries.size
    return {
        "m": m, "queries": int(n), "first": jumps[0] / n, "mean": jumps.mean() / n,
        "steps": steps.mean() / n,
    }  # fmt: skip


def tables(features: int, scale: float) -> dict[str, list[dict[str, Any]]]:
    sets = {
        "gov_like": (rankopt.simulate("gov_like", seed=1, scale=scale), (50, 100, 200, 500, 1000))
    }
    if root() is not None:
        sets["ohsumed"] = fold("ohsumed", 1)["train"], (20, 50, 100, 200)
    return {
        name: [points(data, m, features) for m in sizes] for name, (data, sizes) in sets.items()
    }


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--features", type=int, default=16, help="along how many features")
    parser.add_argument("--scale", type=float, default=1.0, help="of the simulated set")
    options = parser.parse_args(argv)
    out = {"published": PUBLISHED, "measured": tables(options.features, options.scale)}
    if options.json:
        print(json.dumps(out))
        return
    for name, rows in out["measured"].items():
        print(f"\n{name}: jumping points of NDCG@{K} per query")
        print(f"{'m':>6}{'queries':>9}{'first feature':>15}{'all features':>14}{'that count':>12}")
        for row in rows:
            print(
                f"{row['m']:>6}{row['queries']:>9}{row['first']:>15.2f}{row['mean']:>14.2f}"
                f"{row['steps']:>12.2f}"
            )


if __name__ == "__main__":
    main()
