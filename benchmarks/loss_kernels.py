"""Value and gradient of FunctionalRank's losses beside the same formulas as NumPy broadcasts, query by query.

One thread, CPU time, the least of several runs. Queries of 20, 100 and 500 rows, grades 0 to 4.
What takes O(m log m) or O(m) is told by its nanoseconds a row, which then stay as queries grow.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import rankopt
from rankopt.arrays import Floats
from rankopt.data.groups import Groups
from rankopt.objectives import OBJECTIVES, Sloped
from rankopt.threads import using_threads

SIZES = {20: 5000, 100: 1000, 500: 60}  # rows of a query, and queries
TOP = 4
Baseline = Callable[[Floats, Floats], tuple[float, Floats]]


def of_pairs(value: Callable[[Floats], Floats], slope: Callable[[Floats], Floats]) -> Baseline:
    """A sum over the pairs of unequal grade."""

    def run(y: Floats, s: Floats) -> tuple[float, Floats]:
        counted = y[:, None] > y[None, :]
        margins = s[:, None] - s[None, :]
        slopes = np.where(counted, slope(margins), 0.0)
        return value(margins)[counted].sum(), slopes.sum(axis=1) - slopes.sum(axis=0)

    return run


def plackett_luce(y: Floats, s: Floats) -> tuple[float, Floats]:
    """Each row chosen from those of its grade and of lower ones; the lowest grade is not chosen."""
    below = y[None, :] <= y[:, None]
    chosen = y > y.min()
    powers = np.where(below, np.exp(s - s.max())[None, :], 0.0)
    shares = powers / powers.sum(axis=1, keepdims=True)
    loss = (np.log(powers.sum(axis=1)) + s.max() - s)[chosen].sum()
    return loss, shares[chosen].sum(axis=0) - chosen


def pseudo_likelihood(y: Floats, s: Floats) -> tuple[float, Floats]:
    """Each grade given the others, in the field of grades 0 to 4."""
    m, gamma = y.size, 2.0 / (y.size * (y.size - 1.0))
    grades = np.arange(TOP + 1.0)
    signs = np.sign(grades[:, None] - y[None, :])
    powers = gamma * (s[:, None] * signs.sum(axis=1)[None, :] - (signs @ s)[None, :])
    log_mass = np.log(np.exp(powers - powers.max(axis=1, keepdims=True)).sum(axis=1))
    own = y.astype(int)
    logs = powers - (powers.max(axis=1) + log_mass)[:, None]
    change = np.exp(logs)
    change[np.arange(m), own] -= 1.0
    grad = gamma * (change @ signs.sum(axis=1) - change.sum(axis=0) @ signs)
    return -logs[np.arange(m), own].sum(), grad


def pair_upper_bound(y: Floats, s: Floats) -> tuple[float, Floats]:
    """Two grades at a time, in the same field."""
    gamma, n = 2.0 / (y.size * (y.size - 1.0)), TOP + 1.0
    d = gamma * (s[:, None] - s[None, :])
    mass = n + 0.5 * n * (n - 1.0) * (np.exp(d) + np.exp(-d))
    signs = np.sign(y[:, None] - y[None, :])
    slopes = gamma * (0.5 * n * (n - 1.0) * (np.exp(d) - np.exp(-d)) / mass - signs)
    above = np.triu(np.ones(d.shape, bool), 1)
    return (np.log(mass) - signs * d)[above].sum(), slopes.sum(axis=1)


LOSSES: dict[str, Baseline] = {
    "pairwise(logistic)": of_pairs(
        lambda u: np.logaddexp(0.0, -u), lambda u: -1.0 / (1.0 + np.exp(u))
    ),
    "pairwise(hinge)": of_pairs(lambda u: np.maximum(0.0, 1.0 - u), lambda u: -1.0 * (u < 1.0)),
    "pairwise(quadratic)": of_pairs(lambda u: (1.0 - u) ** 2, lambda u: -2.0 * (1.0 - u)),
    "pairwise(exponential)": of_pairs(lambda u: np.exp(-u), lambda u: -np.exp(-u)),
    "plackett-luce": plackett_luce,
    "pseudo-likelihood": pseudo_likelihood,
    "pair-upper-bound": pair_upper_bound,
}


def least(run: Callable[[], Any], times: int) -> float:
    """CPU seconds of the fastest of several runs, after one to warm up."""
    run()
    seconds: list[float] = []
    for _ in range(times):
        began = time.process_time()
        run()
        seconds.append(time.process_time() - began)
    return min(seconds)


def measured(text: str, size: int, n_queries: int, times: int) -> dict[str, Any]:
    """Nanoseconds a row of kernel and baseline, and how far their gradients are apart."""
    rng = np.random.default_rng(size)
    y = rng.choice(5, size * n_queries, p=[0.5, 0.25, 0.15, 0.07, 0.03]).astype(float)
    s = rng.normal(size=y.size)
    bound = OBJECTIVES.build(text).bind(y, Groups.from_sizes(np.full(n_queries, size)))
    assert isinstance(bound, Sloped)
    few = min(n_queries, 50)
    _, grad = bound.value_grad(s)

    def broadcast() -> Floats:
        parts = [
            LOSSES[text](y[a : a + size], s[a : a + size])[1] for a in range(0, few * size, size)
        ]
        return np.concatenate(parts) / n_queries

    apart = np.abs(broadcast() - grad[: few * size]).max() / np.abs(grad).max()
    ours = least(lambda: bound.value_grad(s), times) / y.size
    numpy = least(broadcast, times) / (few * size)
    return {
        "loss": text, "rows": size, "ns_per_row": 1e9 * ours, "numpy_ns_per_row": 1e9 * numpy,
        "ratio": numpy / ours, "apart": float(apart),
    }  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--times", type=int, default=5, help="runs, of which the least counts")
    args = parser.parse_args(argv)
    rows: list[dict[str, Any]] = []
    with using_threads(1):
        for text in LOSSES:
            for size, n_queries in SIZES.items():
                rows.append(measured(text, size, n_queries, args.times))
                print(rows[-1], file=sys.stderr, flush=True)
    if args.json:
        print(json.dumps({"rankopt": rankopt.__version__, "rows": rows}, indent=2))
        return 0
    for row in rows:
        print(
            "  ".join(
                f"{k} {v:.3g}" if isinstance(v, float) else f"{v:>22}" for k, v in row.items()
            )
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
