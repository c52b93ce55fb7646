"""MarginRank: quality and training time beside ridge regression and two RankSVMs, five folds.

quality       OHSUMED and MQ2008: test NDCG@1..10 by LETOR's convention, and training time, beside the ridge
              regression and RankSVM of the baselines and scikit-learn's LinearSVC on differences of pairs
extensions    the same, of section 6: kernels by a Nystroem map, rescaled slacks, other A and a learned one

Hyper-parameters are chosen on the validation part by ndcg@10. Times are CPU seconds. The sets are read
from RANKOPT_DATA.
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
POWERS = tuple(10.0**power for power in range(-5, 2))  # of l2, to choose from on validation data
FEWER = (1e-4, 1e-2, 1.0)  # where a fit takes longer, or hardly any changes anything
TIGHT = tuple(10.0**power for power in range(-3, 2))  # a pull towards the start
C = (1e-4, 1e-2, 1.0)
FOLDS = range(1, 6)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


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


Scores = Callable[[Dataset], np.ndarray]
Fit = Callable[[Dataset, Dataset], Scores]  # training and validation data to a function of scores


def ours(cls: Callable[..., Any], *, shown: bool = False, **options: Any) -> Fit:
    """A fit of one of our rankers; `shown`: it sees the validation data too."""

    def fit(train: Dataset, vali: Dataset) -> Scores:
        return cls("ndcg@10", **options).fit(train, eval_set=[vali] if shown else None).predict

    return fit


def svc(c: float) -> Fit:
    def fit(train: Dataset, vali: Dataset) -> Scores:
        D, signs = pairs(train)
        model = LinearSVC(C=c, fit_intercept=False, dual=False)
        weights = model.fit(D, signs).coef_.ravel()
        return lambda data: data.restored(Linear().scores(weights, data))

    return fit


def systems() -> dict[str, list[Fit]]:
    """Of each system a fit per hyper-parameter."""
    margin, ridge, ranksvm = rankopt.MarginRank, baselines.Ridge, baselines.RankSVM
    return {
        "ridge": [ours(ridge, l2=l2, balanced=b) for l2 in POWERS for b in (True, False)],
        "ranksvm": [ours(ranksvm, l2=l2) for l2 in POWERS],
        "LinearSVC on pairs": [svc(c) for c in C],
        "marginrank convex": [ours(margin, bound="convex", l2=l2) for l2 in FEWER],
        "marginrank tight": [ours(margin, bound="tight", l2=l2) for l2 in TIGHT],
        "marginrank tight, A learned": [
            ours(margin, bound="tight", l2=l2, position_weights="learned", shown=True)
            for l2 in TIGHT
        ],
        "marginrank tight, concave-convex": [
            ours(margin, bound="tight", solver="bundle", l2=l2) for l2 in FEWER
        ],
    }


def variants() -> dict[str, list[Fit]]:
    """What section 6 of the paper adds, each on the bound it goes with."""

    def tight(**options: Any) -> list[Fit]:
        return [ours(rankopt.MarginRank, bound="tight", l2=l2, **options) for l2 in TIGHT]

    rbf = "kernel(rbf, gamma={}, components=100)"
    return {
        "A linear": tight(),
        "A root": tight(position_weights="root"),
        "A discount": tight(position_weights="discount"),
        "A learned": tight(position_weights="learned", shown=True),
        "rbf kernel, Nystroem": [
            ours(rankopt.MarginRank, bound="tight", l2=l2, scorer=rbf.format(gamma), random_state=0)
            for gamma in (0.01, 0.1, 1.0)
            for l2 in (1e-2, 1.0)
        ],
        "rescaled slacks": [
            ours(rankopt.MarginRank, rescale="slack", l2=l2, max_iter=300) for l2 in (1e-2, 1.0)
        ],
    }


def quality(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Both bounds and others."""
    return folds(args, systems())


def extensions(args: argparse.Namespace) -> list[dict[str, Any]]:
    """The tight bound's and the convex bound's relatives."""
    return folds(args, variants())


def folds(args: argparse.Namespace, every: dict[str, list[Fit]]) -> list[dict[str, Any]]:
    """Test NDCG@1..10 by LETOR's convention, and CPU seconds per fit, as means over folds."""
    every = {name: fits for name, fits in every.items() if not args.system or name in args.system}
    measures = [f"ndcg@{k}" for k in KS]
    out: list[dict[str, Any]] = []
    for name in [args.set] if args.set else ["ohsumed", "mq2008"]:
        tables: dict[str, list[np.ndarray]] = {system: [] for system in every}
        seconds: dict[str, list[float]] = {system: [] for system in every}
        for number in FOLDS:
            parts = fold(name, number)
            for system, fits in every.items():
                best, kept, taken = -1.0, None, 0.0
                for fit in fits:
                    with Cpu() as cpu:
                        scores = fit(parts["train"], parts["vali"])
                    taken += cpu.seconds / len(fits)
                    value = mean_of(scores, parts["vali"], ["ndcg@10"])[0]
                    if value > best:
                        best, kept = value, scores
                assert kept is not None
                tables[system].append(mean_of(kept, parts["test"], measures))
                seconds[system].append(taken)
                say(f"{name} fold {number} {system}: {tables[system][-1][-1]:.4f} {taken:.2f} s")
        for system, values in tables.items():
            mean = np.mean(values, axis=0)
            row = {f"ndcg@{k}": float(v) for k, v in zip(KS, mean, strict=True)}
            fits = {"fits": len(every[system]), "cpu_per_fit": float(np.mean(seconds[system]))}
            out.append({"set": name, "system": system, **row, **fits})
    return out


def mean_of(scores: Scores, data: Dataset, measures: list[str]) -> np.ndarray:
    results = rankopt.evaluate(scores(data), data, measures, convention="letor")
    return np.array(list(results.mean.values()))


PARTS = {"quality": quality, "extensions": extensions}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--part", choices=PARTS, action="append", help="one part; may be repeated")
    parser.add_argument("--set", choices=("ohsumed", "mq2008"), help="one set alone")
    parser.add_argument("--system", nargs="+", help="some systems alone")
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore", ConvergenceWarning)
    if root() is None:
        say("needs the real sets: set RANKOPT_DATA")
        return 1
    report = {part: PARTS[part](args) for part in args.part or PARTS}
    if args.json:
        print(json.dumps(report, indent=2))
        return 0
    for part, rows in report.items():
        print(f"\n{part}")
        for row in rows:
            values = " ".join(f"{row[f'ndcg@{k}']:.4f}" for k in KS)
            print(f"  {row['set']:8s} {row['system']:34s} {values}  {row['cpu_per_fit']:.3f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
