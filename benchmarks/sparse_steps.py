"""What a pass of Adam and of SGD costs as vocabularies grow, beside steps of all parameters.

Simulated questions and answers of sparse words (their frequencies fall as one over the rank, as in text),
bilinear functional of ten dimensions, multiclass logistic loss. The baseline is the same solver told of no
blank columns, so that every step moves every parameter. CPU time of one thread; the loss after the pass.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sets import Cpu

import rankopt
from rankopt.data.dataset import Dataset
from rankopt.objectives import OBJECTIVES
from rankopt.scorers import Bilinear
from rankopt.solvers import L2, SGD, Adam, Problem
from rankopt.threads import using_threads

WIDTHS = (30_000, 262_144)
SOLVERS = {"adam": Adam(max_iter=1), "sgd": SGD(max_iter=1, learning_rate=1.0, batch=16)}


class EveryColumn(Bilinear):
    """The baseline: no batch is cut down to its columns."""

    def confined(self, data: Dataset) -> None:
        return None


def words(rng: np.random.Generator, rows: int, width: int, length: float) -> csr_array:
    """Counts of words."""
    share = 1.0 / np.arange(1, width + 1)
    sizes = rng.poisson(length, rows) + 1
    columns = rng.choice(width, sizes.sum(), p=share / share.sum())
    counts = csr_array(
        (np.ones(columns.size), columns, np.append(0, np.cumsum(sizes))), (rows, width)
    )
    counts.sum_duplicates()
    return counts


def simulated(n_queries: int, width: int) -> Dataset:
    """Questions with one best answer among three to nine; it says nothing that others do not."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(3, 10, n_queries)
    first = np.append(0, np.cumsum(sizes)[:-1])
    y = np.zeros(sizes.sum())
    y[first + rng.integers(0, 3, n_queries)] = 1.0
    X, Q = words(rng, y.size, width, 40.0), words(rng, n_queries, width, 15.0)
    return rankopt.dataset(X, y, group=sizes, query_features=Q)


def measured(name: str, data: Dataset) -> dict[str, Any]:
    """A pass with and without cutting down."""
    out: dict[str, Any] = {"solver": name, "words": data.n_features}
    for kind, scorer in (("", Bilinear()), ("all parameters, ", EveryColumn())):
        loss = OBJECTIVES.build("multiclass").bind(data.labels, data.groups)
        problem = Problem(data, scorer, loss, L2(1e-5))
        start = scorer.start(data, np.random.default_rng(0))
        with Cpu() as cpu:
            solution = SOLVERS[name].solve(problem, start, np.random.default_rng(1))
        out |= {f"{kind}cpu": cpu.seconds, f"{kind}loss": solution.value}
    return {**out, "ratio": out["all parameters, cpu"] / out["cpu"]}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--queries", type=int, default=2000)
    args = parser.parse_args(argv)
    rows: list[dict[str, Any]] = []
    with using_threads(1):
        measured("adam", simulated(20, WIDTHS[0]))  # compiles
        for width in WIDTHS:
            data = simulated(args.queries, width)
            for name in SOLVERS:
                rows.append(measured(name, data))
                print(rows[-1], file=sys.stderr, flush=True)
    if args.json:
        print(json.dumps(rows, indent=2))
        return 0
    for row in rows:
        cells = (f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items())
        print("  ".join(cells))
    return 0


if __name__ == "__main__":
    sys.exit(main())
