"""MarginRank: its certificate, the collapse of the convex bound, and quality and time beside others.

certificate   the gap over a range of l2 on fold 1 of MQ2008, and on a simulated set of the size of the
              paper's first one (1,500 queries, 50,000 rows, 300 features; 15 minutes there)
collapse      on OHSUMED the convex bound is no lower than at w = 0; the tight one is (section 5.3)
quality       five folds of OHSUMED and MQ2008: test NDCG@1..10 by LETOR's convention, and training time,
              beside the ridge regression and RankSVM of the baselines and scikit-learn's LinearSVC on
              differences of pairs

Hyper-parameters are chosen on the validation part by ndcg@10. Times are CPU seconds. The real sets are
read from RANKOPT_DATA.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sets import Cpu, fold, root
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import rankopt
from rankopt import baselines
from rankopt.data.dataset import Dataset
from rankopt.scorers import Linear

KS = tuple(range(1, 11))
RANGE = tuple(10.0**power for power in range(-6, 3))  # of l2, for the certificates
POWERS = tuple(10.0**power for power in range(-5, 2))  # of l2, to choose from on validation data
FEWER = (1e-4, 1e-2, 1.0)  # where a fit takes longer, or hardly any changes anything
C = (1e-4, 1e-2, 1.0)
FOLDS = range(1, 6)


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
                "bound": bound, "l2": l2, "value": model.objective_, "at_zero": blank[0],
                "norm": float(np.linalg.norm(model.coef_)), "train": model.score(data),
            })  # fmt: skip
            say(str(out[-1]))
    return out


def data_qid(data: Dataset) -> Any:
    return data.groups.spread(np.arange(data.groups.n_queries))


def pairs(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Differences of all pairs of unequal grade in a query, every other one turned round."""
    differences: list[np.ndarray] = []
    X = np.asarray(data.X, np.float64)
    for a, b in zip(data.groups.offsets[:-1], data.groups.offsets[1:], strict=True):
        i, j = np.nonzero(data.labels[a:b, None] > data.labels[None, a:b])
        differences.append(X[a + i] - X[a + j])
    D = np.concatenate(differences)
    signs = np.where(np.arange(len(D)) % 2, -1.0, 1.0)
    return D * signs[:, None], signs


Fit = Callable[[Dataset], np.ndarray]


def systems(asked: str | None) -> dict[str, list[Fit]]:
    """Of each system a fit per hyper-parameter."""
    Ranker = Callable[..., Any]

    def ours(cls: Ranker, **options: Any) -> Fit:
        return lambda data: cls("ndcg@10", **options).fit(data).coef_

    def svc(c: float) -> Fit:
        def fit(data: Dataset) -> np.ndarray:
            D, signs = pairs(data)
            model = LinearSVC(C=c, fit_intercept=False, dual=False)
            return model.fit(D, signs).coef_.ravel()

        return fit

    margin, ridge, ranksvm = rankopt.MarginRank, baselines.Ridge, baselines.RankSVM
    every: dict[str, list[Fit]] = {
        "ridge": [ours(ridge, l2=l2, balanced=b) for l2 in POWERS for b in (True, False)],
        "ranksvm": [ours(ranksvm, l2=l2) for l2 in POWERS],
        "LinearSVC on pairs": [svc(c) for c in C],
        "marginrank convex": [ours(margin, bound="convex", l2=l2) for l2 in FEWER],
        "marginrank tight": [ours(margin, bound="tight", l2=l2) for l2 in POWERS],
        "marginrank tight, concave-convex": [
            ours(margin, bound="tight", solver="bundle", l2=l2) for l2 in FEWER
        ],
    }
    return {name: fits for name, fits in every.items() if asked is None or asked in name}


def quality(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Test NDCG@1..10 by LETOR's convention, and CPU seconds per fit, as means over folds."""
    measures = [f"ndcg@{k}" for k in KS]
    out: list[dict[str, Any]] = []
    for name in [args.set] if args.set else ["ohsumed", "mq2008"]:
        every = systems(args.system)
        tables: dict[str, list[np.ndarray]] = {system: [] for system in every}
        seconds: dict[str, list[float]] = {system: [] for system in every}
        for number in FOLDS:
            parts = fold(name, number)
            for system, fits in every.items():
                best, kept, taken = -1.0, np.empty(0), 0.0
                for fit in fits:
                    with Cpu() as cpu:
                        weights = fit(parts["train"])
                    taken += cpu.seconds / len(fits)
                    value = mean_of(weights, parts["vali"], ["ndcg@10"], "letor")[0]
                    if value > best:
                        best, kept = value, weights
                tables[system].append(mean_of(kept, parts["test"], measures, "letor"))
                seconds[system].append(taken)
                say(f"{name} fold {number} {system}: {tables[system][-1][-1]:.4f} {taken:.2f} s")
        for system, values in tables.items():
            mean = np.mean(values, axis=0)
            row = {f"ndcg@{k}": float(v) for k, v in zip(KS, mean, strict=True)}
            fits = {"fits": len(every[system]), "cpu_per_fit": float(np.mean(seconds[system]))}
            out.append({"set": name, "system": system, **row, **fits})
    return out


def mean_of(
    weights: np.ndarray, data: Dataset, measures: list[str], convention: str | None = None
) -> np.ndarray:
    scores = data.restored(Linear().scores(weights, data))
    extra = {} if convention is None else {"convention": convention}
    results = rankopt.evaluate(scores, data, measures, **extra)
    return np.array(list(results.mean.values()))


PARTS = {"certificate": certificate, "collapse": collapse, "quality": quality}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--part", choices=PARTS, action="append", help="one part; may be repeated")
    parser.add_argument("--set", choices=("ohsumed", "mq2008", "simulated"), help="one set alone")
    parser.add_argument("--system", help="of the quality, systems whose name holds this")
    parser.add_argument("--solver", default="auto", help="of the certificate")
    parser.add_argument("--l2", type=float, nargs="+", help="other strengths of the penalty")
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore", ConvergenceWarning)
    asked = args.part or list(PARTS)
    if root() is None:
        say("collapse and quality need the real sets: set RANKOPT_DATA")
        asked = [part for part in asked if part == "certificate"]
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
