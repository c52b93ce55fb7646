"""NDCG@10 of many queries, against other tools on the same data.

    python benchmarks/evaluation.py [--json]

CPU time of one thread in one process, the best of several runs, in nanoseconds per row. Every tool
has its inputs ready in its own form: rankopt arrays, ranx a `Qrels` and a `Run`, pytrec_eval
dictionaries, XGBoost a `DMatrix` and a booster without trees. ranx, XGBoost and scikit-learn also
work out the ideal order each time, as rankopt's ``bind`` and ``values`` do together; ``values``
alone is what a training loop pays per evaluation. Scores have no ties, so that all must agree.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sets import cpu_time

import rankopt
from rankopt.arrays import Floats, Ints
from rankopt.measures import as_measure
from rankopt.threads import using_threads

SHAPES = {"mslr": (2000, 72, 121), "yahoo": (5000, 16, 31)}  # queries, sizes from and below
LOOPED = 200  # queries for scikit-learn, which goes query by query
# Measured as multiples of rankopt with bind, in this order: the least that must show, and the aim.
BOUNDS = {"ranx": (25.0, 50.0), "sklearn": (400.0, 1000.0)}


def problem(queries: int, low: int, high: int) -> tuple[Floats, Floats, rankopt.Groups]:
    """Labels as frequent as in MSLR-WEB30K, and scores that know something of them."""
    rng = np.random.default_rng(30)
    groups = rankopt.Groups.from_sizes(rng.integers(low, high, queries))
    labels = rng.choice(5, size=groups.n_rows, p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(np.float64)
    labels[groups.offsets[:-1]] = 1.0  # no query is blank: tools differ on those
    scores = labels + rng.normal(size=labels.size)
    return labels, scores.astype(np.float32).astype(np.float64), groups


def rankopt_tasks(labels: Floats, scores: Floats, groups: rankopt.Groups) -> dict[str, Any]:
    measure = as_measure("ndcg@10")
    bound = measure.bind(labels, groups)
    data = rankopt.dataset(np.zeros((labels.size, 1)), labels, group=groups.sizes)
    return {
        "rankopt values": lambda: bound.mean(scores),
        "rankopt bind + values": lambda: measure.bind(labels, groups).mean(scores),
        "rankopt.evaluate": lambda: rankopt.evaluate(scores, data, measure).mean["ndcg@10"],
    }


def numpy_lexsort(labels: Floats, scores: Floats, groups: rankopt.Groups) -> Callable[[], float]:
    """The measure in NumPy alone: one sort of all rows, sums by `add.reduceat`."""
    starts = groups.offsets[:-1]
    query = groups.spread(np.arange(groups.n_queries))
    rank = np.arange(labels.size) - groups.spread(starts)
    discounts = np.where(rank < 10, 1.0 / np.log2(rank + 2.0), 0.0)

    def task() -> float:
        gains = np.exp2(labels) - 1.0
        reached = np.add.reduceat(gains[np.lexsort((-scores, query))] * discounts, starts)
        ideal = np.add.reduceat(gains[np.lexsort((-labels, query))] * discounts, starts)
        return float(np.mean(reached / ideal))

    return task


def nested(values: Floats, groups: rankopt.Groups, kind: type) -> dict[str, dict[str, Any]]:
    """``{query: {document: value}}``."""
    return {
        f"q{q:06d}": {f"d{i}": kind(v) for i, v in enumerate(values[start:stop])}
        for q, (start, stop) in enumerate(spans(groups.offsets))
    }


def spans(offsets: Ints) -> list[tuple[int, int]]:
    return list(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True))


def ranx(labels: Floats, scores: Floats, groups: rankopt.Groups) -> Callable[[], float]:
    import numba
    from ranx import Qrels, Run, evaluate

    numba.set_num_threads(1)
    qrels, run = Qrels(nested(labels, groups, int)), Run(nested(scores, groups, float))
    return lambda: float(evaluate(qrels, run, "ndcg_burges@10"))


def pytrec_eval(labels: Floats, scores: Floats, groups: rankopt.Groups) -> Callable[[], float]:
    """With the gain 2^label - 1 as the judgement, since trec_eval's own gain is linear."""
    from pytrec_eval import RelevanceEvaluator

    gains = np.exp2(labels) - 1.0
    run = nested(scores, groups, float)
    evaluator = RelevanceEvaluator(nested(gains, groups, int), ["ndcg_cut_10"])

    def task() -> float:
        return float(np.mean([v["ndcg_cut_10"] for v in evaluator.evaluate(run).values()]))

    return task


def xgboost(labels: Floats, scores: Floats, groups: rankopt.Groups) -> Callable[[], float]:
    import xgboost as xgb

    rows = xgb.DMatrix(np.zeros((labels.size, 1)), labels)
    rows.set_group(groups.sizes)
    rows.set_base_margin(scores)
    asked = {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "nthread": 1, "verbosity": 0}
    booster = xgb.Booster(asked, [rows])
    return lambda: float(re.findall(r":(\S+)", booster.eval(rows))[0])


def sklearn(
    labels: Floats, scores: Floats, groups: rankopt.Groups, ignore_ties: bool
) -> Callable[[], Floats]:
    """`ndcg_score` query by query; its gain is linear, so it is given gains for labels."""
    from sklearn.metrics import ndcg_score

    gains = np.exp2(labels) - 1.0
    queries = spans(groups.offsets[: LOOPED + 1])
    pairs = [(gains[None, a:b].copy(), scores[None, a:b].copy()) for a, b in queries]
    return lambda: np.array([ndcg_score(g, s, k=10, ignore_ties=ignore_ties) for g, s in pairs])


def measured(name: str) -> dict[str, Any]:
    """Nanoseconds per row of every tool on one shape, after a check that the values agree."""
    labels, scores, groups = problem(*SHAPES[name])
    value = as_measure("ndcg@10").bind(labels, groups).values(scores)
    tasks = rankopt_tasks(labels, scores, groups)
    tasks["numpy lexsort"] = numpy_lexsort(labels, scores, groups)
    for tool in (xgboost, pytrec_eval, ranx):
        tasks[tool.__name__] = tool(labels, scores, groups)
    found: dict[str, float] = {}
    for tool, task in tasks.items():
        seconds, mean = cpu_time(task)
        tolerance = 1e-6 if tool == "pytrec_eval" else 1e-12  # that reads scores as float32
        if abs(mean - value.mean()) > tolerance:
            raise AssertionError(f"{name}: {tool} says {mean}, not {value.mean()}")
        found[tool] = seconds / labels.size * 1e9
        print(f"{name}: {tool} {found[tool]:.1f} ns/row", file=sys.stderr)
    looped = int(groups.offsets[LOOPED])
    for tool, ignore_ties in (("sklearn", False), ("sklearn ignore_ties", True)):
        seconds, per_query = cpu_time(sklearn(labels, scores, groups, ignore_ties))
        if np.abs(per_query - value[:LOOPED]).max() > 1e-12:
            raise AssertionError(f"{name}: {tool} disagrees")
        found[tool] = seconds / looped * 1e9
        print(f"{name}: {tool} {found[tool]:.1f} ns/row", file=sys.stderr)
    return {
        "queries": groups.n_queries,
        "rows": groups.n_rows,
        "ndcg@10": float(value.mean()),
        "ns_per_row": {tool: round(ns, 2) for tool, ns in found.items()},
        "times_values": ratios(found, "rankopt values"),
        "times_bind_values": ratios(found, "rankopt bind + values"),
    }


def ratios(found: dict[str, float], ours: str) -> dict[str, float]:
    """How many times longer every other tool takes."""
    return {t: round(ns / found[ours], 1) for t, ns in found.items() if "rankopt" not in t}


def verdict(shapes: dict[str, Any]) -> dict[str, Any]:
    """The smallest ratio over the shapes, against what must show."""
    out: dict[str, Any] = {}
    for tool, (least, aim) in BOUNDS.items():
        for ours in ("times_values", "times_bind_values"):
            ratio = min(shape[ours][tool] for shape in shapes.values())
            out[f"{tool} {ours}"] = {"least": least, "aim": aim, "measured": ratio}
    return out


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    with using_threads(1):
        shapes = {name: measured(name) for name in SHAPES}
    result = {"shapes": shapes, "verdict": verdict(shapes)}
    if asked.json:
        print(json.dumps(result))
        return 0
    for name, shape in shapes.items():
        print(f"{name}: {shape['queries']} queries, {shape['rows']} rows")
        print("  ns/row, and as a multiple of rankopt's values alone and of bind + values")
        for tool, ns in shape["ns_per_row"].items():
            pair = [shape[ours].get(tool) for ours in ("times_values", "times_bind_values")]
            times = "" if None in pair else f"{pair[0]:10.1f}{pair[1]:10.1f}"
            print(f"  {tool:24}{ns:10.1f}{times}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
