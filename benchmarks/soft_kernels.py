"""ApproxNDCG and SmoothNDCG@10, value and gradient, against the same formulas with ``np.exp``.

    python benchmarks/soft_kernels.py [--json]

One process, one thread, CPU nanoseconds, the best of several runs, on simulated sets of the shapes of
MSLR-WEB, Yahoo and Gov. Everybody has labels and scores as arrays and gives the mean loss and its
gradient, and all of them must agree.

``approx(ndcg)``, per ordered pair of rows of a query:

* numpy: one broadcast of all pairs per query
* np.exp: two loops over all pairs in Numba, one for the ranks and one for the gradient
* np.exp, kept: the second loop reads what the first one has kept
* np.exp, kept, gains: and only rows with a gain are given a rank, as rankopt does

``smooth(ndcg@10)``, per row, the O(m k) form in Numba:

* sort, np.exp: rows sorted by score, exponentials by ``np.exp`` and kept for the gradient
* np.exp, ranked alike: the rows at the first ten ranks are found by rankopt's own kernel
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit
from sets import cpu_time

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.data.simulate import simulate
from rankopt.kernels.leaders import leaders
from rankopt.measures import as_measure
from rankopt.objectives import OBJECTIVES
from rankopt.threads import using_threads

ALPHA, SIGMA, K = 10.0, 1.0, 10
SHAPES = {"mslr_like": 0.25, "yahoo_like": 0.4, "gov_like": 0.4}
# What must show at least, and what is aimed at, against each baseline.
BOUNDS = {"np.exp": (8.0, 20.0), "numpy": (30.0, 30.0), "sort, np.exp": (5.0, 5.0)}

Answer = tuple[float, Floats]


def numpy_broadcast(s: Floats, weights: Floats, offsets: np.ndarray) -> Answer:
    """`weights` are gains divided by the ideal and by the number of queries."""
    value, grad = 1.0, np.empty_like(s)
    for a, b in pairwise(offsets):
        x, w = s[a:b], weights[a:b]
        t = 1.0 / (1.0 + np.exp(ALPHA * (x[:, None] - x[None, :])))
        ranks = 0.5 + t.sum(axis=1)
        logs = np.log2(1.0 + ranks)
        value -= w @ (1.0 / logs)
        pull = (w / (np.log(2.0) * (1.0 + ranks) * logs**2))[:, None] * (t * (1.0 - t))
        grad[a:b] = ALPHA * (pull.sum(axis=0) - pull.sum(axis=1))
    return value, grad


@njit(cache=True, nogil=True, error_model="numpy")
def exp_twice(s, weights, offsets, alpha):
    """Every pair is given an exponential in each of the two loops."""
    value, grad = 1.0, np.zeros(s.size)
    for q in range(offsets.size - 1):
        for i in range(offsets[q], offsets[q + 1]):
            rank = 0.5
            for j in range(offsets[q], offsets[q + 1]):
                rank += 1.0 / (1.0 + np.exp(alpha * (s[i] - s[j])))
            logs = np.log2(1.0 + rank)
            value -= weights[i] / logs
            by_rank = alpha * weights[i] / (np.log(2.0) * (1.0 + rank) * logs * logs)
            for j in range(offsets[q], offsets[q + 1]):
                t = 1.0 / (1.0 + np.exp(alpha * (s[i] - s[j])))
                change = by_rank * t * (1.0 - t)
                grad[j] += change
                grad[i] -= change
    return value, grad


@njit(cache=True, nogil=True, error_model="numpy")
def exp_kept(s, weights, offsets, alpha, gains_alone):
    """One exponential per pair; with `gains_alone` rows of weight 0 are passed over."""
    value, grad = 1.0, np.zeros(s.size)
    kept = np.empty(np.max(np.diff(offsets)))
    for q in range(offsets.size - 1):
        first, last = offsets[q], offsets[q + 1]
        for i in range(first, last):
            if gains_alone and weights[i] == 0.0:
                continue
            rank = 0.5
            for j in range(first, last):
                t = 1.0 / (1.0 + np.exp(alpha * (s[i] - s[j])))
                kept[j - first] = t
                rank += t
            logs = np.log2(1.0 + rank)
            value -= weights[i] / logs
            by_rank = alpha * weights[i] / (np.log(2.0) * (1.0 + rank) * logs * logs)
            total = 0.0
            for j in range(first, last):
                t = kept[j - first]
                change = by_rank * t * (1.0 - t)
                grad[j] += change
                total += change
            grad[i] -= total
    return value, grad


@njit(cache=True, nogil=True, error_model="numpy")
def smooth_exp(s, weights, offsets, table, sigma, sort):
    """SmoothNDCG@k with ``np.exp``; `table` holds the discounts of the first k ranks.

    `s` ends with 8 spare elements. The first rows are found by a sort or else by rankopt's kernel.
    """
    value, grad = 1.0, np.zeros(s.size - 8)
    longest = np.max(np.diff(offsets))
    e, order = np.empty((table.size, longest)), np.empty((3, longest + 8), np.int64)
    found = np.empty(longest + 8)
    for q in range(offsets.size - 1):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        x, w = s[first : first + size], weights[first : first + size]
        depth = min(table.size, size)
        if sort:
            order[0, :size] = np.argsort(-x)
        else:
            leaders(s, first, size, depth, order[0], order[1], order[2], found)
        for j in range(depth):
            centre, mass, mean = x[order[0, j]], 0.0, 0.0
            for i in range(size):
                e[j, i] = np.exp(-((x[i] - centre) ** 2) / sigma)
                mass += e[j, i]
                mean += w[i] * e[j, i]
            mean /= mass
            value -= table[j] * mean
            factor, total = 2.0 * table[j] / (sigma * mass), 0.0
            for i in range(size):
                change = factor * e[j, i] * (x[i] - centre) * (w[i] - mean)
                grad[first + i] += change
                total += change
            grad[first + order[0, j]] -= total
    return value, grad


def timed(tasks: dict[str, Callable[[], Answer]], units: int) -> dict[str, float]:
    """CPU nanoseconds per unit of each task; all must give what the first one gives."""
    out: dict[str, float] = {}
    expected: Answer | None = None
    for name, task in tasks.items():
        seconds, answer = cpu_time(task)
        expected = expected or answer
        np.testing.assert_allclose(answer[0], expected[0], rtol=1e-9)
        np.testing.assert_allclose(answer[1], expected[1], rtol=1e-6, atol=1e-13)
        out[name] = 1e9 * seconds / units
    return out


def problem(shape: str) -> tuple[Dataset, Floats]:
    """A set, and scores that know something of its labels."""
    data = simulate(shape, seed=1, scale=SHAPES[shape])
    return data, 0.3 * data.labels + np.random.default_rng(0).normal(size=data.n_rows)


def row(objective: str, shape: str) -> dict[str, Any]:
    data, s = problem(shape)
    loss = OBJECTIVES.build(objective)
    bound = loss.bind(data.labels, data.groups)
    measure = as_measure(loss.measure).bind(data.labels, data.groups)  # pyright: ignore[reportAttributeAccessIssue]
    offsets, sizes = data.groups.offsets, data.groups.sizes
    weights = measure.gains * data.groups.spread(1.0 / (measure.norms * sizes.size))
    tasks: dict[str, Callable[[], Answer]] = {"rankopt": lambda: bound.value_grad(s)}
    if objective.startswith("approx"):
        units = int((sizes**2).sum())
        tasks["numpy"] = lambda: numpy_broadcast(s, weights, offsets)
        tasks["np.exp"] = lambda: exp_twice(s, weights, offsets, ALPHA)
        tasks["np.exp, kept"] = lambda: exp_kept(s, weights, offsets, ALPHA, False)
        tasks["np.exp, kept, gains"] = lambda: exp_kept(s, weights, offsets, ALPHA, True)
    else:
        units = data.n_rows
        table = measure.table[:K]
        longer = np.append(s, np.zeros(8))
        tasks["sort, np.exp"] = lambda: smooth_exp(longer, weights, offsets, table, SIGMA, True)
        tasks["np.exp, ranked alike"] = lambda: smooth_exp(
            longer, weights, offsets, table, SIGMA, False
        )
    took = timed(tasks, units)
    ratios = {name: ns / took["rankopt"] for name, ns in took.items() if name != "rankopt"}
    met = {name: ratios[name] >= bound for name, (bound, _) in BOUNDS.items() if name in ratios}
    return {"objective": objective, "shape": shape, "ns": took, "ratio": ratios, "met": met}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(argv)
    rows: list[dict[str, Any]] = []
    with using_threads(1):
        for objective in (f"approx(ndcg, alpha={ALPHA:g})", f"smooth(ndcg@{K}, sigma={SIGMA:g})"):
            for shape in SHAPES:
                rows.append(row(objective, shape))
                times = "  ".join(f"{k} {v:.2f}" for k, v in rows[-1]["ns"].items())
                ratios = "  ".join(f"{v:.1f} x {k}" for k, v in rows[-1]["ratio"].items())
                print(f"{objective:24} {shape:11} ns: {times} | {ratios}", file=sys.stderr)
    if options.json:
        print(json.dumps({"rows": rows, "bounds": BOUNDS}))
    return 0 if all(all(row["met"].values()) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
