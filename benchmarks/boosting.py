"""DirectBoost beside LightGBM's and XGBoost's rankers: the same leaves, the same trees, the same tuning.

Each system is fitted with four settings, two rates with and without a stronger regularisation; setting and
number of trees are those with the best NDCG@10 on the validation queries (averaged over a window of
trees); the test queries are looked at once. DirectBoost's trees are those of three folds, a third in each;
its rates are shares of the exact weight, 0.2 and 1, and its choices are judged by the validation queries and
by the training queries that its folds hold out. LightGBM's two objectives for ranking are also told
together, as the better of eight settings.

With --again all are fitted to the training and validation queries together as well: the others with the
setting and number of trees that validation chose, DirectBoost with those that its folds choose there.

Paired randomisation tests compare DirectBoost with each of the others, over the test queries of all folds,
and over those of all sets with each set counting as much as the others. The figures of PEERS stand beside,
which were measured with settings of their own. The real sets need RANKOPT_DATA.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
from scipy.sparse import csr_matrix
from sets import Cpu
from staged import FIGURES, Staged, by_test_query, joined, parts, reached

import rankopt
from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.evaluation.intervals import p_value
from rankopt.scorers.trees import Trees
from rankopt.threads import using_threads

SETS = ("mq2008", "ohsumed", "lightgbm_rank", "mslr-like")
RATES = (0.05, 0.15)
SHARES = {0.05: 0.2, 0.15: 1.0}  # of the exact weight, DirectBoost's rates
# An ensemble, and the value by which it has chosen its number of trees, if it has.
Fitted = tuple[Trees, Floats, float | None]

# What others reached on the same sets with small grids of their own: test NDCG@1 and NDCG@10.
PEERS = {
    "mq2008": {
        "LightGBM lambdarank": (0.3737, 0.5017), "LightGBM lambdarank, regularised": (0.3685, 0.5039),
        "LightGBM rank_xendcg": (0.3778, 0.5036), "LightGBM L2": (0.3759, 0.4995),
        "XGBoost rank:ndcg": (0.3596, 0.4996), "CatBoost YetiRank": (0.3618, 0.4980),
    },
    "ohsumed": {
        "LightGBM lambdarank": (0.4547, 0.4286), "LightGBM lambdarank, regularised": (0.5250, 0.4429),
        "LightGBM rank_xendcg": (0.4744, 0.4250), "LightGBM L2": (0.5175, 0.4201),
        "XGBoost rank:ndcg": (0.4329, 0.4146), "CatBoost YetiRank": (0.4729, 0.4153),
    },
    "lightgbm_rank": {
        "LightGBM lambdarank": (0.6389, 0.7639), "LightGBM lambdarank, regularised": (0.6020, 0.7528),
        "LightGBM rank_xendcg": (0.5856, 0.7256), "LightGBM L2": (0.6088, 0.7432),
        "XGBoost rank:ndcg": (0.5101, 0.7181), "CatBoost YetiRank": (0.6427, 0.7573),
    },
}  # fmt: skip


def matrix(data: Dataset) -> Any:
    return data.X if isinstance(data.X, np.ndarray) else csr_matrix(data.X)


def of_lightgbm(objective: str) -> Callable[..., Fitted]:
    def fit(split: list[Dataset], leaves: int, trees: int, rate: float, strong: bool) -> Fitted:
        data = split[0]
        settings: dict[str, Any] = {
            "objective": objective, "num_leaves": leaves, "learning_rate": rate, "num_threads": 1,
            "verbosity": -1, "seed": 0, "deterministic": True, "force_col_wise": True,
        }  # fmt: skip
        if strong:
            settings |= {
                "min_data_in_leaf": 50, "lambda_l2": 5.0, "feature_fraction": 0.5,
                "bagging_fraction": 0.7, "bagging_freq": 1, "bagging_by_query": objective != "l2",
            }  # fmt: skip
        train = lgb.Dataset(matrix(data), data.labels, group=data.groups.sizes)
        found = rankopt.read_ensemble(lgb.train(settings, train, trees))
        return found.trees, found.weights, None

    return fit


def of_xgboost(split: list[Dataset], leaves: int, trees: int, rate: float, strong: bool) -> Fitted:
    import xgboost

    data = split[0]
    settings: dict[str, Any] = {
        "objective": "rank:ndcg", "tree_method": "hist", "grow_policy": "lossguide", "max_depth": 0,
        "max_leaves": leaves, "eta": rate, "nthread": 1, "seed": 0, "base_score": 0.0,
        "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": 13,
    }  # fmt: skip
    if strong:
        settings |= {
            "min_child_weight": 5.0,
            "lambda": 5.0,
            "colsample_bytree": 0.5,
            "subsample": 0.7,
        }
    qid = np.repeat(np.arange(data.groups.n_queries), data.groups.sizes)
    train = xgboost.DMatrix(matrix(data), data.labels, qid=qid)
    found = rankopt.read_ensemble(xgboost.train(settings, train, trees))
    return found.trees, found.weights, None


STRONG = {"min_child_samples": 50, "reg_lambda": 5.0, "colsample_bytree": 0.5}


def direct(split: list[Dataset], leaves: int, trees: int, rate: float, strong: bool) -> Fitted:
    """DirectBoost in three folds, which chooses the number of rounds itself."""
    model = rankopt.DirectBoost(
        "ndcg@10", n_estimators=trees // 3, folds=3, num_leaves=leaves, random_state=0,
        learning_rate=SHARES[rate], **(STRONG if strong else {}),
    )  # fmt: skip
    model.fit(split[0], eval_set=split[1:] or None)
    return model.model_.scorer.trees, model.tree_weights_, model.best_score_


def papers(split: list[Dataset], leaves: int, trees: int, rate: float, strong: bool) -> Fitted:
    """DirectBoost by the rule of the paper."""
    model = rankopt.DirectBoost(
        "ndcg@10", n_estimators=trees, num_leaves=leaves, objective="squared", step="training",
        subsample=1.0, bounds=(rate, 5 * rate), random_state=0, **(STRONG if strong else {}),
    )  # fmt: skip
    model.fit(split[0])
    return model.model_.scorer.trees, model.tree_weights_, None


SYSTEMS: dict[str, Callable[..., Fitted]] = {
    "DirectBoost": direct,
    "DirectBoost, the paper's": papers,
    "LightGBM lambdarank": of_lightgbm("lambdarank"),
    "LightGBM rank_xendcg": of_lightgbm("rank_xendcg"),
    "LightGBM L2": of_lightgbm("l2"),
    "XGBoost rank:ndcg": of_xgboost,
}
EITHER = ("LightGBM lambdarank", "LightGBM rank_xendcg")


DATA = ("train", "train and vali")
SETTINGS = [(rate, strong) for rate in RATES for strong in (False, True)]


def tuned(
    fit: Callable[..., Fitted], split: list[Dataset], leaves: int, trees: int
) -> dict[str, Any]:
    """Test values of the setting and the number of trees that validation chooses."""
    best: dict[str, Any] = {"valid": -1.0}
    for setting in SETTINGS:
        found, weights, value = fit(split[:2], leaves, trees, *setting)
        number = weights.size
        if value is None:
            number, value = Staged.of(found, weights, split[1]).best()
        if value > best["valid"]:
            kept = np.where(np.arange(weights.size) < number, weights, 0.0)
            best = {
                "valid": value, "setting": setting, "trees": number,
                "values": {k: v.tolist() for k, v in reached(found, kept, split[2]).items()},
            }  # fmt: skip
    return best


def again(
    fit: Callable[..., Fitted], split: list[Dataset], leaves: int, trees: int, best: dict[str, Any]
) -> dict[str, Any]:
    """Test values of a fit to the training and validation queries together.

    With the setting and number of trees that validation has chosen; DirectBoost chooses by its folds.
    """
    whole = joined(*split[:2])
    if fit is not direct:
        found, weights, _ = fit([whole], leaves, best["trees"], *best["setting"])
    else:
        fits = [(fit([whole], leaves, trees, *setting), setting) for setting in SETTINGS]
        (found, weights, _), setting = max(fits, key=lambda pair: pair[0][2])
        best = {"valid": best["valid"], "setting": setting, "trees": weights.size}
    values = reached(found, weights, split[2])
    return {**best, "values": {k: v.tolist() for k, v in values.items()}}


@dataclass(frozen=True)
class Asked:
    """What is measured, and where the tuned systems of each set are kept to be used again, if anywhere."""

    trees: int
    queries: int
    systems: list[str]
    keep: Path | None

    def tuned(self, name: str, leaves: int, system: str) -> list[dict[str, Any]]:
        """`tuned` on each fold of a set."""
        return self._kept(
            f"{system} {name} {leaves} {self.trees} {self.queries}",
            lambda: [
                tuned(SYSTEMS[system], split, leaves, self.trees)
                for split in parts(name, self.queries)
            ],
        )

    def again(self, name: str, leaves: int, system: str) -> list[dict[str, Any]]:
        """`again` on each fold of a set."""
        first = self.tuned(name, leaves, system)
        return self._kept(
            f"{system} {name} {leaves} {self.trees} {self.queries} again",
            lambda: [
                again(SYSTEMS[system], split, leaves, self.trees, best)
                for split, best in zip(parts(name, self.queries), first, strict=True)
            ],
        )

    def _kept(self, words: str, work: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
        name = re.sub(r"\W+", "-", words)
        cell = None if self.keep is None else self.keep / f"{name}.json"
        if cell is not None and cell.exists():
            return json.loads(cell.read_text(encoding="utf-8"))
        with Cpu() as used:
            found = work()
        print(words, f"{used.seconds:.0f} s", file=sys.stderr, flush=True)
        if cell is not None:
            cell.parent.mkdir(parents=True, exist_ok=True)
            cell.write_text(json.dumps(found), encoding="utf-8")
        return found


Row = dict[str, Any]


def by_query(name: str, folds: list[dict[str, Any]], figure: str) -> Floats:
    """The value of each test query."""
    return by_test_query(name, [np.asarray(fold["values"][figure]) for fold in folds])


def table(name: str, leaves: int, asked: Asked, data: str) -> list[Row]:
    fitted = asked.tuned if data == DATA[0] else asked.again
    found = {system: fitted(name, leaves, system) for system in asked.systems}
    if all(system in found for system in EITHER):
        pairs = zip(*(found[system] for system in EITHER), strict=True)
        found[" or ".join(EITHER)] = [max(pair, key=lambda one: one["valid"]) for pair in pairs]
    rows: list[Row] = []
    for system, folds in found.items():
        row: Row = {"set": name, "leaves": leaves, "data": data, "system": system}
        for figure in FIGURES:
            row[figure] = float(np.mean([np.mean(fold["values"][figure]) for fold in folds]))
            row[f"away {figure}"] = by_query(name, found[asked.systems[0]], figure) - by_query(
                name, folds, figure
            )
            row[f"p {figure}"] = tested([row], figure)
        row["valid"] = float(np.mean([fold["valid"] for fold in folds]))
        row["chosen"] = [[*fold["setting"], fold["trees"]] for fold in folds]
        rows.append(row)
    return rows


def tested(rows: list[Row], figure: str) -> float:
    """p of the mean over sets of how far the first system is ahead, by random signs of queries."""
    queries = sum(row[f"away {figure}"].size for row in rows)
    scaled = [row[f"away {figure}"] * (queries / row[f"away {figure}"].size) for row in rows]
    return p_value(np.concatenate(scaled), "randomisation", np.random.default_rng(0))


def overall(rows: list[Row]) -> list[Row]:
    """Means over the sets, each set counting as much as the others."""
    out: list[Row] = []
    keys = ("leaves", "data", "system")
    for key in dict.fromkeys(tuple(row[k] for k in keys) for row in rows):
        mine = [row for row in rows if tuple(row[k] for k in keys) == key]
        mean: Row = {"set": "mean", **dict(zip(keys, key, strict=True))}
        for figure in FIGURES:
            mean[figure] = float(np.mean([row[figure] for row in mine]))
            mean[f"p {figure}"] = tested(mine, figure)
        out.append(mean)
    return out


def show(rows: list[Row]) -> None:
    keys = ("set", "leaves", "data")
    for key in dict.fromkeys(tuple(row[k] for k in keys) for row in rows):
        name, leaves, data = key
        print(f"\n{name}, {leaves} leaves, trained on {data}: test NDCG@1 (p) NDCG@10 (p)")
        for row in rows:
            if tuple(row[k] for k in keys) == key:
                cells = (f"{row[f]:.4f} ({row[f'p {f}']:.3f})" for f in FIGURES)
                print(f"  {row['system']:42} {'  '.join(cells)}")
        for system, (first, tenth) in PEERS.get(name, {}).items():
            print(f"  {'PEERS: ' + system:42} {first:.4f}  {tenth:.4f}")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--leaves", default="10,31")
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--queries", type=int, default=2000, help="of the simulated set")
    parser.add_argument("--systems", default="", help="parts of names; all, unless told")
    parser.add_argument("--keep", type=Path, help="a folder for what is done, to go on from there")
    parser.add_argument("--again", action="store_true", help="also fitted to train and vali")
    options = parser.parse_args(argv)
    wanted = options.systems.split(",")
    systems = [name for name in SYSTEMS if any(part in name for part in wanted)]
    asked = Asked(options.trees, options.queries, systems, options.keep)
    with using_threads(1):
        rows = [
            row
            for name in options.sets.split(",")
            for leaves in options.leaves.split(",")
            for data in DATA[: 1 + options.again]
            for row in table(name, int(leaves), asked, data)
        ]
    rows += overall(rows)
    if options.json:
        told = [{k: v for k, v in row.items() if not k.startswith("away")} for row in rows]
        print(json.dumps({"rows": told, "peers": PEERS}))
        return
    show(rows)


if __name__ == "__main__":
    main()
