"""FunctionalRank: quadratic functionals under the filter, and what they cost.

rho           the quadratic scorer on a simulated set with known products, over the filter's threshold, beside
              the linear one (the form of the paper's table 5: 519 features, 1,500 queries of 47,000 rows to
              train on); pairwise logistic loss, weighted by gains and sizes
real          the same curve on OHSUMED and MQ2008, read from RANKOPT_DATA, in five folds
cost          on the same rows all 134,940 products of 519 features are filtered and those that pass are
              trained on: seconds, CPU seconds, and the peak memory of the process

The penalty is chosen on the validation part, by NDCG@10.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
import warnings
from typing import Any

import numpy as np
from sets import FOLDERS, Cpu, fold, root
from sklearn.exceptions import ConvergenceWarning

import rankopt
from rankopt.data.dataset import Dataset
from rankopt.scorers.products import Products

FEATURES, PRODUCTS = 519, 150
MEASURES = ["ndcg@1", "ndcg@5", "ndcg@10", "err"]
PENALTIES = [1e-3, 1e-2, 1e-1]
REAL_RHOS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
RHOS = (0.0, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12)
GRADES = (0.26, 0.62, 0.90, 0.98)  # shares of rows up to each grade, as in the Yahoo! challenge
WEIGHTED = "pairwise(logistic, weight=gain-difference-normalised)"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def simulated(n_queries: int, seed: int) -> tuple[Dataset, set[tuple[int, int]]]:
    """Rows whose usefulness is linear, plus a sum of products, plus noise; and these products.

    Features come in groups that share a factor, as formulas of one text do; a third of them is skewed.
    What is useful is the same for every seed; the rows are not.
    """
    fixed = np.random.default_rng(0)
    weights = fixed.normal(size=FEATURES) * (fixed.random(FEATURES) < 0.3)
    pairs = np.sort(fixed.integers(0, FEATURES, (PRODUCTS, 2)), axis=1)
    of_pairs = fixed.normal(size=PRODUCTS)
    factor, loading = fixed.integers(0, 40, FEATURES), fixed.uniform(0.2, 0.8, FEATURES)
    rng = np.random.default_rng(seed)
    sizes = rng.integers(16, 48, n_queries)
    rows = int(sizes.sum())
    X = rng.normal(size=(rows, 40))[:, factor] * loading
    X += rng.normal(size=(rows, FEATURES)) * np.sqrt(1.0 - loading**2)
    X[:, ::3] = np.exp(0.5 * X[:, ::3])
    away = (X - X.mean(axis=0)) / X.std(axis=0)
    products = (away[:, pairs[:, 0]] * away[:, pairs[:, 1]]) @ of_pairs
    useful = unit(away @ weights) + 0.7 * unit(products) + 1.2 * rng.normal(size=rows)
    useful += 0.5 * np.repeat(rng.normal(size=n_queries), sizes)
    y = np.searchsorted(np.quantile(useful, GRADES), useful)
    found = {(int(i), int(j)) for i, j in pairs}
    return rankopt.dataset(X.astype(np.float32), y, group=sizes), found


def unit(values: np.ndarray) -> np.ndarray:
    return values / values.std()


def chosen(rho: float | None, train: Dataset, valid: Dataset, penalties: list[float]) -> Any:
    """The linear functional, or the quadratic one at a threshold, that does best on validation data."""
    best: Any = None
    for l2 in penalties:
        model = rankopt.FunctionalRank(
            "linear" if rho is None else f"quadratic(rho={rho})", WEIGHTED, l2=l2, max_iter=60,
            early_stopping_rounds=8, normalize="standard",
        ).fit(train, eval_set=[valid])  # fmt: skip
        if best is None or model.best_score_ > best.best_score_:
            best = model
    return best


def curve(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Test measures of the linear scorer and of the quadratic one at each threshold."""
    train, known = simulated(args.queries, 1)
    valid, test = simulated(args.queries // 5, 2)[0], simulated(args.queries // 3, 3)[0]
    say(f"train {train}, valid {valid}, test {test}")
    out: list[dict[str, Any]] = []
    for rho in (None, *(args.rho or RHOS)):
        with Cpu() as cpu:
            best = chosen(rho, train, valid, args.l2 or PENALTIES)
        products = getattr(best.model_.scorer, "products", None)
        pairs = () if products is None else zip(products.left, products.right, strict=True)
        out.append({
            "rho": rho, "features": best.model_.params.size, "known": len(known.intersection(pairs)),
            **rankopt.evaluate(best, test, MEASURES).mean, "l2": best.l2, "cpu": cpu.seconds,
        })  # fmt: skip
        say(str(out[-1]))
    return out


def real(args: argparse.Namespace) -> list[dict[str, Any]]:
    """The same on real sets, as means over five folds, by LETOR's convention."""
    if root() is None:
        say("the real sets: set RANKOPT_DATA")
        return []
    out: list[dict[str, Any]] = []
    for name in FOLDERS:
        folds = [fold(name, number) for number in range(1, 6)]
        for rho in (None, *(args.rho or REAL_RHOS)):
            models = [chosen(rho, f["train"], f["vali"], args.l2 or PENALTIES) for f in folds]
            found = [
                rankopt.evaluate(model, f["test"], MEASURES, convention="letor").mean
                for model, f in zip(models, folds, strict=True)
            ]
            out.append({
                "set": name, "rho": rho,
                "features": float(np.mean([model.model_.params.size for model in models])),
                **{key: float(np.mean([values[key] for values in found])) for key in MEASURES},
            })  # fmt: skip
            say(str(out[-1]))
    return out


def cost(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Filtering all products and training on those that pass, from the data in memory on."""
    data, _ = simulated(args.queries, 1)
    out: list[dict[str, Any]] = []
    for rho in args.rho or (0.02, 0.0):
        with Wall() as wall, Cpu() as cpu:
            Products.chosen(data, rho)
        filtered = wall.seconds, cpu.seconds
        with Wall() as wall, Cpu() as cpu:
            model = rankopt.FunctionalRank(
                f"quadratic(rho={rho})", WEIGHTED, l2=1e-2, max_iter=60, normalize="standard"
            ).fit(data)
        out.append({
            "rho": rho, "rows": data.n_rows, "candidates": FEATURES * (FEATURES + 1) // 2,
            "parameters": model.model_.params.size, "filter_seconds": filtered[0],
            "filter_cpu": filtered[1], "fit_seconds": wall.seconds, "fit_cpu": cpu.seconds,
            "n_iter": model.n_iter_, "status": model.status_, "peak_gib": peak(),
        })  # fmt: skip
        say(str(out[-1]))
    return out


class Wall:
    """Seconds of a block."""

    def __enter__(self) -> Wall:
        self.began = time.perf_counter()
        self.seconds = 0.0
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = time.perf_counter() - self.began


def peak() -> float:
    """The largest memory that the process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


PARTS = {"rho": curve, "real": real, "cost": cost}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--part", choices=PARTS, action="append", help="one part; may be repeated")
    parser.add_argument("--queries", type=int, default=1500, help="of the simulated training set")
    parser.add_argument("--rho", type=float, nargs="+", help="other thresholds of the filter")
    parser.add_argument("--l2", type=float, nargs="+", help="other penalties")
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore", ConvergenceWarning)
    report = {part: PARTS[part](args) for part in args.part or PARTS}
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
