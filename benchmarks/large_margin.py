"""MarginRank: its certificate, the collapse of the convex bound, and what they rest on.

assignment    worst orders by the project's assignment kernel, beside SciPy's solver, query by query
certificate   the gap over a range of l2 on fold 1 of MQ2008, and on a simulated set of the size of the
              paper's first one (1,500 queries, 50,000 rows, 300 features; 15 minutes there)
solvers       the same certificate on fold 1 of MQ2008 by each of the solvers: value, bound, time
collapse      on OHSUMED the convex bound is no lower than at w = 0; the tight one is (section 5.3)

Times are CPU seconds. The real sets are read from RANKOPT_DATA.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sets import Cpu, fold, root
from sklearn.exceptions import ConvergenceWarning

import rankopt
from rankopt.data.dataset import Dataset
from rankopt.data.groups import Groups
from rankopt.measures import as_measure
from rankopt.objectives import Margin
from rankopt.objectives.structured import BoundMargin
from rankopt.threads import using_threads

RANGE = tuple(10.0**power for power in range(-6, 3))  # of l2, for the certificates
SOLVERS = ("cutting-plane(slacks=n)", "cutting-plane", "bundle", "subgradient")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def simulated() -> Dataset:
    """Five grades, most of them 0, from a sparse linear function with noise."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(20, 48, 1500)
    rows = int(sizes.sum())
    X = rng.normal(size=(rows, 300)).astype(np.float32)
    w = rng.normal(size=300) * (rng.random(300) < 0.2)
    noisy = X @ w / np.linalg.norm(w) + rng.normal(size=rows)
    return rankopt.dataset(X, np.digitize(noisy, [0.5, 1.2, 1.9, 2.5]), group=sizes)


def certificate(args: argparse.Namespace) -> list[dict[str, Any]]:
    """The gap that a fit ends with, and what it took."""
    sets: list[tuple[str, Dataset, tuple[float, ...]]] = []
    if root() is not None:
        sets.append(("mq2008 fold 1", fold("mq2008", 1)["train"], args.l2 or RANGE))
    sets.append(("simulated", simulated(), args.l2 or (100.0, 10.0, 1.0)))
    out: list[dict[str, Any]] = []
    for name, data, strengths in sets:
        for l2 in strengths if args.set in (None, name.split()[0]) else ():
            model = rankopt.MarginRank("ndcg@10", l2=l2, solver=args.solver)
            with Cpu() as cpu:
                model.fit(data)
            out.append({
                "set": name, "rows": data.n_rows, "l2": l2, "primal": model.objective_,
                "dual": model.bound_, "gap": model.gap_, "share": model.gap_ / model.objective_,
                "n_iter": model.n_iter_, "cpu": cpu.seconds, "collapsed": model.collapsed_,
            })  # fmt: skip
            say(str(out[-1]))
    return out


def solvers(args: argparse.Namespace) -> list[dict[str, Any]]:
    """The optimum, its proof and its price by each solver."""
    data = fold("mq2008", 1)["train"]
    out: list[dict[str, Any]] = []
    for l2 in args.l2 or (1e-4, 1e-2, 1.0):
        for solver in SOLVERS:
            model = rankopt.MarginRank("ndcg@10", l2=l2, solver=solver, tol=args.tol)
            with Cpu() as cpu:
                model.fit(data)
            out.append({
                "l2": l2, "solver": solver, "primal": model.objective_, "dual": model.bound_,
                "share": model.gap_ / model.objective_, "n_iter": model.n_iter_, "cpu": cpu.seconds,
            })  # fmt: skip
            say(str(out[-1]))
    return out


def assignment(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Microseconds per query of one thread: worst orders for NDCG@10 and A(r) = 11 - r."""
    rng = np.random.default_rng(0)
    out: list[dict[str, Any]] = []
    for size in (20, 100, 1000):
        groups = Groups.from_sizes([size] * 500)
        labels = rng.choice(5, groups.n_rows, p=[0.5, 0.25, 0.15, 0.07, 0.03]).astype(np.float64)
        scores = 0.1 * (labels + rng.normal(size=groups.n_rows))
        bound = Margin(as_measure("ndcg@10")).bind(labels, groups)
        with using_threads(1):
            ours, (raw, slopes) = least(lambda: bound.planes(scores))  # noqa: B023
        matrices = list(matrices_of(bound, scores))
        theirs, orders = least(lambda: [worst(matrix) for matrix in matrices])  # noqa: B023
        mine = raw + groups.total((slopes + bound.wanted) * scores)
        apart = np.abs(mine - bound.target.rest - np.array(orders))
        out.append({
            "rows": size, "us": 1e6 * ours / 500, "scipy_us": 1e6 * theirs / 500,
            "ratio": theirs / ours, "apart": float(apart.max()),
        })  # fmt: skip
        say(str(out[-1]))
    return out


def matrices_of(bound: BoundMargin, scores: np.ndarray) -> Iterator[np.ndarray]:
    """What each place earns with each row: the matrix of the assignment problem of each query."""
    target, depth = bound.target, bound.depth
    for q, (a, b) in enumerate(pairwise(target.groups.offsets)):
        costs = target.scales[q] * np.outer(target.table[:depth], target.gains[a:b])
        yield np.outer(bound.table[:depth], scores[a:b]) - costs


def worst(matrix: np.ndarray) -> float:
    return float(matrix[linear_sum_assignment(matrix, maximize=True)].sum())


def least(task: Callable[[], Any]) -> tuple[float, Any]:
    """The smallest CPU time of five runs after the first, and what the task returns."""
    result, seconds = task(), np.inf
    for _ in range(5):
        with Cpu() as cpu:
            task()
        seconds = min(seconds, cpu.seconds)
    return seconds, result


def collapse(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Both bounds on OHSUMED: the value beside that at w = 0, and the measure on the training part."""
    data = fold("ohsumed", 1)["train"]
    blank = rankopt.value_grad(
        "margin(ndcg@10)", np.zeros(data.n_rows), data.labels, data_qid(data)
    )
    out: list[dict[str, Any]] = []
    for bound in ("convex", "tight"):
        for l2 in args.l2 or (1e-5, 1e-3, 1e-1):
            model = rankopt.MarginRank("ndcg@10", bound=bound, l2=l2).fit(data)
            out.append({
                "bound": bound, "l2": l2, "value": model.objective_, "dual": model.bound_,
                "at_zero": blank[0], "collapsed": model.collapsed_,
                "norm": float(np.linalg.norm(model.coef_)), "train": model.score(data),
            })  # fmt: skip
            say(str(out[-1]))
    return out


def data_qid(data: Dataset) -> Any:
    return data.groups.spread(np.arange(data.groups.n_queries))


PARTS = {
    "assignment": assignment,
    "certificate": certificate,
    "solvers": solvers,
    "collapse": collapse,
}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--part", choices=PARTS, action="append", help="one part; may be repeated")
    parser.add_argument(
        "--set", choices=("mq2008", "simulated"), help="of the certificate, one set alone"
    )
    parser.add_argument("--solver", default="auto", help="of the certificate")
    parser.add_argument("--tol", type=float, default=1e-3, help="gap at which the solvers end")
    parser.add_argument("--l2", type=float, nargs="+", help="other strengths of the penalty")
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore", ConvergenceWarning)
    asked = args.part or list(PARTS)
    if root() is None:
        say("solvers and collapse need the real sets: set RANKOPT_DATA")
        asked = [part for part in asked if part in ("assignment", "certificate")]
    report = {part: PARTS[part](args) for part in asked}
    if args.json:
        print(json.dumps(report, indent=2))
        return 0
    for part, rows in report.items():
        print(f"\n{part}")
        for row in rows:
            cells = (f"{k} {v:.4g}" if isinstance(v, float) else f"{v}" for k, v in row.items())
            print("  " + "  ".join(cells))
    return 0


if __name__ == "__main__":
    sys.exit(main())
