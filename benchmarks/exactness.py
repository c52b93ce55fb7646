"""How often the exact line search is wrong: random problems against brute force, and real trainings.

    python benchmarks/exactness.py [--cases 5000] [--json]

``oracle``: tie-rich random problems (small integers, quarters, duplicate rows, constant columns,
queries of one row, blank queries, weights of queries), over all measures that have a line search and
whole lines as well as bounds. The oracle crosses every pair of rows, evaluates the measure by its
textbook definition inside every interval, and takes the best. An optimum is wrong if its value differs,
if its interval is none of those between crossings, or if no point of it attains the value.

``training``: DirectRank's climb on each fold of the real sets (RANKOPT_DATA); the total that a search
predicts for each accepted step is held against a fresh evaluation of the new scores, as integers.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sets import FOLDERS, fold, root

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.oracles import naive, ranking
from tests.search.test_brute_force import MEASURES, crossings, inside, problem

import rankopt
from rankopt.measures import as_measure
from rankopt.search.engine import Engine
from rankopt.search.fixedpoint import FixedPoint
from rankopt.solvers.coordinate import Lines
from rankopt.solvers.starts import ridge


def textbook(
    measure: Any, y: np.ndarray, qid: np.ndarray, scores: np.ndarray, weights: np.ndarray
) -> float:
    """The weighted mean of a measure, from its definition, ties pessimistic."""
    total = 0.0
    for q, weight in enumerate(weights):
        labels, s = y[qid == q].tolist(), scores[qid == q].tolist()
        total += weight * naive(measure, [labels[i] for i in ranking(labels, s, "pessimistic")])
    return total / float(weights.sum())


def fault(case: int) -> str | None:
    """What is wrong with the optimum of a case, or None."""
    rng = np.random.default_rng(1_000_000 + case)
    text = MEASURES[case % len(MEASURES)]
    measure = as_measure(text)
    y, qid, scores, slopes, (lo, hi) = problem(rng)
    weights = rng.integers(1, 4, int(qid.max()) + 1).astype(float)
    exact = slopes.astype(np.float64)
    edges = [lo, *crossings(scores, exact, qid, lo, hi), hi]
    best = max(
        textbook(measure, y, qid, scores + inside(a, b) * exact, weights)
        for a, b in pairwise(edges)
    )
    found = rankopt.line_search(scores, slopes, y, qid, text, (lo, hi), query_weight=weights)
    if abs(found.value - best) > 1e-9:
        return f"value {found.value}, but {best} is attained"
    if found.lo not in edges or found.hi not in edges:
        return f"({found.lo}, {found.hi}) does not end at crossings"
    reached = max(textbook(measure, y, qid, scores + t * exact, weights) for t in found.points)
    return None if abs(reached - best) <= 1e-9 else f"no point attains {best}"


def oracle(cases: int) -> dict[str, Any]:
    faults: list[str] = []
    for case in range(cases):
        found = fault(case)
        if found is not None:
            faults.append(f"case {case}, {MEASURES[case % len(MEASURES)]}: {found}")
            print(faults[-1], file=sys.stderr)
    return {"cases": cases, "measures": len(MEASURES), "wrong": len(faults), "faults": faults}


def training(texts: Sequence[str], rounds: int) -> list[dict[str, Any]]:
    """Accepted steps, and how many of them a fresh evaluation contradicts."""
    rows = []
    for name in FOLDERS:
        for text in texts:
            steps = differing = below = 0
            for number in range(1, 6):
                counts = _climb(fold(name, number)["train"], text, rounds)
                steps, differing, below = (
                    a + b for a, b in zip((steps, differing, below), counts, strict=True)
                )
            rows.append(
                {
                    "set": name,
                    "measure": text,
                    "steps": steps,
                    "differing": differing,
                    "ties": below,
                }
            )
            print(rows[-1], file=sys.stderr)
    return rows


def _climb(data: Any, text: str, rounds: int) -> tuple[int, int, int]:
    """Cyclic rounds; steps, those of which the evaluation is not the prediction, and those tried at a
    tie, where the point inside the interval misses it and another one is taken."""
    bound = as_measure(text).bind(data.labels, data.groups)
    target = FixedPoint.of(bound)
    lines = Lines.of(data, bound)
    engine = Engine(target, lines.scores(ridge(data, bound.gains)))
    steps = differing = ties = 0
    for _ in range(rounds):
        before = steps
        for column in lines.columns:
            found = engine.search(column)
            if found.total <= engine.total:
                continue
            for t in found.points:
                fresh = target.total(engine.scores + t * column.astype(np.float64))
                if fresh == found.total:
                    break
                ties += 1
            steps += 1
            accepted = engine.step(column, t)
            differing += not accepted or engine.total != found.total or fresh != found.total
        if steps == before:
            break
    return steps, differing, ties


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--part", choices=("oracle", "training", "all"), default="all")
    asked = parser.parse_args(argv)
    out: dict[str, Any] = {}
    if asked.part != "training":
        out["oracle"] = oracle(asked.cases)
    if asked.part != "oracle" and root() is not None:
        out["training"] = training(("ndcg@10", "map", "err@10"), asked.rounds)
    print(json.dumps(out) if asked.json else json.dumps(out, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
