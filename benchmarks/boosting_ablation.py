"""What each part of DirectBoost is worth, on validation queries alone: the ground for its defaults.

Each variant is fitted to the training queries of a fold, 300 trees of 10 leaves in all. Where it has folds,
it chooses the number of rounds by the queries that they hold out, and the figure is NDCG@10 on the
validation queries. Else the number of trees is the best on one half of the validation queries, and the
figure is NDCG@10 on the other half, over ten random halvings: what is chosen by noise is paid for. Weights
that are searched anew after boosting have one half as their guard, too. The test queries are not looked at.
The real sets need RANKOPT_DATA.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from sets import Cpu
from staged import Staged, parts

import rankopt
from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.ensembles.grower import LightGBMGrower, TreeShape
from rankopt.estimators.leverage import leveraged
from rankopt.measures import BoundMeasure, as_measure
from rankopt.objectives import OBJECTIVES, Sloped
from rankopt.scorers.trees import Trees
from rankopt.search.engine import Engine
from rankopt.search.fixedpoint import FixedPoint
from rankopt.solvers.boost import Boost
from rankopt.solvers.grower import Grower, Grown
from rankopt.solvers.treestep import TreeStep
from rankopt.threads import using_threads

SETS = ("mq2008", "ohsumed", "lightgbm_rank", "mslr-like")
PLAIN = {"subsample": 1.0, "folds": 1}
ONE = {"folds": 1}
STRONG = {"min_child_samples": 50, "reg_lambda": 5.0, "colsample_bytree": 0.5}
LABELS = "squared(gain=linear, centred=true)"
VARIANTS: dict[str, dict[str, Any]] = {
    "three folds": {},
    "three folds, 0.2 of the weight": {"learning_rate": 0.2},
    "three folds, 0.2 of the weight, regularised": {"learning_rate": 0.2, **STRONG},
    "three folds, the paper's bounds": {"bounds": (0.1, 0.5)},
    "three folds, weight 0.1": {"step": "fixed", "learning_rate": 0.1},
    "three folds, weight 0.5": {"step": "fixed", "learning_rate": 0.5},
    "three folds, maximum smoothed by 0.25": {"smoothing": 0.25},
    "(a, c) three folds, leaves 0.3 of the way": {"leaf_rounds": 1, "leaf_rate": 0.3},
    "(a) three folds, leaves searched": {"leaf_rounds": 1, "leaf_rate": 1.0},
    "five folds": {"folds": 5},
    "five folds, 0.2 of the weight": {"folds": 5, "learning_rate": 0.2},
    "one fold": ONE,
    "one fold, 0.2 of the weight": {**ONE, "learning_rate": 0.2},
    "one fold, weight 0.1": {**ONE, "step": "fixed", "learning_rate": 0.1},
    "three folds on labels within queries": {"objective": LABELS},
    "three folds on gains": {"objective": "squared"},
    "three folds on plackett-luce": {"objective": "plackett-luce"},
    "three folds on lambda(ndcg@10)": {"objective": "lambda(MEASURE)"},
    "three folds on lambda(ndcg)": {"objective": "lambda(ndcg)"},
    "one fold on labels within queries": {"objective": LABELS, **ONE},
    "MART on gains, weight 0.05": {
        **PLAIN, "objective": "squared", "step": "fixed", "learning_rate": 0.05
    },
    "the paper's rule": {
        **PLAIN, "objective": "squared", "step": "training", "bounds": (0.1, 0.5)
    },
}  # fmt: skip
ANEW = {"(b) one fold, weights anew in 10 blocks": 10, "(b) one fold, weights anew by tree": None}
CHOSEN = "(d) one fold on labels within queries, best of 4 trees by the measure"


@dataclass(frozen=True, eq=False)
class Choosy(Grower):
    """Of several trees on different features, the one along which the measure rises highest.

    That is the nearest to splits scored by the measure which a grower of others can do.
    """

    inner: Grower
    target: FixedPoint
    scores: Floats  # which boosting moves in place
    trees: int = 4

    def grow(self, slopes: Floats, curvature: Floats) -> Grown | None:
        engine = Engine(self.target, self.scores)
        best, found = None, None
        for _ in range(self.trees):
            grown = self.inner.grow(slopes, curvature)
            if grown is not None:
                total = engine.search(grown.outputs(0), 0.1, 0.5).total
                if best is None or total > best:
                    best, found = total, grown
        return found


def chosen(data: Dataset, bound: BoundMeasure, trees: int) -> tuple[Trees, Floats]:
    loss = OBJECTIVES.build(LABELS).bind(data.labels, data.groups)
    assert isinstance(loss, Sloped)
    scores = np.zeros(data.n_rows)
    inner = LightGBMGrower(TreeShape(10, colsample_bytree=0.7), [data], 0)
    grower = Choosy(inner, FixedPoint.of(bound), scores)
    plan = Boost(trees, TreeStep("out-of-bag", share=0.3), 0.6)
    found = plan.run(grower, loss, bound, [scores], np.random.default_rng(0))
    return Trees.joined(found.trees), found.weights


def anew(trees: Trees, weights: Floats, data: Dataset, valid: Dataset, blocks: int | None) -> float:
    """NDCG@10 on halves of the validation queries, weights searched anew with the others as guard."""
    found: list[float] = []
    staged = Staged.of(trees, weights, valid)
    for repeat in range(2):
        order = np.random.default_rng(repeat).permutation(valid.groups.n_queries)
        for ours, others in ((order[::2], order[1::2]), (order[1::2], order[::2])):
            number, _ = staged.best(others)
            kept = np.where(np.arange(weights.size) < number, weights, 0.0)
            sides = [data, valid.take(np.sort(others)), valid.take(np.sort(ours))]
            bound = [as_measure("ndcg@10").bind(s.labels, s.groups) for s in sides]
            point = leveraged(trees, kept, sides[:2], bound[:2], 3, blocks, lambda _: None)
            found.append(bound[2].mean(trees.scores(kept * point.factors, sides[2])))
    return float(np.mean(found))


def rows_of(name: str, folds: int, queries: int, trees: int) -> list[dict[str, Any]]:
    values: dict[str, list[float]] = {}
    seconds: dict[str, float] = {}
    for train, valid, _ in parts(name, queries)[:folds]:
        bound = as_measure("ndcg@10").bind(train.labels, train.groups)
        for variant, settings in VARIANTS.items():
            asked = {"folds": 3, "random_state": 0, **settings}
            asked["n_estimators"] = trees // asked["folds"]
            with Cpu() as used:
                model = rankopt.DirectBoost("ndcg@10", **asked).fit(train)
            found, weights = model.model_.scorer.trees, model.tree_weights_
            staged = Staged.of(found, weights, valid)
            value = staged.crossed() if asked["folds"] == 1 else float(staged.values[-1].mean())
            values.setdefault(variant, []).append(value)
            seconds[variant] = seconds.get(variant, 0.0) + used.seconds
            if variant == "one fold":
                for label, blocks in ANEW.items():
                    with Cpu() as used:
                        value = anew(found, weights, train, valid, blocks)
                    values.setdefault(label, []).append(value)
                    seconds[label] = seconds.get(label, 0.0) + used.seconds / 4.0
        with Cpu() as used:
            found, weights = chosen(train, bound, trees)
        values.setdefault(CHOSEN, []).append(Staged.of(found, weights, valid).crossed())
        seconds[CHOSEN] = seconds.get(CHOSEN, 0.0) + used.seconds
        print(json.dumps({"set": name, **{k: v[-1] for k, v in values.items()}}), file=sys.stderr)
    return [
        {"set": name, "variant": variant, "valid": float(np.mean(found)), "cpu": seconds[variant]}
        for variant, found in values.items()
    ]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--queries", type=int, default=400, help="of the simulated set")
    parser.add_argument("--trees", type=int, default=300)
    options = parser.parse_args(argv)
    names = options.sets.split(",")
    with using_threads(1):
        rows = [
            row for n in names for row in rows_of(n, options.folds, options.queries, options.trees)
        ]
    if options.json:
        print(json.dumps({"rows": rows}))
        return
    print(
        f"{'NDCG@10 on validation queries':70}"
        + "".join(f"{name:>15}" for name in names)
        + "    mean"
    )
    for variant in dict.fromkeys(row["variant"] for row in rows):
        found = [row["valid"] for row in rows if row["variant"] == variant]
        cells = "".join(f"{value:15.4f}" for value in found)
        print(f"{variant:70}{cells}  {np.mean(found):.4f}")


if __name__ == "__main__":
    main()
