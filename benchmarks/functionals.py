"""FunctionalRank: quadratic functionals under the filter, what they cost, and every loss and weight.

rho           the quadratic scorer on a simulated set with known products, over the filter's threshold, beside
              the linear one (the form of the paper's table 5: 519 features, 1,500 queries of 47,000 rows to
              train on); pairwise logistic loss, weighted by gains and sizes
cost          on the same rows all 134,940 products of 519 features are filtered and those that pass are
              trained on: seconds, CPU seconds, and the peak memory of the process
losses        OHSUMED and MQ2008 in five folds, linear functionals: group functionals (table 6), smoothed
              measures (table 7), weights of rows (table 8) and of pairs (table 9)

The penalty is chosen on the validation part, by NDCG@10. The real sets are read from RANKOPT_DATA and
evaluated by LETOR's convention.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sets import Cpu, fold, root
from sklearn.exceptions import ConvergenceWarning

import rankopt
from rankopt.data.dataset import Dataset
from rankopt.data.scale import scale_standard
from rankopt.scorers.products import Products

FEATURES, PRODUCTS = 519, 150
RHOS = (0.0, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12)
GRADES = (0.26, 0.62, 0.90, 0.98)  # shares of rows up to each grade, as in the Yahoo! challenge
SHARES = [1e-3, 1e-2, 1e-1, 1.0]
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


def curve(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Test measures of the linear scorer and of the quadratic one at each threshold."""
    train, known = simulated(args.queries, 1)
    valid, test = simulated(args.queries // 5, 2)[0], simulated(args.queries // 3, 3)[0]
    say(f"train {train}, valid {valid}, test {test}")
    out: list[dict[str, Any]] = []
    for rho in (None, *(args.rho or RHOS)):
        best: rankopt.FunctionalRank | None = None
        with Cpu() as cpu:
            for l2 in args.l2 or (1e-3, 1e-2, 1e-1):
                model = rankopt.FunctionalRank(
                    "linear" if rho is None else f"quadratic(rho={rho})", WEIGHTED, l2=l2, max_iter=60,
                    early_stopping_rounds=8, normalize="standard",
                ).fit(train, eval_set=[valid])  # fmt: skip
                if best is None or model.best_score_ > best.best_score_:
                    best = model
        assert best is not None
        products = getattr(best.model_.scorer, "products", None)
        pairs = () if products is None else zip(products.left, products.right, strict=True)
        measures = ["ndcg@1", "ndcg@5", "ndcg@10", "err"]
        out.append({
            "rho": rho, "features": best.model_.params.size, "known": len(known.intersection(pairs)),
            **rankopt.evaluate(best, test, measures).mean, "l2": best.l2, "cpu": cpu.seconds,
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


@dataclass(frozen=True)
class Loss:
    """A row of one of the paper's tables: which, what it says there, and the loss."""

    table: int
    row: str
    loss: str
    weight: str | None = None
    group: str | None = None

    @property
    def text(self) -> str:
        """The loss with its options, as one text spec."""
        options = {"weight": self.weight, "group": self.group}
        given = [f"{name}={value}" for name, value in options.items() if value is not None]
        name, _, inside = self.loss.removesuffix(")").partition("(")
        return f"{name}({', '.join(filter(None, (inside, *given)))})"


PAIR_LOSSES = ("quadratic", "logistic", "hinge")
OF_ROWS = ("none", "grade", "root-grade", "gain", "inverse-rank", "inverse-log-rank")
OF_PAIRS = (
    "none", "inverse-size", "grade-difference", "grade-difference-normalised",
    "gain-discount-difference-normalised", "max-ndcg", "gain-discount-difference", "gain-difference",
    "gain-difference-normalised",
)  # fmt: skip


def rows_of_tables(top: int) -> Iterator[Loss]:
    """Every row, for grades up to `top`."""
    for group in (None, "min", "max", "arithmetic", "geometric"):
        yield Loss(6, group or "each row alone", "plackett-luce", group=group)
    for loss in PAIR_LOSSES:
        yield Loss(7, f"pairwise {loss}", f"pairwise({loss})")
    for measure in ("ndcg", f"err(max_grade={top})"):
        yield Loss(7, f"smoothed {measure}", f"approx({measure}, alpha=1)")
    by_rows = {
        "WPL": f"plackett-luce(max_grade={top})",
        "RPL": f"reverse-plackett-luce(max_grade={top})",
        "WpLL": f"pseudo-likelihood(max_grade={top})",
    }
    for weight in OF_ROWS:
        for name, loss in by_rows.items():
            yield Loss(8, f"{name} {weight}", loss, weight)
    by_pairs = {loss: f"pairwise({loss}, max_grade={top})" for loss in PAIR_LOSSES}
    by_pairs["WUB"] = f"pair-upper-bound(max_grade={top})"
    for weight in OF_PAIRS:
        for name, loss in by_pairs.items():
            yield Loss(9, f"{name} {weight}", loss, weight)


def losses(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Test ERR and NDCG@1/5/10 of every loss and weight, as means over the five folds."""
    out: list[dict[str, Any]] = []
    for name in [args.set] if args.set else ["ohsumed", "mq2008"]:
        folds = [fold(name, number) for number in args.folds]
        top = int(max(part.labels.max() for parts in folds for part in parts.values()))
        for row in rows_of_tables(top):
            if args.table not in (None, row.table):
                continue
            with Cpu() as cpu:
                values = [on_fold(row, parts, top, args.l2 or SHARES) for parts in folds]
            mean = {k: float(np.mean([v[k] for v in values])) for k in values[0]}
            out.append(
                {"set": name, "table": row.table, "row": row.row, **mean, "cpu": cpu.seconds}
            )
            say(str(out[-1]))
    return out


def on_fold(
    row: Loss, parts: dict[str, Dataset], top: int, shares: list[float]
) -> dict[str, float]:
    """Test measures with the penalty that does best on the validation part."""
    train, unit = parts["train"], unit_of_penalty(row, parts["train"])
    settings: dict[str, Any] = {"weight": row.weight, "group": row.group, "normalize": "standard"}
    settings |= {"measure": "ndcg@10", "max_iter": 60, "tol": 1e-4}
    if row.table == 6:  # the largest and the smallest score have no slope where all tie
        settings["start"] = "ridge"
    reached, best = -1.0, None
    for share in shares:
        model = rankopt.FunctionalRank(loss=row.loss, l2=share * unit, **settings)
        value = model.fit(train).score(parts["vali"])
        if value > reached:
            reached, best = value, model
    assert best is not None
    measures = ["ndcg@1", "ndcg@5", "ndcg@10", f"err(max_grade={top})"]
    found = rankopt.evaluate(best, parts["test"], measures, convention="letor").mean
    return {key.partition("(")[0]: value for key, value in found.items()}


def unit_of_penalty(row: Loss, train: Dataset) -> float:
    """What a penalty of 1 stands for: the squared slope by the weights at zero, over the loss there.

    Weights and couplings put the losses on scales that differ a thousandfold. This is multiplied by what
    the loss is multiplied by, and by the square of what scores are multiplied by, as the penalty must be.
    """
    query = train.groups.spread(np.arange(train.groups.n_queries))
    value, by_scores = rankopt.value_grad(row.text, np.zeros(train.n_rows), train.labels, query)
    slope = scale_standard(train)[0].X.T @ by_scores
    return float(slope @ slope) / value


PARTS = {"rho": curve, "cost": cost, "losses": losses}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--part", choices=PARTS, action="append", help="one part; may be repeated")
    parser.add_argument("--queries", type=int, default=1500, help="of the simulated training set")
    parser.add_argument("--rho", type=float, nargs="+", help="other thresholds of the filter")
    parser.add_argument("--set", choices=("ohsumed", "mq2008"), help="of the losses, one set alone")
    parser.add_argument("--table", type=int, choices=(6, 7, 8, 9), help="of the losses, one table")
    parser.add_argument("--folds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument(
        "--l2", type=float, nargs="+", help="other penalties; shares, of the losses"
    )
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore", ConvergenceWarning)
    asked = args.part or list(PARTS)
    if root() is None and "losses" in asked:
        say("the losses need the real sets: set RANKOPT_DATA")
        asked = [part for part in asked if part != "losses"]
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
