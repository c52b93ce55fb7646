"""ApproxRank and SmoothRank on real and simulated sets: test measures, training cut-offs, the exact finish.

cutoffs   SmoothRank on OHSUMED in five folds, trained for NDCG@1, 5, 10 and 50 (tables 2 and 3 of its paper):
          the penalty of the paper's grid is chosen on the validation part by the measure trained for, and the
          last level of the annealing is kept. The loss has many minima, and rounding decides between them:
          figures are means over turns whose starts differ in the sixth digit, and told of each turn
systems   ApproxAP and ApproxNDCG (grids of the paper, the best of all iterations on the validation part)
          beside SmoothNDCG, ridge regression and DirectRank, on MQ2008, OHSUMED and a simulated set with the
          shape of LETOR's Gov sets: 75 queries of 1,000 rows, 1 to 10 of them relevant
polish    what the exact line search of NDCG@10 adds to both on training, validation and test parts

Test means are over all queries of the five test parts, with 95 % bootstrap intervals, and by LETOR's
convention on the real sets, which are read from RANKOPT_DATA.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sets import Cpu, fold, root
from sklearn.exceptions import ConvergenceWarning

import rankopt
from rankopt.arrays import Floats
from rankopt.baselines import Ridge
from rankopt.data.dataset import Dataset
from rankopt.data.simulate import simulate
from rankopt.evaluation.intervals import bootstrap_interval, p_value
from rankopt.threads import using_threads

FIGURES = ["ndcg@1", "ndcg@5", "ndcg@10", "map"]
LAMBDAS = [10.0**power for power in range(-6, 4)]  # of a loss that is summed over queries
# Table 3 of SmoothRank's paper: NDCG@1, 5, 10 on OHSUMED by the cut-off trained for; MAP is of table 2.
PUBLISHED = {
    1: {"ndcg@1": 0.5365, "ndcg@5": 0.4622, "ndcg@10": 0.4369},
    5: {"ndcg@1": 0.5397, "ndcg@5": 0.4691, "ndcg@10": 0.4470},
    10: {"ndcg@1": 0.5834, "ndcg@5": 0.4723, "ndcg@10": 0.4496},
    50: {"ndcg@1": 0.5608, "ndcg@5": 0.4750, "ndcg@10": 0.4570, "map": 0.448},
}
LEAST = 0.450  # NDCG@10 that training for NDCG@50 must reach

Parts = dict[str, Dataset]
Fit = Callable[[Parts], Any]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def values(model: Any, data: Dataset, convention: str) -> dict[str, Floats]:
    """The measures of every query."""
    found = rankopt.evaluate(model, data, FIGURES, convention=convention)
    return {name: found.per_query[name] for name in FIGURES}


def pooled(parts: list[dict[str, Floats]]) -> dict[str, Floats]:
    """The queries of all folds."""
    return {name: np.concatenate([part[name] for part in parts]) for name in FIGURES}


def summary(found: dict[str, Floats]) -> dict[str, Any]:
    """Means and intervals."""
    rng = np.random.default_rng(0)
    return {
        name: {"mean": float(v.mean()), "interval": bootstrap_interval(v, rng)}
        for name, v in found.items()
    }


def differences(found: dict[str, dict[str, Floats]], reference: str) -> dict[str, Any]:
    """Each of the others less the reference, with interval and p-value of the randomisation test."""
    rng = np.random.default_rng(0)
    return {
        label: {
            name: {
                "mean": float((v[name] - found[reference][name]).mean()),
                "interval": bootstrap_interval(v[name] - found[reference][name], rng),
                "p": p_value(v[name] - found[reference][name], "randomisation", rng),
            }
            for name in ("ndcg@10", "map")
        }
        for label, v in found.items()
        if label != reference
    }


def best(fits: Iterable[Fit], parts: Parts, measure: str, convention: str) -> Any:
    """The model that is best on the validation part."""
    models = [fit(parts) for fit in fits]
    reached = [
        rankopt.evaluate(model, parts["vali"], [measure], convention=convention).mean[measure]
        for model in models
    ]
    return models[int(np.argmax(reached))]


def ohsumed() -> list[Parts]:
    return [fold("ohsumed", number) for number in range(1, 6)]


def mq2008() -> list[Parts]:
    return [fold("mq2008", number) for number in range(1, 6)]


def gov() -> list[Parts]:
    """Fold by fold three fifths to train on, one to validate, one to test."""
    data = simulate("gov_like", seed=4, scale=1.5)
    fifth = np.arange(data.groups.n_queries) % 5
    shares = [{"test": {i}, "vali": {(i + 1) % 5}} for i in range(5)]
    return [
        {
            name: data.take(np.flatnonzero(np.isin(fifth, list(chosen))))
            for name, chosen in {**share, "train": set(range(5)) - share["test"] - share["vali"]}.items()
        }
        for share in shares
    ]  # fmt: skip


def smoothrank(parts: Parts, k: int, strength: float, watched: bool = False, turn: int = 0) -> Any:
    """With the paper's penalty, which is that of a sum over queries.

    Turns after the first start from weights that differ in the sixth digit.
    """
    train = parts["train"]
    model = rankopt.SmoothRank(f"ndcg@{k}", l2=strength / train.groups.n_queries)
    if turn:
        weights = model.set_params(start="ridge", max_iter=0).fit(train).coef_
        noise = np.random.default_rng(turn).normal(size=weights.size)
        model.set_params(start=weights * (1.0 + 1e-6 * noise), max_iter=None)
    return model.fit(train, eval_set=[parts["vali"]] if watched else None)


def cutoffs(turns: int) -> list[dict[str, Any]]:
    folds = ohsumed()
    out: list[dict[str, Any]] = []
    for k, published in PUBLISHED.items():
        for watched in (False, True) if k == 50 else (False,):
            found: list[dict[str, Floats]] = []
            strengths: list[list[float]] = []
            by_folds: list[float] = []  # LETOR's mean, of the means of folds
            with Cpu() as cpu:
                for turn in range(turns):
                    fits = [
                        partial(smoothrank, k=k, strength=s, watched=watched, turn=turn)
                        for s in LAMBDAS
                    ]
                    chosen = [best(fits, parts, f"ndcg@{k}", "letor") for parts in folds]
                    pairs = list(zip(chosen, folds, strict=True))
                    tested = [values(m, p["test"], "letor") for m, p in pairs]
                    found.append(pooled(tested))
                    by_folds.append(float(np.mean([v["ndcg@10"].mean() for v in tested])))
                    strengths.append([m.l2 * p["train"].groups.n_queries for m, p in pairs])
            mean = {name: np.mean([f[name] for f in found], axis=0) for name in FIGURES}
            out.append({
                "k": k, "levels": "by validation" if watched else "the last", **summary(mean),
                "published": published, "lambda": strengths, "cpu": cpu.seconds,
                "ndcg@10 by folds": by_folds,
            })  # fmt: skip
            out[-1]["met"] = k != 50 or watched or bool(np.mean(by_folds) >= LEAST)
            say(line(f"cutoffs: trained for ndcg@{k}, level {out[-1]['levels']}", out[-1]))
            say(f"    ndcg@10, mean of the folds, in each turn: {np.round(by_folds, 4)}")
    return out


def approx(parts: Parts, **settings: Any) -> Any:
    return rankopt.ApproxRank(**settings).fit(parts["train"], eval_set=[parts["vali"]])


def direct(parts: Parts, measure: str) -> Any:
    model = rankopt.DirectRank(measure, restarts=10, random_state=0)
    return model.fit(parts["train"], eval_set=[parts["vali"]])


def ridge(parts: Parts, l2: float) -> Any:
    return Ridge("ndcg@10", l2=l2).fit(parts["train"])


ALPHAS, BETAS = rankopt.ApproxRank.grids["alpha"], rankopt.ApproxRank.grids["beta"]
# name -> the measure that chooses on the validation part, and what it chooses among
SYSTEMS: dict[str, tuple[str, list[Fit]]] = {
    "ridge": ("ndcg@10", [partial(ridge, l2=10.0**power) for power in range(-4, 3)]),
    "directrank ndcg@10": ("ndcg@10", [partial(direct, measure="ndcg@10")]),
    "directrank map": ("map", [partial(direct, measure="map")]),
    "ApproxNDCG": (
        "ndcg@10",
        [partial(approx, measure="ndcg@10", train_measure="ndcg", alpha=a) for a in ALPHAS],
    ),
    "ApproxAP": (
        "map",
        [partial(approx, measure="map", alpha=a, beta=b) for a, b in product(ALPHAS[:4], BETAS)],
    ),
    "SmoothNDCG": ("ndcg@50", [partial(smoothrank, k=50, strength=s) for s in LAMBDAS]),
}
SETS = {"ohsumed": ohsumed, "mq2008": mq2008, "gov-like": gov}


def systems(names: list[str]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for name in names:
        folds = SETS[name]()
        convention = "rankopt" if name == "gov-like" else "letor"
        found: dict[str, dict[str, Floats]] = {}
        for label, (measure, fits) in SYSTEMS.items():
            with Cpu() as cpu:
                chosen = [best(fits, parts, measure, "rankopt") for parts in folds]
            tested = [values(m, p["test"], convention) for m, p in zip(chosen, folds, strict=True)]
            found[label] = pooled(tested)
            settings = [
                {key: getattr(m, key) for key in ("alpha", "beta", "l2") if hasattr(m, key)}
                for m in chosen
            ]
            out.append({"set": name, "system": label, **summary(found[label])})
            out[-1] |= {"chosen": settings, "cpu": cpu.seconds}
            say(line(f"{name}: {label}", out[-1]))
        less = differences(found, "ridge")
        for row in out:
            if row["set"] == name and row["system"] in less:
                row["less_ridge"] = less[row["system"]]
    return out


def polish(names: list[str]) -> list[dict[str, Any]]:
    makers: dict[str, Callable[..., Any]] = {
        "ApproxRank": partial(rankopt.ApproxRank, "ndcg@10", train_measure="ndcg"),
        "SmoothRank": partial(rankopt.SmoothRank, "ndcg@10", train_measure="ndcg@50"),
    }
    out: list[dict[str, Any]] = []
    for name in names:
        folds = SETS[name]()
        for label, make in makers.items():
            for watched in (False, True):
                rows: list[dict[str, float]] = []
                tested: list[Floats] = []
                for parts in folds:
                    extra = {"eval_set": [parts["vali"]]} if watched else {}
                    plain, finished = make(), make(polish="ndcg@10")
                    plain.fit(parts["train"], **extra)
                    finished.fit(parts["train"], **extra)
                    rows.append({
                        f"{part}_{when}": model.score(parts[part])
                        for part in ("train", "vali", "test")
                        for when, model in (("before", plain), ("after", finished))
                    })  # fmt: skip
                    both = [
                        rankopt.evaluate(m, parts["test"], ["ndcg@10"]).per_query["ndcg@10"]
                        for m in (plain, finished)
                    ]
                    tested.append(both[1] - both[0])
                mean = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
                difference = np.concatenate(tested)
                out.append({
                    "set": name, "system": label, "watched": watched, **mean,
                    "test_added": float(difference.mean()),
                    "interval": bootstrap_interval(difference, np.random.default_rng(0)),
                    "met": all(row["train_after"] >= row["train_before"] for row in rows),
                })  # fmt: skip
                say(f"polish: {out[-1]}")
    return out


def line(title: str, row: dict[str, Any]) -> str:
    cells = (
        f"{m} {row[m]['mean']:.4f} [{row[m]['interval'][0]:.3f}, {row[m]['interval'][1]:.3f}]"
        for m in FIGURES
    )
    return f"{title}: {'  '.join(cells)}  cpu {row['cpu']:.1f} s"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--part", choices=("cutoffs", "systems", "polish"), action="append")
    parser.add_argument("--turns", type=int, default=4, help="of the cut-offs")
    parser.add_argument("--set", choices=SETS, action="append", help="of systems and polish")
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore", ConvergenceWarning)
    real = root() is not None
    names = [n for n in options.set or SETS if real or n == "gov-like"]
    parts: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "cutoffs": partial(cutoffs, options.turns),
        "systems": partial(systems, names),
        "polish": partial(polish, names),
    }
    asked = options.part or list(parts)
    if not real:
        say("OHSUMED and MQ2008 are left out: RANKOPT_DATA is not set")
        asked = [part for part in asked if part != "cutoffs"]
    with using_threads(1):
        report = {part: parts[part]() for part in asked}
    if options.json:
        print(json.dumps(report))
    return 0 if all(row.get("met", True) for rows in report.values() for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
